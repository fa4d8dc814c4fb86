/** Free text: trimmed, and nothing where the export writes a dash. Its rules are looked at with everyone else's. */
import type { FieldColumns, FieldSql } from './field-sql.ts'

export function textSql(at: FieldColumns): FieldSql {
  return {
    plain: 'false',
    plainValue: 'CAST(NULL AS VARCHAR)',
    steps: [],
    value: at.cleaned,
    problem: 'CAST(NULL AS VARCHAR)',
    problems: [],
    json: 'escaped',
  }
}
