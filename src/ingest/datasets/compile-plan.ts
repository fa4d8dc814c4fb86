/** What is compiled: the fields that the file has and those derived, the currency of a line, and lines that sum up others. */

import type { ColumnLimit, ColumnLimits } from './column-limits.ts'
import { planComputed } from './compile-expressions.ts'
import { choiceSql, dateSql, idSql, numberSql, textSql } from './compile-fields.ts'
import { columnsOf, type FieldColumns, type FieldSql } from './compile-findings.ts'
import { type CellStep, cellSteps } from './compile-transforms.ts'
import { arraySql, formSql, jsonSql, momentSql } from './compile-values.ts'
import { type Dataset, type Field, type RowType, titleOf } from './dataset.ts'
import { CURRENCIES_BY_SIGN, type HeaderMap, type MappedField, type Period } from './headers.ts'
import type { PlainColumns, Styles } from './profile.ts'
import { listOf, text } from './sql-text.ts'

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
  /** Currency signs or codes of amounts: none, only ambiguous ones, or also unambiguous ones. Unknown: they are searched for. */
  signs?: 'none' | 'open' | 'named'
  /** What the columns of the target tables can hold; unknown, only the plan finds what they cannot. */
  limits?: ColumnLimits
  /** The payloads as arrays without keys (see packingOf). */
  isPacked?: boolean
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
  /** Of the columns that it fills. */
  limits: readonly ColumnLimit[]
  /** How the cell is made from the file's columns; none: it is one of them. */
  steps: CellStep[]
}

export interface FieldPlan {
  input: CompileInput
  /** Those that the file has a column for, and those joined from such. */
  fields: PlannedField[]
  /** Fields in CEL. */
  computed: PlannedField[]
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

export function planFields(input: CompileInput): FieldPlan {
  const { dataset, map } = input
  const rows = dataset.rows.filter((row) => map.rowTypes.includes(row.name))
  const identities = new Set(rows.filter(({ optional }) => !optional).map((row) => identityField(row, input)))
  const inFile = [...Object.entries(map.fields), ...joinedFields(input)]
  const fields = inFile.map(([name, mapped], index): PlannedField => {
    const declared = dataset.fields[name]!
    const required = (declared.required ?? false) || identities.has(name)
    const steps = cellSteps(declared, {
      column: mapped.column,
      joined: (declared.join?.fields ?? []).flatMap((other) => map.fields[other]?.column ?? []),
      values: input.values?.[name] ?? {},
    })
    const at = columnsOf(index, steps.length > 0 ? `f${index}_c` : `c${mapped.column}`)
    const field = { ...declared, required }
    const plain = input.plain?.get(name)
    return {
      steps,
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
      limits: input.limits?.[name] ?? [],
    }
  })
  const byName = new Map(fields.map((field) => [field.name, field]))
  const plan: FieldPlan = { input, fields, computed: [], byName, rows, constants: {} }
  addDay(plan)
  addCurrency(plan)
  planComputed(plan)
  return plan
}

export type Layer = [name: string, expression: string][]

/** Subqueries rather than WITH: nothing is materialised, so a statement holds one vector of rows at a time. */
export function nestLayers(source: string, layers: Layer[]): string {
  return layers
    .filter((layer) => layer.length > 0)
    .reduce(
      (inner, layer) =>
        `(SELECT *, ${layer.map(([name, expression]) => `${expression} AS ${name}`).join(',\n  ')}\nFROM ${inner})`,
      source,
    )
}

/** The cells that are made from columns of the file: the n-th steps of all fields are one layer. */
export function cellLayers(fields: readonly PlannedField[]): Layer[] {
  const depth = Math.max(0, ...fields.map(({ steps }) => steps.length))
  return Array.from({ length: depth }, (_, index) =>
    fields.flatMap(({ at, steps }): Layer => {
      const step = steps[index]
      if (!step) return []
      const name = (place: number) => (place === steps.length - 1 ? at.cell : `${at.cell}${place}`)
      return [[name(index), step(index === 0 ? '' : name(index - 1))]]
    }),
  )
}

/** The field that tells the rows of a dimension apart: its id where the file has one, else its name. */
export function identityField(
  row: RowType,
  input: Pick<CompileInput, 'dataset' | 'map'>,
): string | undefined {
  const { id, name } = row.identity ?? {}
  return id && (input.map.fields[id] || isJoined(input, id)) ? id : name
}

function isJoined({ dataset, map }: Pick<CompileInput, 'dataset' | 'map'>, name: string): boolean {
  return dataset.fields[name]?.join?.fields.some((other) => map.fields[other]) ?? false
}

/** What people see as its header are those of the cells. */
function joinedFields(input: CompileInput): [name: string, mapped: MappedField][] {
  const { dataset, map } = input
  return Object.entries(dataset.fields)
    .filter(([name]) => !map.fields[name] && isJoined(input, name))
    .map(([name, { type, join }]) => {
      const headers = join!.fields.flatMap((other) => map.fields[other]?.header ?? [])
      return [name, { column: NO_COLUMN, header: headers.join(' + '), type, duplicates: [] }]
    })
}

/** Of a field that is joined or computed. */
export const NO_COLUMN = -1

/** SQL that is true where there is nothing in a field, and nothing wrong with it. */
export function isEmpty({ at, isPlain, isFilled }: PlannedField): string {
  if (isFilled) return 'false'
  return isPlain ? `${at.value} IS NULL` : `(${at.value} IS NULL AND ${at.problem} IS NULL)`
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
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return momentSql(field, at)
    case 'uuid':
    case 'email':
    case 'url':
      return formSql(field, at)
    case 'json':
      return jsonSql(field, at)
    case 'array':
      return arraySql(field, styles, at)
    default:
      return numberSql(field, mapped, styles, at)
  }
}

