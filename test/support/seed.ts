/**
 * The seed of every random test. It is fixed, so that two runs of one commit try the same cases: a change is judged by
 * what it changed. SEED=random tries new cases (the nightly workflow does), SEED=n repeats a run; a failing property
 * prints its seed. vitest.config.ts loads this file before every test file, which gives the seed to fast-check.
 */
import fc from 'fast-check'

const FIXED_SEED = 20_261_117

export const SEED = chosen(process.env.SEED)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED })

function chosen(text: string | undefined): number {
  if (text === undefined || text === '') return FIXED_SEED
  if (text === 'random') return Date.now() % 2 ** 31
  const seed = Number(text)
  if (!Number.isSafeInteger(seed)) throw new Error(`SEED is a whole number or "random", not ${text}.`)
  return seed
}
