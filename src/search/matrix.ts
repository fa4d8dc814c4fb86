/**
 * Which of two speaks: a unit, or the document of the old knowledge base that it was cut from. The full product of their
 * states; legacy wins for data, this table for ranking.
 */

export const UNIT_STATES = [
  'absent',
  'current+enacted',
  'current',
  'pending',
  'stale',
  'error',
  'retired',
] as const
export const DOCUMENT_STATES = ['absent', 'current', 'stale', 'error'] as const

export type UnitState = (typeof UNIT_STATES)[number]
export type DocumentState = (typeof DOCUMENT_STATES)[number]

/** What the reader has to know about the one that is shown, or about the one that is not. */
export type Caution = 'unit_pending' | 'unit_stale' | 'unit_error' | 'document_stale' | 'document_error'

export interface Verdict {
  readonly show: 'unit' | 'document' | 'none'
  readonly cautions: readonly Caution[]
}

const none: Verdict = { show: 'none', cautions: [] }
const unit = (...cautions: Caution[]): Verdict => ({ show: 'unit', cautions })
const document = (...cautions: Caution[]): Verdict => ({ show: 'document', cautions })

const MATRIX: Readonly<Record<UnitState, Readonly<Record<DocumentState, Verdict>>>> = {
  absent: {
    absent: none,
    current: document(),
    stale: document('document_stale'),
    error: document('document_error'),
  },
  'current+enacted': { absent: unit(), current: unit(), stale: unit(), error: unit() },
  current: { absent: unit(), current: document(), stale: unit(), error: unit() },
  pending: {
    absent: unit('unit_pending'),
    current: document(),
    stale: document('document_stale', 'unit_pending'),
    error: unit('unit_pending'),
  },
  stale: {
    absent: unit('unit_stale'),
    current: document('unit_stale'),
    stale: document('document_stale', 'unit_stale'),
    error: unit('unit_stale'),
  },
  error: {
    absent: unit('unit_error'),
    current: document('unit_error'),
    stale: document('document_stale', 'unit_error'),
    error: unit('unit_error', 'document_error'),
  },
  retired: {
    absent: none,
    current: document(),
    stale: document('document_stale'),
    error: document('document_error'),
  },
}

export function judge(unitState: UnitState, documentState: DocumentState): Verdict {
  return MATRIX[unitState][documentState]
}

/** As the matrix names it: what is in force counts for more than what is only fresh. */
export function unitStateOf(vectorState: string, lifecycleStatus: string): UnitState {
  if (vectorState === 'current') return lifecycleStatus === 'enacted' ? 'current+enacted' : 'current'
  return vectorState as UnitState
}
