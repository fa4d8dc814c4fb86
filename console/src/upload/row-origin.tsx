import { type FormEvent, useState } from 'react'
import type { LineageEntry } from '../api/upload-types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Approvers } from '../parts/approvers.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count } from '../parts/format.ts'
import { OldNew } from '../parts/old-new.tsx'
import { Person } from '../parts/person.tsx'
import { shortId } from '../people.ts'
import { ACTION_LABELS, UNDO_LABELS } from './labels.ts'
import { isId, type Nameable, parentsOf, nameOf as planNameOf, textOf, whenOf } from './plan/values.ts'
import './row-origin.css'

type Key = Readonly<Record<string, unknown>>

/** A row of production: by its key, or by the id that Stagedoor gave it. */
export type NamedRow = { readonly table: string } & ({ readonly key: Key } | { readonly id: string })

/** The page of a row: where it comes from. */
export function rowAddress(row: NamedRow, workspace?: string): string {
  const named: Record<string, string> =
    'id' in row ? { table: row.table, id: row.id } : { table: row.table, key: JSON.stringify(row.key) }
  if (workspace !== undefined) named.workspace = workspace
  return `/rows?${new URLSearchParams(named)}`
}

interface Props {
  readonly workspace: string
  /** Table → the columns of its key. */
  readonly tables: ReadonlyMap<string, readonly string[]>
  /** The table that is chosen first; default: that of the row, else the first. */
  readonly table?: string | undefined
  readonly row: NamedRow | undefined
  ask(row: NamedRow): void
}

/** A production row by its key: every promotion that wrote it, from which line, what, and who approved it. */
export function RowOrigin({ workspace, row, ...form }: Props) {
  const named = row === undefined ? '' : rowAddress(row)
  return (
    <>
      {form.tables.size > 0 && <KeyForm key={named} row={row} {...form} />}
      {row !== undefined && <Writers key={`${workspace} ${named}`} workspace={workspace} row={row} />}
    </>
  )
}

function KeyForm({ tables, table: first, row, ask }: Omit<Props, 'workspace'>) {
  const [chosen, choose] = useState<string>()
  const table = chosen ?? row?.table ?? first ?? tables.keys().next().value!
  const given: Key = row !== undefined && 'key' in row && row.table === table ? row.key : {}
  const known = tables.get(table) ?? []
  // A link may name the row by the key of another dataset that writes the table.
  const columns =
    known.some((column) => !(column in given)) && row?.table === table && 'key' in row
      ? Object.keys(given)
      : known
  const names = tables.has(table) ? [...tables.keys()] : [table, ...tables.keys()]

  function find(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const key = columns.map((column) => [column, String(form.get(column) ?? '').trim() || null])
    ask({ table, key: Object.fromEntries(key) })
  }

  return (
    <form className="row-origin-form" onSubmit={find} aria-label="Where a row comes from">
      <span>Where does</span>
      {names.length > 1 ? (
        <select aria-label="Table" value={table} onChange={(event) => choose(event.target.value)}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      ) : (
        <code>{table}</code>
      )}
      {columns.map((column) => (
        <label key={`${table} ${column}`} className="key-part">
          <span>{column}</span>
          <input
            name={column}
            // A part of a key that a link has is empty in some tables.
            required={given[column] !== null}
            maxLength={1000}
            autoComplete="off"
            spellCheck={false}
            defaultValue={String(given[column] ?? '')}
          />
        </label>
      ))}
      <span>come from?</span>
      <button type="submit" className="button is-small">
        Find
      </button>
    </form>
  )
}

function Writers({ workspace, row }: { workspace: string; row: NamedRow }) {
  const lineage = useLiveQuery(['promotions', 'row', workspace, row], (api) =>
    api.uploads.rowLineage(
      workspace,
      row.table,
      'id' in row ? { id: row.id } : { key: JSON.stringify(row.key) },
    ),
  )
  const entries = lineage.data?.entries
  const name = entries?.map(nameIn).find((found) => found !== undefined) ?? nameOf(row)
  return (
    <>
      <FailureNote failure={lineage.failure} />
      {lineage.loading && <p className="empty">Loading…</p>}
      <div className={entries === undefined ? '' : 'row-origin'} role="status">
        {entries?.length === 0 && (
          <p>
            No file wrote <b>{name}</b>. It was there before, or somebody wrote it by other means.
          </p>
        )}
        {entries !== undefined && entries.length > 0 && (
          <ol>
            {entries.map((entry) => (
              <Writer key={`${entry.upload_id} ${entry.line}`} entry={entry} name={name} />
            ))}
          </ol>
        )}
      </div>
    </>
  )
}

