/** Numbers: integer, decimal, money and percent. Values stay text, so that no digit is ever rounded. */
import type { Field } from '../dataset.ts'
import type { MappedField } from '../map-headers.ts'
import type { Styles } from '../profile.ts'
import { matches, replaced, text } from '../sql-text.ts'
import { type FieldColumns, type FieldSql, findingOf, withMembers, withoutZeros } from './field-sql.ts'

const SPACES = `'’\\s\\x{a0}\\x{202f}\\x{2009}`
const BLANK = '[\\s\\x{a0}\\x{202f}]*'
const CURRENCY = `(?:[A-Za-z]{1,3}\\$|\\p{Sc}|[A-Z]{3}|zł|Kč|kr\\.?|Fr\\.?|đ|VNĐ)?`
const SIGN = '([-+−–])?'

/** Sign, currency and percent sign may stand before or behind. */
const AMOUNT = [
  `^(\\()?\\s*${SIGN}\\s*${CURRENCY}${BLANK}${SIGN}\\s*`,
  `([0-9][0-9.,${SPACES}]*|[.,][0-9]+)([eE][-+]?[0-9]{1,3})?`,
  `${BLANK}(-)?\\s*(%)?${BLANK}${CURRENCY}\\s*\\)?$`,
].join('')
const GROUPS = `['open', 's1', 's2', 'body', 'exponent', 's3', 'percent']`

const BIGGEST = '9223372036854775807'

interface Marks {
  decimal: string
  group: string
}
const MARKS: Record<Styles['decimal'], Marks> = {
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
  return {
    first: [],
    plain: matches(at.cell, `${sign}${digits}${fraction}${percent}${field.required ? '' : '|'}`),
    plainValue: plainValue(at.cell, styles.decimal, field, micros),
    kind: 'number',
    entry: {
      whole: String(whole),
      micros: String(micros),
      severity: field.severity === 'warning' ? `'W'` : `'E'`,
    },
    json: 'raw',
  }
}

/** Entries with `x`, the cleaned cell, become entries with `v` and `p`. */
export function readNumbers(list: string, styles: Styles): string {
  const style = styles.decimal
  const minus = ['s1', 's2', 's3'].map((name) => `e.g.${name} IN ('-', '−', '–')`).join(' OR ')
  const hundredth = `e.g.percent <> ''`
  const scaled = `CASE WHEN ${hundredth} THEN ${times('e.d', '0.01')} WHEN e.micros THEN ${times('e.d', '0.000001')} ELSE e.d END`
  return withMembers(list, [
    ['g', `CASE WHEN e.x IS NULL THEN NULL ELSE regexp_extract(e.x, ${text(AMOUNT)}, ${GROUPS}) END`],
    ['b', `rtrim(e.g.body, ${text(" '’\u00a0\u202f\u2009")})`],
    [
      'n',
      `CASE WHEN ${readable('e.b', MARKS[style])} THEN concat(CASE WHEN ${minus} OR e.g.open <> '' THEN '-' ELSE '' END, ${tidy(canonical('e.b', style))}, e.g.exponent) END`,
    ],
    ['d', 'CASE WHEN e.n IS NULL THEN NULL ELSE TRY_CAST(e.n AS DECIMAL(38, 9)) END'],
    [
      'v',
      [
        'CASE WHEN e.d IS NULL THEN NULL',
        `WHEN e.whole THEN CASE WHEN e.d % 1 = 0 AND abs(e.d) <= ${BIGGEST} AND NOT ${hundredth} THEN CAST(CAST(e.d AS HUGEINT) AS VARCHAR) END`,
        `WHEN e.g.exponent = '' AND NOT ${hundredth} AND NOT e.micros THEN e.n`,
        `ELSE ${withoutZeros(scaled)} END`,
      ].join(' '),
    ],
    [
      'p',
      [
        'CASE WHEN e.x IS NULL THEN NULL',
        `WHEN ${matches('e.x', '[<>≤≥].*')} THEN ${findingOf(`'W'`, 'value.censored')}`,
        `WHEN e.b = '' THEN ${findingOf('e.severity', 'number.invalid')}`,
        `WHEN e.n IS NULL THEN ${findingOf('e.severity', 'number.style', bothReadings())}`,
        `WHEN e.d IS NULL OR (e.whole AND abs(e.d) > ${BIGGEST}) THEN ${findingOf('e.severity', 'number.overflow')}`,
        `WHEN e.whole AND (e.d % 1 <> 0 OR ${hundredth}) THEN ${findingOf('e.severity', 'integer.fraction')}`,
        'END',
      ].join(' '),
    ],
  ])
}

function plainValue(cell: string, style: Styles['decimal'], field: Field, micros: boolean): string {
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

function readable(body: string, { decimal, group }: Marks): string {
  const separator = `[${group}${SPACES}]`
  const forms = [
    `[0-9]+(?:${decimal}[0-9]*)?`,
    `${decimal}[0-9]+`,
    `[0-9]{1,3}(?:${separator}[0-9]{3})+(?:${decimal}[0-9]*)?`,
    ...(group === ',' ? [`[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:${decimal}[0-9]*)?`] : []),
  ]
  // 1.234 where whole numbers are expected is a thousand of the other style, not one and a bit.
  const otherThousand = `e.whole AND ${matches(body, `[1-9][0-9]{0,2}${decimal}[0-9]{3}`)}`
  return `${matches(body, forms.join('|'))} AND NOT (${otherThousand})`
}

function canonical(body: string, style: Styles['decimal']): string {
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
    text('. Write the one that is meant, without separators between thousands.'),
  ].join(', ')
}
