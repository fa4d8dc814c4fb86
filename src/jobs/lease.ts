/**
 * The lease protocol of jobs, one function a statement: our worker calls them, and the HTTP API calls them for executors
 * elsewhere. A worker has one lease, and jobs point at the worker; a report about a job counts only under the job's epoch.
 * At the end WorkerLease, which holds such a lease for our worker.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { StagedoorError } from '../kernel/errors.ts'
import type { DedicatedConnection, Pool, Queryable } from '../kernel/postgres/connection.ts'
import { isTransient } from '../kernel/postgres/errors.ts'
import { storableText } from '../kernel/text.ts'
import { BatchWriter, retryWhenTransient } from '../runtime/batch-writer.ts'
import { DEFAULT_LEASE_MS, type Instant, instant, LEASE_REFUSED, LeaseKeeper } from '../runtime/lease.ts'
import { JobAborted } from './handlers.ts'
import type { Job } from './queue.ts'
import type { FailureOutcome } from './shapes.ts'
import type { ClaimedJob, JobRef, Outcome, RunningCall, WorkerHooks } from './worker-types.ts'

export type { FailureOutcome } from './shapes.ts'

interface WorkerTerms {
  readonly executor: string
  readonly kinds: readonly string[]
  readonly name?: string
  readonly leaseMs?: number
}

export interface Failure {
  readonly job: JobRef
  readonly error: string
  readonly fatal?: boolean
}

/** Per kind and priority: where the last claim ended. */
export type ClaimCursors = Readonly<
  Record<string, Readonly<Record<string, { process_after: string; job_id: string }>>>
>

/** A named statement is planned once a session, which must then be a session: through a transaction pooler it is none. */
interface Prepared {
  readonly prepared?: boolean
}

export async function registerWorker(db: Queryable, terms: WorkerTerms): Promise<string> {
  const { rows } = await db.query<{ worker: string }>(
    `select iu_core.fn_job_worker_register($1, $2, $3, $4 * interval '1 millisecond') as worker`,
    [terms.executor, terms.kinds, terms.name ?? null, terms.leaseMs ?? DEFAULT_LEASE_MS],
  )
  return rows[0]!.worker
}

const CLAIMED = `job_id, job_kind, executor, idempotency_key, source_ref, target_ref, payload_ref, safe_payload as payload, priority,
    process_after, process_after::text as due, correlation_id, causation_event_id, causation_depth, actor, workspace_id,
    enqueued_at, attempts, crashes, replays, lease_epoch, last_error, begun`
const CLAIM = `select ${CLAIMED} from iu_core.fn_job_claim($1, $2, $3, $4, $5, $6)`
const CLAIM_BY_ID = `select ${CLAIMED} from iu_core.fn_job_claim_by_id($1, $2)`
const CLAIM_SUSPECT = `select ${CLAIMED} from iu_core.fn_job_claim_suspects($1)`

export interface ClaimOptions {
  readonly after?: ClaimCursors | undefined
  readonly now?: Date | undefined
  /** So many begin without beginJobs, and are charged with a crash if the worker dies; default: all. */
  readonly begin?: number | undefined
  /** How many jobs the worker still has; with 0 it may get a suspect (a job with a crash behind it), and then only that one. */
  readonly held?: number | undefined
}

export async function claimJobs(
  db: Queryable,
  worker: string,
  limit: number,
  options: Prepared & ClaimOptions = {},
): Promise<ClaimedJob[]> {
  const after = options.after === undefined ? null : JSON.stringify(options.after)
  const { rows } = await db.query<ClaimedJob>({
    ...(options.prepared && { name: 'stagedoor_claim' }),
    text: CLAIM,
    values: [worker, limit, after, options.now ?? null, options.begin ?? null, options.held ?? 0],
  })
  return rows
}

/** Those of these jobs that this worker may have now; all of them begin. */
export async function claimJobsById(
  db: Queryable,
  worker: string,
  jobs: readonly string[],
): Promise<ClaimedJob[]> {
  const { rows } = await db.query<ClaimedJob>({
    name: 'stagedoor_claim_by_id',
    text: CLAIM_BY_ID,
    values: [worker, jobs],
  })
  return rows
}

