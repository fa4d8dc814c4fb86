/** Search in this process: what changes in Postgres is put into it. */
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { createPool } from '../db/connection.ts'
import type { HealthCheck } from '../db/health.ts'
import type { Database } from '../db/open.ts'
import { inStatement } from '../db/statement.ts'
import type { ProjectionHooks } from '../search/hooks.ts'
import { searchOf } from '../stagedoor/search.ts'

export interface RunningSearch {
  health(): HealthCheck
  /** Begins nothing new and waits for what runs. */
  stop(): Promise<void>
}

export async function runSearch(
  config: Config,
  database: Database,
  { log, hooks }: { log: Logger; hooks?: ProjectionHooks },
): Promise<RunningSearch> {
  const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 1, purpose: 'search' })
  const search = searchOf({ config, database, pool, statement: (work) => inStatement(pool, work) })
  const close = async (): Promise<void> => {
    await search.close()
    await pool.end()
  }
  try {
    const worker = await search.work({ log, ...(hooks && { hooks }) })
    return { health: () => worker.health(), stop: close }
  } catch (error) {
    await close()
    throw error
  }
}
