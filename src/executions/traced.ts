/** Executions that belong to a trace: those that follow from its events, and those that these started. */
import type { Queryable } from '../db/connection.ts'
import type { ShownStatus } from './shown-executions.ts'

export interface TracedExecution {
  readonly execution_id: string
  readonly playbook: string | null
  readonly version: number | null
  readonly status: ShownStatus
  readonly parent_execution_id: string | null
  /** The event that it follows from. */
  readonly cause: string | null
  readonly started_by: string | null
  readonly error: string | null
  readonly items: number | null
  readonly items_done: number | null
  readonly items_failed: number | null
  readonly created_at: Date
  readonly end_time: Date | null
}

/**
 * One that has ended is named by its event in the outbox (`ended`), one that was started by a job by that job (`ended` too);
 * the others have a checkpoint, or are still in the inbox. None is looked for in the log of all.
 */
export async function correlatedExecutions(
  db: Queryable,
  correlation: string,
  named: readonly string[],
  most: number,
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
    [correlation, named, most],
  )
  return rows
}

/** What an execution belongs to: null where it follows from nothing; undefined where there is none. */
export async function correlationOfExecution(db: Queryable, id: string): Promise<string | null | undefined> {
  const { rows } = await db.query<{ correlation_id: string | null }>(
    `select (select e.meta ->> 'correlation_id' from noetl.event e
              where e.execution_id = v.execution_id and e.seq = 1) as correlation_id
       from noetl.v_execution v where v.execution_id = $1`,
    [id],
  )
  return rows[0]?.correlation_id
}
