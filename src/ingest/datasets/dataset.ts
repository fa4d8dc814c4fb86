/**
 * What a file means, declared as data: the fields and the headers they go by, the rules, and the tables they
 * end up in. The same declaration can be JSON; only `check` needs TypeScript. `DatasetDeclaration` is what people write;
 * `Dataset` is the same with what may be left out filled in (declare.ts).
 */

/** Text that means "no value" in exports; compared after trimming. */
export const NULL_TOKENS = ['', '-', '--', '—', '–', 'N/A', 'n/a', 'NULL', 'null'] as const

export const FIELD_TYPES = [
  'text',
  'id',
  'integer',
  'decimal',
  'money',
  'percent',
  'boolean',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'uuid',
  'json',
  'enum',
  'currency',
  'array',
  'email',
  'url',
] as const
export type FieldType = (typeof FIELD_TYPES)[number]

export type Severity = 'error' | 'warning'
type Alias = string | { header: string; micros?: true }

export interface Field {
  type: FieldType
  /** Headers by platform, or 'any'; the first one that a file has is used. */
  aliases: Record<string, Alias[]>
  title?: string
  required?: boolean
  /** A file must have a column for it, though cells may be empty; the uploader must confirm a file without it. */
  expected?: boolean
  /** How a value that breaks a rule counts; default 'error'. */
  severity?: Severity
  min?: number
  max?: number
  maxLength?: number
  /** RE2, must match the whole value. */
  pattern?: string
  /** Digits after the decimal point, at most 9. */
  scale?: number
  /** Digits before and after the decimal point together, as in numeric(10, 2). */
  precision?: number
  /** timestamptz: the time zone of values that name none (Europe/Berlin, +02:00). Without it such a value is an error. */
  zone?: string
  /** array: the type of its items, and what separates them in a cell; default text and a comma. */
  items?: Exclude<FieldType, 'array' | 'json'>
  separator?: string
  /** The value is looked up in a table (`lookups`), and the row gets what is found there. */
  lookup?: string
  // Transforms, applied to the cell in this order before it is read.
  /** Joined from the cells of other fields; the file needs no column for it. Empty cells are left out. */
  join?: { fields: string[]; separator: string }
  /** One part of the cell, counted from 1, or from the end by -1. */
  split?: { separator: string; part: number }
  /** RE2 patterns, each replaced everywhere. */
  replace?: { pattern: string; with: string }[]
  case?: 'upper' | 'lower'
  /** Cell → value to take; null: none. Other cells stay as they are. */
  map?: Record<string, string | null>
  /** Taken where the cell is empty. */
  default?: string
  /** CEL over the values of other fields; the file needs no column for it. */
  compute?: string
  /** Enum: canonical value → spellings in any language. */
  values?: Record<string, string[]>
  /** Date: taken from two other fields when the file has no column for it, if both name the same day. */
  period?: { start: string; end: string }
  /** May be summed when a key repeats; so by default for integer and money. */
  additive?: boolean
}

type Comparison = '<=' | '<' | '=' | '>=' | '>' | '<>'

interface RuleText {
  name: string
  severity: Severity
  message: string
  suggestion?: string
}

/** Holds where either value is missing. */
interface ComparisonRule extends RuleText {
  compare: [field: string, comparison: Comparison, other: string | number]
}

/** CEL over the values of a line, true where the line is right: `price >= cost || discount == null`. */
export interface ExpressionRule extends RuleText {
  check: string
}

type CrossRule = ComparisonRule | ExpressionRule

export function isExpressionRule(rule: CrossRule): rule is ExpressionRule {
  return 'check' in rule
}

/** A query over the tables of a dataset as they would be after the promotion. It returns no row where it holds. */
export interface Assertion {
  name: string
  /**
   * One SELECT. Row types are tables of their name (and of their table's), other tables have their schema: `select account
   * from entry group by account having coalesce(sum(debit), 0) <> coalesce(sum(credit), 0)`. The rows that it returns contradict it, and are shown.
   */
  sql: string
  /** error (default): the plan is refused, and so is a promotion after which it does not hold. */
  severity?: Severity
  /** What it means, for people. */
  message?: string
  /** How long its query may take; default 10, at most 300. */
  seconds?: number
}

/** refuse: none is taken; sum: one row with the sum of what is additive; last, first: that one, the others are left out. */
export const REPEATED_KEYS = ['refuse', 'sum', 'last', 'first'] as const
export type RepeatedKeys = (typeof REPEATED_KEYS)[number]

export const OWN_TOTALS_SETTINGS = ['warn', 'refuse'] as const
type OwnTotalsSetting = (typeof OWN_TOTALS_SETTINGS)[number]

/** upsert: new rows are inserted, others updated; insert: existing rows are refused; update: new rows are refused. */
export const MODES = ['upsert', 'insert', 'update', 'snapshot'] as const
export type Mode = (typeof MODES)[number]

/** Of a table that is open to pull requests in SQL: it takes no file, and nobody declares it. */
export const STATEMENT_MODE = 'statement'

