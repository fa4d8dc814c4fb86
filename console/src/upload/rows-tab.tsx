import { type FormEvent, useCallback, useMemo, useState } from 'react'
import type { LineProblem, StagedRow, UploadDetail } from '../api/upload-types.ts'
import { useSearchKey } from '../frame/search-key.ts'
import { type Column, Grid } from '../grid/grid.tsx'
import { usePages } from '../grid/use-pages.ts'
import { Chip, type Tone } from '../parts/chip.tsx'
import { count, counted } from '../parts/format.ts'
import { useSession } from '../session/session.tsx'

const PAGE = 500

const VERDICTS: Record<StagedRow['validation_status'], { tone: Tone; word: string }> = {
  valid: { tone: 'ok', word: 'valid' },
  invalid: { tone: 'bad', word: 'invalid' },
  skipped: { tone: 'stale', word: 'skipped' },
  pending: { tone: 'work', word: 'pending' },
}

/** Every line as it stands in the file. */
export function RowsTab({ upload }: { upload: UploadDetail }) {
  const { api } = useSession()
  const [status, setStatus] = useState<string>()
  const [from, setFrom] = useState<number>()
  const search = useSearchKey()
  const { upload_id: id, reading, columns: names } = upload
  const leaf = reading?.layout.leaf
  const read = useCallback(
    (after: string | undefined) =>
      api.uploads.rows(id, {
        row_type: leaf,
        status,
        limit: PAGE,
        after: after ?? (from === undefined ? undefined : String(Math.max(0, from - 1))),
      }),
    [api, id, leaf, status, from],
  )
  const pages = usePages(read)
  const columns = useMemo(() => rowColumns(names), [names])

  function goToLine(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const line = Number(new FormData(event.currentTarget).get('line'))
    setFrom(Number.isInteger(line) && line > 0 ? line : undefined)
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
        <span className="tiny filters-aside" role="status">
          {pages.begun
            ? `${counted(pages.count, 'line')} ${pages.done ? 'shown' : 'loaded so far'}`
            : 'loading…'}
        </span>
      </form>
      <Grid
        label="Lines of the file"
        columns={columns}
        pages={pages}
        rowHeight={35}
        empty={<p>No matching lines{from !== undefined && ` from line ${count(from)} on`}.</p>}
        toneOf={(row) => (row.validation_status === 'skipped' ? 'is-quiet' : undefined)}
      />
    </>
  )
}

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
