/** Races: waits until a session is really held up by another, instead of hoping that it had time to be. */
import type pg from 'pg'
import type { TestDatabase } from './database.ts'
import { until } from './until.ts'

/** Resolves when the session's statement waits for a lock. pg_locks shows every session to everybody. */
export async function untilWaiting(db: TestDatabase, session: pg.Client): Promise<void> {
  const { processID } = session as pg.Client & { processID: number }
  await until(`session ${processID} waits for a lock`, async () => {
    const waiting = await db.owner('select from pg_locks where pid = $1 and not granted', [processID])
    return waiting.length > 0
  })
}
