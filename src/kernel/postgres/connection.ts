/** Connecting: one client or a pool, with every error of the database mapped to the catalogue. */
import pg from 'pg'
import { StagedoorError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { isConnectionError, mapConnectionError } from './errors.ts'
import { type OtherHistory, otherHistory, PoolHistory } from './history.ts'
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
  /** Time limit of a statement, and of a transaction that is idle. */
  statementTimeoutMs?: number
  /** The setting that makes the pool larger, for the error of one that is exhausted. */
  setting?: string
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
  return new NamedPool(
    { ...settings(url, options), max: options.max ?? 10, idleTimeoutMillis: IDLE_MS },
    options,
    new PoolHistory(),
  )
}

/** A pool like `pool` with `max` sessions, for work that must not wait for the sessions of `pool`. Those that nobody uses are closed. */
export function reserveSessions(pool: Pool, max: number): Pool {
  const [naming, history] = pool instanceof NamedPool ? [pool.naming, pool.history] : [{}, new PoolHistory()]
  // The driver hides the password from loops over the options.
  const { password } = pool.options
  const config = {
    ...pool.options,
    ...(password !== undefined && { password }),
    max,
    idleTimeoutMillis: IDLE_MS,
  }
  return new NamedPool(config, naming, history)
}

/**
 * Calls back when new sessions of the pool, or of those reserved from it, see another history of the database than before (history.ts).
 * Nobody gets such a session before: whoever had asked for one gets `database_unreachable`, and asks again. Only for a pool
 * with a role. Returns how to end it.
 */
export function watchHistory(pool: Pool, onChange: (change: OtherHistory) => void): () => void {
  return pool instanceof NamedPool ? pool.history.watch(onChange) : () => {}
}

type PoolNaming = Pick<ConnectionOptions, 'purpose' | 'setting' | 'role'>

/** A session that is idle for this long is closed. */
const IDLE_MS = 10_000

/** Names the exhausted pool and the setting that enlarges it. The driver's own message sounds like a server that does not answer. */
class NamedPool extends pg.Pool {
  readonly naming: PoolNaming
  readonly history: PoolHistory

  constructor(config: pg.PoolConfig, naming: PoolNaming, history: PoolHistory) {
    const { role } = naming
    super({ ...config, ...(role && { onConnect: (client) => openAs(client, role, history) }) })
    this.naming = naming
    this.history = history
    // Without error listeners a restart of the server would end the process. The pool reports idle sessions, a session its own errors.
    this.on('error', () => {})
    this.on('connect', (client) => client.on('error', () => {}))
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's two forms, with and without a callback
  override connect(callback?: any): any {
    const { generation } = this.history
    if (callback === undefined) {
      return super.connect().then(
        (client) => {
          const refusal = this.refuseOtherHistory(client, generation)
          if (refusal === undefined) return client
          throw refusal
        },
        (error: unknown) => {
          throw this.explain(error)
        },
      )
    }
    return super.connect((error, client, done) => {
      if (error) return callback(this.explain(error), client, done)
      const refusal = this.refuseOtherHistory(client!, generation)
      return refusal === undefined ? callback(error, client, done) : callback(refusal, undefined, () => {})
    })
  }

  /** What the caller is about to send follows from the history of when it asked for the session. */
  private refuseOtherHistory(client: pg.PoolClient, generation: number): Error | undefined {
    const isFormer = this.history.isFormer(client)
    if (!isFormer && (generation === this.history.generation || !this.history.isWatched)) return undefined
    client.release(isFormer)
    return otherHistory()
  }

  private explain(error: unknown): unknown {
    const { max, connectionTimeoutMillis: waitedMs } = this.options
    const isFull = this.totalCount >= max && this.idleCount === 0
    if (!isFull || !(error as Error).message?.startsWith('timeout exceeded when trying to connect'))
      return error
    const { purpose = 'connections', setting } = this.naming
    return new StagedoorError(
      'pool_exhausted',
      { pool: purpose, max, seconds: (waitedMs ?? 0) / 1000 },
      {
        cause: error,
        ...(setting !== undefined && {
          hint: `Raise ${setting} (now ${max}), or use fewer connections at once: a handler that opens transactions inside a transaction holds one for each.`,
        }),
      },
    )
  }
}

async function openAs(client: pg.ClientBase, role: string, history: PoolHistory): Promise<void> {
  await become(client, role)
  await history.examine(client)
}

async function become(client: pg.ClientBase, role: string): Promise<void> {
  try {
    await client.query(`set role ${pg.escapeIdentifier(role)}`)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw explainRole(error, role)
    const { user: login = 'of this address' } = client as { user?: string }
    const hint = role === 'workflow_admin' ? { hint: ADMINISTRATION } : {}
    throw new StagedoorError('login_lacks_role', { role, login }, { cause: error, ...hint })
  }
}

const ADMINISTRATION =
  'Administration needs the login that migrated. Name it for this one command: `DATABASE_URL=postgres://… DATABASE_DIRECT_URL= stagedoor …`.'

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

// One session of a pool, kept while it works: a heartbeat must not wait for handlers that use all other sessions. A broken session
// is replaced at the next statement.

export class DedicatedConnection {
  private readonly pool: Pool
  private readonly timeoutMs: number
  private readonly idleMs: number | undefined
  private client: Promise<pg.PoolClient> | undefined
  private inUse = 0
  private idleTimer: NodeJS.Timeout | undefined

