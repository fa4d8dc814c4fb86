import type { PlanRow, Reading } from '../../api/upload-types.ts'
import type { Column, GridNotes } from '../../grid/grid.tsx'
import type { Pages } from '../../grid/use-pages.ts'
import { count } from '../../parts/format.ts'
import { OldNew } from '../../parts/old-new.tsx'
import { ACTION_LABELS } from '../labels.ts'
import {
  dependentsText,
  isId,
  moneyIn,
  NAME_FIELD,
  nameOf,
  namesFor,
  ownKeyOf,
  parentsOf,
  textOf,
  whenOf,
} from './values.ts'

/** So many rows show which columns matter; looking at all would cost more with every page. */
const SAMPLE = 200

/**
 * The columns that differ come first, then those that are written; keys and ids of other rows are left out, since
 * the name says what the row is.
 */
export interface Found {
  readonly names: readonly string[]
  /** Those that hold an old and a new value, and so need the room of two. */
  readonly changed: ReadonlySet<string>
  readonly figures: ReadonlySet<string>
  /** Columns of the key by which the rows are called. */
  readonly key: readonly string[]
}

export function columnsIn(pages: Pages<PlanRow>, fields: readonly string[]): Found {
  const changed = new Map<string, number>()
  const written = new Set<string>()
  const figures = new Set<string>()
  const keys = new Set<string>()
  /** Columns with the name of a row that does not bear it, such as a new row of a statement, which has no line. */
  const unnamed = new Set<string>()
  for (let index = 0; index < Math.min(SAMPLE, pages.count); index += 1) {
    const row = pages.at(index)
    for (const { column } of row ? ownKeyOf(row) : []) keys.add(column)
    for (const name of row?.changed ?? []) changed.set(name, (changed.get(name) ?? 0) + 1)
    // Of a row to delete, what it holds.
    const image = row?.action === 'delete' ? row.before : row?.after
    for (const [name, value] of Object.entries(image ?? {})) {
      const key = keys.has(name) || (row?.target_key !== null && name in (row?.target_key ?? {}))
      const isNamed = row?.names?.[name] !== undefined
      if (typeof value === 'number' && !isNamed) figures.add(name)
      if (row && value !== null && NAME_FIELD.test(name) && !namesFor(row, fields).includes(String(value)))
        unnamed.add(name)
      if (!key && value !== null && (isNamed || !isId(value)) && name !== 'platform') written.add(name)
    }
  }
  const place = (name: string) => {
    const index = fields.indexOf(name)
    return index === -1 ? fields.length : index
  }
  // Beside its key the row already bears its name.
  const isShown = (name: string) => keys.size > 0 && NAME_FIELD.test(name) && !unnamed.has(name)
  const rest = [...written].filter((name) => !changed.has(name) && !isShown(name))
  const inOrder = (some: Iterable<string>) => [...some].sort((a, b) => place(a) - place(b))
  return {
    names: [...inOrder(changed.keys()), ...inOrder(rest)],
    changed: new Set(changed.keys()),
    figures,
    key: [...keys],
  }
}

const ACTION: Column<PlanRow> = {
  id: 'action',
  header: 'Action',
  size: 112,
  cell: ({ row }) => (
    <span className={row.original.action === 'delete' ? 'is-wrong' : 'muted'}>
      {ACTION_LABELS[row.original.action]}
    </span>
  ),
}

/** On a phone: what it is, and below it what changes, so that the change itself is in sight. */
export function phoneColumns(
  { names, changed }: Found,
  reading: Reading | null,
  notes: GridNotes<PlanRow> | undefined,
): Column<PlanRow>[] {
  const fields = reading?.layout.fields ?? []
  const money = moneyIn(reading)
  return [
    {
      id: 'line',
      header: 'Line',
      size: 62,
      cell: ({ row }) => <LineNumber row={row.original} />,
    },
    {
      id: 'change',
      header: 'What changes',
      size: 200,
      meta: { grow: 1 },
      cell: ({ row: { original: row } }) => (
        <span className="stacked">
          <What row={row} fields={fields} />
          {names
            .filter((name) =>
              row.action === 'update'
                ? row.changed?.includes(name)
                : (row.action === 'delete' ? row.before : row.after)?.[name] != null,
            )
            .map((name) => (
              <span key={name} className={changed.has(name) ? 'is-change' : undefined}>
                <span className="tiny">{name}</span>{' '}
                <Change row={row} column={name} decimals={money.get(name)} />{' '}
                {notes?.mark(row, `column-${name}`, true)}
              </span>
            ))}
        </span>
      ),
    },
  ]
}

interface Layout {
  /** Rows with different actions stand beneath each other. */
  readonly mixed: boolean
  /** Of a column that changes, the old values have a column of their own beside the new ones. */
  readonly isSplit: boolean
}

