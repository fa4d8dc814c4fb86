/**
 * A dataset, a file's header and its styles as one DuckDB SELECT: the only source of the rules. A whole file and
 * the repair of one line run the same text. Layers, each a projection over the one before:
 * cells → plain? → the long way, by kind → values → judged → output. A column that is plain throughout has a value only.
 */

import { currencyLayers } from './compile/currency.ts'
import { readDates } from './compile/date.ts'
import { type Kind, trimmed, unlessNothing, withMembers } from './compile/field-sql.ts'
import { readIds } from './compile/id.ts'
import { readNumbers } from './compile/number.ts'
import { normalizedPayload, rawPayload } from './compile/payload.ts'
import { type CompileInput, type Plan, type PlannedField, planFields } from './compile/plan.ts'
import { damagedColumns, findingsOf, leftOutWarning, reported } from './compile/problems.ts'
import { leftOutRule } from './compile/totals.ts'
import type { Styles } from './profile.ts'
import { text } from './sql-text.ts'

export type { CompileInput } from './compile/plan.ts'

/**
 * How its rows go from DuckDB to PostgreSQL. JSON has no tab and no other control character in it, so nothing is ever
 * quoted: with commas and quotes each payload grew by an eighth, and writing it took a sixth longer.
 */
export const ROWS_OUT = "FORMAT csv, HEADER false, DELIMITER '\t', QUOTE '\x01', ESCAPE '\x01'"
export const ROWS_IN = "format csv, delimiter E'\\t', quote E'\\x01'"

type Layer = [name: string, expression: string][]

const READERS: Record<Kind, (list: string, styles: Styles) => string> = {
  number: readNumbers,
  date: readDates,
  id: readIds,
}
const KINDS = Object.keys(READERS) as Kind[]

export function compileSelect(input: CompileInput): string {
  const plan = planFields(input)
  const { suspect, gathered } = findingsOf(plan)
  const layers: Layer[] = [
    [['damaged', damagedColumns()], ...rememberedCells(plan)],
    ...firstLayers(plan),
    unsettled(plan).map(({ at, sql }) => [at.plain, sql.plain]),
    KINDS.flatMap((kind) => longWay(plan, kind)),
    plan.fields.flatMap((planned) => fieldValue(plan, planned)),
    periodDay(plan),
    ...currencyLayers(plan),
    [
      ['left_out', leftOutRule(plan)],
      ['is_suspect', `coalesce(${suspect}, false)`],
    ],
    [
      [
        'found',
        `CASE WHEN left_out IS NOT NULL THEN [${leftOutWarning()}] WHEN is_suspect THEN ${gathered} END`,
      ],
    ],
    [
      ['errors', `CASE WHEN found IS NULL THEN '' ELSE ${reported('found', 'E')} END`],
      ['warnings', `CASE WHEN found IS NULL THEN '' ELSE ${reported('found', 'W')} END`],
    ],
  ]
  const { workspace_id, client_id, upload_id } = input.upload
  return `SELECT uuidv7() AS id,
  ${text(workspace_id)} AS workspace_id, ${client_id === null ? 'NULL' : text(client_id)} AS client_id, ${text(upload_id)} AS upload_id,
  ${input.batch_id ? text(input.batch_id) : 'NULL'} AS batch_id, ${input.request_id ? text(input.request_id) : 'NULL'} AS request_id,
  ${text(input.platform)} AS platform, ${text(input.map.leaf)} AS row_type, line AS row_number, raw AS raw_payload,
  ${normalizedPayload(plan)} AS normalized_payload,
  CASE WHEN left_out IS NOT NULL THEN 'skipped' WHEN errors <> '' THEN 'invalid' ELSE 'valid' END AS validation_status,
  CASE WHEN errors = '' THEN '[]' ELSE concat('[', errors, ']') END AS validation_errors,
  CASE WHEN warnings = '' THEN '[]' ELSE concat('[', warnings, ']') END AS validation_warnings
FROM ${layered(cells(plan), layers)}`
}

/** Columns of no field end here: in every layer above each would be bound again and take 32 KB. */
function cells({ input, fields }: Plan): string {
  const used = new Set([0, ...fields.flatMap(({ mapped }) => [mapped.column, ...mapped.duplicates])])
  const columns = [...used].map((column) => `c${column}`)
  return `(SELECT line, flaw, extra, ${columns.join(', ')}, ${rawPayload(input.map.headers)} AS raw\nFROM ${input.source})`
}

