/** The staged rows of an upload: what the grid shows, what is exported with its reasons. */
import type { Queryable } from '../db/connection.ts'
import type { Problem } from './datasets/dataset.ts'

export const VERDICTS = ['valid', 'invalid', 'skipped'] as const
export type Verdict = (typeof VERDICTS)[number]

export interface StagedRow {
  readonly row_number: number
  readonly row_type: string
  readonly validation_status: Verdict | 'pending'
  readonly raw_payload: Readonly<Record<string, string | null>>
  readonly normalized_payload: Readonly<Record<string, unknown>> | null
  readonly validation_errors: readonly Problem[]
  readonly validation_warnings: readonly Problem[]
  readonly processing_action: string
  readonly target_internal_id: string | null
}

export interface RowFilter {
  readonly row_type: string
  readonly status?: Verdict
  /** Rows with a warning or an error. */
  readonly problems?: boolean
  readonly limit: number
  /** The line after which the page begins. */
  readonly after?: number
}

export async function listRows(db: Queryable, upload: string, filter: RowFilter): Promise<StagedRow[]> {
  const { rows } = await db.query<StagedRow>(
    `select row_number, row_type, validation_status, raw_payload, normalized_payload, validation_errors,
            validation_warnings, processing_action, target_internal_id
       from public.staging_rows
      where upload_id = $1 and row_type = $2 and row_number > $3
        and ($4::public.staging_validation_status is null or validation_status = $4)
        and (not $5 or validation_status <> 'valid' or validation_warnings <> '[]')
      order by row_number limit $6`,
    [
      upload,
      filter.row_type,
      filter.after ?? -1,
      filter.status ?? null,
      filter.problems ?? false,
      filter.limit,
    ],
  )
  return rows
}

/**
 * The wrong lines as a CSV that can be corrected and uploaded again: the columns of the file, then what is wrong.
 * Page by page, so that no transaction waits for whoever downloads it.
 */
export async function* exportProblems(
  page: (after: number) => Promise<StagedRow[]>,
  headers: readonly string[],
): AsyncGenerator<string> {
  yield `\ufeff${csvLine([...headers, 'Stagedoor: line', 'Stagedoor: what is wrong', 'Stagedoor: suggestion'])}`
  for (let after = -1; ; ) {
    const rows = await page(after)
    for (const row of rows) {
      const problems = row.validation_errors
      yield csvLine([
        ...headers.map((header) => row.raw_payload[header] ?? ''),
        String(row.row_number),
        problems.map(({ column, message }) => (column ? `${column}: ${message}` : message)).join(' | '),
        problems.map(({ suggestion }) => suggestion).join(' | '),
      ])
    }
    if (rows.length === 0) return
    after = rows.at(-1)!.row_number
  }
}

/** A spreadsheet takes a cell that begins with =, +, - or @ for a formula; numbers with their sign and dashes may stay. */
const FORMULA = /^[=+@-]/
const SIGNED_NUMBER = /^[+-][\s\d.,']*\d[\s\d.,']*(?:e[+-]?\d+)?\s*[%\p{Sc}]?$/iu
const DASHES = /^[-\s]+$/

function csvLine(cells: readonly string[]): string {
  return `${cells
    .map((cell) =>
      FORMULA.test(cell) && !SIGNED_NUMBER.test(cell) && !DASHES.test(cell) ? `'${cell}` : cell,
    )
    .map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',')}\r\n`
}
