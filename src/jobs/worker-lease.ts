/**
 * A worker's lease while it is held: heartbeats, the jobs under it, and what is to be written about them. When it is lost
 * everything under it ends at once; the worker then takes a new one.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../db/connection.ts'
import type { KeptConnection } from '../db/kept-connection.ts'
import { type Instant, instant, LeaseClock } from '../db/lease-clock.ts'
import type { Call, Outcome } from './calls.ts'
import { BatchedWrites } from './completion.ts'
import { JobAborted } from './handlers.ts'
import type { Job } from './job.ts'
import {
  beginJobs,
  type ClaimedJob,
  completeJobs,
  type Failure,
  type FailureOutcome,
  failJobs,
  HEARTBEAT,
  heldJobs,
  type JobRef,
  leaveWorker,
  registerWorker,
  releaseJobs,
  setIdle,
  type WorkerTerms,
} from './lease.ts'
import { isLeaseLost } from './lease-lost.ts'
import type { WorkerHooks } from './metrics.ts'

export interface LeaseKeeping {
  readonly pool: Pool
  /** Sessions of its own for what is written about jobs: handlers may hold all of `pool`. */
  readonly reserved: Pool
  readonly kept: KeptConnection
  readonly terms: WorkerTerms & { readonly leaseMs: number }
  readonly log: Logger
  readonly hooks: WorkerHooks
  lost(lease: WorkerLease): void
  cancelled(lease: WorkerLease, ids: ReadonlySet<string>): void
  /** Something was written: a limited kind may have room again. */
  written(): void
}

interface Completed {
  readonly job: JobRef
  readonly result?: unknown
}

const BEATS_PER_LEASE = 3
const RETRY_MS = 250
const CRASH_MS = 1000
/** As long as fn_job_claim gives nothing else to a worker with a job that has a crash behind it. */
const ALONE_MS = 10_000

export class WorkerLease {
  readonly worker: string
  readonly calls = new Set<Call>()
  /** Every job that was claimed and of which nothing is written yet. */
  private readonly held = new Map<string, JobRef>()
  private readonly keeping: LeaseKeeping
  private readonly completions: BatchedWrites<Completed>
  private readonly failures: BatchedWrites<Failure>
  private readonly snoozes: BatchedWrites<{ job: JobRef; until: Date }>
  private readonly releases: BatchedWrites<JobRef>
  private suspect: { readonly id: string; readonly since: number } | undefined
  private ended = false
  private isIdle = false
  /** What was said last about it, and is perhaps still under way. */
  private said: Promise<void> = Promise.resolve()
  private readonly clock: LeaseClock
  private beatTimer: NodeJS.Timeout | undefined
  private deadlineTimer: NodeJS.Timeout | undefined

  static async take(keeping: LeaseKeeping): Promise<WorkerLease> {
    const askedAt = instant()
    // Both sessions are open from here on: the one for heartbeats and the one for what is written.
    const [worker] = await Promise.all([
      registerWorker(keeping.reserved, keeping.terms),
      keeping.kept.query('select 1'),
    ])
    return new WorkerLease(worker, keeping, askedAt)
  }

  private constructor(worker: string, keeping: LeaseKeeping, askedAt: Instant) {
    this.worker = worker
    this.keeping = keeping
    this.clock = new LeaseClock(keeping.terms.leaseMs, askedAt)
    const { reserved: pool, hooks } = keeping
    this.completions = this.writes(
      (completed) =>
        timed(
          hooks,
          'completed',
          completed.length,
          completeJobs(pool, worker, completed, { prepared: true }),
        ),
      ({ job }) => job,
      // What the handler did is done; only what it returned cannot be kept.
      (completed, error) => {
        keeping.log.warn({ err: error, job_id: completed.job.job_id }, 'the result of a job cannot be kept')
        if ('result' in completed) this.completions.add({ job: completed.job })
      },
    )
    this.failures = this.writes(
      (failed) =>
        timed(
          hooks,
          'failed',
          failed.length,
          failJobs(pool, worker, failed).then((outcomes) => tellFailures(keeping.log, failed, outcomes)),
        ),
      ({ job }) => job,
    )
    this.snoozes = this.writes(
      (snoozed) =>
        pool.query(
          `select iu_core.fn_job_snooze($1, s.job, s.epoch, s.until)
             from unnest($2::uuid[], $3::integer[], $4::timestamptz[]) s (job, epoch, until)`,
          [
            worker,
            snoozed.map(({ job }) => job.job_id),
            snoozed.map(({ job }) => job.lease_epoch),
            snoozed.map(({ until }) => until),
          ],
        ),
      ({ job }) => job,
      ({ job }, error) => this.failures.add({ job, error: String(error) }),
    )
    this.releases = this.writes(
      (jobs) => releaseJobs(pool, worker, jobs),
      (job) => job,
    )
    this.confirm(askedAt)
    this.beatLater(keeping.terms.leaseMs / BEATS_PER_LEASE)
  }

