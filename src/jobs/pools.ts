/** Pools of workers: those that offer the same kinds of jobs or handlers of playbooks, and how many of them are wanted. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf, nullable, type Row, shape, Text, TextOrNull, Type } from '../kernel/schema.ts'

export const Pool = shape('Pool', {
  pool: Type.String({
    description: 'its kinds (kind,kind), behind another executor (executor/kind), or handler:name,name',
  }),
  executor: TextOrNull,
  kinds: nullable(Type.Array(Text)),
  handlers: nullable(Type.Array(Text)),
  workers: Type.Integer({ description: 'that live now' }),
  running: Type.Integer(),
  due: Type.Integer({ description: 'counted up to 10,000 of a kind' }),
  mean_seconds: nullable(
    Type.Number({ description: 'how long a handler takes: of the last ten minutes; null: none ended' }),
  ),
  wanted_workers: Type.Integer({
    description:
      '(running + due × mean_seconds / 10) / concurrency, rounded up: what is due is begun within ten seconds',
  }),
})
export type Pool = Row<typeof Pool>

export interface PoolOptions {
  /** Jobs at once of one worker. */
  readonly concurrency?: number | undefined
  /** Steps and items at once of one worker. */
  readonly steps?: number | undefined
}

/** Pools that workers offer, and what is due and nobody offers. For whoever operates a workspace. */
export async function listPools(db: Queryable, options: PoolOptions = {}): Promise<Pool[]> {
  return readPools(db, null, options)
}

/** Of a pool that need not have a worker: what an autoscaler asks. `concurrency` is that of either. */
export async function poolDemand(db: Queryable, pool: string, concurrency?: number): Promise<Pool> {
  const [found] = await readPools(db, pool, { concurrency, steps: concurrency })
  return found!
}

const DEFAULT_CONCURRENCY = 10
const DEFAULT_STEPS = 50

async function readPools(
  db: Queryable,
  pool: string | null,
  { concurrency = DEFAULT_CONCURRENCY, steps = DEFAULT_STEPS }: PoolOptions,
): Promise<Pool[]> {
  const { rows } = await db.query<Pool>(`select ${columnsOf(Pool)} from iu_core.fn_pools($1, $2, $3)`, [
    pool,
    concurrency,
    steps,
  ])
  return rows
}
