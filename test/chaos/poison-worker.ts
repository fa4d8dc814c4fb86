/** A worker in a process of its own whose handler ends the process when it meets the poison job. */
import { setTimeout as delay } from 'node:timers/promises'
import { startWorker } from '../../src/jobs/worker.ts'
import { createPool } from '../../src/kernel/postgres/connection.ts'

const { url } = JSON.parse(process.argv[2]!) as { url: string }
const pool = createPool(url, { role: 'dot_executor', max: 14 })
const worker = await startWorker({
  pool,
  listenUrl: url,
  schedules: false,
  handlers: {
    mixed: async (job) => {
      if (job.payload_ref === 'poison') process.exit(7)
      await delay(2)
    },
  },
})
process.on('SIGTERM', async () => {
  await worker.stop()
  await pool.end()
  process.exit(0)
})
