/** Everything that can be wrong with a line, each as a JSON object or NULL; and a cheap test that nothing is. */
import type { Comparison, Severity } from '../dataset.ts'
import { text } from '../sql-text.ts'
import { FLAWS } from './flaws.ts'
import { headerCurrency, type Plan, type PlannedField } from './plan.ts'

interface Finding {
  severity: Severity
  /** SQL that is true where the rule is broken. */
  when: string
  sql: string
}

interface Report {
  column: string | null
  field: string | null
  /** SQL of the value to be shown. */
  value: string
  rule: string
  /** SQL */
  message: string
  suggestion: string
}

export interface Findings {
  /** True where anything may be wrong: only then are the problems put together. */
  suspect: string
  errors: string
  warnings: string
}

const COMPARED: Record<Comparison, string> = {
  '<=': '<=',
  '<': '<',
  '=': '=',
  '>=': '>=',
  '>': '>',
  '<>': '<>',
}

export function findingsOf(plan: Plan): Findings {
  const values = [
    ...plan.fields.flatMap((planned) => [...typeFindings(planned), ...ruleFindings(planned)]),
    ...periodFindings(plan),
    ...crossFindings(plan),
    ...currencyFindings(plan),
    ...duplicateFindings(plan),
  ]
  const whole = [...structureFindings(), ...replacementFindings(plan)]
  return {
    suspect: [...whole, ...values].map(({ when }) => `(${when})`).join(' OR '),
    errors: listed('error'),
    warnings: listed('warning'),
  }

  /** Of a line that could not be read at all only that is said. */
  function listed(severity: Severity): string {
    const cases = (findings: Finding[]) =>
      findings
        .filter((finding) => finding.severity === severity)
        .map(({ when, sql }) => `CASE WHEN ${when} THEN ${sql} END`)
    const all = [...cases(whole), ...cases(values)]
    const only = cases(whole)
    const lost = `flaw IN ('not_json', 'line_too_long', 'unterminated_quote')`
    return `CASE WHEN ${lost} THEN ${joined(only)} ELSE ${joined(all)} END`
  }
}

function joined(cases: string[]): string {
  return cases.length > 0 ? `concat_ws(',', ${cases.join(', ')})` : `''`
}

function typeFindings({ name, mapped, at, sql }: PlannedField): Finding[] {
  return sql.problems.map(({ rule, message, suggestion, severity }) => ({
    severity,
    when: `${at.problem} = ${text(rule)}`,
    sql: report({ column: mapped.header, field: name, value: at.cell, rule, message, suggestion }),
  }))
}

function ruleFindings({ name, title, field, mapped, at, required }: PlannedField): Finding[] {
  const severity = field.severity ?? 'error'
  const number = `CAST(${at.value} AS DECIMAL(38, 9))`
  const findings: Finding[] = []
  if (required) {
    const when = `${at.value} IS NULL AND ${at.problem} IS NULL`
    add(
      when,
      'required.missing',
      `${title} is empty.`,
      'Fill it in and upload again, or repair the line.',
      'error',
    )
  }
  if (field.min === 0) {
    const when = `starts_with(${at.value}, '-') AND ${number} < 0`
    add(when, 'number.min', `${title} is below 0.`, 'Check the sign and the column in the source.')
  } else if (field.min !== undefined) {
    add(
      `${number} < ${Number(field.min)}`,
      'number.min',
      `${title} is below ${field.min}.`,
      'Check the value in the source.',
    )
  }
  if (field.max !== undefined) {
    add(
      `${number} > ${Number(field.max)}`,
      'number.max',
      `${title} is above ${field.max}.`,
      'Check the value in the source.',
    )
  }
  if (field.scale !== undefined) {
    const when = `strlen(split_part(${at.value}, '.', 2)) > ${Number(field.scale)}`
    add(
      when,
      'number.scale',
      `${title} has more than ${field.scale} digits after the decimal point.`,
      'Round it in the source.',
    )
  }
  if (field.maxLength !== undefined) {
    const when = `length(${at.value}) > ${Number(field.maxLength)}`
    add(
      when,
      'text.too_long',
      `${title} is longer than ${field.maxLength} characters.`,
      'Shorten it in the source.',
    )
  }
  if (field.pattern !== undefined) {
    const when = `NOT regexp_full_match(${at.value}, ${text(field.pattern)})`
    add(
      when,
      'text.pattern',
      `${title} does not have the form that is expected.`,
      `It must match ${field.pattern}.`,
    )
  }
  return findings

  function add(
    when: string,
    rule: string,
    message: string,
    suggestion: string,
    as: Severity = severity,
  ): void {
    const sql = report({
      column: mapped.header,
      field: name,
      value: at.cell,
      rule,
      message: text(message),
      suggestion: text(suggestion),
    })
    findings.push({ severity: as, when, sql })
  }
}

