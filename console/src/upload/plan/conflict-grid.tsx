import { useCallback, useMemo } from 'react'
import type { PlanRow, StaleRow, UploadDetail } from '../../api/upload-types.ts'
import { type Column, Grid } from '../../grid/grid.tsx'
import { type Pages, usePages } from '../../grid/use-pages.ts'
import { Chip } from '../../parts/chip.tsx'
import { useNarrow } from '../../parts/use-narrow.ts'
import { useSession } from '../../session/session.tsx'
import { CONFLICT_WORDS } from '../labels.ts'
import { isId, moneyIn, nameOf, parentsOf, textOf, whenOf } from './values.ts'

const PAGE = 100

interface Props {
  readonly upload: UploadDetail
  /** Without rows in which both changes can live. */
  readonly onlyConflicts: boolean
}

/** The rows that somebody changed since the plan was made: per cell what the plan was made on, what it would write, and what is there now. */
export function ConflictGrid({ upload, onlyConflicts }: Props) {
  const { api } = useSession()
  const { upload_id: id, reading } = upload
  const read = useCallback(
    async (after: string | undefined) => {
      const { items, next } = await api.uploads.stalePlan(id, {
        conflicts: onlyConflicts,
        limit: PAGE,
        after,
      })
      return { rows: items, next }
    },
    [api, id, onlyConflicts],
  )
  const pages = usePages(read)
  const phone = useNarrow(560)
  const columns = useMemo(() => columnsOf(pages, reading, phone), [pages, reading, phone])
  return (
    <Grid
      label="Rows that changed in production"
      columns={columns}
      pages={pages}
      rowHeight={phone ? 150 : 84}
      measured
      empty={
        <p>{onlyConflicts ? 'No conflicts: both changes can live.' : 'Production is as the plan saw it.'}</p>
      }
      toneOf={() => 'is-tall'}
    />
  )
}

function columnsOf(
  pages: Pages<StaleRow>,
  reading: UploadDetail['reading'],
  phone: boolean,
): Column<StaleRow>[] {
  const fields = reading?.layout.fields ?? []
  const money = moneyIn(reading)
  const names = cellsIn(pages)
  const line: Column<StaleRow> = {
    id: 'line',
    header: 'Line',
    size: phone ? 56 : 72,
    meta: { stays: !phone },
    cell: ({ row }) => (row.original.line < 0 ? <span className="muted">–</span> : row.original.line),
  }
  if (phone)
    return [
      line,
      {
        id: 'row',
        header: 'What changed',
        size: 200,
        meta: { grow: 1 },
        cell: ({ row: { original: row } }) => (
          <span className="stacked">
            <RowName row={row} fields={fields} />
            <Kind row={row} />
            {touched(row).map((column) => (
              <span key={column}>
                <span className="tiny">{column}</span>
                <Three row={row} column={column} decimals={money.get(column)} />
              </span>
            ))}
          </span>
        ),
      },
    ]
  return [
    line,
    {
      id: 'what',
      header: 'Row',
      size: 200,
      meta: { grow: 2, stays: true },
      cell: ({ row }) => <RowName row={row.original} fields={fields} />,
    },
    { id: 'kind', header: 'Conflict', size: 168, cell: ({ row }) => <Kind row={row.original} /> },
    ...names.map(
      (name): Column<StaleRow> => ({
        id: `cell-${name}`,
        header: name,
        size: 150,
        meta: { grow: 1 },
        cell: ({ row }) => <Three row={row.original} column={name} decimals={money.get(name)} />,
      }),
    ),
  ]
}

/** So many rows show which columns matter. */
const SAMPLE = 200

/** Columns that somebody changed: those of both first, then theirs, then yours. */
function cellsIn(pages: Pages<StaleRow>): string[] {
  const weight = new Map<string, number>()
  for (let index = 0; index < Math.min(SAMPLE, pages.count); index += 1) {
    const row = pages.at(index)
    for (const column of row ? touched(row) : []) {
      const isTheirs = row?.theirs.includes(column) || row?.now === null
      const isBoth = isTheirs && row?.yours.includes(column)
      weight.set(column, Math.max(weight.get(column) ?? 0, isBoth ? 3 : isTheirs ? 2 : 1))
    }
  }
  return [...weight].sort(([, one], [, other]) => other - one).map(([column]) => column)
}

/** The cells of a row that differ, without ids that nobody can name. */
function touched(row: StaleRow): string[] {
  const columns = [...new Set([...row.theirs, ...row.yours])]
  return columns.filter(
    (column) =>
      !(column in row.key) &&
      (row.names?.[column] !== undefined ||
        ![row.before, row.planned, row.now].some((image) => isId(image?.[column]))),
  )
}

function RowName({ row, fields }: { row: StaleRow; fields: readonly string[] }) {
  const named = { ...row, row_number: row.line, target_key: row.key } as unknown as PlanRow
  const about = [row.target_table.replace(/^public\./, ''), whenOf(named), parentsOf(named, fields)]
    .filter(Boolean)
    .join(' · ')
  const name = nameOf(named, fields)
  return (
    <span className="what" title={`${name}\n${about}`}>
      <span>{name}</span>
      <span className="tiny">{about}</span>
    </span>
  )
}

function Kind({ row: { conflict } }: { row: StaleRow }) {
  const { short, long } = CONFLICT_WORDS[conflict]
  return (
    <span title={long}>
      <Chip tone={conflict === 'other_cells' ? 'ok' : conflict === 'old_value' ? 'held' : 'bad'}>
        {short}
      </Chip>
    </span>
  )
}

interface CellProps {
  readonly row: StaleRow
  readonly column: string
  readonly decimals: number | undefined
}

/** Base, mine, theirs beneath each other; one value where nobody changed the cell. */
function Three({ row, column, decimals }: CellProps) {
  const { before, planned, now, yours, theirs } = row
  const text = (image: 'before' | 'planned' | 'now') => {
    const name = row.names?.[column]?.[image]
    const held = row[image]
    if (name !== undefined) return name
    return held === null ? 'no row' : textOf(held[column], decimals)
  }
  const isYours = yours.includes(column)
  const isTheirs = theirs.includes(column) || now === null
  if (!isYours && !isTheirs) return <span className="muted">{text(now === null ? 'before' : 'now')}</span>
  // A column that the file does not write keeps what is there.
  const writes = planned !== null && column in planned
  const differ = isTheirs && writes && text('planned') !== text('now')
  return (
    <span className={differ ? 'three is-conflict' : 'three'}>
      <span>
        <span className="tiny three-side">base</span> {before === null ? 'no row' : text('before')}
      </span>
      <span>
        <span className="tiny three-side">mine</span>{' '}
        {isYours ? <ins>{text('planned')}</ins> : writes ? text('planned') : 'not written'}
      </span>
      <span>
        <span className="tiny three-side">theirs</span> {isTheirs ? <b>{text('now')}</b> : text('now')}
      </span>
    </span>
  )
}
