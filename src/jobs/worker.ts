/** Runs jobs: prefetches them, calls their handlers and reports the outcomes. It survives restarts of the database and lost leases. */
import { hostname } from 'node:os'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import pino, { type Logger } from 'pino'
import { StagedoorError } from '../kernel/errors.ts'
import {
  DedicatedConnection,
  type Pool,
  reserveSessions,
  watchHistory,
} from '../kernel/postgres/connection.ts'
import { isConnectionError, mapConnectionError } from '../kernel/postgres/errors.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { announceHistory, OTHER_HISTORY, type OtherHistory } from '../kernel/postgres/history.ts'
import { guardHooks } from '../runtime/hooks.ts'
import { DEFAULT_LEASE_MS, LEASE_REFUSED } from '../runtime/lease.ts'
import { PeriodicTasks } from '../runtime/periodic-tasks.ts'
import { MAX_PREFETCH_WAIT_MS } from '../runtime/prefetch.ts'
import { Wake } from '../runtime/wake.ts'
import { openWakeups, type Wakeups } from '../runtime/wakeups.ts'
import { Claims } from './claims.ts'
import { errorText, JobExecutor, type KindSettings } from './executor.ts'
import { maxJobsPerCall, type OutcomeHandler, type WorkerHandlers } from './handlers.ts'
import { isLeaseLost, isSuspectDue, reapJobs, WorkerLease } from './lease.ts'
import type { Job } from './queue.ts'
import { SCHEDULE_DUE_SQL, type Scheduler, startScheduler } from './schedules.ts'
import type { ClaimedJob, JobRef, WorkerHooks } from './worker-types.ts'

export interface WorkerOptions {
  /**
   * Sessions as dot_executor, for claims and for the handlers' transactions: give it `concurrency` + 2, and more where handlers
   * open transactions inside a transaction. Heartbeats and completions have two more sessions of their own.
   */
  readonly pool: Pool
  /**
   * A direct connection for wake-ups, one session for everything of this process that names the same. Without it new jobs are found by
   * polling alone.
   */
  readonly listenUrl?: string
  readonly handlers: WorkerHandlers
  readonly executor?: string
  /** Shown to people; default: host and process. */
  readonly name?: string
  /** Handler calls at once; default 10. A function is asked whenever it matters; `concurrencyChanged` says that it has another answer. */
  readonly concurrency?: number | (() => number)
  /** Jobs that it holds beyond those that run, at most; default `batch`. 0: it claims only what can begin at once. */
  readonly prefetch?: number
  /** While more jobs wait than it has room for, a claim for few free slots waits so long for more of them; default 0. */
  readonly lingerMs?: number
  /** Jobs with a crash behind them: with the others (`too`, the default), none of them, or `only` them, one at a time. */
  readonly suspects?: 'too' | 'none' | 'only'
  /**
   * Jobs a claim at most; default 100, or what the largest batch handler takes. Never more than `concurrency` + `batch` run or
   * wait to run, and no more than another `batch` are done and not reported yet; of both, another `batch` where jobs are so short that
   * the next claim is under way before the last one is answered.
   */
  readonly batch?: number
  /** After this long without a heartbeat its jobs go to others; default 6 s. */
  readonly leaseMs?: number
  /** How often to poll without a wake-up; default 500 while wake-ups do not work, and as the process polls (wakeups.ts) while they do. */
  readonly pollMs?: number
  /** How long running handlers may take to end when the worker stops; default 30 s. */
  readonly shutdownMs?: number
  /** A handler that runs for longer is reported, in the log and in health; default 10 minutes. */
  readonly longRunningMs?: number
  /** The handlers run in other processes, which outlive this one: when it crashes, what they run stays leased until they are adopted or the lease ends. */
  readonly remote?: boolean
  /** False: this worker fires no schedules. */
  readonly schedules?: boolean
  readonly log?: Logger
  readonly hooks?: WorkerHooks
}

export interface Worker {
  /** Its registration; another one after a lost lease. */
  readonly id: string
  health(): HealthCheck
  /** Begins nothing new, lets running jobs end, and leaves. Returns the same promise however often it is called. */
  stop(): Promise<void>
  /**
   * The process is about to end because of this error, for example a rejection that nobody handled: names the jobs that it has, gives
   * back those that have not begun, and charges the others. Never throws.
   */
  crash(error: unknown): Promise<void>
}

