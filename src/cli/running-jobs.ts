/** Jobs in this process: events become jobs, schedules fire, handlers run. */
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { createPool, type Pool } from '../db/connection.ts'
import type { HealthCheck } from '../db/health.ts'
import type { Database } from '../db/open.ts'
import { type Pass, startDispatcher } from '../events/dispatcher.ts'
import { builtInHandlers } from '../jobs/handlers/built-in.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import type { WorkerHooks } from '../jobs/metrics.ts'
import { startWorker } from '../jobs/worker.ts'

export interface RunningJobs {
  health(): HealthCheck[]
  /** Begins nothing new and waits for what runs. */
  stop(): Promise<void>
}

export interface JobsOptions {
  readonly log: Logger
  readonly hooks?: WorkerHooks
  readonly handlers: JobHandlers
  readonly executor?: string
  /** Also passes events on to consumers. */
  readonly dispatches: boolean
  readonly dispatched?: (pass: Pass) => void
}

/** Claims, heartbeats, schedules and the dispatcher, beside one connection for each handler. */
const OTHERS = 4

export async function runJobs(
  config: Config,
  database: Database,
  options: JobsOptions,
): Promise<RunningJobs> {
  const { log, handlers } = options
  const pool = jobPool(config, database)
  try {
    const worker = await startWorker({
      pool,
      listenUrl: database.workerUrl,
      handlers,
      concurrency: config.workerConcurrency,
      log,
      ...(options.executor !== undefined && { executor: options.executor }),
      ...(options.hooks && { hooks: options.hooks }),
    })
    const dispatcher = options.dispatches
      ? startDispatcher(pool, log, options.dispatched ? { onPass: options.dispatched } : {})
      : undefined
    return {
      health: () => [worker.health(), ...(dispatcher ? [dispatcher.health()] : [])],
      async stop() {
        await dispatcher?.stop()
        await worker.stop()
        await pool.end()
      },
    }
  } catch (error) {
    await pool.end()
    throw error
  }
}

export function ownHandlers(config: Config): JobHandlers {
  return builtInHandlers({ webhooks: { hosts: config.webhookHosts } })
}

function jobPool(config: Config, database: Database): Pool {
  return createPool(database.workerUrl, {
    role: 'dot_executor',
    max: config.workerPool ?? config.workerConcurrency + OTHERS,
    purpose: 'jobs',
    ...(config.workerStatementTimeout > 0 && { statementTimeoutMs: config.workerStatementTimeout * 1000 }),
  })
}
