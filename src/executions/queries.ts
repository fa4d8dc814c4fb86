/** Queries about executions, under the rights of the caller: a list, one with its steps, its log, its results, engines. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Json, JsonObject } from '../kernel/json.ts'
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import type { ResultStore } from './results.ts'
import {
  Engine,
  type ExecutionCounts,
  type ExecutionDetail,
  ExecutionRecord,
  type ExecutionStep,
  LoggedEvent,
  type LoopProgress,
  type PlaybookRuns,
  type StepWait,
  type TracedExecution,
} from './shapes.ts'

export type {
  ExecutionDetail,
  ExecutionLoops,
  ExecutionRecord,
  ExecutionStep,
  LoggedEvent,
  StepWait,
  TracedExecution,
} from './shapes.ts'

export { EXECUTION_STATUSES } from './shapes.ts'
export type ExecutionRecordStatus = ExecutionRecord['status']

export interface ExecutionFilter {
  readonly status?: ExecutionRecordStatus | undefined
  readonly playbook?: string | undefined
  readonly workspaceId?: string | undefined
  /** Only those that this one started. Without it only those that no other started. */
  readonly parent?: string | undefined
  /** Started at or after this time, in ISO 8601. */
  readonly since?: string | undefined
  /** Started before this time. */
  readonly until?: string | undefined
  /** Only those that failed, or of which items failed. */
  readonly failed?: boolean | undefined
  readonly limit?: number | undefined
  /** The id of the last of the page before. */
  readonly after?: string | undefined
}

/** A member who may not start the playbook sees its name in the log of what ran in their workspace. */
const FROM_EXECUTIONS = `from noetl.v_execution v
  left join lateral (select e.meta from noetl.event e
                      where v.playbook is null and e.execution_id = v.execution_id and e.seq = 1) first on true
 cross join lateral (select coalesce(v.playbook, first.meta ->> 'playbook') as playbook,
                            coalesce(v.version, (first.meta ->> 'version')::int) as version) named`
const EXECUTION_COLUMNS = columnsOf(ExecutionRecord, {
  from: 'v',
  as: {
    execution_id: 'v.execution_id::text',
    playbook: 'named.playbook',
    version: 'named.version',
    parent_execution_id: 'v.parent_execution_id::text',
    items: 'v.items::int',
    items_done: 'v.items_done::int',
    items_failed: 'v.items_failed::int',
  },
})

/**
 * Newest first, as far as the caller may see. Which ones is asked first: the view's two halves are sorted only after all of both
 * have been read (of 200,000 in 440 ms, this way in 6).
 */
export async function listExecutions(
  db: Queryable,
  filter: ExecutionFilter = {},
): Promise<ExecutionRecord[]> {
  const { limit = 50, status, playbook, workspaceId, parent, after, since, until, failed } = filter
  const values = [status, playbook, workspaceId, parent, after, since, until, failed].map(
    (value) => value ?? null,
  )
  const { rows: newest } = await db.query<{ id: string }>(NEWEST_EXECUTIONS, [limit, ...values])
  const { rows } = await db.query<ExecutionRecord>(
    `select ${EXECUTION_COLUMNS} ${FROM_EXECUTIONS}
      where v.execution_id = any ($10) and ($2::text is null or v.status = $2) and ($3::text is null or named.playbook = $3)
        and ($4::uuid is null or v.workspace_id = $4) and v.parent_execution_id is not distinct from $5::bigint
        and ($6::bigint is null or v.execution_id < $6)
        and ($7::timestamptz is null or v.created_at >= $7) and ($8::timestamptz is null or v.created_at < $8)
        and ($9::boolean is not true or v.status = 'FAILED' or v.items_failed > 0)
      order by v.execution_id desc limit $1`,
    [limit, ...values, newest.map(({ id }) => id)],
  )
  return rows
}

/** The id of an execution is a time as well: it bounds what is read. */
const STARTED_BETWEEN = `($7::timestamptz is null or x.execution_id >= noetl.fn_snowflake_floor($7) and x.created_at >= $7)
      and ($8::timestamptz is null or x.execution_id < noetl.fn_snowflake_floor($8 + interval '1 second') and x.created_at < $8)`
const HAS_FAILED_ITEMS = `exists (select from jsonb_each(x.state -> 'loop') l where (l.value ->> 'failed')::bigint > 0)`

