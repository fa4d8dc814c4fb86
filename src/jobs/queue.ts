/** The job queue: enqueue, list, cancel, replay; kinds and their settings; how full the queue is. */
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { type JobDetail, JobKind, type JobRecord, type KindSettings } from './shapes.ts'

export type { AttemptError, Job, JobDetail, JobKind, JobRecord, KindSettings } from './shapes.ts'

/** What a producer gives. The names are those of the columns; all but the kind have defaults. */
export interface NewJob {
  readonly job_kind: string
  /** The same kind and key again gives the first job's id and no second job. */
  readonly idempotency_key?: string | undefined
  readonly executor?: string | undefined
  readonly source_ref?: string | undefined
  readonly target_ref?: string | undefined
  readonly payload_ref?: string | undefined
  readonly payload?: Readonly<Record<string, unknown>> | undefined
  /** Higher first. */
  readonly priority?: number | undefined
  readonly process_after?: Date | string | undefined
  readonly correlation_id?: string | undefined
  readonly causation_event_id?: string | undefined
  readonly workspace_id?: string | undefined
}

export type JobStatus = JobRecord['status']

export interface JobFilter {
  readonly kind?: string | undefined
  readonly status?: JobStatus | undefined
  readonly workspaceId?: string | undefined
  readonly correlationId?: string | undefined
  readonly limit?: number | undefined
  /** The id of the last job of the page before. */
  readonly after?: string | undefined
}

export interface ReplayFilter {
  readonly jobs?: readonly string[] | undefined
  readonly kind?: string | undefined
  readonly failedBefore?: Date | undefined
  /** A member names their own; the back end may leave it out. */
  readonly workspaceId?: string | undefined
  readonly limit?: number | undefined
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
    [JSON.stringify(jobs.map(({ payload, ...job }) => ({ safe_payload: payload, ...job })))],
  )
  return rows.map((row) => row.job_id)
}

const SHARED = `job_kind, executor, idempotency_key, source_ref, target_ref, payload_ref, safe_payload as payload, priority,
  correlation_id, causation_event_id, causation_depth, actor, actor_via, workspace_id, enqueued_at, started_at, attempts, crashes,
  replays, last_error`

const deadLetters = (columns: string) => `select job_id, ${columns}, null::timestamptz as process_after,
  failed_at as finished_at, worker_id, null::jsonb as result, 'dead' as status from iu_core.job_dead_letter`

/** Dead letters in the columns of a job. */
export const DEAD_LETTERS = deadLetters(SHARED)

/** Queue, history and dead letters, each by its own index; the newest ids of each are enough for the newest of all. */
function selectFromAllTables(where: string, limit: string, columns = SHARED): string {
  const queue = `select job_id, ${columns}, process_after, null::timestamptz as finished_at, leased_by as worker_id,
    null::jsonb as result, case when leased_by is null then 'waiting' else 'running' end as status from iu_core.job_queue`
  const history = `select job_id, ${columns}, null, finished_at, worker_id, result, outcome from iu_core.job_history`
  const parts = [
    [queue, `case when leased_by is null then 'waiting' else 'running' end`],
    [history, 'outcome'],
    [deadLetters(columns), `'dead'`],
  ].map(([select, status]) => `(${select} where ${where.replaceAll('@status', status!)} ${limit})`)
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
  const { rows } = await db.query<JobRecord>(selectFromAllTables('job_id = $1', ''), [id])
  return rows[0]
}

/** With what its failed attempts said. */
export async function requireJob(db: Queryable, id: string): Promise<JobDetail> {
  const columns = `${SHARED}, coalesce(attempt_errors, '[]') as attempt_errors`
  const { rows } = await db.query<JobDetail>(selectFromAllTables('job_id = $1', '', columns), [id])
  const job = rows[0]
  if (!job) throw new StagedoorError('job_not_found', { what: `job ${id}` })
  return job
}

/** Newest first, as far as the caller may see. */
export async function listJobs(db: Queryable, filter: JobFilter = {}): Promise<JobRecord[]> {
  const where = `($2::text is null or job_kind = $2) and ($3::text is null or @status = $3)
    and ($4::uuid is null or workspace_id = $4) and ($5::uuid is null or correlation_id = $5)
    and ($6::uuid is null or job_id < $6)`
  const newest = 'order by job_id desc limit $1'
  const { rows } = await db.query<JobRecord>(
    `select * from (${selectFromAllTables(where, newest)}) jobs ${newest}`,
    [
      filter.limit ?? 50,
      filter.kind ?? null,
      filter.status ?? null,
      filter.workspaceId ?? null,
      filter.correlationId ?? null,
      filter.after ?? null,
    ],
  )
  return rows
}

