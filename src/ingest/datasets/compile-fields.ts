/**
 * How a field of each type is read, as SQL: numbers, dates, values out of a list, ids, text. Values of numbers stay text,
 * so that no digit is ever rounded.
 */

import {
  type FieldColumns,
  type FieldSql,
  finding,
  findingOf,
  nullIfEmpty,
  PROBLEM_TEXTS,
  trimmed,
  withMembers,
  withoutZeros,
} from './compile-findings.ts'
import type { Field } from './dataset.ts'
import { CURRENCY_CODES, CURRENCY_SIGNS, type MappedField, MONTHS } from './headers.ts'
import type { Styles } from './profile.ts'
import { BLANKS, listOf, matches, replaceAll, text } from './sql-text.ts'

export const SPACES = `'’\\s\\x{a0}\\x{202f}\\x{2009}`
const BLANK = '[\\s\\x{a0}\\x{202f}]*'
const MARK = `(?:[A-Za-z]{1,3}\\$|\\p{Sc}|[A-Z]{3}|zł|Kč|kr\\.?|Fr\\.?|đ|VNĐ)`
const CURRENCY = `(${MARK}?)`
const SIGN = '([-+−–])?'

/** Sign, currency and percent sign may stand before or behind. */
export const NUMBER_PREFIX = `^(\\()?\\s*${SIGN}\\s*${CURRENCY}${BLANK}${SIGN}\\s*`
export const NUMBER_SUFFIX = `${BLANK}(-)?\\s*(%)?${BLANK}${CURRENCY}\\s*\\)?$`
const AMOUNT = `${NUMBER_PREFIX}([0-9][0-9.,${SPACES}]*|[.,][0-9]+)([eE][-+]?[0-9]{1,3})?${NUMBER_SUFFIX}`
const GROUPS = `['open', 's1', 'mark', 's2', 'body', 'exponent', 's3', 'percent', 'behind']`

/** An amount with a currency sign or code, and one whose sign or code names one currency: `$` may be one of many. */
export const MARKED = `^[-+−–(\\s]*${MARK}${BLANK}[-+−–]?[0-9.,]|[0-9.,]${BLANK}-?${BLANK}${MARK}[)\\s]*$`
export const NAMED = MARKED.replaceAll(
  MARK,
  `(?:[A-Za-z]{1,3}\\$|[€£₫₹₩฿₱₺₽₴₪₦₸₡₲₵₼₾৳]|[A-Z]{3}|zł|Kč|đ|VNĐ)`,
)

interface Marks {
  decimal: string
  group: string
}
type Mark = 'dot' | 'comma'
const MARKS: Record<Mark, Marks> = {
  dot: { decimal: '\\.', group: ',' },
  comma: { decimal: ',', group: '\\.' },
}

export function numberSql(field: Field, mapped: MappedField, styles: Styles, at: FieldColumns): FieldSql {
  const whole = field.type === 'integer'
  const micros = mapped.micros === true
  const sign = field.min !== undefined && field.min >= 0 ? '' : '-?'
  const number = plainNumber(styles.decimal, whole || micros)
  const percent = field.type === 'percent' ? '%?' : ''
  const form = `${sign}${number}${percent}`
  const value = plainValue(at.cell, styles.decimal, field, micros)
  return {
    first: [],
    plain: matches(at.cell, `${form}${field.required ? '' : '|'}`),
    plainValue: value,
    whole: { holds: matches(at.cell, form), value },
    kind: 'number',
    entry: {
      whole: String(whole),
      micros: String(micros),
      needed: String(field.required ?? false),
      fraction: String(field.type === 'percent'),
      severity: field.severity === 'warning' ? `'W'` : `'E'`,
    },
    json: 'raw',
  }
}

/** Where the file does not settle its style, a mark before three digits says two things: that is not plain. */
function plainNumber(style: Styles['decimal'], whole: boolean): string {
  if (style === 'dot' || style === 'comma') {
    const { decimal, group } = MARKS[style]
    const digits = `(?:0|[1-9][0-9]{0,17}|[1-9][0-9]{0,2}(?:${group}[0-9]{3}){1,5})`
    return whole ? digits : `${digits}(?:${decimal}[0-9]{1,18})?`
  }
  return whole ? '(?:0|[1-9][0-9]{0,17})' : '(?:0|[1-9][0-9]{0,17})(?:[.,](?:[0-9]{1,2}|[0-9]{4,18}))?'
}

