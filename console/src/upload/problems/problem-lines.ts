import type { LineProblem, StagedRow } from '../../api/upload-types.ts'

/** One line of the grid: a problem, or what is left of one that was corrected here. */
export type ProblemLine = Found | Fixed

interface Found {
  readonly kind: 'error' | 'warning'
  readonly row: StagedRow
  readonly problem: LineProblem
}

interface Fixed {
  readonly kind: 'fixed'
  readonly row: StagedRow
  readonly column: string
  readonly old: string
}

export function problemLines(row: StagedRow): ProblemLine[] {
  return [
    ...row.validation_errors.map((problem): Found => ({ kind: 'error', row, problem })),
    ...row.validation_warnings.map((problem): Found => ({ kind: 'warning', row, problem })),
  ]
}

/** The line as it is now: what is still wrong with it, and each corrected cell that no longer is. */
export function afterRepair(
  row: StagedRow,
  corrected: readonly { readonly column: string; readonly old: string }[],
): ProblemLine[] {
  const left = problemLines(row)
  const stillWrong = (column: string) =>
    left.some((line) => line.kind === 'error' && line.problem.column === column)
  const fixed = corrected
    .filter(({ column }) => !stillWrong(column))
    .map(({ column, old }): Fixed => ({ kind: 'fixed', row, column, old }))
  return [...fixed, ...left]
}

/** The problem has its value cut; the row has all of it. */
export function cellText(row: StagedRow, problem: LineProblem): string {
  if (problem.column === null) return ''
  return row.raw_payload[problem.column] ?? ''
}