  get over(): boolean {
    return this.ended
  }

  /**
   * Asked before anything begins: a worker that was frozen past its lease must not begin what others have by now. So a job is
   * begun again only if its lease passed while it ran.
   */
  get mayBegin(): boolean {
    if (!this.ended && this.clock.hasPassed) this.lose('it had passed when a job was to begin')
    return !this.ended
  }

  /** Jobs that are this worker's as the database sees it: waiting, running, or not written about yet. */
  get size(): number {
    return this.held.size
  }

  /** Enqueues give notice because of us. */
  get idle(): boolean {
    return this.isIdle
  }

  hold(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) this.held.set(job.job_id, job)
    const suspect = jobs.find((job) => job.crashes > 0)
    if (suspect) this.suspect = { id: suspect.job_id, since: performance.now() }
  }

  /** For how long the job with a crash behind it that is in hand keeps others away; undefined: there is none, or no longer. */
  get aloneForMs(): number | undefined {
    if (this.suspect === undefined || !this.held.has(this.suspect.id)) return undefined
    const left = this.suspect.since + ALONE_MS - performance.now()
    return left > 0 ? left : undefined
  }

  /** Told to the database before they run. Undefined: it does not answer just now. */
  async begin(jobs: readonly JobRef[]): Promise<ReadonlySet<string> | undefined> {
    try {
      return new Set(await beginJobs(this.keeping.reserved, this.worker, jobs, { prepared: true }))
    } catch (error) {
      if (isLeaseLost(error)) this.lose('the database says so')
      else {
        this.keeping.log.warn({ err: error }, 'the database does not answer; trying again')
        await delay(RETRY_MS)
      }
      return undefined
    }
  }

  report(outcome: Outcome): void {
    const { job } = outcome
    switch (outcome.as) {
      case 'completed':
        this.completions.add('result' in outcome ? { job, result: outcome.result } : { job })
        break
      case 'failed':
        this.failures.add({ job, error: outcome.error, fatal: outcome.fatal })
        break
      case 'snoozed':
        this.snoozes.add({ job, until: outcome.until })
        break
      case 'released':
        this.releases.add(job)
        break
      case 'settled':
        this.held.delete(job.job_id)
        this.keeping.written()
    }
  }

  async rest(): Promise<void> {
    // On another connection it could overtake the opposite, and no enqueue would give notice.
    await this.said
    await setIdle(this.keeping.pool, this.worker, true)
    this.isIdle = true
  }

  /** Nobody waits for the answer: too many notices do no harm. */
  work(): void {
    this.isIdle = false
    this.said = setIdle(this.keeping.pool, this.worker, false).catch(() => {})
  }

  /** The server that knew of it has gone: it keeps who is idle in memory only. */
  forgetIdle(): void {
    this.isIdle = false
  }

  /**
   * After a claim without an answer: it may have counted, and then its jobs are ours and nobody runs them. The heartbeat
   * first, because it waits for a claim that is still under way.
   */
  async giveBackUnknown(): Promise<number> {
    await this.keeping.kept.query(HEARTBEAT, [this.worker])
    const found = await heldJobs(this.keeping.pool, this.worker)
    const unknown = found.filter((job) => !this.held.has(job.job_id))
    if (unknown.length > 0) await releaseJobs(this.keeping.pool, this.worker, unknown)
    return unknown.length
  }

  /** Everything that was reported is in the database, or the lease is lost. */
  async settled(): Promise<void> {
    for (const writes of [this.snoozes, this.completions, this.failures, this.releases])
      await writes.settled()
  }

  lose(reason: string): void {
    if (this.ended) return
    this.end()
    const aborted = new JobAborted('lease_lost', `The worker's lease has passed: ${reason}`)
    for (const call of this.calls) call.abort(aborted)
    for (const writes of [this.completions, this.failures, this.snoozes, this.releases]) writes.drop()
    this.held.clear()
    this.keeping.log.warn({ worker: this.worker, reason }, 'lease lost; what ran under it does not count')
    this.keeping.hooks.leaseLost?.(reason)
    this.keeping.lost(this)
  }

  /** Gives back what is left. What cannot be said now is found out when the lease passes. */
  async leave(): Promise<void> {
    if (this.ended) return
    this.end()
    await leaveWorker(this.keeping.reserved, this.worker).catch(() => {})
  }

  /**
   * The process ends because of `error`: what is done is written, what has not begun goes back as it was, and what had begun is
   * charged with it.
   */
  async crash(error: string, waiting: readonly JobRef[]): Promise<void> {
    if (this.ended) return
    await Promise.race([this.settled(), delay(CRASH_MS)])
    if (this.ended) return
    this.end()
    const { reserved } = this.keeping
    if (waiting.length > 0) await releaseJobs(reserved, this.worker, waiting)
    await leaveWorker(reserved, this.worker, error)
  }

  private end(): void {
    this.ended = true
    clearTimeout(this.beatTimer)
    clearTimeout(this.deadlineTimer)
  }

  private writes<Item>(
    write: (items: readonly Item[]) => Promise<unknown>,
    jobOf: (item: Item) => JobRef,
    refused?: (item: Item, error: unknown) => void,
  ): BatchedWrites<Item> {
    return new BatchedWrites<Item>({
      write: async (items) => {
        await write(items)
        for (const item of items) this.held.delete(jobOf(item).job_id)
        this.keeping.written()
      },
      refused:
        refused ??
        ((item, error) =>
          this.keeping.log.error(
            { err: error, job_id: jobOf(item).job_id },
            'what became of a job is refused',
          )),
      leaseLost: () => this.lose('the database says so'),
      delayed: (error) => this.keeping.log.warn({ err: error }, 'the database does not answer; trying again'),
    })
  }

  private beatLater(ms: number): void {
    if (!this.ended) this.beatTimer = setTimeout(() => void this.beat(), Math.max(0, ms))
  }

  private async beat(): Promise<void> {
    const sentAt = instant()
    try {
      const [row] = await this.keeping.kept.query<{ cancelled: string[] | null }>(HEARTBEAT, [this.worker])
      if (this.ended) return
      this.confirm(sentAt)
      if (row?.cancelled?.length) this.keeping.cancelled(this, new Set(row.cancelled))
      this.beatLater(this.keeping.terms.leaseMs / BEATS_PER_LEASE - (performance.now() - sentAt.monotonic))
    } catch (error) {
      if (isLeaseLost(error)) return this.lose('the database says so')
      this.keeping.log.debug({ err: error }, 'a heartbeat did not come through')
      this.beatLater(RETRY_MS)
    }
  }

  /** From when the heartbeat was sent, not answered: so our end of the lease is never later than the database's. */
  private confirm(sentAt: Instant): void {
    clearTimeout(this.deadlineTimer)
    this.clock.confirm(sentAt)
    this.deadlineTimer = setTimeout(
      () => this.lose('no heartbeat came through for as long as it lasts'),
      Math.max(0, this.clock.leftMs),
    )
  }
}

/** Whoever watches the worker sees what fails, why, and whether it comes again. */
function tellFailures(log: Logger, failed: readonly Failure[], outcomes: readonly FailureOutcome[]): void {
  const became = new Map(outcomes.map((outcome) => [outcome.job_id, outcome]))
  for (const { job, error } of failed) {
    const { outcome, process_after } = became.get(job.job_id) ?? {}
    const { job_id, job_kind, attempts: attempt } = job as JobRef & Partial<Job>
    const told = { job_id, job_kind, attempt, error }
    if (outcome === 'dead') log.error(told, 'a job failed for good and is a dead letter')
    else if (outcome === 'retry') log.warn({ ...told, next: process_after }, 'a job failed; it comes again')
  }
}

async function timed(
  hooks: WorkerHooks,
  what: 'completed' | 'failed',
  jobs: number,
  write: Promise<unknown>,
): Promise<void> {
  const began = performance.now()
  await write
  hooks.written?.(what, jobs, performance.now() - began)
}