const NEWEST_EXECUTIONS = `
  (select x.execution_id as id from noetl.execution x
    where ($2::text is null or x.status = $2) and ($4::uuid is null or x.workspace_id = $4)
      and (x.parent_execution_id = $5::bigint or ($5::bigint is null and x.parent_execution_id is null)) and ($6::bigint is null or x.execution_id < $6)
      and ${STARTED_BETWEEN}
      and ($9::boolean is not true or x.status = 'FAILED' or ${HAS_FAILED_ITEMS})
      and ($3::text is null
           or exists (select from noetl.catalog c where c.catalog_id = x.catalog_id and c.path = $3)
           or exists (select from noetl.event e
                       where e.execution_id = x.execution_id and e.seq = 1 and e.meta ->> 'playbook' = $3))
    order by x.execution_id desc limit $1)
  union all
  (select i.execution_id from noetl.inbox i where i.kind = 'start' and ($6::bigint is null or i.execution_id < $6)
    order by i.execution_id desc limit $1)
  union all
  (select k.execution_id from noetl.checkpoint k
    where not exists (select from noetl.execution x where x.execution_id = k.execution_id)
    order by k.execution_id desc limit $1)`

const MAX_COUNTED = 10_000

/**
 * How many there are of each status, of the newest 10,000 that match; as far as the caller may see. The oldest of them is asked first: as
 * a bound that the planner knows, it keeps the view from being read from end to end (of 100,000 in 39 ms, this way in 16).
 */
export async function countByStatus(
  db: Queryable,
  { playbook, workspaceId, since, until }: Omit<ExecutionFilter, 'status' | 'after' | 'limit'> = {},
): Promise<ExecutionCounts> {
  const values = [playbook ?? null, workspaceId ?? null, since ?? null, until ?? null, MAX_COUNTED + 1]
  const { rows: bounds } = await db.query<{ oldest: string | null }>(
    `select min(newest.id)::text as oldest from (${newestIds('$5')}) as newest`,
    values,
  )
  const { rows } = await db.query<ExecutionCounts>(
    `with counted as materialized (
       select v.status, v.items_failed > 0 as has_failed_items
         from (${newestIds('$5')}) as newest
         join noetl.v_execution v on v.execution_id = newest.id and v.execution_id >= $6::bigint
     ), known as (select * from counted limit $5 - 1)
     select coalesce((select jsonb_object_agg(s.status, s.n)
                        from (select status, count(*) as n from known group by status) s), '{}') as by_status,
            (select count(*)::int from known where has_failed_items and status <> 'FAILED') as with_failed_items,
            (select count(*) >= $5 from counted) as more`,
    [...values, bounds[0]!.oldest ?? 0],
  )
  return rows[0]!
}

/** Ids of the newest that no other started: $1 playbook, $2 workspace, $3 since, $4 until. */
const newestIds = (limit: string) => `
  (select x.execution_id as id from noetl.execution x
    where x.parent_execution_id is null and ($2::uuid is null or x.workspace_id = $2)
      and ($3::timestamptz is null or x.execution_id >= noetl.fn_snowflake_floor($3) and x.created_at >= $3)
      and ($4::timestamptz is null or x.created_at < $4)
      and ($1::text is null
           or exists (select from noetl.catalog c where c.catalog_id = x.catalog_id and c.path = $1)
           or exists (select from noetl.event e
                       where e.execution_id = x.execution_id and e.seq = 1 and e.meta ->> 'playbook' = $1))
    order by x.execution_id desc limit ${limit})
  union
  (select i.execution_id from noetl.inbox i
    where i.kind = 'start' and ($2::uuid is null or i.body ->> 'workspace_id' = $2::text)
      and i.body -> 'parent' = 'null'
      and ($3::timestamptz is null or i.sent_at >= $3) and ($4::timestamptz is null or i.sent_at < $4)
      and ($1::text is null or exists (select from noetl.catalog c
                                        where c.catalog_id = (i.body ->> 'catalog_id')::bigint and c.path = $1))
    order by i.execution_id desc limit ${limit})`

const MAX_RUNS = 2_000

