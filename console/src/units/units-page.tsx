import { useState } from 'react'
import type { CutDocument, ListedUnit } from '../api/types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLivePages, useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes, count, counted } from '../parts/format.ts'
import { type Filter, Filters, PagedList, useFilters } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { useParameters } from '../route.ts'
import { useWorkspace } from '../session/use-workspace.tsx'
import { CreateUnitDialog, MarkDocumentDialog } from './new-unit.tsx'
import { STATUS_OPTIONS, searchStateOf, statusOf } from './unit-text.ts'
import './units.css'

const PAGE = 100
const FILTERS = ['text', 'under', 'kind', 'status', 'topic', 'check'] as const

/** What the checker or a deletion says, which are parameters of their own in the API. */
const CHECKS: Record<string, object> = {
  deviates: { conformance: 'deviates' },
  drifted: { drift: 'drifted' },
  deleted: { deleted: true },
}

/** Units as a tree, as a list with filters, and the documents that they were cut from. */
export function UnitsPage() {
  const [parameters, set] = useParameters()
  const filters = useFilters(FILTERS)
  const isFiltered = Object.keys(filters).length > 0
  const view = parameters.get('view') ?? (isFiltered ? 'list' : 'tree')
  const views = [
    ['tree', 'Tree'],
    ['list', 'List'],
    ['documents', 'Documents'],
  ] as const
  return (
    <>
      <PageHead title="Units" />
      <div className="units-bar">
        <nav className="view-choice" aria-label="View">
          {views.map(([id, name]) => (
            <button
              key={id}
              type="button"
              className="button is-small"
              aria-pressed={view === id}
              onClick={() =>
                set({
                  ...Object.fromEntries(FILTERS.map((filter) => [filter, undefined])),
                  view: id === 'tree' ? undefined : id,
                })
              }
            >
              {name}
            </button>
          ))}
        </nav>
        <NewButtons />
      </div>
      {view === 'documents' ? (
        <Documents />
      ) : (
        <>
          <UnitFilters />
          {view === 'list' || isFiltered ? <UnitList filters={filters} /> : <UnitTree />}
        </>
      )}
    </>
  )
}

function NewButtons() {
  const { rights } = useWorkspace()
  const [asked, ask] = useState<'unit' | 'document'>()
  const close = () => ask(undefined)
  return (
    <div className="units-new">
      {rights.includes('stage') && (
        <button type="button" className="button" onClick={() => ask('document')}>
          Cut a document…
        </button>
      )}
      {rights.includes('operate') && (
        <button type="button" className="button" onClick={() => ask('unit')}>
          Write a unit…
        </button>
      )}
      {asked === 'unit' && <CreateUnitDialog close={close} />}
      {asked === 'document' && <MarkDocumentDialog close={close} />}
    </div>
  )
}

function UnitFilters() {
  const { data: kinds } = useLiveQuery(['units', 'kinds'], (api) => api.units.kinds())
  const { data: topics } = useLiveQuery(['units', 'topics'], (api) => api.units.topics())
  const filters: Filter[] = [
    { name: 'text', label: 'Title or address', kind: 'text', placeholder: 'leave', isSearch: true },
    { name: 'under', label: 'Under', kind: 'text', placeholder: 'handbook' },
    { name: 'kind', label: 'Kind', options: (kinds?.kinds ?? []).map(({ unit_kind: k }) => [k, k]) },
    { name: 'status', label: 'Lifecycle', options: STATUS_OPTIONS },
    {
      name: 'topic',
      label: 'Topic',
      options: (topics?.topics ?? []).map(({ topic_label: t, units }) => [t, `${t} (${units})`]),
    },
    {
      name: 'check',
      label: 'State',
      options: [
        ['deviates', 'with a finding'],
        ['drifted', 'document changed since'],
        ['deleted', 'deleted'],
      ],
    },
  ]
  return <Filters filters={filters} />
}

function UnitList({ filters }: { filters: Partial<Record<(typeof FILTERS)[number], string>> }) {
  const { check, ...others } = filters
  const pages = useLivePages<ListedUnit>(['units', 'list', filters], async (api, after) => {
    const { units, next } = await api.units.list({
      ...others,
      ...CHECKS[check ?? ''],
      limit: PAGE,
      after,
    })
    return { rows: units, next }
  })
  return (
    <PagedList
      label="Units"
      pages={pages}
      keyOf={({ unit_id }) => unit_id}
      columns={[
        {
          title: 'Unit',
          cell: (unit) => (
            <>
              <Path path={unit.path} />
              <a href={`/units/${unit.unit_id}`}>
                <b>{unit.title}</b>
              </a>
              <span className="tiny unit-address">{unit.canonical_address}</span>
            </>
          ),
        },
        { title: 'Kind', cell: ({ unit_kind }) => unit_kind, wideOnly: true, tight: true },
        { title: 'Lifecycle', cell: (unit) => <StatusChip unit={unit} />, tight: true },
        { title: 'Topics', cell: ({ topics }) => topics.join(', '), wideOnly: true },
        { title: 'Version', cell: ({ version_no }) => version_no, figures: true, wideOnly: true },
        { title: 'Search', cell: (unit) => searchStateOf(unit).word, wideOnly: true },
        { title: 'Changed', cell: ({ changed_at }) => <Ago at={changed_at} />, wideOnly: true, tight: true },
      ]}
      empty={
        Object.keys(filters).length > 0 ? (
          <EmptyState title="No unit matches these filters.">
            <p>Clear a filter, or search in the texts of units on the page Search.</p>
          </EmptyState>
        ) : (
          <NoUnits />
        )
      }
    />
  )
}

