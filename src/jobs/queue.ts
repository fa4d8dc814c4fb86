/** Enqueueing, and what people do with jobs: look, cancel, replay, pause. */
import type { Queryable } from '../db/connection.ts'
import type { NewJob } from './job.ts'

export type JobState = 'waiting' | 'running' | 'completed' | 'cancelled' | 'dead'

/** A job wherever it is now: in the queue, in the history, among the dead letters. */
export interface JobRecord {
  readonly job_id: string
  readonly state: JobState
  readonly job_kind: string
  readonly executor: string
  readonly idempotency_key: string | null
  readonly source_ref: string | null
  readonly target_ref: string | null
  readonly payload_ref: string | null
  readonly safe_payload: Record<string, unknown>
  readonly priority: number
  /** When it is due; null once it has ended. */
  readonly process_after: Date | null
  readonly correlation_id: string | null
  readonly causation_event_id: string | null
  readonly causation_depth: number
  readonly actor: string
  readonly actor_via: string | null
  readonly workspace_id: string | null
  readonly enqueued_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly attempts: number
  readonly crashes: number
  readonly replays: number
  readonly worker_id: string | null
  readonly last_error: string | null
  readonly result: unknown
}

export interface JobFilter {
  readonly job_kind?: string
  readonly state?: JobState
  readonly workspace_id?: string
  readonly correlation_id?: string
  readonly limit?: number
  /** The id of the last job of the page before. */
  readonly after?: string
}

export interface JobKind {
  readonly job_kind: string
  readonly description: string | null
  readonly max_attempts: number
  readonly max_crashes: number
  readonly backoff: string
  readonly backoff_most: string
  readonly timeout: string | null
  readonly concurrency: number | null
  readonly rate: number | null
  readonly rate_period: string
  readonly serial_by: string | null
  readonly fair_by: string | null
  readonly key_mode: 'keep' | 'replace' | 'debounce'
  readonly debounce: string
  readonly debounce_most: string
  readonly key_retention: string
  readonly paused_at: Date | null
  readonly paused_by: string | null
}

/** What of a kind can be set; a name that is left out stays as it is. Intervals as PostgreSQL writes them. */
export type KindSettings = Partial<Omit<JobKind, 'job_kind' | 'paused_at' | 'paused_by'>>

export interface ReplayFilter {
  readonly jobs?: readonly string[]
  readonly job_kind?: string
  readonly died_before?: Date
  /** A member names their own; the back end may leave it out. */
  readonly workspace_id?: string
  readonly limit?: number
}

/** Enqueues in the caller's transaction: rolled back, there is no job. Returns its id, or that of the first with its key. */
export async function enqueue(db: Queryable, job: NewJob): Promise<string> {
  const [id] = await enqueueMany(db, [job])
  return id!
}

/** In one statement; the ids in the order of the jobs. */
export async function enqueueMany(db: Queryable, jobs: readonly NewJob[]): Promise<string[]> {
  const { rows } = await db.query<{ job_id: string }>(
    'select job_id from iu_core.fn_job_enqueue_batch($1) as job_id',
    [JSON.stringify(jobs)],
  )
  return rows.map((row) => row.job_id)
}

const SHARED = `job_kind, executor, idempotency_key, source_ref, target_ref, payload_ref, safe_payload, priority,
  correlation_id, causation_event_id, causation_depth, actor, actor_via, workspace_id, enqueued_at, started_at, attempts, crashes,
  replays, last_error`

/** Each place by its own index; the newest ids of each are enough for the newest of all. */
function everywhere(where: string, limit: string): string {
  const queue = `select job_id, ${SHARED}, process_after, null::timestamptz as finished_at, leased_by as worker_id,
    null::jsonb as result, case when leased_by is null then 'waiting' else 'running' end as state from iu_core.job_queue`
  const history = `select job_id, ${SHARED}, null, finished_at, worker_id, result, outcome from iu_core.job_history`
  const dead = `select job_id, ${SHARED}, null, died_at, worker_id, null, 'dead' from iu_core.job_dead_letter`
  const parts = [
    [queue, `case when leased_by is null then 'waiting' else 'running' end`],
    [history, 'outcome'],
    [dead, `'dead'`],
  ].map(([select, state]) => `(${select} where ${where.replaceAll('@state', state!)} ${limit})`)
  return parts.join(' union all ')
}

