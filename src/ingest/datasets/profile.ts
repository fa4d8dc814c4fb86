/**
 * How a file writes numbers and dates, from evidence in all of its lines: 12,50 or 31/01/2024 anywhere settles
 * what 1,234 or 01/02/2024 means everywhere. And which of its columns are plain throughout.
 */
import { duckName } from '../duckdb-text.ts'
import { MARKED, NAMED, NUMBER_PREFIX, NUMBER_SUFFIX, SPACES } from './compile-fields.ts'
import { type CompileInput, cellLayers, nestLayers, type PlannedField, planFields } from './compile-plan.ts'
import { isTransformed } from './compile-transforms.ts'
import { text } from './sql-text.ts'

export interface Styles {
  /** 'mixed' and 'unknown': a value that both styles can have written is not read. */
  decimal: 'dot' | 'comma' | 'mixed' | 'unknown'
  dates: 'dmy' | 'mdy' | 'mixed' | 'unknown'
}

export interface Evidence {
  dot: number | string
  comma: number | string
  dmy: number | string
  mdy: number | string
  /** Amounts with a currency sign or code, and those whose sign or code names one currency. */
  marked: number | string
  named: number | string
  /** Of a field's column, by COLUMN and its name. */
  [column: string]: ColumnEvidence
}

const COLUMN = 'column '

const NUMBERS = new Set(['integer', 'decimal', 'money', 'percent'])
const DAYS = new Set(['date', 'timestamp', 'timestamptz'])
/** Values that only one style can have written; 1,234 and 1.234 are not among them. Signs and codes may stand around. */
export const UNAMBIGUOUS = { dot: decimalPattern('\\.', ','), comma: decimalPattern(',', '\\.') }
/** A whole number has no decimals, so a mark before three digits groups thousands; but 12.000 may be twelve. */
const UNAMBIGUOUS_INTEGER = { dot: groupedPattern(','), comma: groupedPattern('\\.') }

function decimalPattern(decimal: string, group: string): string {
  const forms = [
    `[0-9]+${decimal}(?:[0-9]{1,2}|[0-9]{4,})`,
    `0?${decimal}[0-9]{3}`,
    `[0-9]{4,}${decimal}[0-9]{3}`,
    `[0-9]{1,3}(?:${group}[0-9]{3})+${decimal}[0-9]+`,
    `[0-9]{1,3}(?:[${SPACES}][0-9]{3})+${decimal}[0-9]+`,
    `[0-9]{1,3}(?:${group}[0-9]{3}){2,}`,
  ]
  return `${NUMBER_PREFIX}(?:${forms.join('|')})${NUMBER_SUFFIX}`
}

function groupedPattern(group: string): string {
  return `^[1-9][0-9]{0,2}(?:${group}[0-9]{3})*${group}(?:[1-9][0-9]{2}|0[1-9][0-9]|00[1-9])$|^[1-9][0-9]{0,2}(?:${group}[0-9]{3}){2,}$`
}

export const DAY_FIRST = '^\\s*(?:1[3-9]|2[0-9]|3[01])[/-](?:0?[1-9]|1[0-2])[/-][0-9]{2}'
export const MONTH_FIRST = '^\\s*(?:0?[1-9]|1[0-2])[/-](?:1[3-9]|2[0-9]|3[01])[/-][0-9]{2}'

/** One aggregate over all chunks: a row of Evidence. */
export function profileSql(input: Omit<CompileInput, 'styles' | 'source'>, source: string): string {
  const counts = { dot: ['0'], comma: ['0'], dmy: ['0'], mdy: ['0'], marked: ['0'], named: ['0'] }
  const { fields } = planFields({ ...input, styles: { decimal: 'unknown', dates: 'unknown' }, source: '' })
  const transformed = fields.filter(({ field }) => isTransformed(field))
  for (const { field, mapped, at } of fields) {
    const { type } = field
    const cell = isTransformed(field) ? at.cell : `c${mapped.column}`
    if (DAYS.has(type)) {
      counts.dmy.push(times(`regexp_matches(${cell}, ${text(DAY_FIRST)})`))
      counts.mdy.push(times(`regexp_matches(${cell}, ${text(MONTH_FIRST)})`))
    }
    if (!NUMBERS.has(type)) continue
    if (type === 'money') {
      counts.marked.push(times(`regexp_matches(${cell}, ${text(MARKED)})`))
      counts.named.push(times(`regexp_matches(${cell}, ${text(NAMED)})`))
    }
    const sure = type === 'integer' ? UNAMBIGUOUS_INTEGER : UNAMBIGUOUS
    // Looking for the mark first spares the regular expression on most values.
    const [point, comma] = [`contains(${cell}, '.')`, `contains(${cell}, ',')`]
    const either = `${comma} OR ${point}`
    counts.dot.push(times(matchesIf(type === 'integer' ? comma : either, cell, sure.dot)))
    counts.comma.push(times(matchesIf(type === 'integer' ? point : either, cell, sure.comma)))
  }
  const styles = Object.entries(counts).map(([name, parts]) => `${parts.join(' + ')} AS ${name}`)
  const columns = Object.entries(columnEvidence(input)).map(
    ([name, evidence]) => `${evidence} AS ${duckName(COLUMN + name)}`,
  )
  return `SELECT ${[...styles, ...columns].join(', ')} FROM ${nestLayers(source, cellLayers(transformed))}`
}

