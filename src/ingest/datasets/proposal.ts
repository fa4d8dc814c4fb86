/** What a proposed dataset consists of, and what is asked about it: shared by the matching, the key and the doubts. */
import type { TableColumn } from './catalogue.ts'
import type { DatasetDeclaration, FieldType } from './dataset.ts'
import type { Certainty } from './match-columns.ts'

export const PERCENT_FORMS = ['fraction', 'points'] as const
export type PercentForm = (typeof PERCENT_FORMS)[number]

/** What a person has said already. */
export interface Answers {
  /** Header → column; null: the column of the file is ignored. */
  readonly map?: Readonly<Record<string, string | null>>
  readonly key?: readonly string[]
  /** The time zone of timestamps that name none. */
  readonly zone?: string
  /** Of the dataset; default: that of the table. */
  readonly name?: string
  /** What separates the items of an array, by column. */
  readonly separators?: Readonly<Record<string, string>>
  /** What a column has for 80 %, by column: 0.8 or 80. */
  readonly percents?: Readonly<Record<string, PercentForm>>
  /** How the file is written, where nothing in it tells. */
  readonly dates?: 'dmy' | 'mdy'
  readonly decimal?: 'dot' | 'comma'
}

export interface ProposedColumn {
  readonly header: string
  /** Of the table; null: the file's column is not used. */
  readonly column: string | null
  readonly certainty: Certainty
  readonly reasons: readonly string[]
  readonly examples: readonly string[]
  /** How values become those of the column: `money`, `looked up in public.categories by name`. */
  readonly as: string | null
  /** Columns that it may be instead. */
  readonly others: readonly string[]
  /** Matched, but the database fills the column itself. */
  readonly leftToDatabase?: true
  /** Not used because somebody has said so. */
  readonly ignored?: true
}

export interface Question {
  readonly about: 'column' | 'key' | 'key column' | 'zone' | 'separator' | 'percent' | 'dates' | 'decimal'
  /** Of the file. */
  readonly header?: string
  /** Of the table. */
  readonly column?: string
  readonly text: string
  /** Answers to choose from, the likeliest first; empty: any text. */
  readonly choices: readonly string[]
  /** The option of `stagedoor init` that answers it. */
  readonly option: string
}

export interface Proposal {
  readonly dataset: DatasetDeclaration
  readonly columns: readonly ProposedColumn[]
  /** Columns of the table that the file does not fill, and what does; null: nothing, they are NULL in new rows. */
  readonly left: readonly { readonly column: string; readonly why: string | null }[]
  /** Columns that must have a value and that nothing fills: new rows are refused by the database. */
  readonly missing: readonly string[]
  readonly questions: readonly Question[]
  /** Why there can be no dataset, each with what would help. */
  readonly obstacles: readonly Obstacle[]
}

export interface Obstacle {
  readonly problem: string
  readonly remedy: string | null
}

export interface Pair {
  /** Of the file's column. */
  readonly index: number
  readonly header: string
  readonly column: TableColumn | null
  readonly certainty: Certainty
  readonly reasons: readonly string[]
  readonly others: readonly string[]
  readonly values: readonly string[]
  /** A person has said what it is, or that it is ignored. */
  readonly confirmed?: true
  /** What its values leave open. */
  readonly doubt?: Question
}

// Columns of a table.

/** Filled by a sequence, or by a function for uuids: an id that means nothing outside of the database. */
export function isSurrogate({ identity, default: fallback, base }: TableColumn): boolean {
  return identity !== null || /\bnextval\(/.test(fallback ?? '') || (base === 'uuid' && fallback !== null)
}

export const TYPES: Readonly<Record<string, FieldType>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'decimal',
  float4: 'decimal',
  float8: 'decimal',
  money: 'money',
  bool: 'boolean',
  date: 'date',
  time: 'time',
  timetz: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  uuid: 'uuid',
  json: 'json',
  jsonb: 'json',
}

/** The type of field that a column of PostgreSQL is. */
export function columnFieldType({ base, labels, items }: TableColumn): FieldType {
  if (items !== null) return 'array'
  if (labels !== null) return 'enum'
  return TYPES[base] ?? 'text'
}

/** `name=value` as a word of a shell. */
export function setOption(name: string, value: string): string {
  return `"${`${name}=${value}`.replace(/["\\$`]/g, '\\$&')}"`
}
