/** What is compiled: the fields that the file has, with their columns in the statement, and those derived. */
import { type Dataset, type Field, type RowType, titleOf } from '../dataset.ts'
import { CURRENCIES_BY_SIGN } from '../header-name.ts'
import type { HeaderMap, MappedField } from '../map-headers.ts'
import type { PlainColumns } from '../plain-columns.ts'
import type { Period } from '../preamble.ts'
import type { Styles } from '../profile.ts'
import { choiceSql } from './choice.ts'
import { dateSql } from './date.ts'
import { columnsOf, type FieldColumns, type FieldSql } from './field-sql.ts'
import { idSql } from './id.ts'
import { numberSql } from './number.ts'
import { textSql } from './text.ts'

export interface CompileInput {
  dataset: Dataset
  platform: string
  map: HeaderMap
  styles: Styles
  /** A DuckDB table function over chunks. */
  source: string
  upload: { workspace_id: string; client_id: string | null; upload_id: string }
  /** Of the rows that one statement makes, and of the request that brought the file; a line that someone types keeps those it has. */
  batch_id?: string
  request_id?: string
  /** The date line above the header; used where the file has no column for the day. */
  preamblePeriod?: Period | null
  /** Remembered values: field → text as written → text that is meant. */
  values?: Record<string, Record<string, string | null>>
  /** What is known of all lines of `source`; unknown, as of a line that someone types, all is looked at. */
  plain?: PlainColumns
  /** Currencies beside amounts: none, only signs that several use, or also such as name one. Unknown: they are looked for. */
  signs?: 'none' | 'open' | 'named'
}

/** A field that has a column in the file. */
export interface PlannedField {
  name: string
  title: string
  field: Field
  mapped: MappedField
  at: FieldColumns
  sql: FieldSql
  required: boolean
  /** It tells the rows of a dimension apart. */
  isIdentity: boolean
  /** Every cell of its column is plain: it has a value, and no columns for what may be odd. */
  isPlain: boolean
  /** And none is empty. */
  isFilled: boolean
}

export interface Plan {
  input: CompileInput
  fields: PlannedField[]
  byName: Map<string, PlannedField>
  /** Row types in the file, in dependency order. */
  rows: RowType[]
  /** The date that comes from the period's two fields. */
  period?: { name: string; field: Field; start: PlannedField; end: PlannedField; at: FieldColumns }
  /** Values that are the same in every line: the day of the date line, the currency of a header. */
  constants: Record<string, string>
  /** The field of the line's currency, where it has to be worked out from several sources; `line_currency` is its value. */
  currency?: { name: string; column?: PlannedField; header?: string; signed: PlannedField[] }
}

export function planFields(input: CompileInput): Plan {
  const { dataset, map } = input
  const rows = dataset.rows.filter((row) => map.rowTypes.includes(row.name))
  const identities = new Set(rows.map((row) => identityField(row, map)))
  const fields = Object.entries(map.fields).map(([name, mapped], index): PlannedField => {
    const declared = dataset.fields[name]!
    const required = (declared.required ?? false) || identities.has(name)
    const at = columnsOf(index, cellOf(input, name, mapped.column, index))
    const field = { ...declared, required }
    const plain = input.plain?.get(name)
    return {
      name,
      title: titleOf(dataset, name),
      field,
      mapped,
      at,
      sql: sqlOf(field, mapped, input.styles, at),
      required,
      isIdentity: identities.has(name),
      isPlain: plain !== undefined,
      isFilled: plain?.isFilled ?? false,
    }
  })
  const byName = new Map(fields.map((field) => [field.name, field]))
  const plan: Plan = { input, fields, byName, rows, constants: {} }
  addDay(plan)
  addCurrency(plan)
  return plan
}

/** The field that tells the rows of a dimension apart: its id where the file has one, else its name. */
export function identityField(row: RowType, map: HeaderMap): string | undefined {
  const { id, name } = row.identity ?? {}
  return id && map.fields[id] ? id : name
}

/** SQL that is true where there is nothing in a field, and nothing wrong with it. */
export function isEmpty({ at, isPlain, isFilled }: PlannedField): string {
  if (isFilled) return 'false'
  return isPlain ? `${at.value} IS NULL` : `(${at.value} IS NULL AND ${at.problem} IS NULL)`
}

/** The file's own column; a remembered value takes the place of what is written in a column of its own. */
function cellOf(input: CompileInput, name: string, column: number, index: number): string {
  return Object.keys(input.values?.[name] ?? {}).length > 0 ? `f${index}_c` : `c${column}`
}

function sqlOf(field: Field, mapped: MappedField, styles: Styles, at: FieldColumns): FieldSql {
  switch (field.type) {
    case 'text':
      return textSql(at)
    case 'id':
      return idSql(field, at)
    case 'date':
      return dateSql(field, at)
    case 'currency':
    case 'enum':
    case 'boolean':
      return choiceSql(field, at)
    default:
      return numberSql(field, mapped, styles, at)
  }
}

function addDay(plan: Plan): void {
  const { dataset, preamblePeriod } = plan.input
  for (const [name, field] of Object.entries(dataset.fields)) {
    if (field.type !== 'date' || !field.period || plan.byName.has(name)) continue
    const start = plan.byName.get(field.period.start)
    const end = plan.byName.get(field.period.end)
    if (start && end)
      plan.period = { name, field, start, end, at: columnsOf(plan.fields.length, start.at.cell) }
    else if (preamblePeriod && preamblePeriod.start === preamblePeriod.end) {
      plan.constants[name] = preamblePeriod.start
    }
  }
}

function addCurrency(plan: Plan): void {
  const name = Object.keys(plan.input.dataset.fields).find(
    (field) => plan.input.dataset.fields[field]!.type === 'currency',
  )
  const code = headerCurrency(plan)
  const { signs } = plan.input
  const signed =
    signs === 'none' ? [] : plan.fields.filter(({ field, isPlain }) => field.type === 'money' && !isPlain)
  const column = name === undefined ? undefined : plan.byName.get(name)
  if (name && signed.length > 0 && (signs !== 'open' || column || code)) {
    plan.currency = { name, ...(column && { column }), ...(code && { header: code }), signed }
  } else if (name && column && code) {
    plan.currency = { name, column, header: code, signed: [] }
  } else if (name && code && !column) plan.constants[name] = code
}

/** What the headers of amounts say about their currency: for each one that says something, the codes that it leaves. */
export function headerCurrencies(
  plan: Plan,
): { planned: PlannedField; said: string; codes: readonly string[] }[] {
  return plan.fields.flatMap((planned) => {
    const { currency, sign } = planned.mapped
    if (planned.field.type !== 'money') return []
    if (currency) return [{ planned, said: currency, codes: [currency] }]
    const codes = sign === undefined ? undefined : CURRENCIES_BY_SIGN.get(sign.toUpperCase())
    return codes ? [{ planned, said: sign!, codes }] : []
  })
}

/** `Amount spent (AUD)`: the currency that a header names. */
export function headerCurrency(plan: Plan): string | undefined {
  return plan.fields.find(({ field, mapped }) => field.type === 'money' && mapped.currency)?.mapped.currency
}