function NoUnits() {
  return (
    <EmptyState title="No unit here yet." command="npm run -s stagedoor -- mark handbook.md">
      <p>
        A unit is a piece of knowledge with an address, versions and a lifecycle. Cut a document into units
        (the cut is reviewed first), or write one unit by itself. The command does the same for a file:
      </p>
    </EmptyState>
  )
}

/** The headings above a unit. */
export function Path({ path }: { path: readonly { readonly unit_id: string; readonly title: string }[] }) {
  if (path.length === 0) return null
  return (
    <span className="unit-path tiny">
      {path.map(({ unit_id, title }) => (
        <span key={unit_id}>
          <a href={`/units/${unit_id}`}>{title}</a>
          <span aria-hidden="true"> › </span>
        </span>
      ))}
    </span>
  )
}

export function StatusChip({ unit }: { unit: Pick<ListedUnit, 'lifecycle_status' | 'deleted_at'> }) {
  const { tone, word } = statusOf(unit)
  return <Chip tone={tone}>{word}</Chip>
}

function UnitTree() {
  return (
    <section className="card unit-tree" aria-label="Units">
      <Branch empty={<NoUnits />} />
    </section>
  )
}

/** The units that are in a container, or in none; more of them on request, and what is in them when they are opened. */
function Branch({ container, empty }: { container?: string; empty?: React.ReactNode }) {
  const pages = useLivePages<ListedUnit>(['units', 'tree', container ?? 'top'], async (api, after) => {
    const where = container === undefined ? { top: true } : { container_id: container }
    const { units, next } = await api.units.list({ ...where, limit: PAGE, after })
    return { rows: units, next }
  })
  const { rows, loading, failure, more } = pages
  return (
    <>
      <FailureNote failure={failure} />
      {loading && <p className="empty">Loading…</p>}
      {!loading && failure === undefined && rows.length === 0 && empty}
      {rows.length > 0 && (
        <ul>
          {rows.map((unit) => (
            <TreeUnit key={unit.unit_id} unit={unit} />
          ))}
        </ul>
      )}
      {more && (
        <button type="button" className="button is-small unit-tree-more" onClick={more}>
          Load more
        </button>
      )}
    </>
  )
}

function TreeUnit({ unit }: { unit: ListedUnit }) {
  const [open, setOpen] = useState(false)
  return (
    <li className={unit.container_id === null ? 'tree-branch' : ''}>
      <div className="tree-line">
        {unit.units_in > 0 ? (
          <button
            type="button"
            className="tree-toggle"
            aria-expanded={open}
            aria-label={`${open ? 'Close' : 'Open'} ${unit.title}`}
            onClick={() => setOpen(!open)}
          >
            {open ? '▾' : '▸'}
          </button>
        ) : (
          <span className="tree-toggle" aria-hidden="true" />
        )}
        <span className="tree-title">
          <a href={`/units/${unit.unit_id}`}>{unit.title}</a>
          <span className="tiny">
            {unit.unit_kind}
            {unit.units_in > 0 && ` · ${counted(unit.units_in, 'unit')}`}
          </span>
        </span>
        <StatusChip unit={unit} />
      </div>
      {open && <Branch container={unit.unit_id} />}
    </li>
  )
}

function Documents() {
  const pages = useLivePages<CutDocument>(['units', 'documents'], async (api, after) => {
    const { documents, next } = await api.units.documents({ limit: PAGE, after })
    return { rows: documents, next }
  })
  return (
    <PagedList
      label="Documents"
      pages={pages}
      keyOf={({ document_id }) => document_id}
      columns={[
        {
          title: 'Document',
          cell: ({ document_id, title, source_ref }) => (
            <>
              <a href={`/documents/${document_id}`}>
                <b>{title}</b>
              </a>
              <span className="tiny unit-address">{source_ref}</span>
            </>
          ),
        },
        { title: 'Pieces', cell: ({ pieces }) => count(pieces), figures: true, tight: true },
        { title: 'Size', cell: ({ bytes: size }) => bytes(size), figures: true, wideOnly: true, tight: true },
        {
          title: 'Cut',
          cell: ({ updated_at, updated_by }) => (
            <>
              <Ago at={updated_at} /> · <Person id={updated_by} />
            </>
          ),
          wideOnly: true,
        },
      ]}
      empty={
        <EmptyState title="No document was cut yet." command="npm run -s stagedoor -- mark handbook.md">
          <p>A document is cut into units after somebody else approved the proposal of the cut.</p>
        </EmptyState>
      }
    />
  )
}
