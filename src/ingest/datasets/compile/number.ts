/** Numbers: integer, decimal, money and percent. Values stay text, so that no digit is ever rounded. */
import type { Field } from '../dataset.ts'
import type { MappedField } from '../map-headers.ts'
import type { Styles } from '../profile.ts'
import { concat, matches, replaced, text } from '../sql-text.ts'
import { type FieldColumns, type FieldProblem, type FieldSql, withoutZeros } from './field-sql.ts'

const SPACES = `'’\\s\\x{a0}\\x{202f}\\x{2009}`
const CURRENCY = `(?:[A-Za-z]{1,3}\\$|\\p{Sc}|[A-Z]{3}|zł|Kč|kr\\.?|Fr\\.?|đ|VNĐ)`
const SIGN = '([-+−–])?'

/** Sign, currency and percent sign may stand before or behind; groups: open, s1, s2, body, exponent, s3, percent. */
const AMOUNT = [
  `^(\\()?\\s*${SIGN}\\s*${CURRENCY}?[\\s\\x{a0}\\x{202f}]*${SIGN}\\s*`,
  `([0-9][0-9.,${SPACES}]*|[.,][0-9]+)([eE][-+]?[0-9]{1,3})?`,
  `[\\s\\x{a0}\\x{202f}]*(-)?\\s*(%)?[\\s\\x{a0}\\x{202f}]*${CURRENCY}?\\s*\\)?$`,
].join('')
const GROUPS = `['open', 's1', 's2', 'body', 'exponent', 's3', 'percent']`

const BIGGEST = '9223372036854775807'

interface Marks {
  decimal: string
  group: string
}
const MARKS: Record<'dot' | 'comma', Marks> = {
  dot: { decimal: '\\.', group: ',' },
  comma: { decimal: ',', group: '\\.' },
}

export function numberSql(field: Field, mapped: MappedField, styles: Styles, at: FieldColumns): FieldSql {
  const marks = MARKS[styles.decimal]
  const whole = field.type === 'integer'
  const micros = mapped.micros === true
  const sign = field.min !== undefined && field.min >= 0 ? '' : '-?'
  const digits = `(?:0|[1-9][0-9]{0,17}|[1-9][0-9]{0,2}(?:${marks.group}[0-9]{3}){1,5})`
  const fraction = whole || micros ? '' : `(?:${marks.decimal}[0-9]{1,18})?`
  const percent = field.type === 'percent' ? '%?' : ''
  const plain = matches(at.cell, `${sign}${digits}${fraction}${percent}${field.required ? '' : '|'}`)

  const { cleaned, step } = at
  const amount = step('g')
  const body = step('b')
  const number = step('n')
  const exact = step('d')
  const hundredth = `${amount}.percent <> ''`
  const minus = ['s1', 's2', 's3'].map((name) => `${amount}.${name} IN ('-', '−', '–')`).join(' OR ')
  const steps = [
    {
      g: `CASE WHEN ${cleaned} IS NULL THEN NULL ELSE regexp_extract(${cleaned}, ${text(AMOUNT)}, ${GROUPS}) END`,
    },
    { b: `rtrim(${amount}.body, ${text(" '’\u00a0\u202f\u2009")})` },
    {
      n: `CASE WHEN ${readable(body, marks, whole)} THEN concat(CASE WHEN ${minus} OR ${amount}.open <> '' THEN '-' ELSE '' END, ${tidy(canonical(body, styles.decimal))}, ${amount}.exponent) END`,
    },
    { d: `CASE WHEN ${number} IS NULL THEN NULL ELSE TRY_CAST(${number} AS DECIMAL(38, 9)) END` },
  ]
  const scaled = `CASE WHEN ${hundredth} THEN ${times(exact, '0.01')} ELSE ${exact} END`
  const value = whole
    ? `CASE WHEN ${exact} % 1 = 0 AND abs(${exact}) <= ${BIGGEST} AND NOT ${hundredth} THEN CAST(CAST(${exact} AS HUGEINT) AS VARCHAR) END`
    : micros
      ? withoutZeros(times(exact, '0.000001'))
      : `CASE WHEN ${exact} IS NULL THEN NULL WHEN ${amount}.exponent = '' AND NOT ${hundredth} THEN ${number} ELSE ${withoutZeros(scaled)} END`
  const problem = [
    `CASE WHEN ${cleaned} IS NULL THEN NULL`,
    `WHEN ${matches(cleaned, '[<>≤≥].*')} THEN 'value.censored'`,
    `WHEN ${body} = '' THEN 'number.invalid'`,
    `WHEN ${number} IS NULL THEN 'number.style'`,
    `WHEN ${exact} IS NULL THEN 'number.overflow'`,
    whole ? `WHEN ${exact} % 1 <> 0 OR ${hundredth} THEN 'integer.fraction'` : '',
    whole ? `WHEN abs(${exact}) > ${BIGGEST} THEN 'number.overflow'` : '',
    'END',
  ].join(' ')
  return {
    plain,
    plainValue: plainValue(at.cell, styles.decimal, field, micros),
    steps,
    value,
    problem,
    problems: problemsOf(body, styles, field),
    json: 'raw',
  }
}

