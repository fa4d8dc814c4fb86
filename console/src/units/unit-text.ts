import type { ListedUnit } from '../api/types.ts'
import type { Tone } from '../parts/chip.tsx'

type Status = ListedUnit['lifecycle_status']

const STATUSES: Record<Status, { tone: Tone; word: string }> = {
  draft: { tone: 'held', word: 'draft' },
  enacted: { tone: 'ok', word: 'in force' },
  superseded: { tone: 'stale', word: 'superseded' },
  retired: { tone: 'stale', word: 'retired' },
}

const SEARCH_STATES: Record<ListedUnit['vector_state'], { tone: Tone; word: string }> = {
  current: { tone: 'ok', word: 'in search' },
  pending: { tone: 'work', word: 'on its way into search' },
  stale: { tone: 'stale', word: 'search has an older text' },
  error: { tone: 'bad', word: 'could not be indexed' },
  retired: { tone: 'stale', word: 'not in search' },
}

export const STATUS_OPTIONS = Object.entries(STATUSES).map(([value, { word }]) => [value, word] as const)

export function statusOf(unit: Pick<ListedUnit, 'lifecycle_status' | 'deleted_at'>) {
  return unit.deleted_at === null
    ? STATUSES[unit.lifecycle_status]
    : ({ tone: 'stale', word: 'deleted' } as const)
}

export function searchStateOf(unit: Pick<ListedUnit, 'vector_state'>) {
  return SEARCH_STATES[unit.vector_state]
}

/** A status of the log, in the words of the page. */
export function statusWord(status: string): string {
  return STATUSES[status as Status]?.word ?? status
}

const LACKS: Record<string, string> = {
  container: 'a document that it is part of',
  edge: 'a link to another unit',
  topic: 'a topic',
  check: 'a check of this version',
  vector: 'its place in search by meaning',
  enacted: 'to be enacted',
}

/** What a unit lacks for the next tier. */
export function lackText(lack: string): string {
  return LACKS[lack] ?? (lack.startsWith('profile.') ? `the field ${lack.slice('profile.'.length)}` : lack)
}
