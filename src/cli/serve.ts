/** One process: the database, the workers, the API and the console, started in order and stopped in reverse. */

import { once } from 'node:events'
import { type AddressInfo, createServer as createProbe } from 'node:net'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { SignIn } from '../access/sign-in-codes.ts'
import type { Config } from '../config.ts'
import { createPool, type Pool, withClient } from '../db/connection.ts'
import { createHealthProbe, type HealthCheck } from '../db/health.ts'
import type { MaintenanceTask } from '../db/maintenance.ts'
import type { Database } from '../db/open.ts'
import { refuseTransactionPooler } from '../db/pooler.ts'
import { inStatement } from '../db/statement.ts'
import { inTransaction } from '../db/transaction.ts'
import { asStagedoorError, StagedoorError } from '../errors.ts'
import type { PlaybookHandlers } from '../executions/tool.ts'
import { gateTasks } from '../gates/maintenance.ts'
import { createMeasures, type Measures } from '../http/measures.ts'
import { createServer } from '../http/server.ts'
import { createTokenVerifier, signToken } from '../http/tokens.ts'
import { holdDuck } from '../ingest/duckdb.ts'
import type { IngestContext } from '../ingest/ingest.ts'
import { ingestTasks } from '../ingest/maintenance.ts'
import { spoolFolder } from '../ingest/spool.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import { type Search, searchOf } from '../stagedoor/search.ts'
import { createDiskBlobStore } from '../staging/blobs/disk.ts'
import type { BlobStore } from '../staging/blobs/store.ts'
import { ORPHANS, stagingTasks } from '../staging/maintenance.ts'
import { createLog } from './log.ts'
import { outageLog } from './outage-log.ts'
import { ownHandlers, runJobs } from './running-jobs.ts'
import { type RunningPlaybooks, runPlaybooks } from './running-playbooks.ts'

export interface Serving {
  readonly url: string
  stop(): Promise<void>
}

/** What runs here besides the API. */
export interface ServeOptions {
  /** Of the user's, beside those that Stagedoor brings. */
  readonly handlers?: JobHandlers
  readonly playbookHandlers?: PlaybookHandlers
  /** False: other processes drive executions and run their steps. */
  readonly playbooks?: boolean
  /** False: other processes put units and documents into search. */
  readonly projects?: boolean
}

const API_TIMEOUT_MS = 60_000
/** Each file that is read takes one, and another now and then to say how far it is. */
const READERS = 8
/** A question takes one for a moment: what is active, which words it has, what is new in the mirror. */
const SEARCHERS = 4

