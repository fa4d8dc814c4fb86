/** What is wrong with lines of a file, as a table that fits the screen. */
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import type { Problem } from '../../../ingest/datasets/dataset.ts'
import { listRows, type StagedRow } from '../../../ingest/rows.ts'
import type { Upload } from '../../../ingest/uploads.ts'
import { padEnd, widthOf } from '../../output.ts'
import { screenWidth, shortened, wrap } from './layout.ts'

/** What is wrong with the whole line, such as a key that repeats, names no column and no value. */
export interface LineProblem extends Omit<Problem, 'column' | 'value'> {
  readonly column?: string | null
  readonly value?: string | null
  readonly severity: 'error' | 'warning'
}

const PAGE = 1000

/** Of at most `most` lines: the wrong ones first, then those with a warning only. Totals were left out, and that is all. */
export async function problemsOf(client: Client, upload: Upload, most: number): Promise<LineProblem[]> {
  const wrong = await rowsOf(client, upload, 'invalid', most)
  const warned = await rowsOf(client, upload, 'valid', most - wrong.length)
  return [...wrong, ...warned].flatMap((row) => [
    ...row.validation_errors.map((problem) => ({ ...problem, severity: 'error' as const })),
    ...row.validation_warnings.map((problem) => ({ ...problem, severity: 'warning' as const })),
  ])
}

async function rowsOf(
  client: Client,
  upload: Upload,
  status: 'valid' | 'invalid',
  most: number,
): Promise<StagedRow[]> {
  const found: StagedRow[] = []
  if (!upload.reading) return found
  while (found.length < most) {
    const page = await listRows(client, upload.upload_id, {
      row_type: upload.reading.layout.leaf,
      status,
      problems: true,
      limit: Math.min(PAGE, most - found.length),
      after: found.at(-1)?.row_number ?? -1,
    })
    if (page.length === 0) break
    found.push(...page)
  }
  return found
}

/** The first of each kind: a wrong column is wrong in every line. Warnings only where nothing is wrong. */
export function kindsOf(problems: readonly LineProblem[], most: number): LineProblem[] {
  const worst = problems.some(({ severity }) => severity === 'error') ? 'error' : 'warning'
  const kinds = new Map<string, LineProblem>()
  for (const problem of problems.filter(({ severity }) => severity === worst)) {
    const kind = JSON.stringify([problem.rule, problem.column])
    if (!kinds.has(kind)) kinds.set(kind, problem)
  }
  return [...kinds.values()].slice(0, most)
}

/** Line, column and value beside what is wrong; below it in its column what to do. */
export function problemTable(problems: readonly LineProblem[], width = screenWidth()): string {
  const room = Math.floor((width - 40) / 2)
  const number = Math.max(4, ...problems.map(({ line }) => String(line).length))
  const column = widest(problems.map(columnOf), 6, Math.min(24, room + 4))
  const value = widest(problems.map(cellOf), 5, Math.min(24, room))
  const words = Math.max(20, width - number - column - value - 10)
  const head = `  ${'line'.padStart(number + 2)}  ${'column'.padEnd(column)}  ${'value'.padEnd(value)}  what is wrong`
  return [pc.dim(head), ...problems.flatMap(rowLines)].join('\n')

  function rowLines(problem: LineProblem): string[] {
    const mark = problem.severity === 'error' ? pc.red('✖') : pc.yellow('!')
    const lead = `  ${mark} ${String(problem.line).padStart(number)}  ${padEnd(shortened(columnOf(problem), column + 1), column)}  ${padEnd(shortened(cellOf(problem), value + 1), value)}  `
    const below = ' '.repeat(number + column + value + 10)
    return [
      ...wrap(problem.message, words).map((text, row) => (row === 0 ? lead + text : below + text)),
      ...(problem.suggestion
        ? wrap(problem.suggestion, words - 2).map(
            (text, row) => below + pc.dim(`${row === 0 ? '→' : ' '} ${text}`),
          )
        : []),
    ]
  }
}

function columnOf({ column }: LineProblem): string {
  return column ?? 'whole line'
}

function cellOf({ column, value }: LineProblem): string {
  return column === undefined || column === null ? '–' : value || '(empty)'
}

function widest(cells: readonly string[], least: number, most: number): number {
  const lengths = cells.map((cell) => widthOf(shortened(cell, most)))
  return Math.max(least, Math.min(most, Math.max(0, ...lengths)))
}
