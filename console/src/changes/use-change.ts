import type { Change, ChangeName, ChangeReviews } from '../api/changes.ts'
import { type LiveQuery, useLiveQuery } from '../live/live.tsx'

/** The change of an upload or a record; `number` is null where it has none (a dry run, a record that nobody decides on). */
export function useChange(workspace: string | null, number: number | null): LiveQuery<Change> {
  return useLiveQuery(
    ['changes', workspace, number],
    (api) => api.changes.find(String(number), workspace ?? undefined),
    { enabled: number !== null },
  )
}

/** Who approved what, and what is still needed. `enabled` false: it is not read. */
export function useReviews(change: Change | undefined, enabled = true): LiveQuery<ChangeReviews> {
  return useLiveQuery(
    ['changes', change?.workspace_id, change?.number, 'reviews', change?.digest],
    (api) => api.changes.reviews(nameOf(change!)),
    { enabled: enabled && change !== undefined },
  )
}

export function nameOf({ workspace_id, number }: Pick<Change, 'workspace_id' | 'number'>): ChangeName {
  return { workspace: workspace_id, number }
}