/** `requested`: it runs, and its worker aborts it; otherwise it is cancelled now. */
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
    `select job_id from iu_core.fn_job_replay(p_jobs => $1, p_kind => $2, p_failed_before => $3, p_limit => $4,
                                              p_workspace_id => $5, p_actor => $6) as job_id`,
    [
      filter.jobs ?? null,
      filter.kind ?? null,
      filter.failedBefore ?? null,
      filter.limit ?? 1000,
      filter.workspaceId ?? null,
      actor ?? null,
    ],
  )
  return rows.map((row) => row.job_id)
}

/** Running jobs end; no other job of the kind begins. */
export async function pauseKind(db: Queryable, kind: string, actor?: string): Promise<void> {
  await db.query('select iu_core.fn_job_pause($1, $2)', [kind, actor ?? null])
}

export async function resumeKind(db: Queryable, kind: string): Promise<void> {
  await db.query('select iu_core.fn_job_resume($1)', [kind])
}

export async function setKind(db: Queryable, kind: string, settings: KindSettings): Promise<void> {
  await db.query('select iu_core.fn_job_kind_set($1, $2)', [kind, JSON.stringify(settings)])
}

const JOB_KIND_COLUMNS = columnsOf(JobKind, {
  as: Object.fromEntries(
    ['backoff', 'max_backoff', 'timeout', 'rate_period', 'debounce', 'max_debounce', 'key_retention'].map(
      (name) => [name, `${name}::text`],
    ),
  ),
})

export async function listKinds(db: Queryable): Promise<JobKind[]> {
  const { rows } = await db.query<JobKind>(
    `select ${JOB_KIND_COLUMNS}
       from iu_core.job_kind order by job_kind`,
  )
  return rows
}

/** How full the queue is. It is read as a whole: for people and for a scrape now and then. */
export interface KindStatistics {
  readonly job_kind: string
  /** Due and not begun. */
  readonly waiting: number
  /** Due later: a retry, a snooze, a time to come. */
  readonly later: number
  readonly running: number
  readonly dead: number
  /** For how many seconds the oldest waiting job has been due. */
  readonly oldest_due_s: number | null
}

/** Every kind that has a job or a dead letter, as far as the caller may see. */
export async function queueStatistics(
  db: Queryable,
  { kind, workspaceId }: { kind?: string | undefined; workspaceId?: string | undefined } = {},
): Promise<KindStatistics[]> {
  const { rows } = await db.query<KindStatistics>(
    `select job_kind, coalesce(sum(waiting), 0)::int as waiting, coalesce(sum(later), 0)::int as later,
            coalesce(sum(running), 0)::int as running, coalesce(sum(dead), 0)::int as dead,
            max(oldest_due_s)::float8 as oldest_due_s
       from (select job_kind,
                    count(*) filter (where leased_by is null and process_after <= clock_timestamp()) as waiting,
                    count(*) filter (where leased_by is null and process_after > clock_timestamp()) as later,
                    count(*) filter (where leased_by is not null) as running, 0 as dead,
                    extract(epoch from clock_timestamp() - min(process_after)
                      filter (where leased_by is null and process_after <= clock_timestamp())) as oldest_due_s
               from iu_core.job_queue
              where ($1::text is null or job_kind = $1) and ($2::uuid is null or workspace_id = $2) group by job_kind
             union all
             select job_kind, 0, 0, 0, count(*), null from iu_core.job_dead_letter
              where ($1::text is null or job_kind = $1) and ($2::uuid is null or workspace_id = $2) group by job_kind) counted
      group by job_kind order by job_kind`,
    [kind ?? null, workspaceId ?? null],
  )
  return rows
}

/** Who may run jobs: the seed's list, as the database's domain executor_name has it. */
export const EXECUTORS = [
  'DOT',
  'Agent',
  'Hermes',
  'Codex',
  'PG_worker',
  'external_worker',
  'future_Kestra_adapter',
] as const
