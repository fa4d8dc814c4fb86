/**
 * How one field is read, as SQL. Most cells of a file are plain and take one regular expression. The others of a
 * line are gathered by kind into one list, so that the long way is written once per kind and not once per field:
 * every node of an expression holds a vector, and with a field each the statement did not fit into 128 MB.
 * Nothing is cast before a pattern has proved that it can be: a failing TRY_CAST costs 8 µs, a pattern 0.05 µs.
 */
import { NULL_TOKENS, type Severity } from '../dataset.ts'
import { BLANKS, text } from '../sql-text.ts'

/** Which long way a cell takes. */
export type Kind = 'number' | 'date' | 'id'

export interface FieldSql {
  /** Columns of the field's own, in layers, before it is known whether the cell is plain. */
  first: Record<string, string>[]
  /** True where the cell is plainly right. */
  plain: string
  plainValue: string
  /** The long way, and what it must know of the field; without a kind `value` and `problem` say it all. */
  kind?: Kind
  entry?: Record<string, string>
  value?: string
  /** A finding without its field (see `finding`), or NULL. */
  problem?: string
  /** How the value is written into JSON. */
  json: 'raw' | 'quoted' | 'escaped'
}

/** Columns of the statement that belong to one field. */
export function columnsOf(index: number, cell: string) {
  const prefix = `f${index}`
  return {
    index,
    cell,
    plain: `${prefix}_q`,
    value: `${prefix}_v`,
    /** A finding, or NULL. */
    problem: `${prefix}_p`,
    /** A column of the field's own. */
    own: (name: string) => `${prefix}_${name}`,
  }
}

export type FieldColumns = ReturnType<typeof columnsOf>

/** Parts of a finding: severity, rule, suggestion where it depends on the value. */
export const SEPARATOR = '\u001f'

/** The broken rule as text; what it means in words is looked up when it is reported. */
export function finding(severity: Severity, rule: string, suggestion?: string): string {
  const head = `${severity === 'error' ? 'E' : 'W'}${SEPARATOR}${rule}${SEPARATOR}`
  return suggestion ? `concat(${text(head)}, ${suggestion})` : text(head)
}

/** The same where the severity is a column: 'E' or 'W'. */
export function findingOf(severity: string, rule: string, suggestion?: string): string {
  return `concat(${severity}, ${text(`${SEPARATOR}${rule}${SEPARATOR}`)}${suggestion ? `, ${suggestion}` : ''})`
}

const TOKENS = `[${NULL_TOKENS.map(text).join(', ')}]`

export function trimmed(cell: string): string {
  return `trim(${cell}, ${text(BLANKS)})`
}

/** NULL where a trimmed cell says that there is nothing. */
export function unlessNothing(cell: string): string {
  return `CASE WHEN strlen(${cell}) < 6 AND list_contains(${TOKENS}, ${cell}) THEN NULL ELSE ${cell} END`
}

/** Decimal text without the zeros that a cast to DECIMAL adds. */
export function withoutZeros(decimal: string): string {
  return `rtrim(rtrim(CAST(${decimal} AS VARCHAR), '0'), '.')`
}

/** Each lambda adds one member to the entries of a list. */
export function withMembers(list: string, members: [name: string, expression: string][]): string {
  return members.reduce(
    (inner, [name, expression]) =>
      `list_transform(${inner}, lambda e: struct_insert(e, ${name} := ${expression}))`,
    list,
  )
}
