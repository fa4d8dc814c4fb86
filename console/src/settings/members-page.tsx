import { useState } from 'react'
import type { Invitation, Member, Role } from '../api/access.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'
import { GrantForm } from './grant-form.tsx'
import { Secret } from './secret.tsx'
import { SettingsFrame } from './settings-frame.tsx'
import './settings.css'

const ROLES: readonly (readonly [Role, string])[] = [
  ['viewer', 'viewer: sees everything of the workspace'],
  ['operator', 'operator: uploads, repairs, plans, promotes what is approved'],
  ['reviewer', 'reviewer: also approves what others staged'],
  ['admin', 'admin: also members, tokens and webhooks'],
  ['agent', 'agent: stages proposals, decides nothing'],
]

export function MembersPage() {
  const { id, rights } = useWorkspace()
  return (
    <SettingsFrame>
      {id === '' ? (
        <p className="card empty">You are in no workspace. Ask an administrator for an invitation.</p>
      ) : (
        <Members key={id} workspace={id} administers={rights.includes('administer')} />
      )}
    </SettingsFrame>
  )
}

function Members({ workspace, administers }: { workspace: string; administers: boolean }) {
  const list = useLiveQuery(['settings', 'members', workspace], (own) => own.access.members(workspace))
  const managed = list.data?.managed ?? true
  return (
    <div className="stack">
      <Card id="members" title="Who is in the workspace">
        <FailureNote failure={list.failure} />
        {!managed && (
          <p className="note is-held" role="status">
            <b>The members are in a table of your own</b> (<code>public.workspace_members</code>), which
            Stagedoor only reads. Add and remove people where your application does. Roles can be changed
            here.
          </p>
        )}
        {list.data === undefined && list.failure === undefined && <p className="empty">Loading…</p>}
        {list.data && (
          <MemberTable
            members={list.data.members}
            workspace={workspace}
            administers={administers}
            managed={managed}
            changed={() => void list.refresh()}
          />
        )}
        {!administers && <p className="card-foot tiny">An administrator changes roles and invites people.</p>}
      </Card>
      {administers && managed && <Invitations workspace={workspace} />}
    </div>
  )
}

interface TableProps {
  readonly members: readonly Member[]
  readonly workspace: string
  readonly administers: boolean
  readonly managed: boolean
  changed(): void
}

function MemberTable({ members, workspace, administers, managed, changed }: TableProps) {
  const { api, me } = useSession()
  const [leaving, setLeaving] = useState<Member>()
  const [said, setSaid] = useState('')
  const change = useAction<unknown>(changed)
  return (
    <>
      <FailureNote failure={change.failure} />
      <div role="status">{said && <p className="note is-ok">{said}</p>}</div>
      <div className="settings-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Role</th>
              {administers && managed && (
                <th scope="col">
                  <span className="unseen">Actions</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {members.map((member) => (
              <tr key={member.user_id}>
                <td>
                  <b>{nameOf(member)}</b>
                  {member.user_id === me.actor && ' (you)'}
                  <div className="tiny mono settings-id">{member.user_id}</div>
                </td>
                <td>
                  {administers ? (
                    <select
                      aria-label={`Role of ${nameOf(member)}`}
                      value={member.role}
                      disabled={change.busy !== undefined}
                      onChange={(event) =>
                        change.run('Changing…', () =>
                          api.access.setRole(workspace, member.user_id, event.target.value as Role),
                        )
                      }
                    >
                      {ROLES.map(([role]) => (
                        <option key={role}>{role}</option>
                      ))}
                    </select>
                  ) : (
                    member.role
                  )}
                </td>
                {administers && managed && (
                  <td className="is-figures">
                    <button type="button" className="button is-small" onClick={() => setLeaving(member)}>
                      Remove<span className="unseen"> {nameOf(member)}</span>
                    </button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {leaving && (
        <ActionDialog
          title={`Remove ${nameOf(leaving)}?`}
          verb="Remove"
          close={() => setLeaving(undefined)}
          act={async () => {
            const { tokens } = await api.access.removeMember(workspace, leaving.user_id)
            setSaid(
              `${nameOf(leaving)} is no longer a member.${tokens > 0 ? ` ${counted(tokens, 'token')} that they created still ${tokens === 1 ? 'works' : 'work'}: revoke what nobody needs under Tokens.` : ''}`,
            )
            changed()
          }}
        >
          <p>
            They see nothing of this workspace from then on. What they did stays recorded under their name.
            Whoever is in no other workspace is signed out everywhere.
          </p>
        </ActionDialog>
      )}
    </>
  )
}

function Invitations({ workspace }: { workspace: string }) {
  const { api } = useSession()
  const list = useLiveQuery(['settings', 'invitations', workspace], (own) =>
    own.access.invitations(workspace),
  )
  const [link, setLink] = useState<{ link: string; invitation: Invitation }>()
  const invite = useAction<{ link: string; invitation: Invitation }>((made) => {
    setLink(made)
    void list.refresh()
  })
  const revoke = useAction<unknown>(() => void list.refresh())
  return (
    <Card id="invitations" title="Invitations">
      <GrantForm
        label="Name or e-mail address"
        placeholder="grace@example.com"
        maxLength={255}
        roleLabel="Role"
        roles={ROLES}
        start={{ role: 'operator', days: 7 }}
        lifetimes={[
          [1, '1 day'],
          [7, '7 days'],
          [30, '30 days'],
        ]}
        action="Create an invitation link"
        busy={invite.busy !== undefined}
        submit={({ name: invitee, role, days }) =>
          invite.run('Inviting…', () => api.access.invite(workspace, { invitee, role, days }))
        }
      />
      <FailureNote failure={invite.failure ?? revoke.failure ?? list.failure} />
      <div role="status">
        {link && (
          <div className="settings-secret">
            <p>
              <b>Send this link to {link.invitation.invitee}.</b> It is shown only now, works once and makes
              whoever signs in with it {link.invitation.role}.
            </p>
            <Secret text={link.link} what="link" />
          </div>
        )}
      </div>
      {list.data?.invitations.length === 0 && (
        <p className="empty">
          Nobody was invited yet. An invitation is a link that makes one person a member.
        </p>
      )}
      {list.data && list.data.invitations.length > 0 && (
        <div className="settings-scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">For</th>
                <th scope="col">Role</th>
                <th scope="col">Status</th>
                <th scope="col">Invited</th>
                <th scope="col">
                  <span className="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.data.invitations.map((one) => (
                <tr key={one.invitation_id}>
                  <td className="settings-id">{one.invitee}</td>
                  <td data-label="role">{one.role}</td>
                  <td>
                    <Chip tone={TONES[one.status]}>{one.status}</Chip>
                  </td>
                  <td data-label="invited">
                    <Ago at={one.created_at} /> by <Person id={one.created_by} />
                  </td>
                  <td className="is-figures">
                    {one.status === 'open' && (
                      <button
                        type="button"
                        className="button is-small"
                        disabled={revoke.busy !== undefined}
                        onClick={() =>
                          revoke.run('Revoking…', () =>
                            api.access.revokeInvitation(workspace, one.invitation_id),
                          )
                        }
                      >
                        Revoke<span className="unseen"> the invitation of {one.invitee}</span>
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}

const TONES: Record<Invitation['status'], Tone> = {
  open: 'held',
  accepted: 'ok',
  revoked: 'stale',
  expired: 'stale',
}

function nameOf({ display_name, user_id }: Member): string {
  return display_name ?? user_id
}
