import type { StagedRow } from '../../api/upload-types.ts'
import type { Column } from '../../grid/grid.tsx'
import { count } from '../../parts/format.ts'
import { OldNew } from '../../parts/old-new.tsx'
import { useDraft } from './drafts.ts'
import { EditableValue } from './editable-value.tsx'
import { cellText, type ProblemLine } from './problem-lines.ts'
import { useProblemsPanel } from './problems-panel.tsx'

export type Layout = 'wide' | 'narrow' | 'phone'

/** Where it is narrow the suggestion stands below the message, and on a phone everything below everything. */
export function problemColumns(layout: Layout): Column<ProblemLine>[] {
  if (layout === 'phone') return [{ ...LINE, size: 62 }, STACK]
  const narrow = layout === 'narrow'
  const columns: Column<ProblemLine>[] = [
    LINE,
    {
      id: 'column',
      header: 'Column',
      size: narrow ? 104 : 130,
      cell: ({ row }) => <Where line={row.original} />,
    },
    {
      id: 'value',
      header: 'Value',
      size: narrow ? 150 : 176,
      cell: ({ row }) => <Value line={row.original} />,
    },
    {
      id: 'wrong',
      header: 'Problem',
      size: narrow ? 180 : 220,
      meta: { grow: 1.4 },
      cell: ({ row }) => <Message line={row.original} narrow={narrow} />,
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
  return narrow ? columns.slice(0, -1) : columns
}

const LINE: Column<ProblemLine> = {
  id: 'line',
  header: 'Line',
  size: 76,
  cell: ({ row }) => <span className="muted">{count(row.original.row.row_number)}</span>,
}

const STACK: Column<ProblemLine> = {
  id: 'problem',
  header: 'Problem',
  size: 200,
  meta: { grow: 1 },
  cell: ({ row: { original: line } }) => (
    <span className="stacked">
      <b>
        <Where line={line} />
      </b>
      <Value line={line} />
      <span>
        <Message line={line} narrow />
      </span>
    </span>
  ),
}

function Where({ line }: { line: ProblemLine }) {
  if (line.kind === 'fixed') return line.column
  return line.problem.column ?? <span className="muted">whole line</span>
}

function Value({ line }: { line: ProblemLine }) {
  const { may, editLine } = useProblemsPanel()
  if (line.kind === 'fixed') {
    const now = line.row.raw_payload[line.column] ?? ''
    return (
      <OldNew old={line.old === '' ? 'empty' : line.old} now={now === '' ? 'empty' : now} becomes="became" />
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
  if (!may) return <code>{cellText(row, problem)}</code>
  // Rows move up when one above is corrected: a cell is itself by its line and column, not by its place.
  return (
    <CellValue key={`${row.row_number} ${column}`} row={row} column={column} wrong={line.kind === 'error'} />
  )
}

function CellValue({ row, column, wrong }: { row: StagedRow; column: string; wrong: boolean }) {
  const { upload, saving, drafts, correct, pasteBlock } = useProblemsPanel()
  const draft = useDraft(upload, row.row_number, column)
  const value = row.raw_payload[column] ?? ''
  return (
    <EditableValue
      label={`${column}, line ${row.row_number}`}
      value={value}
      draft={draft?.text}
      keep={(to) => drafts.type({ line: row.row_number, column, base: value, to })}
      wrong={wrong}
      saving={saving.has(row.row_number)}
      pasteBlock={(text) => pasteBlock(text, row, column)}
      save={(to) => correct({ line: row.row_number, cells: [{ column, from: draft?.base ?? value, to }] })}
    />
  )
}

function Message({ line, narrow }: { line: ProblemLine; narrow: boolean }) {
  if (line.kind === 'fixed') {
    const valid = line.row.validation_status === 'valid'
    return <span className="is-right">{valid ? 'Repaired: the line is valid now.' : 'Repaired.'}</span>
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
