/**
 * Everything that can be wrong with a line. A finding is 'E' or 'W' and a JSON object; a line without any pays only
 * for the test that it has none.
 */
import type { Severity } from '../dataset.ts'
import { listOf, text } from '../sql-text.ts'
import { MARK_OPEN, MARK_UNKNOWN, MARKS_CONTRADICT } from './currency.ts'
import { ending, finding } from './field-sql.ts'
import { headerCurrencies, isEmpty, type Plan, type PlannedField } from './plan.ts'
import { breakdownGroups } from './totals.ts'
import { WORDS, type Words } from './words.ts'

interface Finding {
  /** SQL that is true where the rule is broken. */
  when: string
  /** SQL of what is said of it (see `about`). */
  sql: string
}

export interface Findings {
  /** True where anything may be wrong: only then are the findings gathered. */
  suspect: string
  /** The list of findings. */
  gathered: string
}

/** What a finding is about, and SQL of the value shown. */
interface Subject {
  column: string | null
  field: string | null
  value: string
}

const STRUCTURE = 'structure.'

export function findingsOf(plan: Plan): Findings {
  const rest = [
    replacementFinding(),
    ...plan.fields.flatMap(fieldFindings),
    ...periodFindings(plan),
    ...breakdownFindings(plan),
    ...crossFindings(plan),
    ...currencyFindings(plan),
    ...duplicateFindings(plan),
  ].filter(({ when }) => when !== 'false')
  const structure = structureFinding()
  const listed = [structure, ...rest].map(({ when, sql }) => `CASE WHEN ${when} THEN ${sql} END`)
  // Of a line whose values are not in their places only that is said: the rest would be about the wrong columns.
  const lost = `flaw NOT IN ('', 'invalid_utf8', 'nul_character')`
  return {
    suspect: [structure, ...rest].map(({ when }) => `(${when})`).join(' OR '),
    gathered: `CASE WHEN ${lost} THEN [${structure.sql}] ELSE list_filter([${listed.join(',\n  ')}], lambda x: x IS NOT NULL) END`,
  }
}

/** The findings of one severity as the inside of a JSON array: line, column and value are put before what was broken. */
export function reported(found: string, severity: 'E' | 'W'): string {
  const shown = `coalesce(CAST(to_json(left(x.v, 200)) AS VARCHAR), 'null')`
  const object = `concat('{"line":', line, x.h, ${shown}, substr(x.b, 2))`
  return `array_to_string(list_transform(list_filter(${found}, lambda x: starts_with(x.b, '${severity}')), lambda x: ${object}), ',')`
}

/** A broken rule with its subject. It becomes JSON in one place only: written out for every rule that took half of the statement. */
function about({ column, field, value }: Subject, broken: string): string {
  const head = `,"column":${JSON.stringify(column)},"field":${JSON.stringify(field)},"value":`
  return `{h: ${text(head)}, v: ${value}, b: ${broken}}`
}

/** The same in words of its own. */
function said(subject: Subject, severity: Severity, rule: string, words: Words): string {
  return about(subject, text(`${severity === 'error' ? 'E' : 'W'}${ending(rule, words)}`))
}

function structureFinding(): Finding {
  const rules = Object.keys(WORDS).filter((rule) => rule.startsWith(STRUCTURE))
  const flaws = listOf(rules.map((rule) => rule.slice(STRUCTURE.length)))
  const broken = listOf(rules.map((rule) => `E${ending(rule, WORDS[rule]!)}`))
  const subject = { column: null, field: null, value: `nullif(extra, '')` }
  return {
    when: `flaw <> ''`,
    sql: about(subject, `list_extract(${broken}, list_position(${flaws}, flaw))`),
  }
}

