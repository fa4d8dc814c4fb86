import { useState } from 'react'
import type { GateMode, UploadDetail } from '../../api/upload-types.ts'
import { useSession } from '../../session/session.tsx'
import type { Doing } from './decision-card.tsx'

/** All lines or none, or only those that are valid. Choosing the other one makes the plan anew. */
export function ModeChoice({ upload, doing }: { upload: UploadDetail; doing: Doing }) {
  const { api } = useSession()
  /** Until the answer comes, what was chosen is shown as chosen. */
  const [chosen, setChosen] = useState<GateMode>()
  if (upload.status !== 'staged' && upload.status !== 'planned') return null
  // Where nothing is wrong, both come to the same.
  if (upload.invalid_count === 0 && upload.plan_refusal === null && upload.gate_mode !== 'LENIENT')
    return null
  const { allowed, why } = upload.may.plan
  const share = Math.round(Number(upload.threshold ?? 0.9) * 1000) / 10
  async function plan(mode: GateMode) {
    setChosen(mode)
    await doing.run('Planning anew', () => api.uploads.plan(upload.upload_id, mode))
    setChosen(undefined)
  }
  const option = (mode: GateMode, word: string, text: string) => (
    <label>
      <input
        type="radio"
        name="mode"
        checked={(chosen ?? upload.gate_mode) === mode}
        disabled={!allowed || doing.busy !== undefined}
        onChange={() => plan(mode)}
      />
      <span>
        <b>{word}</b> <span className="tiny">{text}</span>
      </span>
    </label>
  )
  const choice = (
    <fieldset className="mode">
      <legend>Wrong lines</legend>
      {option('STRICT', 'Strict', 'all lines or none')}
      {option('LENIENT', 'Lenient', `leave them out, if ${share} % are valid`)}
      {!allowed && why && <p className="tiny">{why}</p>}
    </fieldset>
  )
  if (upload.review_status !== 'pending') return choice
  // Whoever decides is asked about this plan; another mode is another plan.
  return (
    <details className="mode">
      <summary className="tiny">Plan it in another mode</summary>
      {choice}
      <p className="tiny">It is another plan then, and approval is asked for anew.</p>
    </details>
  )
}
