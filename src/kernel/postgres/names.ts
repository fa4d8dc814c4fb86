/** Names of the user's tables and columns in SQL of ours. */

/** A name as an identifier, whatever is in it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** `schema.table` as people declare it: what is quoted may hold a point and keeps its case, the rest is folded as PostgreSQL does. */
export function splitTableName(table: string): string[] {
  return (table.match(/"(?:[^"]|"")+"|[^."]+/g) ?? []).map((part) =>
    part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.toLowerCase(),
  )
}

/** A declared table as SQL that cannot be anything else. */
export function tableSql(table: string): string {
  return splitTableName(table).map(quoteName).join('.')
}
