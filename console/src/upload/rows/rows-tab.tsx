import { type FormEvent, type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { StagedRow, UploadDetail } from '../../api/upload-types.ts'
import type { LineFilter } from '../../api/uploads.ts'
import { useSearchKey } from '../../frame/search-key.ts'
import type { Cell as GridCell, Range } from '../../grid/active-cell.ts'
import { type Column, Grid, type GridHandle } from '../../grid/grid.tsx'
import { usePages } from '../../grid/use-pages.ts'
import { Chip, type Tone } from '../../parts/chip.tsx'
import { count, counted } from '../../parts/format.ts'
import { useSession } from '../../session/session.tsx'
import { type CellEdit, useDrafts } from '../problems/drafts.ts'
import { RepairNote } from '../problems/repair-note.tsx'
import { type Correction, useRepairs } from '../problems/use-repairs.ts'
import { type GridColumn, isBlock } from '../repair/block.ts'
import { EditDialog, type OpenEdit } from '../repair/edit-dialog.tsx'
import type { ReplaceStart } from '../repair/replace-dialog.tsx'
import { EditBar, editKeys } from './edit-bar.tsx'
import { EditedCell, type OpenCell, RowsEditing } from './edited-cell.tsx'
import { ProblemFilters, useProblemKinds } from './line-filters.tsx'

const PAGE = 500

const VERDICTS: Record<StagedRow['validation_status'], { tone: Tone; word: string }> = {
  valid: { tone: 'ok', word: 'valid' },
  invalid: { tone: 'bad', word: 'invalid' },
  skipped: { tone: 'stale', word: 'skipped' },
  pending: { tone: 'work', word: 'pending' },
}

/** Every line as it stands in the file, each of its cells editable: typed, filled, pasted, replaced, or from a corrected file. */
export function RowsTab({ upload, take }: { upload: UploadDetail; take(upload: UploadDetail): void }) {
  const { api } = useSession()
  const [filter, setFilter] = useState<LineFilter>({})
  const [from, setFrom] = useState<number>()
  // Grows when lines changed that are not read again in place.
  const [edition, setEdition] = useState(0)
  const search = useSearchKey()
  const { upload_id: id, reading, columns: names } = upload
  const leaf = reading?.layout.leaf
  // biome-ignore lint/correctness/useExhaustiveDependencies: another edition is read from its beginning
  const read = useCallback(
    (after: string | undefined) =>
      api.uploads.rows(id, {
        row_type: leaf,
        ...filter,
        limit: PAGE,
        after: after ?? (from === undefined ? undefined : String(Math.max(0, from - 1))),
      }),
    [api, id, leaf, filter, from, edition],
  )
  const pages = usePages(read)
  const drafts = useDrafts(id)
  const kinds = useProblemKinds(upload)
  const repairs = useRepairs(upload, drafts, take, readAgain)
  const columns = useMemo(() => rowColumns(names), [names])
  const gridColumns = useMemo(
    () => [...READ_ONLY, ...names.map((name) => ({ name, readOnly: false }))],
    [names],
  )
  const grid = useRef<GridHandle>(null)
  const active = useRef<GridCell>({ row: 0, column: 0 })
  const range = useRef<Range>({ from: active.current, to: active.current })
  const [open, setOpen] = useState<OpenCell>()
  const [edit, setEdit] = useState<OpenEdit>()
  const [refused, setRefused] = useState('')
  const { allowed, why } = upload.may.repair

  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change of the question that matters
  useEffect(() => grid.current?.top(), [filter, from])

  const textOf = useCallback(
    (row: StagedRow, column: string) =>
      drafts.get(row.row_number, column)?.text ?? row.raw_payload[column] ?? '',
    [drafts],
  )

  /** In place, where that is one page: otherwise one would stand at the first line again. */
  async function readAgain(corrections: readonly Correction[]) {
    const lines = corrections.map(({ line }) => line)
    const [first = 0, last = 0] = [lines[0], lines.at(-1)]
    if (last - first >= MAX_RELOADED) return setEdition((now) => now + 1)
    try {
      const limit = last - first + 1
      const page = await api.uploads.rows(id, { row_type: leaf, limit, after: String(first - 1) })
      for (const row of page.rows) pages.replace(({ row_number }) => row_number === row.row_number, [row])
    } catch {
      setEdition((now) => now + 1)
    }
  }

  function goToLine(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const line = Number(form.get('line'))
    setFrom(Number.isInteger(line) && line > 0 ? line : undefined)
    const contains = String(form.get('cell-text') ?? '') || undefined
    if (contains !== filter.contains) setFilter({ ...filter, contains })
  }

  // Edits: each of them one step, which undo takes back as a whole.

  function mayEdit(): boolean {
    setRefused(allowed ? '' : (why ?? 'The lines of this upload cannot be changed.'))
    return allowed
  }

  /** The cell at this place, if there is one and it can be changed. */
  function cellAt({ row, column }: GridCell): { row: StagedRow; name: string } | undefined {
    const found = pages.at(row)
    const place = gridColumns[column]
    if (found === undefined || place === undefined || place.readOnly) return undefined
    return place.name in found.raw_payload ? { row: found, name: place.name } : undefined
  }

  function edited(row: StagedRow, name: string, to: string): CellEdit {
    return { line: row.row_number, column: name, base: row.raw_payload[name] ?? '', to }
  }

  /** `to` of every cell of the block that can be changed. */
  function editBlock(block: Range, label: string, to: (cell: GridCell) => string | undefined) {
    if (!mayEdit()) return
    const edits: CellEdit[] = []
    for (let row = block.from.row; row <= block.to.row; row += 1)
      for (let column = block.from.column; column <= block.to.column; column += 1) {
        const cell = cellAt({ row, column })
        const text = cell && to({ row, column })
        if (cell && text !== undefined) edits.push(edited(cell.row, cell.name, text))
      }
    const cells = drafts.edit(label, edits)
    if (cells === 0) setRefused('None of these cells changes: they have this text, or cannot be changed.')
  }

  /** The first line of the block over the others; of a single cell, the one above it. */
  function fillDown(block: Range) {
    const single = block.from.row === block.to.row
    const first = single ? block.from.row - 1 : block.from.row
    const rows = single ? block : { ...block, from: { ...block.from, row: block.from.row + 1 } }
    editBlock(rows, 'filling down', ({ column }) => {
      const above = cellAt({ row: first, column })
      return above && textOf(above.row, above.name)
    })
  }

  function openCell(cell: GridCell, typed?: string) {
    const found = cellAt(cell)
    if (!found) {
      const row = pages.at(cell.row)
      const name = gridColumns[cell.column]
      if (allowed && row && name && !name.readOnly && typed === undefined)
        setRefused(`Line ${row.row_number} has no cell there. Edit the whole line under Problems.`)
      return
    }
    if (!mayEdit()) return
    setOpen({
      line: found.row.row_number,
      column: found.name,
      text: typed ?? textOf(found.row, found.name),
      selected: typed === undefined,
    })
  }

  function onKey(event: KeyboardEvent, block: Range) {
    range.current = block
    if (event.target instanceof HTMLInputElement) return
    const { key } = event
    const isCommand = event.ctrlKey || event.metaKey
    if (isCommand && key.toLowerCase() === 'd') fillDown(block)
    else if (isCommand && key.toLowerCase() === 'h') replace()
    else if (isCommand || event.altKey) return
    else if (key === 'Enter' || key === 'F2') openCell(active.current)
    else if (key === 'Delete' || key === 'Backspace') editBlock(block, 'emptying cells', () => '')
    else if (key.length === 1 && key !== '/' && key !== '?') openCell(active.current, key)
    else return
    event.preventDefault()
  }

  function close(saved: string | undefined, to: 'stay' | 'down' | 'right' | undefined) {
    const { row, column } = active.current
    const cell = cellAt(active.current)
    setOpen(undefined)
    if (saved !== undefined && open !== undefined && cell && cell.row.row_number === open.line)
      drafts.edit(`${open.column} of line ${open.line}`, [edited(cell.row, open.column, saved)])
    if (to !== undefined)
      grid.current?.focus(to === 'down' ? row + 1 : row, to === 'right' ? column + 1 : column)
  }

  function paste(text: string, { row, column }: GridCell, block?: Range) {
    if (!mayEdit()) return
    if (text !== '' && !isBlock(text) && block && cellAt({ row, column }))
      return editBlock(block, 'pasting', () => text.replace(/\r?\n$/, ''))
    const line = pages.at(row)?.row_number ?? from ?? 1
    setEdit({ kind: 'paste', text, start: { line, column } })
  }

  function copy(block: Range): string {
    const lines: string[] = []
    for (let row = block.from.row; row <= block.to.row; row += 1) {
      const found = pages.at(row)
      const cells: string[] = []
      for (let column = block.from.column; column <= block.to.column; column += 1) {
        const { name = '', readOnly } = gridColumns[column] ?? {}
        const text = found === undefined ? '' : readOnly ? String(found.row_number) : textOf(found, name)
        cells.push(/["\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
      }
      lines.push(cells.join('\t'))
    }
    return lines.join('\n')
  }

  /** The column and the text of the cell that somebody stands on. */
  function replace(which: 'part' | 'all' = 'part') {
    const cell = cellAt(active.current)
    setEdit({ kind: 'replace', start: cell === undefined ? { which } : startAt(cell) })

    function startAt({ row, name: column }: { row: StagedRow; name: string }): ReplaceStart {
      const text = textOf(row, column)
      if (which === 'all') return { which, column, to: text }
      return text === '' ? { which: 'empty', column } : { which: 'text', column, from: text }
    }
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys for what the buttons in it do as well
    <div onKeyDown={allowed ? editKeys(drafts, repairs.saveAll) : undefined}>
      <form className="filters" onSubmit={goToLine}>
        <span>Show</span>
        <select
          aria-label="Which lines"
          value={filter.status ?? ''}
          onChange={(event) => setFilter({ ...filter, status: event.target.value || undefined })}
        >
          <option value="">all lines ({count(upload.line_count ?? 0)})</option>
          <option value="valid">valid lines ({count(upload.valid_count ?? 0)})</option>
          <option value="invalid">invalid lines ({count(upload.invalid_count ?? 0)})</option>
          <option value="skipped">skipped lines ({count(upload.skipped_count ?? 0)})</option>
        </select>
        <ProblemFilters
          kinds={kinds}
          rule={filter.rule}
          column={filter.column}
          choose={(chosen) => setFilter({ ...filter, ...chosen })}
        />
        <input
          className="line-input is-text"
          name="cell-text"
          type="search"
          placeholder="text in a cell"
          aria-label="With this text in a cell"
          autoComplete="off"
          maxLength={200}
        />
        <span>from line</span>
        <span className="find">
          <input
            ref={search}
            className="line-input"
            name="line"
            inputMode="numeric"
            placeholder="1"
            aria-label="From line"
            autoComplete="off"
          />
          <span className="key" aria-hidden="true">
            /
          </span>
        </span>
        <button type="submit" className="button is-small">
          Go
        </button>
        <span className="tiny filters-aside" role="status">
          {pages.begun
            ? `${counted(pages.count, 'line')} ${pages.done ? 'shown' : 'loaded so far'}`
            : 'loading…'}
        </span>
      </form>
      {allowed && (
        <div className="filters edit-tools" role="toolbar" aria-label="Edit cells">
          <button
            type="button"
            className="button is-small"
            onClick={() =>
              paste('', { ...active.current, column: Math.max(active.current.column, READ_ONLY.length) })
            }
          >
            Paste a block…
          </button>
          <button
            type="button"
            className="button is-small"
            title="Ctrl+D"
            onClick={() => fillDown(range.current)}
          >
            Fill down
          </button>
          <button type="button" className="button is-small" onClick={() => replace('all')}>
            Fill all shown…
          </button>
          <button type="button" className="button is-small" title="Ctrl+H" onClick={() => replace()}>
            Find and replace…
          </button>
          <button type="button" className="button is-small" onClick={() => setEdit({ kind: 'corrections' })}>
            Correct in a spreadsheet…
          </button>
          <span className="tiny edit-hint">
            Type or Enter edits a cell, Shift+arrows select, Ctrl+D fills down, Ctrl+Z undoes.
          </span>
        </div>
      )}
      <EditBar
        upload={id}
        drafts={drafts}
        saving={repairs.saving.size > 0}
        failure={repairs.failure}
        refused={repairs.refused}
        settle={(one) => {
          repairs.settle(one)
          setEdition((now) => now + 1)
        }}
        save={repairs.saveAll}
      />
      {refused !== '' && (
        <p className="note is-held" role="alert">
          <b>Nothing was changed.</b> {refused}
        </p>
      )}
      <RepairNote repaired={repairs.repaired} saving={repairs.saving.size} />
      <RowsEditing value={{ upload: id, open, close }}>
        <Grid
          label="Lines of the file"
          columns={columns}
          pages={pages}
          rowHeight={35}
          empty={<p>No matching lines{from !== undefined && ` from line ${count(from)} on`}.</p>}
          toneOf={(row) => (row.validation_status === 'skipped' ? 'is-quiet' : undefined)}
          onPaste={paste}
          onCopy={copy}
          onKey={onKey}
          onOpen={openCell}
          handle={grid}
          onActive={(cell) => {
            active.current = cell
            range.current = { from: cell, to: cell }
          }}
        />
      </RowsEditing>
      {edit && (
        <EditDialog
          open={edit}
          upload={upload}
          columns={gridColumns}
          filter={filter}
          drafts={drafts}
          close={() => setEdit(undefined)}
        />
      )}
    </div>
  )
}

/** The columns of the grid before those of the file. */
const READ_ONLY: readonly GridColumn[] = [
  { name: 'Line', readOnly: true },
  { name: 'Check', readOnly: true },
]

/** Lines that are read again in place after a save. */
const MAX_RELOADED = 1000

function rowColumns(headers: readonly string[]): Column<StagedRow>[] {
  return [
    {
      id: 'line',
      header: 'Line',
      size: 84,
      meta: { stays: true },
      cell: ({ row }) => <span className="muted">{count(row.original.row_number)}</span>,
    },
    {
      id: 'verdict',
      header: 'Check',
      size: 100,
      cell: ({ row }) => {
        const { tone, word } = VERDICTS[row.original.validation_status]
        return <Chip tone={tone}>{word}</Chip>
      },
    },
    ...headers.map(
      (header, index): Column<StagedRow> => ({
        id: `column-${index}`,
        header,
        size: 168,
        meta: { grow: 1 },
        cell: ({ row }) => <EditedCell row={row.original} header={header} />,
      }),
    ),
  ]
}
