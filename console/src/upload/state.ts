import type { PlanAction, Upload } from '../api/upload-types.ts'
import type { Tone } from '../parts/chip.tsx'
import { count, counted } from '../parts/format.ts'
import { ACTION_LABELS } from './labels.ts'
import { amount } from './plan/values.ts'

export interface State {
  readonly tone: Tone
  readonly word: string
}

/** The state of an upload, as a label. */
export function stateOf(upload: Upload): State {
  switch (upload.status) {
    case 'reading':
      return { tone: 'work', word: 'reading' }
    case 'staged':
      return { tone: 'held', word: 'not planned yet' }
    case 'planned':
      return plannedState(upload)
    case 'promoted':
      return { tone: 'ok', word: 'promoted' }
    case 'undone':
      return { tone: 'stale', word: 'undone' }
    case 'failed':
      return { tone: 'bad', word: failureWord(upload) }
    case 'discarded':
      return { tone: 'stale', word: 'discarded' }
    case 'expired':
      return { tone: 'stale', word: 'expired' }
  }
}

/** Distinguishes a file that does not fit the dataset from one that cannot be read. */
function failureWord({ error }: Upload): string {
  switch (error?.code) {
    case 'file_unreadable':
      return 'not readable'
    case 'file_has_no_rows':
      return 'no lines'
    case 'upload_columns_missing':
    case 'upload_period_too_long':
    case 'argument_invalid':
      return 'does not fit'
    case 'upload_too_many_lines':
    case 'upload_too_large':
      return 'too large'
    default:
      return 'failed'
  }
}

export function failureText(upload: Upload): string {
  switch (failureWord(upload)) {
    case 'not readable':
      return 'The file could not be read'
    case 'no lines':
      return 'The file has no lines'
    case 'does not fit':
      return 'The file does not fit the dataset'
    case 'too large':
      return 'The file is too large'
    default:
      return 'The upload failed'
  }
}

/** Why the plan that is there was not promoted, although somebody tried; undefined: nobody did. */
export function lastPromotionFailure({ status, plan_digest, promotion_failures: [last] }: Upload) {
  return status === 'planned' && last?.plan_digest === plan_digest ? last : undefined
}

function plannedState(upload: Upload): State {
  if (upload.run_mode === 'FULL_DRY_RUN') return { tone: 'stale', word: 'dry run' }
  if (upload.plan_refusal !== null) return { tone: 'bad', word: 'invalid lines' }
  if (lastPromotionFailure(upload)) return { tone: 'bad', word: 'promotion failed' }
  switch (upload.review_status) {
    case 'pending':
      return { tone: 'held', word: 'awaiting review' }
    case 'approved':
      return { tone: 'ok', word: 'approved' }
    case 'rejected':
      return { tone: 'bad', word: 'rejected' }
    case 'expired':
      return { tone: 'stale', word: 'review expired' }
    case 'not_submitted':
      return { tone: 'held', word: 'ready to submit' }
    case null:
      return { tone: 'held', word: 'ready to promote' }
  }
}

/** `open`: the invalid lines block the plan until they are repaired or skipped. */
export function invalidText(upload: Upload): { readonly text: string; readonly open: boolean } {
  const wrong = count(upload.invalid_count ?? 0)
  const leftOut = upload.gate_mode === 'LENIENT' && upload.plan_refusal === null
  const ended = ['promoted', 'undone', 'discarded', 'expired'].includes(upload.status)
  return { text: `${wrong} ${leftOut ? 'skipped' : 'invalid'}`, open: !leftOut && !ended }
}

/** Since when it stands there. */
export function sinceOf(upload: Upload): string {
  return (
    upload.undone_at ??
    upload.promoted_at ??
    upload.ended_at ??
    upload.planned_at ??
    upload.staged_at ??
    upload.created_at
  )
}

/** Rows by action over all row types. */
export function sumActions(totals: Upload['plan_totals']): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const actions of Object.values(totals ?? {})) {
    for (const [action, rows] of Object.entries(actions)) sums[action] = (sums[action] ?? 0) + rows
  }
  return sums
}

/** How many rows are written, and into how many tables. */
export function written(totals: Upload['plan_totals']): { rows: number; tables: number } {
  const types = Object.values(totals ?? {}).map(
    ({ insert = 0, update = 0, delete: gone = 0 }) => insert + update + gone,
  )
  return { rows: types.reduce((sum, rows) => sum + rows, 0), tables: types.filter((rows) => rows > 0).length }
}

/** The plan in a line: what it would write, and what it leaves. */
export function planText(upload: Upload): string {
  const sums = sumActions(upload.plan_totals)
  const said = (action: PlanAction) =>
    sums[action] ? `${count(sums[action])} ${ACTION_LABELS[action]}` : undefined
  const parts = [
    said('insert'),
    said('update'),
    said('unchanged'),
    sums.delete ? `${counted(sums.delete, 'row')} to delete` : undefined,
    upload.invalid_count ? `${counted(upload.invalid_count, 'invalid line')} skipped` : undefined,
    ...lostText(upload),
  ].filter(Boolean)
  return parts.length === 0 ? 'no rows' : parts.join(', ')
}

/** `Spend EUR: skipped 1,234 and invalid 25.5 of 5,678`: what a reviewer must not overlook. */
function lostText({ control }: Upload): string[] {
  return control.flatMap(({ title, currency, read, left_out, refused }) => {
    const lost = [
      ...(left_out === '0' ? [] : [`skipped ${amount(left_out)}`]),
      ...(refused === '0' ? [] : [`invalid ${amount(refused)}`]),
    ]
    if (lost.length === 0) return []
    return [`${[title, currency].filter(Boolean).join(' ')}: ${lost.join(' and ')} of ${amount(read)}`]
  })
}
