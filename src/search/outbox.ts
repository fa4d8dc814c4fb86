/** The search outbox: rows that must be projected, as a worker claims, finishes, fails or releases them; and the gates of search. */
import type { Queryable } from '../kernel/postgres/connection.ts'

export interface OutboxRow {
  readonly outbox_id: string
  readonly unit_id: string | null
  readonly document_id: string | null
  /** Of a row of a table in search. */
  readonly row_id: string | null
  readonly operation: 'upsert' | 'patch' | 'delete'
  /** Generation at the time of the claim; a later edit increases it. */
  readonly generation: string
  readonly retry_count: number
}

type OutboxStatus = 'pending' | 'done' | 'dead_letter'

/** The gate and the phases of search; a missing one counts as closed. */
export interface SearchGates {
  /** iu_core.no_vector_staging_excluded. While it is closed, nothing is embedded and no text is indexed. */
  readonly excluded: boolean
  /** Units are projected. */
  readonly phase_1: boolean
  /** Units and the old knowledge base are searched together. */
  readonly phase_2: boolean
  /** Units are divided at paragraphs and sentences instead of windows of equal size. */
  readonly phase_3: boolean
}

/** One row of SearchGates. */
export const SEARCH_GATES_SQL = `
  select coalesce(bool_or(value = 'true') filter (where key = 'iu_core.no_vector_staging_excluded'), false) as excluded,
         coalesce(bool_or(value = 'true') filter (where key = 'search.phase_1.enabled'), false) as phase_1,
         coalesce(bool_or(value = 'true') filter (where key = 'search.phase_2.enabled'), false) as phase_2,
         coalesce(bool_or(value = 'true') filter (where key = 'search.phase_3.enabled'), false) as phase_3
    from iu_core.dot_config`

export async function readGates(db: Queryable): Promise<SearchGates> {
  const { rows } = await db.query<SearchGates>(SEARCH_GATES_SQL)
  return rows[0]!
}

interface ClaimTerms {
  readonly limit: number
  readonly leaseMs: number
}

export async function claimRows(db: Queryable, worker: string, terms: ClaimTerms): Promise<OutboxRow[]> {
  const { rows } = await db.query<OutboxRow>(
    `select outbox_id, unit_id, document_id, row_id, operation, generation, retry_count
       from iu_core.fn_vector_claim($1, $2, make_interval(secs => $3))`,
    [worker, terms.limit, terms.leaseMs / 1000],
  )
  return rows
}

/** Returns the ids that are done; the others were enqueued again, or another worker has claimed them. */
export async function finishRows(
  db: Queryable,
  worker: string,
  rows: readonly OutboxRow[],
): Promise<Set<string>> {
  const { rows: outcomes } = await db.query<{ outbox_id: string; status: OutboxStatus }>(
    'select outbox_id, status from iu_core.fn_vector_complete($1, $2, $3)',
    [worker, rows.map((row) => row.outbox_id), rows.map((row) => row.generation)],
  )
  return new Set(outcomes.filter(({ status }) => status === 'done').map(({ outbox_id }) => outbox_id))
}

/** Returns how many of them became dead letters. */
export async function failRows(
  db: Queryable,
  worker: string,
  failed: ReadonlyMap<OutboxRow, string>,
): Promise<number> {
  const rows = [...failed.keys()]
  const { rows: outcomes } = await db.query<{ status: OutboxStatus }>(
    'select status from iu_core.fn_vector_fail($1, $2, $3, $4)',
    [worker, rows.map((row) => row.outbox_id), rows.map((row) => row.generation), [...failed.values()]],
  )
  return outcomes.filter(({ status }) => status === 'dead_letter').length
}

/** Gives rows back without using up an attempt. */
export async function releaseRows(
  db: Queryable,
  worker: string,
  rows: readonly OutboxRow[],
  { afterMs, reason }: { readonly afterMs: number; readonly reason?: string | undefined },
): Promise<void> {
  await db.query('select iu_core.fn_vector_release($1, $2, make_interval(secs => $3), $4)', [
    worker,
    rows.map((row) => row.outbox_id),
    afterMs / 1000,
    reason ?? null,
  ])
}

