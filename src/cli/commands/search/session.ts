/** Search on the command line: as whoever asks, in a workspace, with what a process opens for it. */
import type { Config } from '../../../config.ts'
import { createPool, type Pool } from '../../../db/connection.ts'
import type { Database } from '../../../db/open.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { type OpenedSearch, openSearch } from '../../../search/opened.ts'
import type { Transaction } from '../../../search/query.ts'
import { type ActingOptions, callerFor, workspaceOf } from '../../acting.ts'
import { withDatabase } from '../../context.ts'

export interface SearchOptions extends ActingOptions {
  readonly workspace?: string
}

export interface SearchSession {
  readonly workspace: string
  /** One transaction as whoever acts. */
  readonly transaction: Transaction
  /** As the back end (dot_executor). */
  readonly pool: Pool
  readonly opened: OpenedSearch
  readonly database: Database
  readonly config: Config
}

/** As the member that --as names, of the named workspace or the only one there is; else as the back end. */
export async function searching<T>(
  options: SearchOptions,
  work: (session: SearchSession) => Promise<T>,
  { decides = false, call = '' }: { decides?: boolean; call?: string } = {},
): Promise<T> {
  return withDatabase(options, async (database, config) => {
    const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 3, purpose: 'cli' })
    const requests = createPool(database.apiUrl, { max: 1, purpose: 'cli' })
    const opened = openSearch({ pool, config })
    try {
      const workspace = await inTransaction(pool, (client) => workspaceOf(client, options.workspace))
      const caller = await callerFor(database, options, { workspace, decides, call })
      const transaction: Transaction = (task) =>
        caller ? inTransaction(requests, task, caller) : inTransaction(pool, task)
      return await work({ workspace, transaction, pool, opened, database, config })
    } finally {
      await opened.close()
      await Promise.all([pool.end(), requests.end()])
    }
  })
}
