/** Search of the library, over the pools of its database. */
import type { Config } from '../config.ts'
import { type Client, createPool, type Pool } from '../db/connection.ts'
import type { Database } from '../db/open.ts'
import { type Search, searchLibrary } from '../search/library.ts'

export type { Search } from '../search/library.ts'

interface Surroundings {
  readonly config: Config
  readonly database: Pick<Database, 'workerUrl'>
  /** As dot_executor. */
  readonly pool: Pool
  readonly statement: <T>(work: (client: Client) => Promise<T>) => Promise<T>
}

/** Claims, writes, fills and fits beside each other. */
const WORKERS = 5

export function searchOf({ config, database, pool, statement }: Surroundings): Search {
  return searchLibrary({
    config,
    pool,
    statement,
    listenUrl: database.workerUrl,
    openWorkerPool: () =>
      createPool(database.workerUrl, { role: 'vector_worker', max: WORKERS, purpose: 'search' }),
  })
}
