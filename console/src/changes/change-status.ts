import type { ChangeSummary } from '../api/changes.ts'
import type { Tone } from '../parts/chip.tsx'

export const CHANGE_STATES: Record<ChangeSummary['status'], { tone: Tone; word: string }> = {
  draft: { tone: 'stale', word: 'Draft' },
  open: { tone: 'held', word: 'Review required' },
  changes_requested: { tone: 'bad', word: 'Changes requested' },
  approved: { tone: 'ok', word: 'Approved' },
  promoted: { tone: 'ok', word: 'Promoted' },
  undone: { tone: 'stale', word: 'Undone' },
  rejected: { tone: 'bad', word: 'Rejected' },
  closed: { tone: 'stale', word: 'Closed' },
}

export const CHANGE_KINDS: Record<ChangeSummary['kind'], string> = {
  upload: 'Upload',
  record: 'Record',
  cut: 'Cut of a document',
  sql: 'SQL',
}
