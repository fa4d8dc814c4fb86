/** The two payloads of a line: the cells as they came, and the values of the dataset's fields. */
import { hasRawColumn, rawKeys } from '../../readers/raw-payload.ts'
import { jsonText, text } from '../sql-text.ts'
import { identityField, type Plan, type PlannedField } from './plan.ts'

export { rawKeys } from '../../readers/raw-payload.ts'

/** {header: text}; the chunks of a wide file have it already. */
export function rawPayload(headers: readonly string[]): string {
  if (hasRawColumn(headers.length)) return 'raw'
  const cells = rawKeys(headers).map((key, column): [key: string, cell: string] => [key, `c${column}`])
  const pairs = asStored(cells).map(([key, cell]) => `${text(key)}, ${cell}`)
  return `CAST(json_object(${pairs.join(', ')}) AS VARCHAR)`
}

export function normalizedPayload(plan: Plan): string {
  const members: [key: string, value: string][] = plan.fields.map((planned) => [
    planned.name,
    planned === plan.currency?.column ? quoted('line_currency') : jsonOf(planned),
  ])
  if (plan.currency && !plan.currency.column) members.push([plan.currency.name, quoted('line_currency')])
  if (plan.period) members.push([plan.period.name, quoted(plan.period.at.value)])
  for (const [name, value] of Object.entries(plan.constants)) members.push([name, jsonText(value)])
  for (const row of plan.rows) {
    if (row.identity) members.push([`@${row.name}`, identityOf(plan, row.name)])
  }
  const parts = asStored(members).flatMap(([key, value], index) => [
    text(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    value,
  ])
  return `concat(${parts.join(', ')}, '}')`
}

/**
 * In the order in which PostgreSQL keeps the members of jsonb: shorter names first, then by their bytes. In any other
 * order it sorts them, line by line, which takes a tenth of the time of COPY.
 */
function asStored<Member extends readonly [key: string, ...unknown[]]>(members: readonly Member[]): Member[] {
  const names = new Map(members.map((member) => [member, Buffer.from(member[0])]))
  return [...members].sort((one, other) => {
    const [a, b] = [names.get(one)!, names.get(other)!]
    return a.length - b.length || a.compare(b)
  })
}

function jsonOf({ at, sql, isPlain }: PlannedField): string {
  if (sql.json === 'raw') return `coalesce(${at.value}, 'null')`
  if (sql.json === 'quoted') return quoted(at.value)
  // Text alone is never plain enough for that.
  if (sql.plain === 'false') return `coalesce(CAST(to_json(${at.value}) AS VARCHAR), 'null')`
  if (isPlain) return quoted(at.value)
  return `coalesce(CASE WHEN ${at.plain} THEN '"' || ${at.value} || '"' ELSE CAST(to_json(${at.value}) AS VARCHAR) END, 'null')`
}

function quoted(value: string): string {
  return `coalesce('"' || ${value} || '"', 'null')`
}

/** The source's id; without an id column a hash of the names from the root to it. */
function identityOf(plan: Plan, rowType: string): string {
  const rows = plan.rows.filter((row) => row.identity)
  const path = rows.slice(0, rows.findIndex((row) => row.name === rowType) + 1)
  const own = plan.byName.get(identityField(path.at(-1)!, plan.input.map) ?? '')
  if (!own) return `'null'`
  if (own.name === path.at(-1)!.identity?.id) return jsonOf(own)
  const names = path.map((row) => {
    const name = plan.byName.get(row.identity?.name ?? '') ?? plan.byName.get(row.identity?.id ?? '')
    return name ? name.at.value : 'NULL'
  })
  const hash = `left(sha256(CAST(to_json([${names.join(', ')}]) AS VARCHAR)), 32)`
  return `CASE WHEN ${own.at.value} IS NULL THEN 'null' ELSE concat('"name:', ${hash}, '"') END`
}
