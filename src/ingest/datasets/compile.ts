/**
 * A dataset, a file's header and its styles as one DuckDB SELECT: the only source of the rules. A whole file and
 * the repair of one line run the same text. Layers, each a projection over the one before:
 * cells → plain? → the long way, by kind → values → judged → output. A column that is plain throughout has a value only.
 */

import { hasRawColumn, rawKeys, rowsSource } from '../readers/chunks.ts'
import type { Format } from '../readers/format.ts'
import type { ColumnLimits } from './column-limits.ts'
import { expressionLayers, ruleFindings } from './compile-expressions.ts'
import { readDates, readIds, readNumbers } from './compile-fields.ts'
import {
  finding,
  findingTail,
  type Kind,
  nullIfEmpty,
  PROBLEM_TEXTS,
  type ProblemText,
  trimmed,
  withMembers,
} from './compile-findings.ts'
import { limitFindings } from './compile-limits.ts'
import {
  breakdownGroups,
  type CompileInput,
  cellLayers,
  currencyLayers,
  type FieldPlan,
  headerCurrencies,
  identityField,
  isEmpty,
  type Layer,
  leftOutRule,
  MARK_OPEN,
  MARK_UNKNOWN,
  MARKS_CONTRADICT,
  NO_COLUMN,
  nestLayers,
  type PlannedField,
  planFields,
  totalLabel,
} from './compile-plan.ts'
import { readTimes, readTimestamps } from './compile-values.ts'
import { isExpressionRule, type Severity } from './dataset.ts'
import type { HeaderMap, Period } from './headers.ts'
import type { Styles } from './profile.ts'
import { jsonText, listOf, text } from './sql-text.ts'

/**
 * How its rows go from DuckDB to PostgreSQL. JSON has no tab and no other control character in it, and few cells have one, so hardly
 * anything is quoted: with commas and quotes each payload grew by an eighth, and writing it took a sixth longer.
 */
export const ROWS_OUT = "FORMAT csv, HEADER false, DELIMITER '\t', QUOTE '\x01', ESCAPE '\x01'"
export const ROWS_IN = "format csv, delimiter E'\\t', quote E'\\x01'"

const READERS: Record<Kind, (list: string, styles: Styles) => string> = {
  number: readNumbers,
  date: readDates,
  id: readIds,
  time: readTimes,
  timestamp: (list, styles) => readTimestamps(list, styles, 'timestamp'),
  timestamptz: (list, styles) => readTimestamps(list, styles, 'timestamptz'),
}
const KINDS = Object.keys(READERS) as Kind[]

export function compileSelect(input: CompileInput): string {
  const plan = planFields(input)
  const isPacked = input.isPacked === true
  const { suspect, gathered } = findingsOf(plan)
  const layers: Layer[] = [
    ...(isPacked ? cellLayers(plan.fields) : withDamaged(cellLayers(plan.fields))),
    ...firstLayers(plan),
    fieldsToExamine(plan).map(({ at, sql }) => [at.plain, sql.plain]),
    KINDS.flatMap((kind) => readerLayer(plan, kind)),
    plan.fields.flatMap((planned) => fieldValue(plan, planned)),
    periodDay(plan),
    ...currencyLayers(plan),
    ...expressionLayers(plan),
    [
      ['left_out', leftOutRule(plan)],
      ['is_suspect', `coalesce(${suspect}, false)`],
    ],
    [
      [
        'found',
        `CASE WHEN left_out IS NOT NULL THEN [${leftOutWarning(plan)}] WHEN is_suspect THEN ${gathered} END`,
      ],
    ],
    [
      ['errors', `CASE WHEN found IS NULL THEN '' ELSE ${findingsSql('found', 'E')} END`],
      ['warnings', `CASE WHEN found IS NULL THEN '' ELSE ${findingsSql('found', 'W')} END`],
    ],
  ]
  const { workspace_id, client_id, upload_id } = input.upload
  return `SELECT uuidv7() AS id,
  ${text(workspace_id)} AS workspace_id, ${client_id === null ? 'NULL' : text(client_id)} AS client_id, ${text(upload_id)} AS upload_id,
  ${input.batch_id ? text(input.batch_id) : 'NULL'} AS batch_id, ${input.request_id ? text(input.request_id) : 'NULL'} AS request_id,
  ${text(input.platform)} AS platform, ${text(input.map.leaf)} AS row_type, line AS row_number,
  ${isPacked ? `raw AS raw_values, ${arrayLiteral(membersOf(plan).map(({ element }) => element))} AS normalized_values` : `raw AS raw_payload, ${normalizedPayload(plan)} AS normalized_payload`},
  CASE WHEN left_out IS NOT NULL THEN 'skipped' WHEN errors <> '' THEN 'invalid' ELSE 'valid' END AS validation_status,
  CASE WHEN errors = '' THEN '[]' ELSE concat('[', errors, ']') END AS validation_errors,
  CASE WHEN warnings = '' THEN '[]' ELSE concat('[', warnings, ']') END AS validation_warnings
FROM ${nestLayers(cells(plan), layers)}`
}