/** A worker whose room changes, and that takes over what runs under the leases of others. */
export interface LeasingWorker extends Worker {
  /** `concurrency` has another answer: if there is more room it claims at once. */
  concurrencyChanged(): void
  /**
   * Takes over jobs that another worker has leased and that run elsewhere; `handler` waits for their end. Returns those that are this
   * worker's now. The others are not, and never will be. Throws where it cannot say.
   */
  adopt(
    from: string,
    calls: readonly { readonly jobs: readonly JobRef[]; readonly handler: OutcomeHandler }[],
  ): Promise<Job[]>
}

const DEFAULT_EXECUTOR = 'PG_worker'
const REAP_DUE_SQL = `(select 0 where exists (select from iu_core.job_worker w where w.leased_until <= clock_timestamp()))`
const MIN_RETRY_MS = 100
const MAX_RETRY_MS = 2000
const POLL_MS = 500
const REAP_MS = 1000
const KINDS_MS = 10_000
const STOP_GRACE_MS = 5000
/** Reaping jobs of dead workers; and firing schedules, which not every worker does. */
const REAP_LEAD = 'jobs.reap'
const SCHEDULES_LEAD = 'jobs.schedules'
/** One for heartbeats, one for reports about jobs. */
const RESERVED_SESSIONS = 2
/** Running jobs get so long to end before a suspect (a job with a crash behind it) runs together with them. */
const MAX_SUSPECT_WAIT_MS = 5000
const SUSPECT_CHECK_MS = 10_000
const LONG_RUNNING_MS = 600_000
/** The database takes no larger claim. */
const MAX_BATCH = 10_000

/** Throws when the database cannot be reached or refuses. Once started, the worker survives both. */
export async function startWorker(options: WorkerOptions): Promise<LeasingWorker> {
  requireValid(options)
  const worker = new RunningWorker(options)
  await worker.start()
  return worker
}

function requireValid({ handlers, concurrency = 10, batch = 100 }: WorkerOptions): void {
  const reason =
    Object.keys(handlers).length === 0
      ? 'A worker needs a handler for at least one kind of job'
      : typeof concurrency === 'number' && (!Number.isInteger(concurrency) || concurrency < 1)
        ? 'concurrency is a whole number from 1'
        : !Number.isInteger(batch) || batch < 1 || batch > MAX_BATCH
          ? `batch is a whole number from 1 to ${MAX_BATCH}`
          : undefined
  if (reason !== undefined) throw new StagedoorError('argument_invalid', { reason })
}

class RunningWorker implements LeasingWorker {
  private readonly options: WorkerOptions
  private readonly log: Logger
  private readonly hooks: WorkerHooks
  private readonly leaseMs: number
  private readonly concurrency: () => number
  private readonly callSize: number
  private readonly batch: number
  private readonly reserved: Pool
  private readonly connection: DedicatedConnection
  private readonly claims: Claims
  private readonly executor: JobExecutor
  private readonly kinds: KindSettingsCache
  private readonly wake = new Wake()
  private readonly tasks: PeriodicTasks
  private lease!: WorkerLease
  private wakeups: Wakeups | undefined
  /** Jobs that notifications have named since the last claim. */
  private notified: string[] = []
  /** Since the last claim it was woken by something else, too: any job may be due. */
  private mustLook = false
  /** The last claim found nothing more, and a wait followed it. */
  private hasWaited = false
  /** It waits for jobs, and found none that it could claim. */
  private isWaiting = false
  /** Some job is due and could not be claimed: its kind has a limit, or it waits for a worker that has no other. */
  private isBlocked = false
  private unwatchHistory = (): void => {}
  /** To be announced before the worker registers again. */
  private otherHistory: OtherHistory | undefined
  private scheduler: Scheduler | undefined
  private loop: Promise<void> = Promise.resolve()
  /** The last claim was full. */
  private hasMore = false
  /** Under way while the jobs of the claim before it begin. */
  private nextClaim: ClaimUnderWay | undefined
  private lastWasSuspect = false
  /** Since when nothing else is claimed, because a suspect waits. */
  private suspectWaitsSince: number | undefined
  private nextSuspectCheckAt = 0
  private longRunning: readonly string[] = []
  private trouble: string | undefined
  private stopping = false
  private stopped: Promise<void> | undefined

