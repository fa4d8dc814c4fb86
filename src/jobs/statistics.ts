/** How full the queue is. Reads all of it: for people and for a scrape now and then. */
import type { Queryable } from '../db/connection.ts'

export interface KindStatistics {
  readonly job_kind: string
  /** Due and not begun. */
  readonly waiting: number
  /** Due later: a retry, a snooze, a time to come. */
  readonly later: number
  readonly running: number
  readonly dead: number
  /** How long the one that waits longest has been due, in seconds. */
  readonly oldest_due_s: number | null
}

/** Every kind that has a job or a dead letter, as far as the caller may see. */
export async function queueStatistics(db: Queryable): Promise<KindStatistics[]> {
  const { rows } = await db.query<KindStatistics>(
    `select job_kind, coalesce(sum(waiting), 0)::int as waiting, coalesce(sum(later), 0)::int as later,
            coalesce(sum(running), 0)::int as running, coalesce(sum(dead), 0)::int as dead,
            max(oldest_due_s)::float8 as oldest_due_s
       from (select job_kind,
                    count(*) filter (where leased_by is null and process_after <= clock_timestamp()) as waiting,
                    count(*) filter (where leased_by is null and process_after > clock_timestamp()) as later,
                    count(*) filter (where leased_by is not null) as running, 0 as dead,
                    extract(epoch from clock_timestamp() - min(process_after)
                      filter (where leased_by is null and process_after <= clock_timestamp())) as oldest_due_s
               from iu_core.job_queue group by job_kind
             union all
             select job_kind, 0, 0, 0, count(*), null from iu_core.job_dead_letter group by job_kind) counted
      group by job_kind order by job_kind`,
  )
  return rows
}
