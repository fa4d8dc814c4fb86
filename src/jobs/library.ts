/** Jobs and schedules of the library: enqueue in the program's own transaction, run handlers, query, control, schedule. */
import type { Client, Pool, Queryable } from '../kernel/postgres/connection.ts'
import type { JobHandlers } from './handlers.ts'
import type { NewJob } from './queue.ts'
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
  /** Runs jobs of these handlers in this process, with all maintenance, until the worker stops or the library closes. */
  work(handlers: JobHandlers, options?: JobWorkOptions): Promise<Worker>
  /** For tests: runs due jobs when the test says so, with a clock that the test moves. */
  tester(handlers: JobHandlers): Promise<JobTester>
}

export type JobWorkOptions = Omit<
  WorkerOptions,
  'pool' | 'listenUrl' | 'handlers' | 'concurrency' | 'prefetch' | 'suspects'
> & {
  /** Handler calls at once; default 10. */
  readonly concurrency?: number
}

export interface Schedules {
  /** Adds one, or changes it. */
  set(schedule: schedules.NewSchedule): Promise<schedules.Schedule>
  list(): Promise<schedules.Schedule[]>
  /** Returns whether it was there. */
  delete(schedule: string): Promise<boolean>
}

interface JobsDeps {
  /** As dot_executor. */
  readonly pool: Pool
  /** One transaction as dot_executor. */
  worker<T>(work: (client: Client) => Promise<T>): Promise<T>
  startWorker(handlers: JobHandlers, options: JobWorkOptions): Promise<Worker>
}

export function jobsLibrary({ pool, worker, startWorker }: JobsDeps): Jobs {
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
    work: (handlers, options = {}) => startWorker(handlers, options),
    async tester(handlers) {
      const { createJobTester } = await import('./testing.ts')
      return createJobTester({ pool, handlers })
    },
  }
}

export function schedulesLibrary({ worker }: Pick<JobsDeps, 'worker'>): Schedules {
  return {
    set: (schedule) => worker((client) => schedules.setSchedule(client, schedule)),
    list: () => worker(schedules.listSchedules),
    delete: (schedule) => worker((client) => schedules.deleteSchedule(client, schedule)),
  }
}

/** Whether a worker with a live lease takes jobs of this kind. For the back end, which may see the workers. */
export async function hasLiveWorker(db: Queryable, kind: string, executor: string): Promise<boolean> {
  const { rows } = await db.query<{ working: boolean }>(
    `select exists (select from iu_core.job_worker
                     where executor = $2 and $1 = any (kinds) and leased_until > clock_timestamp()) as working`,
    [kind, executor],
  )
  return rows[0]!.working
}
