/** Who drives executions and runs their steps just now, and what waits because nobody can run it. For the back end. */
import type { Queryable } from '../db/connection.ts'

export interface ShownEngine {
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
export async function listEngines(db: Queryable): Promise<ShownEngine[]> {
  const { rows } = await db.query<ShownEngine & Record<string, unknown>>(
    `select e.engine_id, e.name, e.handlers, e.started_at,
            case when e.drives then (select count(*) from noetl.execution_shard s where s.owner = e.engine_id)::int end as shards,
            case when e.runs then (select count(*) from noetl.command c where c.leased_by = e.engine_id)::int end as commands
       from noetl.engine e where e.leased_until > clock_timestamp() order by e.started_at, e.engine_id`,
  )
  return rows
}

export async function isSomebodyDriving(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ driven: boolean }>(
    'select exists (select from noetl.engine where drives and leased_until > clock_timestamp()) as driven',
  )
  return rows[0]!.driven
}

export interface Lacking {
  readonly execution_id: string
  readonly step: string
  readonly needs: readonly string[]
  /** How many items wait; null: the step itself does. */
  readonly items: number | null
}

/** What no process can take that runs now; of one execution, or of all. */
export async function lackedHandlers(db: Queryable, execution?: string): Promise<Lacking[]> {
  const { rows } = await db.query<Lacking & Record<string, unknown>>(
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
export async function missingHandlers(
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
