/** The little arithmetic that the figures need. */
import type { Figures, Round } from './benchmark.ts'

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('there is no median of nothing')
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** All values of one figure of one contender, in the order of the rounds. */
export function valuesOf(rounds: readonly Round[], contender: string, field: string): number[] {
  return rounds.map((round, index) => {
    const value = round[contender]?.[field]
    if (value === undefined) throw new Error(`round ${index + 1} has no ${field} of ${contender}`)
    return value
  })
}

export function medianOf(rounds: readonly Round[], contender: string, field: string): number {
  return median(valuesOf(rounds, contender, field))
}

/** For what must never happen: a median would hide one bad round. */
export function worstOf(rounds: readonly Round[], contender: string, field: string): number {
  return Math.max(...valuesOf(rounds, contender, field))
}

/** The median of every figure of every contender. */
export function medians(rounds: readonly Round[]): Record<string, Figures> {
  const [first] = rounds
  if (!first) throw new Error('there are no medians of no rounds')
  return Object.fromEntries(
    Object.entries(first).map(([contender, figures]) => [
      contender,
      Object.fromEntries(
        Object.keys(figures).map((field) => [field, rounded(medianOf(rounds, contender, field))]),
      ),
    ]),
  )
}

export const perSecond = (count: number, milliseconds: number): number => (count * 1000) / milliseconds

/** Four significant digits, and whole numbers whole: more would pretend to a precision that nobody has. */
export function rounded(value: number): number {
  return Number.isInteger(value) || Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4))
}

/** The least value that this share of all values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('there is no percentile of nothing')
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
}
