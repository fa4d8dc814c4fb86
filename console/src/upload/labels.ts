import type { GateMode, PlanAction, StaleRow } from '../api/upload-types.ts'

/** One word for one thing; the API has the names of the columns. */
export const ACTION_LABELS: Readonly<Record<PlanAction, string>> = {
  insert: 'new',
  update: 'changed',
  unchanged: 'unchanged',
  delete: 'delete',
  skipped: 'skipped',
  refused: 'invalid',
}

export const UNDO_LABELS: Readonly<Record<string, string>> = {
  reversed: 'reverted',
  kept: 'skipped',
  refused: 'blocked',
}

/** What becomes of invalid lines. */
export const MODE_LABELS: Readonly<Record<GateMode, string>> = {
  STRICT: 'reject the file',
  LENIENT: 'skip them',
}

/** A dataset whose files come from one source has one platform, which nobody named. */
export function sourceText(dataset: string, platform: string): string {
  return platform === 'file' ? dataset : `${dataset} / ${platform}`
}

type Conflict = StaleRow['conflict']

/** The worst first. */
export const CONFLICT_ORDER: readonly Conflict[] = [
  'same_cell',
  'old_value',
  'deleted',
  'created',
  'to_delete',
  'other_cells',
]

/** What it means that somebody changed a row after it was planned on. */
export const CONFLICT_WORDS: Record<Conflict, { readonly short: string; readonly long: string }> = {
  same_cell: { short: 'same cell', long: 'changed in a cell that your file changes, too: a conflict' },
  old_value: {
    short: 'your file has the old value',
    long: 'changed in a cell for which your file has the old value: planning again asks whose value counts',
  },
  deleted: {
    short: 'deleted there',
    long: 'deleted in production: planning again asks whether to insert it again',
  },
  created: { short: 'created there', long: 'created in production by somebody else with the same key' },
  to_delete: {
    short: 'to delete, changed there',
    long: 'to be deleted by your file, and changed in production',
  },
  other_cells: { short: 'other cells', long: 'changed in other cells, or to the same values: both can live' },
}