function fieldFindings(planned: PlannedField): Finding[] {
  const { name, title, field, mapped, at, required, sql, isPlain } = planned
  const subject = { column: mapped.header, field: name, value: at.cell }
  const number = `CAST(${at.value} AS DOUBLE)`
  const findings: Finding[] = []
  if (!isPlain && (sql.kind || sql.problem))
    findings.push({ when: `${at.problem} IS NOT NULL`, sql: about(subject, at.problem) })
  if (required) {
    const words = {
      message: `${title} is empty.`,
      suggestion: planned.isIdentity
        ? 'Fill it in (merged cells of a spreadsheet lose it), or leave the line out if it only sums up others.'
        : 'Fill it in and upload again, or repair the line.',
    }
    findings.push({
      when: isEmpty(planned),
      sql: said(subject, 'error', 'required.missing', words),
    })
  }
  const add = (when: string, rule: string, message: string, suggestion = 'Check the value in the source.') =>
    findings.push({ when, sql: said(subject, field.severity ?? 'error', rule, { message, suggestion }) })
  // A plain number of those that cannot be negative has no sign.
  if (field.min !== undefined && !(isPlain && field.min === 0)) {
    add(`${number} < ${Number(field.min)}`, 'number.min', `${title} is below ${field.min}.`)
  }
  if (field.max !== undefined) {
    add(`${number} > ${Number(field.max)}`, 'number.max', `${title} is above ${field.max}.`)
  }
  if (field.scale !== undefined) {
    const when = `strlen(rtrim(split_part(${at.value}, '.', 2), '0')) > ${Number(field.scale)}`
    add(when, 'number.scale', `${title} has more than ${field.scale} digits after the decimal point.`)
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
}

function periodFindings({ period }: Plan): Finding[] {
  if (!period) return []
  const { start, end, name } = period
  const both = `concat_ws(' – ', ${start.at.value}, ${end.at.value})`
  const subject = { column: start.mapped.header, field: name, value: both }
  const empty = [start, end].map(isEmpty).filter((one) => one !== 'false')
  return [
    {
      when: `${start.at.value} <> ${end.at.value}`,
      sql: about(subject, finding('error', 'period.longer_than_day')),
    },
    {
      when: empty.join(' OR ') || 'false',
      sql: said(subject, 'error', 'required.missing', {
        message: 'The day of this line is not known.',
        suggestion: 'Export the report again with a breakdown by day, or repair the line.',
      }),
    },
  ]
}

/**
 * A line without any of the values by which the file is broken down sums up the others, or has lost them; one that lacks
 * some of them may do so. Added to them, its figures would count twice.
 */
function breakdownFindings(plan: Plan): Finding[] {
  return breakdownGroups(plan).flatMap((group) => {
    const empty = group.map(isEmpty)
    const [first] = group
    const subject = {
      column: group.map(({ mapped }) => mapped.header).join(', '),
      field: first!.name,
      value: 'CAST(NULL AS VARCHAR)',
    }
    const titles = group.map(({ title }) => title.toLowerCase()).join(' and ')
    const none = {
      when: empty.includes('false') ? 'false' : `(${empty.join(' AND ')})`,
      sql: said(subject, 'error', 'breakdown.missing', {
        message: `It has no ${titles}: it sums up other lines, or has lost them.`,
        suggestion: 'Leave the line out if it sums up others; else fill in what is missing.',
      }),
    }
    if (group.length === 1) return [none]
    const some = `(${empty.join(' OR ')}) AND NOT (${empty.join(' AND ')})`
    return [
      none,
      {
        when: empty.every((one) => one === 'false') ? 'false' : some,
        sql: said(subject, 'warning', 'breakdown.partly_missing', {
          message: `It has not both ${titles}: it may sum up other lines.`,
          suggestion: 'Leave the line out if it sums up others, or its figures count twice.',
        }),
      },
    ]
  })
}

function crossFindings(plan: Plan): Finding[] {
  return (plan.input.dataset.rules ?? []).flatMap(({ name, severity, compare, message, suggestion }) => {
    const [left, comparison, right] = compare
    const one = plan.byName.get(left)
    const other = typeof right === 'number' ? String(Number(right)) : comparable(plan.byName.get(right))
    if (!one || other === undefined) return []
    const words = { message, suggestion: suggestion ?? 'Check both values in the source.' }
    return {
      when: `NOT (${comparable(one)} ${comparison} ${other})`,
      sql: said({ column: one.mapped.header, field: left, value: one.at.cell }, severity, name, words),
    }
  })
}

function currencyFindings(plan: Plan): Finding[] {
  const heads = headerCurrencies(plan)
  const column = plan.fields.find(({ field }) => field.type === 'currency')
  return [...columnAgainstHeaders(), ...headersAgainstEachOther(), ...signs()]

  function columnAgainstHeaders(): Finding[] {
    if (!column) return []
    const subject = { column: column.mapped.header, field: column.name, value: column.at.cell }
    return heads.map(({ planned, said: mark, codes }) => ({
      when: `NOT list_contains(${listOf(codes)}, ${column.at.value})`,
      sql: said(subject, 'error', 'currency.contradicts', {
        message: `The header “${planned.mapped.header}” says that amounts are in ${mark}, this line names another currency.`,
        suggestion: 'Check which one the amounts are in, and correct the line or the header.',
      }),
    }))
  }

  function headersAgainstEachOther(): Finding[] {
    const [first, ...others] = heads
    return others
      .filter(({ codes }) => !codes.some((code) => first!.codes.includes(code)))
      .map(({ planned, said: mark }) => ({
        when: `${first!.planned.at.value} IS NOT NULL AND ${planned.at.value} IS NOT NULL`,
        sql: said(
          { column: planned.mapped.header, field: planned.name, value: planned.at.cell },
          'error',
          'currency.contradicts',
          {
            message: `Its amounts are in two currencies: ${first!.said} and ${mark}, as the headers say.`,
            suggestion: 'Export the amounts in one currency, or leave one of the columns out.',
          },
        ),
      }))
  }

  function signs(): Finding[] {
    const { currency } = plan
    if (!currency || currency.signed.length === 0) return []
    // Said of the first column of the line that has a sign: which columns were looked at must not matter.
    return currency.signed.flatMap(({ name, mapped, at }, index) => {
      const before = currency.signed.slice(0, index).map((other) => `${other.at.own('u')} IS NULL`)
      const here = [`${at.own('u')} IS NOT NULL`, ...before].join(' AND ')
      const subject = { column: mapped.header, field: name, value: `array_to_string(currency_marks, ', ')` }
      return [
        { when: `${here} AND ${MARK_UNKNOWN}`, sql: about(subject, finding('error', 'currency.unknown')) },
        {
          when: `${here} AND ${MARKS_CONTRADICT}`,
          sql: about(subject, finding('error', 'currency.contradicts')),
        },
        { when: `${here} AND ${MARK_OPEN}`, sql: about(subject, finding('warning', 'currency.open')) },
      ]
    })
  }
}

function duplicateFindings(plan: Plan): Finding[] {
  return plan.fields.flatMap(({ name, mapped }) =>
    mapped.duplicates.map((other) => ({
      when: `c${other} <> c${mapped.column} AND c${other} <> ''`,
      sql: about(
        { column: mapped.header, field: name, value: `c${other}` },
        finding('warning', 'header.duplicate_differs'),
      ),
    })),
  )
}

/** Headers of the cells with U+FFFD, which stands where a character was lost before the file reached us. */
export function damagedColumns(): string {
  const character = '(?:[^"\\\\]|\\\\.)'
  const pattern = `"(${character}*)":"${character}*\ufffd`
  return `CASE WHEN contains(raw, '\ufffd') THEN array_to_string(regexp_extract_all(raw, ${text(pattern)}, 1), ', ') END`
}

function replacementFinding(): Finding {
  return {
    when: `damaged IS NOT NULL AND flaw <> 'invalid_utf8'`,
    sql: about(
      { column: null, field: null, value: 'damaged' },
      finding('warning', 'text.replacement_character'),
    ),
  }
}

/** A cast to DOUBLE keeps the order of numbers and takes 0.05 µs, one to DECIMAL(38, 9) takes 10. */
function comparable(planned: PlannedField | undefined): string | undefined {
  if (!planned) return undefined
  const { field, at } = planned
  const isNumber = ['integer', 'decimal', 'money', 'percent'].includes(field.type)
  return isNumber ? `CAST(${at.value} AS DOUBLE)` : at.value
}

/** Why a line is left out: the column `left_out` names the rule. */
export function leftOutWarning(): string {
  const rules = ['row.total', 'row.subtotal']
  const broken = listOf(rules.map((rule) => `W${ending(rule, WORDS[rule]!)}`))
  const subject = { column: null, field: null, value: 'c0' }
  return about(subject, `list_extract(${broken}, list_position(${listOf(rules)}, left_out))`)
}