  constructor(options: WorkerOptions) {
    const { pool, handlers } = options
    this.options = options
    const { concurrency = 10 } = options
    this.concurrency = typeof concurrency === 'number' ? () => concurrency : concurrency
    this.callSize = maxJobsPerCall(handlers)
    this.batch = options.batch ?? Math.min(MAX_BATCH, Math.max(100, this.callSize))
    this.log = options.log ?? pino({ level: 'silent' })
    this.tasks = new PeriodicTasks(this.log)
    this.hooks = guardHooks(options.hooks ?? {}, this.log)
    this.leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS
    this.reserved = reserveSessions(pool, RESERVED_SESSIONS)
    this.connection = new DedicatedConnection(this.reserved, this.leaseMs / 2)
    this.kinds = new KindSettingsCache(this.connection, Object.keys(handlers))
    this.claims = new Claims(pool, this.log, this.hooks)
    this.executor = new JobExecutor({
      pool,
      handlers,
      concurrency: this.concurrency,
      batch: this.batch,
      prefetch: options.prefetch,
      log: this.log,
      hooks: this.hooks,
      kinds: this.kinds,
      onRoom: () => {
        if (this.hasMore && this.room() > 0) this.look()
      },
    })
  }

  get id(): string {
    return this.lease.worker
  }

  async start(): Promise<void> {
    this.unwatchHistory = watchHistory(this.options.pool, (change) => {
      // What was claimed or completed may be lost, and what was lost may be given to others.
      this.otherHistory = change
      this.lease?.lose(OTHER_HISTORY)
    })
    try {
      // Together, because most of it is to open sessions. A kind without a row has the settings that its row begins with.
      const taken = this.takeLease().then((lease) => {
        this.lease = lease
      })
      // Also at the start: where workers crash soon, no other process may live long enough to do it.
      const reaped = this.reap().catch((error) =>
        this.log.debug({ err: error }, 'reaping failed; will be retried'),
      )
      for (const part of await Promise.allSettled([taken, this.kinds.read(), reaped]))
        if (part.status === 'rejected') throw part.reason
    } catch (error) {
      await this.lease?.leave()
      await this.close()
      throw mapConnectionError(error)
    }
    this.wakeups = this.openWakeups()
    this.tasks.every(REAP_MS, () => (this.mayPoll ? this.reap() : Promise.resolve()))
    this.tasks.every(REAP_MS, () => this.checkForSuspects())
    this.tasks.every(REAP_MS, async () => this.reportLongRunning())
    this.tasks.every(KINDS_MS, () => this.kinds.read())
    this.tasks.every(MAX_PREFETCH_WAIT_MS / 2, async () => this.executor.releaseWaiting())
    this.scheduler = this.startScheduling()
    this.loop = this.claimUntilStopped()
  }

  health(): HealthCheck {
    const ok = !this.stopping && !this.lease.over && this.trouble === undefined
    const long =
      this.longRunning.length === 0 ? '' : `; running for long: ${this.longRunning.slice(0, 10).join(', ')}`
    const detail = this.stopping ? 'stopping' : (this.trouble ?? `${this.executor.detail}${long}`)
    return { name: 'jobs', ok, detail }
  }

  concurrencyChanged(): void {
    this.executor.roomChanged()
    this.look()
  }

  async adopt(
    from: string,
    calls: readonly { readonly jobs: readonly JobRef[]; readonly handler: OutcomeHandler }[],
  ): Promise<Job[]> {
    const { lease } = this
    if (this.stopping || lease.over) throw new Error('this worker takes nothing over just now')
    const adopted = await lease.adopt(
      from,
      calls.flatMap(({ jobs }) => jobs),
    )
    const rows = new Map(adopted.map((job) => [job.job_id, job]))
    for (const { jobs, handler } of calls) {
      const mine = jobs.flatMap(({ job_id }) => rows.get(job_id) ?? [])
      if (mine.length > 0) this.executor.resume(lease, mine, handler)
    }
    return adopted
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown()
    return this.stopped
  }