/** `given`: how a person says that the file is written. */
export function profileOf(
  evidence: Evidence,
  delimiter: string | null,
  given: Partial<Styles> = {},
): Required<Pick<CompileInput, 'styles' | 'plain' | 'signs'>> {
  const styles = { ...stylesOf(evidence, delimiter), ...given }
  const columns = Object.entries(evidence).flatMap(([name, found]) =>
    name.startsWith(COLUMN) ? [[name.slice(COLUMN.length), found] as const] : [],
  )
  const signs = Number(evidence.named) > 0 ? 'named' : Number(evidence.marked) > 0 ? 'open' : 'none'
  return { styles, plain: plainColumns(Object.fromEntries(columns), styles), signs }
}

/** In formats with numbers of their own, which have no delimiter, the decimal point is part of the format. */
export function stylesOf(
  evidence: Pick<Evidence, 'dot' | 'comma' | 'dmy' | 'mdy'>,
  delimiter: string | null = null,
): Styles {
  const found = (value: number | string) => Number(value) > 0
  const [dot, comma, dmy, mdy] = [evidence.dot, evidence.comma, evidence.dmy, evidence.mdy].map(found)
  return {
    decimal: dot && comma ? 'mixed' : comma ? 'comma' : dot || delimiter === null ? 'dot' : 'unknown',
    dates: dmy && mdy ? 'mixed' : dmy ? 'dmy' : mdy ? 'mdy' : 'unknown',
  }
}

function times(condition: string): string {
  return `coalesce(count_if(${condition}), 0)`
}

function matchesIf(guard: string, cell: string, pattern: string): string {
  return `CASE WHEN ${guard} THEN regexp_matches(${cell}, ${text(pattern)}) ELSE false END`
}

// Columns in which every cell of a file is plain or empty. Nothing can be wrong with how their values are written, so
// the statement that checks the lines has one short expression for each of them, and none of the long way. It is planned
// for every chunk: with 15 plain columns in 10 ms, by the long way in 30, and a line is checked in half the time.

/** By field. */
export type PlainColumns = ReadonlyMap<string, { isFilled: boolean }>

/**
 * What a column has in it: a sum of these. Whether a number with a mark is odd depends on how the file writes decimals;
 * where it does not settle that, each of them is.
 */
type ColumnEvidence = number | string | null
const ODD: Record<Styles['decimal'], number> = { dot: 1, comma: 2, unknown: 4, mixed: 4 }
const ODD_IN_ANY = 7
const EMPTY = 8

/** Field → SQL of its evidence, an aggregate. A field with remembered values or transforms is not looked at. */
function columnEvidence(input: Omit<CompileInput, 'styles' | 'source'>): Record<string, string> {
  const read = (decimal: Styles['decimal']) =>
    planFields({ ...input, styles: { decimal, dates: 'unknown' }, source: '' })
  const [dot, comma, unknown] = [read('dot'), read('comma'), read('unknown')]
  const fields = unknown.fields.filter(({ steps }) => steps.length === 0)
  return Object.fromEntries(
    fields.map((planned) => {
      const [withDot, withComma] = [dot, comma].map(({ byName }) => byName.get(planned.name)!)
      return [planned.name, columnEvidenceSql(planned, withDot!, withComma!)]
    }),
  )
}

function columnEvidenceSql(
  { at: { cell }, sql }: PlannedField,
  dot: PlannedField,
  comma: PlannedField,
): string {
  const cases = [`WHEN ${cell} = '' THEN ${EMPTY}`]
  if (sql.kind === 'number') {
    // Without a mark a number is the same in every style.
    const odd = (read: PlannedField, bit: number) =>
      `CASE WHEN ${read.sql.whole.holds} THEN 0 ELSE ${bit} END`
    const marked = `${ODD.unknown} + ${odd(dot, ODD.dot)} + ${odd(comma, ODD.comma)}`
    cases.push(`WHEN contains(${cell}, '.') OR contains(${cell}, ',') THEN ${marked}`)
  }
  return `bit_or(CASE ${cases.join(' ')} WHEN ${sql.whole.holds} THEN 0 ELSE ${ODD_IN_ANY} END)`
}

function plainColumns(found: Readonly<Record<string, ColumnEvidence>>, { decimal }: Styles): PlainColumns {
  const plain = Object.entries(found).flatMap(([name, evidence]) => {
    // Of a file without lines nothing is known.
    const bits = evidence === null ? ODD_IN_ANY : Number(evidence)
    return (bits & ODD[decimal]) === 0 ? [[name, { isFilled: (bits & EMPTY) === 0 }] as const] : []
  })
  return new Map(plain)
}
