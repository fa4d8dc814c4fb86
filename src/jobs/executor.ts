/** Runs handlers: so many calls at once, out of a backlog of prefetched jobs. */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StagedoorError, textOfThrown } from '../kernel/errors.ts'
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import { storableText } from '../kernel/text.ts'
import { InFlight } from '../runtime/in-flight.ts'
import { BeginAhead, MAX_PREFETCH_WAIT_MS, Prefetch } from '../runtime/prefetch.ts'
import {
  type AnyHandler,
  type BatchContext,
  batchOf,
  type HandlerWithNeeds,
  isBatchHandler,
  isOutcomeHandler,
  JobAborted,
  type JobContext,
  maxJobsPerCall,
  type OutcomeHandler,
  type WorkerHandlers,
} from './handlers.ts'
import { completeJobs, type WorkerLease } from './lease.ts'
import { enqueue, type Job, type NewJob } from './queue.ts'
import { inSpan } from './tracing.ts'
import type { ClaimedJob, Outcome, RunningCall, WorkerHooks } from './worker-types.ts'

interface JobExecutorDeps {
  readonly pool: Pool
  readonly handlers: WorkerHandlers
  /** Calls at once; it may change from one moment to the next. */
  concurrency(): number
  readonly batch: number
  /** Jobs that are held beyond those that run, at most; default `batch`. */
  readonly prefetch?: number | undefined
  readonly log: Logger
  readonly hooks: WorkerHooks
  readonly kinds: KindSettings
  /** There is room for another claim. */
  onRoom(): void
}

/** What the executor must know about kinds of jobs. */
export interface KindSettings {
  timeoutOf(kind: string): number | undefined
  /** One crash makes a job of this kind a dead letter: it is never reported as begun before it begins. */
  failsOnFirstCrash(kind: string): boolean
  readonly someFailOnFirstCrash: boolean
}

export class JobExecutor {
  private readonly deps: JobExecutorDeps
  private readonly backlog: Backlog
  private readonly prefetch: Prefetch
  private readonly beginAhead: BeginAhead
  /** The most jobs that one call takes. */
  private readonly callSize: number
  /** Calls of a lost lease among them: they occupy their place until they end. */
  private readonly calls = new InFlight()
  private lease: WorkerLease | undefined
  /** The last claim brought as many as were asked for. */
  private wasFull = false
  /** A report that jobs begin is under way. */
  private reporting = false
  private closed = false

  constructor(deps: JobExecutorDeps) {
    this.deps = deps
    this.backlog = new Backlog(deps.handlers)
    const { batch, prefetch = batch } = deps
    this.prefetch = new Prefetch(deps.concurrency(), prefetch)
    this.callSize = maxJobsPerCall(deps.handlers)
    // Two claims' worth: a claim that waits to be reported must not make the next one wait, too.
    this.beginAhead = new BeginAhead(deps.concurrency() * this.callSize, Math.min(prefetch, batch) * 2)
  }

  get detail(): string {
    return `${this.calls.size} running, ${this.backlog.size} waiting to begin`
  }

  /**
   * How many to claim now; 0: not yet, because claims of a few jobs cost as much as claims of many. Places that are free only until the jobs
   * that wait for them are reported to begin need none.
   */
  room(): number {
    const left = this.backlog.size - this.free * this.callSize
    if (left > this.prefetch.jobs / 2) return 0
    return Math.max(0, Math.min(this.deps.batch, this.prefetch.jobs - left))
  }

  /** Jobs are so short that those of a claim have begun before the next claim can be answered: it must be under way already. */
  get claimsNextEarly(): boolean {
    return this.beginAhead.jobs >= this.deps.batch
  }

  /** How many jobs of the next claim begin without a report of their own: none may overtake those that wait for theirs. */
  get beginWithClaim(): number {
    if (this.backlog.waiting > 0) return 0
    // Which kinds the claim will bring is not known: one for each free place.
    if (this.deps.kinds.someFailOnFirstCrash) return this.freePlaces
    return this.beginnable
  }

  /** Places for which nothing waits. */
  get freePlaces(): number {
    return Math.max(0, this.free - this.backlog.size)
  }