  async crash(error: unknown): Promise<void> {
    this.stopping = true
    this.look()
    void this.tasks.stop()
    const waiting = this.executor.abandon()
    if (this.options.remote) {
      // What runs in a remote worker did not end this process.
      await this.lease.abandon(waiting).catch((failure: Error) => {
        this.log.error({ reason: failure.message }, 'jobs that had not begun could not be given back')
      })
      return
    }
    const jobs = [...this.lease.calls].flatMap((call) =>
      call.jobs.map(({ job_id, job_kind }) => `${job_kind} ${job_id}`),
    )
    const reason = `the worker's process ended by an error outside its handlers: ${errorText(error)}`
    this.log.fatal({ jobs, reason }, 'the process ends; one of these jobs may be the cause')
    await this.lease.crash(reason, waiting).catch((failure: Error) => {
      this.log.error({ reason: failure.message }, 'the lease could not be given back; it will expire')
    })
  }

  /** A handler that does not end occupies its place for as long: somebody should know. */
  private reportLongRunning(): void {
    const limitMs = this.options.longRunningMs ?? LONG_RUNNING_MS
    const now = performance.now()
    const long = [...this.lease.calls].filter((call) => now - call.beganAt > limitMs)
    this.longRunning = long.flatMap((call) => call.jobs.map(({ job_id }) => job_id))
    for (const call of long) {
      if (call.reportedAsLong) continue
      call.reportedAsLong = true
      for (const { job_id, job_kind } of call.jobs)
        this.log.warn(
          { job_id, job_kind, running_s: Math.round((now - call.beganAt) / 1000) },
          'job has been running for long; a timeout of its kind would end it (stagedoor job kind set)',
        )
    }
  }

  private async shutDown(): Promise<void> {
    this.stopping = true
    this.look()
    void this.tasks.stop()
    await this.scheduler?.stop()
    await this.loop
    await this.executor.close(this.options.shutdownMs ?? 30_000, STOP_GRACE_MS)
    await this.lease.drain()
    const givesBack = this.lease.size > 0
    await this.lease.leave()
    if (givesBack) this.wakeups?.tell('jobs')
    await this.wakeups?.close()
    await this.close()
  }

  private async close(): Promise<void> {
    this.unwatchHistory()
    await this.connection.release()
    await this.reserved.end()
  }

