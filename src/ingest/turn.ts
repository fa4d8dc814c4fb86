/**
 * The line of uploads that wait because their workspace reads as many as it may. PostgreSQL keeps it: whoever opens an
 * upload takes the workspace's advisory lock first, and locks are granted in the order in which they were asked for. A
 * process that dies leaves the line with its session. Whoever holds the lock is next, and tries until a place is free.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { ReportProgress } from './progress.ts'

const MAX_WAIT_MS = 10 * 60_000
const POLL_MS = 300
const LOCK_NOT_AVAILABLE = '55P03'

export interface TurnOptions {
  readonly onProgress?: ReportProgress | undefined
  readonly signal?: AbortSignal | undefined
  readonly maxWaitMs?: number
}

/** Opens an upload through `begin`, in turn; after ten minutes in line it is refused as `begin` refuses it. */
export async function beginInTurn<T>(
  pool: Pool,
  workspace: string,
  begin: () => Promise<T>,
  { onProgress, signal, maxWaitMs = MAX_WAIT_MS }: TurnOptions = {},
): Promise<T> {
  const deadline = Date.now() + maxWaitMs
  const client = await pool.connect()
  let ended: Error | boolean = false
  let waiting = true
  try {
    // The wait is long on purpose, and bounded by us.
    await client.query(
      'begin; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0',
    )
    await client.query(`select set_config('lock_timeout', $1, true)`, [String(Math.max(1, maxWaitMs))])
    const { rows } = await client.query<{ pid: number; free: boolean }>(
      `select pg_backend_pid() as pid, pg_try_advisory_xact_lock(${KEY}) as free`,
      [keyOf(workspace)],
    )
    const { pid, free } = rows[0]!
    if (!free) {
      const reports = reportPlaces(pool, pid, keyOf(workspace), onProgress, () => waiting)
      const locked = client.query(`select pg_advisory_xact_lock(${KEY})`, [keyOf(workspace)])
      try {
        await Promise.race([locked, aborted(signal)])
      } catch (error) {
        locked.catch(() => undefined)
        if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error
        // Its time in line is over: what `begin` says is the answer.
        waiting = false
        return await begin()
      } finally {
        waiting = false
        await reports
      }
    }
    for (;;) {
      signal?.throwIfAborted()
      try {
        return await begin()
      } catch (error) {
        const isFull = error instanceof StagedoorError && error.code === 'uploads_at_once'
        if (!isFull || Date.now() >= deadline) throw error
      }
      onProgress?.({ stage: 'wait', done: 0, total: 1 })
      await sleep(POLL_MS, undefined, { ...(signal && { signal }) })
    }
  } catch (error) {
    if (signal?.aborted) ended = true
    throw error
  } finally {
    waiting = false
    // A session that still waits for the lock is closed, and so leaves the line.
    if (!ended) await client.query('rollback').catch((error: Error) => (ended = error))
    client.release(ended)
  }
}

const KEY = 'hashtextextended($1, 0)'

function keyOf(workspace: string): string {
  return `stagedoor.ingest.turn.${workspace}`
}

/** Tells how many are before this one, now and then, until it is next. */
async function reportPlaces(
  pool: Pool,
  pid: number,
  key: string,
  onProgress: ReportProgress | undefined,
  isWaiting: () => boolean,
): Promise<void> {
  while (onProgress && isWaiting()) {
    const found = await pool
      .query<{ before: number }>(
        `select count(*)::int as before from pg_locks other, pg_locks own
          where own.locktype = 'advisory' and own.pid = $2 and not own.granted
            and (own.classid::bigint << 32 | own.objid::bigint) = ${KEY} and other.locktype = 'advisory'
            and other.database = own.database and other.classid = own.classid and other.objid = own.objid
            and other.objsubid = own.objsubid and (other.granted or other.waitstart < own.waitstart)`,
        [key, pid],
      )
      .catch(() => undefined)
    const before = found?.rows[0]?.before ?? 0
    if (isWaiting() && before > 0) onProgress({ stage: 'wait', done: 0, total: before + 1 })
    await sleep(POLL_MS)
  }
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
