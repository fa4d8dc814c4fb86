/**
 * How the values of a type look when people write them: patterns that are the same for RE2 (DuckDB) and JavaScript. They tell
 * which type a column may have; whether a value is right is said by the compiled checks (compile-fields.ts).
 */
import { CURRENCY_CODES } from './headers.ts'

const GROUP = `[.,'’ \\x{a0}\\x{202f}]`
const DIGITS = `(?:[0-9]{1,3}(?:${GROUP}[0-9]{3})+|[0-9]+)`
const NUMBER = `[+−-]?(?:${DIGITS}(?:[.,][0-9]+)?|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,2})?`
const SIGN = `(?:[A-Za-z]{1,3}\\$|\\p{Sc}|[A-Z]{3}|zł|Kč|kr\\.?|Fr\\.?|đ|VNĐ)`
const DATE = `(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:[0-9]{4}|[0-9]{2})|[0-9]{1,2}(?:\\.|st|nd|rd|th)?[ -](?:de )?\\p{L}{3,10}\\.?,?[ -](?:de )?[0-9]{4}|\\p{L}{3,10}\\.? [0-9]{1,2},? [0-9]{4})`
const TIME = `[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?: ?[AaPp]\\.?[Mm]\\.?)?`
const ZONE = `(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))`

/** Without anchors: the whole value has to match. */
const PATTERNS = {
  integer: `[+−-]?[0-9]{1,18}`,
  groupedInteger: `[+−-]?[0-9]{1,3}(?:${GROUP}[0-9]{3})+`,
  decimal: NUMBER,
  money: `(?:[+−-]? ?${SIGN}[ \\x{a0}\\x{202f}]?${NUMBER}|${NUMBER}[ \\x{a0}\\x{202f}]?${SIGN})`,
  percent: `${NUMBER}[ \\x{a0}\\x{202f}]?%`,
  boolean: `(?i:true|false|yes|no|y|n|t|f|on|off|ja|nein|oui|non|s[ií]|sim|não|vrai|faux|vero|verdadero|falso|wahr|falsch|có|không)`,
  bit: `[01]`,
  date: DATE,
  time: TIME,
  timestamp: `${DATE}[T ,]{1,2}${TIME}`,
  timestamptz: `${DATE}[T ,]{1,2}${TIME}${ZONE}`,
  uuid: `(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`,
  json: `(?s:\\{.*\\}|\\[.*\\])`,
  email: `[^@\\s]+@[^@\\s]+\\.[^@\\s]+`,
  url: `(?i:https?://[^\\s]+)`,
  /** An integer that is text: a sign and a leading zero would be lost. */
  leadingZero: `0[0-9]+`,
} as const

export type ValueForm = keyof typeof PATTERNS
export const VALUE_FORMS = Object.keys(PATTERNS) as ValueForm[]

/** For regexp_full_match of DuckDB. */
export function duckPattern(form: ValueForm): string {
  return PATTERNS[form]
}

const CURRENCIES: ReadonlySet<string> = new Set(CURRENCY_CODES)
const compiled = new Map<ValueForm, RegExp>()

export function hasForm(value: string, form: ValueForm): boolean {
  let pattern = compiled.get(form)
  if (!pattern) {
    const text = PATTERNS[form].replace(/\\x\{([0-9a-f]+)\}/g, '\\u{$1}')
    // Node 20 has no inline flags: those two patterns stand alone.
    const flags = /^\(\?([is]):/.exec(text)
    pattern = new RegExp(`^(?:${text.replace(/^\(\?[is]:/, '(?:')})$`, `u${flags?.[1] ?? ''}`)
    compiled.set(form, pattern)
  }
  if (!pattern.test(value)) return false
  // `REF 100` is no amount.
  const code = form === 'money' ? /[A-Z]{3}/.exec(value)?.[0] : undefined
  return code === undefined || CURRENCIES.has(code)
}
