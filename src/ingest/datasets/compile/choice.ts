/** Values out of a list: enums, booleans and currencies. */
import type { Field } from '../dataset.ts'
import { CURRENCY_CODES, CURRENCY_SIGNS } from '../header-name.ts'
import { concat, matches, text } from '../sql-text.ts'
import type { FieldColumns, FieldSql } from './field-sql.ts'

const BOOLEANS: Record<string, string[]> = {
  true: [
    'true',
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
  false: ['false', '0', 'no', 'n', 'f', 'off', 'nein', 'non', 'faux', 'não', 'falso', 'falsch', 'không'],
}

/** The letters without case, with single blanks: ELIGIBLE_LIMITED is `eligible limited`. */
export function spelling(value: string): string {
  return value
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s_]+/gu, ' ')
    .trim()
}

export function enumSql(field: Field, at: FieldColumns): FieldSql {
  const values = field.type === 'boolean' ? BOOLEANS : (field.values ?? {})
  const spellings = new Map<string, string>()
  for (const [canonical, others] of Object.entries(values)) {
    for (const one of [canonical, ...others]) {
      if (!spellings.has(spelling(one))) spellings.set(spelling(one), canonical)
    }
  }
  const found = at.step('e')
  const again = at.step('n')
  const nearest = nearestOf([...spellings.keys()], at.cleaned)
  const names = Object.keys(values).slice(0, 12).join(', ')
  return {
    first: { e: lookUp(`lower(${at.cell})`, spellings) },
    plain: field.required ? `${found} IS NOT NULL` : `(${found} IS NOT NULL OR ${at.cell} = '')`,
    plainValue: found,
    steps: [
      {
        n: `CASE WHEN ${at.cleaned} IS NULL THEN NULL ELSE ${lookUp(`regexp_replace(lower(nfc_normalize(${at.cleaned})), '[\\s_]+', ' ', 'g')`, spellings)} END`,
      },
    ],
    value: again,
    problem: `CASE WHEN ${at.cleaned} IS NOT NULL AND ${again} IS NULL THEN 'enum.unknown' END`,
    problems: [
      {
        rule: 'enum.unknown',
        severity: field.severity ?? 'error',
        message: concat([text('“'), `left(${at.cleaned}, 60)`, text('” is not a value that is known here.')]),
        suggestion: concat([text('Did you mean “'), nearest, text(`”? Known are: ${names}.`)]),
      },
    ],
    json: field.type === 'boolean' ? 'raw' : 'quoted',
  }
}

export function currencySql(field: Field, at: FieldColumns): FieldSql {
  const { cleaned, step } = at
  const code = step('n')
  const signs = Object.entries(CURRENCY_SIGNS).map(([sign, name]) => `WHEN ${text(sign)} THEN ${text(name)}`)
  const known = `list_contains([${CURRENCY_CODES.map(text).join(', ')}], upper(${cleaned}))`
  return {
    plain: `(${at.cell} IN ('USD', 'EUR', 'GBP', 'AUD', 'VND', 'BRL', 'CAD', 'INR', 'JPY', 'CHF', 'MXN', 'SGD'${field.required ? '' : ", ''"}))`,
    plainValue: `nullif(${at.cell}, '')`,
    steps: [
      {
        n: `CASE WHEN ${cleaned} IS NULL THEN NULL WHEN ${matches(cleaned, '[A-Za-z]{3}')} AND ${known} THEN upper(${cleaned}) ELSE CASE ${cleaned} ${signs.join(' ')} END END`,
      },
    ],
    value: code,
    problem: `CASE WHEN ${cleaned} IS NOT NULL AND ${code} IS NULL THEN 'currency.unknown' END`,
    problems: [
      {
        rule: 'currency.unknown',
        severity: field.severity ?? 'error',
        message: text('This is not a currency.'),
        suggestion: text('Write its code of three letters, such as USD, EUR or VND.'),
      },
    ],
    json: 'quoted',
  }
}

function lookUp(value: string, spellings: Map<string, string>): string {
  const cases = [...spellings].map(([one, canonical]) => `WHEN ${text(one)} THEN ${text(canonical)}`)
  return cases.length > 0 ? `CASE ${value} ${cases.join(' ')} END` : 'CAST(NULL AS VARCHAR)'
}

function nearestOf(spellings: string[], value: string): string {
  if (spellings.length === 0) return `''`
  const list = spellings.map(text).join(', ')
  return `list_sort(list_transform([${list}], lambda s: {d: levenshtein(lower(${value}), s), s: s}))[1].s`
}
