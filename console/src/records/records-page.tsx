import type { StagingSummary } from '../api/types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLivePages } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { bytes } from '../parts/format.ts'
import { type Column, Filters, PagedList, useFilters } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { useNames } from '../people.ts'
import { KINDS, kindOf, recordState, STATES, sourceOf } from './record-text.ts'

const PAGE = 50

/** Every staging record that one may see: what agents, people and programs have brought in. */
export function RecordsPage() {
  const filters = useFilters(['status', 'kind', 'owner'])
  const pages = useLivePages(['records', 'list', filters], async (api, after) => {
    const page = await api.records.list({ limit: PAGE, after, ...filters })
    return { rows: page.records, next: page.next }
  })
  return (
    <>
      <PageHead title="Records" />
      <Filters
        filters={[
          {
            name: 'status',
            label: 'Status',
            options: Object.entries(STATES).map(([value, { word }]) => [value, word] as const),
          },
          { name: 'kind', label: 'Kind', options: Object.entries(KINDS) },
          { name: 'owner', label: 'Staged by', options: useOwners(pages.rows, filters.owner) },
        ]}
      />
      <PagedList
        label="Staging records"
        pages={pages}
        columns={COLUMNS}
        keyOf={(record) => record.staging_record_id}
        empty={
          <EmptyState
            title={
              Object.keys(filters).length > 0
                ? 'No record matches these filters.'
                : 'There are no records yet.'
            }
            command="npm run -s stagedoor -- staging create --help"
          >
            A record is something that waits outside of production: an agent’s text, the marking of a
            document, the result of a query. A person approves exactly its bytes.
          </EmptyState>
        }
      />
    </>
  )
}

/** Those who staged what is listed, and whoever is chosen. */
function useOwners(rows: readonly StagingSummary[], chosen: string | undefined) {
  const names = useNames()
  const ids = new Set(rows.map(({ owner_actor }) => owner_actor))
  if (chosen !== undefined) ids.add(chosen)
  return [...ids].map((id) => [id, names[id] ?? id] as const)
}

const COLUMNS: readonly Column<StagingSummary>[] = [
  {
    title: 'Record',
    cell: (record) => (
      <>
        <a href={`/records/${record.staging_record_id}`}>
          <b>{record.purpose}</b>
        </a>
        <div className="tiny">
          {kindOf(record)} from {sourceOf(record)}
        </div>
      </>
    ),
  },
  {
    title: 'Status',
    tight: true,
    cell: (record) => <Chip tone={recordState(record).tone}>{recordState(record).word}</Chip>,
  },
  { title: 'Parts', figures: true, wideOnly: true, cell: (record) => record.part_count },
  {
    title: 'Size',
    figures: true,
    tight: true,
    wideOnly: true,
    cell: (record) => bytes(Number(record.byte_len)),
  },
  {
    title: 'Staged',
    tight: true,
    wideOnly: true,
    cell: (record) => (
      <>
        <Ago at={record.created_at} /> by <Person id={record.owner_actor} />
      </>
    ),
  },
]
