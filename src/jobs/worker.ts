/** Runs jobs: claims ahead, calls handlers, writes what became of them; survives restarts of the database and lost leases. */
import { hostname } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import pino, { type Logger } from 'pino'
import { type Pool, reserveSessions } from '../db/connection.ts'
import { mapConnectionError } from '../db/database-error.ts'
import type { HealthCheck } from '../db/health.ts'
import { harmless } from '../db/hooks.ts'
import { KeptConnection } from '../db/kept-connection.ts'
import { type Listener, listen } from '../db/listen.ts'
import { Repeating } from '../db/repeating.ts'
import { isConnectionError } from '../db/transient.ts'
import { Wake } from '../db/wake.ts'
import { StagedoorError } from '../errors.ts'
import { describe } from './calls.ts'
import { PATIENCE_MS } from './claim-ahead.ts'
import { Claims } from './claims.ts'
import { type JobHandlers, largestCall } from './handlers.ts'
import { KindSettingsInUse } from './kind-settings.ts'
import { Lanes } from './lanes.ts'
import { DEFAULT_LEASE_MS, isSuspectDue, reapJobs } from './lease.ts'
import { isLeaseLost } from './lease-lost.ts'
import type { WorkerHooks } from './metrics.ts'
import { type Scheduler, startScheduler } from './scheduler.ts'
import { WorkerLease } from './worker-lease.ts'

export interface WorkerOptions {
  /**
   * Sessions as dot_executor, for claims and for the handlers' transactions: give it `concurrency` + 2, and more where handlers
   * open transactions inside a transaction. Heartbeats and completions have two more sessions of their own.
   */
  readonly pool: Pool
  /** A direct connection, for notices of new jobs. Without it they are found by polling alone. */
  readonly listenUrl?: string
  readonly handlers: JobHandlers
  readonly executor?: string
  /** Shown to people; default: host and process. */
  readonly name?: string
  /** Handler calls at once; default 10. */
  readonly concurrency?: number
  /**
   * Jobs a claim at most; default 100, or what the largest batch handler takes. Never more than `concurrency` + `batch` run or
   * wait to run, and no more than another `batch` are done and not written yet.
   */
  readonly batch?: number
  /** After this long without a heartbeat its jobs go to others; default 6 s. */
  readonly leaseMs?: number
  /** How often to look without a notice; default 500. */
  readonly pollMs?: number
  /** How long running handlers may take to end when the worker stops; default 30 s. */
  readonly shutdownMs?: number
  /** A handler that runs for longer is reported, in the log and in health; default 10 minutes. */
  readonly longRunningMs?: number
  /** False: this worker fires no schedules. */
  readonly schedules?: boolean
  readonly log?: Logger
  readonly hooks?: WorkerHooks
}

export interface Worker {
  /** Its registration; another one after a lost lease. */
  readonly id: string
  health(): HealthCheck
  /** Begins nothing new, lets what runs end, and leaves. The same promise however often it is called. */
  stop(): Promise<void>
  /**
   * The process is about to end because of this error, for example a rejection that nobody handled: names the jobs in hand, gives
   * back what has not begun, and charges what had. Never throws.
   */
  crash(error: unknown): Promise<void>
}

const RETRY_MS = 100
const LONGEST_RETRY_MS = 2000
const REAP_MS = 1000
const KINDS_MS = 10_000
const STOP_GRACE_MS = 5000
/** Heartbeats, and what is written about jobs. */
const RESERVED = 2
/** What runs gets so long to end before a job with a crash behind it runs beside it. */
const EMPTY_HANDS_MS = 5000
const LOOK_AGAIN_MS = 10_000
const LONG_RUNNING_MS = 600_000
/** The database takes no larger claim. */
const LARGEST_BATCH = 10_000

