/**
 * The queue of uploads of a workspace that reads as many as it may. PostgreSQL keeps it: each upload takes the workspace's
 * advisory lock before it is opened, and PostgreSQL grants locks in the order of the requests. A process that dies leaves
 * the queue with its session. The upload that holds the lock is next, and tries until a place is free.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { StagedoorError } from '../kernel/errors.ts'
import type { Pool } from '../kernel/postgres/connection.ts'

const MAX_QUEUE_WAIT_MS = 10 * 60_000
const QUEUE_POLL_MS = 300
const LOCK_NOT_AVAILABLE = '55P03'

interface QueueOptions {
  /** 1: it is next. */
  readonly onQueued?: ((position: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
  readonly maxWaitMs?: number | undefined
}

/** Calls `begin` when it is this upload's turn; after `maxWaitMs` in the queue the error of `begin` is the answer. */
export async function beginInQueue<T>(
  pool: Pool,
  workspace: string,
  begin: () => Promise<T>,
  { onQueued, signal, maxWaitMs = MAX_QUEUE_WAIT_MS }: QueueOptions = {},
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
      `select pg_backend_pid() as pid, pg_try_advisory_xact_lock(${QUEUE_LOCK_SQL}) as free`,
      [queueKey(workspace)],
    )
    const { pid, free } = rows[0]!
    if (!free) {
      const reports = reportQueuePosition({ pool, pid, workspace, onQueued, isWaiting: () => waiting })
      const locked = client.query(`select pg_advisory_xact_lock(${QUEUE_LOCK_SQL})`, [queueKey(workspace)])
      try {
        await Promise.race([locked, rejectOnAbort(signal)])
      } catch (error) {
        locked.catch(() => undefined)
        if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error
        // Its time in the queue is over: what `begin` says is the answer.
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
      onQueued?.(1)
      await sleep(QUEUE_POLL_MS, undefined, { ...(signal && { signal }) })
    }
  } catch (error) {
    if (signal?.aborted) ended = true
    throw error
  } finally {
    waiting = false
    // A session that still waits for the lock is closed, and so leaves the queue.
    if (!ended) await client.query('rollback').catch((error: Error) => (ended = error))
    client.release(ended)
  }
}

const QUEUE_LOCK_SQL = 'hashtextextended($1, 0)'

function queueKey(workspace: string): string {
  return `stagedoor.ingest.queue.${workspace}`
}

/** Reports the position now and then, until the upload is next. */
async function reportQueuePosition(waiter: {
  pool: Pool
  /** Of the session that waits for the lock. */
  pid: number
  workspace: string
  onQueued: QueueOptions['onQueued']
  isWaiting(): boolean
}): Promise<void> {
  const { pool, pid, workspace, onQueued, isWaiting } = waiter
  while (onQueued && isWaiting()) {
    const found = await pool
      .query<{ before: number }>(
        `select count(*)::int as before from pg_locks other, pg_locks own
          where own.locktype = 'advisory' and own.pid = $2 and not own.granted
            and (own.classid::bigint << 32 | own.objid::bigint) = ${QUEUE_LOCK_SQL} and other.locktype = 'advisory'
            and other.database = own.database and other.classid = own.classid and other.objid = own.objid
            and other.objsubid = own.objsubid and (other.granted or other.waitstart < own.waitstart)`,
        [queueKey(workspace), pid],
      )
      .catch(() => undefined)
    const before = found?.rows[0]?.before ?? 0
    if (isWaiting() && before > 0) onQueued(before + 1)
    await sleep(QUEUE_POLL_MS)
  }
}

function rejectOnAbort(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
