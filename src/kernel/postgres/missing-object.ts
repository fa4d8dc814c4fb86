/** Decides whether a missing object that a statement named is one of ours (the database must be migrated) or the caller's own. */
import pg from 'pg'
import { StagedoorError } from '../errors.ts'
import type { Queryable } from './connection.ts'
import { mapDatabaseError } from './errors.ts'
import { readSqlFiles } from './migrate/files.ts'

/** No such table, function, schema, object or column. */
const MISSING = new Set(['42P01', '42883', '3F000', '42704', '42703'])

/** Maps what a statement threw. Queries the database only if an object was missing. */
export async function explainDatabaseError(
  client: Queryable,
  error: unknown,
  url?: string,
): Promise<unknown> {
  if (!(error instanceof pg.DatabaseError) || !MISSING.has(error.code ?? ''))
    return mapDatabaseError(error, url)
  const missing = await firstMissing(client).catch(() => undefined)
  if (missing === undefined) return mapDatabaseError(error, url)
  return new StagedoorError('migrations_pending', { pending: `${missing} is missing` }, { cause: error })
}

/** Maps what SET ROLE threw: only the role itself can be missing. */
export function explainRole(error: unknown, role: string): unknown {
  if ((error as { code?: string }).code !== '22023') return error
  return new StagedoorError(
    'migrations_pending',
    { pending: `the role ${role} is missing` },
    { cause: error },
  )
}

let routines: readonly string[] | undefined

/** The first function or view of this version that the database does not have. Any role may read the catalogue. */
async function firstMissing(client: Queryable): Promise<string | undefined> {
  // The caller may have left its failed transaction open.
  await client.query('rollback')
  routines ??= readSqlFiles().routines.map(({ schema, name }) => `${schema}.${name}`)
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as name
      where name not in (select nspname || '.' || proname from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = pronamespace
                         union all
                         select nspname || '.' || relname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace)
      limit 1`,
    [routines],
  )
  return rows[0]?.name
}