function addDay(plan: FieldPlan): void {
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

function addCurrency(plan: FieldPlan): void {
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
  plan: FieldPlan,
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
function headerCurrency(plan: FieldPlan): string | undefined {
  return plan.fields.find(({ field, mapped }) => field.type === 'money' && mapped.currency)?.mapped.currency
}

// The currency of a line: of its own column, of a header, or of a sign next to an amount. They must agree; a sign that
// several currencies use agrees with each of them.

const SIGNS = listOf([...CURRENCIES_BY_SIGN.keys()])
/** |USD|AUD|…|: what each of them may stand for. */
const MEANT = listOf([...CURRENCIES_BY_SIGN.values()].map((codes) => `|${codes.join('|')}|`))

/** Columns `currency_marks` (as written), `currency_sets` (what each may mean) and `line_currency`. */
export function currencyLayers({ currency }: FieldPlan): [name: string, expression: string][][] {
  if (!currency) return []
  const { column, header, signed } = currency
  const stated = [...(column ? [column.at.value] : []), ...(header ? [`'${header}'`] : [])]
  if (signed.length === 0) return [[['line_currency', `coalesce(${stated.join(', ')})`]]]
  const marks = signed.map(({ at }) => at.own('u')).join(', ')
  const sets = `list_transform(currency_marks, lambda m: list_extract(${MEANT}, list_position(${SIGNS}, upper(m))))`
  const named = `substr(list_filter(currency_sets, lambda s: strlen(s) = 5)[1], 2, 3)`
  return [
    [
      [
        'currency_marks',
        `CASE WHEN coalesce(${marks}) IS NULL THEN NULL ELSE list_distinct(string_split(concat_ws(' ', ${marks}), ' ')) END`,
      ],
    ],
    [['currency_sets', `CASE WHEN currency_marks IS NULL THEN NULL ELSE ${sets} END`]],
    [['line_currency', `coalesce(${[...stated, named].join(', ')})`]],
  ]
}

/** SQL that is true where the text next to an amount is no currency. */
export const MARK_UNKNOWN =
  'currency_sets IS NOT NULL AND len(list_filter(currency_sets, lambda s: s IS NULL)) > 0'

/** … where signs contradict the line's currency, or each other where it has none. */
export const MARKS_CONTRADICT = `currency_sets IS NOT NULL AND CASE WHEN line_currency IS NULL THEN len(list_distinct(currency_sets)) > 1 ELSE len(list_filter(currency_sets, lambda s: NOT contains(s, concat('|', line_currency, '|')))) > 0 END`

/** … where there is a sign, and nothing says which of its currencies it stands for. */
export const MARK_OPEN = `currency_sets IS NOT NULL AND line_currency IS NULL AND len(list_distinct(currency_sets)) = 1 AND currency_sets[1] IS NOT NULL`

// Lines that only sum up others. The word alone does not make one: a campaign may be called Total, and then its
// line has a date and all the names it needs.

const TOTAL =
  '(?:grand total|sub-?total|total(?:e|es|s|en|t)?|gesamt(?:summe|ergebnis)?|summe|suma|sum|somme|somma|soma|totaal|totaux|total general|total général|total geral|totale complessivo|tổng(?: cộng| số)?|итого|合計|总计|總計|합계)'
/** With a colon or a count it can hardly be a name. */
const COUNTED = `${TOTAL}\\s*[:：].*|total of [0-9.,]+ .*|total (?:de|di|von|aus) [0-9.,]+ .*|tổng(?: cộng)?(?: của)? [0-9.,]+ .*|results from [0-9.,]+ .*`
const WHOLE_PERIOD = [
  'all',
  'alle',
  'tous',
  'toutes',
  'todos',
  'todas',
  'todo',
  'tutti',
  'tutte',
  'total',
  'gesamt',
  'tất cả',
]
/** `All ages`, `Alle Altersgruppen`. */
const ALL_OF_THEM =
  '(?:all|alle|tous les|toutes les|todos los|todas las|todos os|todas as|tutti i|tutte le|tất cả) .{1,40}'

const NUMBERS = new Set(['integer', 'decimal', 'money', 'percent'])

/**
 * SQL of the rule by which a line is left out, or NULL. It takes positive evidence: a label, or figures with neither a
 * name nor a day. A line that has a day and has lost its names (merged cells of a spreadsheet do that) is an error of its
 * own; whether its figures are the sum of others is worked out when all lines are staged (fn_ingest_check_subtotals).
 */
export function leftOutRule(plan: FieldPlan): string {
  const subtotal = breakdownLabel(plan)
  const cases = [
    ...totalEvidence(plan).map((evidence) => `WHEN ${evidence} THEN 'row.total'`),
    ...(subtotal === 'false' ? [] : [`WHEN ${subtotal} THEN 'row.subtotal'`]),
  ]
  if (cases.length === 0) return 'CAST(NULL AS VARCHAR)'
  return `CASE WHEN flaw NOT IN ('', 'too_few_fields') THEN NULL ${cases.join(' ')} END`
}

/** SQL of the cell that calls a line a total, else of its first one. */
export function totalLabel(plan: FieldPlan): string {
  const breakdowns = breakdownGroups(plan).flatMap((group) => group.map(({ at }) => at.cell))
  const days = plan.fields.filter(({ field }) => field.type === 'date').map(({ at }) => at.cell)
  const cells = [...new Set([...labelCells(plan), ...days, ...breakdowns])]
  const pattern = [...totalPatterns(plan), ALL_OF_THEM, ...WHOLE_PERIOD].join('|')
  return `coalesce(list_filter([${cells.join(', ')}], lambda x: regexp_full_match(trim(x, ' \u00a0'), ${text(`(?i:${pattern})`)}))[1], c0)`
}

function totalPatterns({ input: { dataset, platform } }: FieldPlan): string[] {
  return [`${TOTAL}\\.?`, COUNTED, ...(dataset.platforms[platform]?.totals ?? [])]
}

/** Where a line may call itself a total: its first cell, and names and texts of its key. */
function labelCells(plan: FieldPlan): string[] {
  return [...new Set(['c0', ...[...namesOf(plan), ...keyTexts(plan)].map(({ at }) => at.cell)])]
}

function namesOf({ rows, byName }: FieldPlan): PlannedField[] {
  return rows
    .flatMap((row) => [row.identity?.id, row.identity?.name])
    .flatMap((name) => (name && byName.has(name) ? [byName.get(name)!] : []))
}

/** Fields in the key of the leaf that are no numbers. */
function keyTexts({ rows, byName }: FieldPlan): PlannedField[] {
  const leaf = rows.at(-1)
  return (leaf?.key ?? []).flatMap((column) => {
    const planned = byName.get(leaf!.columns[column]!)
    return planned && ['text', 'id', 'enum', 'email', 'url'].includes(planned.field.type) ? [planned] : []
  })
}

/** Conditions each of which makes a line a total. */
function totalEvidence(plan: FieldPlan): string[] {
  const { dataset, platform } = plan.input
  const own = dataset.platforms[platform]?.totals ?? []
  const sources = plan.rows.flatMap((row) => {
    const name = row.identity && !row.optional && identityField(row, plan.input)
    return name && plan.byName.has(name) ? [plan.byName.get(name)!] : []
  })
  const named = namesOf(plan)
  const numbers = plan.fields.filter(({ field }) => NUMBERS.has(field.type))
  const day = plan.fields.find(({ field }) => field.type === 'date' && field.required)
  const cells = labelCells(plan)
  const says = (pattern: string) =>
    `len(list_filter([${cells.join(', ')}], lambda x: regexp_full_match(trim(x, ' \u00a0'), ${text(`(?i:${pattern})`)}))) > 0`
  const total = totalPatterns(plan).join('|')

  const noDay = day ? isEmpty(day) : noOneDay(plan)
  const lacking = [...sources.map(isEmpty), noDay].filter((empty) => empty !== 'false')
  const nameless =
    named.length > 0 && numbers.length > 0
      ? `(${[...named.map(isEmpty), noDay].join(' AND ')} AND coalesce(${numbers.map(({ at }) => at.value).join(', ')}) IS NOT NULL)`
      : 'false'
  return [
    lacking.length > 0 ? `(${lacking.join(' OR ')}) AND (${nameless} OR ${says(total)})` : '',
    day && !day.isPlain ? `list_contains(${WHOLE}, lower(trim(${day.at.cell})))` : '',
    day ? '' : says([COUNTED, ...own].join('|')),
    day ? '' : bareTotal(plan, named, says(total)),
    ...(named.length > 0 ? [] : keyTotals(plan, total)),
  ].filter((evidence) => evidence !== '')
}

const WHOLE = `[${WHOLE_PERIOD.map(text).join(', ')}]`

/** Where the day comes from a period: it is longer than a day, or not there at all. */
function noOneDay({ period }: FieldPlan): string {
  if (!period) return 'false'
  const { start, end, at } = period
  const broken = [start, end].filter(({ isPlain }) => !isPlain).map((one) => `${one.at.problem} IS NULL`)
  return `(${[`${at.value} IS NULL`, ...broken].join(' AND ')})`
}

/** Of rows that nothing but their key tells apart: the word in one part of the key, and nothing else filled in but numbers. */
function keyTotals(plan: FieldPlan, total: string): string[] {
  const texts = plan.fields.filter(({ field }) => !NUMBERS.has(field.type))
  return keyTexts(plan).flatMap((planned) => {
    const rest = texts.filter((other) => other !== planned)
    if (rest.length === 0) return []
    const says = `regexp_full_match(trim(${planned.at.cell}, ' \u00a0'), ${text(`(?i:${total})`)})`
    return [`${says} AND ${rest.map(isEmpty).join(' AND ')}`]
  })
}

/** Without a day in each line the word counts where nothing but names and numbers is filled in. */
function bareTotal(plan: FieldPlan, named: PlannedField[], says: string): string {
  const rest = plan.fields.filter(
    (planned) =>
      !NUMBERS.has(planned.field.type) && planned.field.type !== 'date' && !named.includes(planned),
  )
  return rest.length > 0 ? `${rest.map(isEmpty).join(' AND ')} AND ${says}` : ''
}

/**
 * The fields by which figures are broken down further, such as age and gender: what the leaf asks for in its header and
 * has in its key, other than names and days.
 */
export function breakdownGroups({ rows, byName, input }: FieldPlan): PlannedField[][] {
  const leaf = rows.at(-1)
  if (!leaf || leaf.identity) return []
  const keys = leaf.key.map((column) => leaf.columns[column]!)
  const names = new Set(input.dataset.rows.flatMap(({ identity }) => [identity?.id, identity?.name]))
  return leaf.requires
    .map((need) => need.split('|'))
    .filter((group) =>
      group.every(
        (name) =>
          keys.includes(name) &&
          !names.has(name) &&
          ['enum', 'text'].includes(input.dataset.fields[name]!.type),
      ),
    )
    .map((group) => group.flatMap((name) => byName.get(name) ?? []))
    .filter((group) => group.length > 0)
}

/** `All` where an age is expected: the line sums up those of every age. A free text may be called so. */
function breakdownLabel(plan: FieldPlan): string {
  const labels = breakdownGroups(plan)
    .flat()
    .filter(({ field, isPlain }) => field.type === 'enum' && !isPlain)
    .map(({ at }) => `${at.problem} IS NOT NULL AND ${saysAll(at.cell)}`)
  return labels.length > 0 ? `(${labels.map((label) => `(${label})`).join(' OR ')})` : 'false'
}

function saysAll(cell: string): string {
  const word = `lower(trim(${cell}, ' \u00a0'))`
  return `(list_contains(${WHOLE}, ${word}) OR regexp_full_match(${word}, ${text(`(?i:${TOTAL}|${ALL_OF_THEM})`)}))`
}
