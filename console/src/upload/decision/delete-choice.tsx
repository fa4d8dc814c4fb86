import type { UploadDetail } from '../../api/upload-types.ts'
import { counted } from '../../parts/format.ts'
import { useSession } from '../../session/session.tsx'
import type { Doing } from './decision-card.tsx'
import { percent, thresholdOf } from './mode-choice.tsx'

/** Lets a snapshot delete more rows than its dataset allows, or be far shorter than the last ones: for this upload only. */
export function DeleteChoice({ upload, doing }: { upload: UploadDetail; doing: Doing }) {
  const { api } = useSession()
  const share = neededShare(upload)
  if (upload.status !== 'planned' || upload.plan_refusal === null || share === undefined) return null
  const { allowed, why } = upload.may.plan
  const plan = () =>
    doing.run('Re-planning', () =>
      api.uploads.plan(upload.upload_id, upload.gate_mode ?? 'STRICT', thresholdOf(upload), share),
    )
  return (
    <fieldset className="mode">
      <legend>Rows that the file lacks</legend>
      <p className="tiny">
        Is the file complete? Then plan it again and allow up to {percent(share)} % to be deleted. The
        reviewer sees that, and you cannot approve it.
      </p>
      <button
        type="button"
        className="button is-small"
        disabled={!allowed || doing.busy !== undefined}
        onClick={plan}
      >
        Allow {counted(upload.plan_snapshot?.deleted ?? 0, 'row')} to be deleted
      </button>
      {!allowed && why && <p className="tiny">{why}</p>}
    </fieldset>
  )
}

/** Undefined: the number of deletes is not why it is refused. */
function neededShare({ plan_snapshot: snapshot }: UploadDetail): number | undefined {
  if (snapshot === null || snapshot.deleted === 0) return undefined
  const share = snapshot.deleted / snapshot.in_scope
  const short = !snapshot.confirmed && (snapshot.lines ?? 0) < (snapshot.usual_lines ?? 0) / 2
  if (share <= snapshot.max_deleted && !short) return undefined
  return Math.max(Math.ceil(share * 100) / 100, short ? snapshot.max_deleted : 0)
}