/** One job with a crash behind it, or nothing. */
export async function claimSuspect(db: Queryable, worker: string): Promise<ClaimedJob[]> {
  const { rows } = await db.query<ClaimedJob>(CLAIM_SUSPECT, [worker])
  return rows
}

/** What may begin at once, then by priority, then by when they were due. */
export function byClaimOrder(a: ClaimedJob, b: ClaimedJob): number {
  return (
    Number(b.begun) - Number(a.begun) ||
    b.priority - a.priority ||
    a.process_after.getTime() - b.process_after.getTime() ||
    (a.job_id < b.job_id ? -1 : 1)
  )
}

/** Reports that prefetched jobs begin. Returns the ids of those that may: still leased under that epoch. */
export async function beginJobs(
  db: Queryable,
  worker: string,
  jobs: readonly JobRef[],
  options: Prepared = {},
): Promise<string[]> {
  const { rows } = await db.query<{ job_id: string }>({
    ...(options.prepared && { name: 'stagedoor_begin' }),
    text: 'select job_id from iu_core.fn_job_begin($1, $2, $3) as job_id',
    values: [worker, jobs.map((job) => job.job_id), jobs.map((job) => job.lease_epoch)],
  })
  return rows.map((row) => row.job_id)
}

/** Whether a suspect (a job with a crash behind it) waits for a worker that has no other job. */
export async function isSuspectDue(db: Queryable, worker: string): Promise<boolean> {
  const { rows } = await db.query<{ due: boolean }>('select iu_core.fn_job_suspect_due($1) as due', [worker])
  return rows[0]!.due
}

/** Throws SD703 (lease_lost) when it came too late. `cancelled`: running jobs that somebody wants to end. */
export async function keepLease(
  db: Queryable,
  worker: string,
): Promise<{ leased_until: Date; cancelled: string[] }> {
  const { rows } = await db.query<{ leased_until: Date; cancelled: string[] | null }>(HEARTBEAT, [worker])
  return { leased_until: rows[0]!.leased_until, cancelled: rows[0]!.cancelled ?? [] }
}

const HEARTBEAT = 'select leased_until, cancelled from iu_core.fn_job_heartbeat($1)'

/** Deeper than this the database's own parser gives up at some point that depends on its stack. */
const MAX_RESULT_DEPTH = 100

/** Of a result that came over HTTP. */
export function requireShallowResult(result: unknown): void {
  if (depthOf(result, MAX_RESULT_DEPTH + 1) <= MAX_RESULT_DEPTH) return
  throw new StagedoorError(
    'job_invalid',
    { kind: null, reason: `its result is nested more than ${MAX_RESULT_DEPTH} deep` },
    {
      message: `The result of a job is nested more than ${MAX_RESULT_DEPTH} deep`,
      hint: 'A result carries references: put the data into a table and its key into the result.',
    },
  )
}

/** How deep objects and arrays stand in each other, counted up to `most`. No recursion: the depth is the caller's. */
function depthOf(value: unknown, most: number): number {
  let level = [value]
  for (let depth = 0; ; depth++) {
    level = level.filter((one) => typeof one === 'object' && one !== null)
    if (level.length === 0 || depth === most) return depth
    level = level.flatMap((one) => Object.values(one as object))
  }
}

/** Returns the ids of those that counted: still leased by this worker under that epoch. */
export async function completeJobs(
  db: Queryable,
  worker: string,
  completed: readonly { job: JobRef; result?: unknown }[],
  options: Prepared = {},
): Promise<string[]> {
  const results = completed.map(({ result }) => (result === undefined ? null : JSON.stringify(result)))
  const { rows } = await db.query<{ job_id: string }>({
    ...(options.prepared && { name: 'stagedoor_complete' }),
    text: 'select job_id from iu_core.fn_job_complete($1, $2, $3, $4) as job_id',
    values: [
      worker,
      completed.map(({ job }) => job.job_id),
      completed.map(({ job }) => job.lease_epoch),
      results.some((result) => result !== null) ? results : null,
    ],
  })
  return rows.map((row) => row.job_id)
}

