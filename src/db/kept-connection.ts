/**
 * One session of the pool, held for as long as it works: a heartbeat must not queue behind handlers that took every other
 * session. A broken one is replaced at the next statement.
 */
import type pg from 'pg'
import type { Pool } from './connection.ts'
import { isConnectionError } from './transient.ts'

export class KeptConnection {
  private readonly pool: Pool
  private readonly timeoutMs: number
  private client: Promise<pg.PoolClient> | undefined

  /** A statement without an answer after `timeoutMs` breaks the session: a server that is silent is not waited for. */
  constructor(pool: Pool, timeoutMs: number) {
    this.pool = pool
    this.timeoutMs = timeoutMs
  }

  /** With `name` it is prepared once a session. */
  async query<Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
    name?: string,
  ): Promise<Row[]> {
    this.client ??= this.pool.connect()
    const held = this.client
    let client: pg.PoolClient
    try {
      client = await held
    } catch (error) {
      if (this.client === held) this.client = undefined
      throw error
    }
    try {
      // biome-ignore lint/suspicious/noExplicitAny: query_timeout of a single statement is not in the driver's types
      const config: any = { text, values, query_timeout: this.timeoutMs, ...(name && { name }) }
      return (await client.query<Row>(config)).rows
    } catch (error) {
      if (isConnectionError(error) && this.client === held) {
        this.client = undefined
        client.release(error as Error)
      }
      throw error
    }
  }

  async release(): Promise<void> {
    const held = this.client
    this.client = undefined
    await held?.then((client) => client.release()).catch(() => {})
  }
}
