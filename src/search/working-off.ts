/** Working off what is due here and now, for those who will not wait for a server that may not even run. */
import type { Pool } from '../db/connection.ts'
import type { SearchWorker } from './worker.ts'

export interface Left {
  /** Due and not done. */
  readonly due: number
  /** Not due: waiting for quiet, for another try, or for an embedder or store that is away. */
  readonly waiting: number
  /** What the embedder or the store said. */
  readonly outage: string | null
}

interface Surroundings {
  readonly pool: Pool
  readonly workspace: string
  readonly work: () => Promise<SearchWorker>
  readonly progress?: (done: number, of: number) => void
}

const LOOK_MS = 100

/** Ends when nothing of the workspace is due any more; what an outage puts off is not due. */
export async function workOff({ pool, workspace, work, progress }: Surroundings): Promise<Left> {
  let left = await leftIn(pool, workspace)
  const total = left.due
  if (total === 0) return left
  const worker = await work()
  try {
    while (left.due > 0) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      left = await leftIn(pool, workspace)
      progress?.(Math.max(0, total - left.due), total)
    }
    return left
  } finally {
    await worker.stop()
  }
}

async function leftIn(pool: Pool, workspace: string): Promise<Left> {
  const { rows } = await pool.query<Left>(
    `select count(*) filter (where d.due)::integer as due, count(*) filter (where not d.due)::integer as waiting,
            max(o.last_error) filter (where o.retry_count = 0) as outage
       from iu_core.vector_outbox o
       left join iu_core.information_unit u on u.unit_id = o.unit_id
       left join iu_core.kb_document k on k.document_id = o.document_id
      cross join lateral (select o.status = 'processing' or o.earliest_run_at <= clock_timestamp() as due) as d
      where o.status in ('pending', 'processing') and coalesce(u.workspace_id, k.workspace_id) = $1`,
    [workspace],
  )
  return rows[0]!
}
