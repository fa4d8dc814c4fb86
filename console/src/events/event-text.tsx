/** Events in words: what happened, what it is about, and the fields that fit in a line. */
import type { RecordedEvent } from '../api/types.ts'
import { gateLabel } from '../gates.ts'
import { shortId, useNames } from '../people.ts'

const EVENT_TEXTS: Readonly<Record<string, string>> = {
  ingestion_staged: 'Upload read and checked',
  ingestion_failed: 'Upload failed',
  ingestion_repaired: 'Upload repaired',
  ingestion_planned: 'Upload planned',
  ingestion_submitted: 'Upload submitted for review',
  ingestion_approved: 'Upload approved',
  ingestion_rejected: 'Upload rejected',
  ingestion_complete: 'Upload promoted',
  ingestion_undone: 'Promotion undone',
  ingestion_discarded: 'Upload discarded',
}

const CHANGE_TEXTS: Readonly<Record<string, string>> = {
  opened: 'Change opened',
  edited: 'Change edited',
  commented: 'Comment written',
  comment_edited: 'Comment edited',
  comment_deleted: 'Comment deleted',
  mentioned: 'Person mentioned',
  review_requested: 'Review requested',
  reviewed: 'Change reviewed',
  review_dismissed: 'Review dismissed',
  status_changed: 'Change has another status',
  undo_requested: 'Undo requested',
  undo_declined: 'Undo declined',
}

/** Other types in their own words; the technical name is in the title. */
export function eventText({ event_domain, event_type }: RecordedEvent): string {
  const words = event_type.replace(/[._]+/g, ' ')
  const known = event_domain === 'change' ? CHANGE_TEXTS[event_type] : EVENT_TEXTS[event_type]
  return known ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** The change or the file that the event is about, by name and linked to its page; other subjects by their short id. */
export function EventSubject({ event }: { event: RecordedEvent }) {
  const names = useNames()
  const id = event.event_subject_ref
  if (!id) return null
  if (event.event_domain === 'change' && typeof event.payload.number === 'number')
    return <ChangeName id={id} number={event.payload.number} workspace={event.workspace_id} />
  const name = event.event_type.startsWith('ingestion_') ? names[id] : undefined
  if (event.event_type === 'gate_changed') return <span title={id}>{gateLabel(id)}</span>
  const execution = /^execution:(\d+)$/.exec(id)?.[1]
  if (execution !== undefined) return <a href={`/executions/${execution}`}>execution {execution}</a>
  if (event.event_type.startsWith('record_'))
    return (
      <a href={`/records/${id}`} title={id}>
        record {shortId(id)}
      </a>
    )
  if (name === undefined) return <code title={id}>{shortId(id)}</code>
  return (
    <a href={`/uploads/${id}`} title={id}>
      {name}
    </a>
  )
}

interface ChangeNameProps {
  readonly id: string
  readonly number: number
  readonly workspace: string | null
}

function ChangeName({ id, number, workspace }: ChangeNameProps) {
  const name = useNames()[id]
  const address = `/changes/${number}${workspace === null ? '' : `?workspace=${workspace}`}`
  return (
    <a href={address} title={id}>
      {name} #{number}
    </a>
  )
}

/** Fields that say what the subject says already, or that only a program reads. */
const TECHNICAL = new Set(['number', 'kind'])

/** Up to three plain fields of the payload that people can read: no ids, no digests. The page of the event has all of them. */
export function fieldsOf(event: RecordedEvent): string {
  return Object.entries(event.payload)
    .filter(
      ([name, value]) =>
        ['string', 'number', 'boolean'].includes(typeof value) &&
        !TECHNICAL.has(name) &&
        !isReference(String(value)),
    )
    .slice(0, 3)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`)
    .join(', ')
}

/** An id or a digest. */
const isReference = (text: string) => shortId(text) !== text || /^[0-9a-f]{32,}$/.test(text)