/**
 * The same rows as one text, as ROWS_OUT writes them, of lines in `$1`. The statement does not name the upload: what all rows have between
 * their id and their number is `$2` (rowsHead), so that it is planned once for all files with these columns.
 */
export function compileRowsText(input: Omit<CompileInput, 'source' | 'upload'>): string {
  const source = rowsSource(input.map.headers.length)
  const payloads = input.isPacked ? 'values' : 'payload'
  const texts = [
    `raw_${payloads}`,
    `normalized_${payloads}`,
    'validation_status',
    'validation_errors',
    'validation_warnings',
  ]
  const row = `concat_ws('\t', id, CAST($2 AS VARCHAR), row_number, ${texts.map(quotedSql).join(', ')})`
  const upload = { workspace_id: '', client_id: null, upload_id: '' }
  return `SELECT string_agg(${row}, '\n') || '\n' AS rows FROM (${compileSelect({ ...input, source, upload })})`
}

const quotedSql = (value: string): string =>
  `CASE WHEN regexp_matches(${value}, '[\t\n\r\x01]') THEN concat('\x01', replace(${value}, '\x01', '\x01\x01'), '\x01') ELSE ${value} END`

export function rowsHead({
  upload,
  batch_id,
  request_id,
  platform,
  map,
}: Pick<CompileInput, 'upload' | 'batch_id' | 'request_id' | 'platform' | 'map'>): string {
  const { workspace_id, client_id, upload_id } = upload
  const values = [workspace_id, client_id, upload_id, batch_id, request_id, platform, map.leaf]
  return values.map((value) => value ?? '').join('\t')
}

/** Columns of no field end here: in every layer above each would be bound again and take 32 KB. */
function cells({ input, fields }: FieldPlan): string {
  const own = fields.flatMap(({ mapped }) => [mapped.column, ...mapped.duplicates])
  const used = new Set([0, ...own.filter((column) => column !== NO_COLUMN)])
  const columns = [...used].map((column) => `c${column}`)
  const { headers } = input.map
  const raw = input.isPacked
    ? `${arrayLiteral(headers.map((_, column) => elementOf(`c${column}`)))} AS raw, ${damagedCells(headers)} AS damaged`
    : `${rawPayload(headers)} AS raw`
  return `(SELECT line, flaw, extra, ${columns.join(', ')}, ${raw}\nFROM ${input.source})`
}

function withDamaged([first = [], ...rest]: Layer[]): Layer[] {
  return [[['damaged', damagedColumns()], ...first], ...rest]
}

/** Fields whose cells must be examined one by one. */
function fieldsToExamine(plan: FieldPlan): PlannedField[] {
  return plan.fields.filter(({ isPlain }) => !isPlain)
}