export function planColumns(
  { names, changed, figures, key }: Found,
  reading: Reading | null,
  { mixed, isSplit }: Layout,
): Column<PlanRow>[] {
  const fields = reading?.layout.fields ?? []
  const money = moneyIn(reading)
  return [
    {
      id: 'line',
      header: 'Line',
      size: 84,
      meta: { stays: true },
      cell: ({ row }) => <LineNumber row={row.original} />,
    },
    {
      id: 'what',
      header: key.join(' · ') || 'What',
      size: 200,
      meta: { grow: 2, stays: true },
      cell: ({ row }) => <What row={row.original} fields={fields} />,
    },
    ...(mixed ? [ACTION] : []),
    ...names.flatMap((name): Column<PlanRow>[] =>
      isSplit && changed.has(name)
        ? (['before', 'after'] as const).map((side) => ({
            id: `${side}-${name}`,
            header: side === 'before' ? `${name}, now` : `${name}, new`,
            size: 120,
            meta: { figures: figures.has(name), grow: 1 },
            cell: ({ row }) => (
              <OneSide row={row.original} column={name} decimals={money.get(name)} side={side} />
            ),
          }))
        : [
            {
              id: `column-${name}`,
              header: name,
              size: changed.has(name) ? 208 : 112,
              meta: { figures: figures.has(name), grow: 1 },
              cell: ({ row }) => <Change row={row.original} column={name} decimals={money.get(name)} />,
            },
          ],
    ),
  ]
}

/** The column of the data that a column of the grid shows; null: the row itself; undefined: neither. */
export function dataColumn(id: string): string | null | undefined {
  return id === 'line' ? null : /^(?:column|before|after)-(.*)$/s.exec(id)?.[1]
}

/** A link to this very row, to send to somebody. A row that the file lacks has no line. */
function LineNumber({ row: { row_number, row_type } }: { row: PlanRow }) {
  if (row_number < 0) return <span className="muted">–</span>
  const address = new URLSearchParams({ tab: 'plan', table: row_type, show: 'all', line: String(row_number) })
  return (
    <a className="line-link" href={`${location.pathname}?${address}`} title="A link to this row">
      {count(row_number)}
    </a>
  )
}

function What({ row, fields }: { row: PlanRow; fields: readonly string[] }) {
  const name = nameOf(row, fields)
  const gone = row.action === 'delete'
  const dependents = row.dependents === null ? '' : `with it: ${dependentsText(row.dependents)}`
  const about = row.reason ?? [whenOf(row), parentsOf(row, fields), dependents].filter(Boolean).join(' · ')
  return (
    <span className="what" title={`${name}\n${about}`}>
      <span>{gone ? <del className="is-gone">{name}</del> : name}</span>
      <span className={row.action === 'refused' || gone ? 'tiny is-wrong' : 'tiny'}>
        {about || ACTION_LABELS[row.action]}
      </span>
    </span>
  )
}

interface ChangeProps {
  readonly row: PlanRow
  readonly column: string
  readonly decimals: number | undefined
}

function Change({ row, column, decimals }: ChangeProps) {
  const names = row.names?.[column]
  if (names) return <NamedChange row={row} column={column} names={names} />
  const after = row.after?.[column]
  if (row.action === 'insert') return <Value value={after} decimals={decimals} />
  if (row.action === 'delete')
    return row.before?.[column] == null ? (
      <Value value={null} decimals={decimals} />
    ) : (
      <del className="is-gone">{textOf(row.before[column], decimals)}</del>
    )
  if (row.changed?.includes(column)) {
    return <OldNew old={textOf(row.before?.[column], decimals)} now={textOf(after, decimals)} />
  }
  return <Value value={after ?? row.before?.[column]} decimals={decimals} />
}

/** The old or the new value of a cell; coloured where it changes. */
function OneSide({ row, column, decimals, side }: ChangeProps & { readonly side: 'before' | 'after' }) {
  const isChanged =
    row.changed?.includes(column) === true || row.action === 'insert' || row.action === 'delete'
  const image = side === 'before' ? row.before : row.after
  const value = image?.[column] ?? (isChanged ? undefined : row.before?.[column])
  const text = row.names?.[column]?.[side] ?? (value == null ? undefined : textOf(value, decimals))
  if (text === undefined) return <span className="muted">–</span>
  if (!isChanged) return text
  return side === 'before' ? <del>{text}</del> : <ins>{text}</ins>
}

/** What the row refers to is called by its name; the id is a detail below it. */
function NamedChange({
  row,
  column,
  names,
}: Pick<ChangeProps, 'row' | 'column'> & { readonly names: NonNullable<PlanRow['names']>[string] }) {
  const { action, changed } = row
  const isChange = action === 'update' && changed?.includes(column) === true
  const nameOfImage = (image: PlanRow['after'], name: string | null) => name ?? textOf(image?.[column])
  const before = nameOfImage(row.before, names.before)
  const after = nameOfImage(row.after, names.after)
  const ids = [isChange || action === 'delete' ? row.before : null, action === 'delete' ? null : row.after]
    .map((image) => image?.[column])
    .filter((id) => id !== null && id !== undefined)
    .map((id) => String(id))
  return (
    <span className="what">
      <span>
        {isChange ? (
          <OldNew old={before} now={after} />
        ) : action === 'delete' ? (
          <del className="is-gone">{before}</del>
        ) : (
          after
        )}
      </span>
      <span className="tiny">{ids.length > 0 && `id ${ids.join(' → ')}`}</span>
    </span>
  )
}

function Value({ value, decimals }: { value: unknown; decimals: number | undefined }) {
  if (value === undefined || value === null) return <span className="muted">–</span>
  return textOf(value, decimals)
}
