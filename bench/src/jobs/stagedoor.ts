/** Ours: the worker that `stagedoor worker` runs. */
import { createPool, enqueue, enqueueMany, startWorker } from '../product.ts'
import { chunks, measure, taskGiven } from './measure.ts'

const task = taskGiven()
const pool = createPool(task.workerUrl, { role: 'dot_executor', max: 6, purpose: 'bench' })
let worker: Awaited<ReturnType<typeof startWorker>> | undefined

await measure(
  {
    async enqueue(count) {
      for (const chunk of chunks(count)) {
        await enqueueMany(
          pool,
          chunk.map((n) => ({ job_kind: 'noop', payload: { n } })),
        )
      }
    },
    async enqueueOne(n) {
      await enqueue(pool, { job_kind: 'noop', payload: { n } })
    },
    async start(ran) {
      worker = await startWorker({
        pool,
        listenUrl: task.workerUrl,
        concurrency: 10,
        batch: 500,
        handlers: { noop: (job) => ran(job.payload.n as number) },
      })
    },
    async isEmpty() {
      // Of ours: at :30 and :35 the worker fires the product's own schedules.
      const { rows } = await pool.query(
        `select not exists (select from iu_core.job_queue where job_kind = 'noop') as empty`,
      )
      return rows[0].empty
    },
    halt: () => worker!.stop(),
    async stop() {
      await worker!.stop()
      await pool.end()
    },
  },
  task,
)
