import { count, counted } from '../parts/format.ts'
import { useParameters } from '../route.ts'
import { CONFLICT_ORDER, CONFLICT_WORDS } from './labels.ts'
import type { MovedRows } from './use-stale.ts'

/** Production has moved on since the plan was made: how many rows, and whether that is a conflict. The plan shows them row by row. */
export function StaleCard({ plan }: { plan: MovedRows }) {
  const [, set] = useParameters()
  const { counts, total } = plan
  const conflicts = total - (counts.other_cells ?? 0)
  return (
    <section className="card stale-plan" aria-labelledby="stale-title">
      <header className="card-head">
        <h2 id="stale-title">{counted(total, 'row')} changed since the plan was made</h2>
        <button
          type="button"
          className="button is-small"
          onClick={() => set({ tab: 'plan', show: conflicts > 0 ? 'conflicts' : 'moved', line: undefined })}
        >
          {conflicts > 0 ? `Show ${counted(conflicts, 'conflict')}` : 'Show them'}
        </button>
      </header>
      <ul className="stale-kinds">
        {CONFLICT_ORDER.filter((kind) => counts[kind]).map((kind) => (
          <li key={kind}>
            <b>{count(counts[kind] ?? 0)}</b> {CONFLICT_WORDS[kind].long}
          </li>
        ))}
      </ul>
    </section>
  )
}
