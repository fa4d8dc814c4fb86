import type { PlanRow, Reading } from '../../api/upload-types.ts'
import { counted } from '../../parts/format.ts'

const figures = new Intl.NumberFormat('en', { maximumFractionDigits: 6 })
const money = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 })
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function isId(value: unknown): boolean {
  return typeof value === 'string' && UUID.test(value)
}

/** A value of a row as people read it; money with the decimals of its currency. */
export function textOf(value: unknown, decimals?: number): string {
  if (value === null || value === undefined) return 'empty'
  if (typeof value === 'number' && decimals !== undefined) return withDecimals(decimals).format(value)
  if (typeof value === 'number') return (Number.isInteger(value) ? figures : money).format(value)
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => one !== null && typeof one !== 'object')
  )
    return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const formats = new Map<number, Intl.NumberFormat>()

function withDecimals(decimals: number): Intl.NumberFormat {
  const made =
    formats.get(decimals) ??
    new Intl.NumberFormat('en', { minimumFractionDigits: decimals, maximumFractionDigits: 6 })
  formats.set(decimals, made)
  return made
}

/** Column → decimals, of those that hold money. */
export function moneyIn(reading: Reading | null): ReadonlyMap<string, number> {
  const fields = Object.entries(reading?.map.fields ?? {}).filter(([, { type }]) => type === 'money')
  return new Map(fields.map(([name, { currency }]) => [name, decimalsOf(currency)]))
}

function decimalsOf(currency: string | undefined): number {
  if (currency === undefined || !/^[A-Z]{3}$/.test(currency)) return 2
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  return format.resolvedOptions().maximumFractionDigits ?? 2
}

/** What names a row, of a plan or of what was written. */
export type Nameable = Pick<
  PlanRow,
  'row_type' | 'row_number' | 'row_key' | 'target_key' | 'label' | 'before'
>

/** What people call the row: its key, else its own name, which is the last one that its line gives. */
export function nameOf(row: Nameable, fields: readonly string[]): string {
  const own = ownKeyOf(row)
  if (own.length > 0) return own.map(({ value }) => value).join(' · ')
  const name = namesFor(row, fields).at(-1)
  if (name !== undefined) return name
  const key = Object.values(row.target_key ?? {}).filter((value) => !isId(value))
  return key.length > 0
    ? key.map((value) => textOf(value)).join(' · ')
    : row.row_number < 0
      ? 'row'
      : `line ${row.row_number}`
}

/** The key that the file gives, if it tells the row from others: a day alone, or an id, is a part of what it belongs to. */
export function ownKeyOf({ row_key }: Nameable): { column: string; value: string }[] {
  const key = row_key.flatMap(({ column, value }) => (value === null ? [] : [{ column, value }]))
  return key.every(({ value }) => isId(value) || DAY.test(value)) ? [] : key
}

/** The names of what it belongs to, the widest first; of a row that its key names, its own name too. */
export function parentsOf(row: Nameable, fields: readonly string[]): string {
  const names = namesFor(row, fields)
  if (ownKeyOf(row).length === 0) return names.slice(0, -1).join(' / ')
  const name = nameOf(row, fields)
  return names.filter((other) => other !== name).join(' / ')
}

/** Fields that hold what people call a row. */
export const NAME_FIELD = /(^|_)(name|title)$/

/** A row of a parent is called by the names down to its own. Of a row without a line, what its columns hold. */
export function namesFor(
  row: Pick<PlanRow, 'label' | 'before' | 'row_type'>,
  fields: readonly string[],
): string[] {
  const label = row.label ?? row.before ?? {}
  const own = fields.filter((field) => NAME_FIELD.test(field))
  const last = own.indexOf(`${row.row_type}_name`)
  return (last === -1 ? own : own.slice(0, last + 1))
    .map((field) => label[field])
    .filter((value): value is string => typeof value === 'string' && value !== '')
}

const DAY = /^\d{4}-\d\d-\d\d/

/** Of a row that its key does not name, the day of a figure. */
export function whenOf(row: Nameable): string {
  if (ownKeyOf(row).length > 0) return ''
  return Object.values(row.target_key ?? {})
    .filter((value) => typeof value === 'string' && DAY.test(value))
    .join(' · ')
}

/** `1234567.5` as 1,234,567.50: exact, so never through a number of JavaScript. */
export function amount(decimal: string): string {
  if (decimal === '0') return '–'
  const [whole = '', fraction] = decimal.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction.padEnd(2, '0')}`
}

export function signedAmount(decimal: string): string {
  return decimal === '0' || decimal.startsWith('-') ? amount(decimal) : `+${amount(decimal)}`
}

const EFFECTS = {
  delete: () => 'deleted',
  'set null': () => 'set to NULL',
  'set default': () => 'set to their default',
  restrict: (rows: number) => (rows === 1 ? 'prevents the delete' : 'prevent the delete'),
} as const

/** `2 rows of order_lines deleted`: what a foreign key does to other rows. */
export function dependentsText(dependents: NonNullable<PlanRow['dependents']>): string {
  return dependents
    .map(
      ({ table, effect, rows }) =>
        `${counted(rows, 'row')} of ${table.replace(/^public\./, '')} ${EFFECTS[effect](rows)}`,
    )
    .join(', ')
}
