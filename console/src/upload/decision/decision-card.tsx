import { useEffect } from 'react'
import { ApiProblem } from '../../api/failure.ts'
import type { Dataset, UploadDetail } from '../../api/upload-types.ts'
import { Person } from '../../parts/person.tsx'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { type Action, useAction } from '../../parts/use-action.ts'
import { useSession } from '../../session/session.tsx'
import type { Stale } from '../use-stale.ts'
import { Actions } from './actions.tsx'
import { Busy } from './busy.tsx'
import { DecisionFacts } from './decision-facts.tsx'
import { ModeChoice } from './mode-choice.tsx'
import { whatHappens } from './what-happens.ts'
import './decision.css'

interface Props {
  readonly upload: UploadDetail
  take(upload: UploadDetail): void
  readonly dataset: Dataset | undefined
  readonly stale: Stale
  /** Leads to the first invalid cell. */
  correct(): void
  /** Saves what was typed; `saving` until that is done. */
  save(): void
  readonly saving: boolean
}

export type Doing = Pick<Action<UploadDetail>, 'busy' | 'run'>

/** Everything one person can decide about the upload now, and what will come of it. */
export function DecisionCard({ upload, take, dataset, stale, correct, save, saving }: Props) {
  const { me } = useSession()
  const action = useAction(take)
  const { busy, run } = action
  const isStale = action.failure instanceof ApiProblem && action.failure.code === 'plan_stale'
  // The card beside shows which rows it is about; the refusal would only repeat it.
  const failure = isStale && stale.plan !== undefined ? undefined : action.failure
  const { check } = stale
  useEffect(() => {
    if (isStale) check()
  }, [isStale, check])

  const waits = upload.status === 'planned' && upload.review_status === 'pending' && stale.plan === undefined
  const reviews = me.workspaces.some(
    ({ id, rights }) => id === upload.workspace_id && rights.includes('review'),
  )
  return (
    <aside className="card decision" aria-labelledby="decision-title">
      <h2 id="decision-title">Your decision</h2>
      <p className="happens">{whatHappens(upload, dataset, stale.plan?.total)}</p>
      {waits && !upload.may.approve.allowed && (
        <p className="aside-note">
          <b>Waiting for a reviewer.</b>{' '}
          {reviews ? upload.may.approve.why : 'You need to do nothing until somebody has decided.'}
        </p>
      )}
      {waits && upload.may.approve.allowed && (
        <p className="aside-note">
          You approve exactly this plan. If production or the lines change before it is promoted, it is
          refused and has to be planned again.
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
      <Actions
        key={upload.plan_digest}
        upload={upload}
        doing={{ busy, run }}
        stale={stale.plan !== undefined}
        correct={correct}
        save={save}
        saving={saving}
      />
      <Busy words={busy} />
      <RefusalNote failure={failure} />
    </aside>
  )
}