/** The latest execution of each playbook and how the others did, among the newest 2,000 that the caller may see. */
export async function listPlaybookRuns(db: Queryable): Promise<PlaybookRuns[]> {
  const { rows } = await db.query<PlaybookRuns>(
    `select named.playbook, count(*)::int as executions,
            (count(*) filter (where v.status in ('PENDING', 'RUNNING', 'PAUSED')))::int as running,
            (count(*) filter (where v.status = 'FAILED'))::int as failed,
            max(v.execution_id)::text as last_execution_id,
            (array_agg(v.status order by v.execution_id desc))[1] as last_status,
            max(v.created_at) as last_at
       from (${newestIds('$5')}) as newest
       join ${FROM_EXECUTIONS.replace(/^from noetl.v_execution v/, 'noetl.v_execution v on v.execution_id = newest.id')}
      where named.playbook is not null
      group by named.playbook order by named.playbook limit 1000`,
    [null, null, null, null, MAX_RUNS],
  )
  return rows
}

async function findExecution(db: Queryable, id: string): Promise<ExecutionRecord | undefined> {
  const { rows } = await db.query<ExecutionRecord>(
    `select ${EXECUTION_COLUMNS} ${FROM_EXECUTIONS} where v.execution_id = $1`,
    [id],
  )
  return rows[0]
}

/** Throws execution_unknown: the same for one that does not exist and one that the caller may not see. */
export async function requireExecution(db: Queryable, id: string): Promise<ExecutionRecord> {
  const found = (await findExecution(db, id)) ?? (await findStarting(db, id)) ?? (await findExecution(db, id))
  if (found) return found
  throw new StagedoorError('execution_unknown', { execution: id })
}

/** One that has just begun and is not projected: PENDING, as before its first event. Undefined: it was projected meanwhile. */
async function findStarting(db: Queryable, id: string): Promise<ExecutionRecord | undefined> {
  const { rows } = await db.query<ExecutionRecord>(
    `select ${STARTING_COLUMNS} from noetl.fn_execution_starting($1) v`,
    [id],
  )
  return rows[0]
}

const STARTING_COLUMNS = columnsOf(ExecutionRecord, {
  from: 'v',
  as: {
    execution_id: 'v.execution_id::text',
    parent_execution_id: 'v.parent_execution_id::text',
    status: `'PENDING'`,
    last_seq: '0',
    state: `'{}'::jsonb`,
    updated_at: 'v.created_at',
    ...Object.fromEntries(
      [
        'error',
        'items',
        'items_done',
        'items_failed',
        'end_time',
        'start_time',
        'last_event_type',
        'last_node_name',
      ].map((name) => [name, 'null']),
    ),
  },
})

export async function getExecution(
  db: Queryable,
  id: string,
  page: StepFilter = {},
): Promise<ExecutionDetail> {
  const record = await requireExecution(db, id)
  const { rows } = await db.query<{ context: Json; meta: Json }>(
    'select context, meta from noetl.event where execution_id = $1 and seq = 1',
    [id],
  )
  const meta = (rows[0]?.meta ?? {}) as Record<string, string | undefined>
  const { steps, next } = await listSteps(db, record, page)
  return {
    ...record,
    args: ((rows[0]?.context as JsonObject | undefined)?.args ?? {}) as JsonObject,
    cause: meta.cause ?? null,
    correlation_id: meta.correlation_id ?? null,
    rerun_of: meta.rerun_of ?? null,
    from_step: meta.from_step ?? null,
    result: await getOutput(db, record),
    steps,
    next_steps: next,
  }
}

export interface EventFilter {
  /** Those behind this place in the log. */
  readonly after?: number
  readonly limit?: number
  /** Without what happened to single items of loops. */
  readonly withoutItems?: boolean
  /** Only what failed: attempts, items, steps, the whole. */
  readonly failed?: boolean
  /** Only of this step. */
  readonly step?: string | undefined
}

const EVENT_COLUMNS = columnsOf(LoggedEvent, {
  as: Object.fromEntries(
    ['execution_id', 'event_id', 'catalog_id', 'parent_event_id', 'parent_execution_id'].map((name) => [
      name,
      `${name}::text`,
    ]),
  ),
})

/** In their order. */
export async function listEvents(
  db: Queryable,
  execution: string,
  { after = 0, limit = 100, withoutItems = false, failed = false, step }: EventFilter = {},
): Promise<LoggedEvent[]> {
  const { rows } = await db.query<LoggedEvent>(
    `select ${EVENT_COLUMNS}
       from noetl.event
      where execution_id = $1 and seq > $2
        and not ($4 and (event_type in ('loop.item', 'loop.shard.enqueued', 'loop.shard.done', 'loop.shard.failed')
                         or (event_type like 'command.%' and meta ->> 'loop_id' is not null)))
        and (not $5 or error is not null) and ($6::text is null or node_name = $6)
      order by seq limit $3`,
    [execution, after, limit, withoutItems, failed, step ?? null],
  )
  return rows
}