  /** Calls that may begin. Fewer than 0 are none: there may be less room than there was when they began. */
  private get free(): number {
    return Math.max(0, this.deps.concurrency() - this.calls.size)
  }

  /** There is more room: what waits may begin. */
  roomChanged(): void {
    if (this.lease) this.fill()
  }

  /** These jobs run elsewhere already, and were adopted from another worker: `handler` waits for their end. */
  resume(lease: WorkerLease, jobs: readonly Job[], handler: OutcomeHandler): void {
    this.lease ??= lease
    void this.perform(lease, { handler, jobs })
  }

  /** Takes out the jobs that have not begun: the process is about to end. */
  abandon(): ClaimedJob[] {
    this.closed = true
    return this.backlog.remove()
  }

  /** `full`: the claim brought as many jobs as it asked for, so there are more. */
  begin(lease: WorkerLease, jobs: readonly ClaimedJob[], full: boolean): void {
    if (lease.over) return
    if (this.closed) {
      for (const job of jobs) lease.report({ job, as: 'released' })
      return
    }
    // Nothing waited for places that were free while these jobs were on their way.
    if (this.wasFull && this.freePlaces > 0) this.prefetch.grow()
    this.wasFull = full
    this.lease = lease
    this.backlog.add(jobs)
    this.fill()
  }

  /** Gives jobs back that would begin sooner elsewhere. */
  releaseWaiting(): void {
    if (this.backlog.waitedMs < MAX_PREFETCH_WAIT_MS) return
    this.prefetch.shrink()
    this.release()
  }

  /** The lease was lost: none of its jobs begins any more. Its running calls are aborted by the lease. */
  forgetWaiting(): void {
    this.backlog.remove()
  }

  cancel(lease: WorkerLease, ids: ReadonlySet<string>): void {
    const reason = new JobAborted('cancelled', 'The job was cancelled')
    for (const job of this.backlog.remove(ids)) {
      lease.report({ job, as: 'failed', error: reason.message, fatal: false })
    }
    for (const call of lease.calls) {
      // The other jobs of a batch must not be stopped with it; the database does not run it again.
      if (call.jobs.length === 1 && ids.has(call.jobs[0]!.job_id)) call.abort(reason)
    }
  }

  /** Begins nothing more. Waits `timeoutMs` for the running calls, then aborts them and waits `graceMs`. */
  async close(timeoutMs: number, graceMs: number): Promise<void> {
    this.closed = true
    this.release()
    if (await this.calls.idleWithin(timeoutMs)) return
    const reason = new JobAborted('stopping', 'The worker is stopping')
    for (const call of this.lease?.calls ?? []) call.abort(reason)
    await this.calls.idleWithin(graceMs)
  }

  private release(): void {
    for (const job of this.backlog.remove()) this.lease?.report({ job, as: 'released' })
  }

  private fill(): void {
    while (this.free > 0 && this.backlog.ready > 0) {
      // By the clock: in a process that was frozen the handlers end before any timer says that the lease has passed.
      if (!this.lease?.mayBegin) return
      const next = this.backlog.next()
      if (!next) break
      void this.perform(this.lease!, next)
    }
    if (this.backlog.waiting > 0) void this.reportBeginning()
  }

  private get beginnable(): number {
    return Math.max(0, this.free * this.callSize + this.beginAhead.jobs - this.backlog.ready)
  }

  /** Reports the jobs that begin next, in one statement; what comes meanwhile goes with the next one. */
  private async reportBeginning(): Promise<void> {
    if (this.reporting || this.nextToReport().length === 0) return
    this.reporting = true
    // Other calls may end in the same turn: one statement fills their places.
    if (this.calls.size > 0) await setImmediate()
    const { lease, backlog } = this
    const jobs = this.nextToReport()
    const confirmed = jobs.length === 0 ? undefined : await lease!.begin(jobs)
    this.reporting = false
    if (jobs.length === 0 || lease !== this.lease || lease!.over) return
    if (confirmed) backlog.confirm(jobs, confirmed)
    this.fill()
  }

