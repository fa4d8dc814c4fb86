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

/** Other types in their own words; the technical name is in the title. */
export function eventText({ event_type }: RecordedEvent): string {
  const words = event_type.replace(/[._]+/g, ' ')
  return EVENT_TEXTS[event_type] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** The file that the event is about, by name and linked to its page; other subjects by their short id. */
export function EventSubject({ event }: { event: RecordedEvent }) {
  const names = useNames()
  const id = event.event_subject_ref
  if (!id) return null
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

/** Up to three plain fields of the payload, without the subject. */
export function fieldsOf(event: RecordedEvent): string {
  return Object.entries(event.payload)
    .filter(
      ([, value]) =>
        ['string', 'number', 'boolean'].includes(typeof value) && value !== event.event_subject_ref,
    )
    .slice(0, 3)
    .map(([name, value]) => `${name} ${shortValue(value)}`)
    .join(', ')
}

/** Ids and digests in their short form: whole ones squeeze everything else out of the table. */
function shortValue(value: unknown): string {
  const text = String(value)
  return /^[0-9a-f]{40,}$/.test(text) ? `${text.slice(0, 8)}…` : shortId(text)
}
