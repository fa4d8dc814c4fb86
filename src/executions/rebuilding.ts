/** The projection from the log alone: compared with what is there, or made anew. */
import type { Queryable } from '../db/connection.ts'

export interface Difference {
  readonly execution_id: string
  readonly difference: string
}

const PAGE = 500

/** Every row that is not what its log says. */
export async function* projectionDifferences(db: Queryable): AsyncGenerator<Difference> {
  for (let after = '0'; ; ) {
    const { rows } = await db.query<{ execution_id: string; difference: string }>(
      'select execution_id, difference from noetl.fn_projection_differences($1, $2)',
      [after, PAGE],
    )
    yield* rows
    if (rows.length < PAGE) return
    after = rows.at(-1)!.execution_id
  }
}

/** One execution a transaction: an engine that projects meanwhile waits a moment. Returns how many; a row without a log goes. */
export async function rebuildProjection(db: Queryable): Promise<number> {
  let rebuilt = 0
  for (let after = '0'; ; ) {
    const { rows } = await db.query<{ id: string }>(KNOWN, [after, PAGE])
    for (const { id } of rows) await db.query('select noetl.rebuild_execution_projection($1)', [id])
    rebuilt += rows.length
    if (rows.length < PAGE) return rebuilt
    after = rows.at(-1)!.id
  }
}

/** How many executions there are to compare: those with a log, a row or both. */
export async function countExecutions(db: Queryable): Promise<number> {
  let count = 0
  for (let after = '0'; ; ) {
    const { rows } = await db.query<{ id: string }>(KNOWN, [after, PAGE])
    count += rows.length
    if (rows.length < PAGE) return count
    after = rows.at(-1)!.id
  }
}

/** Every execution that has a log, a row or both; by steps through the log's index, not through its events. */
const KNOWN = `
  with recursive logged as (
    select (select min(execution_id) from noetl.event where execution_id > $1) as id, 1 as n
    union all
    select (select min(e.execution_id) from noetl.event e where e.execution_id > l.id), l.n + 1
      from logged l where l.id is not null and l.n < $2
  )
  select id from (
    select id from logged where id is not null
    union
    (select execution_id from noetl.execution where execution_id > $1 order by 1 limit $2)) as known
   order by id limit $2`
