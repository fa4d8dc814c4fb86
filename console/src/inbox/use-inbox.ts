import type { Inbox } from '../api/changes.ts'
import { type LiveQuery, useLiveQuery } from '../live/live.tsx'
import { useSession } from '../session/session.tsx'

/** What concerns the signed-in person: one answer for the top bar, the overview and the page. Agents have none. */
export function useInbox(): LiveQuery<Inbox> {
  return useLiveQuery(['inbox'], (api) => api.changes.inbox(false), { enabled: useHasInbox() })
}

export function useHasInbox(): boolean {
  return useSession().me.workspaces.some(({ role }) => role !== 'agent')
}
