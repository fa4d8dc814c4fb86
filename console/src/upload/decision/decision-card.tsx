import { useEffect } from 'react'
import { ApiProblem } from '../../api/failure.ts'
import type { Dataset, UploadDetail } from '../../api/upload-types.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Approvers } from '../../parts/approvers.tsx'
import { Person } from '../../parts/person.tsx'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { type Action, useAction } from '../../parts/use-action.ts'
import { useSession } from '../../session/session.tsx'
import type { Stale } from '../use-stale.ts'
import { Actions } from './actions.tsx'
import { Busy } from './busy.tsx'
import { DecisionFacts } from './decision-facts.tsx'
import { DeleteChoice } from './delete-choice.tsx'
import { ModeChoice } from './mode-choice.tsx'
import { statusText } from './status-text.ts'
import './decision.css'

interface Props {
  readonly upload: UploadDetail
  take(upload: UploadDetail): void
  readonly dataset: Dataset | undefined
  /** False: `dataset` may still come. */
  readonly loaded: boolean
  readonly stale: Stale
  /** A reviewer requested changes. */
  readonly isSentBack: boolean
  /** Leads to the conversation. */
  answer(): void
  /** Leads to the first invalid cell. */
  correct(): void
  /** Saves what was typed; `saving` until that is done. */
  save(): void
  readonly saving: boolean
}

export type Doing = Pick<Action<UploadDetail>, 'busy' | 'run'>

/** Everything one person can decide about the upload now, and what will come of it. */
export function DecisionCard({
  upload,
  take,
  dataset,
  loaded,
  stale,
  isSentBack,
  answer,
  correct,
  save,
  saving,
}: Props) {
  const { me } = useSession()
  const action = useAction(take)
  const { busy, run } = action
  const isStale = action.failure instanceof ApiProblem && action.failure.code === 'plan_stale'
  // Another card shows which rows changed; the refusal would only repeat it.
  const failure = isStale && stale.plan !== undefined ? undefined : action.failure
  const { check } = stale
  useEffect(() => {
    if (isStale) check()
  }, [isStale, check])

  const waits = upload.status === 'planned' && upload.review_status === 'pending' && stale.plan === undefined
  const reviews = me.workspaces.some(
    ({ id, rights }) => id === upload.workspace_id && rights.includes('review'),
  )
  // The dataset adds a line above the buttons. If it came later, they would move down under the pointer and lose the click.
  if (!loaded) {
    return (
      <aside className="card decision" aria-labelledby="decision-title">
        <h2 id="decision-title">Your decision</h2>
        <p className="muted">Loading…</p>
      </aside>
    )
  }
  return (
    <aside className="card decision" aria-labelledby="decision-title">
      <h2 id="decision-title">Your decision</h2>
      <p className="happens">{statusText(upload, dataset, stale.plan?.total)}</p>
      {waits && isSentBack && <SentBack isReviewer={upload.may.approve.allowed} answer={answer} />}
      {waits && !isSentBack && !upload.may.approve.allowed && (
        <p className="aside-note">
          <b>Waiting for a reviewer.</b>{' '}
          {reviews ? upload.may.approve.why : 'There is nothing for you to do until then.'}
        </p>
      )}
      {waits && !isSentBack && upload.may.approve.allowed && (
        <p className="aside-note">
          You approve exactly this plan. If production or the lines change before promotion, the plan must be
          made again.
        </p>
      )}
      {upload.review_status === 'rejected' && upload.review_reason !== null && (
        <p className="aside-note is-bad">Rejected: “{upload.review_reason}”</p>
      )}
      {upload.approved_by !== null && upload.status !== 'planned' && (
        <p className="tiny">
          Approved by <Approvers approvers={upload.approvers} />
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
      <DeleteChoice upload={upload} doing={{ busy, run }} />
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

/** Whoever asked for changes reads what ends that; the others what is asked of them, and the way there. */
function SentBack({ isReviewer, answer }: { isReviewer: boolean; answer(): void }) {
  if (isReviewer)
    return (
      <p className="aside-note is-bad">
        <b>A reviewer requested changes.</b> It waits for its author, who answers in the conversation or
        corrects the lines. Whoever requested the changes then approves, or withdraws the request.
      </p>
    )
  return (
    <>
      <p className="aside-note is-bad">
        <b>A reviewer requested changes.</b> Read why under Conversation. Answer there, or correct the lines
        and submit them again; whoever requested the changes then approves, or withdraws the request.
      </p>
      <ActionButton text="Read and answer what is asked for" allowed busy={false} act={answer} next />
    </>
  )
}
