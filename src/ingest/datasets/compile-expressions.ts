/** Computed fields and rules in CEL, as layers of the statement that come after the values of the fields. */

import {
  type CelField,
  type CelType,
  celTypeOf,
  compileCel,
  fieldsRead,
  typedValue,
  valueText,
} from './cel-sql.ts'
import { columnsOf, finding } from './compile-findings.ts'
import { type FieldPlan, type Layer, NO_COLUMN, type PlannedField } from './compile-plan.ts'
import { type ExpressionRule, type Field, isExpressionRule, titleOf } from './dataset.ts'
import { listOf, text } from './sql-text.ts'

/** Where the value of a field comes from: SQL of its text, and of what is wrong with it. */
interface Source {
  value: string
  problem?: string
}

function sourceOf(plan: FieldPlan, name: string): Source | undefined {
  const planned = plan.byName.get(name)
  const { currency, period, constants } = plan
  if (currency?.name === name)
    return { value: 'line_currency', ...(planned && !planned.isPlain && { problem: planned.at.problem }) }
  if (planned) {
    const { at, isPlain, field } = planned
    const items = isPlain ? 'CAST(NULL AS VARCHAR[])' : at.own('l')
    return {
      value: field.type === 'array' ? items : at.value,
      ...(!isPlain && (planned.sql.kind || planned.sql.problem) && { problem: at.problem }),
    }
  }
  if (period?.name === name) return { value: period.at.value }
  if (constants[name] !== undefined) return { value: text(constants[name]) }
  return undefined
}

/** Fields whose value is computed from others, where the file has all of those. They are planned behind those of the file. */
export function planComputed(plan: FieldPlan): void {
  const { dataset } = plan.input
  for (const [name, declared] of Object.entries(dataset.fields)) {
    if (declared.compute === undefined) continue
    const read = fieldsRead(declared.compute)
    if (!read.every((other) => sourceOf(plan, other) && dataset.fields[other]?.compute === undefined))
      continue
    const index = plan.fields.length + plan.computed.length + 1
    const headers = read.flatMap((other) => plan.byName.get(other)?.mapped.header ?? [])
    plan.computed.push({
      name,
      title: titleOf(dataset, name),
      field: { ...declared, required: declared.required ?? false },
      mapped: { column: NO_COLUMN, header: headers.join(', ') || name, type: declared.type, duplicates: [] },
      at: columnsOf(index, `f${index}_v`),
      sql: {
        first: [],
        plain: 'false',
        plainValue: 'NULL',
        whole: { holds: 'false', value: 'NULL' },
        problem: 'NULL',
        json: jsonForm(declared),
      },
      required: declared.required ?? false,
      isIdentity: false,
      isPlain: false,
      isFilled: false,
      limits: plan.input.limits?.[name] ?? [],
      steps: [],
    })
  }
  for (const planned of plan.computed) plan.byName.set(planned.name, planned)
}

function jsonForm(field: Field): 'raw' | 'quoted' | 'escaped' {
  const type = celTypeOf(field)
  return type === 'string' ? 'escaped' : type === 'timestamp' ? 'quoted' : 'raw'
}

/** Columns: the values of fields with their types, then what is computed from them, then the rules. */
export function expressionLayers(plan: FieldPlan): Layer[] {
  const rules = expressionRules(plan)
  const ofComputed = [...new Set(plan.computed.flatMap(({ field }) => fieldsRead(field.compute!)))]
  const ofRules = [...new Set(rules.flatMap(({ rule }) => fieldsRead(rule.check)))]
  const isComputed = (name: string) => plan.computed.some((one) => one.name === name)
  const before = [...new Set([...ofComputed, ...ofRules.filter((name) => !isComputed(name))])]
  return [
    before.flatMap((name) => typedColumn(plan, name)),
    plan.computed.flatMap(({ at, field }) => {
      const { value, isNull } = compileCel(field.compute!, (name) => celField(plan, name))
      return [
        [at.own('r'), value],
        [at.own('n'), isNull],
      ]
    }),
    plan.computed.flatMap((planned) => computedValue(plan, planned)),
    ofRules.filter(isComputed).flatMap((name) => typedColumn(plan, name)),
    rules.map(({ rule, column }) => [column, compileCel(rule.check, (name) => celField(plan, name)).value]),
  ]
}

