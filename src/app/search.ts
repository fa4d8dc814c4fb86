/** Search over the pools of a database, and what the stores of its vectors say about staging. */
import type { Config } from '../kernel/config.ts'
import { type Client, createPool, type Pool } from '../kernel/postgres/connection.ts'
import type { Database } from '../kernel/postgres/open.ts'
import { stagingInStores } from '../search/audit.ts'
import { type Search, searchLibrary } from '../search/library.ts'
import { openProviders, type ProviderConfig } from '../search/providers.ts'
import type { StagingHealth } from '../staging/records.ts'

interface SearchDeps {
  readonly config: Config
  readonly database: Pick<Database, 'workerUrl'>
  /** As dot_executor. */
  readonly pool: Pool
  readonly statement: <T>(work: (client: Client) => Promise<T>) => Promise<T>
}

/** Claims, writes, backfills and fits run concurrently. */
const WORKER_SESSIONS = 5

export function createSearch({ config, database, pool, statement }: SearchDeps): Search {
  return searchLibrary({
    config,
    pool,
    statement,
    listenUrl: database.workerUrl,
    openWorkerPool: () =>
      createPool(database.workerUrl, { role: 'vector_worker', max: WORKER_SESSIONS, purpose: 'search' }),
  })
}

/** `health` with one more check: every collection is scrolled for ids of staging. `pool` acts as a service and only reads. */
export async function withStoreHealth(
  pool: Pool,
  config: ProviderConfig,
  health: StagingHealth,
): Promise<StagingHealth> {
  const providers = openProviders(pool, config)
  try {
    const { ok, detail } = await stagingInStores({ pool, providers })
    const check = { name: 'vector stores', ok, detail }
    return { ...health, ok: health.ok && ok, checks: [...health.checks, check] }
  } finally {
    await providers.close()
  }
}
