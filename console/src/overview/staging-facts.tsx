import type { ReactNode } from 'react'
import type { OverviewFacts } from '../api/types.ts'
import type { PendingWork } from '../live/pending-work.tsx'
import { Ago } from '../parts/ago.tsx'
import { count } from '../parts/format.ts'
import { Fact, rate } from './flow.tsx'

/** What is in staging, and how long the oldest of it has waited for a person. */
export function StagingFacts({
  pendingWork,
  facts,
  children,
}: {
  pendingWork: PendingWork | undefined
  facts: OverviewFacts | undefined
  children: ReactNode
}) {
  const waiting =
    pendingWork &&
    [
      ...pendingWork.waiting.map(({ planned_at }) => planned_at ?? ''),
      ...pendingWork.records.map(({ created_at }) => created_at),
    ].sort()
  const wrong = pendingWork?.uploads.reduce((sum, { invalid_count }) => sum + (invalid_count ?? 0), 0)
  const uploads = pendingWork?.uploads.length
  return (
    <>
      <a className="big" href="/uploads">
        {uploads === undefined ? '–' : `${uploads}${pendingWork?.moreUploads ? '+' : ''}`}{' '}
        <small>{uploads === 1 ? 'upload' : 'uploads'}</small>
      </a>
      <dl className="facts">
        <div>
          <dt>
            <a href="/changes">awaiting review</a>
          </dt>
          <dd>
            {waiting === undefined ? '–' : waiting.length}
            {(pendingWork?.moreWaiting || pendingWork?.moreRecords) && '+'}
          </dd>
        </div>
        <div>
          <dt>oldest waiting</dt>
          <dd>{waiting?.[0] ? <Ago at={waiting[0]} /> : waiting === undefined ? '–' : 'none'}</dd>
        </div>
        <Fact name="uploads in 24 h">{rate(facts?.uploads_today)}</Fact>
        <div>
          <dt>invalid lines</dt>
          <dd>{wrong === undefined ? '–' : count(wrong)}</dd>
        </div>
        {children}
      </dl>
    </>
  )
}
