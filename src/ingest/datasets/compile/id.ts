/** Ids stay text. One that a spreadsheet has turned into a number is lost, and is never completed by guessing. */
import type { Field } from '../dataset.ts'
import { matches, replaced } from '../sql-text.ts'
import { type FieldColumns, type FieldSql, findingOf, withMembers } from './field-sql.ts'

const SCIENTIFIC = '[0-9](?:[.,][0-9]+)?[eE]\\+[0-9]{1,3}|[0-9][.,][0-9]+[eE][0-9]{1,3}'
/** A spreadsheet keeps 15 digits of a number and fills up with zeros. */
const ROUNDED = '[1-9][0-9]{14}0{2,}'

/** From 17 digits on, one that ends in two zeros is looked at again: it may be rounded. */
const PLAIN = '[0-9]{1,16}|[0-9]{15,38}(?:[1-9][0-9]|[0-9][1-9])'

export function idSql(field: Field, at: FieldColumns): FieldSql {
  return {
    first: [],
    plain: matches(at.cell, field.required ? PLAIN : `${PLAIN}|`),
    plainValue: `nullif(${at.cell}, '')`,
    whole: { holds: matches(at.cell, PLAIN), value: `nullif(${at.cell}, '')` },
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
  const unquoted = replaced(cleaned, '^=?"(.*)"$', '\\1')
  const unmarked = replaced(unquoted, `^['’\`]+`, '')
  const withoutPrefix = replaced(unmarked, '^(?:c|cg|as|ag|a|ad):([0-9]+)$', '\\1')
  return `nullif(${replaced(withoutPrefix, '^([0-9]{1,15})\\.0+$', '\\1')}, '')`
}
