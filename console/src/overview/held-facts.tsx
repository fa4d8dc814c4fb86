import type { ReactNode } from 'react'
import type { Held } from '../live/held.tsx'
import { Ago } from '../parts/ago.tsx'
import { count } from '../parts/figures.ts'

/** What is held now, and how long the oldest of it has waited for somebody. */
export function HeldFacts({ held, children }: { held: Held | undefined; children: ReactNode }) {
  const waiting =
    held &&
    [
      ...held.waiting.map(({ planned_at }) => planned_at ?? ''),
      ...held.records.map(({ created_at }) => created_at),
    ].sort()
  const wrong = held?.uploads.reduce((sum, { invalid_count }) => sum + (invalid_count ?? 0), 0)
  const uploads = held?.uploads.length
  return (
    <>
      <a className="big" href="/uploads">
        {uploads === undefined ? '–' : `${uploads}${held?.moreUploads ? '+' : ''}`}{' '}
        <small>{uploads === 1 ? 'upload' : 'uploads'}</small>
      </a>
      <dl className="facts">
        <div>
          <dt>
            <a href="/review">awaiting review</a>
          </dt>
          <dd>
            {waiting === undefined ? '–' : waiting.length}
            {(held?.moreWaiting || held?.moreRecords) && '+'}
          </dd>
        </div>
        <div>
          <dt>oldest waiting</dt>
          <dd>{waiting?.[0] ? <Ago at={waiting[0]} /> : waiting === undefined ? '–' : 'none'}</dd>
        </div>
        <div>
          <dt>invalid lines</dt>
          <dd>{wrong === undefined ? '–' : count(wrong)}</dd>
        </div>
        {children}
      </dl>
    </>
  )
}
