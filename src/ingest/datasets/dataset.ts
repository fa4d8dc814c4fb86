/**
 * What a file means, declared as data: the fields and the headers they go by, the rules, and the tables they
 * end up in. The same declaration can be JSON; only `check` needs TypeScript.
 */

/** Text that means "no value" in exports; compared after trimming. */
export const NULL_TOKENS = ['', '-', '--', '—', '–', 'N/A', 'n/a', 'NULL', 'null'] as const

export type FieldType =
  | 'text'
  | 'id'
  | 'integer'
  | 'decimal'
  | 'money'
  | 'percent'
  | 'date'
  | 'boolean'
  | 'enum'
  | 'currency'

export type Severity = 'error' | 'warning'
export type Alias = string | { header: string; micros?: true }

export interface Field {
  type: FieldType
  /** Headers by platform, or 'any'; the first one that a file has is used. */
  aliases: Record<string, Alias[]>
  title?: string
  required?: boolean
  /** A file must have a column for it, though cells may be empty; whoever uploads one that has none says so. */
  expected?: boolean
  /** How a value that breaks a rule counts; 'error' unless told. */
  severity?: Severity
  min?: number
  max?: number
  maxLength?: number
  /** RE2, must match the whole value. */
  pattern?: string
  /** Digits after the decimal point, at most 9. */
  scale?: number
  /** Enum: canonical value → spellings in any language. */
  values?: Record<string, string[]>
  /** Date: taken from two other fields when the file has no column for it, if both name the same day. */
  period?: { start: string; end: string }
  /** May be summed when a key repeats; so by default for integer and money. */
  additive?: boolean
}

export type Comparison = '<=' | '<' | '=' | '>=' | '>' | '<>'

export interface CrossRule {
  name: string
  severity: Severity
  compare: [field: string, comparison: Comparison, other: string | number]
  message: string
  suggestion?: string
}

/** refuse: none is taken; sum: one row with the sum of what is additive; last, first: that one, the others are left out. */
export const REPEATED_KEYS = ['refuse', 'sum', 'last', 'first'] as const
export type RepeatedKeys = (typeof REPEATED_KEYS)[number]

export interface RowType {
  name: string
  /** schema.table */
  target: string
  /** Its uuid primary key, allocated by us. */
  id?: string
  /** Target columns with a unique index. */
  key: string[]
  /** Fields that the header must have for this row type to be in the file; 'a|b': either. */
  requires: string[]
  /** Dimension rows: the field of the source's id, else the name within the parent. */
  identity?: { id?: string; name?: string; nameColumn?: string }
  /** Target column → field | '$client' | '$workspace' | '$platform' | '$identity' | '$<rowType>'. */
  columns: Record<string, string>
  /** Lines with the same key; 'refuse' unless told. An upload may choose otherwise. */
  duplicates?: RepeatedKeys
}

export interface Problem {
  line: number
  column: string | null
  field: string | null
  value: string | null
  rule: string
  message: string
  suggestion: string
}

export interface Dataset {
  name: string
  title: string
  version: number
  /** At least one; `totals` are further RE2 patterns of lines that only sum up others. */
  platforms: Record<string, { title: string; totals?: string[] }>
  fields: Record<string, Field>
  rules?: CrossRule[]
  /** In dependency order; the last one whose `requires` are in the header is the leaf: one row per line. */
  rows: RowType[]
  /** Whose data it is: a row of this table. */
  client?: { table: string; id: string; workspace: string; name: string }
  /** A table like public.data_uploads that is told of uploads. */
  uploads?: string
  /** The measure whose share, besides that of lines, must be valid where wrong lines are left out (LENIENT). */
  amount?: string
  /** 'keep' unless told: they stay in the raw payload and one note names them. */
  unknownColumns?: 'keep' | 'refuse'
  /** A rule in TypeScript: each row passes through JavaScript, which is slow. Not in JSON. */
  check?: (record: Record<string, unknown>) => Problem[]
}

export function titleOf(dataset: Dataset, field: string): string {
  return dataset.fields[field]?.title ?? field.replaceAll('_', ' ')
}