/** Throws when the database cannot be reached or refuses; later the worker goes on by itself. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  requireSane(options)
  const worker = new RunningWorker(options)
  await worker.start()
  return worker
}

function requireSane({ handlers, concurrency = 10, batch = 100 }: WorkerOptions): void {
  const reason =
    Object.keys(handlers).length === 0
      ? 'A worker needs a handler for at least one kind of job'
      : !Number.isInteger(concurrency) || concurrency < 1
        ? 'concurrency is a whole number from 1'
        : !Number.isInteger(batch) || batch < 1 || batch > LARGEST_BATCH
          ? `batch is a whole number from 1 to ${LARGEST_BATCH}`
          : undefined
  if (reason !== undefined) throw new StagedoorError('argument_invalid', { reason })
}

class RunningWorker implements Worker {
  private readonly options: WorkerOptions
  private readonly log: Logger
  private readonly hooks: WorkerHooks
  private readonly leaseMs: number
  private readonly concurrency: number
  private readonly batch: number
  /** Run, wait to run, or done and not written. */
  private readonly mostHeld: number
  private readonly reserved: Pool
  private readonly kept: KeptConnection
  private readonly claims: Claims
  private readonly lanes: Lanes
  private readonly kinds: KindSettingsInUse
  private readonly wake = new Wake()
  private readonly errands: Repeating
  private lease!: WorkerLease
  private listener: Listener | undefined
  private scheduler: Scheduler | undefined
  private loop: Promise<void> = Promise.resolve()
  /** The last claim was full. */
  private hasMore = false
  private lastWasSuspect = false
  /** Since when nothing is claimed, because a job with a crash behind it waits. */
  private emptyHandsSince: number | undefined
  private lookAgainAt = 0
  private longRunning: readonly string[] = []
  private trouble: string | undefined
  private stopping = false
  private stopped: Promise<void> | undefined

  constructor(options: WorkerOptions) {
    const { pool, handlers } = options
    this.options = options
    this.concurrency = options.concurrency ?? 10
    this.batch = options.batch ?? Math.min(LARGEST_BATCH, Math.max(100, largestCall(handlers)))
    this.mostHeld = this.concurrency * largestCall(handlers) + 2 * this.batch
    this.log = options.log ?? pino({ level: 'silent' })
    this.errands = new Repeating(this.log)
    this.hooks = harmless(options.hooks ?? {}, this.log)
    this.leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS
    this.reserved = reserveSessions(pool, RESERVED)
    this.kept = new KeptConnection(this.reserved, this.leaseMs / 2)
    this.kinds = new KindSettingsInUse(pool, Object.keys(handlers))
    this.claims = new Claims(pool, this.log, this.hooks)
    this.lanes = new Lanes({
      pool,
      handlers,
      concurrency: this.concurrency,
      batch: this.batch,
      log: this.log,
      hooks: this.hooks,
      kinds: this.kinds,
      freed: () => {
        if (this.hasMore && this.room() > 0) this.wake.now()
      },
    })
  }

  get id(): string {
    return this.lease.worker
  }

  async start(): Promise<void> {
    try {
      this.lease = await this.takeLease()
      await this.kinds.read()
    } catch (error) {
      await this.lease?.leave()
      await this.close()
      throw mapConnectionError(error)
    }
    // At once, too: where workers die young nobody else may come to it.
    await this.reap().catch((error) => this.log.debug({ err: error }, 'tried again in a moment'))
    this.errands.every(REAP_MS, () => this.reap())
    this.errands.every(REAP_MS, () => this.lookForSuspects())
    this.errands.every(REAP_MS, async () => this.reportLongRunning())
    this.errands.every(KINDS_MS, () => this.kinds.read())
    this.errands.every(PATIENCE_MS / 2, async () => this.lanes.giveBackWaiting())
    this.listener = this.startListening()
    this.scheduler = this.startScheduling()
    this.loop = this.claimUntilStopped()
  }

  health(): HealthCheck {
    const ok = !this.stopping && !this.lease.over && this.trouble === undefined
    const long =
      this.longRunning.length === 0 ? '' : `; running for long: ${this.longRunning.slice(0, 10).join(', ')}`
    const detail = this.stopping ? 'stopping' : (this.trouble ?? `${this.lanes.detail}${long}`)
    return { name: 'jobs', ok, detail }
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown()
    return this.stopped
  }

  async crash(error: unknown): Promise<void> {
    this.stopping = true
    this.wake.now()
    this.errands.stop()
    const waiting = this.lanes.abandon()
    const jobs = [...this.lease.calls].flatMap((call) =>
      call.jobs.map(({ job_id, job_kind }) => `${job_kind} ${job_id}`),
    )
    const reason = `the worker's process ended by an error outside its handlers: ${describe(error)}`
    this.log.fatal({ jobs, reason }, 'the process ends; one of these jobs may be the cause')
    await this.lease.crash(reason, waiting).catch((failure: Error) => {
      this.log.error({ reason: failure.message }, 'the lease could not be given back; it passes by itself')
    })
  }

  /** A handler without end occupies its lane for as long: somebody should know. */
  private reportLongRunning(): void {
    const limitMs = this.options.longRunningMs ?? LONG_RUNNING_MS
    const now = performance.now()
    const long = [...this.lease.calls].filter((call) => now - call.beganAt > limitMs)
    this.longRunning = long.flatMap((call) => call.jobs.map(({ job_id }) => job_id))
    for (const call of long) {
      if (call.reported) continue
      call.reported = true
      for (const { job_id, job_kind } of call.jobs)
        this.log.warn(
          { job_id, job_kind, running_s: Math.round((now - call.beganAt) / 1000) },
          'a job has been running for long; a timeout of its kind would end it (stagedoor job kind set)',
        )
    }
  }

  private async shutDown(): Promise<void> {
    this.stopping = true
    this.wake.now()
    this.errands.stop()
    await this.scheduler?.stop()
    await this.loop
    await this.lanes.close(this.options.shutdownMs ?? 30_000, STOP_GRACE_MS)
    await this.lease.settled()
    await this.lease.leave()
    await this.listener?.stop()
    await this.close()
  }

  private async close(): Promise<void> {
    await this.kept.release()
    await this.reserved.end()
  }

  private async claimUntilStopped(): Promise<void> {
    for (let retryMs = RETRY_MS; !this.stopping; ) {
      try {
        await this.claimOnce()
        retryMs = RETRY_MS
        this.trouble = undefined
      } catch (error) {
        this.trouble = (error as Error).message
        const level = isConnectionError(error) ? 'warn' : 'error'
        this.log[level]({ err: error }, 'no jobs could be claimed; trying again')
        await this.wake.wait(retryMs * (0.5 + Math.random()))
        retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
      }
    }
  }

  private async claimOnce(): Promise<void> {
    if (this.lease.over) await this.registerAgain()
    const { lease } = this
    // Handlers that end at once have ended by then: one large claim instead of two of half the size.
    await setImmediate()
    const room = this.room()
    if (room === 0) {
      this.hasMore = true
      return this.wake.wait(lease.aloneForMs ?? (this.emptyingForMs || undefined))
    }
    const takesSuspect = this.takesSuspect(lease)
    const jobs = await this.claims.next(lease, room, this.lanes.beginning, takesSuspect ? 0 : lease.size + 1)
    const isSuspect = (jobs[0]?.crashes ?? 0) > 0
    this.hasMore = jobs.length === room || isSuspect
    if (takesSuspect) this.emptyHandsSince = undefined
    this.lastWasSuspect = isSuspect
    this.lanes.begin(lease, jobs, jobs.length === room)
    if (!takesSuspect && lease.size === 0) return // Then perhaps a suspect.
    if (this.hasMore) {
      if (lease.idle) lease.work()
    } else if (this.listener?.connected && !lease.idle && !lease.over) {
      await this.rest(lease)
    } else {
      await this.wake.wait(this.options.pollMs ?? 500)
    }
  }

  /**
   * A job with a crash behind it is claimed with empty hands; by a worker whose other jobs do not end, with a free lane and
   * nothing claimed ahead. After one of them the others have their turn.
   */
  private takesSuspect(lease: WorkerLease): boolean {
    if (this.emptyHandsSince !== undefined) return true
    return lease.size === 0 && !this.lastWasSuspect
  }

  /** How long it still waits for its hands to be empty; undefined: it does not. */
  private get emptyingForMs(): number | undefined {
    if (this.emptyHandsSince === undefined) return undefined
    return Math.max(0, this.emptyHandsSince + EMPTY_HANDS_MS - performance.now())
  }

  /** Now and then: a suspect that waits must not wait for ever because this worker is always busy. */
  private async lookForSuspects(): Promise<void> {
    const { lease } = this
    if (lease.over || lease.size === 0 || lease.aloneForMs !== undefined) return
    if (this.emptyHandsSince !== undefined || performance.now() < this.lookAgainAt) return
    if (!(await isSuspectDue(this.options.pool, lease.worker))) return
    this.emptyHandsSince = performance.now()
    this.lookAgainAt = performance.now() + LOOK_AGAIN_MS
    this.wake.now()
  }

  /** Where completions come through slowly nothing more is begun: what is done and not written would be done again. */
  private room(): number {
    if (this.lease.aloneForMs !== undefined) return 0
    if (this.emptyHandsSince !== undefined && this.lease.size > 0) {
      return this.emptyingForMs === 0 && this.lanes.hasFreeLane ? 1 : 0
    }
    const left = this.mostHeld - this.lease.size
    return left < this.batch / 2 ? 0 : Math.min(this.lanes.room(), left)
  }

  /** From now on an enqueue gives notice; what came just before is found by the claim that follows. */
  private async rest(lease: WorkerLease): Promise<void> {
    try {
      await lease.rest()
    } catch (error) {
      if (!isLeaseLost(error)) throw error
      lease.lose('the database says so')
    }
  }

  private takeLease(): Promise<WorkerLease> {
    const { pool, handlers, executor = 'PG_worker', name = `${hostname()} ${process.pid}` } = this.options
    return WorkerLease.take({
      pool,
      reserved: this.reserved,
      kept: this.kept,
      terms: { executor, kinds: Object.keys(handlers), name, leaseMs: this.leaseMs },
      log: this.log,
      hooks: this.hooks,
      lost: () => {
        this.lanes.forgetWaiting()
        this.wake.now()
      },
      cancelled: (lease, ids) => this.lanes.cancel(lease, ids),
      written: () => {
        if (this.kinds.limited || this.hasMore) this.wake.now()
      },
    })
  }

  private async registerAgain(): Promise<void> {
    this.lease = await this.takeLease()
    this.claims.reset()
    this.log.info({ worker: this.lease.worker }, 'registered again')
  }

  private startListening(): Listener | undefined {
    const { listenUrl, handlers } = this.options
    if (listenUrl === undefined) return undefined
    return listen({
      url: listenUrl,
      channels: ['stagedoor_jobs'],
      log: this.log,
      heard: (kind) => {
        if (kind === '' || kind in handlers) this.wake.now()
      },
      connected: () => {
        this.lease.forgetIdle()
        this.wake.now()
      },
    })
  }

  private startScheduling(): Scheduler | undefined {
    if (this.options.schedules === false) return undefined
    return startScheduler(this.options.pool, {
      log: this.log,
      fired: (schedule) => {
        this.hooks.fired?.(schedule)
        this.wake.now()
      },
    })
  }

  private async reap(): Promise<void> {
    const reaped = await reapJobs(this.options.pool)
    if (reaped === 0) return
    this.log.info({ jobs: reaped }, 'jobs of workers that died are back in the queue')
    this.hooks.reaped?.(reaped)
    this.wake.now()
  }
}
