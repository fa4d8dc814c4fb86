/** Several records at once, each with sessions of its own: for its owner, its reviewer and for plain SQL. */
import type pg from 'pg'
import type { BenchDatabase } from '../server.ts'

const CONCURRENCY = 4

export interface Sessions {
  /** The product's worker: it stages and consumes. */
  readonly owner: pg.Client
  /** Another login, because nobody approves their own record. */
  readonly reviewer: pg.Client
  /** The owner of the tables. */
  readonly plain: pg.Client
  /** The run that consumes. */
  readonly run: string
}

export async function openSessions(database: BenchDatabase): Promise<Sessions[]> {
  const administrator = await database.superuser()
  await administrator.query(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  return Promise.all(Array.from({ length: CONCURRENCY }, () => openSet(database)))
}

async function openSet(database: BenchDatabase): Promise<Sessions> {
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

/** Each set of sessions takes the next item when it is done with its last. */
export async function inParallel<T>(
  items: readonly T[],
  sets: readonly Sessions[],
  work: (item: T, sessions: Sessions) => Promise<void>,
): Promise<void> {
  let next = 0
  await Promise.all(
    sets.map(async (sessions) => {
      while (next < items.length) await work(items[next++]!, sessions)
    }),
  )
}
