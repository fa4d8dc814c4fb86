import { type FormEvent, useEffect, useMemo, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { StagedRow, UploadDetail } from '../../api/upload-types.ts'
import type { LineFilter } from '../../api/uploads.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { count, counted } from '../../parts/format.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { useSession } from '../../session/session.tsx'
import type { CellEdit } from '../problems/drafts.ts'
import { type GridColumn, MAX_CELLS, type Paste, parseBlock, planPaste } from './block.ts'
import { Changes, changesText } from './changes.tsx'

export interface PasteStart {
  readonly line: number
  /** Its place among the columns. */
  readonly column: number
}

interface Props {
  readonly upload: UploadDetail
  readonly columns: readonly GridColumn[]
  readonly text: string
  readonly start: PasteStart
  /** Only lines that the grid shows are pasted over. */
  readonly filter: LineFilter
  /** A cell with what is edited and not saved. */
  textOf(row: StagedRow, column: string): string
  done(edits: readonly CellEdit[]): void
  close(): void
}

const PAGE = 1000
const MAX_SHOWN_CELLS = 5
/** A choice is settled before the lines are read. */
const SETTLE_MS = 200

/** A block from a spreadsheet over the lines of the file: what it changes and what does not fit, before anything is sent. */
export function PasteDialog({ upload, columns, text: given, start, filter, textOf, done, close }: Props) {
  const { api } = useSession()
  const { upload_id: id, reading } = upload
  const leaf = reading?.layout.leaf
  const [text, setText] = useState(given)
  const [line, setLine] = useState(String(start.line))
  const [column, setColumn] = useState(start.column)
  const [read, setRead] = useState<{ key: string; rows: readonly StagedRow[] }>()
  const [failure, setFailure] = useState<Failure>()
  const block = useMemo(() => parseBlock(text), [text])
  const first = /^\d+$/.test(line.trim()) ? Number(line) : Number.NaN
  // More lines than cells can be corrected at once are not worth reading.
  const needed = Math.min(block.length, MAX_CELLS)
  const key = Number.isNaN(first) || needed === 0 ? undefined : `${first} ${needed}`

  useEffect(() => {
    if (key === undefined) return
    let wanted = true
    const timer = setTimeout(async () => {
      try {
        const rows: StagedRow[] = []
        let after: string | undefined = String(Math.max(0, first - 1))
        while (wanted && rows.length < needed && after !== undefined) {
          const limit = Math.min(PAGE, needed - rows.length)
          const page = await api.uploads.rows(id, { row_type: leaf, ...filter, limit, after })
          rows.push(...page.rows)
          after = page.next === null ? undefined : String(page.next)
        }
        if (!wanted) return
        setFailure(undefined)
        setRead({ key, rows })
      } catch (thrown) {
        if (wanted) setFailure(asFailure(thrown))
      }
    }, SETTLE_MS)
    return () => {
      wanted = false
      clearTimeout(timer)
    }
  }, [api, id, leaf, filter, key, first, needed])

  const rows = read !== undefined && read.key === key ? read.rows : undefined
  const paste = useMemo(
    () => (rows === undefined ? undefined : planPaste(block, rows, columns, column, textOf)),
    [block, rows, columns, column, textOf],
  )
  const filtered = Object.values(filter).some((value) => value !== undefined)
  const tooMany = (paste?.changed.length ?? 0) > MAX_CELLS

  function submit(event: FormEvent) {
    event.preventDefault()
    if (paste === undefined || rows === undefined || paste.changed.length === 0 || tooMany) return
    const stored = new Map(rows.map((row) => [row.row_number, row.raw_payload]))
    done(
      paste.changed.map(({ line, column: name, to }) => ({
        line,
        column: name,
        base: stored.get(line)?.[name] ?? '',
        to,
      })),
    )
  }

  return (
    <Dialog title="Paste a block of cells" close={close}>
      <form onSubmit={submit} className="dialog-form paste-form">
        <p className="muted">
          Copy cells in a spreadsheet and paste them here or over a cell of the grid. Nothing changes before
          you say so below, and nothing is stored before you save.
        </p>
        <label className="choice">
          <span>Block</span>
          <textarea
            className="mono"
            rows={Math.min(6, Math.max(3, block.length))}
            value={text}
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <div className="paste-start">
          <label className="choice">
            <span>From line</span>
            <input
              className="line-input"
              inputMode="numeric"
              autoComplete="off"
              value={line}
              onChange={(event) => setLine(event.target.value)}
            />
          </label>
          <label className="choice">
            <span>From column</span>
            <select value={column} onChange={(event) => setColumn(Number(event.target.value))}>
              {columns.map(({ name, readOnly }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                <option key={index} value={index}>
                  {readOnly ? `${name} (cannot be changed)` : name}
                </option>
              ))}
            </select>
          </label>
        </div>
        {block.length === 0 ? (
          <p className="muted" role="status">
            There is nothing to paste yet.
          </p>
        ) : Number.isNaN(first) ? (
          <p className="is-wrong" role="status">
            The line must be a number.
          </p>
        ) : (
          <Preview paste={paste} rows={rows} first={first} filtered={filtered} tooMany={tooMany} />
        )}
        <RefusalNote failure={failure} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            className="button is-next"
            disabled={tooMany || !paste || paste.changed.length === 0}
          >
            Change {counted(paste?.changed.length ?? 0, 'cell')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface PreviewProps {
  readonly paste: Paste | undefined
  readonly rows: readonly StagedRow[] | undefined
  readonly first: number
  readonly filtered: boolean
  readonly tooMany: boolean
}

function Preview({ paste, rows, first, filtered, tooMany }: PreviewProps) {
  if (paste === undefined || rows === undefined)
    return (
      <p className="muted" role="status">
        Comparing with the lines…
      </p>
    )
  const { changed, same, leftOver, takenIn } = paste
  const begins = rows[0]?.row_number
  const left = leftOver.reduce((sum, { cells }) => sum + cells.length, 0)
  return (
    <div className="paste-preview">
      <p role="status">
        <b>{changed.length === 0 ? 'No cell changes.' : changesText(changed)}</b>
        {same > 0 && ` ${counted(same, 'cell has', 'cells have')} this text already.`}
        {left > 0 && ` ${counted(left, 'cell does', 'cells do')} not fit.`}
      </p>
      {begins !== undefined && begins !== first && (
        <p className="is-doubtful">
          Line {count(first)} is not among the lines{filtered ? ' that are shown' : ''}: the block begins at
          line {count(begins)}.
        </p>
      )}
      {filtered && <p className="muted">Only lines that the filter shows are pasted over.</p>}
      {tooMany && (
        <p className="is-wrong" role="alert">
          At most {count(MAX_CELLS)} cells can be changed at once. Paste the block in parts, or upload a
          corrected file.
        </p>
      )}
      <Changes changes={changed} />
      {takenIn.length > 0 && (
        <p className="is-doubtful">
          {takenIn.length === 1 ? `Line ${count(takenIn[0]!)} was` : `${count(takenIn.length)} lines were`}{' '}
          skipped and will be checked and used again.
        </p>
      )}
      {leftOver.length > 0 && (
        <>
          <h3>Does not fit, and is not pasted</h3>
          <ul className="paste-left">
            {leftOver.map(({ reason, cells }) => (
              <li key={reason}>
                {counted(cells.length, 'cell')} {reason}: <span className="mono">{listed(cells)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

function listed(cells: readonly string[]): string {
  const shown = cells.slice(0, MAX_SHOWN_CELLS).map((cell) => (cell === '' ? 'empty' : cell))
  const more = cells.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${count(more)} more` : shown.join(', ')
}