/** Which of these jobs this worker has completed before: tells a repeated report from one about a job of another worker. */
export async function completedBy(db: Queryable, worker: string, jobs: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ job_id: string }>(
    'select job_id from iu_core.fn_job_completed_by($1, $2) as job_id',
    [worker, jobs],
  )
  return rows.map((row) => row.job_id)
}

export async function failJobs(
  db: Queryable,
  worker: string,
  failures: readonly Failure[],
): Promise<FailureOutcome[]> {
  const { rows } = await db.query<FailureOutcome>(
    'select job_id, outcome, process_after from iu_core.fn_job_fail($1, $2, $3, $4, $5)',
    [
      worker,
      failures.map(({ job }) => job.job_id),
      failures.map(({ job }) => job.lease_epoch),
      // An error whose text cannot be stored must not keep the attempt from ending.
      failures.map(({ error }) => storableText(error, '')),
      failures.map(({ fatal }) => fatal ?? false),
    ],
  )
  return rows
}

interface Snooze {
  readonly job: JobRef
  readonly until: Date
}

/** The jobs run again at their times; no attempt is used. Returns the ids of those that counted. */
export async function snoozeJobs(
  db: Queryable,
  worker: string,
  snoozes: readonly Snooze[],
): Promise<string[]> {
  const { rows } = await db.query<{ job_id: string }>(
    `select s.job_id from unnest($2::uuid[], $3::integer[], $4::timestamptz[]) s (job_id, epoch, until)
      where iu_core.fn_job_snooze($1, s.job_id, s.epoch, s.until)`,
    [
      worker,
      snoozes.map(({ job }) => job.job_id),
      snoozes.map(({ job }) => job.lease_epoch),
      snoozes.map(({ until }) => until),
    ],
  )
  return rows.map((row) => row.job_id)
}

/** Gives jobs back that were claimed and not begun. Returns how many. */
export async function releaseJobs(db: Queryable, worker: string, jobs: readonly JobRef[]): Promise<number> {
  const { rows } = await db.query<{ released: number }>(
    'select iu_core.fn_job_release($1, $2, $3) as released',
    [worker, jobs.map((job) => job.job_id), jobs.map((job) => job.lease_epoch)],
  )
  return rows[0]!.released
}

/** Charges a crash to jobs whose remote worker died. Returns the ids of those that counted. */
export async function crashJobs(
  db: Queryable,
  worker: string,
  crashes: readonly { readonly job: JobRef; readonly error: string }[],
): Promise<FailureOutcome[]> {
  const { rows } = await db.query<FailureOutcome>(
    `select c.job_id, c.outcome, c.process_after from (select error, array_agg(job_id) as jobs, array_agg(epoch) as epochs
        from unnest($2::uuid[], $3::integer[], $4::text[]) d (job_id, epoch, error) group by error) d
      cross join lateral iu_core.fn_job_crash($1, d.jobs, d.epochs, d.error) c`,
    [
      worker,
      crashes.map(({ job }) => job.job_id),
      crashes.map(({ job }) => job.lease_epoch),
      crashes.map(({ error }) => storableText(error, '')),
    ],
  )
  return rows
}

/**
 * Moves jobs of another worker to this one, where `from` still has them under these epochs. Returns those that are this one's now;
 * `was_mine`: also before, by the snapshot of the statement.
 */
export async function adoptJobs(
  db: Queryable,
  from: string,
  to: string,
  jobs: readonly JobRef[],
): Promise<(ClaimedJob & { readonly was_mine: boolean })[]> {
  const { rows } = await db.query<ClaimedJob & { was_mine: boolean }>(
    `select ${CLAIMED}, exists (
            select from iu_core.job_queue b where b.job_id = a.job_id and b.leased_by = $2) as was_mine
       from iu_core.fn_job_adopt($1, $2, $3, $4) a`,
    [from, to, jobs.map((job) => job.job_id), jobs.map((job) => job.lease_epoch)],
  )
  return rows
}

/** Ends the lease and gives all jobs back. `crash`: the error because of which it ends; jobs that had begun are charged with it. */
export async function leaveWorker(db: Queryable, worker: string, crash?: string): Promise<void> {
  await db.query('select iu_core.fn_job_worker_leave($1, $2)', [worker, crash ?? null])
}

