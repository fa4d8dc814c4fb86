/**
 * A gateway: holds leases for workers that have no database. For each set of handlers that such workers offer (a pool) it runs a job worker
 * whose handlers are calls to them; a second one, only when needed, for jobs that have killed a worker before; and a run-only engine for
 * steps and items of playbooks.
 */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { type EngineHooks, type GatewayEngine, startGatewayEngine } from '../executions/engine/engine.ts'
import type { ResultStore } from '../executions/results.ts'
import type { Tools } from '../executions/tools/tool.ts'
import { READING_KIND } from '../ingest/reading.ts'
import { builtInKinds } from '../jobs/built-in-kinds.ts'
import { adoptedJobHandler, enqueueForCall, jobRefsOf, remoteJobHandler } from '../jobs/remote.ts'
import { type LeasingWorker, startWorker } from '../jobs/worker.ts'
import { UUID } from '../kernel/ids.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { systemIdentifier } from '../kernel/postgres/history.ts'
import { VERSION } from '../kernel/version.ts'
import type { Nats } from '../runtime/nats.ts'
import { PeriodicTasks } from '../runtime/periodic-tasks.ts'
import type { ResumeCall } from '../runtime/remote/calls.ts'
import { RemoteGateway, type RemotePool } from '../runtime/remote/gateway.ts'
import type { HeldCall } from '../runtime/remote/protocol.ts'
import { SharedSlots } from '../runtime/remote/shared-slots.ts'
import { retryWhileUnavailable } from '../runtime/retry.ts'
import { openWakeups, type Wakeups } from '../runtime/wakeups.ts'
import type { Metrics } from './metrics.ts'

export interface Gateway {
  /** A token of its subjects. */
  readonly id: string
  health(): HealthCheck[]
  crash(error: unknown): Promise<void>
  /** Its workers go to another gateway with what they run; where there is none, what they run may end first. */
  stop(): Promise<void>
}

interface GatewayOptions {
  readonly nats: Nats
  /** As dot_executor. */
  readonly pool: Pool
  readonly listenUrl: string
  readonly log: Logger
  /** Its registration among the processes. */
  readonly process: string
  readonly longRunningMs?: number
  readonly shutdownMs?: number
  readonly metrics?: Pick<Metrics, 'worker' | 'gateway'>
  /** What steps of playbooks need beside their handlers. Undefined: remote workers run no steps. */
  readonly playbooks?: {
    readonly tools: Omit<Tools, 'handler'>
    readonly results: ResultStore
    readonly hooks?: EngineHooks
  }
}

/** Kinds that direct workers run with the rights of Stagedoor. */
const BUILT_IN: ReadonlySet<string> = new Set([...builtInKinds(), READING_KIND])
const WRITE_MS = 5000
/** Jobs a claim, at most: a gateway serves many workers. */
const MAX_CLAIM = 500
/** See docs/decisions/0020-wake-ups.md. */
const LINGER_MS = 4
const SUSPECT_POLL_MS = 5000
/** A worker for suspects that found none for so long ends. */
const SUSPECT_IDLE_MS = 10_000

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { nats, log, pool, metrics } = options
  const database = await digestOf(pool)
  const wakeups = openWakeups(options.listenUrl, log)
  const pools = new Map<RemotePool, PoolWorkers>()
  const isOwnLease = (lease: string) => [...pools.values()].some(({ leases }) => leases.includes(lease))
  const tasks = new PeriodicTasks(log)
  const remote = new RemoteGateway({
    nats,
    log,
    version: VERSION,
    database,
    openPool(opened) {
      pools.set(opened, new PoolWorkers(opened, options, isOwnLease))
    },
    closePool(closed) {
      const workers = pools.get(closed)
      pools.delete(closed)
      workers?.stop().catch((error: unknown) => log.error({ err: error }, 'could not stop cleanly'))
    },
    adopt: (opened, held, resume) => pools.get(opened)!.adopt(held, resume),
    async enqueue(call, from, job) {
      const id = await enqueueForCall(pool, call, from, job, BUILT_IN)
      wakeups.tell('jobs', typeof job.job_kind === 'string' ? job.job_kind : '')
      return id
    },
    ...(metrics && { hooks: metrics.gateway }),
  })
  metrics?.gateway.watch(() => remote.state)
  const registry = new WorkerRegistry(pool, options.process)
  tasks.every(WRITE_MS, () => registry.write(remote.state.workers))
  let stopped: Promise<void> | undefined
  return {
    id: remote.id,
    // NATS itself is checked where details are shown: without it work is only delayed.
    health: () => [remote.health(), ...[...pools.values()].flatMap((one) => one.health())],
    async crash(error) {
      // They go to another gateway at once.
      remote.drain()
      await Promise.all([...pools.values()].map((one) => one.crash(error)))
    },
    stop() {
      stopped ??= (async () => {
        remote.drain()
        await Promise.all([...pools.values()].map((one) => one.stop()))
        remote.stop()
        metrics?.gateway.watch(undefined)
        await tasks.stop()
        await registry.write([]).catch(() => {})
        await wakeups.close()
      })()
      return stopped
    },
  }
}

