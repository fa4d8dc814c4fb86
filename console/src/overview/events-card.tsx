import type { EventPage, RecordedEvent } from '../api/types.ts'
import type { Polled } from '../live/use-polled.ts'
import { Ago } from '../parts/ago.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { Card } from '../parts/card.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { shortId, useNames } from '../people.ts'
import { useSession } from '../session/session.tsx'

export function EventsCard({ events }: { events: Polled<EventPage> }) {
  const page = events.data
  return (
    <Card id="events" title="Latest events" aside={page && <span className="tiny">{howMany(page)}</span>}>
      <FailureNote failure={events.failure} />
      {page === undefined && <p className="empty">Reading…</p>}
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
      <b>There is no event that you may read yet.</b>
      <p>
        An event is recorded in the same transaction as the change that it tells of: what stands here has
        happened. It names what changed and who did it; the data itself stays where it is.
      </p>
      <p>
        {me.workspaces.length === 0
          ? 'You are in no workspace. An administrator can add you to one, and its events will stand here.'
          : `You read the events of ${me.workspaces.map((workspace) => workspace.name).join(', ')}.`}{' '}
        How a program reads them is in the <a href="/api/docs">API reference</a>.
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
              <b>
                <Breakable name={`${event.event_domain}.${event.event_type}`} />
              </b>
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

/** What it is about: a file by its name, where it is known, which leads to its page. */
function Subject({ event }: { event: RecordedEvent }) {
  const names = useNames()
  const id = event.event_subject_ref
  if (!id) return null
  const name = event.event_type.startsWith('ingestion_') ? names[id] : undefined
  if (name === undefined) return <code title={id}>{shortId(id)}</code>
  return (
    <a href={`/uploads/${id}`} title={id}>
      {name}
    </a>
  )
}

/** Those plain fields of the payload that do not only repeat the subject. */
function fieldsOf(event: RecordedEvent): string {
  return Object.entries(event.safe_payload)
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
