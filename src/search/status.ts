/** How search is: collections, what waits to be projected, what went wrong, what it cost. */
import type { Queryable } from '../db/connection.ts'

export interface SearchStatus {
  readonly collections: readonly {
    readonly collection: string
    readonly state: string
    readonly embedder: string
    readonly model: string | null
    readonly dimension: number | null
    readonly store: string
    readonly points: number
    /** Recorded, and not yet in the store. */
    readonly writing: number
    /** Its embedder does not take them; a collection that is being built does without. */
    readonly refused: number
  }[]
  readonly chunks: { readonly units: number; readonly documents: number }
  readonly outbox: {
    readonly pending: number
    readonly processing: number
    readonly done: number
    readonly dead_letter: number
    readonly due: number
    /** How long the oldest due row has waited. */
    readonly oldest_due_s: number | null
  }
  /** What the embedder or the store said when it was away last, and how many rows wait for it. */
  readonly outage: { readonly rows: number; readonly reason: string } | null
  /** What failed and is tried again: how many, and what was said of the last. */
  readonly retrying: { readonly rows: number; readonly reason: string } | null
  readonly gates: Readonly<Record<'excluded' | 'phase_1' | 'phase_2' | 'phase_3', boolean>>
  /** Seconds that search waits after an edit, and before it takes out what was deleted. */
  readonly window: { readonly quiet_s: number; readonly delete_s: number }
  readonly cost: readonly {
    readonly day: string
    readonly embedder: string
    readonly model: string
    readonly requests: number
    readonly tokens: number
  }[]
}

/** `db` acts as a service: it is about all workspaces. */
export async function searchStatus(db: Queryable): Promise<SearchStatus> {
  const { rows } = await db.query<{ status: SearchStatus }>(
    `select jsonb_build_object(
       'collections', (select coalesce(jsonb_agg(jsonb_build_object(
            'collection', c.collection, 'state', c.state, 'embedder', c.embedder, 'model', c.model, 'dimension', c.dimension,
            'store', c.store, 'points', coalesce(p.written, 0), 'writing', coalesce(p.writing, 0),
            'refused', coalesce(p.refused, 0)) order by c.state, c.collection), '[]')
          from iu_core.search_collection c
          left join (select collection, count(*) filter (where state = 'written') as written,
                            count(*) filter (where state = 'writing') as writing,
                            count(*) filter (where state = 'refused') as refused
                       from iu_core.search_point group by 1) p on p.collection = c.collection),
       'chunks', (select jsonb_build_object('units', count(unit_id), 'documents', count(document_id)) from iu_core.search_chunk),
       'outbox', (select jsonb_build_object(
            'pending', count(*) filter (where status = 'pending'), 'processing', count(*) filter (where status = 'processing'),
            'done', count(*) filter (where status = 'done'), 'dead_letter', count(*) filter (where status = 'dead_letter'),
            'due', count(*) filter (where status = 'pending' and earliest_run_at <= clock_timestamp()),
            'oldest_due_s', round(extract(epoch from clock_timestamp() - min(earliest_run_at)
                              filter (where status = 'pending' and earliest_run_at <= clock_timestamp()))))
          from iu_core.vector_outbox),
       'outage', (select case when count(*) > 0 then jsonb_build_object('rows', count(*), 'reason', max(last_error)) end
                    from iu_core.vector_outbox where status = 'pending' and retry_count = 0 and last_error is not null),
       'retrying', (select case when count(*) > 0 then jsonb_build_object('rows', count(*),
                              'reason', (array_agg(last_error order by changed_at desc))[1]) end
                      from iu_core.vector_outbox where status = 'pending' and retry_count > 0 and last_error is not null),
       'gates', (select jsonb_build_object(
            'excluded', coalesce(bool_or(value = 'true') filter (where key = 'iu_core.no_vector_staging_excluded'), false),
            'phase_1', coalesce(bool_or(value = 'true') filter (where key = 'search.phase_1.enabled'), false),
            'phase_2', coalesce(bool_or(value = 'true') filter (where key = 'search.phase_2.enabled'), false),
            'phase_3', coalesce(bool_or(value = 'true') filter (where key = 'search.phase_3.enabled'), false))
          from iu_core.dot_config),
       'window', (select jsonb_build_object('quiet_s', extract(epoch from w.quiet_window), 'delete_s', extract(epoch from w.delete_delay))
                    from iu_core.vector_policy w),
       'cost', (select coalesce(jsonb_agg(to_jsonb(k) order by k.day desc, k.embedder, k.model), '[]')
                  from iu_core.search_cost k where k.day > current_date - 31)) as status`,
  )
  return rows[0]!.status
}

/** Counts end here: enough to say that something is behind, and cheap however much waits. */
export const MAX_COUNTED = 1000

export interface WaitingForSearch {
  /** Units and documents whose newest text is not in search yet. */
  readonly pending: number
  /** Those that failed every try and need a person. */
  readonly failed: number
}

/** How much of what the caller may see is not in search, up to MAX_COUNTED each. */
export async function waitingForSearch(db: Queryable): Promise<WaitingForSearch> {
  const { rows } = await db.query<WaitingForSearch>(
    `select (select count(*)::int from (select from iu_core.vector_outbox
              where status in ('pending', 'processing') limit $1) as p) as pending,
            (select count(*)::int from (select from iu_core.vector_outbox
              where status = 'dead_letter' limit $1) as f) as failed`,
    [MAX_COUNTED],
  )
  return rows[0]!
}

export interface DeadProjection {
  readonly outbox_id: string
  readonly unit_id: string | null
  readonly document_id: string | null
  readonly name: string
  readonly tries: number
  readonly error: string | null
  readonly died_at: Date
}

/** What could not be put into search, the newest first. Members see those of their workspaces. */
export async function deadProjections(
  db: Queryable,
  { workspace, limit = 100 }: { workspace?: string; limit?: number } = {},
): Promise<DeadProjection[]> {
  const { rows } = await db.query<DeadProjection>(
    `select o.outbox_id, o.unit_id, o.document_id, coalesce(u.canonical_address, d.source_ref) as name,
            o.retry_count + 1 as tries, o.last_error as error, o.changed_at as died_at
       from iu_core.vector_outbox o
       left join iu_core.information_unit u on u.unit_id = o.unit_id
       left join iu_core.kb_document d on d.document_id = o.document_id
      where o.status = 'dead_letter' and ($1::uuid is null or coalesce(u.workspace_id, d.workspace_id) = $1)
      order by o.changed_at desc limit $2`,
    [workspace ?? null, limit],
  )
  return rows
}

/** Dead letters are tried again. Answers how many. */
export async function replayProjections(
  db: Queryable,
  { workspace, outbox }: { workspace?: string; outbox?: readonly string[] } = {},
): Promise<number> {
  const { rows } = await db.query<{ replayed: number }>(
    'select iu_core.fn_vector_replay($1, $2) as replayed',
    [workspace ?? null, outbox ?? null],
  )
  return rows[0]!.replayed
}

/** What waits for quiet is due now. Answers how many were waiting. */
export async function projectNow(
  db: Queryable,
  { workspace, units }: { workspace?: string; units?: readonly string[] },
): Promise<number> {
  const { rows } = await db.query<{ due: number }>('select iu_core.fn_vector_now($1, $2) as due', [
    units ?? null,
    workspace ?? null,
  ])
  return rows[0]!.due
}
