import type { EventPage } from '../api/types.ts'
import { Ago } from '../parts/ago.tsx'

export function SignalsFacts({ page }: { page: EventPage | undefined }) {
  const latest = page?.events[0]
  return (
    <>
      <a className="big" href="#events">
        {page === undefined ? '–' : count(page)}{' '}
        <small>{page?.events.length === 1 ? 'event' : 'events'}</small>
      </a>
      <dl className="facts">
        <div>
          <dt>latest event</dt>
          <dd>
            {latest === undefined ? page === undefined ? '–' : 'none yet' : <Ago at={latest.created_at} />}
          </dd>
        </div>
        <div>
          <dt>jobs</dt>
          <dd className="muted">not built yet</dd>
        </div>
      </dl>
    </>
  )
}

/** The API pages and does not count, so a full page is "that many or more". */
function count(page: EventPage): string {
  return page.next === null ? String(page.events.length) : `${page.events.length}+`
}
