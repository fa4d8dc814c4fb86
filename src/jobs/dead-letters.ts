/** Dead letters: grouped by kind and error, listed, and selected for a replay. As far as the caller may see. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { DEAD_LETTERS, type JobRecord, type ReplayFilter, replayJobs } from './queue.ts'
import type { DeadLetterGroup } from './shapes.ts'

export type { DeadLetterGroup } from './shapes.ts'

export interface DeadLetterFilter {
  readonly kind?: string | undefined
  /** The id of a group. */
  readonly group?: string | undefined
  readonly failedBefore?: Date | undefined
  readonly workspaceId?: string | undefined
}

/** Groups are made of so many dead letters at most, the newest; more of them are reported as `cut`. */
export const MAX_GROUPED = 50_000

/** The first line of the error without what differs from job to job: ids, times and numbers. */
const ERROR_PATTERN = `left(
  regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    split_part(left(last_error, 2000), chr(10), 1),
    '\\m[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\M', '<id>', 'gi'),
    '\\m\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:?\\d\\d)?)?', '<time>', 'g'),
    '\\m(?=[a-f]*[0-9])[0-9a-f]{12,}\\M', '<id>', 'gi'),
    '\\d+([.,]\\d+)*', '<n>', 'g'), 300)`

const GROUP_ID = `left(encode(sha256(convert_to(job_kind || chr(10) || ${ERROR_PATTERN}, 'UTF8')), 'hex'), 16)`

const WHERE = `($1::text is null or job_kind = $1) and ($2::timestamptz is null or failed_at < $2)
  and ($3::uuid is null or workspace_id = $3) and ($4::text is null or ${GROUP_ID} = $4)`

function valuesOf({ kind, failedBefore, workspaceId, group }: DeadLetterFilter): unknown[] {
  return [kind ?? null, failedBefore ?? null, workspaceId ?? null, group ?? null]
}

/** The most frequent first. */
export async function groupDeadLetters(
  db: Queryable,
  filter: DeadLetterFilter & { readonly limit?: number },
): Promise<{ groups: DeadLetterGroup[]; total: number; cut: boolean }> {
  const { rows } = await db.query<DeadLetterGroup & { total: number; cut: boolean }>(
    `with newest as materialized (
       select job_id, job_kind, failed_at, replays, last_error from iu_core.job_dead_letter
        where ${WHERE} order by job_id desc limit ${MAX_GROUPED} + 1
     ), grouped as (
       select ${GROUP_ID} as group_id, job_kind, ${ERROR_PATTERN} as error, count(*)::int as count,
              min(failed_at) as first_failed_at, max(failed_at) as last_failed_at,
              count(*) filter (where replays > 0)::int as replayed,
              left((array_agg(last_error order by failed_at desc))[1], 2000) as latest_error
         from (select * from newest limit ${MAX_GROUPED}) counted group by 1, 2, 3
     )
     select grouped.*, (select count(*)::int from newest) > ${MAX_GROUPED} as cut,
            least((select count(*)::int from newest), ${MAX_GROUPED}) as total
       from grouped order by count desc, last_failed_at desc limit $5`,
    [...valuesOf(filter), filter.limit ?? 100],
  )
  return {
    groups: rows.map(({ total: _, cut: __, ...group }) => group),
    total: rows[0]?.total ?? 0,
    cut: rows[0]?.cut ?? false,
  }
}

/** Those that were enqueued last first. `after` is the id of the last one of the page before. */
export async function listDeadLetters(
  db: Queryable,
  filter: DeadLetterFilter & { readonly limit?: number; readonly after?: string | undefined },
): Promise<JobRecord[]> {
  const { rows } = await db.query<JobRecord>(
    `${DEAD_LETTERS} where ${WHERE} and ($6::uuid is null or job_id < $6) order by job_id desc limit $5`,
    [...valuesOf(filter), filter.limit ?? 50, filter.after ?? null],
  )
  return rows
}

export interface ReplaySelection extends ReplayFilter {
  readonly group?: string | undefined
  /** Nothing is replayed: the ids say what would be. */
  readonly dryRun?: boolean | undefined
}

/**
 * Replays a selection, oldest first. A group is no column: its ids are found first, under the caller's rights, and replayed by id. Whoever
 * replays one of them at the same time has it, and it is not in the answer.
 */
export async function replaySelection(
  db: Queryable,
  { group, dryRun = false, ...filter }: ReplaySelection,
): Promise<string[]> {
  if (!dryRun && group === undefined) return replayJobs(db, filter)
  await db.query(`select iu_core.require_member($1, 'operate')`, [filter.workspaceId ?? null])
  const { rows } = await db.query<{ job_id: string }>(
    `select job_id from iu_core.job_dead_letter
      where ${WHERE} and ($6::uuid[] is null or job_id = any ($6)) order by failed_at, job_id limit $5`,
    [...valuesOf({ ...filter, group }), filter.limit ?? 1000, filter.jobs ?? null],
  )
  const jobs = rows.map(({ job_id }) => job_id)
  if (dryRun || jobs.length === 0) return jobs
  return replayJobs(db, { jobs, workspaceId: filter.workspaceId, limit: jobs.length })
}
