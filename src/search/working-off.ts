/** Working off what is due here and now, for those who will not wait for a server that may not even run. */
import type { Pool } from '../db/connection.ts'
import { ANSWER_WARNINGS } from './warnings.ts'
import type { SearchWorker } from './worker.ts'

export interface Left {
  /** Due and not done. */
  readonly due: number
  /** Not due: waiting for quiet, for another try, for an embedder or store that is away, or behind what is closed. */
  readonly waiting: number
  /** What the embedder or the store said. */
  readonly outage: string | null
  /** Which gate or phase keeps some of it waiting, and how it is opened. */
  readonly closed: string | null
}

interface Surroundings {
  readonly pool: Pool
  readonly workspace: string
  readonly work: () => Promise<SearchWorker>
  readonly progress?: (done: number, of: number) => void
}

const LOOK_MS = 100

/** Ends when nothing of the workspace is due any more; what an outage puts off is not due, nor what is closed off. */
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

interface Counted extends Omit<Left, 'closed'> {
  readonly behind_gate: number
  readonly behind_phase: number
}

/** Nobody takes what fn_vector_claim does not give: what somebody is at already is finished all the same. */
async function leftIn(pool: Pool, workspace: string): Promise<Left> {
  const { rows } = await pool.query<Counted>(
    `select count(*) filter (where d.due)::integer as due, count(*) filter (where not d.due)::integer as waiting,
            max(o.last_error) filter (where o.retry_count = 0) as outage,
            count(*) filter (where not d.due and not g.excluded)::integer as behind_gate,
            count(*) filter (where not d.due and not p.open)::integer as behind_phase
       from (select exists (select from iu_core.dot_config where key = 'iu_core.no_vector_staging_excluded' and value = 'true') as excluded,
                    exists (select from iu_core.dot_config where key = 'search.phase_1.enabled' and value = 'true') as phase_1) as g
      cross join iu_core.vector_outbox o
       left join iu_core.information_unit u on u.unit_id = o.unit_id
       left join iu_core.kb_document k on k.document_id = o.document_id
      cross join lateral (select g.phase_1 or o.unit_id is null or o.operation = 'delete' as open) as p
      cross join lateral (select o.status = 'processing' and o.leased_until > clock_timestamp()
                                 or g.excluded and p.open and (o.status = 'processing' or o.earliest_run_at <= clock_timestamp()) as due) as d
      where o.status in ('pending', 'processing') and coalesce(u.workspace_id, k.workspace_id) = $1`,
    [workspace],
  )
  const { behind_gate, behind_phase, ...left } = rows[0]!
  const { excluded, phaseOne } = ANSWER_WARNINGS
  return { ...left, closed: behind_gate > 0 ? excluded : behind_phase > 0 ? phaseOne : null }
}
