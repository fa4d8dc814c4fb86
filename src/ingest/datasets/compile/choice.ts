/** Values out of a list: enums, booleans and currencies. */
import type { Field } from '../dataset.ts'
import { CURRENCY_CODES, CURRENCY_SIGNS } from '../header-name.ts'
import { listOf, text } from '../sql-text.ts'
import { type FieldColumns, type FieldSql, finding, trimmed, unlessNothing } from './field-sql.ts'

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
export function spelling(value: string): string {
  return value
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s_]+/gu, ' ')
    .trim()
}

export function choiceSql(field: Field, at: FieldColumns): FieldSql {
  const values =
    field.type === 'boolean' ? BOOLEANS : field.type === 'currency' ? CURRENCIES : (field.values ?? {})
  const spellings = new Map<string, string>()
  for (const [canonical, others] of Object.entries(values)) {
    for (const one of [canonical, ...others]) {
      if (!spellings.has(spelling(one))) spellings.set(spelling(one), canonical)
    }
  }
  const [found, cleaned, again] = [at.own('e'), at.own('x'), at.own('n')]
  const spelled = `regexp_replace(lower(nfc_normalize(${cleaned})), '[\\s_]+', ' ', 'g')`
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
    problem: `CASE WHEN ${again} IS NULL AND ${unlessNothing(cleaned)} IS NOT NULL THEN ${problem} END`,
    json: field.type === 'boolean' ? 'raw' : field.type === 'enum' ? 'escaped' : 'quoted',
  }
}

/**
 * A value that nobody has declared and that only warns is kept as it is written. As NULL it would overwrite what an
 * earlier upload stored, since a promotion writes every field that the file has; a new status of the platform is
 * worth more than none.
 */
function asWritten(cleaned: string): string {
  return `lower(${unlessNothing(cleaned)})`
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
