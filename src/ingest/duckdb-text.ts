/** Literals and names of DuckDB SQL, apart from DuckDB itself, which is slow to load. */

/** A text as a SQL literal. */
export function duckText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A name as a SQL identifier. */
export function duckName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
