/** How the queue does: counts by kind and state, throughput and latency over a window of time, and who works. As far as the caller may see. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { queueStatistics } from './queue.ts'
import type { JobStatistics, JobWorker, KindCounts, LatencyBucket } from './shapes.ts'

export type { JobStatistics, JobWorker } from './shapes.ts'

/** The windows that can be asked for, each with the length of a bucket. Nothing longer: the history is read as a whole. */
export const STATISTICS_WINDOWS = {
  '1h': { seconds: 3600, bucket: 60 },
  '24h': { seconds: 86_400, bucket: 900 },
  '7d': { seconds: 604_800, bucket: 3600 },
} as const
export type StatisticsWindow = keyof typeof STATISTICS_WINDOWS

export interface StatisticsFilter {
  readonly window: StatisticsWindow
  readonly kind?: string | undefined
  readonly workspaceId?: string | undefined
}

/** One reading of the queue and one of the window's history. A job that was replayed counts where it ended, not where it failed. */
export async function jobStatistics(db: Queryable, filter: StatisticsFilter): Promise<JobStatistics> {
  const { seconds, bucket } = STATISTICS_WINDOWS[filter.window]
  const { rows: clock } = await db.query<{ now: Date }>('select clock_timestamp() as now')
  const to = clock[0]!.now
  // Whole buckets, of which the last one is still running.
  const last = Math.floor(to.getTime() / 1000 / bucket) * bucket
  const first = last - seconds + bucket
  const ended = await readEnded(db, new Date(first * 1000), bucket, filter)
  const queue = await queueStatistics(db, filter)
  const buckets = new Map(ended.filter(({ at }) => at !== null).map((one) => [Number(one.at), one]))
  const series: LatencyBucket[] = []
  for (let at = first; at <= last; at += bucket) {
    const { job_kind: _, at: __, ...counted } = buckets.get(at) ?? NOTHING
    series.push({ at: new Date(at * 1000), ...counted })
  }
  return {
    window: filter.window,
    from: new Date(first * 1000),
    to,
    bucket_s: bucket,
    kinds: mergeKinds(
      queue,
      ended.filter(({ job_kind }) => job_kind !== null),
    ),
    series,
  }
}

type Counted = Omit<LatencyBucket, 'at'>
type Ended = Counted & { at: string | null; job_kind: string | null }

const NOTHING: Ended = {
  at: null,
  job_kind: null,
  completed: 0,
  cancelled: 0,
  dead: 0,
  retries: 0,
  wait_p50_ms: null,
  wait_p95_ms: null,
  run_p50_ms: null,
  run_p95_ms: null,
}

/** By bucket and by kind in one reading. The wait of a job that was retried or replayed says nothing of the queue, and is left out. */
async function readEnded(
  db: Queryable,
  from: Date,
  bucket: number,
  { kind, workspaceId }: StatisticsFilter,
): Promise<Ended[]> {
  const { rows } = await db.query<Ended>(
    `with ended as (
       select finished_at as at, job_kind, outcome, attempts,
              case when attempts = 1 and replays = 0 then extract(epoch from started_at - enqueued_at) * 1000 end as wait_ms,
              case when outcome = 'completed' then extract(epoch from finished_at - started_at) * 1000 end as run_ms
         from iu_core.job_history
        where finished_at >= $1 and ($3::text is null or job_kind = $3) and ($4::uuid is null or workspace_id = $4)
       union all
       select failed_at, job_kind, 'dead', attempts, null, null
         from iu_core.job_dead_letter
        where failed_at >= $1 and ($3::text is null or job_kind = $3) and ($4::uuid is null or workspace_id = $4)
     ), placed as (
       select floor(extract(epoch from at) / $2)::bigint * $2 as at, job_kind, outcome, attempts, wait_ms, run_ms from ended
     )
     select at::text, job_kind,
            count(*) filter (where outcome = 'completed')::int as completed,
            count(*) filter (where outcome = 'cancelled')::int as cancelled,
            count(*) filter (where outcome = 'dead')::int as dead,
            coalesce(sum(greatest(attempts - 1, 0)), 0)::int as retries,
            percentile_cont(0.5) within group (order by wait_ms)::float8 as wait_p50_ms,
            percentile_cont(0.95) within group (order by wait_ms)::float8 as wait_p95_ms,
            percentile_cont(0.5) within group (order by run_ms)::float8 as run_p50_ms,
            percentile_cont(0.95) within group (order by run_ms)::float8 as run_p95_ms
       from placed group by grouping sets ((at), (job_kind))`,
    [from, bucket, kind ?? null, workspaceId ?? null],
  )
  return rows
}

const IDLE = { waiting: 0, later: 0, running: 0, dead: 0, oldest_due_s: null }

function mergeKinds(
  queue: Awaited<ReturnType<typeof queueStatistics>>,
  ended: readonly Ended[],
): KindCounts[] {
  const kinds = new Map<string, KindCounts>()
  const put = (kind: string, counts: Partial<KindCounts>) =>
    kinds.set(kind, { ...EMPTY_KIND, ...kinds.get(kind), ...counts, job_kind: kind })
  for (const { job_kind, ...counts } of queue) put(job_kind, counts)
  for (const { job_kind, at: _, dead: failed, ...counts } of ended) put(job_kind!, { ...counts, failed })
  return [...kinds.values()].sort((one, other) => one.job_kind.localeCompare(other.job_kind))
}

const { at: _at, job_kind: _kind, dead: _dead, ...NO_ENDS } = NOTHING
const EMPTY_KIND = { ...IDLE, ...NO_ENDS, failed: 0 }

const SHOWN_RUNNING = 20

/** Every worker that is registered, with the running jobs that the caller may see. */
export async function listWorkers(db: Queryable): Promise<JobWorker[]> {
  const { rows } = await db.query<JobWorker>(
    `with running as (
       select leased_by, job_id, job_kind, started_at, attempts,
              row_number() over (partition by leased_by order by started_at, job_id) as position
         from iu_core.job_queue where leased_by is not null
     ), held as (
       select leased_by, count(*)::int as running_count,
              json_agg(json_build_object('job_id', job_id, 'job_kind', job_kind, 'started_at', started_at, 'attempts', attempts)
                       order by position) filter (where position <= ${SHOWN_RUNNING}) as running
         from running group by leased_by
     )
     select w.*, coalesce(h.running, '[]') as running, coalesce(h.running_count, 0) as running_count
       from iu_core.fn_job_workers() w left join held h on h.leased_by = w.worker_id
      order by w.started_at, w.worker_id`,
  )
  return rows
}
