/** The way from result to result: each end, and what it follows from. */
import type { Queryable } from '../db/connection.ts'
import type { JsonObject } from './playbook/definition.ts'

export type { ExecutionDetail, ExecutionFilter, ExecutionRecord, LoggedEvent } from './shown-executions.ts'

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

/** From the last event of an execution back to its first, through what each follows from; the children of its steps beside them. */
export async function traceOf(db: Queryable, execution: string): Promise<TracedResult[]> {
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
