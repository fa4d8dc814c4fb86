import { type FormEvent, useEffect, useMemo, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { CellChange } from '../../api/upload-types.ts'
import type { ColumnEdit, LineFilter } from '../../api/uploads.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { count, counted } from '../../parts/format.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { useSession } from '../../session/session.tsx'
import type { CellEdit, Drafts } from '../problems/drafts.ts'
import { MAX_CELLS } from './block.ts'
import { Changes, changesText, editsOf, unsavedCells } from './changes.tsx'

export interface ReplaceStart {
  readonly column?: string | undefined
  readonly which: Which
  readonly from?: string
  readonly to?: string
}

interface Props {
  readonly upload: string
  /** Of the file, in its order. */
  readonly columns: readonly string[]
  readonly start: ReplaceStart
  /** The lines that the grid shows. */
  readonly filter: LineFilter
  readonly drafts: Drafts
  done(edits: readonly CellEdit[], which: Which): void
  close(): void
}

type Which = 'part' | 'text' | 'empty' | 'all'

/** In the select: every column of the file. */
const EVERY = ''
/** As many edits as one call takes. */
const MAX_COLUMNS = 100
/** Typing is settled before the cells are counted. */
const SETTLE_MS = 250

/** A text of a column, or of all, replaced by another; its empty cells filled; or all cells of the lines that are shown. */
export function ReplaceDialog({ upload, columns, start, filter, drafts, done, close }: Props) {
  const { api } = useSession()
  const [column, setColumn] = useState(
    start.column ?? (start.which === 'part' ? EVERY : (columns[0] ?? EVERY)),
  )
  const [which, setWhich] = useState<Which>(start.which)
  const [from, setFrom] = useState(start.from ?? '')
  const [to, setTo] = useState(start.to ?? '')
  const filtered = Object.values(filter).some((value) => value !== undefined)
  const [shownOnly, setShownOnly] = useState(filtered)
  const [found, setFound] = useState<{ key: string; changes: readonly CellChange[] }>()
  const [failure, setFailure] = useState<Failure>()
  const isFind = which === 'text' || which === 'part'
  const isComplete = isFind ? from !== '' && from !== to : which === 'empty' ? to !== '' : true
  const edits = useMemo(
    () =>
      (column === EVERY ? columns.slice(0, MAX_COLUMNS) : [column]).map(
        (name): ColumnEdit => ({
          column: name,
          ...(which !== 'all' && { from: which === 'empty' ? null : from }),
          to: to === '' ? null : to,
          ...(which === 'part' && { match: 'part' }),
          ...(shownOnly && filtered && { where: filter }),
        }),
      ),
    [column, columns, which, from, to, shownOnly, filtered, filter],
  )
  const key = isComplete ? JSON.stringify(edits) : undefined

  useEffect(() => {
    if (key === undefined) return
    let wanted = true
    const timer = setTimeout(() => {
      api.uploads.previewEdits(upload, JSON.parse(key), unsavedCells(drafts)).then(
        (changes) => {
          if (!wanted) return
          setFailure(undefined)
          setFound({ key, changes })
        },
        (thrown) => wanted && setFailure(asFailure(thrown)),
      )
    }, SETTLE_MS)
    return () => {
      wanted = false
      clearTimeout(timer)
    }
  }, [api, upload, drafts, key])
  const changes = found !== undefined && found.key === key ? found.changes : undefined

  function submit(event: FormEvent) {
    event.preventDefault()
    if (changes === undefined || changes.length === 0) return
    done(editsOf(changes, drafts), which)
  }

  return (
    <Dialog title="Find and replace" close={close}>
      <form onSubmit={submit} className="dialog-form">
        <p className="muted">
          In {shownOnly && filtered ? 'all lines that the filter shows' : 'all lines of the file'}, also those
          that are not loaded yet. Nothing is stored before you save.
        </p>
        <label className="choice">
          <span>Column</span>
          <select value={column} onChange={(event) => setColumn(event.target.value)}>
            <option value={EVERY}>All columns</option>
            {columns.map((header) => (
              <option key={header}>{header}</option>
            ))}
          </select>
        </label>
        <label className="choice">
          <span>Which cells</span>
          <select value={which} onChange={(event) => setWhich(event.target.value as Which)}>
            <option value="part">Cells that contain this text</option>
            <option value="text">Cells with exactly this text</option>
            <option value="empty">Empty cells</option>
            <option value="all">All cells</option>
          </select>
        </label>
        {isFind && (
          <label className="choice">
            <span>Find</span>
            <input
              className="mono"
              value={from}
              spellCheck={false}
              onChange={(event) => setFrom(event.target.value)}
            />
          </label>
        )}
        <label className="choice">
          <span>
            {isFind ? 'Replace by (nothing: it is deleted)' : which === 'empty' ? 'Fill with' : 'Set to'}
          </span>
          <input
            className="mono"
            value={to}
            spellCheck={false}
            onChange={(event) => setTo(event.target.value)}
          />
        </label>
        {filtered && (
          <label className="check">
            <input
              type="checkbox"
              checked={shownOnly}
              onChange={(event) => setShownOnly(event.target.checked)}
            />{' '}
            Only lines that the filter shows
          </label>
        )}
        {column === EVERY && columns.length > MAX_COLUMNS && (
          <p className="is-doubtful">
            Only the first {MAX_COLUMNS} of {count(columns.length)} columns are searched at once.
          </p>
        )}
        <p role="status">
          {!isComplete ? (
            <span className="muted">
              {isFind ? 'Give the text, and another one for it.' : 'Give the text that they get.'}
            </span>
          ) : changes === undefined ? (
            <span className="muted">{failure ? '' : 'Counting the cells…'}</span>
          ) : changes.length === 0 ? (
            <b>No cell changes.</b>
          ) : (
            <b>{changesText(changes)}</b>
          )}
        </p>
        {changes !== undefined && <Changes changes={changes} />}
        <RefusalNote failure={failure} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            className="button is-next"
            disabled={!changes || changes.length === 0 || changes.length > MAX_CELLS}
          >
            Change {counted(changes?.length ?? 0, 'cell')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
