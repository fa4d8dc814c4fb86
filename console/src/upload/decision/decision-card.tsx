import { useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { Dataset, UploadDetail } from '../../api/upload-types.ts'
import { Person } from '../../parts/person.tsx'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { Actions } from './actions.tsx'
import { DecisionFacts } from './decision-facts.tsx'
import { ModeChoice } from './mode-choice.tsx'
import { whatHappens } from './what-happens.ts'
import './decision.css'

interface Props {
  readonly upload: UploadDetail
  take(upload: UploadDetail): void
  readonly dataset: Dataset | undefined
}

export interface Doing {
  /** What is being done now, in words; undefined: nothing. */
  readonly busy: string | undefined
  /** Does it, and shows its answer or why it was refused. True: it was done. */
  run(words: string, work: () => Promise<UploadDetail>): Promise<UploadDetail | undefined>
}

/** Everything one person can decide about the upload now, and what will come of it. */
export function DecisionCard({ upload, take, dataset }: Props) {
  const [busy, setBusy] = useState<string>()
  const [failure, setFailure] = useState<Failure>()

  const run: Doing['run'] = async (words, work) => {
    setBusy(words)
    setFailure(undefined)
    try {
      const after = await work()
      take(after)
      return after
    } catch (thrown) {
      setFailure(asFailure(thrown))
      return undefined
    } finally {
      setBusy(undefined)
    }
  }

  const waits = upload.status === 'planned' && upload.review_status === 'pending'
  return (
    <aside className="card decision" aria-labelledby="decision-title">
      <h2 id="decision-title">Your decision</h2>
      <p className="happens">{whatHappens(upload, dataset)}</p>
      {waits && (
        <p className="aside-note">
          {upload.may.approve.allowed ? 'You approve' : 'Whoever approves it approves'} exactly this plan. If
          production or the lines change before it is promoted, it is refused and planned again.
        </p>
      )}
      {upload.review_status === 'rejected' && upload.review_reason !== null && (
        <p className="aside-note is-bad">Rejected: “{upload.review_reason}”</p>
      )}
      {upload.approved_by !== null && upload.status !== 'planned' && (
        <p className="tiny">
          Approved by <Person id={upload.approved_by} />
          {upload.promoted_by !== null && (
            <>
              , promoted by <Person id={upload.promoted_by} />
            </>
          )}
          .
        </p>
      )}
      <DecisionFacts upload={upload} dataset={dataset} />
      <ModeChoice upload={upload} doing={{ busy, run }} />
      <Actions key={upload.plan_digest} upload={upload} doing={{ busy, run }} />
      <p className="doing" role="status">
        {busy && `${busy}…`}
      </p>
      <RefusalNote failure={failure} />
    </aside>
  )
}
