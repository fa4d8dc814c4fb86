/** Free text: trimmed, and nothing where the export writes a dash. Its rules are looked at with everyone else's. */
import { type FieldColumns, type FieldSql, trimmed, unlessNothing } from './field-sql.ts'

export function textSql(at: FieldColumns): FieldSql {
  return {
    first: [{ x: trimmed(at.cell) }],
    plain: 'false',
    plainValue: 'NULL',
    value: unlessNothing(at.own('x')),
    json: 'escaped',
  }
}