/** What people call the row, and what it belongs to; undefined once line and plan are deleted. */
function nameIn({ row_type, line, row_key, label, fields }: LineageEntry): string | undefined {
  if (row_key === null || (label === null && row_key.length === 0)) return
  const target_key = Object.fromEntries(row_key.map(({ column, value }) => [column, value]))
  const row: Nameable = { row_type, row_number: line, row_key, target_key, label, before: null }
  const about = [whenOf(row), parentsOf(row, fields)].filter(Boolean).join(' · ')
  return about === '' ? planNameOf(row, fields) : `${planNameOf(row, fields)} (${about})`
}

/** What people call it stands first, ids of other rows last. */
function nameOf(row: NamedRow): string {
  if ('id' in row) return shortId(row.id)
  return Object.values(row.key)
    .sort((a, b) => Number(isId(a)) - Number(isId(b)))
    .map((value) => (isId(value) ? shortId(String(value)) : textOf(value)))
    .join(' · ')
}

function Writer({ entry, name }: { entry: LineageEntry; name: string }) {
  const { action, line, file_name, statement, approvers, undone_at, undone_by, undo_outcome, undo_reason } =
    entry
  return (
    <li>
      <b>{name}</b> {action === 'delete' ? 'deleted' : ACTION_LABELS[action]}
      {statement !== null
        ? ' by the statement '
        : line < 0
          ? ', as the file lacks it: '
          : ` by line ${count(line)} of `}
      <a className="link" href={planRowAddress(entry)}>
        {file_name}
      </a>
      , {statement === null ? 'uploaded' : 'proposed'} by <Person id={entry.uploaded_by} />
      {approvers.length > 0 && (
        <>
          , approved by <Approvers approvers={approvers} />
        </>
      )}
      , promoted by <Person id={entry.promoted_by} /> <Ago at={entry.promoted_at} />
      {undone_at !== null && undone_by !== null && (
        <>
          , <b>undone</b> by <Person id={undone_by} /> <Ago at={undone_at} />
          {undo_outcome !== null && ` (this row: ${UNDO_LABELS[undo_outcome] ?? undo_outcome})`}
          {undo_reason !== null && <>: {undo_reason}</>}
        </>
      )}
      {!undo_reason?.endsWith('.') && '.'}
      <Written entry={entry} />
      {entry.repairs.map((repair) => (
        <span key={`${repair.at} ${repair.column}`} className="row-origin-repair muted">
          {repair.column === null ? (
            repair.what === 'left_out' ? (
              'Skipped'
            ) : (
              'Used again'
            )
          ) : (
            <>
              {repair.column}: <OldNew old={repair.from || 'empty'} now={repair.to || 'empty'} />
            </>
          )}{' '}
          by <Person id={repair.by} />
        </span>
      ))}
    </li>
  )
}

/** The row in the plan that was approved; its rows are deleted with the images, the list of what it wrote stays. */
function planRowAddress({ upload_id, row_type, line, written }: LineageEntry): string {
  const view =
    written === null ? { tab: 'lineage' } : { tab: 'plan', table: row_type, show: 'all', line: String(line) }
  return `/uploads/${upload_id}?${new URLSearchParams(view)}`
}

function Written({ entry: { action, written } }: { entry: LineageEntry }) {
  if (written === null)
    return (
      <span className="row-origin-cells muted">
        What it wrote is no longer kept: the time to undo it is over.
      </span>
    )
  // Ids of other rows say nothing beside the name of the row; that one of them changed does.
  const cells =
    action === 'update'
      ? written
      : written.filter(({ from, to }) => (from ?? to) !== null && !isId(from ?? to))
  return (
    <span className="row-origin-cells">
      {cells.map(({ column, from, to }) => (
        <span key={column}>
          {column}{' '}
          {action === 'update' ? (
            <OldNew old={cellText(from)} now={cellText(to)} />
          ) : action === 'insert' ? (
            <ins>{cellText(to)}</ins>
          ) : (
            <del>{cellText(from)}</del>
          )}
        </span>
      ))}
    </span>
  )
}

const cellText = (value: unknown): string => (isId(value) ? shortId(String(value)) : textOf(value))
