/** Connecting: one client or a pool, with every error mapped to the catalogue. */
import pg from 'pg'
import { VERSION } from '../version.ts'
import { mapDatabaseError } from './database-error.ts'

export type Client = pg.ClientBase
export type Pool = pg.Pool
/** A client inside a transaction, or a pool for a single statement. */
export type Queryable = Pick<pg.ClientBase, 'query'>

export interface ConnectionOptions {
  /** SET ROLE on every new connection. */
  role?: string
  max?: number
  /** Shown in pg_stat_activity, so that a person can tell our sessions apart. */
  purpose?: string
  statementTimeoutMs?: number
}

/** Opens one session and closes it whatever happens. */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  options: ConnectionOptions = {},
): Promise<T> {
  const client = new pg.Client(settings(url, options))
  // A server that goes away between two statements must not end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    if (options.role) await client.query(`set role ${pg.escapeIdentifier(options.role)}`)
    return await work(client)
  } catch (error) {
    throw mapDatabaseError(error, url)
  } finally {
    await client.end().catch(() => {})
  }
}

export function createPool(url: string, options: ConnectionOptions = {}): Pool {
  const pool = new pg.Pool({
    ...settings(url, options),
    max: options.max ?? 10,
    idleTimeoutMillis: 30_000,
    ...(options.role && {
      onConnect: async (client: pg.ClientBase) => {
        await client.query(`set role ${pg.escapeIdentifier(options.role as string)}`)
      },
    }),
  })
  pool.on('error', () => {})
  return pool
}

function settings(url: string, options: ConnectionOptions): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: `stagedoor ${VERSION}${options.purpose ? ` ${options.purpose}` : ''}`,
    ...(options.statementTimeoutMs !== undefined && { statement_timeout: options.statementTimeoutMs }),
  }
}