// Results.

/** In the event, or by reference. */
type KeptResult = JsonObject & { readonly value?: Json; readonly ref?: string; readonly bytes?: number }

/** The result of an execution, or of the entry of a step that ended last. The caller's right is checked before a file is read. */
export async function readResult(
  transaction: <T>(work: (db: Client) => Promise<T>) => Promise<T>,
  store: Pick<ResultStore, 'load'>,
  id: string,
  step?: string,
): Promise<Json> {
  const { kept, row } = await transaction(async (db) => {
    const execution = await requireExecution(db, id)
    const kept = step === undefined ? await getOutput(db, execution) : await getStepResult(db, id, step)
    if (kept === undefined) throw new StagedoorError('step_unknown', { execution: id, step: step! })
    if (kept === null)
      throw new StagedoorError('execution_not_completed', { execution: id, status: execution.status })
    return { kept, row: kept.ref === undefined ? undefined : await getResult(db, kept.ref) }
  })
  if (row === undefined) return kept.value ?? null
  if (row.store_tier === 'db') return row.body as Json
  return store.load({ ref: kept.ref!, bytes: kept.bytes ?? 0 })
}

/** What an execution gave; null until it has completed. */
async function getOutput(
  db: Queryable,
  { execution_id, last_seq }: Pick<ExecutionRecord, 'execution_id' | 'last_seq'>,
): Promise<KeptResult | null> {
  const { rows } = await db.query<{ result: KeptResult | null }>(
    `select result from noetl.event where execution_id = $1 and seq = $2 and event_type = 'playbook.completed'`,
    [execution_id, last_seq],
  )
  return rows[0]?.result ?? null
}

/** What the step gave that ended last under this name; undefined: none has ended. Read from the end of the log. */
async function getStepResult(
  db: Queryable,
  execution: string,
  step: string,
): Promise<KeptResult | null | undefined> {
  const { rows } = await db.query<{ result: KeptResult | null }>(
    `select result from noetl.v_execution_entry
      where execution_id = $1 and node_name = $2
        and ended_at is not null
      order by seq desc limit 1`,
    [execution, step],
  )
  return rows[0]?.result
}

interface ResultRecord {
  readonly execution_id: string
  readonly store_tier: string
  readonly bytes: string
  /** Null where it is not in the database: the process that has the file reads it. */
  readonly body: Json
}

/** A result by its reference, for those who may read its workspace. */
async function getResult(db: Queryable, ref: string): Promise<ResultRecord> {
  const { rows } = await db.query<ResultRecord>(
    'select execution_id::text, store_tier, bytes, body from noetl.fn_result_read($1)',
    [ref],
  )
  return rows[0]!
}

// The steps of an execution as people see them: an entry each, in pages.

export interface StepPage {
  readonly steps: ExecutionStep[]
  /** `after` of the next page; null: there is none. */
  readonly next: number | null
}

export interface StepFilter {
  /** The `next` of the page before. */
  readonly after?: number
  readonly limit?: number
}

interface StepRow extends Omit<ExecutionStep, 'loop' | 'wait'> {
  readonly loop_id: string | null
  readonly waits_for: WaitMeta | null
}

/** As step.enter has it. */
export interface WaitMeta {
  readonly wait: StepWait['kind']
  readonly until?: string
  readonly event?: string
  readonly subject?: string
  readonly record?: string
}

/** In the order in which they were entered. */
export async function listSteps(
  db: Queryable,
  { execution_id, state }: Pick<ExecutionRecord, 'execution_id' | 'state'>,
  { after = 0, limit = 100 }: StepFilter = {},
): Promise<StepPage> {
  const { rows: entered } = await db.query<StepEntry>(STEP_ENTRIES, [execution_id, after, limit + 1])
  const page = entered.slice(0, limit)
  const found = await entriesOf(db, execution_id, page)
  const steps = page.map(({ node_id, entered_at }) => {
    const { loop_id, waits_for, ...row } = found.get(node_id)!
    const step = { ...row, entered_at }
    return {
      ...step,
      loop: loopOf(state.loop?.[row.step], loop_id, step),
      wait: waits_for && toStepWait(waits_for),
    }
  })
  return { steps, next: entered.length > limit ? page.at(-1)!.seq : null }
}

