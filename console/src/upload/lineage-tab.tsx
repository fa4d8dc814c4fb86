import { useCallback, useMemo } from 'react'
import type { LedgerRow, UploadDetail } from '../api/upload-types.ts'
import { type Column, Grid } from '../grid/grid.tsx'
import { usePages } from '../grid/use-pages.ts'
import { count } from '../parts/format.ts'
import { shortId } from '../people.ts'
import { useSession } from '../session/session.tsx'
import { ACTION_LABELS, UNDO_LABELS } from './labels.ts'
import { isId, textOf } from './plan/values.ts'
import { RowOrigin } from './row-origin.tsx'

const PAGE = 500

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
  const { upload_id: id, undone_at } = upload
  // An undo adds an outcome to every row, so the rows are loaded again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another undone_at means other outcomes
  const read = useCallback(
    (after: string | undefined) => api.uploads.lineage(id, { limit: PAGE, after }),
    [api, id, undone_at],
  )
  const pages = usePages(read)
  const columns = useMemo(() => ledgerColumns(undone_at !== null), [undone_at])
  return (
    <>
      <RowOrigin upload={upload} pages={pages} />
      <Grid
        label="Production rows and the lines they come from"
        columns={columns}
        pages={pages}
        rowHeight={35}
        empty={<p>No rows were written: everything was in production already.</p>}
      />
    </>
  )
}

function ledgerColumns(undone: boolean): Column<LedgerRow>[] {
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
      cell: ({ row: { original } }) =>
        original.target_id === null ? <Key value={original.target_key} /> : <code>{original.target_id}</code>,
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
