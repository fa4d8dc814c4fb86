/**
 * The one composition of a Stagedoor process: pools, periodic tasks, dispatcher and workers. `stagedoor start`, `stagedoor worker`,
 * `stagedoor run` and `work()` of the library say which roles they take; every one of them runs the same maintenance.
 */
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { accessTasks } from '../access/maintenance.ts'
import { changeTasks } from '../changes/maintenance.ts'
import { type Dispatcher, startDispatcher } from '../events/dispatcher.ts'
import { eventTasks } from '../events/outbox.ts'
import { routeTasks } from '../events/routes.ts'
import { type Engine, type EngineHooks, startEngine } from '../executions/engine/engine.ts'
import type { WorkOptions as EngineWorkOptions } from '../executions/library.ts'
import { executionTasks } from '../executions/maintenance.ts'
import type { SharedResults } from '../executions/results.ts'
import { gateTasks } from '../gates/maintenance.ts'
import { retainDuck } from '../ingest/duckdb.ts'
import { ingestLibrary } from '../ingest/library.ts'
import type { PipelineDeps } from '../ingest/pipeline.ts'
import { spoolFolder } from '../ingest/spool.ts'
import { fileTasks } from '../ingest/upload-files.ts'
import { ingestTasks } from '../ingest/uploads.ts'
import { builtInHandlers } from '../jobs/built-in-kinds.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import type { JobWorkOptions } from '../jobs/library.ts'
import { jobTasks } from '../jobs/maintenance.ts'
import { startWorker, type Worker } from '../jobs/worker.ts'
import type { Config } from '../kernel/config.ts'
import {
  type ConnectionOptions,
  createPool,
  inStatement,
  type Pool,
  watchHistory,
  withClient,
} from '../kernel/postgres/connection.ts'
import { mapDatabaseError } from '../kernel/postgres/errors.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { announceHistory } from '../kernel/postgres/history.ts'
import { type Database, refuseTransactionPooler } from '../kernel/postgres/open.ts'
import { inTransaction, SERVICE_ROLE } from '../kernel/postgres/transaction.ts'
import { type Nats, shareNats } from '../runtime/nats.ts'
import { type Maintenance, type MaintenanceTask, startMaintenance } from '../runtime/periodic-tasks.ts'
import { retryWhileUnavailable } from '../runtime/retry.ts'
import type { BlobStore } from '../runtime/stores/blob-store.ts'
import { openWakeups, type Wakeups } from '../runtime/wakeups.ts'
import type { Search, WorkOptions as SearchWorkOptions } from '../search/library.ts'
import type { SearchWorker } from '../search/worker.ts'
import { ORPHANS, stagingTasks, TRASH } from '../staging/maintenance.ts'
import { type Gateway, startGateway } from './gateway.ts'
import type { Metrics } from './metrics.ts'
import { createPlaybookRuntime, type PlaybookRuntime } from './playbook-runtime.ts'
import { type ProcessRole, type RegisteredProcess, registerProcess } from './processes.ts'
import { ReadReplica } from './replica.ts'
import { createSearch } from './search.ts'
import { blobProof, openStores, resultPlaces, type Stores, type StoreWatch, watchStores } from './stores.ts'
import { startReader } from './upload-reader.ts'

/** What runs in this process. Maintenance always does, unless another composition of the same process runs it. */
export interface Roles {
  /** Opens what the HTTP API works with. Listening is left to the caller. */
  readonly api?: boolean
  /** Runs jobs and fires schedules. */
  readonly jobs?: JobsRole
  /** Reads uploaded files; default: with the role `api`. */
  readonly uploads?: boolean
  /** Turns events into jobs. */
  readonly dispatcher?: boolean
  /** Drives executions and runs their steps. */
  readonly playbooks?: EngineWorkOptions
  /** Projects units and documents into search. */
  readonly search?: SearchWorkOptions
  /** Hands calls to remote workers over NATS; only with NATS_URL. */
  readonly gateway?: boolean
  readonly maintenance?: boolean
}

/** `handlers` are all that run: `builtInJobs(config)` has those that Stagedoor brings. */
type JobsRole = JobWorkOptions & { readonly handlers: JobHandlers }

