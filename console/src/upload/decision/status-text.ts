import type { Dataset, UploadDetail } from '../../api/upload-types.ts'
import { count, counted, onDay } from '../../parts/format.ts'
import { failureText, sumActions, written } from '../state.ts'

/** What will happen or has happened: how many rows, and until when it can be undone. */
export function statusText(
  upload: UploadDetail,
  dataset: Dataset | undefined,
  stale: number | undefined,
): string {
  if (stale !== undefined) return staleText(stale)
  switch (upload.status) {
    case 'reading':
      return 'The file is being read. Production is not changed.'
    case 'failed':
      return `${failureText(upload)}. Nothing was staged, and production was not changed.`
    case 'discarded':
      return 'Discarded. Its lines were deleted, and production was not changed.'
    case 'expired':
      return 'Nobody continued with this upload in time, so it expired. Upload the file again.'
    case 'staged':
      return `${counted(upload.valid_count ?? 0, 'valid line is', 'valid lines are')} staged. A plan shows what they would change; it changes nothing itself.`
    case 'planned':
      return plannedText(upload, dataset)
    case 'promoted':
      return `${writtenText(upload.promotion_totals, 'were')} written. ${undoText(upload)}`
    case 'undone':
      return undoneText(upload)
  }
}

function staleText(rows: number): string {
  return `Production has changed since this plan was made: ${counted(rows, 'row')}. Nothing was written. Plan again to see what would change now.`
}

function plannedText(upload: UploadDetail, dataset: Dataset | undefined): string {
  if (upload.run_mode === 'FULL_DRY_RUN')
    return 'This is a dry run: it shows what would happen and can never be promoted.'
  if (upload.plan_refusal !== null) return refusedText(upload)
  if (upload.review_status === 'rejected')
    return 'A reviewer rejected this plan. Repair the lines and submit it again, or discard the upload.'
  const { rows } = written(upload.plan_totals)
  if (rows === 0) return 'Everything in this file is in production already. Promoting it changes nothing.'
  const { insert = 0, update = 0, delete: gone = 0 } = sumActions(upload.plan_totals)
  const parts = [
    insert > 0 && `${count(insert)} new`,
    update > 0 && `${count(update)} changed`,
    gone > 0 && `${counted(gone, 'row')} to delete`,
  ].filter(Boolean)
  return `Promoting writes ${writtenText(upload.plan_totals)} in one transaction: ${parts.join(', ')}. ${skippedText(upload)}${windowText(dataset)}`
}

function refusedText(upload: UploadDetail): string {
  const invalid = upload.invalid_count ?? 0
  const all = invalid + (upload.valid_count ?? 0)
  if (upload.gate_mode !== 'LENIENT' && invalid > 0) {
    const lines = `${count(invalid)} of ${counted(all, 'line')} ${invalid === 1 ? 'is' : 'are'} invalid`
    return `Can’t promote: ${lines}. Repair or skip ${invalid === 1 ? 'it' : 'them'}.`
  }
  if (upload.plan_snapshot?.deleted) return `Can’t promote: ${upload.plan_refusal}.`
  const otherwise = upload.gate_mode === 'LENIENT' ? ', or require a smaller share of valid lines' : ''
  return `Can’t promote: ${upload.plan_refusal}. Repair the lines under Problems${otherwise}.`
}

function skippedText({ invalid_count }: UploadDetail): string {
  if (!invalid_count) return ''
  return `${counted(invalid_count, 'invalid line is', 'invalid lines are')} skipped. `
}

function writtenText(totals: UploadDetail['plan_totals'], verb?: string): string {
  const { rows, tables } = written(totals)
  const said = `${counted(rows, 'row')} in ${counted(tables, 'table')}`
  return verb === undefined ? said : `${said} ${rows === 1 ? 'was' : verb}`
}

function windowText(dataset: Dataset | undefined): string {
  const days = daysOf(dataset?.undo_window)
  if (dataset === undefined) return ''
  if (days === undefined) return `It can be undone for ${dataset.undo_window}.`
  return `It can be undone until ${onDay(new Date(Date.now() + days * 86_400_000).toISOString())}.`
}

function daysOf(window: string | undefined): number | undefined {
  const days = /^(\d+) days?$/.exec(window ?? '')?.[1]
  return days === undefined ? undefined : Number(days)
}

function undoText({ undo_until }: UploadDetail): string {
  if (undo_until === null) return ''
  const over = Date.parse(undo_until) < Date.now()
  return over
    ? `It could be undone until ${onDay(undo_until)}.`
    : `It can be undone until ${onDay(undo_until)}.`
}

function undoneText(upload: UploadDetail): string {
  const { reversed = 0, kept = 0, refused = 0 } = sumActions(upload.undo_totals)
  const stays = kept + refused
  const rest =
    stays === 0
      ? ''
      : ` ${counted(stays, 'row')} stayed as ${stays === 1 ? 'it was' : 'they were'}: Lineage says why.`
  return `Undone: ${counted(reversed, 'row')} reverted.${rest} To promote it again, upload the file again.`
}
