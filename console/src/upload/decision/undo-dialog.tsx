import { useEffect, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { Downstream, UndoPlan, UploadDetail } from '../../api/upload-types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { count, counted, onDay } from '../../parts/format.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { shortId } from '../../people.ts'
import { useSession } from '../../session/session.tsx'
import { UNDO_LABELS } from '../labels.ts'
import { isId, textOf } from '../plan/values.ts'
import { sumActions } from '../state.ts'
import type { Doing } from './decision-card.tsx'

interface Props {
  readonly upload: UploadDetail
  readonly doing: Doing
  /** True: a person without the right to undo asks those who have it. */
  readonly asks: boolean
  close(): void
}

/** Shows what would go back and what would stay, and why, before anything is done. */
export function UndoDialog({ upload, doing, asks, close }: Props) {
  const { api } = useSession()
  const [plan, setPlan] = useState<UndoPlan>()
  const [downstream, setDownstream] = useState<Downstream>()
  const [reason, setReason] = useState('')
  const [failure, setFailure] = useState<Failure>()
  const id = upload.upload_id
  useEffect(() => {
    let wanted = true
    api.uploads
      .undoPlan(id)
      .then((answer) => wanted && setPlan(answer))
      .catch((thrown) => wanted && setFailure(asFailure(thrown)))
    api.uploads
      .downstream(id)
      .then((answer) => wanted && setDownstream(answer))
      .catch((thrown) => wanted && setFailure(asFailure(thrown)))
    return () => {
      wanted = false
    }
  }, [api, id])

  const { reversed = 0, kept = 0, refused = 0 } = sumActions(plan?.totals ?? null)
  async function undo() {
    if (plan === undefined) return
    close()
    await doing.run(asks ? 'Asking' : 'Undoing', () =>
      asks ? ask() : api.uploads.undo(id, plan.digest, reason.trim()),
    )
  }
  /** It waits for them in their inbox until one of them undoes it or declines. */
  async function ask() {
    await api.changes.requestUndo({ workspace: upload.workspace_id, number: upload.change! }, reason.trim())
    return api.uploads.find(id)
  }
  return (
    <Dialog title={asks ? 'Ask for an undo' : 'Undo this promotion'} close={close}>
      {asks && (
        <p>
          {upload.may.undo.why} It waits for them under For you, with your reason. This is what the undo would
          do now:
        </p>
      )}
      <RefusalNote failure={failure} />
      {plan === undefined && failure === undefined && (
        <p className="muted">Checking every row that it wrote…</p>
      )}
      {plan && (
        <>
          <dl className="sums is-three">
            <div>
              <dd>{count(reversed)}</dd>
              <dt>reverted</dt>
            </div>
            <div>
              <dd>{count(kept)}</dd>
              <dt>skipped (changed since)</dt>
            </div>
            <div>
              <dd>{count(refused)}</dd>
              <dt>blocked</dt>
            </div>
          </dl>
          <p className="muted">
            In one transaction, rows that this promotion inserted are deleted, rows that it changed get their
            old values back, and rows that it deleted come back. Possible until {onDay(plan.undo_until)}.
          </p>
          {plan.stays.length > 0 && (
            <p className="note is-held" role="status">
              <b>An upload is undone once: rows that are kept now cannot be undone later.</b>
              {plan.stays.some(isOfLaterUpload) &&
                ' A later upload changed rows of this one: cancel here and undo that upload first.'}
            </p>
          )}
          {plan.stays.length > 0 && <Stays plan={plan} all={kept + refused} />}
          {downstream && <Told downstream={downstream} />}
          <label className="choice">
            <span>Why? Everybody who sees this upload will read it.</span>
            <textarea
              rows={2}
              maxLength={2000}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
        </>
      )}
      <div className="dialog-foot">
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          className="button is-next"
          disabled={plan === undefined || reversed === 0 || reason.trim() === ''}
          onClick={undo}
        >
          {asks ? 'Ask' : plan === undefined ? 'Undo' : `Undo ${counted(reversed, 'row')}`}
        </button>
      </div>
    </Dialog>
  )
}

/** An undo takes back rows, not what others did after the promotion. */
function Told({ downstream: { jobs, executions, cut, told_of_undo } }: { downstream: Downstream }) {
  const jobCount = jobs.reduce((sum, job) => sum + job.count, 0)
  const kinds = [...new Set(jobs.map(({ job_kind }) => job_kind))].join(', ')
  const told = told_of_undo.map(({ job_kind }) => job_kind).join(', ')
  return (
    <p className="muted">
      {jobCount + executions.length === 0
        ? 'No job and no playbook has run because of this promotion.'
        : `Because of this promotion ${counted(jobCount, 'job')}${jobCount > 0 ? ` (${kinds})` : ''} and ${counted(executions.length, 'playbook execution')}${cut ? ' or more' : ''} ran. An undo does not take their work back.`}{' '}
      {told === ''
        ? 'No consumer is told of an undo.'
        : `The undo is announced by an event, which becomes: ${told}.`}
    </p>
  )
}

function isOfLaterUpload({ reason }: UndoPlan['stays'][number]): boolean {
  return reason.endsWith(': undo that first')
}

function Stays({ plan, all }: { plan: UndoPlan; all: number }) {
  return (
    <>
      <h3>
        {plan.stays.length < all
          ? `What stays: the first ${count(plan.stays.length)} of ${count(all)}`
          : 'What stays, and why'}
      </h3>
      <div className="stays">
        <table>
          <thead>
            <tr>
              <th scope="col">Line</th>
              <th scope="col">Row</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {keptFirst(plan.stays).map((row) => (
              <tr key={`${row.row_type} ${row.line}`}>
                <td className="muted">{row.line < 0 ? '–' : count(row.line)}</td>
                <td>
                  <code>{row.target.replace(/^public\./, '')}</code>{' '}
                  <span className="tiny">
                    {Object.values(row.target_key ?? {})
                      .map((value) => (isId(value) ? shortId(String(value)) : textOf(value)))
                      .join(' · ')}
                  </span>
                </td>
                <td>
                  <b>{UNDO_LABELS[row.outcome] ?? row.outcome}</b>: {row.reason}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

/** A row that was edited is why those above it must stay. */
function keptFirst(stays: UndoPlan['stays']): UndoPlan['stays'] {
  return [...stays].sort((a, b) => Number(b.outcome === 'kept') - Number(a.outcome === 'kept'))
}