/** A table that is read, not written: the value of a field is found in the column `by`, and the row gets the column `value`. */
export interface Lookup {
  /** schema.table */
  table: string
  /** A column with a unique index of its own. */
  by: string
  value: string
  /** Upper and lower case are the same. */
  ignoreCase?: true
}

export interface RowType {
  name: string
  /** schema.table */
  target: string
  /**
   * The column by which other rows refer to it. A uuid is allocated by us; an identity or serial column is taken from its
   * sequence when planned; any other type is a natural key that `columns` fills.
   */
  id?: string
  /** Target columns with a unique index. */
  key: string[]
  /** Fields that the header must have for this row type to be in the file; 'a|b': either. Default: the fields of its key. */
  requires: string[]
  /** Dimension rows: the field of the source's id, else the name within the parent. */
  identity?: { id?: string; name?: string; nameColumn?: string }
  /** A line may have none: then the columns of other rows that refer to it are NULL. */
  optional?: true
  /** Target column → field | '$client' | '$workspace' | '$platform' | '$identity' | '$<rowType>'. */
  columns: Record<string, string>
  /** Lines with the same key; default 'refuse'. An upload may choose otherwise. */
  duplicates?: RepeatedKeys
  /** Default 'upsert'. 'snapshot': the file is the whole truth, and rows that it lacks are deleted. Only for the leaf. */
  mode?: Mode | typeof STATEMENT_MODE
  snapshot?: {
    /** Columns: only rows that agree in them with a line of the file can be deleted. Default: all rows of the tenant. */
    scope?: string[]
    /** The plan is refused when a larger share of the rows in scope would be deleted; default 0.1. */
    maxDeleted?: number
  }
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

/** What a dataset without platforms has: files that come from one source. */
export const ONLY_PLATFORM = 'file'

export interface Dataset {
  /** For editors. */
  $schema?: string
  name: string
  title: string
  version: number
  /** Where files come from; at least one. `totals` are further RE2 patterns of lines that only sum up others. */
  platforms: Record<string, { title: string; totals?: string[] }>
  fields: Record<string, Field>
  rules?: CrossRule[]
  lookups?: Record<string, Lookup>
  /** In dependency order; the last one whose `requires` are in the header is the leaf: one row per line. */
  rows: RowType[]
  /** Whose data it is: a row of this table. */
  client?: { table: string; id: string; workspace: string; name: string }
  /** A table such as public.data_uploads that gets a row for each upload. */
  uploads?: string
  /** The measure whose share, besides that of lines, must be valid where wrong lines are left out (LENIENT). */
  amount?: string
  /** Default 'keep': they stay in the raw payload and one note names them. */
  unknownColumns?: 'keep' | 'refuse'
  /** Lines that sum up others ("Total") and disagree with their lines: default 'warn'; 'refuse': the plan cannot be submitted. */
  ownTotals?: OwnTotalsSetting
  /** Of the tables after the promotion: "debits equal credits". */
  assertions?: Assertion[]
  /** A rule in TypeScript: each row passes through JavaScript, which is slow. Not in JSON. */
  check?: (record: Record<string, unknown>) => Problem[]
}

/** A dataset as people write it: title, version and platforms may be left out, `aliases` may be a list, `requires` too. */
export interface DatasetDeclaration
  extends Omit<Dataset, 'title' | 'version' | 'platforms' | 'fields' | 'rows'> {
  /** Of a file that `stagedoor init` wrote: its digest, by which edits are noticed. */
  $init?: string
  title?: string
  version?: number
  platforms?: Dataset['platforms']
  fields: Record<string, FieldDeclaration>
  rows: RowTypeDeclaration[]
}

export interface FieldDeclaration extends Omit<Field, 'aliases'> {
  /** Headers, or headers by platform. */
  aliases?: Alias[] | Field['aliases']
}

export interface RowTypeDeclaration extends Omit<RowType, 'requires'> {
  requires?: string[]
}

/** Fills in what a declaration leaves out. */
export function completeDataset({ $init: _, ...declared }: DatasetDeclaration): Dataset {
  const fields = Object.entries(declared.fields).map(([name, field]): [string, Field] => {
    const aliases = Array.isArray(field.aliases) ? { any: field.aliases } : (field.aliases ?? {})
    return [name, { ...field, aliases }]
  })
  return {
    ...declared,
    title: declared.title ?? titleFromName(declared.name),
    version: declared.version ?? 1,
    platforms: declared.platforms ?? { [ONLY_PLATFORM]: { title: 'File' } },
    fields: Object.fromEntries(fields),
    rows: declared.rows.map((row) => ({ ...row, requires: row.requires ?? keyFields(declared, row) })),
  }
}

function titleFromName(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A field that is joined or computed has no column of its own. */
function keyFields({ fields }: DatasetDeclaration, { key, columns }: RowTypeDeclaration): string[] {
  return key
    .map((column) => columns[column])
    .filter((source) => source !== undefined && fields[source] !== undefined)
    .filter((source) => !fields[source!]!.join && fields[source!]!.compute === undefined) as string[]
}

export function titleOf(dataset: Dataset, field: string): string {
  return dataset.fields[field]?.title ?? field.replaceAll('_', ' ')
}
