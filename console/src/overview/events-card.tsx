import type { EventPage, RecordedEvent } from '../api/types.ts'
import { EventSubject, eventText, fieldsOf } from '../events/event-text.tsx'
import type { Polled } from '../live/use-polled.ts'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { useSession } from '../session/session.tsx'

export function EventsCard({ events }: { events: Polled<EventPage> }) {
  const page = events.data
  return (
    <Card id="events" title="Just happened" aside={page && <span className="tiny">{howMany(page)}</span>}>
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
              <a href={`/events/${event.id}`}>
                <b title={`${event.event_domain}.${event.event_type}`}>{eventText(event)}</b>
              </a>
              <span className="about">
                <EventSubject event={event} /> {fieldsOf(event)}
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
