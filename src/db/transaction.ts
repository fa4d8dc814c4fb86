/** Transactions: plain, or under a caller's role and claims. */
import pg from 'pg'
import type { Client, Pool } from './connection.ts'
import { mapDatabaseError } from './database-error.ts'

export interface Caller {
  /** The database role whose rights count. */
  readonly role: string
  /** The verified token; trusted by the database only when the session's login is stagedoor_api. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** The database refuses every write. */
  readonly readOnly?: boolean
}

/** Commits when `work` resolves, rolls back when it throws. A broken connection is not returned to the pool. */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: Client) => Promise<T>,
  caller?: Caller,
): Promise<T> {
  const client = await connect(pool)
  let broken: Error | undefined
  try {
    await client.query(begin(caller))
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    throw mapDatabaseError(error)
  } finally {
    client.release(broken)
  }
}

/** One statement outside a transaction of ours. */
export async function query<R extends pg.QueryResultRow>(
  pool: Pool,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  try {
    return (await pool.query<R>(text, values)).rows
  } catch (error) {
    throw mapDatabaseError(error)
  }
}

async function connect(pool: Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw mapDatabaseError(error)
  }
}

/** One round trip for all of it. SET LOCAL ends with the transaction, so nothing stays on the connection. */
function begin(caller: Caller | undefined): string {
  if (!caller) return 'begin'
  const claims = caller.claims
    ? `; select set_config('request.jwt.claims', ${pg.escapeLiteral(JSON.stringify(caller.claims))}, true)`
    : ''
  return `begin${caller.readOnly ? ' read only' : ''}; set local role ${pg.escapeIdentifier(caller.role)}${claims}`
}