/** Entries with `x`, the cleaned cell, become entries with `v` and `p`. */
export function readNumbers(list: string, styles: Styles): string {
  const hundredth = `e.g.percent <> ''`
  const exact = withoutZeros('TRY_CAST(e.n AS DECIMAL(38, 9))')
  const tooLong = `CASE WHEN strlen(split_part(e.m, '.', 1)) < 19 THEN false WHEN e.whole THEN TRY_CAST(split_part(e.m, '.', 1) AS BIGINT) IS NULL ELSE strlen(split_part(e.m, '.', 1)) > 30 END`
  return withMembers(list, [
    ['g', `CASE WHEN e.x IS NULL THEN NULL ELSE regexp_extract(e.x, ${text(AMOUNT)}, ${GROUPS}) END`],
    [
      'u',
      `CASE WHEN e.x IS NULL THEN NULL ELSE nullif(concat_ws(' ', nullif(e.g.mark, ''), nullif(e.g.behind, '')), '') END`,
    ],
    ['b', `rtrim(e.g.body, ${text(" '’\u00a0\u202f\u2009")})`],
    ...readings(styles.decimal),
    ['m', `CASE WHEN e.n IS NULL THEN NULL WHEN e.g.exponent = '' THEN e.n ELSE ${exact} END`],
    [
      'p',
      [
        // A dash is how exports write nothing; a word is how people do, and it may have stood for a number.
        `CASE WHEN e.x IS NULL THEN CASE WHEN NOT e.needed AND regexp_matches(e.z, '[A-Za-z]') THEN ${findingOf(`'W'`, 'value.nothing')} END`,
        `WHEN ${matches('e.x', '[<>≤≥].*')} THEN ${findingOf(`'W'`, 'value.censored')}`,
        `WHEN e.b = '' THEN ${findingOf('e.severity', 'number.invalid', digitsOnly())}`,
        // 80 % is 0.8 in one table and 80 in another: only the declaration tells.
        `WHEN ${hundredth} AND NOT e.fraction THEN ${findingOf('e.severity', 'number.percent')}`,
        `WHEN ${isAmbiguous(styles.decimal)} THEN ${findingOf('e.severity', 'number.ambiguous', bothNumberReadings())}`,
        `WHEN e.n IS NULL THEN ${findingOf('e.severity', 'number.style', bothNumberReadings())}`,
        `WHEN e.m IS NULL OR ${tooLong} THEN ${findingOf('e.severity', 'number.overflow')}`,
        `WHEN e.whole AND NOT ${isWhole('e.m')} THEN ${findingOf('e.severity', 'integer.fraction')} END`,
      ].join(' '),
    ],
    [
      'v',
      [
        'CASE WHEN e.p IS NOT NULL OR e.x IS NULL THEN NULL',
        `WHEN e.whole THEN split_part(e.m, '.', 1)`,
        `WHEN ${hundredth} THEN ${shiftDecimal('e.m', 2)}`,
        `WHEN e.micros THEN ${shiftDecimal('e.m', 6)}`,
        'ELSE e.m END',
      ].join(' '),
    ],
  ])
}

/** The number as written by one style; of two styles, the one of the two readings that is possible. */
function readings(style: Styles['decimal']): [name: string, expression: string][] {
  if (style === 'dot' || style === 'comma') {
    // 1.234 where whole numbers are expected is a thousand of the other style, not one and a bit.
    const otherThousand = `e.whole AND ${matches('e.b', `[1-9][0-9]{0,2}${MARKS[style].decimal}[0-9]{3}`)}`
    return [['n', `CASE WHEN NOT (${otherThousand}) THEN ${decimalReading(style)} END`]]
  }
  return [
    ['d', decimalReading('dot')],
    ['k', decimalReading('comma')],
    [
      'n',
      [
        'CASE WHEN e.d IS NULL THEN e.k WHEN e.k IS NULL OR e.d = e.k THEN e.d',
        `WHEN e.whole AND NOT ${isWhole('e.k')} THEN e.d WHEN e.whole AND NOT ${isWhole('e.d')} THEN e.k END`,
      ].join(' '),
    ],
  ]
}

