import type { EventPage, RecordedEvent } from '../api/types.ts'
import type { Polled } from '../live/use-polled.ts'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { shortId, useNames } from '../people.ts'
import { useSession } from '../session/session.tsx'
import { labelOf } from './gates.ts'

export function EventsCard({ events }: { events: Polled<EventPage> }) {
  const page = events.data
  return (
    <Card id="events" title="Latest events" aside={page && <span className="tiny">{howMany(page)}</span>}>
      <FailureNote failure={events.failure} />
      {page === undefined && <p className="empty">Loading…</p>}
      {page?.events.length === 0 && <NoEvents />}
      {page !== undefined && page.events.length > 0 && <EventTable events={page.events} />}
    </Card>
  )
}

function howMany(page: EventPage): string {
  if (page.next !== null) return `newest ${page.events.length}`
  return page.events.length === 1 ? '1 in all' : `${page.events.length} in all`
}

function NoEvents() {
  const { me } = useSession()
  return (
    <div className="empty">
      <b>There are no events yet.</b>
      <p>
        Every change records an event in the same transaction. It says what changed and who did it, and holds
        no data.
      </p>
      <p>
        {me.workspaces.length === 0
          ? 'You are in no workspace. An administrator can add you to one.'
          : `You see the events of ${me.workspaces.map((workspace) => workspace.name).join(', ')}.`}{' '}
        Programs read them over the <a href="/api/v1/docs">API</a>.
      </p>
    </div>
  )
}

function EventTable({ events }: { events: readonly RecordedEvent[] }) {
  return (
    <table className="events">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">What</th>
          <th scope="col">Who</th>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <tr key={event.id}>
            <td className="when">
              <Ago at={event.created_at} />
            </td>
            <td>
              <b title={`${event.event_domain}.${event.event_type}`}>{eventText(event)}</b>
              <span className="about">
                <Subject event={event} /> {fieldsOf(event)}
                <span className="by">
                  {' '}
                  by <Person id={event.actor} />
                </span>
              </span>
            </td>
            <td className="who">
              <Person id={event.actor} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

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
function eventText({ event_type }: RecordedEvent): string {
  const words = event_type.replace(/[._]+/g, ' ')
  return EVENT_TEXTS[event_type] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** The file that the event is about, by name and linked to its page; other subjects by their short id. */
function Subject({ event }: { event: RecordedEvent }) {
  const names = useNames()
  const id = event.event_subject_ref
  if (!id) return null
  const name = event.event_type.startsWith('ingestion_') ? names[id] : undefined
  if (event.event_type === 'gate_changed') return <span title={id}>{labelOf(id)}</span>
  if (name === undefined) return <code title={id}>{shortId(id)}</code>
  return (
    <a href={`/uploads/${id}`} title={id}>
      {name}
    </a>
  )
}

/** Up to three plain fields of the payload, without the subject. */
function fieldsOf(event: RecordedEvent): string {
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