/** How long until the next row is due; undefined if no claimable row waits. */
export async function msUntilDue(
  db: Queryable,
  { phase_1 }: Pick<SearchGates, 'phase_1'>,
): Promise<number | undefined> {
  const { rows } = await db.query<{ ms: number | null }>(
    `select ceil(extract(epoch from least(
              (select o.earliest_run_at from iu_core.vector_outbox o
                where o.status = 'pending' and o.earliest_run_at > clock_timestamp()
                  and ($1 or o.unit_id is null or o.operation = 'delete') order by 1 limit 1),
              (select min(greatest(o.leased_until, o.earliest_run_at)) from iu_core.vector_outbox o
                where o.status = 'processing' and ($1 or o.unit_id is null or o.operation = 'delete'))) - clock_timestamp()) * 1000)::integer as ms`,
    [phase_1],
  )
  return rows[0]!.ms ?? undefined
}

export interface TextToPut {
  readonly outbox_id: string
  readonly generation: string
  readonly unit_version_id?: string
  readonly content_hash?: string
  readonly updated_at?: string
  /** Without chunks the source is removed from search. */
  readonly chunks?: readonly { from: number; to: number }[]
  /** Of a row of a table, which nobody but the worker may read. */
  readonly body?: string
  readonly filters?: Readonly<Record<string, string>>
}

export interface PlannedPoint {
  readonly outbox_id: string
  readonly action: 'kept' | 'embed' | 'remove'
  readonly collection: string | null
  readonly chunk_id: string | null
  /** Index of the chunk in `chunks`, from 1. */
  readonly position: number | null
}

/** Writes texts and chunks in one transaction, and returns what is left to do in the stores. */
export async function putSources(
  db: Queryable,
  worker: string,
  sources: readonly TextToPut[],
): Promise<PlannedPoint[]> {
  const { rows } = await db.query<PlannedPoint>(
    'select outbox_id, action, collection, chunk_id, position from iu_core.fn_vector_put($1, $2)',
    [worker, JSON.stringify(sources)],
  )
  return rows
}

/** `generations`: the generation with which each point was recorded. */
export async function recordPointsWritten(
  db: Queryable,
  collection: string,
  ids: readonly string[],
  generations: readonly string[],
): Promise<void> {
  await db.query('select iu_core.fn_vector_points_confirm_written($1, $2, $3)', [
    collection,
    ids,
    generations,
  ])
}

/** Returns how many tombstones were deleted with them. */
export async function recordPointsRemoved(
  db: Queryable,
  collection: string,
  ids: readonly string[],
): Promise<number> {
  const { rows } = await db.query<{ removed: number }>(
    'select iu_core.fn_vector_points_confirm_removed($1, $2) as removed',
    [collection, ids],
  )
  return rows[0]!.removed
}

/** Only for a collection that is being built: these points are not sent again, and it can be activated without them. */
export async function recordPointsRefused(
  db: Queryable,
  collection: string,
  ids: readonly string[],
  reason: string,
): Promise<void> {
  await db.query('select iu_core.fn_vector_points_reject($1, $2, $3)', [collection, ids, reason])
}

/** Points removed so long ago that no late worker can write them any more: they can be deleted for good. */
export async function oldTombstones(db: Queryable, collection: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ chunk_id: string }>(
    `select chunk_id from iu_core.search_point
      where collection = $1 and state = 'removed' and changed_at < clock_timestamp() - interval '10 minutes'
      order by changed_at limit $2`,
    [collection, limit],
  )
  return rows.map(({ chunk_id }) => chunk_id)
}

/**
 * Analyses chunks of an older version of the words again: one batch, in one transaction. Returns the number of the chunk after which the
 * next call continues; undefined: there are no more.
 */
export async function reanalyse(pool: Queryable, after: number): Promise<number | undefined> {
  const { rows } = await pool.query<{ next: number | null }>(
    'select iu_core.fn_search_reanalyse($1) as next',
    [after],
  )
  return rows[0]!.next ?? undefined
}