/** Gives back the jobs of workers whose lease has passed. Returns how many. */
export async function reapJobs(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ reaped: number }>('select iu_core.fn_job_reap() as reaped')
  return rows[0]!.reaped
}

/** The jobs that are leased by this worker. Reads the whole queue (the lease is in no index): for after a broken connection. */
export async function listLeasedJobs(db: Queryable, worker: string): Promise<JobRef[]> {
  const { rows } = await db.query<JobRef & pg.QueryResultRow>(
    'select job_id, lease_epoch from iu_core.job_queue where leased_by = $1',
    [worker],
  )
  return rows
}

/** The lease of this worker has ended: it must register again. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'SD703'
}

// WorkerLease: a worker's lease while the worker holds it, the jobs under it, and the reports about them that are to be written.
// When the lease is lost everything under it ends at once; the worker then takes a new one.

interface WorkerLeaseDeps {
  readonly pool: Pool
  /** Sessions of its own for reports about jobs: handlers may use all of `pool`. */
  readonly reserved: Pool
  /** The session for heartbeats. */
  readonly connection: DedicatedConnection
  readonly terms: WorkerTerms & { readonly leaseMs: number }
  readonly log: Logger
  readonly hooks: WorkerHooks
  onLost(lease: WorkerLease): void
  onCancel(lease: WorkerLease, ids: ReadonlySet<string>): void
  /** A report was written: a limited kind may have room again. */
  onWritten(): void
  /** Jobs go back into the queue and are due at some time. */
  onDelayed(): void
}

interface Completion {
  readonly job: JobRef
  readonly result?: unknown
}

interface Crash {
  readonly job: JobRef
  readonly error: string
}

interface HeartbeatRow extends pg.QueryResultRow {
  readonly cancelled: string[] | null
}

const RETRY_MS = 250
const CRASH_MS = 1000
/** As long as fn_job_claim gives nothing else to a worker that has a suspect. */
const SUSPECT_ALONE_MS = 10_000

export class WorkerLease {
  readonly worker: string
  readonly calls = new Set<RunningCall>()
  /** Every job that was claimed and about which nothing is written yet. */
  private readonly tracked = new Map<string, JobRef>()
  private readonly deps: WorkerLeaseDeps
  private readonly keeper: LeaseKeeper<HeartbeatRow | undefined>
  private readonly completions: BatchWriter<Completion>
  private readonly failures: BatchWriter<Failure>
  private readonly snoozes: BatchWriter<Snooze>
  private readonly releases: BatchWriter<JobRef>
  private readonly crashes: BatchWriter<Crash>
  /** Of reports that are not written yet, by job. */
  private readonly settles = new Map<string, (counted: boolean) => void>()
  private suspect: { readonly id: string; readonly since: number } | undefined
  private isIdle = false
  /** The last report that the worker is busy, perhaps still under way. */
  private pendingIdleUpdate: Promise<void> = Promise.resolve()

  static async take(deps: WorkerLeaseDeps): Promise<WorkerLease> {
    const sentAt = instant()
    // Both sessions are open from here on: the one for heartbeats and the one for reports.
    const [worker] = await Promise.all([
      registerWorker(deps.reserved, deps.terms),
      deps.connection.query('select 1'),
    ])
    return new WorkerLease(worker, deps, sentAt)
  }