/** Which database this is: gateways of two databases must not share subjects. */
async function digestOf(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ oid: string }>(
    'select oid::text from pg_database where datname = current_database()',
  )
  const system = (await systemIdentifier(pool)) ?? 'unknown'
  return createHash('sha256').update(`${system} ${rows[0]!.oid}`).digest('hex').slice(0, 16)
}

/** The lease holders of one pool. */
class PoolWorkers {
  private readonly remote: RemotePool
  private readonly isOwnLease: (lease: string) => boolean
  private readonly options: GatewayOptions
  private readonly wakeups: Wakeups
  private readonly kinds: readonly { readonly name: string; readonly batch: number }[]
  private readonly tasks: PeriodicTasks
  private readonly main: Promise<LeasingWorker | undefined>
  /** Names of the handlers of playbooks. */
  private readonly handlers: readonly string[]
  private readonly slots: SharedSlots
  private readonly engine: Promise<GatewayEngine | undefined>
  private runningEngine: GatewayEngine | undefined
  private readonly undo: (() => void)[] = []
  private running: LeasingWorker | undefined
  private suspects: Promise<LeasingWorker> | undefined
  private runningSuspects: LeasingWorker | undefined
  private suspectsBusyAt = 0
  private suspectsRunning = 0
  private stopping = false

  /** `isOwnLease`: of this gateway. What it does not know of its own leases runs elsewhere by now, or in another session. */
  constructor(remote: RemotePool, options: GatewayOptions, isOwnLease: (lease: string) => boolean) {
    this.remote = remote
    this.options = options
    this.isOwnLease = isOwnLease
    // Of its own: with it its questions end.
    this.wakeups = openWakeups(options.listenUrl, options.log)
    this.kinds = remote.handlers.filter(({ what }) => what === 'job')
    this.handlers = remote.handlers.filter(({ what }) => what === 'item').map(({ name }) => name)
    this.slots = new SharedSlots(remote)
    this.tasks = new PeriodicTasks(options.log)
    this.main = this.start().catch((error: unknown) => {
      options.log.error({ err: error, kinds: this.names }, 'remote workers of these kinds get no jobs')
      return undefined
    })
    this.engine = this.startEngine().catch((error: unknown) => {
      options.log.error(
        { err: error, handlers: this.handlers },
        'remote workers with these handlers get no steps',
      )
      return undefined
    })
    this.watchSuspects()
  }

  health(): HealthCheck[] {
    return [
      { name: 'gateway_jobs', check: this.running?.health() },
      { name: 'gateway_executions', check: this.runningEngine?.health() },
    ].flatMap(({ name, check }) => (check === undefined || check.ok ? [] : [{ ...check, name }]))
  }

  async crash(error: unknown): Promise<void> {
    await Promise.all([
      this.running?.crash(error),
      this.runningEngine?.crash(error),
      this.suspects?.then(
        (worker) => worker.crash(error),
        () => {},
      ),
    ])
  }

