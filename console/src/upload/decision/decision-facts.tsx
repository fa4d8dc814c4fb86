import type { ReactNode } from 'react'
import type { Dataset, UploadDetail } from '../../api/upload-types.ts'
import { counted, onDay, shortHash } from '../../parts/figures.ts'
import { written } from '../state.ts'

export function DecisionFacts({ upload, dataset }: { upload: UploadDetail; dataset: Dataset | undefined }) {
  const { plan_digest, undo_until } = upload
  if (plan_digest === null) return null
  const { rows, tables } = written(upload.promotion_totals ?? upload.plan_totals)
  return (
    <dl className="decision-facts">
      <Fact name="Plan">
        <code title={plan_digest}>{shortHash(plan_digest, 3)}</code>
      </Fact>
      <Fact name="Mode">{modeSaid(upload)}</Fact>
      <Fact name={upload.promoted_at === null ? 'Touches' : 'Touched'}>
        {counted(tables, 'table')}, {counted(rows, 'row')}
      </Fact>
      <Fact name="Undo">
        {undo_until === null ? (dataset ? `for ${dataset.undo_window}` : '–') : `until ${onDay(undo_until)}`}
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function modeSaid({ gate_mode, valid_count, invalid_count }: UploadDetail): string {
  const mode = gate_mode === 'LENIENT' ? 'lenient' : 'strict'
  const all = (valid_count ?? 0) + (invalid_count ?? 0)
  if (all === 0) return mode
  return `${mode}, ${shareSaid((valid_count ?? 0) / all)} valid`
}

/** Rounded down: one wrong line in a million is not 100 %. */
function shareSaid(share: number): string {
  return share === 1 ? '100 %' : `${(Math.floor(share * 100_000) / 1000).toString()} %`
}