  private constructor(worker: string, deps: WorkerLeaseDeps, sentAt: Instant) {
    this.worker = worker
    this.deps = deps
    this.completions = this.createWriter({
      write: (completions) => this.writeCompletions(completions),
      jobOf: ({ job }) => job,
      // The handler has done its work; only what it returned cannot be stored.
      onRefused: ({ job, result }, error) => {
        deps.log.warn({ err: error, job_id: job.job_id }, 'the result of a job cannot be stored')
        if (result === undefined) this.crashUnwritable(job)
        else this.completions.add({ job })
      },
    })
    this.failures = this.createWriter({
      write: (failures) => this.writeFailures(failures),
      jobOf: ({ job }) => job,
      delays: true,
      onRefused: ({ job }, error) => {
        deps.log.error({ err: error, job_id: job.job_id }, 'job outcome rejected')
        this.crashUnwritable(job)
      },
    })
    this.snoozes = this.createWriter({
      write: async (snoozes) => new Set(await snoozeJobs(deps.reserved, worker, snoozes)),
      jobOf: ({ job }) => job,
      delays: true,
      onRefused: ({ job }, error) => this.failures.add({ job, error: String(error) }),
    })
    this.releases = this.createWriter({
      write: async (jobs) => {
        await releaseJobs(deps.reserved, worker, jobs)
        return ALL
      },
      jobOf: (job) => job,
      delays: true,
    })
    this.crashes = this.createWriter({
      write: async (crashes) => {
        const outcomes = await crashJobs(deps.reserved, worker, crashes)
        logFailures(deps.log, crashes, outcomes)
        return idsOf(outcomes)
      },
      jobOf: ({ job }) => job,
      delays: true,
      onRefused: ({ job }, error) => {
        deps.log.error({ err: error, job_id: job.job_id }, 'crash of a job rejected')
        this.settle(job, false)
        this.releases.add(job)
      },
    })
    this.keeper = new LeaseKeeper({
      leaseMs: deps.terms.leaseMs,
      sentAt,
      log: deps.log,
      sendHeartbeat: async () => (await deps.connection.query<HeartbeatRow>(HEARTBEAT, [worker]))[0],
      onHeartbeat: (row) => {
        if (row?.cancelled?.length) deps.onCancel(this, new Set(row.cancelled))
      },
      isRefused: isLeaseLost,
      onLost: (reason) => this.dropEverything(reason),
    })
    this.keeper.start()
  }

  get over(): boolean {
    return this.keeper.over
  }

  /**
   * Asked before a job begins: a worker that was frozen past its lease must not begin jobs that others have by now. So a job is
   * begun again only if its lease passed while it ran.
   */
  get mayBegin(): boolean {
    return this.keeper.mayBegin('a job')
  }

  /** Jobs that are leased by this worker as the database sees it: waiting, running, or not reported yet. */
  get size(): number {
    return this.tracked.size
  }

  /** The database knows that this worker is idle: an enqueue notifies it, and may name the job. */
  get idle(): boolean {
    return this.isIdle
  }

