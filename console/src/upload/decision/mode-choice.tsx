import { useState } from 'react'
import type { GateMode, UploadDetail } from '../../api/upload-types.ts'
import type { Doing } from './decision-card.tsx'
import { ShareField } from './share-field.tsx'

/** All lines or none, or only those that are valid. Choosing the other one plans again. */
export function ModeChoice({ upload, doing }: { upload: UploadDetail; doing: Doing }) {
  /** Until the answer comes, what was chosen is shown as chosen. */
  const [chosen, setChosen] = useState<GateMode>()
  const threshold = thresholdOf(upload) ?? 0.9
  if (upload.status !== 'staged' && upload.status !== 'planned') return null
  // Where nothing is wrong, both come to the same.
  const refused = upload.plan_refusal !== null && !upload.plan_snapshot?.deleted
  if (upload.invalid_count === 0 && !refused && upload.gate_mode !== 'LENIENT') return null
  const { allowed, why } = upload.may.plan
  const disabled = !allowed || doing.busy !== undefined
  const mode = chosen ?? upload.gate_mode
  async function plan(wanted: GateMode, share: number) {
    setChosen(wanted)
    await doing.plan('Planning again', { mode: wanted, threshold: share })
    setChosen(undefined)
  }
  const option = (value: GateMode, word: string, text: string) => (
    <label>
      <input
        type="radio"
        name="mode"
        checked={mode === value}
        disabled={disabled}
        onChange={() => plan(value, threshold)}
      />
      <span>
        <b>{word}</b> <span className="tiny">{text}</span>
      </span>
    </label>
  )
  const choice = (
    <fieldset className="mode">
      <legend>Invalid lines</legend>
      {option('STRICT', 'Reject the whole file', '')}
      {option(
        'LENIENT',
        'Skip invalid lines',
        mode === 'LENIENT' ? '' : `if ${percent(threshold)} % are valid`,
      )}
      {mode === 'LENIENT' && (
        <ShareField
          key={threshold}
          share={threshold}
          disabled={disabled}
          choose={(share) => plan('LENIENT', share)}
        />
      )}
      {!allowed && why && <p className="tiny">{why}</p>}
    </fieldset>
  )
  if (upload.review_status !== 'pending') return choice
  // The reviewer decides on this plan; another mode is another plan.
  return (
    <details className="mode">
      <summary className="tiny">Change what happens to invalid lines</summary>
      {choice}
      <p className="tiny">That makes another plan, which needs a new review.</p>
    </details>
  )
}

/** The share that was asked for; planning again must not fall back to the usual one. */
export function thresholdOf({ threshold }: UploadDetail): number | undefined {
  return threshold === null ? undefined : Number(threshold)
}

export function percent(share: number): number {
  return Math.round(share * 1000) / 10
}
