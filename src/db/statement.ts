/** One statement by itself: a third of a transaction's round trips. */
import pg from 'pg'
import { StagedoorError } from '../errors.ts'
import type { Client, Pool } from './connection.ts'
import { mapConnectionError } from './database-error.ts'
import { explainDatabaseError } from './missing-object.ts'

/** `work` sends one statement, which is committed when it is answered. Of several, those before an error would stay. */
export async function inStatement<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error) => {
    throw mapConnectionError(error)
  })
  let broken: Error | undefined
  try {
    return await work(client)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError || error instanceof StagedoorError)) {
      await client.query('select').catch((failure: Error) => {
        broken = failure
      })
    }
    throw broken ? mapConnectionError(error) : await explainDatabaseError(client, error)
  } finally {
    client.release(broken)
  }
}
