import type { EventPage, OverviewFacts } from '../api/types.ts'
import { countOf, type Work } from '../live/work.ts'
import { Ago } from '../parts/ago.tsx'
import { Fact, rate } from './flow.tsx'

interface Props {
  readonly page: EventPage | undefined
  readonly work: Work | undefined
  readonly facts: OverviewFacts | undefined
}

export function EventsFacts({ page, work, facts }: Props) {
  const latest = page?.events[0]
  return (
    <>
      <a className="big" href="/events">
        {page === undefined ? '–' : count(page)}{' '}
        <small>{page?.events.length === 1 ? 'event' : 'events'}</small>
      </a>
      <dl className="facts">
        <Fact name="events in 1 h">{rate(facts?.events_last_hour)}</Fact>
        <div>
          <dt>latest event</dt>
          <dd>
            {latest === undefined ? page === undefined ? '–' : 'none yet' : <Ago at={latest.created_at} />}
          </dd>
        </div>
        <div>
          <dt>
            <a href="#jobs">open jobs</a>
          </dt>
          <dd>{work === undefined ? '–' : openJobs(work)}</dd>
        </div>
        <div>
          <dt>
            <a href="#jobs">failed jobs</a>
          </dt>
          <dd>{work === undefined ? '–' : countOf(work.dead)}</dd>
        </div>
        <Fact name="oldest waiting job">
          {facts?.oldest_waiting_job_at ? (
            <Ago at={facts.oldest_waiting_job_at} />
          ) : facts === undefined ? (
            '–'
          ) : (
            'none'
          )}
        </Fact>
      </dl>
    </>
  )
}

function openJobs({ waiting, running }: Work): string {
  return countOf({ rows: [...waiting.rows, ...running.rows], more: waiting.more || running.more })
}

/** The API pages and does not count, so a full page is "that many or more". */
function count(page: EventPage): string {
  return page.next === null ? String(page.events.length) : `${page.events.length}+`
}
