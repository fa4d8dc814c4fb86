/** Schedules: a job at every time that a cron line names, in a time zone. */
import type { Queryable } from '../db/connection.ts'
import { nextTime } from './cron.ts'

export { nextTime, nextTimes } from './cron.ts'

export interface Schedule {
  readonly schedule: string
  readonly cron: string
  readonly time_zone: string
  readonly job_kind: string
  readonly safe_payload: Record<string, unknown>
  readonly enabled: boolean
  readonly next_at: Date
  readonly last_due: Date | null
  readonly last_job_id: string | null
  readonly registered_by: string
  readonly registered_at: Date
}

export interface NewSchedule {
  readonly schedule: string
  /** Five fields, or six with seconds first. */
  readonly cron: string
  /** An IANA name; default UTC. */
  readonly time_zone?: string
  readonly job_kind: string
  readonly safe_payload?: Readonly<Record<string, unknown>>
  readonly enabled?: boolean
}

const COLUMNS = `schedule, cron, time_zone, job_kind, safe_payload, enabled, next_at, last_due, last_job_id, registered_by,
  registered_at`

/** Times of the database's clock, which is the one that counts. */
export async function setSchedule(db: Queryable, given: NewSchedule, actor?: string): Promise<Schedule> {
  const { rows: clock } = await db.query<{ now: Date }>('select clock_timestamp() as now')
  const timeZone = given.time_zone ?? 'UTC'
  const next = nextTime(given.cron, timeZone, clock[0]!.now)
  const { rows } = await db.query<Schedule>(
    `select ${COLUMNS} from iu_core.fn_job_schedule_set(p_schedule => $1, p_cron => $2, p_time_zone => $3, p_kind => $4,
       p_safe_payload => $5, p_next_at => $6, p_enabled => $7, p_actor => $8)`,
    [
      given.schedule,
      given.cron,
      timeZone,
      given.job_kind,
      JSON.stringify(given.safe_payload ?? {}),
      next,
      given.enabled ?? true,
      actor ?? null,
    ],
  )
  return rows[0]!
}

export async function listSchedules(db: Queryable): Promise<Schedule[]> {
  const { rows } = await db.query<Schedule>(`select ${COLUMNS} from iu_core.job_schedule order by schedule`)
  return rows
}

/** Returns whether it was there. */
export async function removeSchedule(db: Queryable, schedule: string): Promise<boolean> {
  const { rows } = await db.query<{ removed: boolean }>(
    'select iu_core.fn_job_schedule_remove($1) as removed',
    [schedule],
  )
  return rows[0]!.removed
}
