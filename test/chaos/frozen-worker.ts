/** A worker in a process of its own, to be frozen: two jobs at once, and many claimed ahead. Every run leaves a row. */
import { setTimeout as delay } from 'node:timers/promises'
import { startWorker } from '../../src/jobs/worker.ts'
import { createPool } from '../../src/kernel/postgres/connection.ts'

const { url } = JSON.parse(process.argv[2]!) as { url: string }
const pool = createPool(url, { role: 'dot_executor', max: 6 })
const worker = await startWorker({
  pool,
  schedules: false,
  concurrency: 2,
  leaseMs: 1000,
  handlers: {
    frozen: async (job) => {
      // When it began, not when the row arrived: between the two it may be frozen.
      const began = new Date()
      await pool.query('insert into public.frozen_run (job_id, began_at) values ($1, $2)', [
        job.job_id,
        began,
      ])
      // So short that the next ones count as begun ahead: nothing but the clock keeps them back.
      await delay(2)
    },
  },
})
process.on('SIGTERM', async () => {
  await worker.stop()
  await pool.end()
  process.exit(0)
})
