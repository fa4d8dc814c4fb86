import { useState } from 'react'
import type { MachineToken } from '../api/access.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'
import { GrantForm } from './grant-form.tsx'
import { Secret } from './secret.tsx'
import { SettingsFrame } from './settings-frame.tsx'
import './settings.css'

type TokenRole = 'viewer' | 'operator' | 'agent'
const ROLES: readonly (readonly [TokenRole, string])[] = [
  ['viewer', 'viewer: reads'],
  ['operator', 'operator: uploads, plans, promotes what is approved'],
  ['agent', 'agent: stages proposals and sees its own'],
]

export function TokensPage() {
  const { id, rights } = useWorkspace()
  return (
    <SettingsFrame>
      {id !== '' && rights.includes('administer') ? (
        <Tokens key={id} workspace={id} />
      ) : (
        <div className="card empty">
          <b>Tokens are for programs that use the API.</b>
          <p>An administrator of the workspace creates and revokes them.</p>
        </div>
      )}
    </SettingsFrame>
  )
}

interface Created {
  readonly secret: string
  readonly token: MachineToken
}

function Tokens({ workspace }: { workspace: string }) {
  const { api } = useSession()
  const list = useLiveQuery(['settings', 'tokens', workspace], (own) => own.access.tokens(workspace))
  const [readOnly, setReadOnly] = useState(false)
  const [created, setCreated] = useState<Created>()
  const [revoking, setRevoking] = useState<MachineToken>()
  const create = useAction<Created>((made) => {
    setCreated(made)
    void list.refresh()
  })
  return (
    <div className="stack">
      <Card id="new-token" title="New token">
        <GrantForm
          label="Name of the program"
          placeholder="nightly export"
          maxLength={100}
          roleLabel="May"
          roles={ROLES}
          start={{ role: 'viewer', days: 90 }}
          lifetimes={[
            [7, '7 days'],
            [30, '30 days'],
            [90, '90 days'],
            [365, '1 year'],
          ]}
          action="Create a token"
          busy={create.busy !== undefined}
          submit={(grant) =>
            create.run('Creating…', () =>
              api.access.createToken({ ...grant, read_only: readOnly, workspace_id: workspace }),
            )
          }
        >
          <label className="settings-check">
            <input
              type="checkbox"
              checked={readOnly}
              onChange={(event) => setReadOnly(event.target.checked)}
            />{' '}
            Read only
          </label>
        </GrantForm>
        <FailureNote failure={create.failure} />
        <div role="status">
          {created && (
            <div className="settings-secret">
              <p>
                <b>Copy the token {created.token.name} now: it is not shown again.</b> The program sends it as{' '}
                <code>Authorization: Bearer</code>.
              </p>
              <Secret text={created.secret} what="token" />
            </div>
          )}
        </div>
        <div className="card-foot">
          <p className="tiny">
            A machine decides nothing: no token can approve or administer. Whoever creates a token cannot
            approve what it submits. Tokens for job executors and for the whole installation come from{' '}
            <code>stagedoor token create</code>.
          </p>
        </div>
      </Card>
      <Card id="tokens" title="Tokens of this workspace">
        <FailureNote failure={list.failure} />
        {list.data?.tokens.length === 0 && (
          <p className="empty">
            No token yet. A program that uses the API needs one; people sign in instead.
          </p>
        )}
        {list.data && list.data.tokens.length > 0 && (
          <div className="settings-scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">May</th>
                  <th scope="col">Last use</th>
                  <th scope="col">Valid</th>
                  <th scope="col">Created</th>
                  <th scope="col">
                    <span className="unseen">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {list.data.tokens.map((token) => (
                  <TokenRow key={token.token_id} token={token} revoke={() => setRevoking(token)} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Card>
      {revoking && (
        <ActionDialog
          title={`Revoke ${revoking.name}?`}
          verb="Revoke"
          close={() => setRevoking(undefined)}
          act={async () => {
            await api.access.revokeToken(workspace, revoking.token_id)
            await list.refresh()
          }}
        >
          <p>
            Whatever uses it is refused from then on. It was{' '}
            {revoking.last_used_at === null ? (
              'never used'
            ) : (
              <>
                last used <Ago at={revoking.last_used_at} />
              </>
            )}
            . This cannot be undone; a new token can be created.
          </p>
        </ActionDialog>
      )}
    </div>
  )
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

function TokenRow({ token, revoke }: { token: MachineToken; revoke(): void }) {
  const isOver = new Date(token.expires_at).getTime() <= Date.now()
  const isLive = token.revoked_at === null && !isOver
  return (
    <tr>
      <td className="settings-id">
        <b>{token.name}</b>
      </td>
      <td data-label="may">
        {token.role}
        {token.read_only && ', read only'}
      </td>
      <td data-label="last use">{token.last_used_at === null ? 'never' : <Ago at={token.last_used_at} />}</td>
      <td>
        {token.revoked_at !== null ? (
          <Chip tone="stale">revoked</Chip>
        ) : isOver ? (
          <Chip tone="stale">expired</Chip>
        ) : (
          <Chip tone="ok">until {day.format(new Date(token.expires_at))}</Chip>
        )}
      </td>
      <td data-label="created">
        <Ago at={token.created_at} /> by <Person id={token.created_by} />
      </td>
      <td className="is-figures">
        {isLive && (
          <button type="button" className="button is-small" onClick={revoke}>
            Revoke<span className="unseen"> {token.name}</span>
          </button>
        )}
      </td>
    </tr>
  )
}