/** In the order of the dataset's fields, so that a name of a field is no name of a column. */
function typedName({ input: { dataset } }: FieldPlan, name: string): string {
  return `cel${Object.keys(dataset.fields).indexOf(name)}`
}

function typedColumn(plan: FieldPlan, name: string): Layer {
  const source = sourceOf(plan, name)
  const type = celType(plan, name)
  if (!source || !type) return []
  return [[typedName(plan, name), typedValue(type, source.value)]]
}

function celType(plan: FieldPlan, name: string): CelType | undefined {
  const field = plan.input.dataset.fields[name]
  return field && celTypeOf(field)
}

const SQL_TYPES: Record<CelType, string> = {
  int: 'BIGINT',
  decimal: 'DECIMAL(38, 9)',
  string: 'VARCHAR',
  bool: 'BOOLEAN',
  timestamp: 'BIGINT',
  list: 'VARCHAR[]',
  null: 'VARCHAR',
}

/** A field that the file does not have is null. */
function celField(plan: FieldPlan, name: string): CelField | undefined {
  const type = celType(plan, name)
  if (!type) return undefined
  const source = sourceOf(plan, name)
  if (!source) return { type, sql: `CAST(NULL AS ${SQL_TYPES[type]})`, isNull: 'true', canFail: false }
  const sql = typedName(plan, name)
  return { type, sql, isNull: `(${source.value} IS NULL)`, canFail: type === 'decimal' }
}

function computedValue(plan: FieldPlan, { at, field }: PlannedField): Layer {
  const { type } = compileCel(field.compute!, (name) => celField(plan, name))
  const severity = field.severity ?? 'error'
  const value = valueText(type, at.own('r'), field)
  const known = Object.keys(field.values ?? {})
  const unknown =
    field.type === 'enum'
      ? `WHEN NOT list_contains(${listOf(known)}, ${value}) THEN ${finding(severity, 'enum.unknown', text(`Known are: ${known.slice(0, 12).join(', ')}.`))}`
      : ''
  const wrong = hasWrongValue(plan, field.compute!)
  return [
    [at.value, value],
    [
      at.problem,
      `CASE WHEN ${wrong} THEN NULL WHEN ${at.own('r')} IS NULL AND NOT ${at.own('n')} THEN ${finding(severity, 'compute.failed')} ${unknown} END`,
    ],
  ]
}

/** SQL that is true where a value that the expression reads is refused already: nothing more is said of the line then. */
function hasWrongValue(plan: FieldPlan, expression: string): string {
  const problems = fieldsRead(expression).flatMap((name) => sourceOf(plan, name)?.problem ?? [])
  const wrong = problems.map((problem) => `coalesce(starts_with(${problem}, 'E'), false)`)
  return wrong.length > 0 ? `(${wrong.join(' OR ')})` : 'false'
}

function expressionRules(plan: FieldPlan): { rule: ExpressionRule; column: string }[] {
  return (plan.input.dataset.rules ?? []).flatMap((rule, index) =>
    isExpressionRule(rule) ? [{ rule, column: `rule${index}` }] : [],
  )
}

interface RuleFinding {
  rule: ExpressionRule
  /** SQL: where it does not hold, and where it cannot be worked out. */
  broken: string
  failed: string
  subject: { column: string | null; field: string | null; value: string }
}

/** A rule of which the file has no field at all says nothing of its lines. */
export function ruleFindings(plan: FieldPlan): RuleFinding[] {
  return expressionRules(plan).flatMap(({ rule, column }) => {
    const read = fieldsRead(rule.check)
    const planned = read.flatMap((name) => plan.byName.get(name) ?? [])
    if (read.length > 0 && !read.some((name) => sourceOf(plan, name))) return []
    const right = hasWrongValue(plan, rule.check)
    const unless = right === 'false' ? '' : ` AND NOT ${right}`
    const cells = planned.map(({ at }) => at.cell)
    return {
      rule,
      broken: `${column} = false${unless}`,
      failed: `${column} IS NULL${unless}`,
      subject: {
        column: planned.map(({ mapped }) => mapped.header).join(', ') || null,
        field: planned[0]?.name ?? read[0] ?? null,
        value: cells.length > 0 ? `concat_ws(', ', ${cells.join(', ')})` : 'CAST(NULL AS VARCHAR)',
      },
    }
  })
}