function decimalReading(style: Mark): string {
  const minus = ['s1', 's2', 's3'].map((name) => `e.g.${name} IN ('-', '−', '–')`).join(' OR ')
  const sign = `CASE WHEN ${minus} OR e.g.open <> '' THEN '-' ELSE '' END`
  return `CASE WHEN ${readable('e.b', MARKS[style])} THEN concat(${sign}, ${tidy(canonical('e.b', style))}, e.g.exponent) END`
}

function isAmbiguous(style: Styles['decimal']): string {
  return style === 'dot' || style === 'comma' ? 'false' : 'e.n IS NULL AND e.d IS NOT NULL'
}

function isWhole(number: string): string {
  return matches(number, '-?[0-9]+(?:\\.0*)?')
}

function plainValue(cell: string, style: Styles['decimal'], field: Field, micros: boolean): string {
  const number = {
    dot: `replace(${cell}, ',', '')`,
    comma: `replace(replace(${cell}, '.', ''), ',', '.')`,
    mixed: `replace(${cell}, ',', '.')`,
    unknown: `replace(${cell}, ',', '.')`,
  }[style]
  if (micros) return `CASE WHEN ${cell} <> '' THEN ${shiftDecimal(number, 6)} END`
  if (field.type !== 'percent') return `nullif(${number}, '')`
  const hundredth = shiftDecimal(`rtrim(${number}, '%')`, 2)
  return `CASE WHEN ends_with(${cell}, '%') THEN ${hundredth} ELSE nullif(${number}, '') END`
}

/** Divides by a power of ten in text: DuckDB divides DECIMALs as DOUBLE, and a cast to DECIMAL(38) takes 10 µs. */
function shiftDecimal(number: string, places: number): string {
  const digits = `ltrim(split_part(${number}, '.', 1), '-')`
  const whole = `lpad(${digits}, greatest(strlen(${digits}), ${places + 1})::INTEGER, '0')`
  const sign = `CASE WHEN starts_with(${number}, '-') THEN '-' ELSE '' END`
  return `rtrim(rtrim(concat(${sign}, left(${whole}, -${places}), '.', right(${whole}, ${places}), split_part(${number}, '.', 2)), '0'), '.')`
}

/** Thousands are set apart by one sign throughout: 1 234,567 has a decimal comma. */
function readable(body: string, { decimal, group }: Marks): string {
  const forms = [
    `[0-9]+(?:${decimal}[0-9]*)?`,
    `${decimal}[0-9]+`,
    ...[group, `[${SPACES}]`].map(
      (separator) => `[1-9][0-9]{0,2}(?:${separator}[0-9]{3})+(?:${decimal}[0-9]*)?`,
    ),
    ...(group === ',' ? [`[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:${decimal}[0-9]*)?`] : []),
  ]
  return matches(body, forms.join('|'))
}

function canonical(body: string, style: Mark): string {
  return style === 'dot'
    ? replaceAll(body, '[^0-9.]', '')
    : `replace(${replaceAll(body, '[^0-9,]', '')}, ',', '.')`
}

/** 007 → 7, .5 → 0.5, 5. → 5: JSON takes no others. */
function tidy(number: string): string {
  return `regexp_replace(regexp_replace(rtrim(${number}, '.'), '^\\.', '0.'), '^0+([0-9])', '\\1')`
}

/** A cell that must be filled cannot be left empty. */
function digitsOnly(): string {
  const { suggestion } = PROBLEM_TEXTS['number.invalid']!
  return `CASE WHEN e.needed THEN 'Write digits only.' ELSE ${text(suggestion)} END`
}