  private async claimUntilStopped(): Promise<void> {
    for (let retryMs = MIN_RETRY_MS; !this.stopping; ) {
      try {
        await this.claimOnce()
        retryMs = MIN_RETRY_MS
        this.trouble = undefined
      } catch (error) {
        this.trouble = (error as Error).message
        const level = isConnectionError(error) ? 'warn' : 'error'
        this.log[level]({ err: error }, 'claiming jobs failed; will be retried')
        await this.wake.wait(retryMs * (0.5 + Math.random()))
        retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)
      }
    }
    const last = this.takeNextClaim()
    // Without an answer its jobs go back with the lease.
    const { jobs } = (await last?.answer.catch(() => undefined)) ?? { jobs: [] }
    if (last) this.executor.begin(last.lease, jobs, false)
  }

  private async claimOnce(): Promise<void> {
    if (this.lease.over) await this.registerAgain()
    const { lease } = this
    const claim = this.takeNextClaim() ?? (await this.beginClaim(lease))
    if (claim === undefined) return
    if (this.hasMore && claim.lease === lease && !claim.maySuspect) this.nextClaim = this.sendNextClaim(claim)
    const { jobs, isPart } = await claim.answer
    // Not at the end of the wait, which may take as long as nothing comes.
    this.trouble = undefined
    if (jobs.length > 0) this.isBlocked = false
    const isSuspect = (jobs[0]?.crashes ?? 0) > 0
    this.hasMore = jobs.length === claim.limit || isSuspect
    if (claim.maySuspect) this.suspectWaitsSince = undefined
    this.lastWasSuspect = isSuspect
    this.executor.begin(claim.lease, jobs, jobs.length === claim.limit)
    if (isPart || this.nextClaim) return // The next claim looks from the start, or is under way.
    if ((this.options.suspects ?? 'too') === 'too' && !claim.maySuspect && lease.size === 0) return // The next claim may be for a suspect.
    if (this.hasMore) {
      if (lease.idle) lease.markBusy()
    } else if (this.wakeups?.works && !lease.idle && !lease.over) {
      await this.markIdle(lease)
    } else {
      await this.waitForJobs()
    }
  }

  /** Undefined: there is no room, or it claimed what it was notified of; either way it has waited. */
  private async beginClaim(lease: WorkerLease): Promise<ClaimUnderWay | undefined> {
    const notified = this.takeNotified(lease)
    if (notified !== undefined) {
      await this.claimNotified(lease, notified)
      return undefined
    }
    // Handlers that end at once have ended after it: one large claim instead of two of half the size.
    await setImmediate()
    if (this.lingers) await delay(this.options.lingerMs)
    const limit = this.room()
    if (limit === 0) {
      this.hasMore = true
      // Nobody can begin anything here, so nobody is to be woken.
      if (lease.idle && this.concurrency() === 0) lease.markBusy()
      await this.wake.wait(lease.suspectAloneForMs ?? (this.suspectWaitMs || undefined))
      return undefined
    }
    const maySuspect = this.mayClaimSuspect(lease)
    const begin = this.executor.beginWithClaim
    const answer =
      this.options.suspects === 'only'
        ? this.claims.suspect(lease).then((jobs) => ({ jobs, isPart: false }))
        : this.claims.next(lease, limit, begin, maySuspect ? 0 : lease.size + 1)
    return { lease, limit, begin, maySuspect, answer }
  }

  private takeNextClaim(): ClaimUnderWay | undefined {
    const { nextClaim } = this
    this.nextClaim = undefined
    return nextClaim
  }

  /**
   * The claim after `claim`, which has not been answered yet: most of a claim is to wait for the disk. It brings no suspect, because a
   * suspect is claimed while nothing else is.
   */
  private sendNextClaim({ lease, limit, begin: before }: ClaimUnderWay): ClaimUnderWay | undefined {
    const { executor, batch } = this
    if (!executor.claimsNextEarly || this.claims.someUnanswered || this.stopping || lease.over)
      return undefined
    if (this.options.suspects === 'only' || this.suspectWaitsSince !== undefined) return undefined
    if (lease.suspectAloneForMs !== undefined || this.leaseRoom < limit) return undefined
    // Jobs of that claim wait to be reported, and none of the next may overtake them.
    if (before < limit) return undefined
    const begin = Math.max(0, executor.beginWithClaim - limit)
    const answer = this.claims.next(lease, batch, begin, lease.size + 1)
    // It is awaited after the claim before it, which may fail first.
    answer.catch(() => {})
    return { lease, limit: batch, begin, maySuspect: false, answer }
  }

  /** Jobs that can be claimed by their ids: a worker that waits was notified of nothing else, and all of them can begin at once, in any order. */
  private takeNotified(lease: WorkerLease): readonly string[] | undefined {
    const { notified, mustLook, hasWaited } = this
    this.notified = []
    this.mustLook = false
    this.hasWaited = false
    if (notified.length === 0 || mustLook || !hasWaited || !lease.idle || this.options.suspects === 'only')
      return undefined
    return notified.length <= Math.min(this.room(), this.executor.freePlaces) ? notified : undefined
  }

  /** Everything else that is due is found by what the next wake-up or the poll begins. */
  private async claimNotified(lease: WorkerLease, ids: readonly string[]): Promise<void> {
    const jobs = await this.claims.byId(lease, ids)
    this.trouble = undefined
    if (jobs.length > 0) this.lastWasSuspect = false
    this.executor.begin(lease, jobs, false)
    await this.waitForJobs()
  }

  /** Any job may be due. */
  private look(): void {
    this.mustLook = true
    this.wake.now()
  }

  /** A claim costs the database about as much for one job as for fifty. Slots are few if they are less than a quarter. */
  private get lingers(): boolean {
    const { lingerMs = 0 } = this.options
    if (lingerMs === 0 || !this.hasMore || this.stopping) return false
    const room = this.room()
    return room > 0 && room < this.concurrency() / 4
  }

  /** While wake-ups work the poll of the process says when something is due. */
  private async waitForJobs(): Promise<void> {
    const { pollMs } = this.options
    if (pollMs !== undefined || !this.wakeups?.works) await this.wake.wait(pollMs ?? POLL_MS)
    else {
      this.isWaiting = true
      if (!this.isBlocked) this.wakeups.pollSoon()
      await this.wake.wait(this.isBlocked ? POLL_MS : undefined)
      this.isWaiting = false
    }
    this.hasWaited = true
  }

  /**
   * A suspect is claimed by a worker that has no other job; by one whose other jobs do not end, with a free place and nothing
   * prefetched. After a suspect the others have their turn.
   */
  private mayClaimSuspect(lease: WorkerLease): boolean {
    if (this.options.suspects === 'none') return false
    if (this.suspectWaitsSince !== undefined) return true
    return lease.size === 0 && !this.lastWasSuspect
  }

  /** How long a suspect still waits for the running jobs to end; undefined: none waits. */
  private get suspectWaitMs(): number | undefined {
    if (this.suspectWaitsSince === undefined) return undefined
    return Math.max(0, this.suspectWaitsSince + MAX_SUSPECT_WAIT_MS - performance.now())
  }

  /** Now and then: a suspect must not wait for ever because this worker is always busy. */
  private async checkForSuspects(): Promise<void> {
    const { lease } = this
    if ((this.options.suspects ?? 'too') !== 'too') return
    if (lease.over || lease.size === 0 || lease.suspectAloneForMs !== undefined) return
    if (this.suspectWaitsSince !== undefined || performance.now() < this.nextSuspectCheckAt) return
    if (!(await isSuspectDue(this.options.pool, lease.worker))) return
    this.suspectWaitsSince = performance.now()
    this.nextSuspectCheckAt = performance.now() + SUSPECT_CHECK_MS
    this.look()
  }

  /** Where reports are written slowly nothing more is begun: jobs that are done and not reported would be done again. */
  private room(): number {
    if (this.options.suspects === 'only') return this.lease.size === 0 ? Math.min(1, this.executor.room()) : 0
    if (this.options.suspects !== 'none' && this.lease.suspectAloneForMs !== undefined) return 0
    if (this.suspectWaitsSince !== undefined && this.lease.size > 0) {
      return this.suspectWaitMs === 0 && this.executor.freePlaces > 0 ? 1 : 0
    }
    const { leaseRoom } = this
    return leaseRoom < this.batch / 2 ? 0 : Math.min(this.executor.room(), leaseRoom)
  }

  /** Room for jobs of this lease: those that run, wait to run, or are done and not reported. */
  private get leaseRoom(): number {
    return this.concurrency() * this.callSize + 2 * this.batch - this.lease.size
  }

  /** From now on an enqueue notifies us; a job enqueued just before is found by the claim that follows. */
  private async markIdle(lease: WorkerLease): Promise<void> {
    try {
      await lease.markIdle()
    } catch (error) {
      if (!isLeaseLost(error)) throw error
      lease.lose(LEASE_REFUSED)
    }
  }

  private takeLease(): Promise<WorkerLease> {
    const {
      pool,
      handlers,
      executor = DEFAULT_EXECUTOR,
      name = `${hostname()} ${process.pid}`,
    } = this.options
    return WorkerLease.take({
      pool,
      reserved: this.reserved,
      connection: this.connection,
      terms: { executor, kinds: Object.keys(handlers), name, leaseMs: this.leaseMs },
      log: this.log,
      hooks: this.hooks,
      onLost: () => {
        this.executor.forgetWaiting()
        this.look()
      },
      onCancel: (lease, ids) => this.executor.cancel(lease, ids),
      onWritten: () => {
        if (this.kinds.hasLimits || this.hasMore) this.look()
      },
      onDelayed: () => {
        if (this.isWaiting) this.wakeups?.pollSoon()
      },
    })
  }

  private async registerAgain(): Promise<void> {
    const { otherHistory } = this
    if (otherHistory !== undefined) {
      await announceHistory(this.options.pool, this.log, otherHistory)
      await this.kinds.read()
      if (this.otherHistory === otherHistory) this.otherHistory = undefined
    }
    this.lease = await this.takeLease()
    this.claims.reset()
    this.log.info({ worker: this.lease.worker }, 'registered again')
  }

  private openWakeups(): Wakeups | undefined {
    const { listenUrl, handlers, executor = DEFAULT_EXECUTOR } = this.options
    if (listenUrl === undefined) return undefined
    const wakeups = openWakeups(listenUrl, this.log)
    wakeups.on('jobs', (key) => this.onNotify(key))
    wakeups.onChange(() => {
      // A server that restarted keeps in memory only who is idle.
      this.lease.forgetIdle()
      this.look()
    })
    wakeups.ask({
      sql: 'iu_core.fn_job_due_in(?, ?)',
      values: () => (this.isWaiting ? [Object.keys(handlers), executor] : undefined),
      onDue: () => {
        this.isBlocked = true
        this.look()
      },
      onIdle: () => {
        this.isBlocked = false
      },
    })
    wakeups.lead(REAP_LEAD, () => void this.tasks.once(() => this.reap()))
    wakeups.ask({
      sql: REAP_DUE_SQL,
      values: () => [],
      lead: REAP_LEAD,
      onDue: () => void this.tasks.once(() => this.reap()),
    })
    return wakeups
  }

  /** A kind, and perhaps the job. */
  private onNotify(key: string): void {
    const [kind = '', job] = key.split(' ')
    if (kind !== '' && !(kind in this.options.handlers)) return
    if (job === undefined) this.look()
    else {
      this.notified.push(job)
      this.wake.now()
    }
  }

  /** Jobs are back in the queue. */
  private tellJobs(): void {
    if (this.wakeups === undefined) this.look()
    else this.wakeups.tell('jobs')
  }

  /** Nobody asks for this worker, so it looks for itself. */
  private get mayPoll(): boolean {
    return !this.wakeups?.works
  }

  private startScheduling(): Scheduler | undefined {
    if (this.options.schedules === false) return undefined
    this.wakeups?.lead(SCHEDULES_LEAD, () => this.scheduler?.now())
    this.wakeups?.onChange(() => this.scheduler?.now())
    this.wakeups?.ask({
      sql: SCHEDULE_DUE_SQL,
      values: () => [],
      lead: SCHEDULES_LEAD,
      onDue: () => this.scheduler?.now(),
    })
    return startScheduler(this.options.pool, {
      log: this.log,
      polls: () => this.mayPoll,
      onFire: (schedule) => {
        this.hooks.onSchedule?.(schedule)
        this.look()
      },
    })
  }

  private async reap(): Promise<void> {
    const reaped = await reapJobs(this.options.pool)
    if (reaped === 0) return
    this.log.info({ jobs: reaped }, 'jobs of dead workers are back in the queue')
    this.hooks.onReap?.(reaped)
    this.tellJobs()
  }
}

