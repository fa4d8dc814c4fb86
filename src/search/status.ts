/** The state of search: collections, outbox, outages, cost; dead letters, and how they are replayed. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { SEARCH_GATES_SQL } from './outbox.ts'
import type { SearchDeadLetter, SearchStatus, SearchWaiting } from './shapes.ts'

export type { SearchDeadLetter, SearchStatus, SearchWaiting } from './shapes.ts'

/** `db` acts as a service: the status covers all workspaces. */
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
       'chunks', (select jsonb_build_object('units', count(unit_id), 'documents', count(document_id), 'rows', count(row_id),
            'to_analyse', count(*) filter (where analysis <> iu_core.fn_search_analysis())) from iu_core.search_chunk),
       'tables', (select jsonb_build_object(
            'active', count(*) filter (where t.state = 'active'),
            'scanning', count(*) filter (where t.state = 'active' and t.scan_state in ('waiting', 'scanning', 'sweeping')),
            'stopped', coalesce(jsonb_agg(jsonb_build_object('table', format('%I.%I', t.source_schema, t.source_table),
                                                             'reason', t.stopped_reason) order by t.code)
                                  filter (where t.state = 'stopped'), '[]'),
            'changes', (select count(*) from iu_core.search_row_change))
          from iu_core.search_table t),
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
       'gates', (select to_jsonb(g) from (${SEARCH_GATES_SQL}) as g),
       'window', (select jsonb_build_object('quiet_s', extract(epoch from w.quiet_window), 'delete_s', extract(epoch from w.delete_delay))
                    from iu_core.vector_policy w),
       'cost', (select coalesce(jsonb_agg(to_jsonb(k) order by k.day desc, k.embedder, k.model), '[]')
                  from iu_core.search_cost k where k.day > current_date - 31)) as status`,
  )
  return rows[0]!.status
}

/** Counts stop here: enough to say that search is behind, and cheap with any backlog. */
export const MAX_COUNTED = 1000

/** How many units and documents that the caller may read are not in search, each up to MAX_COUNTED; since when, and why. */
export async function waitingForSearch(db: Queryable): Promise<SearchWaiting> {
  const { rows } = await db.query<SearchWaiting>(
    `with waiting as materialized (
       select o.first_enqueued_at, o.status = 'pending' and o.earliest_run_at <= clock_timestamp() as due, o.retry_count, o.last_error
         from iu_core.vector_outbox o where o.status in ('pending', 'processing') order by o.earliest_run_at limit $1)
     select (select count(*)::int from waiting) as pending,
            (select count(*)::int from (select from iu_core.vector_outbox
              where status = 'dead_letter' limit $1) as f) as failed,
            (select count(*)::int from waiting where due) as due,
            (select min(first_enqueued_at) from waiting) as oldest_at,
            (select extract(epoch from quiet_window)::float8 from iu_core.vector_policy) as quiet_s,
            (select jsonb_build_object('rows', count(*), 'reason', max(last_error)) from waiting
              where last_error is not null having count(*) > 0) as retrying`,
    [MAX_COUNTED],
  )
  return rows[0]!
}

/** Rows that failed every attempt, newest first. Members see those of their workspaces. */
export async function listDeadLetters(
  db: Queryable,
  { workspace, limit = 100 }: { workspace?: string; limit?: number } = {},
): Promise<SearchDeadLetter[]> {
  const { rows } = await db.query<SearchDeadLetter>(
    `select o.outbox_id, o.unit_id, o.document_id, o.row_id,
            coalesce(u.canonical_address, d.source_ref, 'row ' || o.row_id) as name,
            o.retry_count + 1 as tries, o.last_error as error, o.changed_at as failed_at
       from iu_core.vector_outbox o
       left join iu_core.information_unit u on u.unit_id = o.unit_id
       left join iu_core.kb_document d on d.document_id = o.document_id
      where o.status = 'dead_letter'
        and ($1::uuid is null or coalesce(u.workspace_id, d.workspace_id) = $1
             or o.row_id is not null and iu_core.fn_search_row_is_of(o.row_id, $1))
      order by o.changed_at desc limit $2`,
    [workspace ?? null, limit],
  )
  return rows
}

/** Enqueues dead letters again. Returns how many. */
export async function replayDeadLetters(
  db: Queryable,
  { workspace, outbox }: { workspace?: string; outbox?: readonly string[] | undefined } = {},
): Promise<number> {
  const { rows } = await db.query<{ replayed: number }>(
    'select iu_core.fn_vector_replay($1, $2) as replayed',
    [workspace ?? null, outbox ?? null],
  )
  return rows[0]!.replayed
}

/** Ends the quiet window: waiting rows are due now. Returns how many were waiting. */
export async function flushOutbox(
  db: Queryable,
  { workspace, units }: { workspace?: string; units?: readonly string[] },
): Promise<number> {
  const { rows } = await db.query<{ due: number }>('select iu_core.fn_vector_flush($1, $2) as due', [
    units ?? null,
    workspace ?? null,
  ])
  return rows[0]!.due
}

/** How many rows of a workspace have been projected, ever. */
export async function countProjected(db: Queryable, workspace: string): Promise<number> {
  const { rows } = await db.query<{ done: number }>(
    `select count(*)::integer as done ${OUTBOX_OF_WORKSPACE} and o.status = 'done'`,
    [workspace],
  )
  return rows[0]!.done
}

/** What failed and is tried again: how many rows, and why the last did. */
export interface RetriedRows {
  readonly rows: number
  readonly reason: string
}

export async function findRetries(db: Queryable, workspace: string): Promise<RetriedRows | null> {
  const { rows } = await db.query<RetriedRows>(
    `select count(*)::integer as rows, (array_agg(o.last_error order by o.changed_at desc))[1] as reason
     ${OUTBOX_OF_WORKSPACE} and o.status = 'pending' and o.retry_count > 0 and o.last_error is not null`,
    [workspace],
  )
  return rows[0]!.rows > 0 ? rows[0]! : null
}

const OUTBOX_OF_WORKSPACE = `from iu_core.vector_outbox o
       left join iu_core.information_unit u on u.unit_id = o.unit_id
       left join iu_core.kb_document k on k.document_id = o.document_id
       left join iu_core.search_row r on r.row_id = o.row_id
      where coalesce(u.workspace_id, k.workspace_id, r.workspace_id) = $1`
