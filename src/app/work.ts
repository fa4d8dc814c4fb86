/** What a program on the library runs in its own process: all roles with `work()`, or one at a time. */
import type { Logger } from 'pino'
import type { Engine } from '../executions/engine/engine.ts'
import type { WorkOptions as EngineWorkOptions } from '../executions/library.ts'
import type { PlaybookHandlers } from '../executions/tools/tool.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import type { JobWorkOptions } from '../jobs/library.ts'
import type { Worker } from '../jobs/worker.ts'
import type { Config } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import type { Database } from '../kernel/postgres/open.ts'
import type { WorkOptions as SearchWorkOptions } from '../search/library.ts'
import type { SearchWorker } from '../search/worker.ts'
import type { Composition, Roles } from './compose.ts'

/** Which roles this program takes. Maintenance runs with each of them. */
export interface WorkOptions {
  /** Handlers of your kinds of jobs. The kinds that Stagedoor brings run as well, uploads are read, and schedules fire. Absent: nothing of it. */
  readonly jobs?: JobHandlers
  /** Handlers that steps of playbooks call. Absent: no executions run here. */
  readonly playbooks?: PlaybookHandlers
  /** True: turns events into jobs. */
  readonly dispatcher?: boolean
  /** True: projects units and documents into search. */
  readonly search?: boolean
  /** Jobs at once; default STAGEDOOR_WORKER_CONCURRENCY. */
  readonly concurrency?: number
  /** Steps at once, and items of loops at once; default 50. */
  readonly stepConcurrency?: number
  /** How long running handlers may take to end on `stop`; default 30 s. */
  readonly shutdownMs?: number
  /** Default: silent. */
  readonly log?: Logger
}

/** Roles that run in this process. */
export interface Work {
  health(): HealthCheck[]
  /** Begins nothing new, and waits for what runs. The same promise however often it is called. */
  stop(): Promise<void>
  /** The process is about to end because of this error: names the jobs and steps that run, and gives their leases back. */
  crash(error: unknown): Promise<void>
}

interface LibraryWork {
  work(options: WorkOptions): Promise<Work>
  startWorker(handlers: JobHandlers, options: JobWorkOptions): Promise<Worker>
  startEngine(options: EngineWorkOptions): Promise<Engine>
  startSearchWorker(options: SearchWorkOptions): Promise<SearchWorker>
  /** Those that run now. */
  engines(): Engine[]
  /** Stops whatever runs. */
  close(): Promise<void>
}

export function libraryWork(config: Config, database: Database): LibraryWork {
  const running = new Set<Composition>()
  const maintenance = shareMaintenance(config, database)

  const start = async (roles: Roles, given?: Logger): Promise<Composition> => {
    // Loaded here: most programs run no work of their own.
    const { compose } = await import('./compose.ts')
    const { default: pino } = await import('pino')
    const log = given ?? pino({ level: 'silent' })
    const maintained = await maintenance.acquire(log)
    try {
      const composition = await compose(config, database, {
        log,
        roles: { ...roles, maintenance: false },
        process: maintained.process,
      })
      let stopped: Promise<void> | undefined
      const part: Composition = {
        process: maintained.process,
        api: undefined,
        worker: composition.worker,
        engine: composition.engine,
        searchWorker: composition.searchWorker,
        health: () => [...maintained.health(), ...composition.health()],
        crash: composition.crash,
        stop() {
          stopped ??= composition
            .stop()
            .finally(() => maintenance.release())
            .finally(() => running.delete(part))
          return stopped
        },
      }
      running.add(part)
      return part
    } catch (error) {
      await maintenance.release()
      throw error
    }
  }

  return {
    async work({ log, ...options }) {
      const { health, stop, crash } = await start(await rolesOf(config, options), log)
      return { health, stop, crash }
    },
    async startWorker(handlers, options) {
      const { worker, stop } = await start({ jobs: { ...options, handlers } }, options.log)
      return {
        get id() {
          return worker!.id
        },
        health: () => worker!.health(),
        crash: (error) => worker!.crash(error),
        stop,
      }
    },
    async startEngine(options) {
      const { engine, stop } = await start({ playbooks: options }, options.log)
      return {
        get id() {
          return engine!.id
        },
        health: () => engine!.health(),
        crash: (error) => engine!.crash(error),
        wait: (execution, how) => engine!.wait(execution, how),
        whenEnded: (execution, onEnd) => engine!.whenEnded(execution, onEnd),
        stop,
      }
    },
    async startSearchWorker(options) {
      const { searchWorker, stop } = await start({ search: options }, options.log)
      return { id: searchWorker!.id, health: () => searchWorker!.health(), stop }
    },
    engines: () => [...running].flatMap(({ engine }) => (engine ? [engine] : [])),
    async close() {
      await Promise.all([...running].map((part) => part.stop()))
    },
  }
}

async function rolesOf(config: Config, options: Omit<WorkOptions, 'log'>): Promise<Roles> {
  const { builtInJobs } = await import('./compose.ts')
  const { jobs, playbooks, dispatcher = false, search, concurrency, stepConcurrency, shutdownMs } = options
  if (!jobs && !playbooks && !dispatcher && !search)
    throw new StagedoorError('argument_invalid', {
      reason: 'Say what this process runs: jobs, playbooks, dispatcher or search',
    })
  const shutdown = shutdownMs === undefined ? {} : { shutdownMs }
  return {
    dispatcher,
    ...(jobs && {
      uploads: true,
      jobs: {
        ...shutdown,
        ...(concurrency !== undefined && { concurrency }),
        handlers: { ...builtInJobs(config), ...jobs },
      },
    }),
    ...(playbooks && {
      playbooks: {
        ...shutdown,
        ...(stepConcurrency !== undefined && { concurrency: stepConcurrency }),
        handlers: playbooks,
      },
    }),
    ...(search && { search: {} }),
  }
}

interface SharedMaintenance {
  acquire(log: Logger): Promise<Composition>
  release(): Promise<void>
}

/** One maintenance for all work of a program: the first that starts brings it, the last that stops ends it. */
function shareMaintenance(config: Config, database: Database): SharedMaintenance {
  let users = 0
  let running: Promise<Composition> | undefined
  return {
    async acquire(log) {
      const { compose } = await import('./compose.ts')
      running ??= compose(config, database, { log, roles: {} })
      const mine = running
      users += 1
      try {
        return await mine
      } catch (error) {
        users -= 1
        if (running === mine) running = undefined
        throw error
      }
    },
    async release() {
      users -= 1
      if (users > 0) return
      const last = running
      running = undefined
      await (await last)?.stop()
    },
  }
}
