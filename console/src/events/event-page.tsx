import type { RecordedEvent } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { Card } from '../parts/card.tsx'
import { Detail } from '../parts/detail.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { Person } from '../parts/person.tsx'
import { EventSubject, eventText } from './event-text.tsx'
import { TraceTree } from './trace-tree.tsx'

/** One event: its payload, and everything that came of it. */
export function EventPage({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? ''
  // An event never changes; what comes of it does.
  const event = useLiveQuery(['events', 'one', id], (api) => api.event(id), { once: true })
  const trace = useLiveQuery(['events', 'trace', id], (api) => api.trace(id))
  return (
    <Detail
      title={event.data ? eventText(event.data) : 'Event'}
      back={['Events', '/events']}
      aside={event.data && <About event={event.data} />}
    >
      <FailureNote failure={event.failure} />
      {event.loading && <p className="muted">Loading…</p>}
      {event.data && (
        <Card id="payload" title="Payload" aside={<span className="tiny">references only, no data</span>}>
          {Object.keys(event.data.payload).length === 0 ? (
            <p className="empty">This event carries nothing but what it is about.</p>
          ) : (
            <JsonTree value={event.data.payload} label="Payload of the event" />
          )}
        </Card>
      )}
      {event.data && (
        <Card id="trace" title="What came of it">
          <FailureNote failure={trace.failure} />
          {trace.data === undefined ? (
            <p className="empty">Loading…</p>
          ) : (
            <TraceTree trace={trace.data} marked={id} />
          )}
        </Card>
      )}
    </Detail>
  )
}

function About({ event }: { event: RecordedEvent }) {
  return (
    <Card id="about" title="About">
      <Facts
        facts={[
          ['Type', <Breakable key="type" name={`${event.event_domain}.${event.event_type}`} />],
          ['About', <EventSubject key="subject" event={event} />],
          ['When', <Ago key="when" at={event.created_at} />],
          ['Who', <Person key="who" id={event.actor} />],
          ['Through', event.actor_via ?? undefined],
          ['Stream', event.event_stream ?? undefined],
          ['Address', event.canonical_address ?? undefined],
          [
            'Caused by',
            event.causation_event_id ? (
              <a key="cause" className="link" href={`/events/${event.causation_event_id}`}>
                another event
              </a>
            ) : undefined,
          ],
          ['Id', <code key="id">{event.id}</code>],
          ['Trace', <code key="trace">{event.correlation_id}</code>],
        ]}
      />
    </Card>
  )
}
