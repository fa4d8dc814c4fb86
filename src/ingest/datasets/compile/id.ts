/** Ids stay text. One that a spreadsheet has turned into a number is lost, and is never completed by guessing. */
import type { Field } from '../dataset.ts'
import { matches, replaced, text } from '../sql-text.ts'
import type { FieldColumns, FieldSql } from './field-sql.ts'

const SCIENTIFIC = '[0-9](?:[.,][0-9]+)?[eE]\\+[0-9]{1,3}|[0-9][.,][0-9]+[eE][0-9]{1,3}'
/** A spreadsheet keeps 15 digits of a number and fills up with zeros. */
const ROUNDED = '[1-9][0-9]{14}0{2,}'

export function idSql(field: Field, at: FieldColumns): FieldSql {
  const { cleaned, step } = at
  const bare = step('b')
  const steps = [{ b: `CASE WHEN ${cleaned} IS NULL THEN NULL ELSE ${bareId(cleaned)} END` }]
  return {
    // 17 digits and more are looked at for rounding, which needs their last two to be zero.
    plain: matches(at.cell, `[0-9]{1,16}|[0-9]{15,38}(?:[1-9][0-9]|[0-9][1-9])${field.required ? '' : '|'}`),
    plainValue: `nullif(${at.cell}, '')`,
    steps,
    value: `CASE WHEN ${matches(bare, SCIENTIFIC)} THEN NULL ELSE ${bare} END`,
    problem: `CASE WHEN ${bare} IS NULL THEN NULL WHEN ${matches(bare, SCIENTIFIC)} THEN 'id.not_scientific' WHEN ${matches(bare, ROUNDED)} THEN 'id.maybe_rounded' END`,
    problems: [
      {
        rule: 'id.not_scientific',
        severity: field.severity ?? 'error',
        message: text('A spreadsheet has turned this id into a rounded number; its last digits are lost.'),
        suggestion: text(
          'Export the file again and do not open it in a spreadsheet, or format the column as text first.',
        ),
      },
      {
        rule: 'id.maybe_rounded',
        severity: 'warning',
        message: text('This id ends in zeros after 15 digits, as if a spreadsheet had rounded it.'),
        suggestion: text('Compare it with the id in the source before you promote.'),
      },
    ],
    json: 'escaped',
  }
}

/** Without the marks that keep a spreadsheet from reading it as a number, and without Meta's prefixes. */
function bareId(cleaned: string): string {
  const unquoted = replaced(cleaned, '^=?"(.*)"$', '\\1')
  const unmarked = replaced(unquoted, `^['’\`]+`, '')
  const withoutPrefix = replaced(unmarked, '^(?:c|cg|as|ag|a|ad):([0-9]+)$', '\\1')
  return `nullif(${replaced(withoutPrefix, '^([0-9]{1,15})\\.0+$', '\\1')}, '')`
}
