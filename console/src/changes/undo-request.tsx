import type { Change } from '../api/changes.ts'
import { Ago } from '../parts/ago.tsx'
import { Person } from '../parts/person.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'
import { nameOf } from './use-change.ts'

/** Who asks for the undo of a promotion, and why. Whoever may undo can decline it, and whoever asked can withdraw it. */
export function UndoRequest({ change, changed }: { change: Change; changed(): void }) {
  const { api, me } = useSession()
  const { busy, failure, run } = useAction<unknown>(changed)
  const asked = change.undo_request
  if (asked === null) return null
  const isOwn = asked.requested_by === me.actor
  const mayDecide = me.workspaces.some(
    ({ id, rights }) => id === change.workspace_id && rights.includes('review'),
  )
  return (
    <section className="card undo-request" aria-label="Request to undo">
      <p>
        <b>
          <Person id={asked.requested_by} /> {isOwn ? 'ask' : 'asks'} for an undo
        </b>{' '}
        <span className="tiny">
          <Ago at={asked.requested_at} />
        </span>
      </p>
      <blockquote>{asked.reason}</blockquote>
      <RefusalNote failure={failure} />
      {(isOwn || mayDecide) && (
        <button
          type="button"
          className="button is-small"
          disabled={busy !== undefined}
          onClick={() => run('Declining', () => api.changes.declineUndo(nameOf(change)))}
        >
          {isOwn ? 'Withdraw the request' : 'Decline the undo'}
        </button>
      )}
    </section>
  )
}