/** Closes `database` when stopped, or when it could not start. */
export async function serve(
  config: Config,
  database: Database,
  options: ServeOptions = {},
): Promise<Serving> {
  const log = outageLog(createLog(config))
  const closers: (() => Promise<unknown>)[] = [() => database.close()]
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse())
      await close().catch((error) => log.error({ err: error }, 'on stop'))
  }
  try {
    requireKeys(config, database)
    await refuseTransactionPooler(database.workerUrl)
    await requireApiLogin(database)
    const pool = open(
      closers,
      createPool(database.apiUrl, {
        max: config.poolSize,
        purpose: 'api',
        setting: 'STAGEDOOR_POOL_SIZE',
        statementTimeoutMs: API_TIMEOUT_MS,
      }),
    )
    const workers = open(
      closers,
      createPool(database.workerUrl, { role: 'dot_executor', max: 4, purpose: 'worker' }),
    )
    // Of their own: a file that is being read holds one for as long as it takes.
    const readers = open(
      closers,
      createPool(database.workerUrl, { role: 'dot_executor', max: READERS, purpose: 'reader' }),
    )
    // Of their own: questions wait for nothing but each other.
    const searchers = open(
      closers,
      createPool(database.workerUrl, { role: 'dot_executor', max: SEARCHERS, purpose: 'search' }),
    )
    const search = searchOf({
      config,
      database,
      pool: searchers,
      statement: (work) => inStatement(searchers, work),
    })
    closers.push(() => search.close())
    closers.push(holdDuck(spoolFolder(config.home)))
    const blobs = createDiskBlobStore(join(config.home, 'blobs'))
    const measures = createMeasures()
    const jobs = await runJobs(config, database, {
      log,
      hooks: measures.worker,
      handlers: { ...ownHandlers(config), ...options.handlers },
      dispatches: true,
      dispatched: measures.dispatched,
      tasks: [...gateTasks, ...zoneTasks(database, blobs, log), ...ingestTasks(config.home)],
    })
    closers.push(() => jobs.stop())
    let playbooks: RunningPlaybooks | undefined
    closers.push(onCrash((error) => Promise.all([jobs.crash(error), playbooks?.crash(error)])))
    playbooks =
      options.playbooks === false
        ? undefined
        : await runPlaybooks(config, database, {
            log,
            hooks: measures.engine,
            ...(options.playbookHandlers && { handlers: options.playbookHandlers }),
          })
    closers.push(async () => playbooks?.stop())
    const projection =
      options.projects === false ? undefined : await search.work({ log, hooks: measures.search })
    if (projection) closers.push(() => projection.stop())
    const url = await listen(config, {
      database,
      pool,
      workers,
      log,
      closers,
      workerHealth: () => [
        ...jobs.health(),
        ...(playbooks?.health() ?? []),
        ...(projection ? [projection.health()] : []),
      ],
      measures,
      blobs,
      ingest: { pool: readers, home: config.home },
      search,
    })
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function open(closers: (() => Promise<unknown>)[], pool: Pool): Pool {
  closers.push(() => pool.end())
  return pool
}

interface Parts {
  readonly database: Database
  readonly pool: Pool
  readonly workers: Pool
  readonly log: Logger
  readonly closers: (() => Promise<unknown>)[]
  readonly workerHealth: () => HealthCheck[]
  readonly measures: Measures
  readonly blobs: BlobStore
  readonly ingest: IngestContext
  readonly search: Search
}

async function listen(config: Config, parts: Parts): Promise<string> {
  const { database, workers, log, closers, pool, blobs, ingest, measures, search } = parts
  const probe = createHealthProbe()
  const asked = remembered(1000, async () => [
    ...(await inTransaction(workers, probe).catch(unreachable)),
    ...parts.workerHealth(),
  ])
  const app = await createServer({
    config,
    pool,
    // A start says its address itself; what is left to say is what went wrong.
    log: log.child({}, config.logLevel === 'info' ? { level: 'warn' } : {}),
    tokens: createTokenVerifier(config, database.jwtSecret),
    ...(database.jwtSecret !== undefined && { signIn: signerOf(database.jwtSecret, config) }),
    blobs,
    ingest,
    search,
    measures,
    blobLimit: config.blobLimit,
    // The embedded server is known without asking: a short outage must not hide behind what is remembered.
    health: async () => {
      const checks = await asked()
      return database.server ? [database.server.health(), ...checks] : checks
    },
  })
  closers.push(() => app.close())
  try {
    await app.listen({ port: config.port, host: config.host })
  } catch (error) {
    throw listenError(error, config)
  }
  const { port } = app.server.address() as AddressInfo
  const host = ['127.0.0.1', '0.0.0.0', '::', '::1'].includes(config.host) ? 'localhost' : config.host
  return `http://${host}:${port}`
}

/** The other checks are still reported: they say what is known without the database. */
function unreachable(error: unknown): HealthCheck[] {
  return [{ name: 'database', ok: false, detail: asStagedoorError(error).message }]
}

function signerOf(secret: string, config: Config): (who: SignIn) => Promise<string> {
  return (who) => signToken(secret, { ...who, expiresIn: '12h' }, config)
}

/** A home may be used with one database today and another tomorrow; only the embedded one surely knows all its blobs. */
function zoneTasks(database: Database, blobs: BlobStore, log: Logger): MaintenanceTask[] {
  const undeleted = (blobRef: string, error: unknown): void =>
    log.warn({ err: error, blob_ref: blobRef }, 'a blob could not be deleted')
  return stagingTasks(blobs, { undeleted }).filter(
    (task) => database.kind === 'embedded' || task.name !== ORPHANS,
  )
}

/** Asked before anything is started, so that a port in use costs nothing. */
export async function requireFreePort(config: Config): Promise<void> {
  const probe = createProbe()
  try {
    probe.listen(config.port, config.host)
    await once(probe, 'listening')
  } catch (error) {
    throw listenError(error, config)
  } finally {
    probe.close()
  }
}

function listenError(error: unknown, config: Config): unknown {
  const { port, host } = config
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new StagedoorError('port_in_use', { port, host }, { cause: error })
    case 'EACCES':
      return new StagedoorError('config_invalid', {
        setting: 'PORT',
        value: port,
        reason: 'this user may not listen on it',
      })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new StagedoorError('config_invalid', {
        setting: 'STAGEDOOR_HOST',
        value: host,
        reason: 'this machine has no such address',
      })
    default:
      return error
  }
}