function bothNumberReadings(): string {
  return [
    text('With a decimal point it reads '),
    canonical('e.b', 'dot'),
    text(', with a decimal comma '),
    canonical('e.b', 'comma'),
    text(`. ${PROBLEM_TEXTS['number.ambiguous']!.suggestion}`),
  ].join(', ')
}

// Dates. The order of day and month is taken from the whole file or not at all: it is never guessed.

/** Every date there is from 1900 to 2099, but 29 February: no cast is needed to know that it exists. */
export const PLAIN_DATE =
  '(?:19|20)[0-9]{2}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)'

const TIME_OF_DAY = '(?:[Tt ,]\\s*[0-9].*)?'
type DateForms = Record<string, { pattern: string; reading: string }>
const DATE_FORMS = dateForms(TIME_OF_DAY)
/** Of a value whose time stands apart. */
const DAY_FORMS = dateForms('')

/** Kind → pattern and how it reads as year-month-day. */
function dateForms(timeOfDay: string): DateForms {
  return {
    ymd: { pattern: `([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})${timeOfDay}`, reading: '\\1-\\2-\\3' },
    compact: { pattern: '((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})', reading: '\\1-\\2-\\3' },
    dotted: {
      pattern: `([0-9]{1,2})\\.\\s?([0-9]{1,2})\\.\\s?([0-9]{4}|[0-9]{2})${timeOfDay}`,
      reading: '\\3-\\2-\\1',
    },
    either: {
      pattern: `([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4}|[0-9]{2})${timeOfDay}`,
      reading: '\\3-\\2-\\1',
    },
    cjk: { pattern: '([0-9]{4})年([0-9]{1,2})月([0-9]{1,2})日', reading: '\\1-\\2-\\3' },
    thang: {
      pattern: '(?:ngay )?([0-9]{1,2}),? thang ([0-9]{1,2}),?(?: nam)? ([0-9]{4})',
      reading: '\\3-\\2-\\1',
    },
    day_first: {
      pattern:
        '(?:[a-z]+\\.?,? )?([0-9]{1,2})(?:st|nd|rd|th|er|\\.)?[ -](?:de )?([a-z]{3,})\\.?,?[ -](?:de )?([0-9]{4}|[0-9]{2})',
      reading: '\\3-\\2-\\1',
    },
    month_first: {
      pattern: '(?:[a-z]+\\.?, )?([a-z]{3,})\\.? ([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})',
      reading: '\\3-\\1-\\2',
    },
  }
}
const OTHER_READING = '\\3-\\1-\\2'
const SERIAL = '[34][0-9]{4}(?:\\.[0-9]+)?'

export function dateSql(field: Field, at: FieldColumns): FieldSql {
  return {
    first: [],
    plain: matches(at.cell, field.required && !field.period ? PLAIN_DATE : `(?:${PLAIN_DATE})?`),
    plainValue: `nullif(${at.cell}, '')`,
    whole: { holds: matches(at.cell, PLAIN_DATE), value: `nullif(${at.cell}, '')` },
    kind: 'date',
    entry: { severity: field.severity === 'warning' ? `'W'` : `'E'` },
    json: 'quoted',
  }
}

/** Entries with `x`, the cleaned cell, become entries with `v` and `p`. */
export function readDates(list: string, styles: Styles): string {
  const fails = (rule: string, suggestion?: string) => findingOf('e.severity', rule, suggestion)
  return withMembers(list, [
    ['l', 'CASE WHEN e.x IS NULL THEN NULL ELSE lower(strip_accents(e.x)) END'],
    ...dayMembers(DATE_FORMS, styles),
    ['v', 'CASE WHEN year(e.w) BETWEEN 1900 AND 2099 THEN CAST(e.w AS VARCHAR) END'],
    [
      'p',
      [
        'CASE WHEN e.k IS NULL THEN NULL',
        `WHEN e.k = 'serial' THEN ${fails('date.excel_serial', serialReading())}`,
        `WHEN e.k = 'none' THEN ${fails('date.invalid')}`,
        `WHEN e.w IS NULL AND e.t IS NOT NULL AND e.u IS NOT NULL THEN ${fails('date.ambiguous', bothDateReadings())}`,
        `WHEN e.w IS NULL AND (e.t IS NOT NULL OR e.u IS NOT NULL) THEN ${fails('date.order', onlyDateReading())}`,
        `WHEN e.w IS NULL THEN ${fails('date.impossible')}`,
        `WHEN e.v IS NULL THEN ${fails('date.implausible')} END`,
      ].join(' '),
    ],
  ])
}

