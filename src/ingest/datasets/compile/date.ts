/** Dates. The order of day and month is taken from the whole file or not at all: it is never guessed. */
import type { Field } from '../dataset.ts'
import type { Styles } from '../profile.ts'
import { concat, matches, text } from '../sql-text.ts'
import type { FieldColumns, FieldProblem, FieldSql } from './field-sql.ts'
import { MONTHS } from './months.ts'

/** Every date there is from 1900 to 2099, but 29 February: no cast is needed to know that it exists. */
const PLAIN =
  '(?:19|20)[0-9]{2}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)'

const TIME = '(?:[T ,]\\s*[0-9].*)?'
/** Kind → pattern and how it reads as year-month-day. */
const KINDS: Record<string, { pattern: string; reading: string }> = {
  ymd: { pattern: `([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})${TIME}`, reading: '\\1-\\2-\\3' },
  compact: { pattern: '((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})', reading: '\\1-\\2-\\3' },
  dotted: {
    pattern: `([0-9]{1,2})\\.\\s?([0-9]{1,2})\\.\\s?([0-9]{4}|[0-9]{2})${TIME}`,
    reading: '\\3-\\2-\\1',
  },
  either: { pattern: `([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4}|[0-9]{2})${TIME}`, reading: '\\3-\\2-\\1' },
  cjk: { pattern: '([0-9]{4})年([0-9]{1,2})月([0-9]{1,2})日', reading: '\\1-\\2-\\3' },
  thang: {
    pattern: '(?:ngay )?([0-9]{1,2}),? thang ([0-9]{1,2}),?(?: nam)? ([0-9]{4})',
    reading: '\\3-\\2-\\1',
  },
  day_first: {
    pattern:
      '(?:[a-z]+\\.?,? )?([0-9]{1,2})(?:st|nd|rd|th|er|\\.)?[ -](?:de )?([a-z]{3,})\\.?,?[ -](?:de )?([0-9]{4}|[0-9]{2})',
    reading: '\\3-\\2-\\1',
  },
  month_first: {
    pattern: '(?:[a-z]+\\.?, )?([a-z]{3,})\\.? ([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})',
    reading: '\\3-\\1-\\2',
  },
}
const OTHER_READING = '\\3-\\1-\\2'
const SERIAL = '[34][0-9]{4}(?:\\.[0-9]+)?'

export function dateSql(field: Field, styles: Styles, at: FieldColumns): FieldSql {
  const { cleaned, step } = at
  const plainText = step('l')
  const [kind, first, other] = [step('k'), step('a'), step('b')]
  const [firstDay, otherDay, day] = [step('t'), step('u'), step('w')]
  const kinds = Object.entries(KINDS)
  const steps = [
    { l: `CASE WHEN ${cleaned} IS NULL THEN NULL ELSE lower(strip_accents(${cleaned})) END` },
    {
      k: `CASE WHEN ${plainText} IS NULL THEN NULL ${kinds.map(([name, { pattern }]) => `WHEN ${matches(plainText, pattern)} THEN ${text(name)}`).join(' ')} WHEN ${matches(plainText, SERIAL)} THEN 'serial' ELSE 'none' END`,
    },
    {
      a: `CASE ${kind} ${kinds.map(([name, { pattern, reading }]) => `WHEN ${text(name)} THEN ${reads(plainText, pattern, reading)}`).join(' ')} END`,
      b: `CASE WHEN ${kind} = 'either' THEN ${reads(plainText, KINDS.either!.pattern, OTHER_READING)} END`,
    },
    { t: dayOf(first), u: dayOf(other) },
    { w: chosen(kind, firstDay, otherDay, styles.dates) },
  ]
  const problem = [
    `CASE WHEN ${kind} IS NULL THEN NULL`,
    `WHEN ${kind} = 'serial' THEN 'date.excel_serial'`,
    `WHEN ${kind} = 'none' THEN 'date.invalid'`,
    `WHEN ${day} IS NULL AND ${firstDay} IS NOT NULL AND ${otherDay} IS NOT NULL THEN 'date.ambiguous'`,
    `WHEN ${day} IS NULL AND (${firstDay} IS NOT NULL OR ${otherDay} IS NOT NULL) THEN 'date.order'`,
    `WHEN ${day} IS NULL THEN 'date.impossible'`,
    `WHEN ${day} NOT BETWEEN DATE '1900-01-01' AND DATE '2099-12-31' THEN 'date.implausible' END`,
  ].join(' ')
  return {
    plain: matches(at.cell, field.required && !field.period ? PLAIN : `(?:${PLAIN})?`),
    plainValue: `nullif(${at.cell}, '')`,
    steps,
    value: `CASE WHEN year(${day}) BETWEEN 1900 AND 2099 THEN CAST(${day} AS VARCHAR) END`,
    problem,
    problems: problemsOf(field, cleaned, firstDay, otherDay),
    json: 'quoted',
  }
}

