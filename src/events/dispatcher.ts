/**
 * The dispatcher: passes events on to consumers as long as there are any, else looks again a moment later. One in each
 * process, any number of processes: the database lets one work at a time, and the others return at once.
 */
import type { Logger } from 'pino'
import type { Pool, Queryable } from '../db/connection.ts'
import type { HealthCheck } from '../db/health.ts'
import { inTransaction } from '../db/transaction.ts'

export interface Pass {
  readonly events: number
  readonly jobs: number
  readonly duplicates: number
  readonly dry_runs: number
  readonly failures: number
  readonly deferred: number
}

export interface DispatcherOptions {
  /** How long it waits when there was nothing to do. */
  readonly pollMs?: number
  /** Events in one transaction. */
  readonly batch?: number
  /** Told of every pass that did something; for metrics. */
  readonly onPass?: (pass: Pass) => void
}

export interface Dispatcher {
  health(): HealthCheck
  /** Looks now instead of at the next poll. */
  wake(): void
  /** Waits for the pass that is running. */
  stop(): Promise<void>
}

const LONGEST_PAUSE_MS = 30_000

/** Passes the next events on, in the caller's transaction. The role must be dot_executor. */
export async function dispatchEvents(db: Queryable, limit = 1000): Promise<Pass> {
  const { rows } = await db.query<Pass>(
    'select events, jobs, duplicates, dry_runs, failures, deferred from iu_core.fn_consumer_dispatch_batch($1)',
    [limit],
  )
  return rows[0]!
}

/** The pool acts as dot_executor. */
export function startDispatcher(
  pool: Pool,
  log: Logger,
  { pollMs = 200, batch = 5000, onPass }: DispatcherOptions = {},
): Dispatcher {
  let stopped = false
  let failures = 0
  let problem: string | undefined
  let endPause: (() => void) | undefined

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  /** How long to wait before the next pass. */
  const pass = async (): Promise<number> => {
    try {
      const done = await inTransaction(pool, (client) => dispatchEvents(client, batch))
      if (problem) log.info('dispatch works again')
      problem = undefined
      failures = 0
      if (Object.values(done).some((count) => count > 0)) onPass?.(done)
      if (done.failures > 0) log.warn(done, 'events could not be passed on; the dispatch log says which')
      return done.events > 0 ? 0 : pollMs
    } catch (error) {
      problem = (error as Error).message
      const backoff = Math.min(pollMs * 2 ** ++failures, LONGEST_PAUSE_MS)
      log.error({ err: error, again_in_ms: backoff }, 'dispatch failed; it is tried again')
      return backoff
    }
  }

  const run = async (): Promise<void> => {
    while (!stopped) {
      const wait = await pass()
      if (!stopped && wait > 0) await pause(wait)
    }
  }

  const running = run()
  return {
    health: () => ({
      name: 'dispatcher',
      ok: !stopped && problem === undefined,
      detail: stopped ? 'stopped' : (problem ?? 'events are passed on'),
    }),
    wake: () => endPause?.(),
    async stop() {
      stopped = true
      endPause?.()
      await running
    },
  }
}