interface ClaimUnderWay {
  readonly lease: WorkerLease
  readonly limit: number
  /** So many of its jobs begin without a report of their own. */
  readonly begin: number
  /** It may bring a suspect. */
  readonly maySuspect: boolean
  readonly answer: Promise<{ readonly jobs: readonly ClaimedJob[]; readonly isPart: boolean }>
}

/** The settings of the worker's kinds, as they were a moment ago. */
class KindSettingsCache implements KindSettings {
  private readonly connection: Pick<DedicatedConnection, 'query'>
  private readonly kinds: readonly string[]
  private timeouts = new Map<string, number>()
  private someLimited = false
  private failOnFirstCrash = new Set<string>()

  constructor(connection: Pick<DedicatedConnection, 'query'>, kinds: readonly string[]) {
    this.connection = connection
    this.kinds = kinds
  }

  /** Some kind has a limit: when one of its jobs ends the next is claimed at once. */
  get hasLimits(): boolean {
    return this.someLimited
  }

  failsOnFirstCrash(kind: string): boolean {
    return this.failOnFirstCrash.has(kind)
  }

  get someFailOnFirstCrash(): boolean {
    return this.failOnFirstCrash.size > 0
  }

  timeoutOf(kind: string): number | undefined {
    return this.timeouts.get(kind)
  }

  async read(): Promise<void> {
    const rows = await this.connection.query<{
      job_kind: string
      timeout_ms: number | null
      limited: boolean
      one_crash: boolean
    }>(
      `select job_kind, (extract(epoch from timeout) * 1000)::double precision as timeout_ms, limited, max_crashes = 1 as one_crash
         from iu_core.job_kind where job_kind = any ($1)`,
      [this.kinds],
    )
    this.someLimited = rows.some((row) => row.limited)
    this.failOnFirstCrash = new Set(rows.filter((row) => row.one_crash).map((row) => row.job_kind))
    this.timeouts = new Map(
      rows.flatMap(({ job_kind, timeout_ms }) => (timeout_ms === null ? [] : [[job_kind, timeout_ms]])),
    )
  }
}
