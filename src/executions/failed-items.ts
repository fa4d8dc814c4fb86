/** Items of loops that failed for good: which, and why. */
import type { Queryable } from '../db/connection.ts'

export interface FailedItem {
  readonly seq: number
  /** The entry of its step. */
  readonly node_id: string
  readonly step: string
  /** Its place in the collection, from 0. */
  readonly index: number
  readonly error: string
}

/** In the order in which they failed. */
export async function failedItems(db: Queryable, execution: string, limit: number): Promise<FailedItem[]> {
  const { rows } = await db.query<FailedItem & Record<string, unknown>>(
    `select seq, node_id, node_name as step, current_index as index, error from noetl.event
      where execution_id = $1 and meta ->> 'loop_id' is not null and current_index is not null
        and (event_type = 'loop.shard.failed' or (event_type = 'command.failed' and meta -> 'final' = 'true'))
      order by seq limit $2`,
    [execution, limit],
  )
  return rows
}