/** Of `l`, a date as written: its kind `k`, its readings `t` and `u`, and the one that is taken, `w`. */
function dayMembers(forms: DateForms, styles: Styles): [name: string, expression: string][] {
  const kinds = Object.entries(forms)
  const readings = kinds.map(
    ([kind, { pattern, reading }]) => `WHEN ${text(kind)} THEN ${reads('e.l', pattern, reading)}`,
  )
  const which = kinds.map(([kind, { pattern }]) => `WHEN ${matches('e.l', pattern)} THEN ${text(kind)}`)
  return [
    [
      'k',
      `CASE WHEN e.l IS NULL THEN NULL ${which.join(' ')} WHEN ${matches('e.l', SERIAL)} THEN 'serial' ELSE 'none' END`,
    ],
    ['a', `CASE e.k ${readings.join(' ')} END`],
    ['b', `CASE WHEN e.k = 'either' THEN ${reads('e.l', forms.either!.pattern, OTHER_READING)} END`],
    ['t', dayOf('e.a')],
    ['u', dayOf('e.b')],
    ['w', chooseReading('e.k', 'e.t', 'e.u', styles.dates)],
  ]
}

/** The same of the day of a value whose time stands apart. */
export function dayMembersAlone(styles: Styles): [name: string, expression: string][] {
  return dayMembers(DAY_FORMS, styles)
}

function reads(value: string, pattern: string, reading: string): string {
  return `regexp_replace(${value}, ${text(`^${pattern}$`)}, ${text(reading)})`
}

/** year-month-day, the month as number or name, the year with two digits or four. */
function dayOf(reading: string): string {
  const year = `CASE WHEN strlen(split_part(${reading}, '-', 1)) = 2 THEN '20' ELSE '' END`
  const name = `split_part(${reading}, '-', 2)`
  const month = `CASE WHEN ${matches(name, '[0-9]+')} THEN ${name} ELSE coalesce(list_extract(${listOf(Object.values(MONTHS).map(String))}, list_position(${listOf(Object.keys(MONTHS))}, ${name})), '13') END`
  const day = `split_part(${reading}, '-', 3)`
  return `CASE WHEN ${reading} IS NULL THEN NULL ELSE TRY_CAST(concat(${year}, split_part(${reading}, '-', 1), '-', ${month}, '-', ${day}) AS DATE) END`
}

function chooseReading(kind: string, first: string, other: string, order: Styles['dates']): string {
  const either =
    order === 'dmy'
      ? first
      : order === 'mdy'
        ? other
        : `CASE WHEN ${first} IS NULL THEN ${other} WHEN ${other} IS NULL OR ${first} = ${other} THEN ${first} END`
  return `CASE WHEN ${kind} IS NULL THEN NULL WHEN ${kind} = 'either' THEN ${either} ELSE ${first} END`
}

function serialReading(): string {
  const day = `CAST(DATE '1899-12-30' + CAST(floor(CAST(e.x AS DECIMAL(18, 9))) AS INTEGER) AS VARCHAR)`
  const after = '. Format the column as a date before exporting, or write the date as YYYY-MM-DD.'
  return `${text('It may mean ')}, ${day}, ${text(after)}`
}

export function bothDateReadings(): string {
  const after = `. ${PROBLEM_TEXTS['date.ambiguous']!.suggestion}`
  return `${text('It is either ')}, CAST(e.t AS VARCHAR), ${text(' or ')}, CAST(e.u AS VARCHAR), ${text(after)}`
}

export function onlyDateReading(): string {
  return `${text('It can only mean ')}, CAST(coalesce(e.t, e.u) AS VARCHAR), ${text('. Write it as YYYY-MM-DD.')}`
}

// Values out of a list: enums, booleans and currencies.

