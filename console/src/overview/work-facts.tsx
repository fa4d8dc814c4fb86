import type { OverviewFacts } from '../api/types.ts'
import { countOf, type Work } from '../live/work.ts'
import { Ago } from '../parts/ago.tsx'
import { Fact, rate } from './flow.tsx'
import { upTo } from './work-cards.tsx'

interface Props {
  readonly work: Work | undefined
  readonly facts: OverviewFacts | undefined
}

export function PlaybooksFacts({ work, facts }: Props) {
  return (
    <>
      <a className="big" href="#executions">
        {work === undefined ? '–' : countOf(work.executing)} <small>running</small>
      </a>
      <dl className="facts">
        <div>
          <dt>
            <a href="#executions">failed executions</a>
          </dt>
          <dd>{work === undefined ? '–' : countOf(work.failed)}</dd>
        </div>
        <Fact name="started in 24 h">{rate(facts?.executions_today)}</Fact>
        <Fact name="longest running">
          {facts?.oldest_running_execution_at ? (
            <Ago at={facts.oldest_running_execution_at} />
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

export function SearchFacts({ work, facts }: Props) {
  return (
    <>
      <a className="big" href="#search">
        {work === undefined ? '–' : upTo(work.search.pending)} <small>pending</small>
      </a>
      <dl className="facts">
        <div>
          <dt>
            <a href="#search">failed</a>
          </dt>
          <dd>{work === undefined ? '–' : upTo(work.search.failed)}</dd>
        </div>
        <Fact name="unit versions in 24 h">{rate(facts?.units_today)}</Fact>
      </dl>
    </>
  )
}
