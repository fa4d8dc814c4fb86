import { type FormEvent, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { LedgerRow, LineageEntry, UploadDetail } from '../api/upload-types.ts'
import type { Pages } from '../grid/use-pages.ts'
import { Ago } from '../parts/ago.tsx'
import { count } from '../parts/format.ts'
import { OldNew } from '../parts/old-new.tsx'
import { Person } from '../parts/person.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useSession } from '../session/session.tsx'
import { ACTION_LABELS } from './labels.ts'
import { isId } from './plan/values.ts'

/** So many rows show which tables are known by a key. */
const SAMPLE = 200

/** A production row by its key: every file that wrote it, from which line, and who approved it. */
export function RowOrigin({ upload, pages }: { upload: UploadDetail; pages: Pages<LedgerRow> }) {
  const { api } = useSession()
  const [target, setTarget] = useState<string>()
  const [found, setFound] = useState<{ name: string; entries: readonly LineageEntry[] }>()
  const [failure, setFailure] = useState<Failure>()
  const keys = keysIn(pages)
  const table = target ?? keys.keys().next().value
  const key = table === undefined ? undefined : keys.get(table)
  if (table === undefined || key === undefined) return null

  async function find(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const values = Object.entries(key!).map(([column, example]): [string, unknown] => {
      const text = String(form.get(column) ?? '').trim()
      return [column, typeof example === 'number' && /^-?\d{1,15}$/.test(text) ? Number(text) : text]
    })
    setFailure(undefined)
    try {
      const { entries } = await api.uploads.rowLineage(
        upload.workspace_id,
        table!,
        JSON.stringify(Object.fromEntries(values)),
      )
      setFound({ name: values.map(([, value]) => String(value)).join(' · '), entries })
    } catch (thrown) {
      setFound(undefined)
      setFailure(asFailure(thrown))
    }
  }

  return (
    <>
      <form className="filters" onSubmit={find} aria-label="Where a row comes from">
        <span>Where does</span>
        {keys.size > 1 ? (
          <select aria-label="Table" value={table} onChange={(event) => setTarget(event.target.value)}>
            {[...keys.keys()].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        ) : (
          <code>{table}</code>
        )}
        {Object.keys(key).map((column) => (
          <label key={column} className="key-part">
            <span>{column}</span>
            <input name={column} required autoComplete="off" spellCheck={false} />
          </label>
        ))}
        <span>come from?</span>
        <button type="submit" className="button is-small">
          Find
        </button>
      </form>
      <RefusalNote failure={failure} />
      {found && (
        <div className="origin" role="status">
          {found.entries.length === 0 ? (
            <p>
              No file wrote <b>{found.name}</b>. It was there before, or somebody wrote it by other means.
            </p>
          ) : (
            <ol>
              {found.entries.map((entry) => (
                <li key={`${entry.upload_id} ${entry.line}`}>
                  <b>{found.name}</b> {ACTION_LABELS[entry.action]}
                  {entry.line < 0 ? ', as the file lacks it: ' : ` by line ${count(entry.line)} of `}
                  <a className="link" href={`/uploads/${entry.upload_id}`}>
                    {entry.file_name}
                  </a>
                  , uploaded by <Person id={entry.uploaded_by} />
                  {entry.approved_by !== null && (
                    <>
                      , approved by <Person id={entry.approved_by} />
                    </>
                  )}
                  , promoted <Ago at={entry.promoted_at} />
                  {entry.undone_at !== null && (
                    <>
                      , <b>undone</b> <Ago at={entry.undone_at} />
                    </>
                  )}
                  .
                  {entry.repairs.map((repair) => (
                    <span key={`${repair.at} ${repair.column}`} className="origin-repair muted">
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
              ))}
            </ol>
          )}
        </div>
      )}
    </>
  )
}

/** Table → the key of a row of it, of tables whose rows people know by what the file gives. */
function keysIn(pages: Pages<LedgerRow>): ReadonlyMap<string, Record<string, unknown>> {
  const keys = new Map<string, Record<string, unknown>>()
  for (let index = 0; index < Math.min(SAMPLE, pages.count); index += 1) {
    const row = pages.at(index)
    if (!row || row.target_key === null || keys.has(row.target)) continue
    if (!Object.values(row.target_key).some(isId)) keys.set(row.target, row.target_key)
  }
  return keys
}
