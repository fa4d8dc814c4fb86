/** Where handlers run: so many calls at once, and before them the jobs that were claimed ahead. */
import type { Logger } from 'pino'
import type { Pool } from '../db/connection.ts'
import { Backlog, type NextCall } from './backlog.ts'
import { Call, type Outcome } from './calls.ts'
import { BeginAhead, ClaimAhead, PATIENCE_MS } from './claim-ahead.ts'
import { JobAborted, type JobHandlers, largestCall } from './handlers.ts'
import type { KindSettingsInUse } from './kind-settings.ts'
import type { ClaimedJob } from './lease.ts'
import type { WorkerHooks } from './metrics.ts'
import type { WorkerLease } from './worker-lease.ts'

export interface LanesOptions {
  readonly pool: Pool
  readonly handlers: JobHandlers
  readonly concurrency: number
  readonly batch: number
  readonly log: Logger
  readonly hooks: WorkerHooks
  readonly kinds: Pick<KindSettingsInUse, 'timeoutOf' | 'isStrict' | 'hasStrict'>
  /** There is room for another claim. */
  freed(): void
}

export class Lanes {
  private readonly options: LanesOptions
  private readonly backlog: Backlog
  private readonly ahead: ClaimAhead
  private readonly early: BeginAhead
  /** The most jobs that one call takes. */
  private readonly callSize: number
  /** Calls of a lost lease among them: they occupy their lane until they end. */
  private running = 0
  private emptied: (() => void) | undefined
  private lease: WorkerLease | undefined
  /** The last claim brought as many as were asked for. */
  private wasFull = false
  /** The database is being told of jobs that begin. */
  private telling = false
  private closed = false

  constructor(options: LanesOptions) {
    this.options = options
    this.backlog = new Backlog(options.handlers)
    this.ahead = new ClaimAhead(options.concurrency, options.batch)
    this.callSize = largestCall(options.handlers)
    // Two claims' worth: one that waits to be told of must not make the next one wait, too.
    this.early = new BeginAhead(options.concurrency * this.callSize, 2 * options.batch)
  }

  get detail(): string {
    return `${this.running} running, ${this.backlog.size} waiting to begin`
  }

  /** How many to claim now; 0: not yet, because claims of a few jobs cost as much as claims of many. */
  room(): number {
    const free = this.options.concurrency - this.running
    if (free === 0 && this.backlog.size > this.ahead.jobs / 2) return 0
    const wanted = free * this.callSize + this.ahead.jobs - this.backlog.size
    return Math.max(0, Math.min(this.options.batch, wanted))
  }

  /** How many of the next claim begin without another word. */
  get beginning(): number {
    // Which kinds the claim will bring is not known: one for each free lane.
    if (this.options.kinds.hasStrict)
      return Math.max(0, this.options.concurrency - this.running - this.backlog.size)
    return Math.max(0, this.beginnable - this.backlog.waiting)
  }

  /** A lane is free and nothing waits for it. */
  get hasFreeLane(): boolean {
    return this.running < this.options.concurrency && this.backlog.size === 0
  }

  /** Takes out what has not begun: the process is about to end. */
  abandon(): ClaimedJob[] {
    this.closed = true
    return this.backlog.remove()
  }

  /** `full`: there are more where these came from. */
  begin(lease: WorkerLease, jobs: readonly ClaimedJob[], full: boolean): void {
    if (lease.over) return
    if (this.closed) {
      for (const job of jobs) lease.report({ job, as: 'released' })
      return
    }
    // Lanes stood empty while these were on their way.
    if (this.wasFull && this.running < this.options.concurrency) this.ahead.starved()
    this.wasFull = full
    this.lease = lease
    this.backlog.add(jobs)
    this.fill()
  }

  /** What would begin sooner elsewhere. */
  giveBackWaiting(): void {
    if (this.backlog.waitedMs < PATIENCE_MS) return
    this.ahead.waited()
    this.release()
  }

  /** Of the lease that was lost nothing begins any more; what runs under it has been told. */
  forgetWaiting(): void {
    this.backlog.remove()
  }

