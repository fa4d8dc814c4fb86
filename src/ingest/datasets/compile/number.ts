/** Numbers: integer, decimal, money and percent. Values stay text, so that no digit is ever rounded. */
import type { Field } from '../dataset.ts'
import type { MappedField } from '../map-headers.ts'
import type { Styles } from '../profile.ts'
import { matches, replaced, text } from '../sql-text.ts'
import { type FieldColumns, type FieldSql, findingOf, withMembers, withoutZeros } from './field-sql.ts'
import { WORDS } from './words.ts'

export const SPACES = `'’\\s\\x{a0}\\x{202f}\\x{2009}`
const BLANK = '[\\s\\x{a0}\\x{202f}]*'
const MARK = `(?:[A-Za-z]{1,3}\\$|\\p{Sc}|[A-Z]{3}|zł|Kč|kr\\.?|Fr\\.?|đ|VNĐ)`
const CURRENCY = `(${MARK}?)`
const SIGN = '([-+−–])?'

/** Sign, currency and percent sign may stand before or behind. */
export const BEFORE = `^(\\()?\\s*${SIGN}\\s*${CURRENCY}${BLANK}${SIGN}\\s*`
export const BEHIND = `${BLANK}(-)?\\s*(%)?${BLANK}${CURRENCY}\\s*\\)?$`
const AMOUNT = `${BEFORE}([0-9][0-9.,${SPACES}]*|[.,][0-9]+)([eE][-+]?[0-9]{1,3})?${BEHIND}`
const GROUPS = `['open', 's1', 'mark', 's2', 'body', 'exponent', 's3', 'percent', 'behind']`

/** An amount with a currency beside it, and one whose currency is named by that: `$` may be one of many. */
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
        `WHEN e.b = '' THEN ${findingOf('e.severity', 'number.invalid')}`,
        `WHEN ${isAmbiguous(styles.decimal)} THEN ${findingOf('e.severity', 'number.ambiguous', bothReadings())}`,
        `WHEN e.n IS NULL THEN ${findingOf('e.severity', 'number.style', bothReadings())}`,
        `WHEN e.m IS NULL OR ${tooLong} THEN ${findingOf('e.severity', 'number.overflow')}`,
        `WHEN e.whole AND (NOT ${isWhole('e.m')} OR ${hundredth}) THEN ${findingOf('e.severity', 'integer.fraction')} END`,
      ].join(' '),
    ],
    [
      'v',
      [
        'CASE WHEN e.p IS NOT NULL OR e.x IS NULL THEN NULL',
        `WHEN e.whole THEN split_part(e.m, '.', 1)`,
        `WHEN ${hundredth} THEN ${shifted('e.m', 2)}`,
        `WHEN e.micros THEN ${shifted('e.m', 6)}`,
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
    return [['n', `CASE WHEN NOT (${otherThousand}) THEN ${reading(style)} END`]]
  }
  return [
    ['d', reading('dot')],
    ['k', reading('comma')],
    [
      'n',
      [
        'CASE WHEN e.d IS NULL THEN e.k WHEN e.k IS NULL OR e.d = e.k THEN e.d',
        `WHEN e.whole AND NOT ${isWhole('e.k')} THEN e.d WHEN e.whole AND NOT ${isWhole('e.d')} THEN e.k END`,
      ].join(' '),
    ],
  ]
}

function reading(style: Mark): string {
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
  if (micros) return `CASE WHEN ${cell} <> '' THEN ${shifted(number, 6)} END`
  if (field.type !== 'percent') return `nullif(${number}, '')`
  const hundredth = shifted(`rtrim(${number}, '%')`, 2)
  return `CASE WHEN ends_with(${cell}, '%') THEN ${hundredth} ELSE nullif(${number}, '') END`
}

/** Divides by a power of ten in text: DuckDB divides DECIMALs as DOUBLE, and a cast to DECIMAL(38) takes 10 µs. */
function shifted(number: string, places: number): string {
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
    ? replaced(body, '[^0-9.]', '')
    : `replace(${replaced(body, '[^0-9,]', '')}, ',', '.')`
}

/** 007 → 7, .5 → 0.5, 5. → 5: JSON takes no others. */
function tidy(number: string): string {
  return `regexp_replace(regexp_replace(rtrim(${number}, '.'), '^\\.', '0.'), '^0+([0-9])', '\\1')`
}

function bothReadings(): string {
  return [
    text('With a decimal point it reads '),
    canonical('e.b', 'dot'),
    text(', with a decimal comma '),
    canonical('e.b', 'comma'),
    text(`. ${WORDS['number.ambiguous']!.suggestion}`),
  ].join(', ')
}
