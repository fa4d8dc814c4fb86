/** Tasks that a process repeats while it runs. Of several processes one leads those that need no second one (leader.ts). */
import type { Logger } from 'pino'
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import type { Wakeups } from './wakeups.ts'

/** A task that keeps the database in order, run in a transaction. */
export interface MaintenanceTask {
  readonly name: string
  readonly everyMs: number
  /** True: one process of all does it, because it is about the database alone and not about files of this machine. */
  readonly led?: true
  /** Returns what it did, in words, or nothing when there was nothing to do. */
  run(client: Client): Promise<string | undefined>
}

export interface Maintenance {
  health(): HealthCheck
  /** Waits for a task that is running. */
  stop(): Promise<void>
}

/** The name under which one process leads the maintenance. */
const LEAD = 'maintenance'
/** Without an answer to who leads, a process begins by itself. */
const MAX_LEADER_WAIT_MS = 5000
const NEW_LEADER_RETRY_MS = 5000

/** Runs each task at once, and again after its interval. With `wakeups` the led ones only while this process leads them. */
export function startMaintenance(
  pool: Pool,
  tasks: readonly MaintenanceTask[],
  log: Logger,
  wakeups?: Pick<Wakeups, 'lead'>,
): Maintenance {
  const periodic = new PeriodicTasks(log)
  const failures = new Map<string, string>()
  const begun = new Map<MaintenanceTask, number>()
  let stopped = false

  const attempt = async (task: MaintenanceTask): Promise<void> => {
    begun.set(task, performance.now())
    try {
      const did = await inTransaction(pool, (client) => task.run(client))
      failures.delete(task.name)
      if (did) log.info({ task: task.name }, did)
    } catch (error) {
      failures.set(task.name, (error as Error).message)
      log.error({ task: task.name, err: error }, 'maintenance failed; will be retried')
    }
  }

  const led = tasks.filter((task) => wakeups !== undefined && task.led)
  const lead = wakeups?.lead(LEAD, () => {
    for (const task of led) void periodic.once(() => attemptAsNewLeader(task))
  })
  /** A leader is often new because the database was away; then the first attempt fails, and the next would be in an hour. */
  const attemptAsNewLeader = async (task: MaintenanceTask): Promise<void> => {
    if (!lead?.mine) return
    await attempt(task)
    if (failures.has(task.name)) periodic.after(NEW_LEADER_RETRY_MS, () => attemptAsNewLeader(task))
  }
  /** A new leader has run all of them just now. */
  const attemptIfDue = async (task: MaintenanceTask): Promise<void> => {
    if (lead?.mine && performance.now() - (begun.get(task) ?? Number.NEGATIVE_INFINITY) >= task.everyMs / 2)
      await attempt(task)
  }
  for (const task of tasks) {
    if (led.includes(task))
      periodic.every(task.everyMs, () => attemptIfDue(task), {
        firstMs: MAX_LEADER_WAIT_MS,
      })
    else periodic.every(task.everyMs, () => attempt(task), { firstMs: 0 })
  }
  /** What failed here and another process does now is no trouble of this one. */
  const troubles = (): string[] =>
    tasks.flatMap((task) => {
      const reason = failures.get(task.name)
      if (reason === undefined || (led.includes(task) && lead?.mine === false)) return []
      return [`${task.name}: ${reason}`]
    })
  return {
    health() {
      const trouble = troubles()
      return {
        name: 'workers',
        ok: !stopped && trouble.length === 0,
        detail: stopped
          ? 'stopped'
          : trouble.length === 0
            ? `${tasks.length} maintenance tasks run`
            : trouble.join('; '),
      }
    },
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
      void this.once(task).then(() => this.every(ms, task))
    }, firstMs ?? addJitter(ms))
    this.timers.add(timer)
  }

  /** Runs it after this time, once. */
  after(ms: number, task: () => Promise<unknown>): void {
    if (this.stopped) return
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      void this.once(task)
    }, ms)
    this.timers.add(timer)
  }

  /** Runs it now. */
  once(task: () => Promise<unknown>): Promise<void> {
    if (this.stopped) return Promise.resolve()
    const run = this.run(task).finally(() => this.running.delete(run))
    this.running.add(run)
    return run
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