  private nextToReport(): readonly ClaimedJob[] {
    const { lease, backlog } = this
    if (this.closed || !lease || lease.over || backlog.waiting === 0) return []
    // With all places taken there is no hurry: many in one statement instead of each alone.
    if (this.free === 0 && backlog.ready * 2 > this.beginAhead.jobs) return []
    return this.beginnableAhead(backlog.peek(this.beginnable))
  }

  /** Without jobs that one crash would make dead letters, as long as no place is free for them. */
  private beginnableAhead(jobs: readonly ClaimedJob[]): readonly ClaimedJob[] {
    const { kinds } = this.deps
    const free = this.free - this.backlog.ready
    const first = jobs.findIndex((job, n) => n >= free && kinds.failsOnFirstCrash(job.job_kind))
    return first < 0 ? jobs : jobs.slice(0, first)
  }

  private async perform(lease: WorkerLease, { handler, jobs }: NextCall): Promise<void> {
    const { pool, log, hooks } = this.deps
    const call = new HandlerCall(handler, jobs, { database: { pool, worker: lease.worker }, log })
    const kind = jobs[0]!.job_kind
    const began = performance.now()
    this.calls.begin()
    lease.calls.add(call)
    hooks.onCallBegin?.(kind, jobs.length)
    const outcomes = await call.run(this.deps.kinds.timeoutOf(kind))
    this.beginAhead.took(performance.now() - began)
    if (this.wasFull) this.prefetch.growTo(this.beginAhead.jobs)
    this.calls.end()
    lease.calls.delete(call)
    for (const outcome of outcomes) this.report(lease, outcome, performance.now() - began)
    this.fill()
    if (!this.closed) this.deps.onRoom()
  }

  private report(lease: WorkerLease, outcome: Outcome, ms: number): void {
    const as = lease.over ? 'dropped' : outcome.as === 'already_completed' ? 'completed' : outcome.as
    this.deps.hooks.onCallEnd?.(outcome.job, as, ms)
    if (lease.over) outcome.settle?.(false)
    else lease.report(outcome)
  }
}

interface NextCall {
  readonly handler: AnyHandler
  readonly jobs: readonly Job[]
}

/** Jobs that were claimed and have not begun, in the order in which they will. */
export class Backlog {
  private readonly handlers: WorkerHandlers
  /** Reported as begun: a crash is charged to them. */
  private reported: ClaimedJob[] = []
  private head = 0
  /** Prefetched: they begin after they were reported. */
  private prefetched: ClaimedJob[] = []
  private since = 0

  constructor(handlers: WorkerHandlers) {
    this.handlers = handlers
  }

  get size(): number {
    return this.ready + this.prefetched.length
  }

  /** How many may begin now. */
  get ready(): number {
    return this.reported.length - this.head
  }

  get waiting(): number {
    return this.prefetched.length
  }

  /** How long the first job has been waiting here. */
  get waitedMs(): number {
    return this.size === 0 ? 0 : performance.now() - this.since
  }

  add(claimed: readonly ClaimedJob[]): void {
    if (claimed.length === 0) return
    if (this.size === 0) this.since = performance.now()
    this.makeReady(claimed.filter((job) => job.begun))
    this.prefetched = byPriority(
      this.prefetched,
      claimed.filter((job) => !job.begun),
    )
  }

  /** The first of those that must be reported before they begin. */
  peek(count: number): ClaimedJob[] {
    return this.prefetched.slice(0, count)
  }

  /** These were reported. Those that the database no longer counts as ours are dropped. */
  confirm(reported: readonly ClaimedJob[], confirmed: ReadonlySet<string>): void {
    const asked = new Set(reported.map((job) => job.job_id))
    const mine = this.prefetched.filter((job) => asked.has(job.job_id) && confirmed.has(job.job_id))
    this.prefetched = this.prefetched.filter((job) => !asked.has(job.job_id))
    this.makeReady(mine)
  }

