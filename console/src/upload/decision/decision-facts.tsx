import type { ReactNode } from 'react'
import type { Dataset, UploadDetail } from '../../api/upload-types.ts'
import { Ago } from '../../parts/ago.tsx'
import { count, counted, onDay, shortHash } from '../../parts/format.ts'
import { Person } from '../../parts/person.tsx'
import { MODE_LABELS } from '../labels.ts'
import { sumActions, written } from '../state.ts'

export function DecisionFacts({ upload, dataset }: { upload: UploadDetail; dataset: Dataset | undefined }) {
  const { plan_digest, undo_until } = upload
  if (plan_digest === null) return null
  const { rows, tables } = written(upload.promotion_totals ?? upload.plan_totals)
  return (
    <dl className="decision-facts">
      <Fact name="Plan">
        <code title={plan_digest}>{shortHash(plan_digest, 3)}</code>
      </Fact>
      <Fact name="Valid">{validText(upload)}</Fact>
      {(upload.invalid_count ?? 0) > 0 && upload.gate_mode !== null && (
        <Fact name="Invalid lines">{MODE_LABELS[upload.gate_mode]}</Fact>
      )}
      <Fact name={wroteName(upload)}>
        {counted(tables, 'table')}, {counted(rows, 'row')}
      </Fact>
      {upload.undone_at !== null ? (
        <>
          <Fact name="Reverted">{counted(sumActions(upload.undo_totals).reversed ?? 0, 'row')}</Fact>
          <Fact name="Undone">
            <Ago at={upload.undone_at} />
            {upload.undone_by !== null && (
              <>
                {' '}
                by <Person id={upload.undone_by} />
              </>
            )}
          </Fact>
          {upload.undo_reason !== null && <Fact name="Why undone">{upload.undo_reason}</Fact>}
        </>
      ) : (
        <Fact name="Undo">{undoText(undo_until, dataset)}</Fact>
      )}
    </dl>
  )
}

function wroteName({ promoted_at, undone_at }: UploadDetail): string {
  if (undone_at !== null) return 'Had written'
  return promoted_at === null ? 'Will write' : 'Wrote'
}

function undoText(until: string | null, dataset: Dataset | undefined): string {
  if (until === null) return dataset ? `for ${dataset.undo_window}` : '–'
  return Date.parse(until) < Date.now() ? `ended ${onDay(until)}` : `until ${onDay(until)}`
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function validText({ valid_count, invalid_count }: UploadDetail): string {
  const valid = valid_count ?? 0
  const all = valid + (invalid_count ?? 0)
  if (all === 0) return 'no lines'
  return valid === all
    ? `all ${counted(all, 'line')}`
    : `${count(valid)} of ${count(all)}, ${shareText(valid / all)}`
}

/** Rounded down: one wrong line in a million is not 100 %. */
function shareText(share: number): string {
  return `${(Math.floor(share * 1000) / 10).toFixed(1)} %`
}
