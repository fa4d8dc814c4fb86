/** The bars and goals of a benchmark, and whether figures meet them. */
import type { Figures } from './benchmark.ts'

export interface Limit {
  readonly at: 'least' | 'most'
  readonly value: number
}

export interface Criterion {
  readonly field: string
  readonly bar: Limit
  readonly goal?: Limit
  /** Not a matter of speed: the work was wrong, and the run fails. */
  readonly correctness?: true
  /** A quick run does not measure it. */
  readonly onlyFull?: true
}

export interface Verdict {
  readonly field: string
  readonly value: number
  readonly bar: string
  readonly bar_met: boolean
  readonly goal?: string
  readonly goal_met?: boolean
}

export const atLeast = (value: number): Limit => ({ at: 'least', value })
export const atMost = (value: number): Limit => ({ at: 'most', value })

export function judge(criteria: readonly Criterion[], figures: Figures): Verdict[] {
  const measured = criteria.filter(({ field, onlyFull }) => !onlyFull || figures[field] !== undefined)
  return measured.map(({ field, bar, goal }) => {
    const value = figures[field]
    if (value === undefined) throw new Error(`the benchmark has a bar for ${field} but gives no such figure`)
    return {
      field,
      value,
      bar: wording(bar),
      bar_met: meets(value, bar),
      ...(goal && { goal: wording(goal), goal_met: meets(value, goal) }),
    }
  })
}

/** The fields whose bar is missed although it is one of correctness. */
export function wrong(criteria: readonly Criterion[], figures: Figures): string[] {
  return criteria
    .filter(({ onlyFull, field }) => !onlyFull || figures[field] !== undefined)
    .filter(({ correctness, field, bar }) => correctness && !meets(figures[field] ?? Number.NaN, bar))
    .map(({ field }) => field)
}

function meets(value: number, limit: Limit): boolean {
  return limit.at === 'least' ? value >= limit.value : value <= limit.value
}

function wording(limit: Limit): string {
  return `${limit.at === 'least' ? '≥' : '≤'} ${limit.value}`
}
