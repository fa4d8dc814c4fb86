import type { UploadDetail } from '../../api/upload-types.ts'
import { count } from '../../parts/figures.ts'
import { sumActions } from '../state.ts'
import { ACTION_WORDS } from '../words.ts'

const ACTIONS = ['insert', 'update', 'unchanged', 'skipped', 'refused'] as const

/** The whole plan in five numbers and one bar. */
export function PlanSummary({ upload }: { upload: UploadDetail }) {
  const sums = sumActions(upload.plan_totals)
  return (
    <>
      <dl className="sums">
        {ACTIONS.map((action) => (
          <div key={action} className={`is-${action}`}>
            <dd>{count(sums[action] ?? 0)}</dd>
            <dt>{ACTION_WORDS[action]}</dt>
          </div>
        ))}
      </dl>
      <div className="bar" aria-hidden="true">
        {ACTIONS.filter((action) => sums[action]).map((action) => (
          <i key={action} className={`is-${action}`} style={{ flexGrow: sums[action] }} />
        ))}
      </div>
    </>
  )
}