  /** The first job; where its handler takes a batch, with the other jobs of its kind. */
  next(): NextCall | undefined {
    const first = this.reported[this.head]
    if (first === undefined) return undefined
    this.since = performance.now()
    const handler = this.handlers[first.job_kind]!
    const batch = batchOf(handler) ?? 1
    if (batch === 1) {
      this.head++
      return { handler, jobs: [first] }
    }
    const taken: ClaimedJob[] = []
    const left: ClaimedJob[] = []
    for (const job of this.reported.slice(this.head)) {
      const fits = job.job_kind === first.job_kind && taken.length < batch
      ;(fits ? taken : left).push(job)
    }
    this.reported = left
    this.head = 0
    return { handler, jobs: taken }
  }

  /** Takes these jobs out, or all. */
  remove(ids?: ReadonlySet<string>): ClaimedJob[] {
    const here = this.reported.slice(this.head).concat(this.prefetched)
    this.reported =
      ids === undefined ? [] : this.reported.slice(this.head).filter((job) => !ids.has(job.job_id))
    this.prefetched = ids === undefined ? [] : this.prefetched.filter((job) => !ids.has(job.job_id))
    this.head = 0
    return ids === undefined ? here : here.filter((job) => ids.has(job.job_id))
  }

  private makeReady(jobs: readonly ClaimedJob[]): void {
    this.reported = byPriority(this.reported.slice(this.head), jobs)
    this.head = 0
  }
}

/** Higher priority first. Stable, so that within a priority the older claim stays first. */
function byPriority(here: ClaimedJob[], more: readonly ClaimedJob[]): ClaimedJob[] {
  const last = here.at(-1)
  const all = here.concat(more)
  if (last === undefined || !more.some((job) => job.priority > last.priority)) return all
  return all.sort((one, other) => other.priority - one.priority)
}

interface HandlerCallDeps {
  /** Undefined: in a remote worker, which has none. */
  readonly database?: { readonly pool: Pool; readonly worker: string }
  /** In a remote worker: its gateway enqueues. `from` is the job that it follows from. */
  readonly enqueue?: (from: Job, job: NewJob) => Promise<string>
  readonly log: Logger
}

/** A handler that ignores its signal is not waited for longer than this after its time is up. */
const GRACE_MS = 5000
const MAX_ERROR_LENGTH = 2000

/** One call of a handler, for one job or for a batch. */
export class HandlerCall implements RunningCall {
  readonly jobs: readonly Job[]
  readonly beganAt = performance.now()
  reportedAsLong = false
  private readonly handler: AnyHandler
  private readonly deps: HandlerCallDeps
  /** Set by the handler through its context: they go before how the call ended. */
  private readonly outcomes = new Map<string, Outcome>()
  private readonly results = new Map<string, unknown>()
  private readonly followUps = new Map<string, number>()
  private controller: AbortController | undefined
  private aborted: JobAborted | undefined

  constructor(handler: AnyHandler, jobs: readonly Job[], deps: HandlerCallDeps) {
    this.handler = handler
    this.jobs = jobs
    this.deps = deps
  }

  abort(reason: JobAborted): void {
    this.aborted ??= reason
    this.controller?.abort(this.aborted)
  }

  /** Never throws: a handler's error is an outcome. */
  async run(timeoutMs?: number): Promise<Outcome[]> {
    const ended = this.attempt(timeoutMs)
    if (timeoutMs === undefined) return ended
    return within(timeoutMs, ended, (error) => {
      this.abort(error)
      return this.jobs.map((job) => ({ job, as: 'failed', error: error.message, fatal: false }))
    })
  }

  private async attempt(timeoutMs: number | undefined): Promise<Outcome[]> {
    try {
      if (isOutcomeHandler(this.handler))
        return await this.handler.outcomes(this.jobs, {
          signal: this.signal(),
          worker: this.deps.database!.worker,
          timeoutMs,
        })
      const result = await inSpan(this.jobs, () => this.invoke())
      return this.jobs.map((job) => this.outcomes.get(job.job_id) ?? this.completed(job, result))
    } catch (error) {
      this.deps.log.debug(
        { error: errorText(error), jobs: this.jobs.map(({ job_id }) => job_id) },
        'handler threw',
      )
      return this.jobs.map((job) => this.outcomes.get(job.job_id) ?? this.failed(job, error))
    }
  }

