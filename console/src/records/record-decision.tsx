import { useState } from 'react'
import type { Approval, StagingRecord } from '../api/types.ts'
import { usePulse } from '../live/pulse.tsx'
import { ActionButton } from '../parts/action-button.tsx'
import { Approvers } from '../parts/approvers.tsx'
import { atTime, bytes, counted, shortHash } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { RejectDialog } from '../parts/reject-dialog.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'
import { Checklist } from '../upload/decision/checklist.tsx'
import { type Answers, ApprovalForm, invalidFieldsIn, missingIn } from './approval-form.tsx'
import '../upload/decision/decision.css'

interface Props {
  readonly record: StagingRecord
  /** Of a record that a program asks to approve; undefined: of another kind, or not read yet. */
  readonly approval: Approval | undefined
  take(record: StagingRecord): void
}

/** Approve exactly these bytes, or reject them with a reason. */
export function RecordDecision({ record, approval, take }: Props) {
  const { api, me } = useSession()
  const { beatNow } = usePulse()
  const { busy, failure, run } = useAction<StagingRecord>((answer) => {
    take(answer)
    // The counts in the rail follow at once.
    beatNow()
  })
  const [rejecting, setRejecting] = useState(false)
  /** Until the answer comes, what was ticked is shown as ticked. */
  const [wanted, setWanted] = useState<readonly string[]>()
  const [answers, setAnswers] = useState<Answers>({})
  const { staging_record_id: id, may, lifecycle_status } = record
  const isRequest = record.staging_kind === 'approval'
  const form = approval?.form ?? []
  // A second reviewer approves what the first one filled in.
  const filled = { ...(approval?.answers as Answers | null), ...answers }
  const missing = missingIn(form, filled)
  const invalidFields = invalidFieldsIn(form, filled)
  const pending = lifecycle_status === 'pending'
  const mine = record.owner_actor === me.actor
  const ticked = record.checklist.filter(({ ticked_at }) => ticked_at !== null).map(({ item_id }) => item_id)

  async function tick(items: readonly string[]) {
    setWanted(items)
    await run('Saving', async () => {
      for (const { item_id } of record.checklist) {
        if (items.includes(item_id) !== ticked.includes(item_id))
          await api.records.tick(id, item_id, items.includes(item_id))
      }
      return api.records.find(id)
    })
    setWanted(undefined)
  }

  return (
    <aside className="card decision" aria-labelledby="decision-title">
      <h2 id="decision-title">{pending ? 'Your decision' : 'Decision'}</h2>
      <p className="happens">{statusTextOf(record)}</p>
      {pending && record.four_eyes && mine && (
        <p className="aside-note">
          Waiting for a reviewer. You staged this record, so another person must decide.
        </p>
      )}
      {record.withdrawn === null && record.rejected_reason !== null && (
        <p className="aside-note is-bad">Rejected: “{record.rejected_reason}”</p>
      )}
      {record.approved_by !== null && (
        <p className="tiny">
          Approved by <Approvers approvers={record.approvers} />
        </p>
      )}
      {record.withdrawn === null && record.rejected_by !== null && (
        <p className="tiny">
          Rejected by <Person id={record.rejected_by} />
        </p>
      )}
      <dl className="decision-facts">
        <div>
          <dt>Digest</dt>
          <dd>
            <code title={record.content_hash}>{shortHash(record.content_hash, 3)}</code>
          </dd>
        </div>
        <div>
          <dt>Content</dt>
          <dd>
            {counted(record.part_count, 'part')}, {bytes(Number(record.byte_len))}
          </dd>
        </div>
        {pending && (
          <div>
            <dt>Decide by</dt>
            <dd>{atTime(record.expires_at)}</dd>
          </div>
        )}
      </dl>
      <div className="actions">
        {record.checklist.length > 0 && (
          <Checklist
            items={record.checklist.map((item) => ({ ...item, text: item.label }))}
            ticked={wanted ?? ticked}
            disabled={!may.tick.allowed || busy !== undefined}
            undoable
            tick={tick}
          />
        )}
        {pending && may.approve.allowed && form.length > 0 && (
          <ApprovalForm fields={form} answers={filled} disabled={busy !== undefined} set={setAnswers} />
        )}
        {pending && (
          <>
            <ActionButton
              text="Approve"
              allowed={
                may.approve.allowed &&
                (!isRequest || approval !== undefined) &&
                missing.length === 0 &&
                invalidFields.length === 0
              }
              why={
                mine && record.four_eyes
                  ? undefined
                  : may.approve.allowed && missing.length > 0
                    ? `Fill in: ${missing.join(', ')}`
                    : may.approve.allowed && invalidFields.length > 0
                      ? `Correct: ${invalidFields.join(', ')}`
                      : may.approve.reason
              }
              busy={busy !== undefined}
              next
              act={() =>
                run('Approving', async () => {
                  if (!isRequest) return api.records.approve(id, record.content_hash)
                  await api.records.approveRequest(id, record.content_hash, filled)
                  return api.records.find(id)
                })
              }
            />
            {may.reject.allowed && (
              <ActionButton
                text="Reject with a reason…"
                allowed
                busy={busy !== undefined}
                act={() => setRejecting(true)}
              />
            )}
            {may.withdraw.allowed && (
              <ActionButton
                text="Withdraw"
                allowed
                busy={busy !== undefined}
                act={() => run('Withdrawing', () => api.records.withdraw(id))}
              />
            )}
          </>
        )}
      </div>
      {rejecting && (
        <RejectDialog
          title="Reject this record"
          reader="The person who staged it"
          close={() => setRejecting(false)}
          reject={(reason) => run('Rejecting', () => api.records.reject(id, reason))}
        />
      )}
      <p className="doing" role="status">
        {busy && `${busy}…`}
      </p>
      <RefusalNote failure={failure} />
    </aside>
  )
}

function statusTextOf(record: StagingRecord): string {
  if (record.withdrawn !== null) return `Withdrawn: ${record.withdrawn}. It cannot be used.`
  switch (record.lifecycle_status) {
    case 'pending':
      if (isOverdue(record)) return unusedText(record)
      if (record.staging_kind === 'approval')
        return 'A program waits for this decision. After approval it does what is shown, once. Nothing happens before.'
      return record.staging_kind === 'mark_manifest'
        ? 'After approval, exactly this marking can be cut into units. Nothing is cut before.'
        : 'You approve exactly these bytes. If they change later, the record is refused.'
    case 'approved':
      return isOverdue(record)
        ? unusedText(record)
        : `Approved. It can be used until ${atTime(record.expires_at)}.`
    case 'consumed':
      return 'Approved and used.'
    case 'rejected':
      return 'Rejected. It cannot be used.'
    case 'expired':
      return unusedText(record)
    case 'cleaned':
      return 'Its retention has ended, and its parts were deleted.'
  }
}

/** Also before maintenance has written that it expired. */
const isOverdue = ({ expires_at }: StagingRecord) => new Date(expires_at).getTime() <= Date.now()

function unusedText({ approved_by, approvers, expires_at }: StagingRecord): string {
  const when = atTime(expires_at)
  if (approved_by !== null)
    return `Approved, and not used in time: it expired ${when}. It cannot be used any more.`
  return approvers.length > 0
    ? `Not everybody whose approval it needs decided in time: it expired ${when}. It cannot be used.`
    : `Nobody decided in time: it expired ${when}. It cannot be used.`
}