function reads(value: string, pattern: string, reading: string): string {
  return `regexp_replace(${value}, ${text(`^${pattern}$`)}, ${text(reading)})`
}

/** year-month-day, the month as number or name, the year with two digits or four. */
function dayOf(reading: string): string {
  const year = `CASE WHEN strlen(split_part(${reading}, '-', 1)) = 2 THEN '20' ELSE '' END`
  const name = `split_part(${reading}, '-', 2)`
  const names = Object.entries(MONTHS).map(([month, number]) => `${text(month)}: '${number}'`)
  const month = `CASE WHEN ${matches(name, '[0-9]+')} THEN ${name} ELSE coalesce(MAP {${names.join(', ')}}[${name}], '13') END`
  const day = `split_part(${reading}, '-', 3)`
  return `CASE WHEN ${reading} IS NULL THEN NULL ELSE TRY_CAST(concat(${year}, split_part(${reading}, '-', 1), '-', ${month}, '-', ${day}) AS DATE) END`
}

function chosen(kind: string, first: string, other: string, order: Styles['dates']): string {
  const settled =
    order === 'dmy'
      ? first
      : order === 'mdy'
        ? other
        : `CASE WHEN ${first} IS NULL THEN ${other} WHEN ${other} IS NULL OR ${first} = ${other} THEN ${first} END`
  return `CASE WHEN ${kind} IS NULL THEN NULL WHEN ${kind} = 'either' THEN ${settled} ELSE ${first} END`
}

function problemsOf(field: Field, cleaned: string, first: string, other: string): FieldProblem[] {
  const severity = field.severity ?? 'error'
  const serial = `CAST(DATE '1899-12-30' + CAST(floor(CAST(${cleaned} AS DECIMAL(18, 9))) AS INTEGER) AS VARCHAR)`
  return [
    {
      rule: 'date.excel_serial',
      severity,
      message: text('This is a spreadsheet’s day number, not a date.'),
      suggestion: concat([
        text('It may mean '),
        serial,
        text('. Format the column as a date before exporting, or write the date as YYYY-MM-DD.'),
      ]),
    },
    {
      rule: 'date.invalid',
      severity,
      message: text('This is not a date.'),
      suggestion: text('Write it as YYYY-MM-DD.'),
    },
    {
      rule: 'date.ambiguous',
      severity,
      message: text('Day and month cannot be told apart, and the file does not settle which comes first.'),
      suggestion: concat([
        text('It is either '),
        `CAST(${first} AS VARCHAR)`,
        text(' or '),
        `CAST(${other} AS VARCHAR)`,
        text('. Export dates as YYYY-MM-DD, or repair the line.'),
      ]),
    },
    {
      rule: 'date.order',
      severity,
      message: text('Day and month stand the other way round than in the rest of the file.'),
      suggestion: concat([
        text('It can only mean '),
        `CAST(coalesce(${first}, ${other}) AS VARCHAR)`,
        text('. Write it as YYYY-MM-DD.'),
      ]),
    },
    {
      rule: 'date.impossible',
      severity,
      message: text('There is no such day.'),
      suggestion: text('Check the date in the source and write it as YYYY-MM-DD.'),
    },
    {
      rule: 'date.implausible',
      severity,
      message: text('The year is before 1900 or after 2099.'),
      suggestion: text('Check the date in the source and write it as YYYY-MM-DD.'),
    },
  ]
}