  private invoke(): unknown {
    if (isBatchHandler(this.handler))
      return this.handler.run(this.jobs, new BatchCallContext(this, this.deps.log))
    const context = new JobCallContext(this, this.jobs[0]!, this.deps.log)
    if (typeof this.handler === 'function') return this.handler(this.jobs[0]!, context)
    return (this.handler as HandlerWithNeeds).run(this.jobs[0]!, context)
  }

  private completed(job: Job, result: unknown): Outcome {
    const own = isBatchHandler(this.handler) ? this.results.get(job.job_id) : result
    return this.isStorable(own, job) ? { job, as: 'completed', result: own } : { job, as: 'completed' }
  }

  /** An object of references. Anything else that a function happens to return (true, a count) was hardly meant to be stored. */
  private isStorable(result: unknown, job: Job): boolean {
    if (typeof result !== 'object' || result === null || Array.isArray(result)) return false
    try {
      return JSON.stringify(result) !== undefined
    } catch (error) {
      this.deps.log.warn({ err: error, job_id: job.job_id }, 'the result of a job cannot be stored')
      return false
    }
  }

  private failed(job: Job, error: unknown): Outcome {
    if (this.aborted?.why === 'stopping') return { job, as: 'released' }
    return { job, as: 'failed', error: errorText(this.aborted ?? error), fatal: isFatal(error) }
  }

  signal(): AbortSignal {
    if (!this.controller) {
      // Made when it is asked for: most handlers do not, and it costs more than the rest of a call.
      this.controller = new AbortController()
      if (this.aborted) this.controller.abort(this.aborted)
    }
    return this.controller.signal
  }

  setOutcome(outcome: Outcome): void {
    this.outcomes.set(outcome.job.job_id, outcome)
  }

  setFailed(job: Job, error: unknown): void {
    this.setOutcome({ job, as: 'failed', error: errorText(error), fatal: isFatal(error) })
  }

  setResult(job: Job, result: unknown): void {
    this.results.set(job.job_id, result)
  }

  async transaction<T>(job: Job, work: (client: Client) => Promise<T>): Promise<T> {
    const { pool } = this.database('transaction', job)
    try {
      return await inTransaction(pool, async (client) => {
        if (job.causation_event_id !== null) {
          await client.query(`select set_config('stagedoor.cause', $1, true)`, [job.causation_event_id])
        }
        return work(client)
      })
    } catch (error) {
      // Rolled back, and the completion with it.
      if (this.outcomes.get(job.job_id)?.as === 'already_completed') this.outcomes.delete(job.job_id)
      throw error
    }
  }

  async complete(client: Client, job: Job, result: unknown): Promise<void> {
    const { worker } = this.database('complete', job)
    const counted = await completeJobs(client, worker, [{ job, result }])
    if (counted.length === 0) throw new JobAborted('lease_lost', 'The lease of this job has passed')
    this.outcomes.set(job.job_id, { job, as: 'already_completed' })
  }

  enqueue(from: Job, job: NewJob, client?: Client): Promise<string> {
    const keyed = { ...job, idempotency_key: job.idempotency_key ?? this.keyOf(from, job) }
    if (this.deps.enqueue) return this.deps.enqueue(from, keyed)
    return enqueue(client ?? this.database('enqueue', from).pool, followUpOf(from, keyed))
  }

  private database(what: string, job: Job): { readonly pool: Pool; readonly worker: string } {
    if (this.deps.database) return this.deps.database
    throw new StagedoorError('handler_needs_database', { kind: job.job_kind, what })
  }

  /**
   * The same follow-up in a second run of the handler has the same key; the same twice in one run has two. When it is due and
   * how urgent it is are no part of it: "in an hour" is another time in the second run.
   */
  private keyOf(from: Job, job: NewJob): string {
    const { process_after: _due, priority: _urgency, ...what } = job
    const content = createHash('sha256').update(JSON.stringify(what)).digest('base64url').slice(0, 22)
    const key = `after:${from.job_id}:${content}`
    const nth = (this.followUps.get(key) ?? 0) + 1
    this.followUps.set(key, nth)
    return `${key}:${nth}`
  }
}

