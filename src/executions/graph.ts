/**
 * How an execution went, for its page: the graph of its steps, the items of its loops, and who ran what when. Under the rights of the
 * caller, and bounded, whatever the length of the log.
 */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { loopOf, toStepWait, type WaitMeta } from './queries.ts'
import {
  type ExecutionGraph,
  type ExecutionRecord,
  type ExecutionTimeline,
  type GraphNode,
  type ITEM_STATUSES,
  LoopItem,
} from './shapes.ts'

type GraphRow = Omit<GraphNode, 'loop' | 'wait'> & {
  readonly loop_id: string | null
  readonly waits_for: WaitMeta | null
  readonly result: GraphResult
}
type GraphResult = Parameters<typeof loopOf>[2]['result']

/** Each step that was entered once, in its latest entry, and the arcs that were taken. */
export async function getExecutionGraph(
  db: Queryable,
  { execution_id, state }: Pick<ExecutionRecord, 'execution_id' | 'state'>,
): Promise<ExecutionGraph> {
  const { rows: nodes } = await db.query<GraphRow>(
    `with entry as materialized (select * from noetl.v_execution_entry where execution_id = $1),
          latest as (select distinct on (node_name) * from entry order by node_name, seq desc),
          entered as (select node_name, count(distinct node_id)::int as entries from entry group by node_name)
     select l.node_name as step, l.node_id, n.entries, l.status, l.attempt, l.loop_id, l.waits_for, l.ended_at, l.error, l.result,
            (select min(e.created_at) from entry e where e.node_id = l.node_id) as entered_at
       from latest l join entered n on n.node_name = l.node_name order by entered_at, l.seq`,
    [execution_id],
  )
  const { rows: arcs } = await db.query<ExecutionGraph['arcs'][number] & Record<string, unknown>>(
    `select p.node_name as "from", e.node_name as "to", count(*)::int as times
       from noetl.v_execution_entry e
       join noetl.event p on p.execution_id = e.execution_id and p.event_id = e.parent_event_id and p.node_id <> e.node_id
      where e.execution_id = $1 and p.node_name is not null
      group by 1, 2 order by 1, 2`,
    [execution_id],
  )
  const { rows: catalog } = await db.query<{ payload: object }>(
    `select c.payload from noetl.event e join noetl.catalog c on c.catalog_id = e.catalog_id where e.execution_id = $1 and e.seq = 1`,
    [execution_id],
  )
  return {
    definition: catalog[0]?.payload ?? null,
    nodes: nodes.map(({ loop_id, waits_for, result, ...node }) => ({
      ...node,
      loop: loopOf(state.loop?.[node.step], loop_id, { status: node.status, result }),
      wait: waits_for && toStepWait(waits_for),
    })),
    arcs,
  }
}

interface ItemFilter {
  readonly status?: (typeof ITEM_STATUSES)[number] | undefined
  /** The index of the last item of the page before. */
  readonly after?: number
  readonly limit?: number
}

const ITEM_COLUMNS = columnsOf(LoopItem)

/** Items of one loop, in the order of its collection. Throws execution_unknown, also for a loop that the execution does not have. */
export async function listLoopItems(
  db: Queryable,
  execution: string,
  loop: string,
  { status, after = -1, limit = 100 }: ItemFilter = {},
): Promise<LoopItem[]> {
  const { rows } = await db.query<LoopItem>(
    `select ${ITEM_COLUMNS} from noetl.fn_loop_items($1, $2, $3, $4, $5)`,
    [execution, loop, status ?? null, after, limit],
  )
  return rows
}

const MAX_EVENTS = 200_000
const BARS_PER_LANE = 200
const MAX_LANES = 50
const MAX_RUNNING = 200

/**
 * Which process ran what, from the ends of attempts: an attempt began its `ms` before its end was logged. Attempts of a process that
 * began in the same two-hundredth of the whole time are one bar.
 */
export async function getExecutionTimeline(
  db: Queryable,
  { execution_id, last_seq }: Pick<ExecutionRecord, 'execution_id' | 'last_seq'>,
): Promise<ExecutionTimeline> {
  const first = Math.max(0, last_seq - MAX_EVENTS)
  const { rows } = await db.query<Omit<ExecutionTimeline, 'running' | 'partial'>>(
    `with attempt as materialized (
       select e.meta ->> 'worker' as worker, e.node_name as step, e.current_index as index,
              e.event_type in ('command.completed', 'loop.shard.done') as is_done, (e.meta ->> 'ms')::int as ms,
              e.created_at - make_interval(secs => (e.meta ->> 'ms')::int / 1000.0) as began, e.created_at as ended
         from noetl.event e
        where e.execution_id = $1 and e.seq > $2 and e.meta ->> 'worker' is not null
          and e.event_type in ('command.completed', 'command.failed', 'loop.shard.done', 'loop.shard.failed')
     ), span as (
       select min(began) as "from", max(ended) as "to",
              greatest(0.001, extract(epoch from max(ended) - min(began)) / $3) as seconds from attempt
     ), bar as (
       select a.worker, min(a.began) as "from", max(a.ended) as "to",
              case when min(a.step) = max(a.step) then min(a.step) end as step,
              case when count(*) = 1 then min(a.index) end as index,
              count(*) filter (where a.is_done) as done, count(*) filter (where not a.is_done) as failed, sum(a.ms) as busy_ms
         from attempt a cross join span s
        group by a.worker, floor(extract(epoch from a.began - s."from") / s.seconds)
     ), lane as (
       select worker, sum(done)::int as done, sum(failed)::int as failed, least(sum(busy_ms), 2147483647)::int as busy_ms,
              jsonb_agg(jsonb_build_object('from', "from", 'to', "to", 'step', step, 'index', index, 'done', done, 'failed', failed)
                        order by "from") as bars
         from bar group by worker order by busy_ms desc, worker limit $4
     )
     select s."from", s."to", coalesce((select jsonb_agg(to_jsonb(l)) from lane l), '[]') as lanes from span s`,
    [execution_id, first, BARS_PER_LANE, MAX_LANES],
  )
  const { rows: running } = await db.query<ExecutionTimeline['running'][number] & Record<string, unknown>>(
    'select node_id, step, index, attempt, worker, started_at from noetl.fn_execution_running($1, $2)',
    [execution_id, MAX_RUNNING],
  )
  return { ...rows[0]!, running, partial: first > 0 }
}
