/** Dates. The order of day and month is taken from the whole file or not at all: it is never guessed. */
import type { Field } from '../dataset.ts'
import type { Styles } from '../profile.ts'
import { listOf, matches, text } from '../sql-text.ts'
import { type FieldColumns, type FieldSql, findingOf, withMembers } from './field-sql.ts'
import { MONTHS } from './months.ts'
import { WORDS } from './words.ts'

/** Every date there is from 1900 to 2099, but 29 February: no cast is needed to know that it exists. */
const PLAIN =
  '(?:19|20)[0-9]{2}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)'

const TIME = '(?:[Tt ,]\\s*[0-9].*)?'
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

export function dateSql(field: Field, at: FieldColumns): FieldSql {
  return {
    first: [],
    plain: matches(at.cell, field.required && !field.period ? PLAIN : `(?:${PLAIN})?`),
    plainValue: `nullif(${at.cell}, '')`,
    whole: { holds: matches(at.cell, PLAIN), value: `nullif(${at.cell}, '')` },
    kind: 'date',
    entry: { severity: field.severity === 'warning' ? `'W'` : `'E'` },
    json: 'quoted',
  }
}

/** Entries with `x`, the cleaned cell, become entries with `v` and `p`. */
export function readDates(list: string, styles: Styles): string {
  const kinds = Object.entries(KINDS)
  const readings = kinds.map(
    ([kind, { pattern, reading }]) => `WHEN ${text(kind)} THEN ${reads('e.l', pattern, reading)}`,
  )
  const which = kinds.map(([kind, { pattern }]) => `WHEN ${matches('e.l', pattern)} THEN ${text(kind)}`)
  const fails = (rule: string, suggestion?: string) => findingOf('e.severity', rule, suggestion)
  return withMembers(list, [
    ['l', 'CASE WHEN e.x IS NULL THEN NULL ELSE lower(strip_accents(e.x)) END'],
    [
      'k',
      `CASE WHEN e.l IS NULL THEN NULL ${which.join(' ')} WHEN ${matches('e.l', SERIAL)} THEN 'serial' ELSE 'none' END`,
    ],
    ['a', `CASE e.k ${readings.join(' ')} END`],
    ['b', `CASE WHEN e.k = 'either' THEN ${reads('e.l', KINDS.either!.pattern, OTHER_READING)} END`],
    ['t', dayOf('e.a')],
    ['u', dayOf('e.b')],
    ['w', chosen('e.k', 'e.t', 'e.u', styles.dates)],
    ['v', 'CASE WHEN year(e.w) BETWEEN 1900 AND 2099 THEN CAST(e.w AS VARCHAR) END'],
    [
      'p',
      [
        'CASE WHEN e.k IS NULL THEN NULL',
        `WHEN e.k = 'serial' THEN ${fails('date.excel_serial', serialReading())}`,
        `WHEN e.k = 'none' THEN ${fails('date.invalid')}`,
        `WHEN e.w IS NULL AND e.t IS NOT NULL AND e.u IS NOT NULL THEN ${fails('date.ambiguous', bothReadings())}`,
        `WHEN e.w IS NULL AND (e.t IS NOT NULL OR e.u IS NOT NULL) THEN ${fails('date.order', onlyReading())}`,
        `WHEN e.w IS NULL THEN ${fails('date.impossible')}`,
        `WHEN e.v IS NULL THEN ${fails('date.implausible')} END`,
      ].join(' '),
    ],
  ])
}

function reads(value: string, pattern: string, reading: string): string {
  return `regexp_replace(${value}, ${text(`^${pattern}$`)}, ${text(reading)})`
}

/** year-month-day, the month as number or name, the year with two digits or four. */
function dayOf(reading: string): string {
  const year = `CASE WHEN strlen(split_part(${reading}, '-', 1)) = 2 THEN '20' ELSE '' END`
  const name = `split_part(${reading}, '-', 2)`
  const month = `CASE WHEN ${matches(name, '[0-9]+')} THEN ${name} ELSE coalesce(list_extract(${listOf(Object.values(MONTHS).map(String))}, list_position(${listOf(Object.keys(MONTHS))}, ${name})), '13') END`
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

function serialReading(): string {
  const day = `CAST(DATE '1899-12-30' + CAST(floor(CAST(e.x AS DECIMAL(18, 9))) AS INTEGER) AS VARCHAR)`
  const after = '. Format the column as a date before exporting, or write the date as YYYY-MM-DD.'
  return `${text('It may mean ')}, ${day}, ${text(after)}`
}

function bothReadings(): string {
  const after = `. ${WORDS['date.ambiguous']!.suggestion}`
  return `${text('It is either ')}, CAST(e.t AS VARCHAR), ${text(' or ')}, CAST(e.u AS VARCHAR), ${text(after)}`
}

function onlyReading(): string {
  return `${text('It can only mean ')}, CAST(coalesce(e.t, e.u) AS VARCHAR), ${text('. Write it as YYYY-MM-DD.')}`
}
