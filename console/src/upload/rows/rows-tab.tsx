import { type FormEvent, useCallback, useMemo, useRef, useState } from 'react'
import type { LineProblem, RepairedUpload, StagedRow, UploadDetail } from '../../api/upload-types.ts'
import { useSearchKey } from '../../frame/search-key.ts'
import type { Cell as GridCell } from '../../grid/active-cell.ts'
import { type Column, Grid } from '../../grid/grid.tsx'
import { usePages } from '../../grid/use-pages.ts'
import { Chip, type Tone } from '../../parts/chip.tsx'
import { count, counted } from '../../parts/format.ts'
import { useSession } from '../../session/session.tsx'
import { RepairNote } from '../problems/repair-note.tsx'
import type { Repaired } from '../problems/use-repairs.ts'
import type { GridColumn, Paste } from './block.ts'
import { PasteDialog, type PasteStart } from './paste-dialog.tsx'
import { ReplaceDialog } from './replace-dialog.tsx'

const PAGE = 500

const VERDICTS: Record<StagedRow['validation_status'], { tone: Tone; word: string }> = {
  valid: { tone: 'ok', word: 'valid' },
  invalid: { tone: 'bad', word: 'invalid' },
  skipped: { tone: 'stale', word: 'skipped' },
  pending: { tone: 'work', word: 'pending' },
}

/** Every line as it stands in the file. Its cells are repaired by a block from a spreadsheet, or column by column. */
export function RowsTab({ upload, take }: { upload: UploadDetail; take(upload: UploadDetail): void }) {
  const { api } = useSession()
  const [status, setStatus] = useState<string>()
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
        status,
        limit: PAGE,
        after: after ?? (from === undefined ? undefined : String(Math.max(0, from - 1))),
      }),
    [api, id, leaf, status, from, edition],
  )
  const pages = usePages(read)
  const columns = useMemo(() => rowColumns(names), [names])
  const gridColumns = useMemo(
    () => [...READ_ONLY, ...names.map((name) => ({ name, readOnly: false }))],
    [names],
  )
  const active = useRef<GridCell>({ row: 0, column: 0 })
  const [pasting, setPasting] = useState<{ text: string; start: PasteStart }>()
  const [replacing, setReplacing] = useState<{ column: string | undefined; from: string | undefined }>()
  const [repaired, setRepaired] = useState<Repaired>()
  const [refused, setRefused] = useState(false)
  const { allowed, why } = upload.may.repair

  function goToLine(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const line = Number(new FormData(event.currentTarget).get('line'))
    setFrom(Number.isInteger(line) && line > 0 ? line : undefined)
  }

  function paste(text: string, { row, column }: GridCell) {
    setRefused(!allowed)
    if (!allowed) return
    const line = pages.at(row)?.row_number ?? from ?? 1
    setPasting({ text, start: { line, column } })
  }

  /** The column and the text of the cell that somebody stands on. */
  function replace() {
    const { row, column } = active.current
    const name = gridColumns[column]
    if (name === undefined || name.readOnly) return setReplacing({ column: undefined, from: undefined })
    setReplacing({ column: name.name, from: pages.at(row)?.raw_payload[name.name] ?? '' })
  }

  async function pasted(after: RepairedUpload, { corrections }: Paste) {
    setPasting(undefined)
    setRepaired({ before: upload, after, lines: corrections.length, line: corrections[0]?.line })
    take(after)
    const lines = corrections.map(({ line }) => line)
    const [first = 0, last = 0] = [lines[0], lines.at(-1)]
    // In place, where that is one page: otherwise one would stand at the first line again.
    if (last - first >= MAX_RELOADED) return setEdition(edition + 1)
    try {
      const limit = last - first + 1
      const page = await api.uploads.rows(id, { row_type: leaf, limit, after: String(first - 1) })
      for (const row of page.rows) pages.replace(({ row_number }) => row_number === row.row_number, [row])
    } catch {
      setEdition(edition + 1)
    }
  }

  function replaced(after: RepairedUpload) {
    setReplacing(undefined)
    setRepaired({ before: upload, after, lines: after.repair.lines })
    take(after)
    setEdition(edition + 1)
  }

  return (
    <>
      <form className="filters" onSubmit={goToLine}>
        <span>Show</span>
        <select
          aria-label="Which lines"
          value={status ?? ''}
          onChange={(event) => setStatus(event.target.value || undefined)}
        >
          <option value="">all lines ({count(upload.line_count ?? 0)})</option>
          <option value="valid">valid lines ({count(upload.valid_count ?? 0)})</option>
          <option value="invalid">invalid lines ({count(upload.invalid_count ?? 0)})</option>
          <option value="skipped">skipped lines ({count(upload.skipped_count ?? 0)})</option>
        </select>
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
        {allowed && (
          <>
            <button
              type="button"
              className="button is-small"
              onClick={() =>
                paste('', { ...active.current, column: Math.max(active.current.column, READ_ONLY.length) })
              }
            >
              Paste a block…
            </button>
            <button type="button" className="button is-small" onClick={replace}>
              Replace in a column…
            </button>
          </>
        )}
        <span className="tiny filters-aside" role="status">
          {pages.begun
            ? `${counted(pages.count, 'line')} ${pages.done ? 'shown' : 'loaded so far'}`
            : 'loading…'}
        </span>
      </form>
      {refused && !allowed && (
        <p className="note is-held" role="alert">
          <b>Nothing was pasted.</b> {why ?? 'The lines of this upload cannot be changed.'}
        </p>
      )}
      <RepairNote repaired={repaired} saving={0} />
      <Grid
        label="Lines of the file"
        columns={columns}
        pages={pages}
        rowHeight={35}
        empty={<p>No matching lines{from !== undefined && ` from line ${count(from)} on`}.</p>}
        toneOf={(row) => (row.validation_status === 'skipped' ? 'is-quiet' : undefined)}
        onPaste={paste}
        onActive={(cell) => {
          active.current = cell
        }}
      />
      {pasting && (
        <PasteDialog
          upload={upload}
          columns={gridColumns}
          text={pasting.text}
          start={pasting.start}
          status={status}
          done={pasted}
          close={() => setPasting(undefined)}
        />
      )}
      {replacing && (
        <ReplaceDialog
          upload={id}
          columns={names}
          column={replacing.column}
          from={replacing.from}
          done={replaced}
          close={() => setReplacing(undefined)}
        />
      )}
    </>
  )
}

/** The columns of the grid before those of the file. */
const READ_ONLY: readonly GridColumn[] = [
  { name: 'Line', readOnly: true },
  { name: 'Check', readOnly: true },
]

/** Lines that are read again in place after a paste. */
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
        cell: ({ row }) => <Cell row={row.original} header={header} />,
      }),
    ),
  ]
}

function Cell({ row, header }: { row: StagedRow; header: string }) {
  const value = row.raw_payload[header] ?? ''
  const about = ({ column }: LineProblem) => column === header
  const error = row.validation_errors.find(about)
  const warning = row.validation_warnings.find(about)
  const problem = error ?? warning
  if (problem === undefined) return <span title={value}>{value}</span>
  return (
    <span className={error ? 'wrong' : 'doubtful'} title={problem.message}>
      {value === '' ? 'empty' : value}
      <span className="unseen">: {problem.message}</span>
    </span>
  )
}