/** The n-th columns of all fields make one layer. */
function firstLayers(plan: FieldPlan): Layer[] {
  const fields = fieldsToExamine(plan)
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

function ofKind(plan: FieldPlan, kind: Kind): PlannedField[] {
  return fieldsToExamine(plan).filter(({ sql }) => sql.kind === kind)
}

/** The cells of a line that are not plain, read in one list; NULL for a line where all are. */
function readerLayer(plan: FieldPlan, kind: Kind): Layer {
  const fields = ofKind(plan, kind)
  if (fields.length === 0) return []
  const entries = fields.map(({ at, sql }, place) => {
    const known = Object.entries(sql.entry ?? {}).map(([name, value]) => `${name}: ${value}`)
    return `CASE WHEN ${at.plain} OR ${at.cell} = '' THEN NULL ELSE {${[`i: ${place}`, `c: ${at.cell}`, ...known].join(', ')}} END`
  })
  const cleaned = withMembers(`list_filter([${entries.join(', ')}], lambda e: e IS NOT NULL)`, [
    ['z', trimmed('e.c')],
    ['x', nullIfEmpty('e.z')],
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

function fieldValue(plan: FieldPlan, planned: PlannedField): Layer {
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

function periodDay({ period }: FieldPlan): Layer {
  if (!period) return []
  const { start, end, at } = period
  return [[at.value, `CASE WHEN ${start.at.value} = ${end.at.value} THEN ${start.at.value} END`]]
}

// Everything that can be wrong with a line. A finding is 'E' or 'W' and a JSON object; a line without any pays only
// for the test that it has none.

interface Finding {
  /** SQL that is true where the rule is broken. */
  when: string
  /** SQL of what is said of it (see `about`). */
  sql: string
}

interface Findings {
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

function findingsOf(plan: FieldPlan): Findings {
  const rest = [
    replacementFinding(),
    ...[...plan.fields, ...plan.computed].flatMap(fieldFindings),
    ...optionalParentFindings(plan),
    ...periodFindings(plan),
    ...breakdownFindings(plan),
    ...crossFindings(plan),
    ...expressionFindings(plan),
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
function findingsSql(found: string, severity: 'E' | 'W'): string {
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
function findingWithText(subject: Subject, severity: Severity, rule: string, words: ProblemText): string {
  return about(subject, text(`${severity === 'error' ? 'E' : 'W'}${findingTail(rule, words)}`))
}

function structureFinding(): Finding {
  const rules = Object.keys(PROBLEM_TEXTS).filter((rule) => rule.startsWith(STRUCTURE))
  const flaws = listOf(rules.map((rule) => rule.slice(STRUCTURE.length)))
  const broken = listOf(rules.map((rule) => `E${findingTail(rule, PROBLEM_TEXTS[rule]!)}`))
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
      sql: findingWithText(subject, 'error', 'required.missing', words),
    })
  }
  const add = (when: string, rule: string, message: string, suggestion = 'Check the value in the source.') =>
    findings.push({
      when,
      sql: findingWithText(subject, field.severity ?? 'error', rule, { message, suggestion }),
    })
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
  if (field.precision !== undefined) {
    const whole = `ltrim(split_part(${at.value}, '.', 1), '-0')`
    const [digits, where] =
      field.scale === undefined
        ? [field.precision, '']
        : [Math.max(0, field.precision - field.scale), ' before the decimal point']
    const rest = field.scale === undefined ? ` + strlen(rtrim(split_part(${at.value}, '.', 2), '0'))` : ''
    add(
      `strlen(${whole})${rest} > ${Number(digits)}`,
      'number.precision',
      `${title} has more than ${digits} digits${where}.`,
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
  for (const { when, broken } of limitFindings(planned)) findings.push({ when, sql: about(subject, broken) })
  return findings
}

/** A line may have no such parent; with other values of it and no key, these values would be lost. */
function optionalParentFindings(plan: FieldPlan): Finding[] {
  return plan.rows.flatMap((row) => {
    const key = row.optional && plan.byName.get(identityField(row, plan.input) ?? '')
    if (!key) return []
    const elsewhere = new Set(
      plan.rows.flatMap((other) =>
        other === row ? [] : [...Object.values(other.columns), other.identity?.id],
      ),
    )
    const own = new Set([...Object.values(row.columns), row.identity?.name])
    return plan.fields
      .filter(
        ({ name, field, at }) =>
          own.has(name) && !elsewhere.has(name) && at !== key.at && field.default === undefined,
      )
      .map((other) => ({
        when: `${isEmpty(key)} AND NOT ${isEmpty(other)}`,
        sql: findingWithText(
          { column: key.mapped.header, field: key.name, value: key.at.cell },
          'error',
          'required.missing',
          {
            message: `${key.title} is empty, but ${other.title} is not.`,
            suggestion: `Fill in ${key.title}, or empty ${other.title} if the line has none.`,
          },
        ),
      }))
  })
}

function periodFindings({ period }: FieldPlan): Finding[] {
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
      sql: findingWithText(subject, 'error', 'required.missing', {
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
function breakdownFindings(plan: FieldPlan): Finding[] {
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
      sql: findingWithText(subject, 'error', 'breakdown.missing', {
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
        sql: findingWithText(subject, 'warning', 'breakdown.partly_missing', {
          message: `It has not both ${titles}: it may sum up other lines.`,
          suggestion: 'Leave the line out if it sums up others, or its figures count twice.',
        }),
      },
    ]
  })
}

function crossFindings(plan: FieldPlan): Finding[] {
  return (plan.input.dataset.rules ?? []).flatMap((rule) => {
    if (isExpressionRule(rule)) return []
    const { name, severity, compare, message, suggestion } = rule
    const [left, comparison, right] = compare
    const one = plan.byName.get(left)
    const other = typeof right === 'number' ? String(Number(right)) : comparable(plan.byName.get(right))
    if (!one || other === undefined) return []
    const words = { message, suggestion: suggestion ?? 'Check both values in the source.' }
    return {
      when: `NOT (${comparable(one)} ${comparison} ${other})`,
      sql: findingWithText(
        { column: one.mapped.header, field: left, value: one.at.cell },
        severity,
        name,
        words,
      ),
    }
  })
}

/** A rule that cannot be worked out is never taken for one that holds. */
function expressionFindings(plan: FieldPlan): Finding[] {
  return ruleFindings(plan).flatMap(({ rule, broken, failed, subject }) => {
    const { name, severity, message, suggestion } = rule
    const said = (words: ProblemText) => findingWithText(subject, severity, name, words)
    return [
      { when: broken, sql: said({ message, suggestion: suggestion ?? 'Check the values in the source.' }) },
      {
        when: failed,
        sql: said({
          message: `The rule “${name}” cannot be worked out on this line: a value that it needs is empty, divides by zero, or is too large.`,
          suggestion: `Fill in the value, or allow for it in the rule: \`FIELD == null || …\`. It is \`${rule.check}\`.`,
        }),
      },
    ]
  })
}

function currencyFindings(plan: FieldPlan): Finding[] {
  const heads = headerCurrencies(plan)
  const column = plan.fields.find(({ field }) => field.type === 'currency')
  return [...columnAgainstHeaders(), ...headersAgainstEachOther(), ...signs()]

  function columnAgainstHeaders(): Finding[] {
    if (!column) return []
    const subject = { column: column.mapped.header, field: column.name, value: column.at.cell }
    return heads.map(({ planned, said: mark, codes }) => ({
      when: `NOT list_contains(${listOf(codes)}, ${column.at.value})`,
      sql: findingWithText(subject, 'error', 'currency.contradicts', {
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
        sql: findingWithText(
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

function duplicateFindings(plan: FieldPlan): Finding[] {
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
function damagedColumns(): string {
  const character = '(?:[^"\\\\]|\\\\.)'
  const pattern = `"(${character}*)":"${character}*\ufffd`
  return `CASE WHEN contains(raw, '\ufffd') THEN array_to_string(regexp_extract_all(raw, ${text(pattern)}, 1), ', ') END`
}

/** The same of cells. */
function damagedCells(headers: readonly string[]): string {
  const cells = rawKeys(headers).map((key, column): [key: string, cell: string] => [key, `c${column}`])
  const named = asStored(cells).map(
    ([key, cell]) => `CASE WHEN contains(${cell}, '\ufffd') THEN ${text(key)} END`,
  )
  return `CASE WHEN contains(raw, '\ufffd') THEN array_to_string(list_filter([${named.join(', ')}], lambda x: x IS NOT NULL), ', ') END`
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
function leftOutWarning(plan: FieldPlan): string {
  const rules = ['row.total', 'row.subtotal']
  const broken = listOf(rules.map((rule) => `W${findingTail(rule, PROBLEM_TEXTS[rule]!)}`))
  const subject = { column: null, field: null, value: totalLabel(plan) }
  return about(subject, `list_extract(${broken}, list_position(${listOf(rules)}, left_out))`)
}

// The two payloads of a line: the cells as they came, and the values of the dataset's fields.

/** {header: text}; the chunks of a wide file have it already. */
function rawPayload(headers: readonly string[]): string {
  if (hasRawColumn(headers.length)) return 'raw'
  const cells = rawKeys(headers).map((key, column): [key: string, cell: string] => [key, `c${column}`])
  const pairs = asStored(cells).map(([key, cell]) => `${text(key)}, ${cell}`)
  return `CAST(json_object(${pairs.join(', ')}) AS VARCHAR)`
}

/** A member of the normalised payload: as JSON, and as an element of an array of PostgreSQL. */
interface Member {
  readonly key: string
  readonly json: string
  readonly element: string
  /** The text of the element is JSON: a number, true or false. Otherwise it is a string. */
  readonly isJson: boolean
}

function membersOf(plan: FieldPlan): Member[] {
  const string = (key: string, value: string): Member => ({
    key,
    json: quoteSql(value),
    element: `coalesce('"' || ${value} || '"', 'NULL')`,
    isJson: false,
  })
  const ofField = (key: string, planned: PlannedField): Member => ({
    key,
    json: jsonOf(planned),
    element: fieldElement(planned),
    isJson: planned.sql.json === 'raw',
  })
  return [
    ...[...plan.fields, ...plan.computed].map((planned) =>
      planned === plan.currency?.column
        ? string(planned.name, 'line_currency')
        : ofField(planned.name, planned),
    ),
    ...(plan.currency && !plan.currency.column ? [string(plan.currency.name, 'line_currency')] : []),
    ...(plan.period ? [string(plan.period.name, plan.period.at.value)] : []),
    ...Object.entries(plan.constants).map(([key, value]) => ({
      key,
      json: jsonText(value),
      element: elementOf(text(value)),
      isJson: false,
    })),
    ...plan.rows.flatMap((row): Member[] => {
      if (!row.identity) return []
      const key = `@${row.name}`
      const own = plan.byName.get(identityField(row, plan.input) ?? '')
      if (own && own.name === row.identity.id) return [ofField(key, own)]
      const json = identityOf(plan, row.name)
      return [{ key, json, element: `replace(${json}, 'null', 'NULL')`, isJson: false }]
    }),
  ]
}

function normalizedPayload(plan: FieldPlan): string {
  const members = membersOf(plan).map(({ key, json }) => [key, json] as const)
  const parts = asStored(members).flatMap(([key, value], index) => [
    text(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    value,
  ])
  return `concat(${parts.join(', ')}, '}')`
}

// The same two without their keys, as arrays of texts: for a file whose lines all have the same ones, which its upload keeps once. PostgreSQL takes
// them in a quarter of the time, in a fifth of the room.

/** What the elements of both arrays are; undefined: the rows of this file have their keys. */
export function packingOf(input: Omit<CompileInput, 'source'>): Packing | undefined {
  const plan = planFields({ ...input, source: '' })
  const { headers } = input.map
  const nests = [...plan.fields, ...plan.computed].some(
    ({ field }) => field.type === 'json' || field.type === 'array',
  )
  // A wide file has its payload already, and a rule in TypeScript reads objects.
  if (hasRawColumn(headers.length) || input.dataset.check || nests) return undefined
  const members = membersOf(plan)
  return {
    cells: rawKeys(headers),
    members: members.map(({ key }) => key),
    json: members.map(({ isJson }) => isJson),
  }
}

function arrayLiteral(elements: readonly string[]): string {
  return `concat('{', ${elements.flatMap((element, index) => (index === 0 ? [element] : ["','", element])).join(', ')}, '}')`
}

/** Text as an element of an array of PostgreSQL. */
function elementOf(value: string): string {
  return `'"' || ${escapedElement(value)} || '"'`
}

/** Few cells have anything to escape, and replace() copies every one: with this test a line takes a quarter less time. */
function escapedElement(value: string): string {
  return `CASE WHEN contains(${value}, '"') OR contains(${value}, '\\') THEN replace(replace(${value}, '\\', '\\\\'), '"', '\\"') ELSE ${value} END`
}

function fieldElement({ at, sql, isPlain }: PlannedField): string {
  if (sql.json === 'raw') return `coalesce(${at.value}, 'NULL')`
  if (sql.json === 'quoted' || (isPlain && sql.plain !== 'false'))
    return `coalesce('"' || ${at.value} || '"', 'NULL')`
  return `coalesce(${elementOf(at.value)}, 'NULL')`
}

/**
 * In the order in which PostgreSQL keeps the members of jsonb: shorter names first, then by their bytes. In any other
 * order it sorts them, line by line, which takes a tenth of the time of COPY.
 */
function asStored<Member extends readonly [key: string, ...unknown[]]>(members: readonly Member[]): Member[] {
  const names = new Map(members.map((member) => [member, Buffer.from(member[0])]))
  return [...members].sort((one, other) => {
    const [a, b] = [names.get(one)!, names.get(other)!]
    return a.length - b.length || a.compare(b)
  })
}

function jsonOf({ at, sql, isPlain }: PlannedField): string {
  if (sql.json === 'raw') return `coalesce(${at.value}, 'null')`
  if (sql.json === 'quoted') return quoteSql(at.value)
  // Text alone is never plain enough for that.
  if (sql.plain === 'false') return `coalesce(CAST(to_json(${at.value}) AS VARCHAR), 'null')`
  if (isPlain) return quoteSql(at.value)
  return `coalesce(CASE WHEN ${at.plain} THEN '"' || ${at.value} || '"' ELSE CAST(to_json(${at.value}) AS VARCHAR) END, 'null')`
}

function quoteSql(value: string): string {
  return `coalesce('"' || ${value} || '"', 'null')`
}

/** The source's id; without an id column a hash of the names from the root to it. */
function identityOf(plan: FieldPlan, rowType: string): string {
  const rows = plan.rows.filter((row) => row.identity)
  const path = rows.slice(0, rows.findIndex((row) => row.name === rowType) + 1)
  const own = plan.byName.get(identityField(path.at(-1)!, plan.input) ?? '')
  if (!own) return `'null'`
  if (own.name === path.at(-1)!.identity?.id) return jsonOf(own)
  const names = path.map((row) => {
    const name = plan.byName.get(row.identity?.name ?? '') ?? plan.byName.get(row.identity?.id ?? '')
    return name ? name.at.value : 'NULL'
  })
  const hash = `left(sha256(CAST(to_json([${names.join(', ')}]) AS VARCHAR)), 32)`
  return `CASE WHEN ${own.at.value} IS NULL THEN 'null' ELSE concat('"name:', ${hash}, '"') END`
}

// How an upload was read: kept with it, so that a corrected line is checked by exactly the same rules.

/** What the arrays of staged rows hold (`raw_values`, `normalized_values`). */
export interface Packing {
  readonly cells: readonly string[]
  readonly members: readonly string[]
  /** Whether the text of a member is JSON. */
  readonly json: readonly boolean[]
}

/** What the SQL of the plan needs to know of the file. */
export interface Layout {
  /** Fields that the normalised payload has. */
  readonly fields: readonly string[]
  /** In dependency order. */
  readonly row_types: readonly string[]
  readonly leaf: string
  /** Its rows were staged without keys. */
  readonly packing?: Packing
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
  /** What the columns of the tables could hold then. */
  readonly limits?: ColumnLimits
  /** Of a workbook. */
  readonly sheet?: string
  /** Who had said what headers and values of this file mean, before it was uploaded; missing in readings of older versions. */
  readonly remembered?: RememberedReading
  /** By which earlier choice of options it was read, besides what it shows by itself. */
  readonly recalled?: RecalledReading
  /** Field → value that somebody had matched → lines with it. */
  readonly matched?: Readonly<Record<string, Readonly<Record<string, number>>>>
}

interface RecalledReading {
  /** The upload that they were chosen for, and the number of its change. */
  readonly upload_id: string | null
  readonly change: number | null
  readonly options: readonly ('encoding' | 'delimiter' | 'header_line' | 'decimal' | 'dates')[]
}

export interface RememberedReading {
  /** Header of the file → who said what it means. */
  readonly headers: Readonly<Record<string, string>>
  /** Field → who said last what values of it mean. */
  readonly values: Readonly<Record<string, string>>
}

/** The names that the compiled statement writes into the normalised payload. */
export function layoutOf(input: Omit<CompileInput, 'source'>): Layout {
  const packing = packingOf(input)
  const { fields, computed, period, constants, currency } = planFields({ ...input, source: '' })
  return {
    fields: [
      ...[...fields, ...computed].map(({ name }) => name),
      ...(period ? [period.name] : []),
      ...Object.keys(constants),
      ...(currency && !currency.column ? [currency.name] : []),
    ],
    row_types: input.map.rowTypes,
    leaf: input.map.leaf,
    ...(packing && { packing }),
  }
}
