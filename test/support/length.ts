/**
 * How many cases a test tries. `npm test` is the short run, `npm run test:long` the long one (vitest.config.ts). A test
 * with the tag `property` is in both and calls `cases`; a test with the tag `long` is only in the long run.
 */
export const LONG = process.env.TEST_LENGTH === 'long'

/** CASES=n in the environment replaces both, to look for a rare failure or to narrow one down. */
export function cases(short: number, long: number): number {
  return Number(process.env.CASES || (LONG ? long : short))
}
