/** Rows of tables in search, as a worker reads them in their table, moves their changes to the outbox and scans whole tables. */
import type { Logger } from 'pino'
import type { Queryable } from '../kernel/postgres/connection.ts'

export interface TableRow {
  readonly row_id: string
  readonly workspace_id: string
  readonly body: string
  readonly content_hash: string
  readonly filters: Readonly<Record<string, string>>
  /** Why it could not be read; then the rest is null. */
  readonly problem: string | null
}

/**
 * By id; a row that is gone is missing. `db` acts as vector_worker. If a table cannot be read, it is compared with the catalogue, which
 * stops it if it no longer fits; rows that fail for another reason are read one by one, so that the others go on.
 */
export async function readRows(db: Queryable, ids: readonly string[]): Promise<Map<string, TableRow>> {
  const found = await readTogether(db, ids)
  const failed = [...found.values()].filter(({ problem }) => problem !== null)
  if (failed.length === 0) return found
  await verifyTables(db)
  if (ids.length === 1) return found
  for (const { row_id } of failed) {
    found.delete(row_id)
    for (const [id, row] of await readTogether(db, [row_id])) found.set(id, row)
  }
  return found
}

async function readTogether(db: Queryable, ids: readonly string[]): Promise<Map<string, TableRow>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<TableRow>(
    `select r.row_id, s.workspace_id, r.body, r.content_hash, r.filters, r.problem
       from iu_core.fn_search_rows_read(null, $1) as r
       join iu_core.search_row s on s.row_id = r.row_id`,
    [ids],
  )
  return new Map(rows.map((row) => [row.row_id, row]))
}

/** Rows that search has in another state than their table: they are projected again at once. */
export async function refreshRows(db: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.query('select iu_core.fn_search_rows_refresh($1)', [ids])
}

export interface TableFinding {
  readonly code: string
  readonly finding: string
}

/** Stops tables that no longer fit, and lets those go on that fit again. */
export async function verifyTables(db: Queryable): Promise<TableFinding[]> {
  const { rows } = await db.query<TableFinding>('select code, finding from iu_core.fn_search_tables_verify()')
  return rows
}

/** What the scans of tables are doing: `busy`, there is a next page at once; `waiting`, for writers or for the outbox. */
export type ScanProgress = 'idle' | 'busy' | 'waiting'

/** Moves changes of tables to the outbox, and does one step of every scan. */
export async function collectChanges(db: Queryable, log: Logger): Promise<ScanProgress> {
  const { rows } = await db.query<{ scans: string[]; collected: number }>(
    `select iu_core.fn_search_rows_collect() as collected,
            array(select t.table_id from iu_core.search_table t
                   where t.scan_state in ('waiting', 'scanning', 'sweeping') and t.state in ('active', 'removed')
                   order by t.table_id) as scans`,
  )
  const { collected, scans } = rows[0]!
  let progress: ScanProgress = collected > 0 ? 'busy' : 'idle'
  for (const table of scans) {
    const state = await scanTable(db, table, log)
    if (state === 'scanning' || state === 'sweeping') progress = 'busy'
    else if (state === 'waiting' && progress === 'idle') progress = 'waiting'
  }
  return progress
}

async function scanTable(db: Queryable, table: string, log: Logger): Promise<string> {
  try {
    const { rows } = await db.query<{ state: string }>('select iu_core.fn_search_table_scan($1) as state', [
      table,
    ])
    return rows[0]!.state
  } catch (error) {
    const findings = await verifyTables(db)
    if (findings.length === 0)
      log.warn({ err: error, table }, 'a table could not be scanned; will be retried')
    return 'waiting'
  }
}