/** The job that has this key, whatever became of it. */
export async function jobOfKey(db: Queryable, kind: string, key: string): Promise<string | undefined> {
  const { rows } = await db.query<{ job_id: string }>(
    'select job_id from iu_core.job_key where job_kind = $1 and idempotency_key = $2',
    [kind, key],
  )
  return rows[0]?.job_id
}

export async function findJob(db: Queryable, id: string): Promise<JobRecord | undefined> {
  const { rows } = await db.query<JobRecord>(everywhere('job_id = $1', ''), [id])
  return rows[0]
}

/** Newest first, as far as the caller may see. */
export async function listJobs(db: Queryable, filter: JobFilter = {}): Promise<JobRecord[]> {
  const where = `($2::text is null or job_kind = $2) and ($3::text is null or @state = $3)
    and ($4::uuid is null or workspace_id = $4) and ($5::uuid is null or correlation_id = $5)
    and ($6::uuid is null or job_id < $6)`
  const newest = 'order by job_id desc limit $1'
  const { rows } = await db.query<JobRecord>(
    `select * from (${everywhere(where, newest)}) everywhere ${newest}`,
    [
      filter.limit ?? 50,
      filter.job_kind ?? null,
      filter.state ?? null,
      filter.workspace_id ?? null,
      filter.correlation_id ?? null,
      filter.after ?? null,
    ],
  )
  return rows
}

/** `requested`: it runs, and its worker is told; otherwise it is cancelled now. */
export async function cancelJob(
  db: Queryable,
  id: string,
  reason?: string,
  actor?: string,
): Promise<'cancelled' | 'requested'> {
  const { rows } = await db.query<{ outcome: 'cancelled' | 'requested' }>(
    'select iu_core.fn_job_cancel($1, $2, $3) as outcome',
    [id, reason ?? null, actor ?? null],
  )
  return rows[0]!.outcome
}

/** Dead letters back to the queue under their own ids. Returns those. */
export async function replayJobs(db: Queryable, filter: ReplayFilter, actor?: string): Promise<string[]> {
  const { rows } = await db.query<{ job_id: string }>(
    `select job_id from iu_core.fn_job_replay(p_jobs => $1, p_kind => $2, p_died_before => $3, p_limit => $4,
                                              p_workspace_id => $5, p_actor => $6) as job_id`,
    [
      filter.jobs ?? null,
      filter.job_kind ?? null,
      filter.died_before ?? null,
      filter.limit ?? 1000,
      filter.workspace_id ?? null,
      actor ?? null,
    ],
  )
  return rows.map((row) => row.job_id)
}

/** What runs goes on; nothing of the kind begins. */
export async function pauseKind(db: Queryable, kind: string, actor?: string): Promise<void> {
  await db.query('select iu_core.fn_job_pause($1, $2)', [kind, actor ?? null])
}

export async function resumeKind(db: Queryable, kind: string): Promise<void> {
  await db.query('select iu_core.fn_job_resume($1)', [kind])
}

export async function setKind(db: Queryable, kind: string, settings: KindSettings): Promise<void> {
  await db.query('select iu_core.fn_job_kind_set($1, $2)', [kind, JSON.stringify(settings)])
}

export async function listKinds(db: Queryable): Promise<JobKind[]> {
  const { rows } = await db.query<JobKind>(
    `select job_kind, description, max_attempts, max_crashes, backoff::text, backoff_most::text, timeout::text, concurrency, rate,
            rate_period::text, serial_by, fair_by, key_mode, debounce::text, debounce_most::text, key_retention::text,
            paused_at, paused_by
       from iu_core.job_kind order by job_kind`,
  )
  return rows
}
