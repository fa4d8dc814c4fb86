import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import type { Change } from '../../api/changes.ts'
import type { Dataset, PlanRow, UploadDetail } from '../../api/upload-types.ts'
import { type RowPlace, useRowNotes } from '../../changes/row-notes.tsx'
import { Grid } from '../../grid/grid.tsx'
import { usePages } from '../../grid/use-pages.ts'
import { count, counted, shortHash } from '../../parts/format.ts'
import { Person } from '../../parts/person.tsx'
import { useNarrow } from '../../parts/use-narrow.ts'
import { useSession } from '../../session/session.tsx'
import type { MovedRows } from '../use-stale.ts'
import { ConflictGrid } from './conflict-grid.tsx'
import { ControlTotals } from './control-totals.tsx'
import { columnsIn, dataColumn, phoneColumns, planColumns } from './plan-columns.tsx'
import { PlanFilters } from './plan-filters.tsx'
import { PlanSummary } from './plan-summary.tsx'
import { type PlanSpecial, usePlanView } from './plan-view.ts'
import { type Since, useSince } from './use-since.ts'
import { useViewed } from './viewed.ts'

const PAGE = 200
const NO_COLUMNS: readonly string[] = []

/** With the library that draws it: loaded when somebody looks at a column of figures. */
const Distribution = lazy(() => import('./distribution.tsx'))

interface Props {
  readonly upload: UploadDetail
  readonly change: Change | undefined
  readonly dataset: Dataset | undefined
  /** Undefined: production is as the plan saw it, or that is not known yet. */
  readonly stale: MovedRows | undefined
}

export function PlanTab(props: Props) {
  const { upload } = props
  if (upload.plan_digest !== null && upload.plan_totals !== null) {
    return <Planned key={upload.plan_digest} {...props} />
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

function Planned({ upload, change, dataset, stale }: Props) {
  const { api } = useSession()
  const totals = upload.plan_totals ?? {}
  const since = useSince(upload, change)
  const specials = specialsOf(stale, since)
  const view = usePlanView(
    upload,
    specials.map(([one]) => one),
  )
  const { filter, change: setFilter, special, choose, line, isSplit, setSplit, showAll } = view
  const approved = special === 'since' ? since?.digest : undefined
  const { row_type, action, column, percent } = filter
  const id = upload.upload_id
  const read = useCallback(
    (after: string | undefined) =>
      api.uploads.planRows(id, {
        row_type: approved === undefined ? row_type : undefined,
        since: approved,
        ...(line === undefined
          ? {
              action: approved === undefined ? action : undefined,
              column,
              by_more_than: column !== undefined && percent !== undefined ? percent / 100 : undefined,
            }
          : { line }),
        limit: PAGE,
        after,
      }),
    [api, id, row_type, action, column, percent, line, approved],
  )
  const pages = usePages(read)
  const { reading } = upload
  const fields = reading?.layout.fields
  const found = useMemo(() => columnsIn(pages, fields ?? []), [pages, fields])
  // A narrower view shows fewer columns, but those of the wider one can still be chosen.
  const [offered, setOffered] = useState<Record<string, readonly string[]>>({})
  const [figures, setFigures] = useState(found.figures)
  if ([...found.figures].some((name) => !figures.has(name)))
    setFigures(new Set([...figures, ...found.figures]))
  const known = offered[row_type ?? ''] ?? NO_COLUMNS
  const fresh = found.names.filter((name) => !known.includes(name))
  if (fresh.length > 0) setOffered({ ...offered, [row_type ?? '']: [...known, ...fresh] })
  const mixed = action === undefined || action === 'changes' || line !== undefined || approved !== undefined
  const phone = useNarrow(560)
  const { notes, said } = useRowNotes(change, { placeOf, columnOf: dataColumn, columns: known, line })
  const marked = phone ? notes : undefined
  const columns = useMemo(
    () => (phone ? phoneColumns(found, reading, marked) : planColumns(found, reading, { mixed, isSplit })),
    [found, reading, mixed, isSplit, phone, marked],
  )

  return (
    <>
      <PlanSummary upload={upload} />
      <ControlTotals upload={upload} />
      {since && <SinceNote since={since} show={special === 'since' ? undefined : () => choose('since')} />}
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
        specials={specials}
        special={special}
        choose={choose}
        aside={
          special === 'conflicts' || special === 'moved'
            ? 'base, mine (this file), theirs (production now)'
            : pages.begun
              ? shownRows(pages.count, pages.done)
              : 'loading…'
        }
      >
        {!phone && <LayoutChoice isSplit={isSplit} choose={setSplit} />}
        {row_type !== undefined && <Viewed digest={upload.plan_digest ?? ''} table={row_type} />}
      </PlanFilters>
      {row_type !== undefined && column !== undefined && figures.has(column) && (
        <DistributionOf key={`${row_type} ${column}`} upload={id} rowType={row_type} column={column} />
      )}
      <p className="unseen" role="status">
        {said}
      </p>
      {special === 'conflicts' || special === 'moved' ? (
        <ConflictGrid upload={upload} onlyConflicts={special === 'conflicts'} />
      ) : (
        <Grid
          label="Rows of the plan"
          columns={columns}
          pages={pages}
          rowHeight={phone ? 96 : 48}
          measured={phone}
          empty={<p>No rows match these filters.</p>}
          notes={notes}
          toneOf={(row) =>
            `${phone ? 'is-tall' : ''} ${row.action === 'unchanged' || row.action === 'skipped' ? 'is-quiet' : ''}`
          }
        />
      )}
    </>
  )
}

function placeOf({ row_type, row_number }: PlanRow): RowPlace {
  return { row_type, line: row_number }
}

/** What can be shown beside the rows of the plan, the most pressing first. */
function specialsOf(stale: MovedRows | undefined, since: Since | undefined): [PlanSpecial, string][] {
  const conflicts = stale === undefined ? 0 : stale.total - (stale.counts.other_cells ?? 0)
  const changed = since === undefined ? 0 : changedIn(since)
  return [
    ...(conflicts > 0 ? [['conflicts', `conflicts (${count(conflicts)})`] as [PlanSpecial, string]] : []),
    ...(stale !== undefined
      ? [['moved', `rows changed in production (${count(stale.total)})`] as [PlanSpecial, string]]
      : []),
    ...(since !== undefined && changed > 0
      ? [
          ['since', `changed since ${since.isOwn ? 'your' : 'the last'} approval (${count(changed)})`] as [
            PlanSpecial,
            string,
          ],
        ]
      : []),
  ]
}

function changedIn({ rows: { different, added, in_production, gone } }: Since): number {
  return different + added + in_production + gone
}

function SinceNote({ since, show }: { since: Since; show: (() => void) | undefined }) {
  const { same, different, added, in_production, gone } = since.rows
  const parts = [
    `${counted(same, 'row')} the same`,
    different > 0 && `${count(different)} different`,
    added > 0 && `${count(added)} not approved before`,
    in_production > 0 && `${count(in_production)} in production already`,
    gone > 0 && `${count(gone)} no longer written`,
  ].filter(Boolean)
  return (
    <p className="note since-note" role="status">
      Since{' '}
      {since.isOwn ? (
        'your approval'
      ) : (
        <>
          the approval by <Person id={since.reviewer} />
        </>
      )}{' '}
      of the plan <code>{shortHash(since.digest, 3)}</code>: {parts.join(', ')}.{' '}
      {show && changedIn(since) > 0 && (
        <button type="button" className="link" onClick={show}>
          Show what changed
        </button>
      )}
    </p>
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