/** A job that a handler enqueues, in the trace and the workspace of the job that it runs for. */
export function followUpOf(from: Job, job: NewJob): NewJob {
  return {
    // Where no event is behind it all, the first job is.
    correlation_id: from.correlation_id ?? from.job_id,
    ...(from.causation_event_id !== null && { causation_event_id: from.causation_event_id }),
    ...(from.workspace_id !== null && { workspace_id: from.workspace_id }),
    ...job,
  }
}

/** After `ms` the call is aborted; some time later it is no longer waited for, whether it listened or not. */
async function within(
  ms: number,
  ended: Promise<Outcome[]>,
  expire: (error: JobAborted) => Outcome[],
): Promise<Outcome[]> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<Outcome[]>((resolve) => {
    timer = setTimeout(() => {
      const outcomes = expire(new JobAborted('timed_out', `The handler took longer than ${ms / 1000} s`))
      timer = setTimeout(resolve, GRACE_MS, outcomes)
    }, ms)
  })
  try {
    return await Promise.race([ended, expired])
  } finally {
    clearTimeout(timer)
  }
}

/** For last_error: what a person needs, in text that PostgreSQL can store. Never throws. */
export function errorText(error: unknown): string {
  const text = textOfThrown(error, ({ name, message, cause }) =>
    cause instanceof Error ? `${name}: ${message} (${cause.message})` : `${name}: ${message}`,
  )
  return storableText(text, '').slice(0, MAX_ERROR_LENGTH)
}

/** By name: a handler's file may bring its own copy of the package. */
function isFatal(error: unknown): boolean {
  try {
    return error instanceof Error && error.name === 'FatalJobError'
  } catch {
    return false
  }
}

// The contexts that handlers get. Everything is made when it is asked for, because most handlers ask for little (100,000 jobs: 0.2 s
// less); and each is a function of its own, so that `(job, { enqueue, signal }) => …` works.

class JobCallContext implements JobContext {
  readonly job: Job
  private readonly call: HandlerCall
  private readonly parent: Logger

  constructor(call: HandlerCall, job: Job, log: Logger) {
    this.call = call
    this.job = job
    this.parent = log
  }

  get signal(): AbortSignal {
    return this.call.signal()
  }

  get log(): Logger {
    return this.parent.child({ job_id: this.job.job_id, job_kind: this.job.job_kind })
  }

  get snooze(): JobContext['snooze'] {
    return (until) => this.call.setOutcome({ job: this.job, as: 'snoozed', until })
  }

  get enqueue(): JobContext['enqueue'] {
    return (job, options) => this.call.enqueue(this.job, job, options?.client)
  }

  get transaction(): JobContext['transaction'] {
    return (work) => this.call.transaction(this.job, work)
  }

  get complete(): JobContext['complete'] {
    return (client, result) => this.call.complete(client, this.job, result)
  }
}

class BatchCallContext implements BatchContext {
  private readonly call: HandlerCall
  private readonly parent: Logger

  constructor(call: HandlerCall, log: Logger) {
    this.call = call
    this.parent = log
  }

  get jobs(): readonly Job[] {
    return this.call.jobs
  }

  get signal(): AbortSignal {
    return this.call.signal()
  }

  get log(): Logger {
    return this.parent.child({ job_kind: this.jobs[0]!.job_kind, jobs: this.jobs.length })
  }

  get snooze(): BatchContext['snooze'] {
    return (job, until) => this.call.setOutcome({ job, as: 'snoozed', until })
  }

  get fail(): BatchContext['fail'] {
    return (job, error) => this.call.setFailed(job, error)
  }

  get result(): BatchContext['result'] {
    return (job, value) => this.call.setResult(job, value)
  }

  get enqueue(): BatchContext['enqueue'] {
    return (from, job, options) => this.call.enqueue(from, job, options?.client)
  }

  get transaction(): BatchContext['transaction'] {
    return (work) => this.call.transaction(this.jobs[0]!, work)
  }
}
