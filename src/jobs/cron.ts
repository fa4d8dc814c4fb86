/**
 * Cron lines in time zones. The library reads the line and finds the next time at a fixed distance from UTC; what happens when
 * clocks change is decided here, because in the hour that comes twice croner 10.0.1 leaves times out, or returns earlier ones.
 *
 * Clocks go forward: what was due in the hour that does not exist runs right after it. Clocks go back: what is due at certain
 * hours runs in the first of the two; what is due every hour, or more often, runs through both.
 */
import { Cron } from 'croner'
import { StagedoorError } from '../errors.ts'

const MINUTE = 60_000
/** No clock was ever changed by more. */
const LARGEST_CHANGE_MS = 3 * 60 * MINUTE
const MOST_STEPS = 20

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
  for (let at = from, steps = 0; steps < MOST_STEPS; steps++) {
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

/** Clocks have gone forward over it: an hour before, they had not. */
function isInGap(offset: OffsetAt, time: Date, here: number, there: number): boolean {
  return there > here && offset(earlier(time, (there - here) * MINUTE)) === here
}

/** Clocks have gone back, and showed the same before. */
function isRepeated(offset: OffsetAt, time: Date): boolean {
  const change = offset(earlier(time, LARGEST_CHANGE_MS)) - offset(time)
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
