import type { StagingSummary } from '../api/types.ts'
import type { Tone } from '../parts/chip.tsx'
import { counted } from '../parts/format.ts'
import { isServer } from '../parts/person.tsx'

/** The name of each kind of record, for reviewers. */
export const KINDS: Record<StagingSummary['staging_kind'], string> = {
  mark_manifest: 'marking of a document',
  review_package: 'review package',
  cut_preview: 'preview of a cut',
  sql_snapshot: 'result of a query',
  nosql_payload: 'payload from outside',
  draft_iu_composition: 'draft of units',
  agent_intermediate: 'an agent’s working data',
  event_working_state: 'working data of an event',
  approval: 'request for approval',
}

const SOURCES: Record<string, string> = {
  agent: 'an agent',
  user: 'a person',
  system: 'the system',
  import: 'an import',
}

export const STATES: Record<StagingSummary['lifecycle_status'], { tone: Tone; word: string }> = {
  pending: { tone: 'held', word: 'awaiting review' },
  approved: { tone: 'ok', word: 'approved' },
  rejected: { tone: 'bad', word: 'rejected' },
  consumed: { tone: 'ok', word: 'used' },
  expired: { tone: 'stale', word: 'expired' },
  cleaned: { tone: 'stale', word: 'deleted' },
}

export function kindOf({ staging_kind }: Pick<StagingSummary, 'staging_kind'>): string {
  return KINDS[staging_kind]
}

/** The database says `user` of everything that no agent staged; a program under a login of the server is no person. */
export function sourceOf({
  source_kind,
  owner_actor,
}: Pick<StagingSummary, 'source_kind' | 'owner_actor'>): string {
  if (source_kind === 'user' && isServer(owner_actor)) return 'a program'
  return SOURCES[source_kind] ?? source_kind
}

/** It was used, rejected or has expired: nothing can come of it any more. */
export function isDecided({ lifecycle_status }: { readonly lifecycle_status: string }): boolean {
  return lifecycle_status !== 'pending' && lifecycle_status !== 'approved'
}

/** Nobody rejected what was withdrawn, and nothing can come of its approval. */
export function recordState({
  lifecycle_status,
  withdrawn = null,
}: Pick<StagingSummary, 'lifecycle_status'> & { readonly withdrawn?: string | null }): {
  tone: Tone
  word: string
} {
  return withdrawn === null ? STATES[lifecycle_status] : { tone: 'stale', word: 'withdrawn' }
}

/** The record in a line. */
export function recordText(record: StagingSummary): string {
  const checklist = record.checklist_required ? ', with a checklist' : ''
  return `${kindOf(record)} from ${sourceOf(record)}, ${counted(record.part_count, 'part')}${checklist}`
}
