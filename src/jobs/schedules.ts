/** Schedules: a job at every time that a cron line names, in a time zone. */

import { Cron } from 'croner'
import type { Logger } from 'pino'
import { StagedoorError } from '../kernel/errors.ts'
import type { Pool, Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { Wake } from '../runtime/wake.ts'
import { Schedule } from './shapes.ts'

export type { Schedule } from './shapes.ts'

export interface NewSchedule {
  readonly schedule: string
  /** Five fields, or six with seconds first. */
  readonly cron: string
  /** An IANA name; default UTC. */
  readonly time_zone?: string
  readonly job_kind: string
  readonly payload?: Readonly<Record<string, unknown>>
  readonly enabled?: boolean
}

const COLUMNS = columnsOf(Schedule, { as: { payload: 'safe_payload' } })

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
      JSON.stringify(given.payload ?? {}),
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
export async function deleteSchedule(db: Queryable, schedule: string): Promise<boolean> {
  const { rows } = await db.query<{ deleted: boolean }>(
    'select iu_core.fn_job_schedule_delete($1) as deleted',
    [schedule],
  )
  return rows[0]!.deleted
}

export interface Scheduler {
  /** A schedule is due. */
  now(): void
  stop(): Promise<void>
}

/** A schedule that somebody sets is seen after this long at the latest. */
const MAX_WAIT_MS = 1000
const MIN_WAIT_MS = 20

/** Milliseconds until the next one is due, for the poll of wake-ups. */
export const SCHEDULE_DUE_SQL = `(select case when min(s.next_at) is not null then
    least(greatest(ceil(extract(epoch from min(s.next_at) - clock_timestamp()) * 1000), 0), 86400000)::integer end
  from iu_core.job_schedule s where s.enabled)`

interface SchedulerOptions {
  readonly log: Logger
  onFire(schedule: string): void
  /** Whether it looks by itself now: somebody else calls `now` otherwise. Default: always. */
  polls?(): boolean
}

/**
 * Fires schedules. One process leads it; should several do, the database decides by its own clock which of them fires a time, so neither
 * many workers nor a machine whose clock is wrong fire one twice. However many times were missed, one job makes up for them.
 */
export function startScheduler(pool: Pool, { log, onFire, polls = () => true }: SchedulerOptions): Scheduler {
  const wake = new Wake()
  let stopping = false
  const loop = (async () => {
    while (!stopping) {
      let waitMs = MAX_WAIT_MS
      try {
        waitMs = await fireDue(pool, {
          onFire,
          onError: (error) => log.error({ err: error }, 'schedule could not be fired'),
        })
      } catch (error) {
        log.warn({ err: error }, 'reading the schedules failed; will be retried')
      }
      if (stopping) return
      if (polls()) await wake.wait(Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, waitMs)))
      else await wake.wait()
    }
  })()
  return {
    now: () => wake.now(),
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
  callbacks: { onFire(schedule: string): void; onError(error: unknown): void },
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
      if (enqueued[0]!.job_id !== null) callbacks.onFire(schedule)
      left = Math.min(left, next.getTime() - current.getTime())
    } catch (error) {
      // A schedule that cannot be fired must not keep the others.
      callbacks.onError(error)
    }
  }
  return left
}

// Cron lines in time zones. The library reads the line and finds the next time at a fixed distance from UTC; what happens when
// clocks change is decided here, because in the hour that comes twice croner 10.0.1 leaves times out, or returns earlier ones.
// Clocks go forward: what was due in the hour that does not exist runs right after it. Clocks go back: what is due at certain
// hours runs in the first of the two; what is due every hour, or more often, runs through both.

const MINUTE = 60_000
/** No clock was ever changed by more. */
const MAX_CLOCK_CHANGE_MS = 3 * 60 * MINUTE
const MAX_STEPS = 20

/** The next times, for people who want to see what a line means. */
export function nextTimes(cron: string, timeZone: string, from: Date, count: number): Date[] {
  const times: Date[] = []
  for (let last = from; times.length < count; ) {
    last = nextTime(cron, timeZone, last)
    times.push(last)
  }
  return times
}

/** The first time after `from`. */
export function nextTime(cron: string, timeZone: string, from: Date): Date {
  const offset = offsetsOf(timeZone)
  for (let at = from, steps = 0; steps < MAX_STEPS; steps++) {
    const here = offset(at)
    const next = nextAt(cron, here, at)
    const there = offset(next)
    // As the clock will be by then; and as it is now, which counts if that hour does not exist.
    const shifted = there === here ? next : nextAt(cron, there, at)
    const candidates = offset(shifted) === there ? [shifted] : []
    if (!isEveryHour(cron) && isInGap(offset, next, here, there)) candidates.push(next)
    const found = earliest(candidates)
    if (found && (isEveryHour(cron) || !isRepeated(offset, found))) return found
    at = found ?? earliest([next, shifted])!
  }
  throw invalid(cron, 'it names no time that is still to come')
}

type OffsetAt = (time: Date) => number

/** Whether the clocks were set forward over this time. */
function isInGap(offset: OffsetAt, time: Date, here: number, there: number): boolean {
  return there > here && offset(earlier(time, (there - here) * MINUTE)) === here
}

/** Whether the clocks were set back and showed the same time before. */
function isRepeated(offset: OffsetAt, time: Date): boolean {
  const change = offset(earlier(time, MAX_CLOCK_CHANGE_MS)) - offset(time)
  if (change <= 0) return false
  return offset(earlier(time, change * MINUTE)) === offset(time) + change
}

function earlier(time: Date, ms: number): Date {
  return new Date(time.getTime() - ms)
}

function earliest(times: readonly Date[]): Date | undefined {
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0]
}

function isEveryHour(cron: string): boolean {
  const line = cron.trim()
  return line.split(/\s+/).at(-4) === '*' || line === '@hourly'
}

function nextAt(cron: string, utcOffset: number, from: Date): Date {
  let next: Date | null
  try {
    next = new Cron(cron, { utcOffset, paused: true, mode: '5-or-6-parts' }).nextRun(from)
  } catch (error) {
    throw invalid(cron, (error as Error).message)
  }
  if (!next) throw invalid(cron, 'it names no time that is still to come')
  return next
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Minutes from UTC in the zone, at a time. */
function offsetsOf(timeZone: string): OffsetAt {
  let format = formats.get(timeZone)
  try {
    format ??= new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    throw new StagedoorError('argument_invalid', {
      reason: `${timeZone} is not a time zone; name one as Europe/Berlin or UTC`,
    })
  }
  formats.set(timeZone, format)
  return (time) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')!.value
    const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name)!
    if (sign === undefined) return 0
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  }
}

function invalid(cron: string, reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', {
    reason: `"${cron}" is not a cron line that can be used: ${reason}`,
  })
}
