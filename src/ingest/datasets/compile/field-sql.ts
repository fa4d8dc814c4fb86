/**
 * How one field is read, as SQL. Most values of a file are plain and take one regular expression; only the others
 * pass through `steps`, each a layer of the statement. Measured on 100,000 rows: a failing TRY_CAST costs 8 µs, a
 * regular expression 0.05 µs, so nothing is cast before a pattern has proved that it can be.
 */
import { NULL_TOKENS, type Severity } from '../dataset.ts'
import { BLANKS, text } from '../sql-text.ts'

export interface FieldProblem {
  rule: string
  /** SQL of the message and of the suggestion; both may use the columns of the field. */
  message: string
  suggestion: string
  severity: Severity
}

export interface FieldSql {
  /** Columns computed from the cell before anything else. */
  first?: Record<string, string>
  /** True where the cell is plainly right; NULL and false take the steps. */
  plain: string
  plainValue: string
  /** Layers for cells that are not plain; the cleaned cell is `<prefix>_x`, NULL where there is none. */
  steps: Record<string, string>[]
  /** The value where the cell is not plain. */
  value: string
  /** The broken rule, or NULL. */
  problem: string
  problems: FieldProblem[]
  /** How the value is written into JSON. */
  json: 'raw' | 'quoted' | 'escaped'
}

/** Columns of the statement that belong to one field. */
export function columnsOf(index: number) {
  const prefix = `f${index}`
  return {
    /** The cell. */
    cell: `${prefix}_c`,
    plain: `${prefix}_q`,
    /** The cleaned cell where it is not plain. */
    cleaned: `${prefix}_x`,
    value: `${prefix}_v`,
    problem: `${prefix}_p`,
    /** A column of the field's own steps. */
    step: (name: string) => `${prefix}_${name}`,
  }
}

export type FieldColumns = ReturnType<typeof columnsOf>

const tokens = NULL_TOKENS.map(text).join(', ')

/** Trimmed, and NULL where it says that there is nothing. */
export function cleanedCell(cell: string): string {
  const trimmed = `trim(${cell}, ${text(BLANKS)})`
  return `CASE WHEN strlen(${trimmed}) > 5 THEN ${trimmed} WHEN ${trimmed} IN (${tokens}) THEN NULL ELSE ${trimmed} END`
}

/** Decimal text without the zeros that a cast to DECIMAL adds. */
export function withoutZeros(decimal: string): string {
  return `rtrim(rtrim(CAST(${decimal} AS VARCHAR), '0'), '.')`
}
