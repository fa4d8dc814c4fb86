/**
 * How one field is read, as SQL. Most cells of a file are plain and take one regular expression. The others of a
 * line are gathered by kind into one list, so that the long way is written once per kind and not once per field:
 * every node of an expression holds a vector, and with a field each the statement did not fit into 128 MB.
 * Nothing is cast before a pattern has proved that it can be: a failing TRY_CAST costs 8 µs, a pattern 0.05 µs.
 */
import { NULL_TOKENS, type Severity } from '../dataset.ts'
import { BLANKS, listOf, text } from '../sql-text.ts'
import { WORDS, type Words } from './words.ts'

/** Which long way a cell takes. */
export type Kind = 'number' | 'date' | 'id'

export interface FieldSql {
  /** Columns of the field's own, in layers, before it is known whether the cell is plain. */
  first: Record<string, string>[]
  /** True where the cell is plainly right. */
  plain: string
  plainValue: string
  /** Where `holds` is true of every cell of a column, or it is empty, `value` reads them: see plain-columns.ts. */
  whole: { holds: string; value: string }
  /** The long way, and what it must know of the field; without a kind `value` and `problem` say it all. */
  kind?: Kind
  entry?: Record<string, string>
  value?: string
  /** A broken rule (see `finding`), or NULL. */
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
    /** A broken rule (see `finding`), or NULL. */
    problem: `${prefix}_p`,
    /** A column of the field's own. */
    own: (name: string) => `${prefix}_${name}`,
  }
}

export type FieldColumns = ReturnType<typeof columnsOf>

/**
 * A broken rule: 'E' or 'W', then the end of its JSON object. The rest, line, column and value, is put before it
 * where the field is known.
 */
export function finding(severity: Severity, rule: string, suggestion?: string): string {
  return findingOf(severity === 'error' ? `'E'` : `'W'`, rule, suggestion)
}

/** The same where the severity is SQL; `suggestion` is SQL too, the parts of a text. */
export function findingOf(severity: string, rule: string, suggestion?: string): string {
  const words = WORDS[rule]!
  if (!suggestion) return `concat(${severity}, ${text(ending(rule, words))})`
  const head = ending(rule, words).replace(/"suggestion":.*$/s, '"suggestion":')
  return `concat(${severity}, ${text(head)}, to_json(concat(${suggestion})), '}')`
}

export function ending(rule: string, { message, suggestion }: Words): string {
  return `,"rule":${JSON.stringify(rule)},"message":${JSON.stringify(message)},"suggestion":${JSON.stringify(suggestion)}}`
}

const TOKENS = listOf(NULL_TOKENS)

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
