import type { UploadDetail } from '../../api/upload-types.ts'
import { count, counted } from '../../parts/format.ts'
import type { Doing } from './decision-card.tsx'
import { percent } from './mode-choice.tsx'

/** Lets a snapshot delete more rows than its dataset allows, or be far shorter than the last ones: for this upload only. */
export function DeleteChoice({ upload, doing }: { upload: UploadDetail; doing: Doing }) {
  const snapshot = upload.plan_snapshot
  if (upload.status !== 'planned' || upload.plan_refusal === null || snapshot === null) return null
  const { needed_max_deleted: share, too_short: short } = snapshot
  if (share == null && !short) return null
  const { allowed, why } = upload.may.plan
  const plan = (more: { max_deleted?: number; allow_short_file?: boolean }) =>
    doing.plan('Planning again', { more })
  const disabled = !allowed || doing.busy !== undefined
  return (
    <fieldset className="mode">
      <legend>Rows that the file lacks</legend>
      {share != null && (
        <>
          <p className="tiny">
            Is the file complete? Then plan it again and allow up to {percent(share)} % to be deleted. The
            reviewer sees that, and you cannot approve it.
          </p>
          <button
            type="button"
            className="button is-small"
            disabled={disabled}
            onClick={() => plan({ max_deleted: share })}
          >
            Allow {counted(snapshot.deleted, 'row')} to be deleted
          </button>
        </>
      )}
      {short && (
        <>
          <p className="tiny">
            The file has {counted(snapshot.lines ?? 0, 'line')}, and the last ones had{' '}
            {count(snapshot.usual_lines ?? 0)}. Is it complete? Then plan it again and allow that. The
            reviewer sees it, and you cannot approve it.
          </p>
          <button
            type="button"
            className="button is-small"
            disabled={disabled}
            onClick={() => plan({ allow_short_file: true })}
          >
            Allow the short file
          </button>
        </>
      )}
      {!allowed && why && <p className="tiny">{why}</p>}
    </fieldset>
  )
}
