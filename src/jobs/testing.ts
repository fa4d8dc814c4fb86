/**
 * For users' tests: runs jobs in the test's own process, when the test says so, without timers and without a worker. The test moves
 * the clock, so that backoffs, delays and schedules are due at once.
 */
import pino, { type Logger } from 'pino'
import type { Pool } from '../kernel/postgres/connection.ts'
import { Backlog, HandlerCall } from './executor.ts'
import type { JobHandlers } from './handlers.ts'
import {
  claimJobs,
  completeJobs,
  failJobs,
  leaveWorker,
  registerWorker,
  releaseJobs,
  snoozeJobs,
} from './lease.ts'
import { fireDue } from './schedules.ts'
import type { ClaimedJob, Outcome } from './worker-types.ts'

interface JobTesterOptions {
  readonly pool: Pool
  readonly handlers: JobHandlers
  readonly executor?: string
  readonly log?: Logger
}

/** How one run of one job ended. */
export interface TestedJob {
  readonly job_id: string
  readonly job_kind: string
  readonly outcome: Outcome['as']
  readonly result?: unknown
  readonly error?: string
}

export interface JobTester {
  /** The time as jobs and schedules see it. */
  now(): Date
  /** Moves the clock forward; runs nothing. */
  advance(ms: number): void
  /** Fires the schedules that are due and runs the jobs that are due, and those that follow, until none is. */
  runUntilIdle(): Promise<TestedJob[]>
  /**
   * The same, and whenever nothing is due the clock moves on to the next waiting job, so that every retry and every delayed
   * job has its turn. Schedules fire on the way but do not keep it going.
   */
  runUntilEmpty(): Promise<TestedJob[]>
}

/** A job that enqueues itself for ever would run for ever. */
const MAX_RUNS = 10_000
const JOBS_PER_CLAIM = 100
/** A job that is due and has not run after this long is held back by something else. */
const MAX_PAUSE_MS = 3_600_000
/** A test may sit in a debugger. */
const LEASE_MS = 3_600_000

export function createJobTester(options: JobTesterOptions): JobTester {
  return new Tester(options)
}

class Tester implements JobTester {
  private readonly options: JobTesterOptions
  private readonly log: Logger
  private readonly kinds: string[]
  private movedMs = 0
  /** The database counts a backoff from its own time; on this clock the next attempt is as much later as the clock was moved. */
  private readonly retryAt = new Map<string, number>()

  constructor(options: JobTesterOptions) {
    this.options = options
    this.log = options.log ?? pino({ level: 'silent' })
    this.kinds = Object.keys(options.handlers)
  }

  now(): Date {
    return new Date(Date.now() + this.movedMs)
  }

  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError('The clock moves forward only')
    this.movedMs += ms
  }

  runUntilIdle(): Promise<TestedJob[]> {
    return this.withWorker((worker) => this.runDue(worker, []))
  }

  runUntilEmpty(): Promise<TestedJob[]> {
    return this.withWorker(async (worker) => {
      const tested: TestedJob[] = []
      for (let pauseMs = 1; pauseMs < MAX_PAUSE_MS; ) {
        const before = tested.length
        await this.runDue(worker, tested)
        const next = await this.nextDue()
        if (next === undefined) return tested
        // Due and not run: a rate that needs time, or a pause, which no time ends.
        pauseMs = tested.length > before ? 1 : pauseMs * 2
        this.advance(Math.max(pauseMs, next - this.now().getTime()))
      }
      return tested
    })
  }

  private async withWorker<T>(work: (worker: string) => Promise<T>): Promise<T> {
    const { pool, executor = 'PG_worker' } = this.options
    const terms = { executor, kinds: this.kinds, name: 'job tester', leaseMs: LEASE_MS }
    const worker = await registerWorker(pool, terms)
    try {
      return await work(worker)
    } finally {
      await leaveWorker(pool, worker)
    }
  }

  private async runDue(worker: string, tested: TestedJob[]): Promise<TestedJob[]> {
    const { pool, handlers } = this.options
    const refuse = (error: unknown): never => {
      throw error
    }
    for (;;) {
      await fireDue(pool, { onFire: () => {}, onError: refuse }, this.now())
      const claimed = await claimJobs(pool, worker, JOBS_PER_CLAIM, { now: this.now() })
      if (claimed.length === 0) return tested
      const backlog = new Backlog(handlers)
      backlog.add(await this.withoutEarly(worker, claimed))
      for (let next = backlog.next(); next; next = backlog.next()) {
        const call = new HandlerCall(next.handler, next.jobs, { database: { pool, worker }, log: this.log })
        for (const outcome of await call.run()) tested.push(await this.write(worker, outcome))
      }
      if (tested.length > MAX_RUNS) throw new Error(`More than ${MAX_RUNS} runs, and still jobs are due`)
    }
  }

  private async withoutEarly(worker: string, claimed: readonly ClaimedJob[]): Promise<ClaimedJob[]> {
    const due: ClaimedJob[] = []
    for (const job of claimed) {
      const again = this.retryAt.get(job.job_id) ?? 0
      this.retryAt.delete(job.job_id)
      if (again <= this.now().getTime()) due.push(job)
      else await snoozeJobs(this.options.pool, worker, [{ job, until: new Date(again) }])
    }
    return due
  }

  private async write(worker: string, outcome: Outcome): Promise<TestedJob> {
    const { pool } = this.options
    const { job, as } = outcome
    const tested = { job_id: job.job_id, job_kind: job.job_kind, outcome: as }
    switch (as) {
      case 'completed':
        await completeJobs(pool, worker, [outcome])
        return { ...tested, ...('result' in outcome && { result: outcome.result }) }
      case 'failed':
        for (const { outcome: then, process_after } of await failJobs(pool, worker, [outcome])) {
          if (then === 'retry') this.retryAt.set(job.job_id, process_after!.getTime() + this.movedMs)
        }
        return { ...tested, error: outcome.error }
      case 'snoozed':
        await snoozeJobs(pool, worker, [outcome])
        return tested
      case 'released':
        await releaseJobs(pool, worker, [job])
        return tested
      case 'already_completed':
        return { ...tested, outcome: 'completed' }
      default:
        // Crashes and moves are outcomes of handlers that run elsewhere, and here none does.
        throw new Error(`a handler in this process cannot end as ${as}`)
    }
  }

  private async nextDue(): Promise<number | undefined> {
    const { rows } = await this.options.pool.query<{ due: Date | null }>(
      `select min(process_after) as due from iu_core.job_queue
        where job_kind = any ($1) and executor = $2 and leased_by is null`,
      [this.kinds, this.options.executor ?? 'PG_worker'],
    )
    return rows[0]!.due?.getTime()
  }
}
