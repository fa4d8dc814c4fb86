/** Runs small recurring tasks in this process. Each settles in the database who of many processes does the work. */
import type { Logger } from 'pino'
import type { Client, Pool } from './connection.ts'
import type { HealthCheck } from './health.ts'
import { inTransaction } from './transaction.ts'

export interface MaintenanceTask {
  readonly name: string
  readonly everyMs: number
  /** Returns what it did, in words, or nothing when there was nothing to do. */
  run(client: Client): Promise<string | undefined>
}

export interface Maintenance {
  health(): HealthCheck
  /** Waits for a task that is running. */
  stop(): Promise<void>
}

export function startMaintenance(pool: Pool, tasks: readonly MaintenanceTask[], log: Logger): Maintenance {
  const timers = new Set<NodeJS.Timeout>()
  const running = new Set<Promise<void>>()
  const failures = new Map<string, string>()
  let stopped = false

  const schedule = (task: MaintenanceTask, delayMs: number): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      const run = attempt(task).finally(() => {
        running.delete(run)
        if (!stopped) schedule(task, task.everyMs)
      })
      running.add(run)
    }, delayMs)
    timers.add(timer)
  }

  const attempt = async (task: MaintenanceTask): Promise<void> => {
    try {
      const did = await inTransaction(pool, (client) => task.run(client))
      failures.delete(task.name)
      if (did) log.info({ task: task.name }, did)
    } catch (error) {
      failures.set(task.name, (error as Error).message)
      log.error({ task: task.name, err: error }, 'maintenance failed; it is tried again next time')
    }
  }

  for (const task of tasks) schedule(task, 0)
  return {
    health: () => ({
      name: 'workers',
      ok: !stopped && failures.size === 0,
      detail: stopped
        ? 'stopped'
        : failures.size === 0
          ? `${tasks.length} maintenance tasks run`
          : [...failures].map(([name, reason]) => `${name}: ${reason}`).join('; '),
    }),
    async stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      await Promise.all(running)
    },
  }
}
