import { type FormEvent, useState } from 'react'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Card } from '../parts/card.tsx'
import { Choice } from '../parts/choice.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'

/** Groups of members that a policy can ask for. */
export function GroupsCard({ workspace, may }: { workspace: string; may: boolean }) {
  const { api } = useSession()
  const [name, setName] = useState('')
  const [member, setMember] = useState('')
  const [removed, remove] = useState<{ group: string; member?: string }>()
  const enabled = workspace !== ''
  const list = useLiveQuery(['settings', 'groups', workspace], (own) => own.changes.groups(workspace), {
    enabled,
  })
  const members = useLiveQuery(['settings', 'members', workspace], (own) => own.access.members(workspace), {
    enabled: enabled && may,
  })
  const add = useAction<unknown>(() => void list.refresh())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void add.run('Adding…', () => api.changes.addToGroup(workspace, name.trim(), member || undefined))
  }
  return (
    <Card id="groups" title="Groups">
      <FailureNote failure={list.failure ?? add.failure} />
      {list.data?.groups.length === 0 && (
        <EmptyState title="No group yet.">
          A group holds members, such as Finance. A policy can ask for the approval of one of them.
        </EmptyState>
      )}
      <ul className="policy-list">
        {list.data?.groups.map(({ group_name, members: people }) => (
          <li key={group_name}>
            <div>
              <b>{group_name}</b>
              <ul>
                {people.length === 0 && <li className="muted">nobody yet: nobody can approve for it</li>}
                {people.map((one) => (
                  <li key={one}>
                    <Person id={one} />{' '}
                    {may && (
                      <button
                        type="button"
                        className="button is-small"
                        onClick={() => remove({ group: group_name, member: one })}
                      >
                        Remove<span className="unseen"> this member from {group_name}</span>
                      </button>
                    )}
                  </li>
                ))}
              </ul>
            </div>
            {may && (
              <button type="button" className="button is-small" onClick={() => remove({ group: group_name })}>
                Remove<span className="unseen"> the group {group_name}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {may && (
        <form className="settings-form" onSubmit={submit}>
          <label className="choice">
            <span>Group</span>
            <input
              value={name}
              required
              maxLength={63}
              placeholder="Finance"
              onChange={(event) => setName(event.target.value)}
            />
          </label>
          <Choice
            label="Member"
            value={member}
            options={[
              ['', 'nobody yet'],
              ...(members.data?.members ?? []).map(
                (one) => [one.user_id, one.display_name ?? one.user_id] as const,
              ),
            ]}
            choose={setMember}
          />
          <button type="submit" className="button" disabled={add.busy !== undefined}>
            Add to the group
          </button>
        </form>
      )}
      {removed && (
        <ActionDialog
          title={removed.member === undefined ? `Remove the group ${removed.group}` : 'Remove the member'}
          verb="Remove"
          close={() => remove(undefined)}
          act={async () => {
            await api.changes.removeFromGroup(workspace, removed.group, removed.member)
            await list.refresh()
          }}
        >
          <p>
            {removed.member === undefined
              ? 'No policy may ask for it any more; one that does keeps it.'
              : `Approvals of this person no longer count for the group ${removed.group}, also those of open changes.`}
          </p>
        </ActionDialog>
      )}
    </Card>
  )
}
