/** How an upload was read: kept with it, so that a corrected line is checked by exactly the same rules. */
import { planFields } from './datasets/compile/plan.ts'
import type { CompileInput } from './datasets/compile-select.ts'
import type { HeaderMap } from './datasets/map-headers.ts'
import type { Period } from './datasets/preamble.ts'
import type { Styles } from './datasets/profile.ts'
import type { Format } from './readers/reading.ts'

/** What the SQL of the plan needs to know of the file. */
export interface Layout {
  /** Fields that the normalised payload has. */
  readonly fields: readonly string[]
  /** In dependency order. */
  readonly row_types: readonly string[]
  readonly leaf: string
}

export interface Reading {
  /** `rows`: staged by plain SQL, without a file. */
  readonly format: Format | 'rows'
  /** Of the dataset that it was read by. */
  readonly definition_digest: string
  readonly encoding: string
  readonly delimiter: string | null
  readonly header_line: number
  readonly headers: readonly string[]
  /** Data records of the file. */
  readonly lines: number
  readonly preamble: readonly { line: number; text: string }[]
  readonly styles: Styles
  readonly map: HeaderMap
  readonly period: Period | null
  readonly values: NonNullable<CompileInput['values']>
  readonly layout: Layout
}

/** The names that the compiled statement writes into the normalised payload. */
export function layoutOf(input: Omit<CompileInput, 'source'>): Layout {
  const { fields, period, constants, currency } = planFields({ ...input, source: '' })
  return {
    fields: [
      ...fields.map(({ name }) => name),
      ...(period ? [period.name] : []),
      ...Object.keys(constants),
      ...(currency && !currency.column ? [currency.name] : []),
    ],
    row_types: input.map.rowTypes,
    leaf: input.map.leaf,
  }
}
