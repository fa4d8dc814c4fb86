/**
 * The lease protocol, one function a statement: what a worker of ours does, and what the HTTP API does for executors elsewhere.
 * A worker has one lease; jobs point at the worker; what is said of a job counts only under its own epoch.
 */
import type pg from 'pg'
import type { Queryable } from '../db/connection.ts'
import type { Job } from './job.ts'

/**
 * `due` is process_after with all its digits, for the claim cursor; a Date has only milliseconds. `begun`: it may begin at
 * once; the others only after beginJobs.
 */
export type ClaimedJob = Job & { readonly due: string; readonly begun: boolean }

export interface JobRef {
  readonly job_id: string
  readonly lease_epoch: number
}

export interface WorkerTerms {
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

export interface FailureOutcome {
  readonly job_id: string
  readonly outcome: 'retry' | 'dead' | 'cancelled'
  readonly process_after: Date | null
}

/** Per kind and priority: where the last claim ended. */
export type ClaimCursors = Readonly<
  Record<string, Readonly<Record<string, { process_after: string; job_id: string }>>>
>

/** A named statement is planned once a session, which must then be a session: through a transaction pooler it is none. */
interface Prepared {
  readonly prepared?: boolean
}

export const DEFAULT_LEASE_MS = 6000

export async function registerWorker(db: Queryable, terms: WorkerTerms): Promise<string> {
  const { rows } = await db.query<{ worker: string }>(
    `select iu_core.fn_job_worker_register($1, $2, $3, $4 * interval '1 millisecond') as worker`,
    [terms.executor, terms.kinds, terms.name ?? null, terms.leaseMs ?? DEFAULT_LEASE_MS],
  )
  return rows[0]!.worker
}

const CLAIM = `select job_id, job_kind, executor, idempotency_key, source_ref, target_ref, payload_ref, safe_payload, priority,
    process_after, process_after::text as due, correlation_id, causation_event_id, causation_depth, actor, workspace_id,
    enqueued_at, attempts, crashes, replays, lease_epoch, last_error, begun
  from iu_core.fn_job_claim($1, $2, $3, $4, $5, $6)`

export interface ClaimOptions {
  readonly after?: ClaimCursors | undefined
  readonly now?: Date | undefined
  /** So many begin without another word, and are charged if the worker dies; default: all. */
  readonly begin?: number | undefined
  /** How many jobs the worker still has in hand; with 0 it may get a job with a crash behind it, and then only that one. */
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

/** Said before jobs begin that were claimed ahead. Returns the ids of those that may: still leased under that epoch. */
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

/** Whether a job with a crash behind it waits for a worker with empty hands. */
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

export const HEARTBEAT = 'select leased_until, cancelled from iu_core.fn_job_heartbeat($1)'

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

/** Which of these this worker has completed before: to tell one said twice from one that is not its own. */
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
      // Text in PostgreSQL holds no NUL, and an attempt must not go on because of its error's text.
      failures.map(({ error }) => error.replaceAll('\0', '')),
      failures.map(({ fatal }) => fatal ?? false),
    ],
  )
  return rows
}

/** The job comes again then; no attempt is used. Returns whether it counted. */
export async function snoozeJob(db: Queryable, worker: string, job: JobRef, until: Date): Promise<boolean> {
  const { rows } = await db.query<{ counted: boolean }>(
    'select iu_core.fn_job_snooze($1, $2, $3, $4) as counted',
    [worker, job.job_id, job.lease_epoch, until],
  )
  return rows[0]!.counted
}

/** Gives back what was claimed and not begun. Returns how many. */
export async function releaseJobs(db: Queryable, worker: string, jobs: readonly JobRef[]): Promise<number> {
  const { rows } = await db.query<{ released: number }>(
    'select iu_core.fn_job_release($1, $2, $3) as released',
    [worker, jobs.map((job) => job.job_id), jobs.map((job) => job.lease_epoch)],
  )
  return rows[0]!.released
}

/** Ends the lease and gives everything back. `crash`: because of this error, with which what had begun is charged. */
export async function leaveWorker(db: Queryable, worker: string, crash?: string): Promise<void> {
  await db.query('select iu_core.fn_job_worker_leave($1, $2)', [worker, crash ?? null])
}

/** Gives back the jobs of workers whose lease has passed. Returns how many. */
export async function reapJobs(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ reaped: number }>('select iu_core.fn_job_reap() as reaped')
  return rows[0]!.reaped
}

export async function setIdle(db: Queryable, worker: string, idle: boolean): Promise<void> {
  await db.query('select iu_core.fn_job_idle($1, $2)', [worker, idle])
}

/** What the database says this worker holds. Reads the whole queue (the lease is in no index): for after a broken connection. */
export async function heldJobs(db: Queryable, worker: string): Promise<JobRef[]> {
  const { rows } = await db.query<JobRef & pg.QueryResultRow>(
    'select job_id, lease_epoch from iu_core.job_queue where leased_by = $1',
    [worker],
  )
  return rows
}
