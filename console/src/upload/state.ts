import type { Upload } from '../api/upload-types.ts'
import type { Tone } from '../parts/chip.tsx'
import { counted } from '../parts/figures.ts'

export interface State {
  readonly tone: Tone
  readonly word: string
}

/** Where an upload stands, in the words of whoever has to act next. */
export function stateOf(upload: Upload): State {
  switch (upload.status) {
    case 'reading':
      return { tone: 'work', word: 'being read' }
    case 'staged':
      return { tone: 'held', word: 'checked, no plan' }
    case 'planned':
      return plannedState(upload)
    case 'promoted':
      return { tone: 'ok', word: 'promoted' }
    case 'undone':
      return { tone: 'stale', word: 'undone' }
    case 'failed':
      return { tone: 'bad', word: 'not readable' }
    case 'discarded':
      return { tone: 'stale', word: 'discarded' }
    case 'expired':
      return { tone: 'stale', word: 'expired' }
  }
}

function plannedState(upload: Upload): State {
  if (upload.run_mode === 'FULL_DRY_RUN') return { tone: 'stale', word: 'dry run' }
  if (upload.plan_refusal !== null) return { tone: 'bad', word: 'wrong lines' }
  switch (upload.review_status) {
    case 'pending':
      return { tone: 'held', word: 'waits for approval' }
    case 'approved':
      return { tone: 'ok', word: 'approved' }
    case 'rejected':
      return { tone: 'bad', word: 'rejected' }
    case 'expired':
      return { tone: 'stale', word: 'request expired' }
    case 'not_submitted':
      return { tone: 'held', word: 'approval to be asked' }
    case null:
      return { tone: 'held', word: 'ready to promote' }
  }
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
  const types = Object.values(totals ?? {}).map(({ insert = 0, update = 0 }) => insert + update)
  return { rows: types.reduce((sum, rows) => sum + rows, 0), tables: types.filter((rows) => rows > 0).length }
}

/** The plan in a line: what it would write, and what it leaves. */
export function planSaid(upload: Upload): string {
  const sums = sumActions(upload.plan_totals)
  const said = (action: string, one: string, many: string) =>
    sums[action] ? counted(sums[action], one, many) : undefined
  const parts = [
    said('insert', 'insert', 'inserts'),
    said('update', 'update', 'updates'),
    said('unchanged', 'unchanged', 'unchanged'),
    upload.invalid_count
      ? `${counted(upload.invalid_count, 'wrong line', 'wrong lines')} left out`
      : undefined,
  ].filter(Boolean)
  return parts.length === 0 ? 'no row' : parts.join(', ')
}
