import type { OverviewFacts } from '../api/types.ts'
import type { Uploads } from '../api/upload-types.ts'
import { Ago } from '../parts/ago.tsx'
import { count } from '../parts/format.ts'
import { written } from '../upload/state.ts'
import { Fact, rate } from './flow.tsx'

/** How many rows the current promotions have written, and which of them can still be undone. */
export function ProductionFacts({
  promoted,
  facts,
}: {
  promoted: Uploads | undefined
  facts: OverviewFacts | undefined
}) {
  const more = promoted?.next ? '+' : ''
  const rows = promoted?.uploads.reduce(
    (sum, { promotion_totals }) => sum + written(promotion_totals).rows,
    0,
  )
  // Also one that was undone since: it is not among the current ones.
  const latest = facts?.last_promotion_at
  const undoable = promoted?.uploads.filter(
    ({ undo_until }) => undo_until !== null && Date.parse(undo_until) > Date.now(),
  )
  const said = rows === undefined ? '–' : `${count(rows)}${more}`
  return (
    <>
      <span className={said.length > 6 ? 'big is-long' : 'big'}>
        {said} <small>{rows === 1 ? 'row promoted' : 'rows promoted'}</small>
      </span>
      <dl className="facts">
        <div>
          <dt>last promotion</dt>
          <dd>{latest ? <Ago at={latest} /> : facts === undefined ? '–' : 'none yet'}</dd>
        </div>
        <Fact name="promotions in 24 h">{rate(facts?.promotions_today)}</Fact>
        <div>
          <dt>can be undone</dt>
          <dd>{undoable === undefined ? '–' : `${undoable.length}${more}`}</dd>
        </div>
      </dl>
    </>
  )
}