/** Without keys nobody could ever sign in. */
function requireKeys(config: Config, database: Database): void {
  if (database.jwtSecret !== undefined || config.jwksUrl !== undefined) return
  throw new StagedoorError(
    'config_invalid',
    { setting: 'STAGEDOOR_JWKS_URL' },
    {
      message: 'Neither STAGEDOOR_JWKS_URL nor STAGEDOOR_JWT_SECRET is set, so nobody could sign in',
      hint: 'Set the address of your identity provider’s keys, or a secret of at least 32 characters.',
    },
  )
}

/** Asked by everybody and without a token, so one answer serves all for a moment. */
function remembered<T>(forMs: number, ask: () => Promise<T>): () => Promise<T> {
  let asked = Number.NEGATIVE_INFINITY
  let answer: Promise<T>
  return () => {
    if (performance.now() - asked > forMs) {
      asked = performance.now()
      answer = ask()
    }
    return answer
  }
}

/** Anything more powerful than stagedoor_api would make the wall a matter of trust. */
async function requireApiLogin(database: Database): Promise<void> {
  const login = await withClient(database.apiUrl, async (client) => {
    const { rows } = await client.query<{ login: string }>('select session_user as login')
    return rows[0]!.login
  })
  if (login !== 'stagedoor_api') throw new StagedoorError('api_login_wrong', { login })
}

/** How long a stop may take that was not asked for at a moment when everything ran. */
const ABRUPT_STOP_LIMIT_MS = 10_000

/** Waits for the start of something. A signal meanwhile ends the process soon, even if the start never settles. */
export async function startUntilStopped<T>(stopped: Promise<void>, starting: Promise<T>): Promise<T> {
  const signal = stopped.then(() => 'stopped' as const)
  const first = await Promise.race([signal, starting.then(() => 'started' as const)])
  if (first === 'stopped') setTimeout(() => process.exit(130), ABRUPT_STOP_LIMIT_MS).unref()
  return starting
}

/**
 * Waits for a signal to stop, or until the embedded server cannot be brought back: then throws, so that the process
 * ends with an exit code other than 0 and whatever supervises it can act. What waits for the database is not waited for.
 */
export async function untilStoppedOrLost(stopped: Promise<void>, database: Database): Promise<void> {
  const error = await Promise.race([stopped, database.server?.lost ?? stopped])
  if (!error) return
  setTimeout(() => {
    process.stderr.write(`${error.message}\n`)
    process.exit(error.exitCode)
  }, ABRUPT_STOP_LIMIT_MS).unref()
  throw error
}

/** How long the jobs in hand may take to be given back before the process ends. */
const CRASH_MS = 3000

/**
 * An exception or a rejection that nobody handled ends the process, as Node does by default; but first `crash` says which jobs
 * and steps were in hand and gives the leases back. Returns what takes it away again.
 */
export function onCrash(crash: (error: unknown) => Promise<unknown>): () => Promise<void> {
  let crashing = false
  const hear = (error: unknown): void => {
    if (crashing) return
    crashing = true
    process.exitCode = 1
    setTimeout(() => process.exit(1), CRASH_MS)
    crash(error)
      .then(() => console.error(error))
      .finally(() => process.exit(1))
  }
  process.on('uncaughtException', hear)
  return async () => {
    process.off('uncaughtException', hear)
  }
}

/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. One listener for both, never taken away:
 * between two of them a signal would meet none and kill the process, and npm sends every Ctrl-C a second time.
 */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    let told = false
    const hear = (): void => {
      if (told) process.exit(130)
      told = true
      resolve()
    }
    process.on('SIGINT', hear).on('SIGTERM', hear)
  })
}
