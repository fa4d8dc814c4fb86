import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import type { Change } from '../../api/changes.ts'
import type { Dataset, UploadDetail } from '../../api/upload-types.ts'
import { RowThreads } from '../../changes/row-threads.tsx'
import { Grid } from '../../grid/grid.tsx'
import { usePages } from '../../grid/use-pages.ts'
import { counted } from '../../parts/format.ts'
import { useNarrow } from '../../parts/use-narrow.ts'
import { useSession } from '../../session/session.tsx'
import { ControlTotals } from './control-totals.tsx'
import { columnsIn, phoneColumns, planColumns } from './plan-columns.tsx'
import { PlanFilters } from './plan-filters.tsx'
import { PlanSummary } from './plan-summary.tsx'
import { usePlanView } from './plan-view.ts'
import { useViewed } from './viewed.ts'

const PAGE = 200

/** With the library that draws it: loaded when somebody looks at a column of figures. */
const Distribution = lazy(() => import('./distribution.tsx'))

interface Props {
  readonly upload: UploadDetail
  readonly change: Change | undefined
  readonly dataset: Dataset | undefined
}

export function PlanTab({ upload, change, dataset }: Props) {
  if (upload.plan_digest !== null && upload.plan_totals !== null) {
    return <Planned key={upload.plan_digest} upload={upload} change={change} dataset={dataset} />
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

function Planned({ upload, change, dataset }: Props) {
  const { api } = useSession()
  const totals = upload.plan_totals ?? {}
  const { filter, change: setFilter, line, isSplit, setSplit, showAll } = usePlanView(upload)
  const { row_type, action, column, percent } = filter
  const id = upload.upload_id
  const read = useCallback(
    (after: string | undefined) =>
      api.uploads.planRows(id, {
        row_type,
        ...(line === undefined
          ? {
              action,
              column,
              by_more_than: column !== undefined && percent !== undefined ? percent / 100 : undefined,
            }
          : { line }),
        limit: PAGE,
        after,
      }),
    [api, id, row_type, action, column, percent, line],
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
  const mixed = action === undefined || line !== undefined
  const phone = useNarrow(560)
  const columns = useMemo(
    () => (phone ? phoneColumns(found, reading) : planColumns(found, reading, { mixed, isSplit })),
    [found, reading, mixed, isSplit, phone],
  )

  return (
    <>
      <PlanSummary upload={upload} />
      <ControlTotals upload={upload} />
      {line !== undefined && (
        <p className="note only-row" role="status">
          Only line {line} is shown.{' '}
          <button type="button" className="link" onClick={showAll}>
            Show all rows
          </button>
        </p>
      )}
      <PlanFilters
        filter={filter}
        change={setFilter}
        totals={totals}
        columns={known}
        figures={figures}
        dataset={dataset}
        aside={pages.begun ? shownRows(pages.count, pages.done) : 'loading…'}
      >
        {!phone && <LayoutChoice isSplit={isSplit} choose={setSplit} />}
        {row_type !== undefined && <Viewed digest={upload.plan_digest ?? ''} table={row_type} />}
      </PlanFilters>
      {row_type !== undefined && column !== undefined && figures.has(column) && (
        <DistributionOf key={`${row_type} ${column}`} upload={id} rowType={row_type} column={column} />
      )}
      {line !== undefined && row_type !== undefined && change !== undefined && (
        <RowThreads change={change} rowType={row_type} line={line} columns={known} />
      )}
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

function LayoutChoice({ isSplit, choose }: { isSplit: boolean; choose(isSplit: boolean): void }) {
  return (
    <select
      aria-label="Layout"
      value={isSplit ? 'split' : 'unified'}
      onChange={(event) => choose(event.target.value === 'split')}
    >
      <option value="unified">unified</option>
      <option value="split">side by side</option>
    </select>
  )
}

/** A mark for oneself: this table of this plan has been looked through. Another plan is another table to look through. */
function Viewed({ digest, table }: { digest: string; table: string }) {
  const [isViewed, setViewed] = useViewed(digest, table)
  return (
    <label className="viewed">
      <input type="checkbox" checked={isViewed} onChange={(event) => setViewed(event.target.checked)} />
      Viewed
    </label>
  )
}

function DistributionOf(props: { upload: string; rowType: string; column: string }) {
  return (
    <Suspense fallback={<p className="muted distribution">Loading…</p>}>
      <Distribution {...props} />
    </Suspense>
  )
}

function shownRows(count: number, done: boolean): string {
  return done ? counted(count, 'row') : `${counted(count, 'row')} and more`
}
