/** The staged rows of an upload: what the grid shows, what is exported with its reasons. */

import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { type LeftOutLine, StagedRow, type VALIDATION_STATUSES } from './shapes.ts'

export type { LeftOutLine, StagedRow } from './shapes.ts'

type ValidationStatus = (typeof VALIDATION_STATUSES)[number]

/** Rules that leave out a line because it sums up others, and what people call such lines; fn_ingest_totals_rules has the same list. */
export const SUMMING_RULES = {
  'row.total': { reason: 'totals', lines: 'Totals lines' },
  'row.subtotal': { reason: 'subtotals', lines: 'Subtotal lines' },
  'row.sum': { reason: 'sums of other lines', lines: 'Lines that are the sum of others' },
}

/** Why a line is left out, in words; see fn_ingest_left_out_reason. */
const LEFT_OUT_REASONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(SUMMING_RULES).map(([rule, { reason }]) => [rule, reason])),
  'key.repeated': 'repeated keys',
  'line.left_out': 'by hand',
}

/** `61 left out (1 totals, 60 repeated keys)`: how many lines for each reason. */
export function leftOutText(reasons: Readonly<Record<string, number>>): string {
  const entries = Object.entries(reasons).sort(([, one], [, other]) => other - one)
  const all = entries.reduce((sum, [, lines]) => sum + lines, 0)
  const words = entries.map(([rule, lines]) => {
    const word = LEFT_OUT_REASONS[rule] ?? rule
    return entries.length === 1 ? word : `${lines.toLocaleString('en')} ${word}`
  })
  return `${all.toLocaleString('en')} left out (${words.join(', ')})`
}

/** Lines that are left out, in the order of the file. */
export async function listLeftOut(
  db: Queryable,
  upload: string,
  page: { limit: number; after?: number | undefined },
): Promise<LeftOutLine[]> {
  const { rows } = await db.query<LeftOutLine>(
    `select s.row_number as line, r.reason,
            (select w ->> 'message' from jsonb_array_elements(s.validation_warnings) w where w ->> 'rule' = r.reason limit 1) as message,
            (select coalesce(jsonb_object_agg(v.key, v.value), '{}') from jsonb_each_text(s.normalized_payload) v
              where v.value is not null and left(v.key, 1) <> '@') as values
       from public.staging_rows s
       join iu_core.ingest_upload u using (upload_id)
      cross join lateral (select coalesce(
        (select w ->> 'rule' from jsonb_array_elements(s.validation_warnings) w where w ->> 'rule' = any ($4) limit 1),
        s.validation_warnings -> 0 ->> 'rule', 'unknown')) as r (reason)
      where s.upload_id = $1 and s.row_type = u.reading -> 'layout' ->> 'leaf' and s.validation_status = 'skipped'
        and (s.validation_status <> 'valid' or s.validation_warnings <> '[]') and s.row_number > $2
      order by s.row_number limit $3`,
    [upload, page.after ?? -1, page.limit, Object.keys(LEFT_OUT_REASONS)],
  )
  return rows
}

export interface RowFilter {
  readonly rowType: string
  readonly status?: ValidationStatus
  /** Rows with a warning or an error. */
  readonly problems?: boolean
  readonly limit: number
  /** The line after which the page begins. */
  readonly after?: number
}

export async function listRows(db: Queryable, upload: string, filter: RowFilter): Promise<StagedRow[]> {
  const { rows } = await db.query<StagedRow>(
    `select ${columnsOf(StagedRow)}
       from public.staging_rows
      where upload_id = $1 and row_type = $2 and row_number > $3
        and ($4::public.staging_validation_status is null or validation_status = $4)
        and (not $5 or validation_status <> 'valid' or validation_warnings <> '[]')
      order by row_number limit $6`,
    [
      upload,
      filter.rowType,
      filter.after ?? -1,
      filter.status ?? null,
      filter.problems ?? false,
      filter.limit,
    ],
  )
  return rows
}

/**
 * The wrong lines, or those left out, as a CSV that can be corrected and uploaded again: the columns of the file, then
 * what is wrong with each or why it is left out. Page by page, so that no transaction stays open during the download.
 */
export async function* exportProblems(
  page: (after: number) => Promise<StagedRow[]>,
  headers: readonly string[],
): AsyncGenerator<string> {
  yield `\ufeff${csvLine([...headers, 'Stagedoor: line', 'Stagedoor: what is wrong', 'Stagedoor: suggestion'])}`
  for (let after = -1; ; ) {
    const rows = await page(after)
    for (const row of rows) {
      const problems = row.validation_status === 'skipped' ? row.validation_warnings : row.validation_errors
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
