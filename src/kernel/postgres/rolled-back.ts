/**
 * A pool whose only session is in one transaction, which is rolled back at the end: what runs over it sees what it has written, and
 * nobody else ever does. Transactions over it become savepoints.
 */
import type pg from 'pg'
import { StagedoorError } from '../errors.ts'
import { type Pool, withClient } from './connection.ts'

export async function rolledBack<T>(
  url: string,
  work: (pool: Pool) => Promise<T>,
  purpose: string,
): Promise<T> {
  return withClient(
    url,
    async (client) => {
      // It is idle while a file is read.
      await client.query('begin; set local idle_in_transaction_session_timeout = 0')
      try {
        return await work(new RolledBackPool(client) as unknown as Pool)
      } finally {
        await client.query('rollback').catch(() => {})
      }
    },
    { purpose },
  )
}

/** The part of a pool that is used where no second session is needed. One caller at a time has the session; others wait. */
class RolledBackPool {
  readonly options = { max: 1 }
  readonly totalCount = 1
  private waiting = 0
  private last: Promise<unknown> = Promise.resolve()
  private readonly client: pg.Client

  constructor(client: pg.Client) {
    this.client = client
  }

  get idleCount(): number {
    return this.waiting === 0 ? 1 : 0
  }

  get waitingCount(): number {
    return Math.max(0, this.waiting - 1)
  }

  async connect(): Promise<pg.PoolClient> {
    const before = this.last
    let release = (): void => {}
    this.waiting++
    this.last = new Promise<void>((resolve) => {
      release = () => {
        this.waiting--
        resolve()
      }
    })
    await before
    return inSavepoints(this.client, release)
  }

  /** In a savepoint of its own: an error ends no more than this statement. */
  async query(...given: Parameters<pg.Client['query']>): Promise<unknown> {
    const client = await this.connect()
    try {
      await client.query('begin')
      const answer = await (client.query as (...args: unknown[]) => Promise<unknown>)(...given)
      await client.query('commit')
      return answer
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }
}

const SAVEPOINT = 'rolled_back_work'

function inSavepoints(client: pg.Client, release: () => void): pg.PoolClient {
  const query = (...given: unknown[]): unknown => {
    const [statement] = given
    if (typeof statement !== 'string') return (client.query as (...args: unknown[]) => unknown)(...given)
    if (statement === 'commit') return commit(client)
    if (statement === 'rollback')
      return client.query(`rollback to savepoint ${SAVEPOINT}; release savepoint ${SAVEPOINT}`)
    const begun = /^begin\b[^;]*(.*)$/s.exec(statement)
    if (begun === null) return (client.query as (...args: unknown[]) => unknown)(...given)
    if (/;\s*commit\s*$/.test(statement))
      throw new StagedoorError('internal', { reason: 'a statement commits in the transaction of others' })
    // Of the transaction before it: SET LOCAL outlives a savepoint.
    return client.query(`savepoint ${SAVEPOINT}; reset role${begun[1]}`)
  }
  return new Proxy(client, {
    get(target, name) {
      if (name === 'query') return query
      if (name === 'release') return release
      const value = Reflect.get(target, name) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  }) as unknown as pg.PoolClient
}

async function commit(client: pg.Client): Promise<{ command: string }> {
  await client.query(`release savepoint ${SAVEPOINT}`)
  return { command: 'COMMIT' }
}