export interface ComposeOptions {
  readonly roles: Roles
  readonly log: Logger
  /** Counts what the parts of this process do. */
  readonly metrics?: Pick<
    Metrics,
    'worker' | 'engine' | 'search' | 'replica' | 'wakeups' | 'gateway' | 'onPass'
  >
  /** The registration of this process, where another composition of it has one. */
  readonly process?: RegisteredProcess | undefined
  /** Installs `crash` for exceptions that nobody handled, before the first part starts. Returns what uninstalls it. */
  readonly onCrash?: (crash: (error: unknown) => Promise<unknown>) => () => Promise<void>
  /** Runs when the API has what it works with, and before any part takes a lease: what blocks the event loop for a while belongs here. */
  readonly prepareApi?: (composition: Composition) => Promise<unknown>
}

export interface Composition {
  /** This process in the registry of the database. */
  readonly process: RegisteredProcess
  /** Only with the role `api`. */
  readonly api: ApiResources | undefined
  /** Only with the role `jobs`. */
  readonly worker: Worker | undefined
  /** Only with the role `playbooks`. */
  readonly engine: Engine | undefined
  /** Only with the role `search`. */
  readonly searchWorker: SearchWorker | undefined
  health(): HealthCheck[]
  /** The process ends because of this error: names the jobs and steps that run, and gives their leases back. */
  crash(error: unknown): Promise<void>
  /** Begins nothing new, waits for what runs, and closes the pools. The database stays open. */
  stop(): Promise<void>
}

/** What the HTTP API works with. */
export interface ApiResources {
  /** Logged in as stagedoor_api: runs requests under the caller's role. */
  readonly requests: Pool
  /** Where reads may go besides; undefined without DATABASE_READ_URL. */
  readonly replica: ReadReplica | undefined
  /** Carries wake-ups; undefined without NATS_URL. */
  readonly nats: Nats | undefined
  readonly wakeups: Wakeups
  /** As dot_executor: asks the database how it is. */
  readonly health: Pool
  readonly ingest: PipelineDeps
  readonly search: Search
  readonly blobs: BlobStore
  readonly results: { readonly home: string; readonly shared: SharedResults | undefined }
}

const API_TIMEOUT_MS = 60_000
const HEALTH_SESSIONS = 4
/** Each file that is read takes up to two, and one now and then to write its progress. Two more claim and register. */
const READER_SESSIONS = 10
/** A search takes one for a moment: active collections, words of the query, changes of the mirror. */
const QUERY_SESSIONS = 4
/** Claims and schedules. Each handler has one of its own; heartbeats and completions have two more. */
const CLAIM_SESSIONS = 2
const DISPATCHER_SESSIONS = 1
const MAINTENANCE_SESSIONS = 4
const ENGINE_SESSIONS = 12
/** Claims, enqueues, ends of steps and the list of workers. Each set of handlers has up to three more: heartbeats, and completions of jobs. */
const GATEWAY_SESSIONS = 4
const TOOL_SESSIONS = 6
/** The projection of executions is only this far behind when something is wrong. */
const MAX_PROJECTION_LAG_MS = 30_000

/** Starts the roles in order. If one cannot start, stops those before it and throws. */
export async function compose(
  config: Config,
  database: Database,
  { roles, log, metrics, onCrash, process, prepareApi }: ComposeOptions,
): Promise<Composition> {
  const closers: Closer[] = []
  const stores = openStores(config)
  closers.push(async () => stores.close())
  const context: Context = { config, database, log, closers, stores }
  const parts: Parts = {}
  let stopped: Promise<void> | undefined
  const composition: Composition = {
    get process() {
      return parts.process!
    },
    get api() {
      return parts.api
    },
    get worker() {
      return parts.worker
    },
    get engine() {
      return parts.playbooks?.engine
    },
    get searchWorker() {
      return parts.searchWorker
    },
    health: () => healthOf(parts),
    async crash(error) {
      await Promise.all([
        parts.worker?.crash(error),
        parts.reader?.crash(error),
        parts.playbooks?.engine.crash(error),
        parts.gateway?.crash(error),
      ])
    },
    stop() {
      stopped ??= stopParts(context, parts)
      return stopped
    },
  }
  try {
    await refuseTransactionPooler(database.workerUrl)
    parts.process = await register(context, roles, process)
    if (onCrash) closers.push(onCrash(composition.crash))
    parts.nats = connectNats(context, metrics)
    parts.stores = await watchSharedStores(context)
    const search = roles.api || roles.search ? openSearch(context, roles.api ? QUERY_SESSIONS : 1) : undefined
    if (roles.api) parts.api = openApi(context, search!, parts.nats, metrics)
    await prepareApi?.(composition)
    if (roles.uploads ?? roles.api) parts.reader = await startUploads(context, parts, metrics)
    if (roles.jobs) parts.worker = await startJobs(context, roles.jobs, metrics)
    if (roles.dispatcher) parts.dispatcher = runDispatcher(context, metrics)
    if (roles.maintenance !== false) parts.maintenance = runMaintenance(context, parts, roles.api === true)
    if (roles.playbooks) parts.playbooks = await startPlaybooks(context, roles.playbooks, metrics)
    if (roles.gateway) parts.gateway = await runGateway(context, parts, metrics)
    if (roles.search) {
      const worker = await search!.work({ log, ...(metrics && { hooks: metrics.search }), ...roles.search })
      closers.push(() => worker.stop())
      parts.searchWorker = worker
    }
    return composition
  } catch (error) {
    await composition.stop()
    // A part may have got it from its first statement: no session was left, or the server was shutting down.
    throw mapDatabaseError(error, database.workerUrl)
  }
}

