/** Transactions: plain, or under a caller's role and claims. */
import pg from 'pg'
import { StagedoorError } from '../errors.ts'
import type { Client, Pool } from './connection.ts'
import { mapConnectionError } from './errors.ts'
import { explainDatabaseError, explainRole } from './missing-object.ts'

export interface Caller {
  /** The database role whose rights count. */
  readonly role: string
  /** The verified token; trusted by the database only when the session's login is stagedoor_api. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** The database refuses every write. */
  readonly readOnly?: boolean
}

/** The back end, without a user: it may act for others. */
export const SERVICE_ROLE: Caller = { role: 'service_role' }

/** Commits when `work` resolves, rolls back when it throws. A broken connection is not returned to the pool. */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: Client) => Promise<T>,
  caller?: Caller,
): Promise<T> {
  const client = await pool.connect().catch((error) => {
    throw mapConnectionError(error)
  })
  let broken: Error | undefined
  try {
    await client.query(begin(caller)).catch((error) => {
      throw caller ? explainRole(error, caller.role) : error
    })
    const result = await work(client)
    await commit(client)
    return result
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    // A session that cannot roll back is broken, and that is why `work` threw.
    if (broken) throw mapConnectionError(error)
    throw isRefusedToAgent(error, caller) ? agentProposes(error) : await explainDatabaseError(client, error)
  } finally {
    client.release(broken)
  }
}

/**
 * One statement in a transaction of its own, in one round trip: begin, role, statement and commit travel together. Values stand in it as
 * literals (pg.escapeLiteral). For what every request asks.
 */
export async function inOneRoundTrip<R extends pg.QueryResultRow>(
  pool: Pool,
  statement: string,
  caller: Caller,
): Promise<R[]> {
  const client = await pool.connect().catch((error) => {
    throw mapConnectionError(error)
  })
  let broken: Error | undefined
  try {
    const results = (await client.query(
      `${begin(caller)}; ${statement}; commit`,
    )) as unknown as pg.QueryResult<R>[]
    return results.at(-2)!.rows
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    if (broken) throw mapConnectionError(error)
    throw await explainDatabaseError(client, error)
  } finally {
    client.release(broken)
  }
}

/** Agents may not call most functions. They get an error that says so instead of "permission denied for function". */
function isRefusedToAgent(error: unknown, caller: Caller | undefined): boolean {
  return caller?.role === 'stagedoor_agent' && (error as { code?: string }).code === '42501'
}

function agentProposes(cause: unknown): StagedoorError {
  const message = 'An agent reads and proposes; it does not do this itself'
  const hint =
    'Stage what you propose: a marked document (`stagedoor mark`, POST /api/v1/marks) or a record (`stagedoor staging create`, POST /api/v1/staging). A person decides.'
  return new StagedoorError('permission_denied', {}, { cause, message, hint })
}

/** PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, and no error. */
async function commit(client: Client): Promise<void> {
  const { command } = await client.query('commit')
  if (command === 'COMMIT') return
  throw new StagedoorError('internal', {
    reason: 'a statement of this transaction failed and its error was passed over, so nothing was kept',
  })
}

/** One round trip for all of it. SET LOCAL ends with the transaction, so nothing stays on the connection. */
function begin(caller: Caller | undefined): string {
  if (!caller) return 'begin'
  const claims = caller.claims
    ? `; select set_config('request.jwt.claims', ${pg.escapeLiteral(JSON.stringify(caller.claims))}, true)`
    : ''
  return `begin${caller.readOnly ? ' read only' : ''}; set local role ${pg.escapeIdentifier(caller.role)}${claims}`
}