  /**
   * A statement without an answer after `timeoutMs` fails and closes the session. With `idleMs` it goes back to the pool when it was
   * not used for so long, and the next statement takes another.
   */
  constructor(pool: Pool, timeoutMs: number, { idleMs }: { readonly idleMs?: number } = {}) {
    this.pool = pool
    this.timeoutMs = timeoutMs
    this.idleMs = idleMs
  }

  /** Opens the session if there is none, and says which one the next statement uses: another object, another session. */
  open(): Promise<object> {
    return this.session()
  }

  /** With `name` it is prepared once a session. */
  async query<Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
    name?: string,
  ): Promise<Row[]> {
    this.inUse++
    try {
      return await this.send(text, values, name)
    } finally {
      this.inUse--
      this.releaseWhenIdle()
    }
  }

  private async send<Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[],
    name?: string,
  ): Promise<Row[]> {
    const client = await this.session()
    // Of the same session: nothing was awaited since.
    const held = this.client
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

  private releaseWhenIdle(): void {
    if (this.idleMs === undefined) return
    clearTimeout(this.idleTimer)
    this.idleTimer = setTimeout(() => {
      if (this.inUse === 0) void this.release()
    }, this.idleMs)
    this.idleTimer.unref()
  }

  private async session(): Promise<pg.PoolClient> {
    this.client ??= this.pool.connect()
    const held = this.client
    let client: pg.PoolClient
    try {
      client = await held
    } catch (error) {
      if (this.client === held) this.client = undefined
      throw error
    }
    if (!(this.pool instanceof NamedPool) || !this.pool.history.isFormer(client)) return client
    if (this.client === held) {
      this.client = undefined
      client.release(true)
    }
    throw otherHistory()
  }

  async release(): Promise<void> {
    clearTimeout(this.idleTimer)
    const held = this.client
    this.client = undefined
    await held?.then((client) => client.release()).catch(() => {})
  }
}

// A single statement without BEGIN and COMMIT: one round trip instead of three.

/** `work` sends one statement, which is committed when it is answered. Of several, those before an error would stay. */
export async function inStatement<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error) => {
    throw mapConnectionError(error)
  })
  let broken: Error | undefined
  try {
    return await work(client)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError || error instanceof StagedoorError)) {
      await client.query('select').catch((failure: Error) => {
        broken = failure
      })
    }
    throw broken ? mapConnectionError(error) : await explainDatabaseError(client, error)
  } finally {
    client.release(broken)
  }
}

const OLDEST = 150000

/** Refuses a server that is too old before anything is read or changed. */
export async function assertSupported(client: pg.Client, url: string): Promise<number> {
  const { rows } = await client.query<{ number: number; version: string }>(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as version",
  )
  const { number, version } = rows[0]!
  if (number < OLDEST) {
    const { hostname, port } = new URL(url)
    throw new StagedoorError('postgres_too_old', { target: `${hostname}:${port || 5432}`, version })
  }
  return number
}