/**
 * The kinds of jobs that Stagedoor brings. Where no host is allowed no webhook can leave: its jobs wait for a worker that allows
 * some, and become no dead letters here.
 */
export function builtInJobs(
  config: Pick<Config, 'webhookHosts'> &
    Partial<Pick<Config, 'smtpUrl' | 'mailFrom' | 'mailDomains' | 'publicUrl'>>,
): JobHandlers {
  const { webhookHosts: hosts, smtpUrl, mailFrom, mailDomains, publicUrl } = config
  const { webhook_deliver, ...others } = builtInHandlers({
    webhooks: { hosts, smtpUrl, mailFrom, mailDomains, publicUrl },
  })
  return hosts.length === 0 && smtpUrl === undefined
    ? others
    : { webhook_deliver: webhook_deliver!, ...others }
}

type Closer = () => Promise<unknown>

interface Context {
  readonly config: Config
  readonly database: Database
  readonly log: Logger
  /** In the order of starts. */
  readonly closers: Closer[]
  readonly stores: Stores
}

interface Parts {
  process?: RegisteredProcess
  nats?: Nats | undefined
  stores?: StoreWatch | undefined
  api?: ApiResources
  worker?: Worker
  reader?: Worker | undefined
  dispatcher?: Dispatcher
  maintenance?: Maintenance
  playbooks?: RunningPlaybooks
  searchWorker?: SearchWorker
  gateway?: Gateway | undefined
}

interface RunningPlaybooks {
  readonly engine: Engine
  readonly runtime: Pick<PlaybookRuntime, 'tools' | 'results'>
  health(): HealthCheck[]
}

type Hooks = ComposeOptions['metrics']

function healthOf({
  stores,
  maintenance,
  worker,
  reader,
  dispatcher,
  playbooks,
  searchWorker,
  gateway,
}: Parts): HealthCheck[] {
  const single = [maintenance, worker, reader, dispatcher].flatMap((part) => (part ? [part.health()] : []))
  return [
    ...(stores?.health() ?? []),
    ...single,
    ...(playbooks?.health() ?? []),
    ...(searchWorker ? [searchWorker.health()] : []),
    ...(gateway?.health() ?? []),
  ]
}

/** First, so that servers whose tokens differ never work side by side. A process that is stopping says so, and leaves when the rest has stopped. */
async function register(
  { config, database, log, closers }: Context,
  roles: Roles,
  joined: RegisteredProcess | undefined,
): Promise<RegisteredProcess> {
  if (joined) {
    closers.push(await joined.join(rolesOf(roles)))
    return joined
  }
  const process = await registerProcess({
    url: database.workerUrl,
    roles: rolesOf(roles),
    ...(roles.api && { tokens: { signing: database.jwtSecret, other: config.jwtSecretOther } }),
    log,
  })
  closers.push(() => process.leave())
  return process
}

function rolesOf({ api, jobs, dispatcher, playbooks, search, gateway, maintenance }: Roles): ProcessRole[] {
  const taken: Record<ProcessRole, boolean> = {
    server: api === true,
    worker: jobs !== undefined,
    engine: playbooks !== undefined,
    dispatcher: dispatcher === true,
    search: search !== undefined,
    gateway: gateway === true,
    maintenance: maintenance !== false,
  }
  return (Object.keys(taken) as ProcessRole[]).filter((role) => taken[role])
}

