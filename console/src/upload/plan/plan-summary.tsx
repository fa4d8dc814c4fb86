import type { UploadDetail } from '../../api/upload-types.ts'
import { count, counted } from '../../parts/format.ts'
import { ACTION_LABELS } from '../labels.ts'
import { sumActions } from '../state.ts'
import { dependentsText } from './values.ts'

const ACTIONS = ['insert', 'update', 'unchanged', 'delete', 'skipped', 'refused'] as const

/** The whole plan in numbers and one bar; deletes only where the file is a snapshot, or a statement deletes rows. */
export function PlanSummary({ upload }: { upload: UploadDetail }) {
  const sums = sumActions(upload.plan_totals)
  const actions = ACTIONS.filter(
    (action) => action !== 'delete' || upload.plan_snapshot !== null || sums.delete,
  )
  return (
    <>
      <dl className="sums">
        {actions.map((action) => (
          <div key={action} className={`is-${action}`}>
            <dd>{count(sums[action] ?? 0)}</dd>
            <dt>{ACTION_LABELS[action]}</dt>
          </div>
        ))}
      </dl>
      <div className="bar" aria-hidden="true">
        {actions
          .filter((action) => sums[action])
          .map((action) => (
            <i key={action} className={`is-${action}`} style={{ flexGrow: sums[action] }} />
          ))}
      </div>
      <SnapshotNote upload={upload} />
    </>
  )
}

/** What the file lacks, of how much, what goes with it, and how much may go. */
function SnapshotNote({ upload: { plan_snapshot: snapshot, promoted_at } }: { upload: UploadDetail }) {
  if (snapshot === null) return null
  const { deleted, in_scope, scope, max_deleted, confirmed, dependents, kept, blocked } = snapshot
  const { lines, usual_lines, short_file_allowed } = snapshot
  const where = scope.length > 0 ? ` in its scope (${scope.join(', ')})` : ' in its scope'
  const share = Math.round(max_deleted * 1000) / 10
  return (
    <p className={deleted > 0 ? 'tiny is-wrong' : 'tiny'}>
      {counted(deleted, 'row')} {promoted_at === null ? 'to delete' : 'deleted'} of {count(in_scope)}
      {where}: the file is a snapshot and lacks {deleted === 1 ? 'it' : 'them'}. At most {share} % may be
      deleted
      {confirmed ? ', allowed for this upload' : ''}.
      {short_file_allowed &&
        lines !== null &&
        usual_lines !== null &&
        lines < usual_lines / 2 &&
        ` The file has ${counted(lines, 'line')}, and the last ones had ${count(usual_lines)} (median): allowed for this upload.`}
      {dependents.length > 0 && ` With ${deleted === 1 ? 'it' : 'them'}: ${dependentsText(dependents)}.`}
      {blocked > 0 && ` ${counted(blocked, 'row')} that it lacks cannot be deleted: others refer to them.`}
      {kept > 0 && ` ${counted(kept, 'line')} not taken: the row of each stays as it is.`}
    </p>
  )
}
