/** After a logical restore: every position in the outbox is written anew. Needs the administrator's role. */
import type { Queryable } from '../db/connection.ts'

export interface Restored {
  readonly events: number
  /** Those that the dispatcher has yet to pass on. */
  readonly undispatched: number
  readonly readers: number
  readonly consumers: number
}

/** Run it before anything else writes. Run twice, or where nothing was restored, it changes nothing that is read. */
export async function rebaseAfterRestore(db: Queryable): Promise<Restored> {
  const { rows } = await db.query<Record<keyof Restored, string>>(
    'select * from iu_core.fn_events_restored()',
  )
  const { events, undispatched, readers, consumers } = rows[0]!
  return {
    events: Number(events),
    undispatched: Number(undispatched),
    readers: Number(readers),
    consumers: Number(consumers),
  }
}
