import type { UploadDetail } from '../../api/upload-types.ts'
import { count } from '../../parts/figures.ts'
import { sumActions } from '../state.ts'

const ACTIONS = [
  { action: 'insert', word: 'insert' },
  { action: 'update', word: 'update' },
  { action: 'unchanged', word: 'unchanged' },
  { action: 'skipped', word: 'left out' },
  { action: 'refused', word: 'refused' },
] as const

/** The whole plan in five numbers and one bar. */
export function PlanSummary({ upload }: { upload: UploadDetail }) {
  const sums = sumActions(upload.plan_totals)
  return (
    <>
      <dl className="sums">
        {ACTIONS.map(({ action, word }) => (
          <div key={action} className={`is-${action}`}>
            <dd>{count(sums[action] ?? 0)}</dd>
            <dt>{word}</dt>
          </div>
        ))}
      </dl>
      <div className="bar" aria-hidden="true">
        {ACTIONS.filter(({ action }) => sums[action]).map(({ action }) => (
          <i key={action} className={`is-${action}`} style={{ flexGrow: sums[action] }} />
        ))}
      </div>
    </>
  )
}