function plainValue(cell: string, style: 'dot' | 'comma', field: Field, micros: boolean): string {
  const number =
    style === 'dot' ? `replace(${cell}, ',', '')` : `replace(replace(${cell}, '.', ''), ',', '.')`
  if (micros) return withoutZeros(times(`CAST(nullif(${number}, '') AS DECIMAL(29, 0))`, '0.000001'))
  if (field.type !== 'percent') return `nullif(${number}, '')`
  const hundredth = withoutZeros(times(`CAST(rtrim(${number}, '%') AS DECIMAL(27, 9))`, '0.01'))
  return `CASE WHEN ends_with(${cell}, '%') THEN ${hundredth} ELSE nullif(${number}, '') END`
}

/** Division of DECIMALs gives a DOUBLE in DuckDB, multiplication stays exact. */
function times(exact: string, factor: '0.01' | '0.000001'): string {
  const type = factor === '0.01' ? 'DECIMAL(3, 2)' : 'DECIMAL(7, 6)'
  return `CAST(${exact} AS DECIMAL(29, ${factor === '0.01' ? 9 : 3})) * CAST(${factor} AS ${type})`
}

/** True for a body that can be read in this style and in no other. */
function readable(body: string, { decimal, group }: Marks, whole: boolean): string {
  const separator = `[${group}${SPACES}]`
  const forms = [
    `[0-9]+(?:${decimal}[0-9]*)?`,
    `${decimal}[0-9]+`,
    `[0-9]{1,3}(?:${separator}[0-9]{3})+(?:${decimal}[0-9]*)?`,
    `[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:${decimal}[0-9]*)?`,
  ]
  const fits = matches(body, (group === ',' ? forms : forms.slice(0, 3)).join('|'))
  // 1.234 where whole numbers are expected is a thousand of the other style, not one and a bit.
  return whole ? `${fits} AND NOT ${matches(body, `[1-9][0-9]{0,2}${decimal}[0-9]{3}`)}` : fits
}

function canonical(body: string, style: 'dot' | 'comma'): string {
  return style === 'dot'
    ? replaced(body, '[^0-9.]', '')
    : `replace(${replaced(body, '[^0-9,]', '')}, ',', '.')`
}

/** 007 → 7, .5 → 0.5, 5. → 5: JSON takes no others. */
function tidy(number: string): string {
  return `regexp_replace(regexp_replace(rtrim(${number}, '.'), '^\\.', '0.'), '^0+([0-9])', '\\1')`
}

function problemsOf(body: string, styles: Styles, field: Field): FieldProblem[] {
  const severity = field.severity ?? 'error'
  const mark = styles.decimal === 'dot' ? 'a decimal point' : 'a decimal comma'
  const point = `nullif(${canonical(body, 'dot')}, '')`
  const comma = `nullif(${canonical(body, 'comma')}, '')`
  return [
    {
      rule: 'value.censored',
      severity: 'warning',
      message: text('The export gives only a bound here, not a number.'),
      suggestion: text('Nothing is stored for this value. If you know the number, repair the line with it.'),
    },
    {
      rule: 'number.invalid',
      severity,
      message: text('This is not a number.'),
      suggestion: text(`Write digits with ${mark}, or leave the cell empty.`),
    },
    {
      rule: 'number.style',
      severity,
      message: text(`This number is not written like the others in the file, which use ${mark}.`),
      suggestion: concat([
        text('With a decimal point it reads '),
        point,
        text(', with a decimal comma '),
        comma,
        text('. Write the one that is meant, without separators between thousands.'),
      ]),
    },
    {
      rule: 'number.overflow',
      severity,
      message: text('This number is too large.'),
      suggestion: text('Check the value in the source; numbers up to 9223372036854775807 can be stored.'),
    },
    {
      rule: 'integer.fraction',
      severity,
      message: text('A whole number is expected here, and this one has a fraction.'),
      suggestion: text('Check that the right column was exported; write a whole number.'),
    },
  ]
}
