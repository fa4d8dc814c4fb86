import type { GateMode, PlanAction } from '../api/upload-types.ts'

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