interface StepEntry {
  readonly node_id: string
  readonly seq: number
  readonly entered_at: Date
}

/** What enters a step follows from an event of another: so a page is found from its place in the log on, without the rest. */
const STEP_ENTRIES = `
  select e.node_id, e.seq, e.created_at as entered_at from noetl.v_execution_entry e
   where e.execution_id = $1 and e.seq > $2
     and not exists (select from noetl.event p where p.execution_id = e.execution_id and p.event_id = e.parent_event_id
                                                 and p.node_id = e.node_id)
   order by e.seq limit $3`

type EntryRow = Omit<StepRow, 'entered_at'>

/** Most steps end soon after they were entered; only for the others the log is read to its end. */
const NEAR_EVENTS = 1000
const MAX_SEQ = 2_147_483_647

async function entriesOf(
  db: Queryable,
  execution: string,
  page: readonly StepEntry[],
): Promise<Map<string, EntryRow>> {
  if (page.length === 0) return new Map()
  const from = page[0]!.seq
  const nodes = page.map(({ node_id }) => node_id)
  const found = await latestOf(db, execution, nodes, { from, to: page.at(-1)!.seq + NEAR_EVENTS })
  const open = nodes.filter((node_id) => !isSettled(found.get(node_id)!))
  const late = open.length === 0 ? [] : await latestOf(db, execution, open, { from, to: MAX_SEQ })
  return new Map([...found, ...late])
}

/** A loop whose results are collected has an exit behind its end. */
function isSettled({ ended_at, loop_id, result }: EntryRow): boolean {
  return ended_at !== null && (loop_id === null || result?.ref === undefined)
}

