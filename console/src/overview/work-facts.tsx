import { countOf, type Work } from '../live/work.ts'
import { upTo } from './work-cards.tsx'

export function PlaybooksFacts({ work }: { work: Work | undefined }) {
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
      </dl>
    </>
  )
}

export function SearchFacts({ work }: { work: Work | undefined }) {
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
      </dl>
    </>
  )
}
