/** The database as a store: for a worker, one that is away is a store that is away. */
import type { Queryable } from '../../db/connection.ts'
import { mapDatabaseError } from '../../db/database-error.ts'
import { isConnectionError } from '../../db/transient.ts'
import { StagedoorError } from '../../errors.ts'
import { StoreUnavailable } from './store.ts'

/** Every statement has its values apart: other forms of the driver are not used here. */
export function reached(db: Queryable): Queryable {
  const query = async (sql: string, values: unknown[]): Promise<unknown> => {
    try {
      return await db.query(sql, values)
    } catch (error) {
      if (error instanceof StagedoorError) throw error
      const { code } = error as { code?: unknown }
      // What has an SQLSTATE was said by the server, by whatever driver it came.
      const said = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
      if (said && !isUnavailable(code)) throw mapDatabaseError(error)
      if (said || isConnectionError(error)) {
        throw new StoreUnavailable('The database does not answer', { cause: error })
      }
      throw error
    }
  }
  return { query: query as Queryable['query'] }
}

const isUnavailable = (state: string): boolean => ['08', '53', '57', '58'].includes(state.slice(0, 2))
