import type { ChangeSummary } from '../api/changes.ts'
import type { Tone } from '../parts/chip.tsx'

export const CHANGE_STATES: Record<ChangeSummary['status'], { tone: Tone; word: string }> = {
  draft: { tone: 'stale', word: 'draft' },
  open: { tone: 'held', word: 'awaiting review' },
  changes_requested: { tone: 'bad', word: 'changes requested' },
  approved: { tone: 'ok', word: 'approved' },
  promoted: { tone: 'ok', word: 'promoted' },
  undone: { tone: 'stale', word: 'undone' },
  rejected: { tone: 'bad', word: 'rejected' },
  closed: { tone: 'stale', word: 'closed' },
}

export const CHANGE_KINDS: Record<ChangeSummary['kind'], string> = {
  upload: 'Upload',
  record: 'Record',
  cut: 'Cut of a document',
  sql: 'SQL',
}
