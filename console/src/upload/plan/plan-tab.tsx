import { useCallback, useMemo, useState } from 'react'
import type { Dataset, UploadDetail } from '../../api/upload-types.ts'
import { Grid } from '../../grid/grid.tsx'
import { usePages } from '../../grid/use-pages.ts'
import { counted } from '../../parts/format.ts'
import { useNarrow } from '../../parts/use-narrow.ts'
import { useSession } from '../../session/session.tsx'
import { ControlTotals } from './control-totals.tsx'
import { columnsIn, phoneColumns, planColumns } from './plan-columns.tsx'
import { type PlanFilter, PlanFilters } from './plan-filters.tsx'
import { PlanSummary } from './plan-summary.tsx'

const PAGE = 200

export function PlanTab({ upload, dataset }: { upload: UploadDetail; dataset: Dataset | undefined }) {
  if (upload.plan_digest !== null && upload.plan_totals !== null) {
    return <Planned key={upload.plan_digest} upload={upload} dataset={dataset} />
  }
  return (
    <div className="empty">
      <b>No plan yet.</b>
      <p>
        A plan compares every valid line with your tables and shows what would change. It changes nothing
        itself.
      </p>
      <ControlTotals upload={upload} />
    </div>
  )
}

function Planned({ upload, dataset }: { upload: UploadDetail; dataset: Dataset | undefined }) {
  const { api } = useSession()
  const totals = upload.plan_totals ?? {}
  const [filter, setFilter] = useState<PlanFilter>(() => firstFilter(upload))
  const { row_type, action, column, percent } = filter
  const id = upload.upload_id
  const read = useCallback(
    (after: string | undefined) =>
      api.uploads.planRows(id, {
        row_type,
        action,
        column,
        by_more_than: column !== undefined && percent !== undefined ? percent / 100 : undefined,
        limit: PAGE,
        after,
      }),
    [api, id, row_type, action, column, percent],
  )
  const pages = usePages(read)
  const { reading } = upload
  const fields = reading?.layout.fields
  const found = useMemo(() => columnsIn(pages, fields ?? []), [pages, fields])
  // A narrower view shows fewer columns, but those of the wider one can still be chosen.
  const [offered, setOffered] = useState<Record<string, string[]>>({})
  const [figures, setFigures] = useState(found.figures)
  if ([...found.figures].some((name) => !figures.has(name)))
    setFigures(new Set([...figures, ...found.figures]))
  const known = offered[row_type ?? ''] ?? []
  const fresh = found.names.filter((name) => !known.includes(name))
  if (fresh.length > 0) setOffered({ ...offered, [row_type ?? '']: [...known, ...fresh] })
  const mixed = action === undefined
  const phone = useNarrow(560)
  const columns = useMemo(
    () => (phone ? phoneColumns(found, reading) : planColumns(found, reading, mixed)),
    [found, reading, mixed, phone],
  )

  return (
    <>
      <PlanSummary upload={upload} />
      <ControlTotals upload={upload} />
      <PlanFilters
        filter={filter}
        change={setFilter}
        totals={totals}
        columns={known}
        figures={figures}
        dataset={dataset}
        aside={pages.begun ? shownRows(pages.count, pages.done) : 'loading…'}
      />
      <Grid
        label="Rows of the plan"
        columns={columns}
        pages={pages}
        rowHeight={phone ? 96 : 48}
        measured={phone}
        empty={<p>No rows match these filters.</p>}
        toneOf={(row) =>
          `${phone ? 'is-tall' : ''} ${row.action === 'unchanged' || row.action === 'skipped' ? 'is-quiet' : ''}`
        }
      />
    </>
  )
}

/** What most people look for: the changes of the lines themselves. */
function firstFilter(upload: UploadDetail): PlanFilter {
  const totals = upload.plan_totals ?? {}
  const leaf = upload.reading?.layout.leaf
  const row_type = leaf !== undefined && leaf in totals ? leaf : Object.keys(totals)[0]
  const actions = totals[row_type ?? ''] ?? {}
  // Deletes are what nobody must overlook.
  const action = actions.delete ? 'delete' : actions.update ? 'update' : actions.insert ? 'insert' : undefined
  return { row_type, action, column: undefined, percent: undefined }
}

function shownRows(count: number, done: boolean): string {
  return done ? counted(count, 'row') : `${counted(count, 'row')} and more`
}
