/** How data moves, in numbers for the overview: what came lately and what has waited longest, as far as the caller may see. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { type Row, shape, TimestampOrNull, Type } from '../kernel/schema.ts'

/** Counts end here: more than a person tells apart, and a bound for the query. */
const MAX_COUNTED = 10_000
const Count = Type.Integer({ description: `counted up to ${MAX_COUNTED}` })

export const Overview = shape('Overview', {
  uploads_today: Count,
  promotions_today: Count,
  last_promotion_at: TimestampOrNull,
  events_last_hour: Count,
  oldest_waiting_job_at: TimestampOrNull,
  executions_today: Count,
  oldest_running_execution_at: TimestampOrNull,
  units_today: Count,
})
export type Overview = Row<typeof Overview>

/** "Today" is the last 24 hours. A promotion that was undone since is still the last one. */
export async function readOverview(db: Queryable): Promise<Overview> {
  const { rows } = await db.query<Overview>(
    `select
       (select count(*) from (select from iu_core.ingest_upload
          where upload_id >= iu_core.fn_time_uuid_floor(now() - interval '1 day') and run_mode <> 'FULL_DRY_RUN' limit $1) u)::int
         as uploads_today,
       (select count(*) from (select from iu_core.ingest_promotion where promoted_at >= now() - interval '1 day' limit $1) p)::int
         as promotions_today,
       (select max(promoted_at) from iu_core.ingest_promotion) as last_promotion_at,
       (select count(*) from (select from iu_core.event_outbox
          where id >= iu_core.fn_time_uuid_floor(now() - interval '1 hour') limit $1) e)::int as events_last_hour,
       (select count(*) from (select from noetl.execution where created_at >= now() - interval '1 day' limit $1) x)::int
         as executions_today,
       (select min(created_at) from noetl.execution where status = 'RUNNING' and parent_execution_id is null)
         as oldest_running_execution_at,
       (select count(*) from (select from iu_core.unit_version
          where unit_version_id >= iu_core.fn_time_uuid_floor(now() - interval '1 day') limit $1) v)::int as units_today`,
    [MAX_COUNTED],
  )
  return { ...rows[0]!, oldest_waiting_job_at: await oldestWaitingJob(db) }
}

/** Agents may not see jobs. A job is due when its time has come; one that is planned for later does not wait. */
async function oldestWaitingJob(db: Queryable): Promise<Date | null> {
  const { rows } = await db.query<{ may: boolean }>(
    `select has_table_privilege('iu_core.job_queue', 'select') as may`,
  )
  if (!rows[0]!.may) return null
  const oldest = await db.query<{ at: Date | null }>(
    `select min(process_after) as at from (
       select process_after from iu_core.job_queue where leased_by is null and process_after <= now() order by job_id limit $1) j`,
    [MAX_COUNTED],
  )
  return oldest.rows[0]!.at
}
