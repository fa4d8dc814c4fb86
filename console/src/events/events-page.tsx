import type { RecordedEvent } from '../api/types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLivePages } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { type Column, Filters, PagedList, useFilters } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { EventSubject, eventText, fieldsOf } from './event-text.tsx'

const PAGE = 50

/** What happened, newest first; new events stand on top as they come. */
export function EventsPage() {
  const { since, until, ...filters } = useFilters(['domain', 'type', 'subject', 'since', 'until'])
  const asked = { ...filters, since: startOfDay(since, 0), until: startOfDay(until, 1) }
  const pages = useLivePages(['events', 'list', asked], async (api, after) => {
    const page = await api.events({ limit: PAGE, after, ...asked })
    return { rows: page.events, next: page.next }
  })
  const isFiltered = Object.values({ ...filters, since, until }).some((value) => value !== undefined)
  return (
    <>
      <PageHead title="Events" />
      <Filters
        filters={[
          { name: 'domain', label: 'Domain', kind: 'text', placeholder: 'staging', isSearch: true },
          { name: 'type', label: 'Type', kind: 'text', placeholder: 'ingestion_complete' },
          { name: 'subject', label: 'About', kind: 'text', placeholder: 'an id' },
          { name: 'since', label: 'From', kind: 'date' },
          { name: 'until', label: 'To', kind: 'date' },
        ]}
      />
      <PagedList
        label="Events"
        pages={pages}
        columns={COLUMNS}
        keyOf={(event) => event.id}
        empty={
          <EmptyState title={isFiltered ? 'No event matches these filters.' : 'There are no events yet.'}>
            Every change records an event in the same transaction: what changed and who did it, without data.
            Upload a file, decide on a record or open a gate, and it stands here.
          </EmptyState>
        }
      />
    </>
  )
}

const COLUMNS: readonly Column<RecordedEvent>[] = [
  { title: 'When', tight: true, cell: (event) => <Ago at={event.created_at} /> },
  {
    title: 'What',
    cell: (event) => (
      <>
        <a href={`/events/${event.id}`}>
          <b>{eventText(event)}</b>
        </a>
        <div className="tiny">
          <Breakable name={`${event.event_domain}.${event.event_type}`} />
        </div>
        <div className="is-narrow-only">
          <EventSubject event={event} /> <span className="muted">{fieldsOf(event)}</span>
        </div>
      </>
    ),
  },
  {
    title: 'About',
    wideOnly: true,
    cell: (event) => (
      <>
        <EventSubject event={event} /> <span className="muted">{fieldsOf(event)}</span>
      </>
    ),
  },
  { title: 'Who', tight: true, wideOnly: true, cell: (event) => <Person id={event.actor} /> },
]

/** A day of the person's own calendar as a moment; `add` days later for an end that includes its day. */
function startOfDay(day: string | undefined, add: number): string | undefined {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '')
  if (parts === null) return undefined
  return new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + add).toISOString()
}