async function stopParts(context: Context, { process, maintenance }: Parts): Promise<void> {
  // Not that of another composition, which goes on.
  if (maintenance) await process?.drain()
  await closeAll(context)
}

/** In reverse order. What cannot be closed does not keep the others open. */
async function closeAll({ closers, log }: Context): Promise<void> {
  for (const close of closers.splice(0).reverse())
    await close().catch((error: unknown) => log.error({ err: error }, 'could not stop cleanly'))
}

function openPool({ closers }: Context, url: string, options: ConnectionOptions): Pool {
  const pool = createPool(url, options)
  closers.push(() => pool.end())
  return pool
}

function openWorkerPool(context: Context, options: ConnectionOptions): Pool {
  return openPool(context, context.database.workerUrl, { role: 'dot_executor', ...options })
}

function openSearch(context: Context, max: number): Search {
  const { config, database, closers } = context
  const pool = openWorkerPool(context, { max, purpose: 'search' })
  const search = createSearch({ config, database, pool, statement: (work) => inStatement(pool, work) })
  closers.push(() => search.close())
  return search
}

/** Before the parts that wake each other, and closed after them. It may be away: then notifications of the database carry wake-ups. */
function connectNats(context: Context, metrics: Hooks): Nats | undefined {
  const { config, database, log, closers } = context
  const link = shareNats(config, `stagedoor ${hostname()} ${process.pid}`, log)
  if (link) closers.push(() => link.release())
  const wakeups = openWakeups(database.workerUrl, log, { nats: link?.nats, hooks: metrics?.wakeups })
  closers.push(() => wakeups.close())
  if (link && metrics) {
    const count = (): void => metrics.wakeups.onNats(link.nats.connected)
    const end = link.nats.onChange(count)
    closers.push(async () => end())
    count()
  }
  return link?.nats
}

/** Readers and searches have pools of their own: a file that is being read holds its session for as long as it takes. */
function openApi(context: Context, search: Search, nats: Nats | undefined, metrics: Hooks): ApiResources {
  const { config, database, closers, stores } = context
  const requests = openRequestPool(context, database.apiUrl, 'api')
  const resources = {
    requests,
    replica: openReplica(context, requests, metrics),
    nats,
    wakeups: openWakeupsHere(context),
    health: openWorkerPool(context, { max: HEALTH_SESSIONS, purpose: 'health' }),
    ingest: {
      pool: openWorkerPool(context, { max: READER_SESSIONS, purpose: 'reader' }),
      home: config.home,
      files: stores.uploads,
      proposalPool: openProposalPool(context),
    },
    search,
    blobs: stores.blobs,
    results: { home: stores.folder, shared: stores.sharedResults },
  }
  closers.push(retainDuck(spoolFolder(config.home)))
  return resources
}

/** Few: each holds locks on tables of the user while it works. */
const PROPOSAL_SESSIONS = 2

function openProposalPool(context: Context): Pool | undefined {
  const { proposalUrl } = context.database
  if (proposalUrl === undefined) return undefined
  return openPool(context, proposalUrl, { max: PROPOSAL_SESSIONS, purpose: 'proposals' })
}

function openRequestPool(context: Context, url: string, purpose: string): Pool {
  return openPool(context, url, {
    max: context.config.poolSize,
    purpose,
    setting: 'STAGEDOOR_POOL_SIZE',
    statementTimeoutMs: API_TIMEOUT_MS,
  })
}

function openReplica(context: Context, primary: Pool, metrics: Hooks): ReadReplica | undefined {
  const { config, log, closers } = context
  if (config.databaseReadUrl === undefined) return undefined
  const pool = openRequestPool(context, config.databaseReadUrl, 'replica')
  const replica = new ReadReplica({ pool, primary, log, ...(metrics && { hooks: metrics.replica }) })
  closers.push(() => replica.stop())
  return replica
}

/** On the sessions with which the API works on uploads, where this process serves it. */
async function startUploads(context: Context, parts: Parts, metrics: Hooks): Promise<Worker | undefined> {
  const { config, database, log, closers, stores } = context
  const deps = parts.api?.ingest ?? {
    pool: openWorkerPool(context, { max: READER_SESSIONS, purpose: 'reader' }),
    home: config.home,
    files: stores.uploads,
  }
  if (!parts.api) closers.push(retainDuck(spoolFolder(config.home)))
  const reader = await startReader(deps, {
    log,
    listenUrl: database.workerUrl,
    longRunningMs: config.workerLongRunning * 1000,
    ...(metrics && { hooks: metrics.worker }),
  })
  if (reader) closers.push(() => reader.stop())
  return reader
}