const BOOLEANS: Record<string, string[]> = {
  true: [
    '1',
    'yes',
    'y',
    't',
    'on',
    'ja',
    'oui',
    'vrai',
    'sí',
    'si',
    'sim',
    'verdadero',
    'wahr',
    'có',
    'vero',
  ],
  false: ['0', 'no', 'n', 'f', 'off', 'nein', 'non', 'faux', 'não', 'falso', 'falsch', 'không'],
}
const CURRENCIES = Object.fromEntries(
  CURRENCY_CODES.map((code): [string, string[]] => [
    code,
    Object.entries(CURRENCY_SIGNS).flatMap(([sign, name]) => (name === code ? [sign] : [])),
  ]),
)

/** The letters without case, with single blanks: ELIGIBLE_LIMITED is `eligible limited`. */
export function normaliseSpelling(value: string): string {
  return value
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s_]+/gu, ' ')
    .trim()
}

interface Choices {
  values: Record<string, string[]>
  /** Spelling → value. */
  spellings: Map<string, string>
}

export function choicesOf(field: Pick<Field, 'type' | 'values'>): Choices {
  const values =
    field.type === 'boolean' ? BOOLEANS : field.type === 'currency' ? CURRENCIES : (field.values ?? {})
  const spellings = new Map<string, string>()
  for (const [canonical, others] of Object.entries(values)) {
    for (const one of [canonical, ...others]) {
      if (!spellings.has(normaliseSpelling(one))) spellings.set(normaliseSpelling(one), canonical)
    }
  }
  return { values, spellings }
}

/** Entries with `x` become entries with `v` and `p`: the items of an array. */
export function readChoices(list: string, field: Pick<Field, 'type' | 'values'>): string {
  const { values, spellings } = choicesOf(field)
  const problem =
    field.type === 'currency'
      ? findingOf('e.severity', 'currency.unknown')
      : findingOf('e.severity', 'enum.unknown', nearest([...spellings.keys()], values, 'e.x'))
  return withMembers(list, [
    ['v', `coalesce(${lookedUp('lower(e.x)', spellings)}, ${lookedUp(spelledOut('e.x'), spellings)})`],
    ['p', `CASE WHEN e.v IS NULL AND e.x IS NOT NULL THEN ${problem} END`],
  ])
}

function spelledOut(cleaned: string): string {
  return `regexp_replace(lower(nfc_normalize(${cleaned})), '[\\s_]+', ' ', 'g')`
}

export function choiceSql(field: Field, at: FieldColumns): FieldSql {
  const { values, spellings } = choicesOf(field)
  const [found, cleaned, again] = [at.own('e'), at.own('x'), at.own('n')]
  const spelled = spelledOut(cleaned)
  const severity = field.severity ?? 'error'
  const problem =
    field.type === 'currency'
      ? finding(severity, 'currency.unknown')
      : finding(severity, 'enum.unknown', nearest([...spellings.keys()], values, cleaned))
  const direct = lookedUp(`lower(${at.cell})`, spellings)
  return {
    first: [
      { e: direct },
      { x: `CASE WHEN ${found} IS NOT NULL OR ${at.cell} = '' THEN NULL ELSE ${trimmed(at.cell)} END` },
      { n: `CASE WHEN ${cleaned} IS NULL THEN NULL ELSE ${lookedUp(spelled, spellings)} END` },
    ],
    plain: `${found} IS NOT NULL`,
    plainValue: found,
    whole: { holds: `${direct} IS NOT NULL`, value: direct },
    value:
      field.type === 'enum' && severity === 'warning' ? `coalesce(${again}, ${asWritten(cleaned)})` : again,
    problem: `CASE WHEN ${again} IS NULL AND ${nullIfEmpty(cleaned)} IS NOT NULL THEN ${problem} END`,
    json: field.type === 'boolean' ? 'raw' : field.type === 'enum' ? 'escaped' : 'quoted',
  }
}

/**
 * A value that nobody has declared and that only warns is kept as it is written. As NULL it would overwrite what an
 * earlier upload stored, since a promotion writes every field that the file has; a new status of the platform is
 * worth more than none.
 */