/** Subqueries rather than WITH: nothing is materialised, so a statement holds one vector of rows at a time. */
function layered(source: string, layers: Layer[]): string {
  return layers
    .filter((layer) => layer.length > 0)
    .reduce(
      (inner, layer) =>
        `(SELECT *, ${layer.map(([name, expression]) => `${expression} AS ${name}`).join(',\n  ')}\nFROM ${inner})`,
      source,
    )
}

function rememberedCells(plan: Plan): Layer {
  return plan.fields.flatMap(({ name, mapped, at }): Layer => {
    const values = Object.entries(plan.input.values?.[name] ?? {})
    if (values.length === 0) return []
    const cases = values.map(([written, meant]) => `WHEN ${text(written)} THEN ${text(meant ?? '')}`)
    return [[at.cell, `CASE trim(c${mapped.column}) ${cases.join(' ')} ELSE c${mapped.column} END`]]
  })
}

/** Fields of which each cell has to be looked at. */
function unsettled(plan: Plan): PlannedField[] {
  return plan.fields.filter(({ isPlain }) => !isPlain)
}

/** The n-th columns of all fields make one layer. */
function firstLayers(plan: Plan): Layer[] {
  const fields = unsettled(plan)
  const depth = Math.max(0, ...fields.map(({ sql }) => sql.first.length))
  return Array.from({ length: depth }, (_, index) =>
    fields.flatMap(({ at, sql }) =>
      Object.entries(sql.first[index] ?? {}).map(([name, expression]): [string, string] => [
        at.own(name),
        expression,
      ]),
    ),
  )
}

function ofKind(plan: Plan, kind: Kind): PlannedField[] {
  return unsettled(plan).filter(({ sql }) => sql.kind === kind)
}

/** The cells of a line that are not plain, read in one list; NULL for a line where all are. */
function longWay(plan: Plan, kind: Kind): Layer {
  const fields = ofKind(plan, kind)
  if (fields.length === 0) return []
  const entries = fields.map(({ at, sql }, place) => {
    const known = Object.entries(sql.entry ?? {}).map(([name, value]) => `${name}: ${value}`)
    return `CASE WHEN ${at.plain} OR ${at.cell} = '' THEN NULL ELSE {${[`i: ${place}`, `c: ${at.cell}`, ...known].join(', ')}} END`
  })
  const cleaned = withMembers(`list_filter([${entries.join(', ')}], lambda e: e IS NOT NULL)`, [
    ['z', trimmed('e.c')],
    ['x', unlessNothing('e.z')],
  ])
  const read = READERS[kind](cleaned, plan.input.styles)
  const plain = fields.map(({ at }) => at.plain).join(' AND ')
  return [
    [
      kind,
      `CASE WHEN ${plain} THEN NULL ELSE list_transform(${read}, lambda e: {i: e.i, v: e.v, p: e.p${kind === 'number' ? ', u: e.u' : ''}}) END`,
    ],
  ]
}

function fieldValue(plan: Plan, planned: PlannedField): Layer {
  const { at, sql, isPlain } = planned
  if (isPlain) return [[at.value, sql.whole.value]]
  if (!sql.kind) {
    const value = `CASE WHEN ${at.plain} THEN ${sql.plainValue} ELSE ${sql.value} END`
    return [
      [at.value, sql.plain === 'false' ? sql.value! : value],
      [at.problem, sql.problem ?? 'CAST(NULL AS VARCHAR)'],
    ]
  }
  const place = ofKind(plan, sql.kind).indexOf(planned)
  const entry = `list_filter(${sql.kind}, lambda e: e.i = ${place})[1]`
  return [
    [at.value, `CASE WHEN ${at.plain} THEN ${sql.plainValue} ELSE ${entry}.v END`],
    [at.problem, `CASE WHEN ${at.plain} THEN NULL ELSE ${entry}.p END`],
    ...(plan.currency?.signed.includes(planned)
      ? [[at.own('u'), `CASE WHEN ${at.plain} THEN NULL ELSE ${entry}.u END`] as [string, string]]
      : []),
  ]
}

function periodDay({ period }: Plan): Layer {
  if (!period) return []
  const { start, end, at } = period
  return [[at.value, `CASE WHEN ${start.at.value} = ${end.at.value} THEN ${start.at.value} END`]]
}
