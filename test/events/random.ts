/** A small seeded generator (mulberry32): a failing run can be run again with the seed that it printed. */
export interface Random {
  readonly seed: number
  /** A whole number from 0 to below − 1. */
  below(bound: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return { seed, below, chance: (p) => next() < p, pick: (items) => items[below(items.length)]! }
}
