/** Connecting: one client or a pool, with every error of the database mapped to the catalogue. */
import pg from 'pg'
import { StagedoorError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { mapConnectionError } from './database-error.ts'
import { explainDatabaseError, explainRole } from './missing-object.ts'

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
  /** A statement, or a transaction that waits for us, ends after this long. */
  statementTimeoutMs?: number
}

/** Opens one session and closes it whatever happens. */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  options: ConnectionOptions = {},
): Promise<T> {
  const client = new pg.Client(settings(url, options))
  let lost: Error | undefined
  // A server that goes away between two statements must not end the process.
  client.on('error', (error) => {
    lost = error
  })
  try {
    await client.connect().catch((error) => {
      throw mapConnectionError(error, url)
    })
    if (options.role) await become(client, options.role)
    return await work(client)
  } catch (error) {
    throw lost ? mapConnectionError(error, url) : await explainDatabaseError(client, error, url)
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
      onConnect: (client: pg.ClientBase) => become(client, options.role as string),
    }),
  })
  // Without listeners a server that restarts would end the process: the pool hears of idle sessions, the session of its own.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

async function become(client: pg.ClientBase, role: string): Promise<void> {
  try {
    await client.query(`set role ${pg.escapeIdentifier(role)}`)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw explainRole(error, role)
    throw new StagedoorError('login_lacks_role', { role }, { cause: error })
  }
}

function settings(url: string, options: ConnectionOptions): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: `stagedoor ${VERSION}${options.purpose ? ` ${options.purpose}` : ''}`,
    ...(options.statementTimeoutMs !== undefined && {
      statement_timeout: options.statementTimeoutMs,
      idle_in_transaction_session_timeout: options.statementTimeoutMs,
    }),
  }
}
