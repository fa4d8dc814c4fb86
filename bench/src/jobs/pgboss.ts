/**
 * pg-boss: the drain by fetch and complete in batches of 500 by two loops, because its worker waits between batches; the
 * latencies by its worker, woken by notices.
 */

import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { chunks, measure, taskGiven } from './measure.ts'

const QUEUE = 'noop'
const LOOPS = 2
const task = taskGiven()
const pool = new pg.Pool({ connectionString: task.url, max: 2 })
const boss = new PgBoss({
  connectionString: task.url,
  max: 8,
  supervise: false,
  schedule: false,
  useListenNotify: true,
})
boss.on('error', () => {})
await boss.start()
await boss.createQueue(QUEUE, { notify: true })

await measure(
  {
    async enqueue(count) {
      for (const chunk of chunks(count))
        await boss.insert(
          QUEUE,
          chunk.map((n) => ({ data: { n } })),
        )
    },
    async enqueueOne(n) {
      await boss.send(QUEUE, { n })
    },
    async start(ran) {
      const drain = async (): Promise<void> => {
        for (;;) {
          const fetched = await boss.fetch<{ n: number }>(QUEUE, { batchSize: 500 })
          if (fetched.length === 0) return
          for (const job of fetched) ran(job.data.n)
          await boss.complete(
            QUEUE,
            fetched.map((job) => job.id),
          )
        }
      }
      await Promise.all(Array.from({ length: LOOPS }, drain))
      await boss.work<{ n: number }>(QUEUE, { pollingIntervalSeconds: 0.5 }, async (arrived) => {
        for (const job of arrived) ran(job.data.n)
      })
    },
    async isEmpty() {
      const { rows } = await pool.query(
        `select not exists (select from pgboss.job where name = $1 and state < 'completed') as empty`,
        [QUEUE],
      )
      return rows[0].empty
    },
    halt: () => boss.offWork(QUEUE),
    async stop() {
      await pool.end()
      await boss.stop({ graceful: false })
    },
  },
  task,
)