  cancel(lease: WorkerLease, ids: ReadonlySet<string>): void {
    const reason = new JobAborted('cancelled', 'Somebody cancelled it')
    for (const job of this.backlog.remove(ids)) {
      lease.report({ job, as: 'failed', error: reason.message, fatal: false })
    }
    for (const call of lease.calls) {
      // The others of a batch are not to be stopped with it; the database does not run it again.
      if (call.jobs.length === 1 && ids.has(call.jobs[0]!.job_id)) call.abort(reason)
    }
  }

  /** Nothing more begins. Resolves when nothing runs, or after `patienceMs`; then what still runs was told to stop. */
  async close(patienceMs: number, graceMs: number): Promise<void> {
    this.closed = true
    this.release()
    if (await this.emptyWithin(patienceMs)) return
    const reason = new JobAborted('stopping', 'The worker stops')
    for (const call of this.lease?.calls ?? []) call.abort(reason)
    await this.emptyWithin(graceMs)
  }

  private release(): void {
    for (const job of this.backlog.remove()) this.lease?.report({ job, as: 'released' })
  }

  private fill(): void {
    while (this.running < this.options.concurrency && this.backlog.ready > 0) {
      // By the clock: in a process that was frozen the handlers end before any timer says that the lease has passed.
      if (!this.lease?.mayBegin) return
      const next = this.backlog.next()
      if (!next) break
      void this.perform(this.lease!, next)
    }
    if (this.backlog.waiting > 0) void this.tell()
  }

  private get beginnable(): number {
    const free = this.options.concurrency - this.running
    return Math.max(0, free * this.callSize + this.early.jobs - this.backlog.ready)
  }

  /** One statement for all that begin next; what comes meanwhile rides the next one. */
  private async tell(): Promise<void> {
    const { lease, backlog } = this
    if (this.telling || this.closed || !lease || lease.over || backlog.waiting === 0) return
    const free = this.options.concurrency - this.running
    // With all lanes busy there is no hurry: many in one statement instead of each alone.
    if (free === 0 && backlog.ready * 2 > this.early.jobs) return
    const jobs = this.beforeTheirTurn(backlog.peek(this.beginnable))
    if (jobs.length === 0) return
    this.telling = true
    const confirmed = await lease.begin(jobs)
    this.telling = false
    if (lease !== this.lease || lease.over) return
    if (confirmed) backlog.confirm(jobs, confirmed)
    this.fill()
  }

  /** Without those that one crash would make a dead letter of, as long as no lane is free for them. */
  private beforeTheirTurn(jobs: readonly ClaimedJob[]): readonly ClaimedJob[] {
    const { concurrency, kinds } = this.options
    const free = concurrency - this.running - this.backlog.ready
    const first = jobs.findIndex((job, n) => n >= free && kinds.isStrict(job.job_kind))
    return first < 0 ? jobs : jobs.slice(0, first)
  }

  private async perform(lease: WorkerLease, { handler, jobs }: NextCall): Promise<void> {
    const { pool, log, hooks } = this.options
    const call = new Call(handler, jobs, { pool, worker: lease.worker, log })
    const kind = jobs[0]!.job_kind
    const began = performance.now()
    this.running++
    lease.calls.add(call)
    hooks.began?.(kind, jobs.length)
    const outcomes = await call.run(this.options.kinds.timeoutOf(kind))
    this.early.took(performance.now() - began)
    this.running--
    lease.calls.delete(call)
    for (const outcome of outcomes) this.settle(lease, outcome, performance.now() - began)
    this.fill()
    if (this.running === 0) this.emptied?.()
    if (!this.closed) this.options.freed()
  }

  private settle(lease: WorkerLease, outcome: Outcome, ms: number): void {
    const as = lease.over ? 'dropped' : outcome.as === 'settled' ? 'completed' : outcome.as
    this.options.hooks.ended?.(outcome.job, as, ms)
    if (!lease.over) lease.report(outcome)
  }

  private async emptyWithin(ms: number): Promise<boolean> {
    if (this.running === 0) return true
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.emptied = resolve
      timer = setTimeout(resolve, ms)
    })
    clearTimeout(timer)
    this.emptied = undefined
    return this.running === 0
  }
}
