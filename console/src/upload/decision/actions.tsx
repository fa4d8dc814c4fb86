import { useState } from 'react'
import type { Permission, UploadDetail } from '../../api/upload-types.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { counted } from '../../parts/format.ts'
import { RejectDialog } from '../../parts/reject-dialog.tsx'
import { go } from '../../route.ts'
import { useSession } from '../../session/session.tsx'
import { useDraftCount } from '../problems/drafts.ts'
import { written } from '../state.ts'
import { Checklist } from './checklist.tsx'
import type { Doing } from './decision-card.tsx'
import { DiscardDialog } from './discard-dialog.tsx'
import { UndoDialog } from './undo-dialog.tsx'

type Asking = 'reject' | 'undo' | 'discard'

/** The actions for the state of the upload, the next one first. An action that is not allowed says why. */
interface Props {
  readonly upload: UploadDetail
  readonly doing: Doing
  /** True: production has changed since the plan was made, and promoting would be refused. */
  readonly stale: boolean
  correct(): void
  save(): void
  readonly saving: boolean
}

export function Actions({ upload, doing, stale, correct, save, saving }: Props) {
  const { api, me } = useSession()
  const unsaved = useDraftCount(upload.upload_id)
  const [asking, setAsking] = useState<Asking>()
  const [ticked, setTicked] = useState<readonly string[]>([])
  const { may, status, review_status } = upload
  const id = upload.upload_id
  const digest = upload.plan_digest ?? ''
  const planned = status === 'planned' && upload.plan_refusal === null && upload.run_mode !== 'FULL_DRY_RUN'
  const toCorrect =
    status === 'planned' && !planned && (upload.invalid_count ?? 0) > 0 && upload.run_mode !== 'FULL_DRY_RUN'
  const pending = planned && !stale && review_status === 'pending'
  const toSubmit = planned && !stale && ['not_submitted', 'rejected', 'expired'].includes(review_status ?? '')
  const toPromote = planned && !stale && (review_status === 'approved' || review_status === null)
  const missing = upload.checklist.filter(
    ({ item_id, required, ticked_at }) => required && ticked_at === null && !ticked.includes(item_id),
  )

  const rows = counted(written(upload.plan_totals).rows, 'row')
  /** Approvals that are missing besides one's own. */
  const others = Math.max(0, (upload.review?.missing.approvals ?? 0) - 1)

  // Whoever may not undo sees what an undo would do, and asks somebody who may.
  const asksForUndo =
    status === 'promoted' &&
    !may.undo.allowed &&
    upload.change !== null &&
    !reviewsHere(me, upload) &&
    (upload.undo_until === null || Date.parse(upload.undo_until) > Date.now())

  const approve = () => doing.run('Approving', () => api.uploads.approve(id, digest, ticked))
  const promote = () => doing.run(promoting(upload), () => api.uploads.promote(id, digest))
  async function approveAndPromote() {
    const approved = await approve()
    if (approved?.may.promote.allowed) await promote()
  }

  /** What a statement gave is fixed: it is proposed again, as another upload. */
  const replans = stale && upload.proposal === null
  async function proposeAgain() {
    const { upload: proposed } = await api.uploads.proposeAgain(id, upload.approval_required)
    go(`/uploads/${proposed.upload_id}`)
    return api.uploads.find(id)
  }

  const plan = (words: string, submit = false) => doing.plan(words, submit ? { more: { submit } } : {})
  // Whoever asks for the review of a plan cannot decide on it.
  const mayDecide = !upload.changed_by.includes(me.actor) && reviewsHere(me, upload)
  const button = (text: string, permission: Permission, act: () => unknown, next = false) => (
    <ActionButton text={text} {...permission} busy={doing.busy !== undefined} act={act} next={next} />
  )
  const ticks: Permission =
    missing.length === 0 ? may.approve : { allowed: false, why: 'Complete the checklist first.' }
  const toApprove = may.approve.allowed ? ticks : may.approve
  return (
    <div className="actions">
      {pending && may.approve.allowed && (
        <Checklist items={upload.checklist} ticked={ticked} tick={setTicked} />
      )}
      {toCorrect && may.repair.allowed && unsaved > 0 && (
        <ActionButton
          text={`Save ${counted(unsaved, 'repair')}`}
          allowed
          busy={saving || doing.busy !== undefined}
          act={save}
          next
        />
      )}
      {toCorrect &&
        !(may.repair.allowed && unsaved > 0) &&
        button(`Repair ${counted(upload.invalid_count ?? 0, 'invalid line')}`, may.repair, correct, true)}
      {status === 'staged' && button('Make a plan', may.plan, () => plan('Planning'), true)}
      {stale &&
        upload.proposal !== null &&
        button(
          'Propose it again',
          may.plan,
          () => doing.run('Working the statement out again', proposeAgain),
          true,
        )}
      {stale && upload.proposal !== null && (
        <p className="tiny">
          The statement is worked out on the rows as they are now. This proposal is discarded.
        </p>
      )}
      {replans &&
        upload.approval_required &&
        button(
          'Plan again and submit for review',
          may.plan,
          () => plan('Planning again and submitting', true),
          !mayDecide,
        )}
      {replans && upload.approval_required && may.plan.allowed && (
        <p className="tiny">
          Title, description and reviewers stay. The reviewers are told what changed since their approval.
          {mayDecide &&
            ' Whoever submits it cannot approve it: leave this to its author if you want to decide.'}
        </p>
      )}
      {replans &&
        button(
          upload.approval_required ? 'Plan again only' : 'Plan again',
          { allowed: may.plan.allowed, ...(upload.approval_required ? {} : may.plan) },
          () => plan('Planning again'),
          !upload.approval_required,
        )}
      {toSubmit &&
        button(
          review_status === 'not_submitted' ? 'Submit for review' : 'Submit for review again',
          may.submit,
          () => doing.run('Submitting', () => api.uploads.submit(id, digest)),
          upload.uploaded_by === me.actor || review_status === 'not_submitted',
        )}
      {pending &&
        may.approve.allowed &&
        others === 0 &&
        button(`Approve and promote ${rows}`, toApprove, approveAndPromote, true)}
      {pending &&
        may.approve.allowed &&
        others === 0 &&
        button('Approve only', { allowed: ticks.allowed }, approve)}
      {pending && may.approve.allowed && others > 0 && button('Approve', toApprove, approve, true)}
      {pending && may.approve.allowed && others > 0 && (
        <p className="tiny">
          {counted(others, 'more approval is', 'more approvals are')} needed after yours before it can be
          promoted.
        </p>
      )}
      {planned &&
        review_status === 'pending' &&
        may.reject.allowed &&
        button('Reject with a reason…', may.reject, () => setAsking('reject'))}
      {toPromote && button(`Promote ${rows}`, may.promote, promote, true)}
      {status === 'promoted' &&
        (may.undo.allowed || !asksForUndo) &&
        button('Undo…', may.undo, () => setAsking('undo'))}
      {asksForUndo && button('Ask for an undo…', { allowed: true }, () => setAsking('undo'))}
      {asksForUndo && <p className="tiny">{may.undo.why}</p>}
      {status === 'failed' &&
        Boolean(upload.file_kept_until) &&
        button(
          'Read the file again',
          may.retry,
          () => doing.run('Queueing', () => api.uploads.retry(id)),
          true,
        )}
      {['reading', 'staged', 'planned', 'failed'].includes(status) &&
        button(status === 'reading' ? 'Cancel…' : 'Discard…', may.discard, () => setAsking('discard'))}
      {asking === 'reject' && (
        <RejectDialog
          title="Reject this plan"
          reader="The person who uploaded it"
          close={() => setAsking(undefined)}
          reject={(reason) => doing.run('Rejecting', () => api.uploads.reject(id, reason))}
        />
      )}
      {asking === 'undo' && (
        <UndoDialog upload={upload} doing={doing} asks={asksForUndo} close={() => setAsking(undefined)} />
      )}
      {asking === 'discard' && (
        <DiscardDialog upload={upload} doing={doing} close={() => setAsking(undefined)} />
      )}
    </div>
  )
}

function reviewsHere({ workspaces }: ReturnType<typeof useSession>['me'], upload: UploadDetail): boolean {
  return workspaces.some(({ id, rights }) => id === upload.workspace_id && rights.includes('review'))
}

/** With how much there is to do: a large promotion takes a while. */
function promoting(upload: UploadDetail): string {
  return `Promoting ${counted(written(upload.plan_totals).rows, 'row')}`
}
