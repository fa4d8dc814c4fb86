/** Tables of the user in search: registered with their routes, rehearsed, reviewed, activated; listed with the progress of their scan. */

import { StagedoorError } from '../kernel/errors.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { SearchTable } from './shapes.ts'

export type { SearchTable } from './shapes.ts'

export interface NewSearchTable {
  /** As in SQL: public.products, sales."Orders". */
  readonly source: string
  /** Columns whose text is searched. */
  readonly text: readonly string[]
  /** The column that a hit is called by; default: the first line of its text. */
  readonly title?: string | undefined
  /** Columns by which a question can be narrowed. */
  readonly filter?: readonly string[] | undefined
  /** Of the texts; default: found out, for each row. */
  readonly language?: string | undefined
  /** Whose the rows are: one of the two. */
  readonly workspace_id?: string | undefined
  readonly workspace_column?: string | undefined
}

const COLUMNS = columnsOf(SearchTable, {
  as: {
    routes: `array(select format('search.%s.%s', code, e) from unnest(array['delete', 'insert', 'truncate', 'update']) as e)`,
  },
})

/**
 * Registers a table and its four routes, or changes what is read of it, which clears the review. `db` must act as workflow_admin.
 * `grant`: where rights are missing, try to grant them. Returns its code.
 */
export async function registerSearchTable(
  db: Queryable,
  table: NewSearchTable,
  {
    grant = false,
    actor,
  }: { readonly grant?: boolean | undefined; readonly actor?: string | undefined } = {},
): Promise<string> {
  const { rows } = await db.query<{ code: string }>(
    'select iu_core.fn_search_table_register($1, $2, $3) as code',
    [JSON.stringify(omitUndefined(table)), actor ?? null, grant],
  )
  return rows[0]!.code
}

/** Attaches the triggers; nothing is projected. `db` must act as workflow_admin. Returns on how many tables. */
export async function dryRunSearchTable(db: Queryable, table: string): Promise<number> {
  const { rows } = await db.query<{ attached: number }>(
    'select iu_core.fn_search_table_dry_run($1) as attached',
    [table],
  )
  return rows[0]!.attached
}

/** Records the review of all its routes by a second person, who saw so many lines of evidence of each. */
export async function reviewSearchTable(
  db: Queryable,
  table: string,
  {
    evidence = 1,
    actor,
  }: { readonly evidence?: number | undefined; readonly actor?: string | undefined } = {},
): Promise<void> {
  await db.query('select iu_core.fn_search_table_review($1, $2, $3)', [table, evidence, actor ?? null])
}

export async function activateSearchTable(db: Queryable, table: string, actor?: string): Promise<void> {
  await db.query('select iu_core.fn_search_table_activate($1, $2)', [table, actor ?? null])
}

/** Reads all its rows again. */
export async function rescanSearchTable(db: Queryable, table: string): Promise<void> {
  await db.query('select iu_core.fn_search_table_rescan($1)', [table])
}

/** `db` must act as workflow_admin. Returns the statements that the owners of the tables must run. */
export async function removeSearchTable(db: Queryable, table: string): Promise<string[]> {
  const { rows } = await db.query<{ left: string[] }>('select iu_core.fn_search_table_remove($1) as left', [
    table,
  ])
  return rows[0]!.left
}

/** Those that the caller may see, by code. */
export async function listSearchTables(db: Queryable): Promise<SearchTable[]> {
  const { rows } = await db.query<SearchTable>(`select ${COLUMNS} from iu_core.v_search_table order by code`)
  return rows
}

/** By its code, or its name as in SQL. */
export async function requireSearchTable(db: Queryable, table: string): Promise<SearchTable> {
  const { rows } = await db.query<SearchTable>(
    `select ${COLUMNS} from iu_core.v_search_table
      where $1 in (code, source, replace(source, '"', '')) or source = 'public.' || $1 order by code <> $1 limit 1`,
    [table],
  )
  if (!rows[0]) throw new StagedoorError('search_table_unknown', { table })
  return rows[0]
}

/** Your own tables in search, by routes that a second person reviews. Adding one needs the login that administers the database. */
export interface SearchTables {
  /** Registers a table with its routes, or changes what is read of it. Returns its code. `grant`: try to grant what is missing. */
  add(table: NewSearchTable, options?: { readonly grant?: boolean }): Promise<string>
  /** Attaches the triggers; returns on how many tables. */
  dryRun(table: string): Promise<number>
  review(table: string, review: { readonly reviewer: string; readonly evidence?: number }): Promise<void>
  activate(table: string): Promise<void>
  list(): Promise<SearchTable[]>
  get(table: string): Promise<SearchTable>
  /** Reads all its rows again. */
  rescan(table: string): Promise<void>
  /** Returns the statements that the owners of the tables must run. */
  remove(table: string): Promise<string[]>
}

type Transaction = <T>(work: (client: Client) => Promise<T>) => Promise<T>

interface SearchTablesDeps {
  /** One transaction as the owner of everything of ours. */
  readonly admin: Transaction
  readonly service: Transaction
  readonly worker: Transaction
}

export function searchTablesLibrary({ admin, service, worker }: SearchTablesDeps): SearchTables {
  return {
    add: (table, { grant } = {}) => admin((client) => registerSearchTable(client, table, { grant })),
    dryRun: (table) => admin((client) => dryRunSearchTable(client, table)),
    review: (table, { reviewer, evidence }) =>
      service((client) => reviewSearchTable(client, table, { evidence, actor: reviewer })),
    activate: (table) => service((client) => activateSearchTable(client, table)),
    list: () => worker(listSearchTables),
    get: (table) => worker((client) => requireSearchTable(client, table)),
    rescan: (table) => worker((client) => rescanSearchTable(client, table)),
    remove: (table) => admin((client) => removeSearchTable(client, table)),
  }
}
