/**
 * The slow path of a dataset with a rule in TypeScript: the compiled statement's rows pass through JavaScript, and the
 * rule's problems are added to those of the declared rules.
 */
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Dataset, Problem } from './datasets/dataset.ts'
import { queryDuck } from './duckdb.ts'

/** In the order of compileSelect's columns. */
type CheckedRow = Record<string, string | null> & {
  row_number: string
  normalized_payload: string
  validation_status: string
  validation_errors: string
}

export async function checkRecords(
  check: NonNullable<Dataset['check']>,
  select: string,
  path: string,
): Promise<void> {
  const rows = await queryDuck<CheckedRow>(select)
  await pipeline(Readable.from(rows.map((row) => rowLine(withRule(check, row)))), createWriteStream(path))
}

/** A row that was left out, or that is wrong already, is not shown to the rule. */
export function withRule<
  Row extends Pick<CheckedRow, 'row_number' | 'normalized_payload' | 'validation_status'>,
>(check: NonNullable<Dataset['check']>, row: Row): Row {
  if (row.validation_status !== 'valid') return row
  const found: Problem[] = check(JSON.parse(row.normalized_payload)).map((problem) => ({
    ...problem,
    line: Number(row.row_number),
  }))
  if (found.length === 0) return row
  return { ...row, validation_status: 'invalid', validation_errors: JSON.stringify(found) }
}

/** As ROWS_OUT writes it: no value has a tab or a line's end in it. */
function rowLine(row: CheckedRow): string {
  return `${Object.values(row)
    .map((value) => value ?? '')
    .join('\t')}\n`
}
