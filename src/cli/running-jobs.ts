/** Jobs in this process: events become jobs, schedules fire, handlers run, and what they are written to is kept in order. */
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { createPool, type Pool } from '../db/connection.ts'
import type { HealthCheck } from '../db/health.ts'
import { type MaintenanceTask, startMaintenance } from '../db/maintenance.ts'
import type { Database } from '../db/open.ts'
import { type Pass, startDispatcher } from '../events/dispatcher.ts'
import { eventTasks } from '../events/maintenance.ts'
import { routeTasks } from '../events/routes.ts'
import { executionTasks } from '../executions/maintenance.ts'
import { builtInHandlers } from '../jobs/handlers/built-in.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import { jobTasks } from '../jobs/maintenance.ts'
import type { WorkerHooks } from '../jobs/metrics.ts'
import { startWorker } from '../jobs/worker.ts'
import { resultsHome } from '../stagedoor/playbook-equipment.ts'

export interface RunningJobs {
  health(): HealthCheck[]
  /** Begins nothing new and waits for what runs. */
  stop(): Promise<void>
  /** The process ends because of this error: the jobs in hand are named and given back. */
  crash(error: unknown): Promise<void>
}

export interface JobsOptions {
  readonly log: Logger
  readonly hooks?: WorkerHooks
  readonly handlers: JobHandlers
  readonly executor?: string
  /** Also passes events on to consumers. */
  readonly dispatches: boolean
  readonly dispatched?: (pass: Pass) => void
  /** Maintenance besides that of events, routes, jobs and executions. */
  readonly tasks?: readonly MaintenanceTask[]
}

/** Claims, schedules and the dispatcher, beside one connection for each handler. Heartbeats and completions have their own two. */
const OTHERS = 2
/** Connections for maintenance: of its own, because handlers may hold all the others, and without their time limit. */
const KEEPERS = 4

export async function runJobs(
  config: Config,
  database: Database,
  options: JobsOptions,
): Promise<RunningJobs> {
  const { log, handlers } = options
  const pool = jobPool(config, database)
  const keepers = createPool(database.workerUrl, { role: 'dot_executor', max: KEEPERS, purpose: 'worker' })
  try {
    const worker = await startWorker({
      pool,
      listenUrl: database.workerUrl,
      handlers,
      concurrency: config.workerConcurrency,
      longRunningMs: config.workerLongRunning * 1000,
      log,
      ...(options.executor !== undefined && { executor: options.executor }),
      ...(options.hooks && { hooks: options.hooks }),
    })
    const dispatcher = options.dispatches
      ? startDispatcher(pool, log, options.dispatched ? { onPass: options.dispatched } : {})
      : undefined
    // A worker may be all that ever runs: without partitions ahead nothing could be completed.
    const executions = executionTasks(keepers, resultsHome(config, database))
    const tasks = [...eventTasks, ...routeTasks, ...jobTasks, ...executions, ...(options.tasks ?? [])]
    const maintenance = startMaintenance(keepers, tasks, log)
    return {
      health: () => [maintenance.health(), worker.health(), ...(dispatcher ? [dispatcher.health()] : [])],
      crash: (error) => worker.crash(error),
      async stop() {
        await dispatcher?.stop()
        await worker.stop()
        await maintenance.stop()
        await Promise.all([pool.end(), keepers.end()])
      },
    }
  } catch (error) {
    await Promise.all([pool.end(), keepers.end()])
    throw error
  }
}

/** Where no host is named no webhook could leave: those jobs wait for a worker that knows some, and become no dead letters here. */
export function ownHandlers(config: Config): JobHandlers {
  const { webhook_deliver, ...others } = builtInHandlers({ webhooks: { hosts: config.webhookHosts } })
  return config.webhookHosts.length === 0 ? others : { webhook_deliver: webhook_deliver!, ...others }
}

function jobPool(config: Config, database: Database): Pool {
  return createPool(database.workerUrl, {
    role: 'dot_executor',
    max: config.workerPool ?? config.workerConcurrency + OTHERS,
    purpose: 'jobs',
    setting: 'STAGEDOOR_WORKER_POOL',
    ...(config.workerStatementTimeout > 0 && { statementTimeoutMs: config.workerStatementTimeout * 1000 }),
  })
}
