/** What a program does with jobs: enqueue in its own transaction, run handlers, look, steer, schedule. */
import { type Client, createPool, type Pool } from '../db/connection.ts'
import { type MaintenanceTask, startMaintenance } from '../db/maintenance.ts'
import { refuseTransactionPooler } from '../db/pooler.ts'
import type { JobHandlers } from './handlers.ts'
import type { NewJob } from './job.ts'
import { jobTasks } from './maintenance.ts'
import * as queue from './queue.ts'
import * as schedules from './schedules.ts'
import type { JobTester } from './testing.ts'
import type { Worker, WorkerOptions } from './worker.ts'

/** Acts as the back end (dot_executor). What people do goes through the API, under their own role. */
export interface Jobs {
  /** With `client` in your own transaction: rolled back, there is no job. Its role must be able to enqueue (stagedoor_producer). */
  enqueue(job: NewJob, options?: { client?: Client }): Promise<string>
  /** All or none, in one statement; the ids in the order of the jobs. */
  enqueueMany(jobs: readonly NewJob[], options?: { client?: Client }): Promise<string[]>
  get(id: string): Promise<queue.JobRecord | undefined>
  list(filter?: queue.JobFilter): Promise<queue.JobRecord[]>
  cancel(id: string, reason?: string): Promise<'cancelled' | 'requested'>
  /** Dead letters back into the queue. Returns their ids. */
  replay(filter: queue.ReplayFilter): Promise<string[]>
  kinds(): Promise<queue.JobKind[]>
  setKind(kind: string, settings: queue.KindSettings): Promise<void>
  pause(kind: string): Promise<void>
  resume(kind: string): Promise<void>
  /** Runs jobs in this process until it is stopped, or until `close` of the whole. */
  work(handlers: JobHandlers, options?: WorkOptions): Promise<Worker>
  /** For tests: runs what is due in the test's own turn, with a clock that the test moves. */
  tester(handlers: JobHandlers): Promise<JobTester>
}

export type WorkOptions = Omit<WorkerOptions, 'pool' | 'listenUrl' | 'handlers'>

export interface Schedules {
  /** Adds one, or changes it. */
  set(schedule: schedules.NewSchedule): Promise<schedules.Schedule>
  list(): Promise<schedules.Schedule[]>
  /** Returns whether it was there. */
  remove(schedule: string): Promise<boolean>
}

interface Surroundings {
  /** As dot_executor. */
  readonly pool: Pool
  readonly workerUrl: string
  worker<T>(work: (client: Client) => Promise<T>): Promise<T>
  /** What the database needs from time to time besides what jobs do. A worker may be all that ever runs. */
  readonly tasks: readonly MaintenanceTask[]
}

/** Claims, heartbeats, schedules and maintenance, beside one connection for each handler. */
const OTHERS = 5
const CONCURRENCY = 10

export function jobsLibrary({
  pool,
  workerUrl,
  worker,
  tasks,
}: Surroundings): Jobs & { close(): Promise<void> } {
  const running = new Set<Worker>()
  const within = <T>(client: Client | undefined, work: (own: Client) => Promise<T>): Promise<T> =>
    client ? work(client) : worker(work)
  return {
    enqueue: (job, { client } = {}) => within(client, (own) => queue.enqueue(own, job)),
    enqueueMany: (jobs, { client } = {}) => within(client, (own) => queue.enqueueMany(own, jobs)),
    get: (id) => worker((client) => queue.findJob(client, id)),
    list: (filter) => worker((client) => queue.listJobs(client, filter)),
    cancel: (id, reason) => worker((client) => queue.cancelJob(client, id, reason)),
    replay: (filter) => worker((client) => queue.replayJobs(client, filter)),
    kinds: () => worker(queue.listKinds),
    setKind: (kind, settings) => worker((client) => queue.setKind(client, kind, settings)),
    pause: (kind) => worker((client) => queue.pauseKind(client, kind)),
    resume: (kind) => worker((client) => queue.resumeKind(client, kind)),
    async work(handlers, options = {}) {
      const started = await work(workerUrl, handlers, options, tasks, () => running.delete(started))
      running.add(started)
      return started
    },
    async tester(handlers) {
      const { createJobTester } = await import('./testing.ts')
      return createJobTester({ pool, handlers })
    },
    async close() {
      await Promise.all([...running].map((one) => one.stop()))
    },
  }
}

/** With connections of its own: handlers that hold all of them must not hold up the program's other calls. */
async function work(
  url: string,
  handlers: JobHandlers,
  options: WorkOptions,
  tasks: readonly MaintenanceTask[],
  ended: () => void,
): Promise<Worker> {
  // Loaded here: most programs, and every command of the CLI but two, run no jobs.
  const { startWorker } = await import('./worker.ts')
  const { default: pino } = await import('pino')
  await refuseTransactionPooler(url)
  const max = (options.concurrency ?? CONCURRENCY) + OTHERS
  const pool = createPool(url, { role: 'dot_executor', purpose: 'jobs', max })
  try {
    const worker = await startWorker({ ...options, pool, listenUrl: url, handlers })
    const maintenance = startMaintenance(
      pool,
      [...jobTasks, ...tasks],
      options.log ?? pino({ level: 'silent' }),
    )
    let stopped: Promise<void> | undefined
    return {
      get id() {
        return worker.id
      },
      health: () => worker.health(),
      crash: (error) => worker.crash(error),
      stop() {
        stopped ??= Promise.all([worker.stop(), maintenance.stop()])
          .then(() => {})
          .finally(() => pool.end())
          .finally(ended)
        return stopped
      },
    }
  } catch (error) {
    await pool.end()
    throw error
  }
}

export function schedulesLibrary({ worker }: Pick<Surroundings, 'worker'>): Schedules {
  return {
    set: (schedule) => worker((client) => schedules.setSchedule(client, schedule)),
    list: () => worker(schedules.listSchedules),
    remove: (schedule) => worker((client) => schedules.removeSchedule(client, schedule)),
  }
}
