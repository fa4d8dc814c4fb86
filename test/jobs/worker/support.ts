/** Workers for tests: started on the file's database, stopped after each test whatever happened. */
import { afterEach } from 'vitest'
import type { JobHandlers } from '../../../src/jobs/handlers.ts'
import { enqueueMany, findJob, type JobRecord, type NewJob } from '../../../src/jobs/queue.ts'
import { startWorker, type Worker, type WorkerOptions } from '../../../src/jobs/worker.ts'
import { createPool, type Pool } from '../../../src/kernel/postgres/connection.ts'
import type { TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

export interface TestJobs {
  start(handlers: JobHandlers, options?: Partial<WorkerOptions>): Promise<Worker>
  /** Of its own, to be cut off. */
  pool(purpose: string): Pool
  enqueue(...jobs: NewJob[]): Promise<string[]>
  find(id: string): Promise<JobRecord>
  /** Resolves when every one of them is in that state. */
  reached(status: JobRecord['status'], ids: readonly string[], withinMs?: number): Promise<JobRecord[]>
}

export function useJobs(db: TestDatabase): TestJobs {
  const workers: Worker[] = []
  const pools: Pool[] = []
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()))
    await Promise.all(pools.splice(0).map((pool) => pool.end()))
  })
  const jobs: TestJobs = {
    async start(handlers, options = {}) {
      const worker = await startWorker({
        pool: db.pool('stagedoor_worker'),
        listenUrl: db.url('stagedoor_worker'),
        handlers,
        schedules: false,
        shutdownMs: 2000,
        ...options,
      })
      workers.push(worker)
      return worker
    },
    pool(purpose) {
      const pool = createPool(db.url('stagedoor_worker'), { role: 'dot_executor', max: 6, purpose })
      pools.push(pool)
      return pool
    },
    enqueue: (...given) => enqueueMany(db.pool('stagedoor_worker'), given),
    async find(id) {
      const found = await findJob(db.pool('stagedoor_worker'), id)
      if (!found) throw new Error(`there is no job ${id}`)
      return found
    },
    reached: (status, ids, withinMs) =>
      until(
        `${ids.length} jobs are ${status}`,
        async () => {
          const found = await Promise.all(ids.map((id) => jobs.find(id)))
          return found.every((job) => job.status === status) && found
        },
        withinMs,
      ),
  }
  return jobs
}

/** A promise with its end outside: a handler that waits for the test. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
