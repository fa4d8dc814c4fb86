/**
 * The event dispatcher: turns events into jobs of their consumers, batch by batch, and polls when there are none. Every process may
 * run one; one of them leads, and should several dispatch, the database lets one do so at a time.
 */
import type { Logger } from 'pino'
import type { Pool, Queryable } from '../kernel/postgres/connection.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import { Wake } from '../runtime/wake.ts'
import type { Wakeups } from '../runtime/wakeups.ts'

export interface Pass {
  readonly events: number
  readonly jobs: number
  readonly duplicates: number
  readonly dry_runs: number
  readonly failures: number
  readonly deferred: number
}

export interface DispatcherOptions {
  /** How long it waits when there are no events. */
  readonly pollMs?: number
  /** Events in one transaction. */
  readonly batch?: number
  /** For who leads: the others wait. Default: each dispatches. */
  readonly wakeups?: Pick<Wakeups, 'lead' | 'onChange' | 'works'>
  /** Called after every pass that dispatched something; for metrics. */
  readonly onPass?: (pass: Pass) => void
}

export interface Dispatcher {
  health(): HealthCheck
  /** Starts the next pass now. */
  wake(): void
  /** Waits for the pass that is running. */
  stop(): Promise<void>
}

const MAX_BACKOFF_MS = 30_000
const LEAD = 'events'

/** Dispatches the next events in the caller's transaction. The role must be dot_executor. */
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
  { pollMs = 200, batch = 5000, wakeups, onPass }: DispatcherOptions = {},
): Dispatcher {
  let stopped = false
  let failures = 0
  let problem: string | undefined
  const wake = new Wake()
  const lead = wakeups?.lead(LEAD, () => wake.now())
  wakeups?.onChange(() => wake.now())

  /** How long to wait before the next pass. */
  const pass = async (): Promise<number> => {
    try {
      const done = await inTransaction(pool, (client) => dispatchEvents(client, batch))
      if (problem) log.info('event dispatch works again')
      problem = undefined
      failures = 0
      if (Object.values(done).some((count) => count > 0)) onPass?.(done)
      if (done.failures > 0) log.warn(done, 'some events could not be dispatched; see the dispatch log')
      return done.events > 0 ? 0 : pollMs
    } catch (error) {
      problem = (error as Error).message
      const backoff = Math.min(pollMs * 2 ** ++failures, MAX_BACKOFF_MS)
      log.error({ err: error, retry_in_ms: backoff }, 'event dispatch failed; will be retried')
      return backoff
    }
  }

  const run = async (): Promise<void> => {
    while (!stopped) {
      if (lead?.mine === false) {
        // Another process dispatches now.
        problem = undefined
        await wake.wait()
        continue
      }
      const wait = await pass()
      if (!stopped && wait > 0) await wake.wait(wait)
    }
  }

  const running = run()
  return {
    health: () => ({
      name: 'dispatcher',
      ok: !stopped && problem === undefined,
      detail: stopped ? 'stopped' : (problem ?? 'events are dispatched'),
    }),
    wake: () => wake.now(),
    async stop() {
      stopped = true
      wake.now()
      await running
    },
  }
}
