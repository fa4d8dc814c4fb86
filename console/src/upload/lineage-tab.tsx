import { useCallback, useMemo, useState } from 'react'
import type { LedgerRow, UploadDetail } from '../api/upload-types.ts'
import { type Column, Grid } from '../grid/grid.tsx'
import { type Pages, usePages } from '../grid/use-pages.ts'
import { count } from '../parts/format.ts'
import { shortId } from '../people.ts'
import { useSession } from '../session/session.tsx'
import { ACTION_LABELS, UNDO_LABELS } from './labels.ts'
import { isId, type Nameable, nameOf, parentsOf, textOf, whenOf } from './plan/values.ts'
import { type NamedRow, RowOrigin, rowAddress } from './row-origin.tsx'

const PAGE = 500
const NO_FIELDS: readonly string[] = []
/** So many rows show which tables are known by a key. */
const SAMPLE = 200

/** Which production rows came from which line. */
export function LineageTab({ upload }: { upload: UploadDetail }) {
  if (upload.promoted_at !== null) return <Ledger upload={upload} />
  return (
    <div className="empty">
      <b>Not promoted yet.</b>
      <p>After promotion, every row that this file wrote is listed here with its line.</p>
    </div>
  )
}

function Ledger({ upload }: { upload: UploadDetail }) {
  const { api } = useSession()
  const { upload_id: id, workspace_id: workspace, undone_at } = upload
  const [row, ask] = useState<NamedRow>()
  // An undo adds an outcome to every row, so the rows are loaded again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another undone_at means other outcomes
  const read = useCallback(
    (after: string | undefined) => api.uploads.lineage(id, { limit: PAGE, after }),
    [api, id, undone_at],
  )
  const pages = usePages(read)
  const fields = upload.reading?.layout.fields ?? NO_FIELDS
  const columns = useMemo(
    () => ledgerColumns(workspace, fields, undone_at !== null),
    [workspace, fields, undone_at],
  )
  return (
    <>
      <RowOrigin workspace={workspace} tables={keysIn(pages)} row={row} ask={ask} />
      <Grid
        label="Production rows and the lines they come from"
        columns={columns}
        pages={pages}
        rowHeight={48}
        empty={<p>No rows were written: everything was in production already.</p>}
      />
    </>
  )
}

/** Table → the columns of its key, of tables whose rows people know by what the file gives. */
function keysIn(pages: Pages<LedgerRow>): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, readonly string[]>()
  for (let index = 0; index < Math.min(SAMPLE, pages.count); index += 1) {
    const row = pages.at(index)
    if (!row || row.target_key === null || keys.has(row.target)) continue
    if (!Object.values(row.target_key).some(isId)) keys.set(row.target, Object.keys(row.target_key))
  }
  return keys
}

function ledgerColumns(workspace: string, fields: readonly string[], undone: boolean): Column<LedgerRow>[] {
  const columns: Column<LedgerRow>[] = [
    {
      id: 'line',
      header: 'Line',
      size: 62,
      meta: { stays: true },
      cell: ({ row }) => (
        <span className="muted">{row.original.line < 0 ? '–' : count(row.original.line)}</span>
      ),
    },
    {
      id: 'row',
      header: 'Row',
      size: 180,
      meta: { grow: 1, stays: true },
      cell: ({ row: { original } }) => (
        <RowName row={original} fields={fields} address={rowAddress(rowOf(original), workspace)} />
      ),
    },
    { id: 'action', header: 'Action', size: 90, cell: ({ row }) => ACTION_LABELS[row.original.action] },
    { id: 'target', header: 'Table', size: 190, cell: ({ row }) => <code>{row.original.target}</code> },
  ]
  if (undone) {
    columns.push({
      id: 'undo',
      header: 'Undo',
      size: 220,
      meta: { grow: 1 },
      cell: ({ row }) => <Outcome row={row.original} />,
    })
  }
  return columns
}

function rowOf({ target, target_id, target_key }: LedgerRow): NamedRow {
  return target_id === null ? { table: target, key: target_key ?? {} } : { table: target, id: target_id }
}

interface RowNameProps {
  readonly row: LedgerRow
  readonly fields: readonly string[]
  readonly address: string
}

/** What people call the row, and what it belongs to. Its id or key, once its line and its plan are deleted. */
function RowName({ row, fields, address }: RowNameProps) {
  const named = nameable(row)
  const name = named && nameOf(named, fields)
  const about = named && [whenOf(named), parentsOf(named, fields)].filter(Boolean).join(' · ')
  return (
    <span className="what">
      <a className="link" href={address} title={`Where this row comes from: ${row.target_id ?? name}`}>
        {name ?? (row.target_id === null ? <Key value={row.target_key} /> : <code>{row.target_id}</code>)}
      </a>
      {about && <span className="tiny">{about}</span>}
    </span>
  )
}

function nameable({ row_type, line, row_key, label }: LedgerRow): Nameable | undefined {
  if (row_key === null || (label === null && row_key.length === 0)) return
  const target_key = Object.fromEntries(row_key.map(({ column, value }) => [column, value]))
  return { row_type, row_number: line, row_key, target_key, label, before: null }
}

/** Of a row without an id. What people know stands first, ids of other rows last. */
function Key({ value }: { value: Record<string, unknown> | null }) {
  const parts = Object.entries(value ?? {})
    .sort(([, a], [, b]) => Number(isId(a)) - Number(isId(b)))
    .map(([name, part]) => `${name} ${isId(part) ? shortId(String(part)) : textOf(part)}`)
  return <span title={JSON.stringify(value)}>{parts.join(', ')}</span>
}

function Outcome({ row }: { row: LedgerRow }) {
  if (row.undo_outcome === null) return <span className="muted">–</span>
  return (
    <span title={row.undo_reason ?? undefined}>
      <b>{UNDO_LABELS[row.undo_outcome] ?? row.undo_outcome}</b>{' '}
      {row.undo_reason !== null && <span className="tiny">{row.undo_reason}</span>}
    </span>
  )
}
