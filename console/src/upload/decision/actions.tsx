import { useState } from 'react'
import type { Permission, UploadDetail } from '../../api/upload-types.ts'
import { counted } from '../../parts/figures.ts'
import { useParameter } from '../../route.ts'
import { useSession } from '../../session/session.tsx'
import { Checklist } from './checklist.tsx'
import type { Doing } from './decision-card.tsx'
import { DiscardDialog } from './discard-dialog.tsx'
import { thresholdOf } from './mode-choice.tsx'
import { RejectDialog } from './reject-dialog.tsx'
import { UndoDialog } from './undo-dialog.tsx'

type Asking = 'reject' | 'undo' | 'discard'

/** The buttons for where the upload stands, the one to do next first; beside one that is not allowed stands why. */
export function Actions({ upload, doing }: { upload: UploadDetail; doing: Doing }) {
  const { api } = useSession()
  const [, setTab] = useParameter('tab')
  const [asking, setAsking] = useState<Asking>()
  const [ticked, setTicked] = useState<readonly string[]>([])
  const { may, status, review_status } = upload
  const id = upload.upload_id
  const digest = upload.plan_digest ?? ''
  const planned = status === 'planned' && upload.plan_refusal === null && upload.run_mode !== 'FULL_DRY_RUN'
  const toCorrect =
    status === 'planned' && !planned && (upload.invalid_count ?? 0) > 0 && upload.run_mode !== 'FULL_DRY_RUN'
  const pending = planned && review_status === 'pending'
  const toAsk = planned && ['not_submitted', 'rejected', 'expired'].includes(review_status ?? '')
  const toPromote = planned && (review_status === 'approved' || review_status === null)
  const missing = upload.checklist.filter(
    ({ item_id, required, ticked_at }) => required && ticked_at === null && !ticked.includes(item_id),
  )

  const approve = () => doing.run('Approving', () => api.uploads.approve(id, digest, ticked))
  const promote = () => doing.run('Promoting', () => api.uploads.promote(id, digest))
  async function approveAndPromote() {
    const approved = await approve()
    if (approved?.may.promote.allowed) await promote()
  }

  const button = (text: string, permission: Permission, act: () => unknown, next = false) => (
    <Deed text={text} permission={permission} busy={doing.busy !== undefined} act={act} next={next} />
  )
  const ticks: Permission =
    missing.length === 0 ? may.approve : { allowed: false, why: 'Tick what you have looked at first.' }
  const toApprove = may.approve.allowed ? ticks : may.approve
  return (
    <div className="deeds">
      {pending && may.approve.allowed && (
        <Checklist items={upload.checklist} ticked={ticked} tick={setTicked} />
      )}
      {toCorrect &&
        button(
          `Correct ${counted(upload.invalid_count ?? 0, 'wrong line')}`,
          may.repair,
          () => setTab('problems'),
          true,
        )}
      {status === 'staged' &&
        button(
          'Make a plan',
          may.plan,
          () =>
            doing.run('Planning', () =>
              api.uploads.plan(id, upload.gate_mode ?? 'STRICT', thresholdOf(upload)),
            ),
          true,
        )}
      {toAsk &&
        button(
          'Ask for approval',
          may.submit,
          () => doing.run('Asking', () => api.uploads.submit(id, digest)),
          true,
        )}
      {pending && button('Approve and promote', toApprove, approveAndPromote, true)}
      {pending && may.approve.allowed && button('Approve only', { allowed: ticks.allowed }, approve)}
      {pending &&
        may.reject.allowed &&
        button('Reject with a reason…', may.reject, () => setAsking('reject'))}
      {toPromote && button('Promote', may.promote, promote, true)}
      {status === 'promoted' && button('Undo…', may.undo, () => setAsking('undo'))}
      {['staged', 'planned', 'failed'].includes(status) &&
        button('Discard…', may.discard, () => setAsking('discard'))}
      {asking === 'reject' && (
        <RejectDialog upload={upload} doing={doing} close={() => setAsking(undefined)} />
      )}
      {asking === 'undo' && <UndoDialog upload={upload} doing={doing} close={() => setAsking(undefined)} />}
      {asking === 'discard' && (
        <DiscardDialog upload={upload} doing={doing} close={() => setAsking(undefined)} />
      )}
    </div>
  )
}

interface DeedProps {
  readonly text: string
  readonly permission: Permission
  readonly busy: boolean
  readonly next: boolean
  act(): unknown
}

function Deed({ text, permission, busy, next, act }: DeedProps) {
  const { allowed, why } = permission
  return (
    <div>
      <button
        type="button"
        className={next && allowed ? 'button is-next' : 'button'}
        disabled={!allowed || busy}
        onClick={act}
      >
        {text}
      </button>
      {!allowed && why && <p className="tiny">{why}</p>}
    </div>
  )
}
