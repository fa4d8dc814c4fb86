import type { GateMode, PlanAction } from '../api/upload-types.ts'

/** One word for one thing, the same as on the command line; the API has the names of the columns. */
export const ACTION_WORDS: Readonly<Record<PlanAction, string>> = {
  insert: 'new',
  update: 'changed',
  unchanged: 'unchanged',
  skipped: 'left out',
  refused: 'refused',
}

export const UNDO_WORDS: Readonly<Record<string, string>> = {
  reversed: 'reverted',
  kept: 'skipped',
  refused: 'blocked',
}

/** What becomes of invalid lines. */
export const MODE_WORDS: Readonly<Record<GateMode, string>> = {
  STRICT: 'reject the file',
  LENIENT: 'skip them',
}
