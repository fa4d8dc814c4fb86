import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { useSearchKey } from '../frame/search-key.ts'
import type { LivePages } from '../live/live.tsx'
import { useParameters } from '../route.ts'
import { Choice } from './choice.tsx'
import { FailureNote } from './failure-note.tsx'
import './list.css'

/** One filter of a list; its name is its parameter in the address, so that a link keeps the view. */
export type Filter =
  | {
      readonly name: string
      readonly label: string
      /** Without the choice "all", which stands first. */
      readonly options: readonly (readonly [value: string, text: string])[]
    }
  | {
      readonly name: string
      readonly label: string
      readonly kind: 'text' | 'date'
      readonly placeholder?: string
      /** The key / leads to it. */
      readonly isSearch?: boolean
    }

/** The filters that the address holds; what is not chosen is absent. */
export function useFilters<Name extends string>(names: readonly Name[]): Partial<Record<Name, string>> {
  const [parameters] = useParameters()
  const chosen = names.flatMap((name) => {
    const value = parameters.get(name)
    return value ? [[name, value] as const] : []
  })
  return Object.fromEntries(chosen) as Partial<Record<Name, string>>
}

/** A row of filters above a list, kept in the address. */
export function Filters({ filters, children }: { filters: readonly Filter[]; children?: ReactNode }) {
  const [parameters, set] = useParameters()
  const isFiltered = filters.some(({ name }) => parameters.has(name))
  return (
    <search className="list-filters" aria-label="Filters">
      {filters.map((filter) =>
        'options' in filter ? (
          <Choice
            key={filter.name}
            label={filter.label}
            value={parameters.get(filter.name) ?? ''}
            options={[['', 'all'], ...filter.options]}
            choose={(value) => set({ [filter.name]: value })}
          />
        ) : (
          <TextFilter
            key={filter.name}
            filter={filter}
            value={parameters.get(filter.name) ?? ''}
            set={(value) => set({ [filter.name]: value })}
          />
        ),
      )}
      {isFiltered && (
        <button
          type="button"
          className="button is-small"
          onClick={() => set(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
        >
          Clear filters
        </button>
      )}
      {children}
    </search>
  )
}

/** Typing fills the field, Enter or leaving it filters: not every letter is a question to the server. */
function TextFilter({
  filter,
  value,
  set,
}: {
  filter: Extract<Filter, { kind: string }>
  value: string
  set(value: string): void
}) {
  const [draft, setDraft] = useState<string>()
  const search = useSearchKey()
  const take = () => {
    if (draft !== undefined && draft.trim() !== value) set(draft.trim())
    setDraft(undefined)
  }
  return (
    <label className="choice">
      <span>{filter.label}</span>
      <input
        ref={filter.isSearch ? search : null}
        type={filter.kind === 'date' ? 'date' : 'search'}
        maxLength={200}
        placeholder={filter.placeholder}
        value={draft ?? value}
        onChange={(event) =>
          filter.kind === 'date' ? set(event.target.value) : setDraft(event.target.value)
        }
        onBlur={take}
        onKeyDown={(event) => event.key === 'Enter' && take()}
      />
    </label>
  )
}

export interface Column<Row> {
  readonly title: string
  cell(row: Row): ReactNode
  /** Left out on a narrow screen; what matters of it stands in another cell with the class is-narrow-only. */
  readonly wideOnly?: boolean
  /** Numbers stand right. */
  readonly figures?: boolean
  /** As wide as what is in it. */
  readonly tight?: boolean
}

interface ListTableProps<Row> {
  /** Says what the rows are, for those who listen. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  keyOf(row: Row): string
}

/** Fewer rows than this are all in the page, so that the browser's own search finds them. */
const VIRTUAL_FROM = 200
const ROW_HEIGHT = 58

/** A table of any length: only the rows that are in sight are drawn. */
export function ListTable<Row>({ label, columns, rows, keyOf }: ListTableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const isVirtual = rows.length >= VIRTUAL_FROM
  const [top, setTop] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: where the rows begin counts from when they are virtual
  useLayoutEffect(() => {
    if (body.current) setTop(body.current.getBoundingClientRect().top + scrollY)
  }, [isVirtual])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    enabled: isVirtual,
    estimateSize: () => ROW_HEIGHT,
    overscan: 20,
    scrollMargin: top,
  })
  const drawn = isVirtual ? virtual.getVirtualItems() : rows.map((_, index) => ({ index, start: 0, end: 0 }))
  const before = isVirtual ? (drawn[0]?.start ?? 0) - virtual.options.scrollMargin : 0
  const after = isVirtual
    ? virtual.getTotalSize() + virtual.options.scrollMargin - (drawn.at(-1)?.end ?? 0)
    : 0
  const classOf = ({ wideOnly, figures, tight }: Column<Row>) =>
    [wideOnly && 'is-wide-only', figures && 'is-figures', tight && 'is-nowrap'].filter(Boolean).join(' ')
  return (
    <table className="list-table" aria-label={label} aria-rowcount={rows.length + 1}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} scope="col" className={classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        <Space height={before} />
        {drawn.map(({ index }) => {
          const row = rows[index]
          if (row === undefined) return null
          return (
            <tr
              key={keyOf(row)}
              data-index={index}
              aria-rowindex={index + 2}
              ref={isVirtual ? virtual.measureElement : undefined}
            >
              {columns.map((column) => (
                <td key={column.title} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          )
        })}
        <Space height={after} />
      </tbody>
    </table>
  )
}

/** Stands for the rows that are not drawn. */
function Space({ height }: { height: number }) {
  if (height <= 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row of a table takes no focus
    <tr aria-hidden="true">
      <td className="list-space" style={{ height }} />
    </tr>
  )
}

/** A list in pages: its failure, its rows or what stands instead of them, and the button for more. */
export function PagedList<Row>({
  pages,
  empty,
  ...table
}: Omit<ListTableProps<Row>, 'rows'> & { pages: LivePages<Row>; empty: ReactNode }) {
  const { rows, loading, failure, more, loadingMore } = pages
  return (
    <section className="card" aria-label={table.label}>
      <FailureNote failure={failure} />
      {rows.length > 0 && <ListTable {...table} rows={rows} />}
      {rows.length === 0 && (loading ? <p className="empty">Loading…</p> : failure === undefined && empty)}
      {more && (
        <div className="card-foot">
          <button type="button" className="button" disabled={loadingMore} onClick={more}>
            {loadingMore ? 'Loading…' : 'Load more'}
          </button>
        </div>
      )}
    </section>
  )
}
