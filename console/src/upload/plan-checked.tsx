import { Ago } from '../parts/ago.tsx'
import { counted } from '../parts/format.ts'
import type { Stale } from './use-stale.ts'

/** When the plan was compared with production, and what that found. */
export function PlanChecked({ stale }: { stale: Stale }) {
  const { checkedAt, plan, check } = stale
  if (checkedAt === undefined) return null
  return (
    <p className="muted plan-checked">
      {checkedAt === null ? (
        'The plan could not be compared with production just now. A promotion compares every row. '
      ) : (
        <>
          Compared with production <Ago at={checkedAt} />:{' '}
          {plan === undefined
            ? 'no row differs. '
            : `${counted(plan.total, 'row')} ${plan.total === 1 ? 'differs' : 'differ'}. `}
        </>
      )}
      <button type="button" className="link" onClick={check}>
        Compare again
      </button>
    </p>
  )
}