/** Nothing to watch where all bytes are files of this machine. */
async function watchSharedStores({
  config,
  database,
  log,
  closers,
  stores,
}: Context): Promise<StoreWatch | undefined> {
  if (stores.shared.length === 0) return undefined
  const watch = await withClient(
    database.workerUrl,
    (client) => watchStores(stores, config.cell, client, log),
    { role: 'dot_executor' },
  )
  closers.push(async () => watch.stop())
  return watch
}

async function startJobs(context: Context, role: JobsRole, metrics: Hooks): Promise<Worker> {
  const { config, database, log, closers } = context
  const concurrency = role.concurrency ?? config.workerConcurrency
  const pool = openWorkerPool(context, {
    max: config.workerPool ?? concurrency + CLAIM_SESSIONS,
    purpose: 'jobs',
    setting: 'STAGEDOOR_WORKER_POOL',
    ...(config.workerStatementTimeout > 0 && { statementTimeoutMs: config.workerStatementTimeout * 1000 }),
  })
  const worker = await startWorker({
    log,
    longRunningMs: config.workerLongRunning * 1000,
    ...(metrics && { hooks: metrics.worker }),
    ...role,
    concurrency,
    pool,
    listenUrl: database.workerUrl,
  })
  closers.push(() => worker.stop())
  return worker
}

/** On a session of its own: handlers that hold all of theirs do not delay events, and their time limit does not apply. */
function runDispatcher(context: Context, metrics: Hooks): Dispatcher {
  const pool = openWorkerPool(context, { max: DISPATCHER_SESSIONS, purpose: 'dispatcher' })
  const dispatcher = startDispatcher(pool, context.log, {
    wakeups: openWakeupsHere(context),
    ...(metrics && { onPass: metrics.onPass }),
  })
  context.closers.push(() => dispatcher.stop())
  return dispatcher
}

/** With a pool of its own: handlers may hold all other sessions, and their time limit does not apply. */
function runMaintenance(context: Context, parts: Parts, servesApi: boolean): Maintenance {
  const pool = openWorkerPool(context, { max: MAINTENANCE_SESSIONS, purpose: 'maintenance' })
  announceOtherHistory(pool, context.log)
  parts.process?.beat(pool)
  const tasks = maintenanceTasks(context, parts, pool, servesApi)
  const maintenance = startMaintenance(pool, tasks, context.log, openWakeupsHere(context))
  context.closers.push(() => maintenance.stop())
  return maintenance
}

/** The bus that all parts of this process share. */
function openWakeupsHere({ database, log, closers }: Context): Wakeups {
  const wakeups = openWakeups(database.workerUrl, log)
  closers.push(() => wakeups.close())
  return wakeups
}

/** Workers and engines announce it before they register again. A process that has none does it here, for executors elsewhere and for search. */
function announceOtherHistory(pool: Pool, log: Logger): void {
  watchHistory(pool, (change) => {
    retryWhileUnavailable(() => announceHistory(pool, log, change)).catch((error: unknown) =>
      log.error({ err: error }, 'the other history of the database could not be announced'),
    )
  })
}

/** Everything that the database needs from time to time. Any process may be the only one that ever runs, so each can do all. */
function maintenanceTasks(context: Context, parts: Parts, pool: Pool, servesApi: boolean): MaintenanceTask[] {
  const { config, database, stores } = context
  return [
    ...gateTasks,
    ...accessTasks,
    ...changeTasks,
    ...stagingTasksHere(context, parts, servesApi),
    ...ingestTasks(config.home),
    ...fileTasks(stores.uploads, () => parts.stores?.mayDelete() !== false, database.kind === 'embedded'),
    ...eventTasks,
    ...routeTasks,
    ...jobTasks,
    ...executionTasks(pool, {
      home: resultPlaces(stores, database).home,
      shared: () => (parts.stores?.mayDelete() ? stores.sharedResults?.store : undefined),
    }),
  ]
}

/**
 * Blobs on disk are files of the process that serves the API, or of the embedded server. A worker on another machine must not
 * take them out of the trash, because it cannot delete them; those in a shared store any process deletes. Files without a record are
 * deleted in shared stores, whose marker names this database, and on the embedded server: the same home may have been used with
 * another database of the user's before.
 */
