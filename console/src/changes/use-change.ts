import type { Change, ChangeName } from '../api/changes.ts'
import { type LiveQuery, useLiveQuery } from '../live/live.tsx'

/** The change of an upload or a record; `number` is null where it has none (a dry run, a record that nobody decides on). */
export function useChange(workspace: string | null, number: number | null): LiveQuery<Change> {
  return useLiveQuery(
    ['changes', workspace, number],
    (api) => api.changes.find(String(number), workspace ?? undefined),
    { enabled: number !== null },
  )
}

export function nameOf({ workspace_id, number }: Pick<Change, 'workspace_id' | 'number'>): ChangeName {
  return { workspace: workspace_id, number }
}
