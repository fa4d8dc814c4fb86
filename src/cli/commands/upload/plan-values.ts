/** The values of a plan's rows as people read them: in the order of the file, money with the decimals of its currency. */
import type { Dataset } from '../../../ingest/datasets/dataset.ts'
import type { Reading } from '../../../ingest/reading.ts'

export interface PlanValues {
  /** Columns in the order in which the file has what they hold. */
  inOrder(columns: readonly string[], rowType: string): string[]
  text(value: unknown, column: string, rowType: string): string
}

const USUAL_DECIMALS = 2

export function planValues(dataset: Dataset | undefined, reading: Reading | null): PlanValues {
  const fieldOf = (column: string, rowType: string) =>
    dataset?.rows.find(({ name }) => name === rowType)?.columns[column] ?? column
  const fields = reading?.layout.fields ?? []
  const place = (column: string, rowType: string) => {
    const at = fields.indexOf(fieldOf(column, rowType))
    return at < 0 ? fields.length : at
  }
  return {
    // Those that the file does not have keep their order behind the others.
    inOrder: (columns, rowType) =>
      columns.toSorted((left, right) => place(left, rowType) - place(right, rowType)),
    text(value, column, rowType) {
      if (value === null || value === undefined) return '(empty)'
      const field = fieldOf(column, rowType)
      if (typeof value === 'number' && dataset?.fields[field]?.type === 'money')
        return money(value, reading?.map.fields[field]?.currency)
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    },
  }
}

/** Never fewer digits than there are: what is written is what is shown. */
function money(value: number, currency: string | undefined): string {
  const written = String(value).split('.')[1]?.length ?? 0
  return /e/.test(String(value)) ? String(value) : value.toFixed(Math.max(written, decimalsOf(currency)))
}

function decimalsOf(currency: string | undefined): number {
  if (currency === undefined || !/^[A-Z]{3}$/.test(currency)) return USUAL_DECIMALS
  return (
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ??
    USUAL_DECIMALS
  )
}
