import { useEffect, useState } from 'react'
import { ApiProblem } from '../../api/failure.ts'
import type { Dataset, GateMode, UploadDetail } from '../../api/upload-types.ts'
import type { PlanMore } from '../../api/uploads.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Approvers } from '../../parts/approvers.tsx'
import { Person } from '../../parts/person.tsx'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { type Action, useAction } from '../../parts/use-action.ts'
import { useSession } from '../../session/session.tsx'
import type { Stale } from '../use-stale.ts'
import { Actions } from './actions.tsx'
import { Busy } from './busy.tsx'
import { ConflictAnswers } from './conflict-answers.tsx'
import { ConflictDialog } from './conflict-dialog.tsx'
import { DecisionFacts } from './decision-facts.tsx'
import { DeleteChoice } from './delete-choice.tsx'
import { ModeChoice, thresholdOf } from './mode-choice.tsx'
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

export interface Doing extends Pick<Action<UploadDetail>, 'busy' | 'run'> {
  /** Plans, as before where nothing else is said. If a change of somebody would be taken back, it asks first. */
  plan(words: string, wanted: PlanWanted): Promise<unknown>
}

interface PlanWanted {
  readonly mode?: GateMode
  readonly threshold?: number
  readonly more?: PlanMore
}

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
  const { api, me } = useSession()
  const action = useAction(take)
  const { busy, run } = action
  /** The plan that was asked for, while the question whose values count is open. */
  const [asking, setAsking] = useState<{ words: string; wanted: PlanWanted }>()
  const isConflict = action.failure instanceof ApiProblem && action.failure.code === 'plan_conflicts'
  const conflicts = stale.plan === undefined ? 0 : stale.plan.total - (stale.plan.counts.other_cells ?? 0)
  const doing: Doing = {
    busy,
    run,
    plan: async (words, wanted) => {
      const request = () =>
        api.uploads.plan(
          upload.upload_id,
          wanted.mode ?? upload.gate_mode ?? 'STRICT',
          wanted.threshold ?? thresholdOf(upload),
          wanted.more,
        )
      if (conflicts > 0 && wanted.more?.on_conflict === undefined) return setAsking({ words, wanted })
      if ((await run(words, request)) === undefined) setAsking({ words, wanted })
    },
  }
  const isStale = action.failure instanceof ApiProblem && action.failure.code === 'plan_stale'
  // Another card shows which rows changed; the refusal would only repeat it.
  const failure = (isStale && stale.plan !== undefined) || isConflict ? undefined : action.failure
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
      {upload.status === 'planned' && (upload.own_totals?.disagree ?? 0) > 0 && (
        <p className="aside-note">
          <b>The file’s own totals disagree with its lines.</b>{' '}
          {(upload.invalid_count ?? 0) > 0 && 'An invalid line may be the cause. '}
          <a href="#checks-title">Checks</a> says by how much.
        </p>
      )}
      <DecisionFacts upload={upload} dataset={dataset} />
      <ConflictAnswers upload={upload} />
      <ModeChoice upload={upload} doing={doing} />
      <DeleteChoice upload={upload} doing={doing} />
      <Actions
        key={upload.plan_digest}
        upload={upload}
        doing={doing}
        stale={stale.plan !== undefined}
        correct={correct}
        save={save}
        saving={saving}
      />
      <Busy words={busy} />
      <RefusalNote failure={failure} />
      {asking && (conflicts > 0 || isConflict) && busy === undefined && (
        <ConflictDialog
          // Refused again: production moved on between the question and the answer, so the dialog asks again.
          key={asking.wanted.more?.conflicts_digest}
          upload={upload}
          close={() => setAsking(undefined)}
          answer={(on_conflict, conflicts_digest) => {
            const { words, wanted } = asking
            setAsking(undefined)
            void doing.plan(words, { ...wanted, more: { ...wanted.more, on_conflict, conflicts_digest } })
          }}
        />
      )}
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