async function latestOf(
  db: Queryable,
  execution: string,
  nodes: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Map<string, EntryRow>> {
  const { rows } = await db.query<EntryRow>(
    `select distinct on (node_id) node_id, node_name as step, status, attempt, loop_id, waits_for, ended_at, error, result
       from noetl.v_execution_entry
      where execution_id = $1 and node_id = any ($2) and seq between $3 and $4
      order by node_id, seq desc`,
    [execution, nodes, from, to],
  )
  return new Map(rows.map((row) => [row.node_id, row]))
}

/** The projection counts the latest loop of a step; of an earlier one its end says the counts. */
export function loopOf(
  latest: LoopProgress | undefined,
  loop_id: string | null,
  row: Pick<StepRow, 'status' | 'result'>,
): LoopProgress | null {
  if (loop_id !== null) return latest?.loop_id === loop_id ? latest : endedLoop(loop_id, row.result)
  // Its results were collected: the last event is then its exit, which names no loop.
  return latest !== undefined && ['complete', 'partial', 'failed'].includes(row.status) ? latest : null
}

function endedLoop(loop_id: string, result: JsonObject | null): LoopProgress | null {
  const counts = result?.context as { total: number; completed: number; failed: number } | undefined
  if (counts === undefined) return null
  const { total, completed, failed } = counts
  return { loop_id, mode: 'sequential', total, done: completed, failed, completed: true }
}

export function toStepWait(meta: WaitMeta): StepWait {
  const { wait: kind, until, event = null, subject = null, record = null } = meta
  return {
    kind,
    wake_at: until === undefined ? null : new Date(until),
    event,
    subject,
    staging_record_id: record,
  }
}

// Items of loops that failed for good: which, and why.

export interface FailedItem {
  readonly seq: number
  /** The entry of its step. */
  readonly node_id: string
  readonly step: string
  /** Its place in the collection, from 0. */
  readonly index: number
  readonly error: string
}

/** In the order in which they failed. */
export async function listFailedItems(
  db: Queryable,
  execution: string,
  limit: number,
): Promise<FailedItem[]> {
  const { rows } = await db.query<FailedItem & Record<string, unknown>>(
    `select seq, node_id, node_name as step, current_index as index, error from noetl.event
      where execution_id = $1 and meta ->> 'loop_id' is not null and current_index is not null
        and (event_type = 'loop.shard.failed' or (event_type = 'command.failed' and meta -> 'final' = 'true'))
      order by seq limit $2`,
    [execution, limit],
  )
  return rows
}

// The way from result to result: each end, and what it follows from.

/** One step of the way: an end, and the ends that it follows from. */
export interface TracedResult {
  readonly event_id: string
  readonly execution_id: string
  readonly event_type: string
  readonly node_name: string | null
  readonly status: string | null
  readonly result: JsonObject | null
  readonly error: string | null
  readonly logged_at: Date
  /** How far it is from the end of the execution. */
  readonly depth: number
}

/** From the last event of an execution back to its first, along the causes; with the child executions of its steps. */
export async function traceExecution(db: Queryable, execution: string): Promise<TracedResult[]> {
  const { rows } = await db.query<TracedResult & Record<string, unknown>>(
    `with recursive way as (
       (select e.*, 0 as depth from noetl.event e where e.execution_id = $1 order by e.seq desc limit 1)
       union all
       select e.*, w.depth + 1 from way w
         join noetl.event e on e.execution_id = w.execution_id and e.event_id = w.parent_event_id
     )
     select event_id, execution_id, event_type, node_name, status, result, error, created_at as logged_at, depth from way
     union all
     select e.event_id, e.execution_id, e.event_type, e.node_name, e.status, e.result, e.error, e.created_at, w.depth
       from way w join noetl.event e on e.execution_id = (w.meta ->> 'child_execution_id')::bigint
        and e.event_type in ('playbook.completed', 'playbook.failed', 'execution.cancelled')
     order by depth, event_id`,
    [execution],
  )
  return rows
}

// Executions that belong to a trace: those that follow from its events, and those that these started.

/**
 * One that has ended is named by its event in the outbox (`ended`), one that was started by a job by that job (`ended` too);
 * the others have a checkpoint, or are still in the inbox. None is looked for in the log of all.
 */
export async function listCorrelatedExecutions(
  db: Queryable,
  correlation: string,
  named: readonly string[],
  limit: number,
): Promise<TracedExecution[]> {
  const { rows } = await db.query<TracedExecution>(
    `with recursive known as (
       select unnest($2::bigint[]) as id
       union
       select k.execution_id from noetl.checkpoint k
         join noetl.event e on e.execution_id = k.execution_id and e.seq = 1
        where e.meta ->> 'correlation_id' = $1
       union
       select i.execution_id from noetl.inbox i where i.kind = 'start' and i.body ->> 'correlation_id' = $1
     ), family as (
       select id, 0 as depth from known
       union
       select x.execution_id, f.depth + 1 from family f join noetl.execution x on x.parent_execution_id = f.id where f.depth < 16
     )
     select v.execution_id::text, v.playbook, v.version, v.status, v.parent_execution_id::text, v.started_by, v.error,
            v.items::int, v.items_done::int, v.items_failed::int, v.created_at, v.end_time, e.meta ->> 'cause' as cause
       from (select distinct id from family limit $3) f
       join noetl.v_execution v on v.execution_id = f.id
       left join noetl.event e on e.execution_id = f.id and e.seq = 1
      order by v.execution_id`,
    [correlation, named, limit],
  )
  return rows
}

/** What an execution belongs to: null where it follows from nothing; undefined where there is none. */
export async function getExecutionCorrelation(db: Queryable, id: string): Promise<string | null | undefined> {
  const { rows } = await db.query<{ correlation_id: string | null }>(
    `select (select e.meta ->> 'correlation_id' from noetl.event e
              where e.execution_id = v.execution_id and e.seq = 1) as correlation_id
       from noetl.v_execution v where v.execution_id = $1`,
    [id],
  )
  return rows[0]?.correlation_id
}

// Who drives executions and runs their steps just now, and what waits because nobody can run it. For the back end.

interface EngineRecord {
  readonly engine_id: string
  readonly name: string | null
  /** Null: it only runs what others drive. */
  readonly shards: number | null
  /** Null: it only drives. */
  readonly commands: number | null
  readonly handlers: readonly string[]
  readonly started_at: Date
}

/** Those that are alive. */
export async function listEngines(db: Queryable): Promise<EngineRecord[]> {
  const { rows } = await db.query<EngineRecord & Record<string, unknown>>(
    `select e.engine_id, e.name, e.handlers, e.started_at,
            case when e.drives then (select count(*) from noetl.execution_shard s where s.owner = e.engine_id)::int end as shards,
            case when e.runs then (select count(*) from noetl.command c where c.leased_by = e.engine_id)::int end as commands
       from noetl.engine e where e.leased_until > clock_timestamp() order by e.started_at, e.engine_id`,
  )
  return rows
}

export async function hasDrivingEngine(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ driven: boolean }>(
    'select exists (select from noetl.engine where drives and leased_until > clock_timestamp()) as driven',
  )
  return rows[0]!.driven
}

