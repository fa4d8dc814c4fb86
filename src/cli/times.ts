/** Points in time, as people say and read them. */
import { InvalidArgumentError } from 'commander'
import { age } from './output.ts'

const UNITS = { s: 1, m: 60, min: 60, h: 3600, d: 86_400 } as const

/** 30s, 5m, 2h, 1d from now; or a time as 2026-11-16T08:00:00Z */
export function timeToCome(given: string): Date {
  return parse(given, 1, 'from now')
}

/** The same, ago. */
export function pastTime(given: string): Date {
  return parse(given, -1, 'ago')
}

function parse(given: string, direction: 1 | -1, words: string): Date {
  const [, amount, unit] = /^(\d{1,6})\s?(s|m|min|h|d)$/.exec(given) ?? []
  if (amount !== undefined) {
    return new Date(Date.now() + direction * Number(amount) * UNITS[unit as keyof typeof UNITS] * 1000)
  }
  const time = new Date(given)
  if (/^\d{4}-\d\d-\d\d/.test(given) && !Number.isNaN(time.getTime())) return time
  throw new InvalidArgumentError(`A time like 2026-11-16T08:00:00Z, or 30s, 5m, 2h or 1d ${words}.`)
}

/** 5 s ago, in 12 s */
export function whenIs(time: Date, now = new Date()): string {
  if (time <= now) return `${age(time, now)} ago`
  return `in ${age(now, time)}`
}

/** Between two moments: 3 ms, 1.2 s, 4 min */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return age(new Date(0), new Date(ms))
}

/** 30s, 5m, 2h, 1d as milliseconds */
export function spanOf(given: string): number {
  const [, amount, unit] = /^(\d{1,6})\s?(s|m|min|h|d)$/.exec(given) ?? []
  if (amount === undefined || Number(amount) === 0)
    throw new InvalidArgumentError('A span like 30s, 5m, 2h or 1d.')
  return Number(amount) * UNITS[unit as keyof typeof UNITS] * 1000
}
