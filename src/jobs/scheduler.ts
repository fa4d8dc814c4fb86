/**
 * Fires schedules. Every worker runs one; the database decides which of them fires a time, by its own clock, so neither many
 * workers nor a machine whose clock is wrong fire one twice. However many times were missed, one job makes up for them.
 */
import type { Logger } from 'pino'
import type { Pool, Queryable } from '../db/connection.ts'
import { Wake } from '../db/wake.ts'
import { nextTime } from './cron.ts'

export interface Scheduler {
  stop(): Promise<void>
}

/** A schedule that somebody sets is seen after this long at the latest. */
const LOOK_MS = 1000
const SHORTEST_MS = 20

export function startScheduler(
  pool: Pool,
  { log, fired }: { log: Logger; fired(schedule: string): void },
): Scheduler {
  const wake = new Wake()
  let stopping = false
  const loop = (async () => {
    while (!stopping) {
      let waitMs = LOOK_MS
      try {
        waitMs = await fireDue(pool, { fired, refused: (error) => log.error({ err: error }, 'a schedule') })
      } catch (error) {
        log.warn({ err: error }, 'schedules could not be looked at; trying again')
      }
      await wake.wait(Math.min(LOOK_MS, Math.max(SHORTEST_MS, waitMs)))
    }
  })()
  return {
    async stop() {
      stopping = true
      wake.now()
      await loop
    },
  }
}

/** Returns how many milliseconds are left until the next one. `now`: as if it were then, for tests. */
export async function fireDue(
  db: Queryable,
  told: { fired(schedule: string): void; refused(error: unknown): void },
  now?: Date,
): Promise<number> {
  const { rows } = await db.query<{
    schedule: string
    cron: string
    time_zone: string
    next_at: Date
    due: string
    now: Date
  }>(
    `select schedule, cron, time_zone, next_at, next_at::text as due, coalesce($1, clock_timestamp()) as now
       from iu_core.job_schedule where enabled order by next_at`,
    [now ?? null],
  )
  let left = Number.POSITIVE_INFINITY
  for (const { schedule, cron, time_zone, next_at, due, now: current } of rows) {
    if (next_at > current) return Math.min(left, next_at.getTime() - current.getTime())
    try {
      const next = nextTime(cron, time_zone, current)
      const { rows: enqueued } = await db.query<{ job_id: string | null }>(
        'select iu_core.fn_job_schedule_fire($1, $2, $3, $4) as job_id',
        [schedule, due, next, now ?? null],
      )
      if (enqueued[0]!.job_id !== null) told.fired(schedule)
      left = Math.min(left, next.getTime() - current.getTime())
    } catch (error) {
      // One line that cannot be used must not keep the others.
      told.refused(error)
    }
  }
  return left
}
