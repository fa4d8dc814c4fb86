/** Durations as people write them: 500ms, 30s, 5m, 2h, 2d, 1h30m. */
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

type Unit = 'ms' | 's' | 'm' | 'h' | 'd'
/** 500ms, 30s, 5m, 2h, 2d. */
export type Duration = `${number}${Unit}`

export const MAX_DURATION_MS = 366 * 86_400_000
export const DURATION_PATTERN = '^([0-9]{1,12}(ms|s|m|h|d))+$'

/** Undefined: not a duration. */
export function parseDuration(text: string): number | undefined {
  if (!new RegExp(DURATION_PATTERN).test(text)) return undefined
  let total = 0
  for (const [, count, unit] of text.matchAll(/([0-9]+)(ms|s|m|h|d)/g))
    total += Number(count) * UNIT_MS[unit!]!
  return total
}