export interface UnhandledCommands {
  readonly execution_id: string
  readonly step: string
  readonly needs: readonly string[]
  /** How many items wait; null: the step itself does. */
  readonly items: number | null
}

/** What no process can take that runs now; of one execution, or of all. */
export async function listUnhandledCommands(db: Queryable, execution?: string): Promise<UnhandledCommands[]> {
  const { rows } = await db.query<UnhandledCommands & Record<string, unknown>>(
    `select c.execution_id::text, c.node_name as step, c.needs, case when count(c.loop_id) > 0 then count(*)::int end as items
       from noetl.command c
      where ($1::bigint is null or c.execution_id = $1) and c.leased_by is null and c.needs is not null
        and not exists (select from noetl.engine e where e.runs and e.leased_until > clock_timestamp() and c.needs <@ e.handlers)
      group by c.execution_id, c.node_name, c.needs order by 1, 2 limit 100`,
    [execution ?? null],
  )
  return rows
}

/** Of these steps' handlers, those that no running process has all of. */
export async function findMissingHandlers(
  db: Queryable,
  steps: readonly (readonly string[])[],
  own: readonly string[] = [],
): Promise<string[]> {
  const engines = [
    ...(await listEngines(db)).filter(({ commands }) => commands !== null).map((one) => one.handlers),
    own,
  ]
  const missing = steps
    .filter((needs) => !engines.some((handlers) => needs.every((name) => handlers.includes(name))))
    .flatMap((needs) => needs.filter((name) => !own.includes(name)))
  return [...new Set(missing)]
}

// How executions do: for people and for a scrape now and then.

export interface ExecutionStatistics {
  /** How old the oldest event was when it was last folded, over all shards. */
  readonly projection_lag_ms: number
  /** That nobody has ended yet, by status; what has ended is counted by events. */
  readonly live: readonly { readonly status: string; readonly executions: number }[]
  /** Rows of the inbox that are not consumed yet. */
  readonly inbox: number
  readonly inbox_oldest_s: number
  /** Items of loops and steps for other processes: handed out to an engine, and waiting for one. */
  readonly commands_running: number
  readonly commands_waiting: number
  readonly waits: number
  /** Processes that drive, or run items, with a lease. */
  readonly engines: number
  readonly shards_without_owner: number
  readonly partition_days: number
}

export async function executionStatistics(db: Queryable): Promise<ExecutionStatistics> {
  const { rows } = await db.query<ExecutionStatistics>(
    `select (select coalesce(max(lag_ms), 0) from noetl.projection_checkpoint) as projection_lag_ms,
            (select coalesce(json_agg(json_build_object('status', status, 'executions', n)), '[]')
               from (select coalesce(x.status, 'PENDING') as status, count(*)::int as n
                       from noetl.checkpoint k left join noetl.execution x using (execution_id)
                      where not k.ended group by 1) as live) as live,
            (select count(*)::int from noetl.inbox) as inbox,
            (select coalesce(extract(epoch from clock_timestamp() - min(sent_at)), 0)::float8 from noetl.inbox) as inbox_oldest_s,
            (select count(*)::int from noetl.command where leased_by is not null) as commands_running,
            (select count(*)::int from noetl.command where leased_by is null) as commands_waiting,
            (select count(*)::int from noetl.wait) as waits,
            (select count(*)::int from noetl.engine where leased_until > clock_timestamp()) as engines,
            (select count(*)::int from noetl.execution_shard s
              where not exists (select from noetl.engine g where g.engine_id = s.owner and g.leased_until > clock_timestamp()))
              as shards_without_owner,
            coalesce(noetl.fn_execution_partition_days_left(), 0) as partition_days`,
  )
  return rows[0]!
}

/** Every engine that is registered, alive or not, for whoever operates a workspace. */
export async function listRegisteredEngines(db: Queryable): Promise<Engine[]> {
  const { rows } = await db.query<Engine>(`select ${columnsOf(Engine)} from noetl.fn_engines()`)
  return rows
}