  track(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) this.tracked.set(job.job_id, job)
    const suspect = jobs.find((job) => job.crashes > 0)
    if (suspect) this.suspect = { id: suspect.job_id, since: performance.now() }
  }

  /** For how long the suspect that runs keeps the worker from other jobs; undefined: there is none, or no longer. */
  get suspectAloneForMs(): number | undefined {
    if (this.suspect === undefined || !this.tracked.has(this.suspect.id)) return undefined
    const left = this.suspect.since + SUSPECT_ALONE_MS - performance.now()
    return left > 0 ? left : undefined
  }

  /** Reports to the database that these jobs begin. Undefined: it does not answer just now. */
  async begin(jobs: readonly JobRef[]): Promise<ReadonlySet<string> | undefined> {
    try {
      return new Set(await beginJobs(this.deps.reserved, this.worker, jobs, { prepared: true }))
    } catch (error) {
      if (isLeaseLost(error)) this.lose(LEASE_REFUSED)
      else {
        this.deps.log.warn({ err: error }, 'the database does not answer; trying again')
        await delay(RETRY_MS)
      }
      return undefined
    }
  }

  report(outcome: Outcome): void {
    const { job, settle } = outcome
    // What is reported under a lost lease does not count.
    if (this.over) {
      settle?.(false)
      return
    }
    if (settle) this.settles.set(job.job_id, settle)
    switch (outcome.as) {
      case 'crashed':
        this.crashes.add({ job, error: outcome.error })
        break
      case 'moved':
        this.tracked.delete(job.job_id)
        this.settle(job, false)
        this.deps.onWritten()
        break
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
      case 'already_completed':
        this.tracked.delete(job.job_id)
        this.settle(job, true)
        this.deps.onWritten()
    }
  }

  /**
   * Takes over jobs that `from` has leased and that run already. They are tracked before the database is asked: where its answer is lost they
   * may be ours. Not those that were ours before and have not ended here: another call runs them. Tries until it answers; throws when this
   * lease is lost.
   */
  async adopt(from: string, jobs: readonly JobRef[]): Promise<ClaimedJob[]> {
    const before = new Set(jobs.filter(({ job_id }) => this.tracked.has(job_id)).map(({ job_id }) => job_id))
    for (const job of jobs) if (!before.has(job.job_id)) this.tracked.set(job.job_id, job)
    while (!this.over) {
      try {
        const answer = await adoptJobs(this.deps.reserved, from, this.worker, jobs)
        if (this.over) break
        const adopted = answer.filter(
          ({ job_id, was_mine }) => !(was_mine && before.has(job_id) && this.tracked.has(job_id)),
        )
        const mine = new Set(adopted.map(({ job_id }) => job_id))
        for (const { job_id } of jobs)
          if (!mine.has(job_id) && !before.has(job_id)) this.tracked.delete(job_id)
        // A call that was moved away has ended meanwhile, and with it what was tracked.
        for (const job of adopted) this.tracked.set(job.job_id, job)
        return adopted
      } catch (error) {
        if (isLeaseLost(error)) this.lose(LEASE_REFUSED)
        else if (!isTransient(error)) {
          for (const { job_id } of jobs) if (!before.has(job_id)) this.tracked.delete(job_id)
          throw error
        } else await delay(RETRY_MS)
      }
    }
    throw new Error('the lease of this worker was lost while it took jobs over')
  }

  async markIdle(): Promise<void> {
    // On another connection it could overtake the opposite report, and no enqueue would notify us.
    await this.pendingIdleUpdate
    await this.deps.pool.query('select iu_core.fn_job_worker_await_ids($1)', [this.worker])
    this.isIdle = true
  }

  /** Nobody waits for the answer: too many notifications do no harm. */
  markBusy(): void {
    this.isIdle = false
    this.pendingIdleUpdate = this.deps.pool
      .query('select iu_core.fn_job_worker_set_idle($1, false)', [this.worker])
      .then(
        () => {},
        () => {},
      )
  }

  /** The server restarted: it keeps in memory only who is idle. */
  forgetIdle(): void {
    this.isIdle = false
  }

  /**
   * Gives back jobs that are leased by us and that we do not know: those of a claim whose answer was lost. The heartbeat comes
   * first, because it waits for a claim that is still under way.
   */
  async releaseUntrackedJobs(): Promise<number> {
    await this.deps.connection.query(HEARTBEAT, [this.worker])
    const leased = await listLeasedJobs(this.deps.pool, this.worker)
    const untracked = leased.filter((job) => !this.tracked.has(job.job_id))
    if (untracked.length > 0) await releaseJobs(this.deps.pool, this.worker, untracked)
    return untracked.length
  }

  /** Resolves when everything that was reported is in the database, or the lease is lost. */
  async drain(): Promise<void> {
    for (const writer of this.writers) await writer.drain()
  }

  lose(reason: string): void {
    this.keeper.lose(reason)
  }

  /** Gives back what is left. Where the database does not answer, the lease passes by itself. */
  async leave(): Promise<void> {
    if (this.over) return
    this.keeper.end()
    await leaveWorker(this.deps.reserved, this.worker).catch(() => {})
  }

  /**
   * The process ends because of `error`: reports are written, jobs that have not begun (`waiting`) go back as they were, and
   * those that had begun are charged with the error.
   */
  async crash(error: string, waiting: readonly JobRef[]): Promise<void> {
    if (this.over) return
    await Promise.race([this.drain(), delay(CRASH_MS)])
    if (this.over) return
    this.keeper.end()
    const { reserved } = this.deps
    if (waiting.length > 0) await releaseJobs(reserved, this.worker, waiting)
    await leaveWorker(reserved, this.worker, error)
  }

  /**
   * The process ends, and not because of its jobs, which run elsewhere: reports are written and `waiting` goes back. The lease stays, so that
   * another gateway adopts what runs.
   */
  async abandon(waiting: readonly JobRef[]): Promise<void> {
    if (this.over) return
    await Promise.race([this.drain(), delay(CRASH_MS)])
    if (this.over || waiting.length === 0) return
    await releaseJobs(this.deps.reserved, this.worker, waiting)
  }

  private get writers(): BatchWriter<never>[] {
    const { snoozes, completions, failures, crashes, releases } = this
    return [snoozes, completions, failures, crashes, releases] as unknown as BatchWriter<never>[]
  }

  private settle({ job_id }: JobRef, counted: boolean): void {
    const settle = this.settles.get(job_id)
    this.settles.delete(job_id)
    settle?.(counted)
  }

  /** The database takes no outcome of this job: it runs again, and is charged, so that this ends some time. */
  private crashUnwritable(job: JobRef): void {
    this.settle(job, false)
    this.crashes.add({ job, error: 'the database does not store its outcome' })
  }

  private dropEverything(reason: string): void {
    const aborted = new JobAborted('lease_lost', `The worker's lease has passed: ${reason}`)
    for (const call of this.calls) call.abort(aborted)
    for (const writer of this.writers) writer.drop()
    this.tracked.clear()
    for (const settle of this.settles.values()) settle(false)
    this.settles.clear()
    this.deps.log.warn({ worker: this.worker, reason }, 'lease lost; jobs that ran under it do not count')
    this.deps.hooks.onLeaseLost?.(reason)
    this.deps.onLost(this)
  }

  private createWriter<Item>({ write, jobOf, delays, onRefused }: ReportWriter<Item>): BatchWriter<Item> {
    const { log } = this.deps
    const reject = (item: Item, error: Error): void => {
      const job = jobOf(item)
      log.error({ err: error, job_id: job.job_id }, 'job outcome rejected')
      this.tracked.delete(job.job_id)
      this.settle(job, false)
    }
    return new BatchWriter<Item>({
      write: async (items) => {
        const counted = await write(items)
        for (const item of items) {
          const job = jobOf(item)
          this.tracked.delete(job.job_id)
          this.settle(job, counted.has(job.job_id))
        }
        this.deps.onWritten()
        if (delays) this.deps.onDelayed()
      },
      onRefused: (item, error) => {
        if (!this.over) (onRefused ?? reject)(item, error)
      },
      onFailure: (error, items, pause) => {
        if (isLeaseLost(error)) {
          this.lose(LEASE_REFUSED)
          return []
        }
        if (isTransient(error)) log.warn({ err: error }, 'the database does not answer; trying again')
        return retryWhenTransient(error, items, pause)
      },
    })
  }

  private async writeCompletions(completions: readonly Completion[]): Promise<Counted> {
    const began = performance.now()
    const counted = await completeJobs(this.deps.reserved, this.worker, completions, { prepared: true })
    this.deps.hooks.onWrite?.('completed', completions.length, performance.now() - began)
    return new Set(counted)
  }

  private async writeFailures(failures: readonly Failure[]): Promise<Counted> {
    const began = performance.now()
    const outcomes = await failJobs(this.deps.reserved, this.worker, failures)
    logFailures(this.deps.log, failures, outcomes)
    this.deps.hooks.onWrite?.('failed', failures.length, performance.now() - began)
    return idsOf(outcomes)
  }
}

/** The jobs about which a report counted. */
type Counted = Pick<ReadonlySet<string>, 'has'>

const ALL: Counted = { has: () => true }

function idsOf(outcomes: readonly FailureOutcome[]): Counted {
  return new Set(outcomes.map(({ job_id }) => job_id))
}

interface ReportWriter<Item> {
  write(items: readonly Item[]): Promise<Counted>
  jobOf(item: Item): JobRef
  /** The jobs run again at some time. */
  readonly delays?: true
  /** Default: it is logged. */
  onRefused?(item: Item, error: Error): void
}

/** Logs which jobs failed, why, and whether they will be retried. */
function logFailures(log: Logger, failures: readonly Failure[], outcomes: readonly FailureOutcome[]): void {
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.job_id, outcome]))
  for (const { job, error } of failures) {
    const { outcome, process_after } = outcomeOf.get(job.job_id) ?? {}
    const { job_id, job_kind, attempts: attempt } = job as JobRef & Partial<Job>
    const fields = { job_id, job_kind, attempt, error }
    if (outcome === 'dead') log.error(fields, 'job failed for good and is a dead letter')
    else if (outcome === 'retry') log.warn({ ...fields, next: process_after }, 'job failed; will be retried')
  }
}
