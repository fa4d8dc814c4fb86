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

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const RESAMPLES = 2000

/** Between which values the mean lies with 95 %, by the bootstrap over these values; the same values give the same interval. */
export function bootstrapInterval(values: readonly number[]): readonly [low: number, high: number] {
  let state = 1
  const random = (): number => {
    // A linear congruential generator: enough to draw places.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0
    for (let n = 0; n < values.length; n++) sum += values[Math.floor(random() * values.length)]!
    return sum / values.length
  })
  return [percentile(means, 0.025), percentile(means, 0.975)]
}
