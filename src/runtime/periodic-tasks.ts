/** Tasks that a process repeats while it runs. Tasks of several processes settle in the database which of them does the work. */
import type { Logger } from 'pino'
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'

/** A task that keeps the database in order, run in a transaction. */
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

/** Runs each task at once, and again after its interval. */
export function startMaintenance(pool: Pool, tasks: readonly MaintenanceTask[], log: Logger): Maintenance {
  const periodic = new PeriodicTasks(log)
  const failures = new Map<string, string>()
  let stopped = false

  const attempt = async (task: MaintenanceTask): Promise<void> => {
    try {
      const did = await inTransaction(pool, (client) => task.run(client))
      failures.delete(task.name)
      if (did) log.info({ task: task.name }, did)
    } catch (error) {
      failures.set(task.name, (error as Error).message)
      log.error({ task: task.name, err: error }, 'maintenance failed; will be retried')
    }
  }

  for (const task of tasks) periodic.every(task.everyMs, () => attempt(task), { firstMs: 0 })
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
    stop() {
      stopped = true
      return periodic.stop()
    },
  }
}

export class PeriodicTasks {
  private readonly timers = new Set<NodeJS.Timeout>()
  private readonly running = new Set<Promise<void>>()
  private readonly log: Logger
  private stopped = false

  constructor(log: Logger) {
    this.log = log
  }

  /** Runs the task after `firstMs` (default: the interval), and again an interval after each run ended. */
  every(ms: number, task: () => Promise<unknown>, { firstMs }: { readonly firstMs?: number } = {}): void {
    if (this.stopped) return
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      const run = this.run(task).finally(() => {
        this.running.delete(run)
        this.every(ms, task)
      })
      this.running.add(run)
    }, firstMs ?? addJitter(ms))
    this.timers.add(timer)
  }

  /** Begins nothing more. Resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.stopped = true
    for (const timer of this.timers) clearTimeout(timer)
    this.timers.clear()
    await Promise.all(this.running)
  }

  private async run(task: () => Promise<unknown>): Promise<void> {
    try {
      await task()
    } catch (error) {
      this.log.debug({ err: error }, 'periodic task failed; will be retried')
    }
  }
}

/** Processes that started together do not ask the database together for ever. */
function addJitter(ms: number): number {
  return ms * (0.8 + 0.4 * Math.random())
}
