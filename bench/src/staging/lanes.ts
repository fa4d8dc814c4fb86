/** Several records at once, each in a lane of its own: sessions for its owner, its reviewer and for plain SQL. */
import type pg from 'pg'
import type { BenchDatabase } from '../server.ts'

const LANES = 4

export interface Lane {
  /** The product's worker: it stages and consumes. */
  readonly owner: pg.Client
  /** Another login, because nobody approves their own record. */
  readonly reviewer: pg.Client
  /** The owner of the tables. */
  readonly plain: pg.Client
  /** The run that consumes. */
  readonly run: string
}

export async function openLanes(database: BenchDatabase): Promise<Lane[]> {
  const administrator = await database.superuser()
  await administrator.query(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  return Promise.all(Array.from({ length: LANES }, () => openLane(database)))
}

async function openLane(database: BenchDatabase): Promise<Lane> {
  const [owner, reviewer, plain] = await Promise.all([
    database.worker(),
    database.superuser(),
    database.superuser(),
  ])
  await reviewer.query('set role dot_executor')
  await plain.query('set role workflow_admin')
  const { rows } = await owner.query(`select iu_core.fn_command_run_start('bench') as run`)
  return { owner, reviewer, plain, run: rows[0].run }
}

/** Each lane takes the next item when it is done with its last. */
export async function inLanes<T>(
  items: readonly T[],
  lanes: readonly Lane[],
  work: (item: T, lane: Lane) => Promise<void>,
): Promise<void> {
  let next = 0
  await Promise.all(
    lanes.map(async (lane) => {
      while (next < items.length) await work(items[next++]!, lane)
    }),
  )
}