function periodFindings({ period }: Plan): Finding[] {
  if (!period) return []
  const { start, end, name } = period
  const both = `concat(${start.at.value}, ' – ', ${end.at.value})`
  return [
    {
      severity: 'error',
      when: `${start.at.value} <> ${end.at.value}`,
      sql: report({
        column: start.mapped.header,
        field: name,
        value: both,
        rule: 'period.longer_than_day',
        message: text('This line covers more than one day, and each must be of one day.'),
        suggestion: text('Export the report again with a breakdown by day.'),
      }),
    },
    {
      severity: 'error',
      when: `(${start.at.value} IS NULL AND ${start.at.problem} IS NULL) OR (${end.at.value} IS NULL AND ${end.at.problem} IS NULL)`,
      sql: report({
        column: start.mapped.header,
        field: name,
        value: start.at.cell,
        rule: 'required.missing',
        message: text('The day of this line is not known.'),
        suggestion: text('Export the report again with a breakdown by day, or repair the line.'),
      }),
    },
  ]
}

function crossFindings(plan: Plan): Finding[] {
  return (plan.input.dataset.rules ?? []).flatMap(({ name, severity, compare, message, suggestion }) => {
    const [left, comparison, right] = compare
    const one = plan.byName.get(left)
    const other = typeof right === 'number' ? String(Number(right)) : plan.byName.get(right)
    if (!one || other === undefined) return []
    return {
      severity,
      when: `NOT (${comparable(one)} ${COMPARED[comparison]} ${typeof other === 'string' ? other : comparable(other)})`,
      sql: report({
        column: one.mapped.header,
        field: left,
        value: one.at.cell,
        rule: name,
        message: text(message),
        suggestion: text(suggestion ?? 'Check both values in the source.'),
      }),
    }
  })
}

function comparable({ field, at }: PlannedField): string {
  return ['integer', 'decimal', 'money', 'percent'].includes(field.type)
    ? `CAST(${at.value} AS DECIMAL(38, 9))`
    : at.value
}

function currencyFindings(plan: Plan): Finding[] {
  const code = headerCurrency(plan)
  const column = plan.fields.find(({ field }) => field.type === 'currency')
  if (!code || !column) return []
  return [
    {
      severity: 'warning',
      when: `${column.at.value} <> ${text(code)}`,
      sql: report({
        column: column.mapped.header,
        field: column.name,
        value: column.at.cell,
        rule: 'currency.differs',
        message: text(`The header says that amounts are in ${code}, this line names another currency.`),
        suggestion: text('The line’s own currency is stored. Check which one the amounts are in.'),
      }),
    },
  ]
}

function duplicateFindings(plan: Plan): Finding[] {
  return plan.fields.flatMap(({ name, mapped }) =>
    mapped.duplicates.map((column) => ({
      severity: 'warning' as const,
      when: `c${column} <> c${mapped.column} AND c${column} <> ''`,
      sql: report({
        column: mapped.header,
        field: name,
        value: `c${column}`,
        rule: 'header.duplicate_differs',
        message: text('The header is there more than once, and this line’s values differ.'),
        suggestion: text('The first column is used. Leave the other one out of the export if that is wrong.'),
      }),
    })),
  )
}

function structureFindings(): Finding[] {
  return Object.entries(FLAWS).map(([flaw, { message, suggestion }]) => ({
    severity: 'error',
    when: `flaw = ${text(flaw)}`,
    sql: report({
      column: null,
      field: null,
      value: `nullif(extra, '')`,
      rule: `structure.${flaw}`,
      message: text(message),
      suggestion: text(suggestion),
    }),
  }))
}

/** U+FFFD stands where a character was lost before the file reached us. */
function replacementFindings(plan: Plan): Finding[] {
  const lost = plan.input.map.headers
  const columns = lost.map(
    (_, column) => `CASE WHEN contains(c${column}, '\ufffd') THEN ${text(`“${lost[column]}”`)} END`,
  )
  return [
    {
      severity: 'warning',
      when: `contains(raw, '\ufffd') AND flaw <> 'invalid_utf8'`,
      sql: report({
        column: null,
        field: null,
        value: `concat_ws(', ', ${columns.join(', ')})`,
        rule: 'text.replacement_character',
        message: text('A character was lost before the file was uploaded; � stands in its place.'),
        suggestion: text('Export the file again as UTF-8, or repair the line.'),
      }),
    },
  ]
}

export function report({ column, field, value, rule, message, suggestion }: Report): string {
  const head = `,"column":${JSON.stringify(column)},"field":${JSON.stringify(field)},"value":`
  return [
    `concat('{"line":', line, ${text(head)}, coalesce(CAST(to_json(left(${value}, 200)) AS VARCHAR), 'null')`,
    `${text(`,"rule":${JSON.stringify(rule)},"message":`)}, to_json(${message})`,
    `',"suggestion":', to_json(${suggestion}), '}')`,
  ].join(', ')
}