  async adopt(held: readonly HeldCall[], resume: ResumeCall): Promise<void> {
    const counted: ResumeCall = (call, signal) => this.slots.count(call, () => resume(call, signal))
    await Promise.all([this.adoptJobs(held, counted), this.adoptSteps(held, counted)])
  }

  private async adoptSteps(held: readonly HeldCall[], resume: ResumeCall): Promise<void> {
    if (this.handlers.length === 0 || this.options.playbooks === undefined) return
    const leases = new Map<string, HeldCall['refs'][number][]>()
    for (const { what, lease, refs } of held)
      if (what === 'item' && UUID.test(lease) && !this.isOwnLease(lease))
        leases.set(lease, [...(leases.get(lease) ?? []), ...refs])
    if (leases.size === 0) return
    const engine = await this.engine
    if (engine === undefined || this.stopping) throw cannotSay()
    for (const [lease, refs] of leases) await engine.adopt(lease, refs, resume)
  }

  private async adoptJobs(held: readonly HeldCall[], resume: ResumeCall): Promise<void> {
    if (this.kinds.length === 0) return
    const leases = new Map<string, HeldCall[]>()
    for (const one of held) {
      if (one.what !== 'job' || !UUID.test(one.lease) || this.isOwnLease(one.lease)) continue
      if (!one.refs.every(({ id }) => UUID.test(id))) continue
      leases.set(one.lease, [...(leases.get(one.lease) ?? []), one])
    }
    if (leases.size === 0) return
    const main = await this.main
    if (main === undefined || this.stopping) throw cannotSay()
    for (const [lease, calls] of leases) {
      for (const alone of [false, true]) {
        const some = calls.filter((one) => one.alone === alone)
        if (some.length === 0) continue
        const worker = alone ? await this.startSuspects() : main
        await worker.adopt(
          lease,
          some.map((one) => ({
            jobs: jobRefsOf(one.refs),
            handler: adoptedJobHandler(this.remote, one, resume),
          })),
        )
      }
    }
  }

  async stop(): Promise<void> {
    this.stopping = true
    for (const undo of this.undo.splice(0)) undo()
    await this.tasks.stop()
    const [main, engine] = await Promise.all([this.main, this.engine])
    await Promise.all([main?.stop(), engine?.stop(), this.suspects?.then((worker) => worker.stop())])
    await this.wakeups.close()
  }

  /** The registrations that hold leases here. */
  get leases(): string[] {
    return [this.running, this.runningEngine, this.runningSuspects].flatMap((one) => one?.id ?? [])
  }

  private get names(): string[] {
    return this.kinds.map(({ name }) => name)
  }

  private async start(): Promise<LeasingWorker | undefined> {
    if (this.kinds.length === 0) return undefined
    const worker = await retryWhileUnavailable(() =>
      startWorker({
        ...this.workerOptions(false),
        concurrency: () => this.slots.of('job').slots,
        suspects: 'none',
        listenUrl: this.options.listenUrl,
      }),
    )
    this.running = worker
    this.undo.push(this.slots.of('job').onSlots(() => worker.concurrencyChanged()))
    worker.concurrencyChanged()
    if (this.stopping) await worker.stop()
    return worker
  }

  private async startEngine(): Promise<GatewayEngine | undefined> {
    const { pool, log, listenUrl, playbooks, shutdownMs } = this.options
    if (this.handlers.length === 0) return undefined
    if (playbooks === undefined) {
      log.warn(
        { handlers: this.handlers },
        'this server was started with --no-playbooks: remote workers with these handlers get no steps of playbooks',
      )
      return undefined
    }
    const { tools, results, hooks } = playbooks
    const engine = await retryWhileUnavailable(() =>
      startGatewayEngine({
        ...{ pool, log, listenUrl, tools, results },
        name: `${hostname()} ${process.pid} gateway`,
        handlers: this.handlers,
        remote: this.slots.of('item'),
        ...(hooks && { hooks }),
        ...(shutdownMs !== undefined && { shutdownMs }),
      }),
    )
    this.runningEngine = engine
    if (this.stopping) await engine.stop()
    return engine
  }

