/** What has to be projected, as a worker takes it, ends it, or gives it back. */
import type { Queryable } from '../db/connection.ts'

export interface OutboxRow {
  readonly outbox_id: string
  readonly unit_id: string | null
  readonly document_id: string | null
  readonly operation: 'upsert' | 'patch' | 'delete'
  /** As the worker took it; an edit since then makes it another. */
  readonly generation: string
  readonly retry_count: number
}

export type OutboxStatus = 'pending' | 'done' | 'dead_letter'

export interface Gates {
  /** Closed or missing: nothing may be embedded, and no text taken. */
  readonly excluded: boolean
  readonly units: boolean
  /** Units are divided where their text does. */
  readonly aware: boolean
}

export async function readGates(db: Queryable): Promise<Gates> {
  const { rows } = await db.query<Gates>(
    `select coalesce(bool_or(value = 'true') filter (where key = 'iu_core.no_vector_staging_excluded'), false) as excluded,
            coalesce(bool_or(value = 'true') filter (where key = 'search.phase_1.enabled'), false) as units,
            coalesce(bool_or(value = 'true') filter (where key = 'search.phase_3.enabled'), false) as aware
       from iu_core.dot_config`,
  )
  return rows[0]!
}

export interface ClaimTerms {
  readonly limit: number
  readonly leaseMs: number
}

export async function claimRows(db: Queryable, worker: string, terms: ClaimTerms): Promise<OutboxRow[]> {
  const { rows } = await db.query<OutboxRow>(
    `select outbox_id, unit_id, document_id, operation, generation, retry_count
       from iu_core.fn_vector_claim($1, $2, make_interval(secs => $3))`,
    [worker, terms.limit, terms.leaseMs / 1000],
  )
  return rows
}

/** Answers those that are done; the others were enqueued again, or are no longer ours. */
export async function finishRows(
  db: Queryable,
  worker: string,
  rows: readonly OutboxRow[],
): Promise<Set<string>> {
  const { rows: told } = await db.query<{ outbox_id: string; status: OutboxStatus }>(
    'select outbox_id, status from iu_core.fn_vector_done($1, $2, $3)',
    [worker, rows.map((row) => row.outbox_id), rows.map((row) => row.generation)],
  )
  return new Set(told.filter(({ status }) => status === 'done').map(({ outbox_id }) => outbox_id))
}

/** Answers how many of them are dead letters now. */
export async function failRows(
  db: Queryable,
  worker: string,
  failed: ReadonlyMap<OutboxRow, string>,
): Promise<number> {
  const rows = [...failed.keys()]
  const { rows: told } = await db.query<{ status: OutboxStatus }>(
    'select status from iu_core.fn_vector_fail($1, $2, $3, $4)',
    [worker, rows.map((row) => row.outbox_id), rows.map((row) => row.generation), [...failed.values()]],
  )
  return told.filter(({ status }) => status === 'dead_letter').length
}

/** No try is used up. */
export async function releaseRows(
  db: Queryable,
  worker: string,
  rows: readonly OutboxRow[],
  afterMs: number,
  reason?: string,
): Promise<void> {
  await db.query('select iu_core.fn_vector_release($1, $2, make_interval(secs => $3), $4)', [
    worker,
    rows.map((row) => row.outbox_id),
    afterMs / 1000,
    reason ?? null,
  ])
}

/** How long until something is due that is not yet; nothing where nothing waits that may be claimed. */
export async function msUntilDue(
  db: Queryable,
  { units }: Pick<Gates, 'units'>,
): Promise<number | undefined> {
  const { rows } = await db.query<{ ms: number | null }>(
    `select ceil(extract(epoch from least(
              (select o.earliest_run_at from iu_core.vector_outbox o
                where o.status = 'pending' and o.earliest_run_at > clock_timestamp()
                  and ($1 or o.unit_id is null or o.operation = 'delete') order by 1 limit 1),
              (select min(greatest(o.leased_until, o.earliest_run_at)) from iu_core.vector_outbox o
                where o.status = 'processing' and ($1 or o.unit_id is null or o.operation = 'delete'))) - clock_timestamp()) * 1000)::integer as ms`,
    [units],
  )
  return rows[0]!.ms ?? undefined
}

export interface Put {
  readonly outbox_id: string
  readonly generation: string
  readonly unit_version_id?: string
  readonly content_hash?: string
  readonly updated_at?: string
  /** Without them it is taken out of search. */
  readonly chunks?: readonly { from: number; to: number }[]
}

export interface Planned {
  readonly outbox_id: string
  readonly action: 'kept' | 'embed' | 'remove'
  readonly collection: string | null
  readonly chunk_id: string | null
  /** Place among the chunks that were put, from 1. */
  readonly position: number | null
}

/** The text stage: one transaction, and what is left to do for the stores. */
export async function putSources(db: Queryable, worker: string, sources: readonly Put[]): Promise<Planned[]> {
  const { rows } = await db.query<Planned>(
    'select outbox_id, action, collection, chunk_id, position from iu_core.fn_vector_put($1, $2)',
    [worker, JSON.stringify(sources)],
  )
  return rows
}

/** With the generation that each was recorded with. */
export async function pointsWritten(
  db: Queryable,
  collection: string,
  ids: readonly string[],
  generations: readonly string[],
): Promise<void> {
  await db.query('select iu_core.fn_vector_points_written($1, $2, $3)', [collection, ids, generations])
}

/** Answers how many tombstones went with them. */
export async function pointsGone(db: Queryable, collection: string, ids: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ gone: number }>('select iu_core.fn_vector_points_gone($1, $2) as gone', [
    collection,
    ids,
  ])
  return rows[0]!.gone
}

/** Of a collection that is being built: it is not sent again, and the collection does not wait for it. */
export async function pointsRefused(
  db: Queryable,
  collection: string,
  ids: readonly string[],
  reason: string,
): Promise<void> {
  await db.query('select iu_core.fn_vector_points_refused($1, $2, $3)', [collection, ids, reason])
}

/** Taken out so long ago that nobody who is late can write them any more: they can be taken away for good. */
export async function oldTombstones(db: Queryable, collection: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ chunk_id: string }>(
    `select chunk_id from iu_core.search_point
      where collection = $1 and state = 'gone' and changed_at < clock_timestamp() - interval '10 minutes'
      order by changed_at limit $2`,
    [collection, limit],
  )
  return rows.map(({ chunk_id }) => chunk_id)
}
