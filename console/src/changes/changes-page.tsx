import { Fragment } from 'react'
import type { ChangeSummary } from '../api/changes.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLivePages } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { counted } from '../parts/format.ts'
import { type Column, type Filter, Filters, PagedList, useFilters } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { OutdatedChip } from '../upload/outdated-chip.tsx'
import { AwaitingReview } from './awaiting-review.tsx'
import { CHANGE_KINDS, CHANGE_STATES } from './change-status.ts'
import './changes.css'

const FILTERS: readonly Filter[] = [
  {
    name: 'show',
    label: 'Show',
    options: [
      ['waiting', 'awaiting review'],
      ['asked', 'I am asked'],
      ['mine', 'mine'],
    ],
  },
  {
    name: 'status',
    label: 'Status',
    options: Object.entries(CHANGE_STATES).map(([status, { word }]) => [status, word] as const),
  },
  { name: 'kind', label: 'Kind', options: Object.entries(CHANGE_KINDS) },
  { name: 'label', label: 'Label', kind: 'text' },
]

const PAGE = 50

/** What awaits a review first, then everything that was proposed, newest first. */
export default function ChangesPage() {
  const filters = useFilters(['show', 'status', 'kind', 'label'])
  const pages = useLivePages<ChangeSummary>(['changes', 'list', filters], async (api, after) => {
    const { changes, next } = await api.changes.list({ ...askedOf(filters), limit: PAGE, after })
    return { rows: changes, next }
  })
  return (
    <>
      <PageHead title="Changes" />
      {Object.keys(filters).length === 0 && <AwaitingReview />}
      <h2 className="all-changes">All changes</h2>
      <Filters filters={FILTERS} />
      <PagedList
        label="Changes"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ change_id }) => change_id}
        empty={
          Object.keys(filters).length > 0 ? (
            <p className="empty">No change meets the filters.</p>
          ) : (
            <EmptyState title="No change was proposed yet." command="npm run -s stagedoor -- ingest FILE">
              A file, a record that an agent stages or the cut of a document opens a change. A second person
              reviews it here; then it is promoted in one transaction.
            </EmptyState>
          )
        }
      />
    </>
  )
}

function askedOf({
  show,
  ...filters
}: Partial<Record<'show' | 'status' | 'kind' | 'label', string>>): object {
  if (show === 'waiting') return { ...filters, status: 'open' }
  if (show === 'asked') return { ...filters, reviewer: 'me' }
  if (show === 'mine') return { ...filters, author: 'me' }
  return filters
}

const COLUMNS: readonly Column<ChangeSummary>[] = [
  {
    title: 'Change',
    cell: (change) => (
      <>
        <a href={`/changes/${change.number}?workspace=${change.workspace_id}`}>
          <b>{change.title}</b> <span className="muted">#{change.number}</span>
        </a>{' '}
        {change.labels.map((label) => (
          <Fragment key={label}>
            <span className="label">{label}</span>{' '}
          </Fragment>
        ))}
        <div className="tiny">
          {CHANGE_KINDS[change.kind]}
          {change.dataset !== null && ` · ${change.dataset}`}
          {change.open_threads > 0 && ` · ${counted(change.open_threads, 'open thread')}`}
          <span className="is-narrow-only">
            {' '}
            · <Person id={change.author} />
          </span>
        </div>
      </>
    ),
  },
  {
    title: 'Status',
    tight: true,
    cell: ({ status, outdated }) => (
      <>
        <Chip tone={CHANGE_STATES[status].tone}>{CHANGE_STATES[status].word}</Chip>{' '}
        <OutdatedChip outdated={outdated} />
      </>
    ),
  },
  { title: 'Author', wideOnly: true, cell: ({ author }) => <Person id={author} /> },
  {
    title: 'Changed',
    wideOnly: true,
    tight: true,
    cell: ({ updated_at }) => <Ago at={updated_at} />,
  },
]
