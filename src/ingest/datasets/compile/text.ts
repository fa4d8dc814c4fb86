/** Free text: trimmed, and nothing where the export writes a dash. Its rules are looked at with everyone else's. */
import { BLANKS, text } from '../sql-text.ts'
import { type FieldColumns, type FieldSql, trimmed, unlessNothing } from './field-sql.ts'

const BLANK_AT_END = `^[${BLANKS}]|[${BLANKS}]$`

export function textSql(at: FieldColumns): FieldSql {
  return {
    first: [{ x: trimmed(at.cell) }],
    plain: 'false',
    plainValue: 'NULL',
    whole: {
      // Four times as fast as to trim it and compare.
      holds: `NOT regexp_matches(${at.cell}, ${text(BLANK_AT_END)}) AND ${unlessNothing(at.cell)} IS NOT NULL`,
      value: `nullif(${at.cell}, '')`,
    },
    value: unlessNothing(at.own('x')),
    json: 'escaped',
  }
}
