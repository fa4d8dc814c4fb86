/**
 * How a file writes numbers and dates, from evidence in all of its lines: 12,50 or 31/01/2024 anywhere settles
 * what 1,234 or 01/02/2024 means everywhere. And which of its columns are plain throughout.
 */
import { duckName } from '../duckdb.ts'
import { BEFORE, BEHIND, MARKED, NAMED, SPACES } from './compile/number.ts'
import type { CompileInput } from './compile/plan.ts'
import { type ColumnEvidence, columnEvidence, plainColumns } from './plain-columns.ts'
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
  /** Amounts with a currency beside them, and those whose currency is named by that. */
  marked: number | string
  named: number | string
  /** Of a field's column, by COLUMN and its name. */
  [column: string]: ColumnEvidence
}

const COLUMN = 'column '

const NUMBERS = new Set(['integer', 'decimal', 'money', 'percent'])
/** Values that only one style can have written; 1,234 and 1.234 are not among them. Signs and codes may stand around. */
const SURE = { dot: sure('\\.', ','), comma: sure(',', '\\.') }
/** A whole number has no decimals, so a mark before three digits groups thousands; but 12.000 may be twelve. */
const SURE_WHOLE = { dot: sureWhole(','), comma: sureWhole('\\.') }

function sure(decimal: string, group: string): string {
  const forms = [
    `[0-9]+${decimal}(?:[0-9]{1,2}|[0-9]{4,})`,
    `0?${decimal}[0-9]{3}`,
    `[0-9]{4,}${decimal}[0-9]{3}`,
    `[0-9]{1,3}(?:${group}[0-9]{3})+${decimal}[0-9]+`,
    `[0-9]{1,3}(?:[${SPACES}][0-9]{3})+${decimal}[0-9]+`,
    `[0-9]{1,3}(?:${group}[0-9]{3}){2,}`,
  ]
  return `${BEFORE}(?:${forms.join('|')})${BEHIND}`
}

function sureWhole(group: string): string {
  return `^[1-9][0-9]{0,2}(?:${group}[0-9]{3})*${group}(?:[1-9][0-9]{2}|0[1-9][0-9]|00[1-9])$|^[1-9][0-9]{0,2}(?:${group}[0-9]{3}){2,}$`
}

const DAY_FIRST = '^\\s*(?:1[3-9]|2[0-9]|3[01])[/-](?:0?[1-9]|1[0-2])[/-][0-9]{2}'
const MONTH_FIRST = '^\\s*(?:0?[1-9]|1[0-2])[/-](?:1[3-9]|2[0-9]|3[01])[/-][0-9]{2}'

/** One aggregate over all chunks: a row of Evidence. */
export function profileSql(input: Omit<CompileInput, 'styles' | 'source'>, source: string): string {
  const counts = { dot: ['0'], comma: ['0'], dmy: ['0'], mdy: ['0'], marked: ['0'], named: ['0'] }
  for (const { column, type } of Object.values(input.map.fields)) {
    const cell = `c${column}`
    if (type === 'date') {
      counts.dmy.push(times(`regexp_matches(${cell}, ${text(DAY_FIRST)})`))
      counts.mdy.push(times(`regexp_matches(${cell}, ${text(MONTH_FIRST)})`))
    }
    if (!NUMBERS.has(type)) continue
    if (type === 'money') {
      counts.marked.push(times(`regexp_matches(${cell}, ${text(MARKED)})`))
      counts.named.push(times(`regexp_matches(${cell}, ${text(NAMED)})`))
    }
    const sure = type === 'integer' ? SURE_WHOLE : SURE
    // Looking for the mark first spares the regular expression on most values.
    const [point, comma] = [`contains(${cell}, '.')`, `contains(${cell}, ',')`]
    const either = `${comma} OR ${point}`
    counts.dot.push(times(guarded(type === 'integer' ? comma : either, cell, sure.dot)))
    counts.comma.push(times(guarded(type === 'integer' ? point : either, cell, sure.comma)))
  }
  const styles = Object.entries(counts).map(([name, parts]) => `${parts.join(' + ')} AS ${name}`)
  const columns = Object.entries(columnEvidence(input)).map(
    ([name, evidence]) => `${evidence} AS ${duckName(COLUMN + name)}`,
  )
  return `SELECT ${[...styles, ...columns].join(', ')} FROM ${source}`
}

/** `told` is how a person says that the file is written. */
export function profileOf(
  evidence: Evidence,
  delimiter: string | null,
  told: Partial<Styles> = {},
): Required<Pick<CompileInput, 'styles' | 'plain' | 'signs'>> {
  const styles = { ...stylesOf(evidence, delimiter), ...told }
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

function guarded(guard: string, cell: string, pattern: string): string {
  return `CASE WHEN ${guard} THEN regexp_matches(${cell}, ${text(pattern)}) ELSE false END`
}
