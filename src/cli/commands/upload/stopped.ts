/** Why an upload did not come as far as it was asked to: the exit code follows where it stands, not what was done now. */
import { StagedoorError } from '../../../errors.ts'
import type { IngestOptions } from '../../../ingest/ingest.ts'
import type { Upload } from '../../../ingest/uploads.ts'
import { approveCommand, type Doer, skipThreshold } from './next-step.ts'
import { stateOf } from './summary.ts'

const AS_FAR_AS: Record<NonNullable<IngestOptions['until']>, readonly Upload['status'][]> = {
  staged: ['staged', 'planned', 'promoted'],
  planned: ['planned', 'promoted'],
  promoted: ['promoted'],
}

/** Undefined: it is where it was to go. */
export function stoppedAt(
  upload: Upload,
  { until = 'promoted' }: Pick<IngestOptions, 'until'>,
  doer: Doer,
): StagedoorError | undefined {
  const dryRun = upload.run_mode === 'FULL_DRY_RUN'
  if (AS_FAR_AS[dryRun && until === 'promoted' ? 'planned' : until].includes(upload.status)) return undefined
  if (upload.status !== 'planned')
    return new StagedoorError('upload_held', { upload: upload.upload_id, state: upload.status })
  if (upload.plan_refusal !== null) return planRefused(upload)
  if (upload.review_status === 'pending') return waitsFor(upload, doer)
  return new StagedoorError('upload_held', { upload: upload.upload_id, state: stateOf(upload) })
}

export function planRefused(upload: Upload): StagedoorError {
  const { upload_id, plan_refusal, valid_count, invalid_count } = upload
  const details = { upload: upload_id, reason: plan_refusal ?? '' }
  if (!valid_count || !invalid_count) return new StagedoorError('plan_refused', details)
  return new StagedoorError('plan_refused', details, {
    hint: `Correct the lines that are wrong, or leave them out: --on-invalid skip${skipThreshold(upload)}.`,
  })
}

/** The usual way of an upload: nothing went wrong, a colleague is next. */
export function waitsFor(upload: Upload, doer: Doer): StagedoorError {
  return new StagedoorError(
    'approval_missing',
    { upload: upload.upload_id, reason: 'nobody has decided yet' },
    { hint: `Somebody else decides: ${approveCommand(upload, doer)}.` },
  )
}