function asWritten(cleaned: string): string {
  return `lower(${nullIfEmpty(cleaned)})`
}

/** Two constant lists: a CASE with a hundred branches would hold two vectors for each of them. */
function lookedUp(value: string, spellings: Map<string, string>): string {
  return `list_extract(${listOf([...spellings.values()])}, list_position(${listOf([...spellings.keys()])}, ${value}))`
}

function nearest(spellings: string[], values: Record<string, string[]>, cleaned: string): string {
  const known = Object.keys(values)
  const names = known.slice(0, 12).join(', ')
  const more = known.length > 12 ? ' and others' : ''
  const best = `list_sort(list_transform(${listOf(spellings)}, lambda s: {d: levenshtein(lower(${cleaned}), s), s: s}))[1].s`
  return `${text('Did you mean “')}, ${best}, ${text(`”? Known are: ${names}${more}.`)}`
}

// Ids stay text. One that a spreadsheet has turned into a number is lost, and is never completed by guessing.

const SCIENTIFIC = '[0-9](?:[.,][0-9]+)?[eE]\\+[0-9]{1,3}|[0-9][.,][0-9]+[eE][0-9]{1,3}'
/** A spreadsheet keeps 15 digits of a number and fills up with zeros. */
const ROUNDED = '[1-9][0-9]{14}0{2,}'

/** From 17 digits on, one that ends in two zeros is looked at again: it may be rounded. */
const PLAIN_ID = '[0-9]{1,16}|[0-9]{15,38}(?:[1-9][0-9]|[0-9][1-9])'

export function idSql(field: Field, at: FieldColumns): FieldSql {
  return {
    first: [],
    plain: matches(at.cell, field.required ? PLAIN_ID : `${PLAIN_ID}|`),
    plainValue: `nullif(${at.cell}, '')`,
    whole: { holds: matches(at.cell, PLAIN_ID), value: `nullif(${at.cell}, '')` },
    kind: 'id',
    entry: { severity: field.severity === 'warning' ? `'W'` : `'E'` },
    json: 'escaped',
  }
}

/** Entries with `x`, the cleaned cell, become entries with `v` and `p`. */
export function readIds(list: string): string {
  return withMembers(list, [
    ['b', `CASE WHEN e.x IS NULL THEN NULL ELSE ${bareId('e.x')} END`],
    ['s', matches('e.b', SCIENTIFIC)],
    ['v', 'CASE WHEN e.s THEN NULL ELSE e.b END'],
    [
      'p',
      `CASE WHEN e.s THEN ${findingOf('e.severity', 'id.not_scientific')} WHEN ${matches('e.b', ROUNDED)} THEN ${findingOf(`'W'`, 'id.maybe_rounded')} END`,
    ],
  ])
}

/** Without the marks that keep a spreadsheet from reading it as a number, and without Meta's prefixes. */
function bareId(cleaned: string): string {
  const unquoted = replaceAll(cleaned, '^=?"(.*)"$', '\\1')
  const unmarked = replaceAll(unquoted, `^['’\`]+`, '')
  const withoutPrefix = replaceAll(unmarked, '^(?:c|cg|as|ag|a|ad):([0-9]+)$', '\\1')
  return `nullif(${replaceAll(withoutPrefix, '^([0-9]{1,15})\\.0+$', '\\1')}, '')`
}

// Free text: trimmed, and empty where the export writes a dash. compile.ts checks its rules with those of all fields.

const BLANK_AT_END = `^[${BLANKS}]|[${BLANKS}]$`

export function textSql(at: FieldColumns): FieldSql {
  return {
    first: [{ x: trimmed(at.cell) }],
    plain: 'false',
    plainValue: 'NULL',
    whole: {
      // Four times as fast as to trim it and compare.
      holds: `NOT regexp_matches(${at.cell}, ${text(BLANK_AT_END)}) AND ${nullIfEmpty(at.cell)} IS NOT NULL`,
      value: `nullif(${at.cell}, '')`,
    },
    value: nullIfEmpty(at.own('x')),
    json: 'escaped',
  }
}
