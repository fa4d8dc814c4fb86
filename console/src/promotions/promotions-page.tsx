import type { PromotionSummary } from '../api/upload-types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLivePages, useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Approvers } from '../parts/approvers.tsx'
import { Chip } from '../parts/chip.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { count, onDay } from '../parts/format.ts'
import { type Column, Filters, PagedList, useFilters } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { useNames } from '../people.ts'
import { useWorkspace, WorkspaceChoice } from '../session/use-workspace.tsx'
import { sourceText } from '../upload/labels.ts'
import { sumActions } from '../upload/state.ts'
import { ProductionLinks } from './production-links.tsx'

const PAGE = 50
const STATES = [
  ['undoable', 'can be undone'],
  ['final', 'can no longer be undone'],
  ['undone', 'undone'],
] as const

/** What was written into the tables, newest first: by whom, until when it can be undone, and why it was undone. */
export default function PromotionsPage() {
  const { id: workspace } = useWorkspace()
  const filters = useFilters(['dataset', 'state', 'person'])
  const pages = useLivePages<PromotionSummary>(
    ['promotions', 'list', workspace, filters],
    async (api, after) => {
      const list = await api.uploads.promotions({ workspace_id: workspace, limit: PAGE, after, ...filters })
      return { rows: list.promotions, next: list.next }
    },
  )
  const datasets = useLiveQuery(
    ['settings', 'datasets', workspace],
    (api) => api.system.datasets(workspace ?? ''),
    { enabled: workspace !== undefined },
  )
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      <PageHead title="Promotions" />
      <ProductionLinks />
      <Filters
        filters={[
          {
            name: 'dataset',
            label: 'Dataset',
            options: (datasets.data?.datasets ?? []).map(({ dataset, title }) => [dataset, title] as const),
          },
          { name: 'state', label: 'Undo', options: STATES },
          { name: 'person', label: 'Person', options: usePeople(pages.rows, filters.person) },
        ]}
      >
        <WorkspaceChoice />
      </Filters>
      <PagedList
        label="Promotions"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ upload_id }) => upload_id}
        empty={
          isFiltered ? (
            <EmptyState title="No promotion matches these filters." />
          ) : (
            <EmptyState title="Nothing was promoted yet.">
              An upload that a second person approved is written into your tables in one transaction. It then
              stands here, with who approved it and until when it can be undone. Begin with{' '}
              <a className="link" href="/uploads">
                an upload
              </a>
              .
            </EmptyState>
          )
        }
      />
    </>
  )
}

/** You, whoever is in the list, and who is chosen. */
function usePeople(rows: readonly PromotionSummary[], chosen: string | undefined) {
  const names = useNames()
  const ids = new Set(
    rows.flatMap(({ uploaded_by, approvers, promoted_by, undone_by }) => [
      uploaded_by,
      ...approvers.map(({ reviewer }) => reviewer),
      promoted_by,
      ...(undone_by === null ? [] : [undone_by]),
    ]),
  )
  if (chosen !== undefined && chosen !== 'me') ids.add(chosen)
  return [['me', 'me'] as const, ...[...ids].map((id) => [id, names[id] ?? id] as const)]
}

const COLUMNS: readonly Column<PromotionSummary>[] = [
  {
    title: 'What',
    cell: (promotion) => (
      <>
        <a href={`/uploads/${promotion.upload_id}`}>
          <b>
            {promotion.title}
            {promotion.change !== null && ` #${promotion.change}`}
          </b>
        </a>
        <div className="tiny">
          {sourceText(promotion.dataset, promotion.platform)}
          {promotion.file_name !== promotion.title && ` · ${promotion.file_name}`}
        </div>
        <div className="is-narrow-only tiny">
          <Rows promotion={promotion} /> · promoted by <Person id={promotion.promoted_by} />{' '}
          <Ago at={promotion.promoted_at} />
        </div>
      </>
    ),
  },
  { title: 'Rows', wideOnly: true, cell: (promotion) => <Rows promotion={promotion} /> },
  {
    title: 'Approved by',
    wideOnly: true,
    cell: ({ approvers }) =>
      approvers.length === 0 ? (
        <span className="tiny">no approval was required</span>
      ) : (
        <Approvers approvers={approvers} />
      ),
  },
  {
    title: 'Promoted',
    wideOnly: true,
    cell: ({ promoted_by, promoted_at }) => (
      <>
        <Person id={promoted_by} />
        <div className="tiny">
          <Ago at={promoted_at} />
        </div>
      </>
    ),
  },
  { title: 'Undo', cell: (promotion) => <Undo promotion={promotion} /> },
]

/** Leads to the rows themselves. */
function Rows({ promotion: { upload_id, totals } }: { promotion: PromotionSummary }) {
  const { insert = 0, update = 0, delete: deleted = 0 } = sumActions(totals)
  const parts = [
    insert > 0 && `${count(insert)} new`,
    update > 0 && `${count(update)} changed`,
    deleted > 0 && `${count(deleted)} deleted`,
  ].filter(Boolean)
  return parts.length === 0 ? (
    'no rows'
  ) : (
    <a href={`/uploads/${upload_id}?tab=lineage`} title="Which rows, from which lines">
      {parts.join(', ')}
    </a>
  )
}

function Undo({ promotion }: { promotion: PromotionSummary }) {
  const { state, undo_until, undone_by, undone_at, undo_reason } = promotion
  if (state === 'undoable') return <>until {onDay(undo_until)}</>
  if (state === 'final') return <span className="tiny">ended {onDay(undo_until)}</span>
  return (
    <>
      <Chip tone="stale">undone</Chip> by <Person id={undone_by ?? ''} /> <Ago at={undone_at ?? ''} />
      {undo_reason !== null && <div className="tiny">{undo_reason}</div>}
    </>
  )
}