  private workerOptions(alone: boolean) {
    const { pool, log, metrics, longRunningMs, shutdownMs } = this.options
    return {
      pool,
      log,
      executor: this.remote.executor,
      name: `${hostname()} ${process.pid} gateway${alone ? ' suspects' : ''}`,
      handlers: Object.fromEntries(
        this.kinds.map(({ name, batch }) => [name, remoteJobHandler(this.slots.of('job'), { batch, alone })]),
      ),
      remote: true,
      prefetch: 0,
      lingerMs: LINGER_MS,
      batch: MAX_CLAIM,
      schedules: false,
      ...(longRunningMs !== undefined && { longRunningMs }),
      ...(shutdownMs !== undefined && { shutdownMs }),
      hooks: {
        ...metrics?.worker,
        onClaim: (jobs: number, ms: number) => {
          metrics?.worker.onClaim?.(jobs, ms)
          metrics?.gateway.onClaim(jobs)
        },
      },
    }
  }

  /** Jobs that have killed a worker must not stall the others: a registration of their own runs them one at a time. */
  private watchSuspects(): void {
    if (this.kinds.length === 0) return
    const isWanted = () => !this.stopping && this.remote.workers > 0 && this.suspects === undefined
    this.wakeups.ask({
      sql: 'iu_core.fn_job_suspect_due_in(?, ?)',
      values: () => (isWanted() ? [this.names, this.remote.executor] : undefined),
      onDue: () => {
        if (isWanted()) this.startSuspects().catch(() => {})
      },
    })
    this.tasks.every(SUSPECT_POLL_MS, async () => {
      if (this.wakeups.works || !isWanted()) return
      const { rows } = await this.options.pool.query<{ ms: number | null }>(
        'select iu_core.fn_job_suspect_due_in($1, $2) as ms',
        [this.names, this.remote.executor],
      )
      if (rows[0]!.ms === 0) await this.startSuspects()
    })
    this.tasks.every(1000, () => this.stopIdleSuspects())
  }

  private startSuspects(): Promise<LeasingWorker> {
    if (this.suspects) return this.suspects
    const options = this.workerOptions(true)
    this.suspectsBusyAt = performance.now()
    const starting = startWorker({
      ...options,
      concurrency: () => Math.min(1, this.remote.workers),
      suspects: 'only',
      hooks: {
        ...options.hooks,
        onCallBegin: () => {
          this.suspectsRunning++
        },
        onCallEnd: (...end) => {
          this.suspectsRunning--
          this.suspectsBusyAt = performance.now()
          this.options.metrics?.worker.onCallEnd?.(...end)
        },
      },
    })
    this.suspects = starting
    starting.then(
      (worker) => {
        this.runningSuspects = worker
      },
      (error: unknown) => {
        this.options.log.warn({ err: error }, 'jobs that killed a worker have to wait')
        if (this.suspects === starting) this.suspects = undefined
      },
    )
    return starting
  }

  private async stopIdleSuspects(): Promise<void> {
    const { suspects } = this
    const isIdle = this.suspectsRunning === 0 && performance.now() - this.suspectsBusyAt > SUSPECT_IDLE_MS
    if (suspects === undefined || !isIdle) return
    // At once: nothing is adopted by one that is being stopped.
    this.suspects = undefined
    const worker = await suspects
    await worker.stop()
  }
}

/** Another gateway may have an answer, or this one later. */
function cannotSay(): Error {
  return new Error('this gateway holds no leases for these handlers just now')
}

/** What `stagedoor worker list` and the console show. */
class WorkerRegistry {
  private readonly pool: Pool
  private readonly process: string
  private wrote = 0

  constructor(pool: Pool, process: string) {
    this.pool = pool
    this.process = process
  }

  async write(workers: readonly object[]): Promise<void> {
    if (workers.length === 0 && this.wrote === 0) return
    await this.pool.query('select iu_core.fn_remote_workers_write($1, $2)', [
      this.process,
      JSON.stringify(workers),
    ])
    this.wrote = workers.length
  }
}
