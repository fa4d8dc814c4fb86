/**
 * A dataset, a file's header and its styles as one DuckDB SELECT: the only source of the rules. A whole file and
 * the repair of one line run the same text. Layers, each a projection over the one before:
 * cells → plain? → cleaned → steps of the fields → values → judged → output.
 */
import { cleanedCell } from './compile/field-sql.ts'
import { normalizedPayload, rawPayload } from './compile/payload.ts'
import { type CompileInput, type Plan, type PlannedField, planFields } from './compile/plan.ts'
import { findingsOf, report } from './compile/problems.ts'
import { isTotal } from './compile/totals.ts'
import { text } from './sql-text.ts'

export type { CompileInput } from './compile/plan.ts'

type Layer = [name: string, expression: string][]

export function compileSelect(input: CompileInput): string {
  const plan = planFields(input)
  const { errors, warnings, suspect } = findingsOf(plan)
  const layers: Layer[] = [
    cells(plan),
    looks(plan),
    plan.fields.map(({ at, sql }) => [at.plain, sql.plain]),
    plan.fields.map(({ at }) => [
      at.cleaned,
      `CASE WHEN ${at.plain} THEN NULL ELSE ${cleanedCell(at.cell)} END`,
    ]),
    ...steps(plan),
    plan.fields.flatMap(({ at, sql }) => [
      [at.value, `CASE WHEN ${at.plain} THEN ${sql.plainValue} ELSE ${sql.value} END`],
      [at.problem, sql.problem],
    ]),
    [...period(plan), ['raw', rawPayload(input.map.headers)]],
    [
      ['is_total', isTotal(plan)],
      ['is_suspect', `coalesce(${suspect}, false)`],
    ],
    [
      ['errors', `CASE WHEN is_suspect AND NOT is_total THEN ${errors} ELSE '' END`],
      ['warnings', `CASE WHEN is_total THEN ${totalWarning()} WHEN is_suspect THEN ${warnings} ELSE '' END`],
    ],
  ]
  const { workspace_id, client_id, upload_id } = input.upload
  return `SELECT uuidv7() AS id,
  ${text(workspace_id)} AS workspace_id, ${client_id === null ? 'NULL' : text(client_id)} AS client_id, ${text(upload_id)} AS upload_id,
  ${text(input.platform)} AS platform, ${text(input.map.leaf)} AS row_type, line AS row_number, raw AS raw_payload,
  ${normalizedPayload(plan)} AS normalized_payload,
  CASE WHEN is_total THEN 'skipped' WHEN errors <> '' THEN 'invalid' ELSE 'valid' END AS validation_status,
  CASE WHEN errors = '' THEN '[]' ELSE concat('[', errors, ']') END AS validation_errors,
  CASE WHEN warnings = '' THEN '[]' ELSE concat('[', warnings, ']') END AS validation_warnings
FROM ${layered(input.source, layers)}`
}

/** Subqueries rather than WITH: nothing is materialised, so a statement holds one vector of rows at a time. */
function layered(source: string, layers: Layer[]): string {
  const start = `(SELECT line, coalesce(flaw, '') AS flaw, extra, * EXCLUDE (line, flaw, extra) FROM ${source})`
  return layers
    .filter((layer) => layer.length > 0)
    .reduce(
      (inner, layer) =>
        `(SELECT *, ${layer.map(([name, expression]) => `${expression} AS ${name}`).join(',\n  ')}\nFROM ${inner})`,
      start,
    )
}

/** The cell of each field; a remembered value takes the place of what is written. */
function cells(plan: Plan): Layer {
  return plan.fields.map(({ name, mapped, at }) => {
    const cell = `coalesce(c${mapped.column}, '')`
    const remembered = Object.entries(plan.input.values?.[name] ?? {}).map(
      ([written, meant]) => `WHEN ${text(written)} THEN ${text(meant ?? '')}`,
    )
    return [
      at.cell,
      remembered.length > 0 ? `CASE trim(${cell}) ${remembered.join(' ')} ELSE ${cell} END` : cell,
    ]
  })
}

function looks(plan: Plan): Layer {
  return plan.fields.flatMap(({ at, sql }) =>
    Object.entries(sql.first ?? {}).map(([name, expression]): [string, string] => [
      at.step(name),
      expression,
    ]),
  )
}

/** The n-th steps of all fields make one layer. */
function steps(plan: Plan): Layer[] {
  const depth = Math.max(0, ...plan.fields.map(({ sql }) => sql.steps.length))
  return Array.from({ length: depth }, (_, index) => plan.fields.flatMap((planned) => stepOf(planned, index)))
}

function stepOf({ at, sql }: PlannedField, index: number): Layer {
  return Object.entries(sql.steps[index] ?? {}).map(([name, expression]) => [at.step(name), expression])
}

function period({ period: planned }: Plan): Layer {
  if (!planned) return []
  const { start, end, at } = planned
  return [[at.value, `CASE WHEN ${start.at.value} = ${end.at.value} THEN ${start.at.value} END`]]
}

function totalWarning(): string {
  return report({
    column: null,
    field: null,
    value: 'c0',
    rule: 'row.total',
    message: text('This line only sums up others and was left out.'),
    suggestion: text('Nothing to do. If it is a line of its own, give it a date and all its names.'),
  })
}