function stagingTasksHere(
  { database, log, stores }: Context,
  parts: Parts,
  servesApi: boolean,
): MaintenanceTask[] {
  const isEmbedded = database.kind === 'embedded'
  const blobs = isEmbedded || servesApi ? stores.blobs : stores.sharedBlobs
  const orphansIn = isEmbedded ? stores.blobs : stores.sharedBlobs
  if (!blobs) return stagingTasks()
  const onDeleteFailed = (blobRef: string, error: unknown): void =>
    log.warn({ err: error, blob_ref: blobRef }, 'a blob could not be deleted')
  return stagingTasks(blobs, { onDeleteFailed, orphansIn })
    .filter(({ name }) => orphansIn !== undefined || name !== ORPHANS)
    .map((task) => (deletesBlobs(task) ? { ...task, run: whileAllowed(task, parts) } : task))
}

function deletesBlobs({ name }: MaintenanceTask): boolean {
  return name === ORPHANS || name === TRASH
}

/** Not where a shared store cannot be used, or belongs to another database. */
function whileAllowed(task: MaintenanceTask, parts: Parts): MaintenanceTask['run'] {
  return async (client) => (parts.stores?.mayDelete() === false ? undefined : task.run(client))
}

/** The engine and its tools have pools of their own: tools that hold all of theirs hold up neither the engine nor the process. */
async function startPlaybooks(
  context: Context,
  { handlers, tools: moreTools, ...role }: EngineWorkOptions,
  metrics: Hooks,
): Promise<RunningPlaybooks> {
  const { config, database, log, closers, stores } = context
  const pool = openWorkerPool(context, { max: ENGINE_SESSIONS, purpose: 'executions' })
  const toolPool = openWorkerPool(context, { max: TOOL_SESSIONS, purpose: 'tools' })
  const ingest = ingestLibrary({
    pool: toolPool,
    home: config.home,
    files: stores.uploads,
    service: (work) => inTransaction(toolPool, work, SERVICE_ROLE),
    admin: () => Promise.reject(new Error('a playbook registers no dataset')),
  })
  closers.push(() => ingest.close())
  const runtime = createPlaybookRuntime({
    config,
    database,
    pool,
    toolPool,
    ingest,
    ...(handlers && { handlers }),
    ...blobProof(database, stores),
    stores,
  })
  closers.push(() => runtime.close())
  const lag = watchLag(role.hooks ?? metrics?.engine ?? {})
  const engine = await startEngine({
    log,
    ...(config.handlerGrace > 0 && { handlerGraceMs: config.handlerGrace * 1000 }),
    ...role,
    hooks: lag.hooks,
    pool,
    listenUrl: database.workerUrl,
    tools: { ...runtime.tools, ...moreTools },
    results: runtime.results,
  })
  closers.push(() => engine.stop())
  return { engine, runtime, health: () => [engine.health(), lag.health()] }
}

/** With a pool of its own: what remote workers run must not wait for what handlers of this process do. Undefined without NATS_URL. */
async function runGateway(context: Context, parts: Parts, metrics: Hooks): Promise<Gateway | undefined> {
  const { config, database, log, closers } = context
  const { nats } = parts
  if (nats === undefined) return undefined
  const onCommandEnd = metrics?.engine.onCommandEnd
  // The lag of the projection is that of the engine that drives.
  const engineHooks: EngineHooks = onCommandEnd === undefined ? {} : { onCommandEnd }
  const gateway = await startGateway({
    nats,
    log,
    pool: openWorkerPool(context, { max: GATEWAY_SESSIONS, purpose: 'gateway' }),
    listenUrl: database.workerUrl,
    process: parts.process!.id,
    longRunningMs: config.workerLongRunning * 1000,
    ...(metrics && { metrics }),
    ...(parts.playbooks && { playbooks: { ...parts.playbooks.runtime, hooks: engineHooks } }),
  })
  closers.push(() => gateway.stop())
  return gateway
}

/** How far the projection of executions is behind their logs. */
function watchLag(hooks: EngineHooks): { hooks: EngineHooks; health(): HealthCheck } {
  let lagMs = 0
  return {
    hooks: {
      ...hooks,
      onLag(now) {
        lagMs = now
        hooks.onLag?.(now)
      },
    },
    health: () => ({
      name: 'projection',
      ok: lagMs < MAX_PROJECTION_LAG_MS,
      detail:
        lagMs < 1_000
          ? 'the execution view is up to date'
          : `the execution view is ${Math.round(lagMs / 1000)} s behind`,
    }),
  }
}
