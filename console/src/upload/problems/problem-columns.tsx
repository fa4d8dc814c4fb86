import type { StagedRow } from '../../api/upload-types.ts'
import type { Column } from '../../grid/grid.tsx'
import { count } from '../../parts/figures.ts'
import { EditableValue } from './editable-value.tsx'
import { cellText, type ProblemLine } from './problem-lines.ts'
import type { Correction } from './use-repairs.ts'

interface Options {
  readonly may: boolean
  /** The suggestion stands below the message, for want of room beside it. */
  readonly narrow: boolean
  readonly saving: ReadonlySet<number>
  correct(correction: Correction): void
  editLine(row: StagedRow): void
}

export function problemColumns(options: Options): Column<ProblemLine>[] {
  const columns: Column<ProblemLine>[] = [
    {
      id: 'line',
      header: 'Line',
      size: 76,
      cell: ({ row }) => <span className="muted">{count(row.original.row.row_number)}</span>,
    },
    {
      id: 'column',
      header: 'Column',
      size: options.narrow ? 104 : 130,
      cell: ({ row: { original: line } }) =>
        line.kind === 'fixed'
          ? line.column
          : (line.problem.column ?? <span className="muted">whole line</span>),
    },
    {
      id: 'value',
      header: 'Value',
      size: options.narrow ? 150 : 176,
      cell: ({ row }) => <Value line={row.original} {...options} />,
    },
    {
      id: 'wrong',
      header: 'What is wrong',
      size: options.narrow ? 180 : 220,
      meta: { grow: 1.4 },
      cell: ({ row }) => <Message line={row.original} narrow={options.narrow} />,
    },
    {
      id: 'suggestion',
      header: 'Suggestion',
      size: 150,
      meta: { grow: 1 },
      cell: ({ row: { original: line } }) =>
        line.kind === 'fixed' ? null : <span className="muted">{line.problem.suggestion}</span>,
    },
  ]
  return options.narrow ? columns.slice(0, -1) : columns
}

function Value({ line, may, saving, correct, editLine }: Options & { line: ProblemLine }) {
  if (line.kind === 'fixed') {
    const now = line.row.raw_payload[line.column] ?? ''
    return (
      <>
        <del>{line.old === '' ? 'empty' : line.old}</del>
        <span className="unseen"> became </span> <ins>{now === '' ? 'empty' : now}</ins>
      </>
    )
  }
  const { row, problem } = line
  const { column } = problem
  if (column === null || !(column in row.raw_payload)) {
    return (
      <button type="button" className="button is-small" disabled={!may} onClick={() => editLine(row)}>
        Edit line…
      </button>
    )
  }
  const value = cellText(row, problem)
  if (!may) return <code>{value}</code>
  return (
    <EditableValue
      label={`${column}, line ${row.row_number}`}
      value={value}
      wrong={line.kind === 'error'}
      saving={saving.has(row.row_number)}
      save={(text) => correct({ row, values: { [column]: text === '' ? null : text } })}
    />
  )
}

function Message({ line, narrow }: { line: ProblemLine; narrow: boolean }) {
  if (line.kind === 'fixed') {
    const valid = line.row.validation_status === 'valid'
    return <span className="is-right">{valid ? 'Corrected: the line is valid now.' : 'Corrected.'}</span>
  }
  const { message, rule, suggestion } = line.problem
  return (
    <>
      {line.kind === 'warning' && <span className="is-doubtful">Warning: </span>}
      {message}
      {narrow && <span className="muted suggestion">{suggestion}</span>}
      <span className="tiny rule">rule {rule}</span>
    </>
  )
}
