/** The staged rows of an upload: what the grid shows, what is exported with its reasons. */

import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { type LeftOutLine, type ProblemKind, StagedRow, type VALIDATION_STATUSES } from './shapes.ts'

export type { LeftOutLine, ProblemKind, StagedRow } from './shapes.ts'

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

/** Which lines are meant: the same for a list, an export and an edit of many lines. */
export interface LineFilter {
  readonly status?: ValidationStatus | undefined
  /** Lines with a warning or an error. */
  readonly problems?: boolean | undefined
  /** Lines with a problem by this rule. */
  readonly rule?: string | undefined
  /** … in this column of the file. */
  readonly column?: string | undefined
  /** Lines with this text in a cell, in either case. */
  readonly contains?: string | undefined
}

/** The condition on `alias` (staging_rows), and its parameters from the number `first` on. */
export function lineFilterSql(
  filter: LineFilter,
  alias: string,
  first: number,
): { sql: string; values: unknown[] } {
  const at = (offset: number) => `$${first + offset}`
  return {
    sql: `(${at(0)}::public.staging_validation_status is null or ${alias}.validation_status = ${at(0)}::public.staging_validation_status)
        and (not ${at(1)}::boolean or ${alias}.validation_status <> 'valid' or ${alias}.validation_warnings <> '[]')
        and ((${at(2)}::text is null and ${at(3)}::text is null) or exists (
          select from jsonb_array_elements(${alias}.validation_errors || ${alias}.validation_warnings) p
           where (${at(2)}::text is null or p ->> 'rule' = ${at(2)}) and (${at(3)}::text is null or p ->> 'column' = ${at(3)})))
        and (${at(4)}::text is null or exists (
          select from jsonb_each_text(${alias}.raw_payload) c where strpos(lower(c.value), lower(${at(4)})) > 0))`,
    values: [
      filter.status ?? null,
      filter.problems ?? false,
      filter.rule ?? null,
      filter.column ?? null,
      filter.contains ?? null,
    ],
  }
}

export interface RowFilter extends LineFilter {
  readonly rowType: string
  readonly limit: number
  /** The line after which the page begins. */
  readonly after?: number
}

export async function listRows(db: Queryable, upload: string, filter: RowFilter): Promise<StagedRow[]> {
  const { sql, values } = lineFilterSql(filter, 's', 5)
  const { rows } = await db.query<StagedRow>(
    `select ${columnsOf(StagedRow)}
       from public.staging_rows s
      where upload_id = $1 and row_type = $2 and row_number > $3 and ${sql}
      order by row_number limit $4`,
    [upload, filter.rowType, filter.after ?? -1, filter.limit, ...values],
  )
  return rows
}

/** More kinds than a person chooses from; a file of this many is wrong as a whole. */
const MAX_KINDS = 500

/** What is wrong in the lines of an upload, by rule and column, the most frequent first. */
export async function listProblemKinds(
  db: Queryable,
  { upload_id, reading }: { upload_id: string; reading: { layout: { leaf: string } } | null },
): Promise<ProblemKind[]> {
  if (reading === null) return []
  const { rows } = await db.query<ProblemKind>(
    `select p.severity, p.problem ->> 'rule' as rule, p.problem ->> 'column' as column,
            count(distinct s.row_number)::integer as lines,
            (array_agg(p.problem ->> 'message' order by s.row_number))[1] as message
       from public.staging_rows s,
            lateral (select 'error' as severity, e as problem from jsonb_array_elements(s.validation_errors) e
                     union all
                     select 'warning', w from jsonb_array_elements(s.validation_warnings) w) p
      where s.upload_id = $1 and s.row_type = $2 and (s.validation_status <> 'valid' or s.validation_warnings <> '[]')
      group by 1, 2, 3
      order by 1, 4 desc, 2, 3 limit $3`,
    [upload_id, reading.layout.leaf, MAX_KINDS],
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
