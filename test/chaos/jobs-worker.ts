/** A worker in a process of its own. Every run leaves a row; every second job writes its effect and completes in one transaction. */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { startWorker } from '../../src/jobs/worker.ts'
import { createPool } from '../../src/kernel/postgres/connection.ts'

const { url } = JSON.parse(process.argv[2]!) as { url: string }
await once(process.stdin, 'data')
const pool = createPool(url, { role: 'dot_executor', max: 14 })

async function start() {
  for (;;) {
    try {
      return await startWorker({
        pool,
        listenUrl: url,
        name: `chaos ${process.pid}`,
        batch: 20,
        schedules: false,
        shutdownMs: 3000,
        handlers: {
          chaos: async (job, context) => {
            await pool.query('insert into public.chaos_run (job_id, epoch, pid) values ($1, $2, $3)', [
              job.job_id,
              job.lease_epoch,
              process.pid,
            ])
            const number = Number(job.payload_ref)
            await delay((number * 7) % 40, undefined, { signal: context.signal })
            const result = { epoch: job.lease_epoch }
            if (number % 2 === 0) return result
            await context.transaction(async (client) => {
              await client.query('insert into public.chaos_effect (job_id) values ($1)', [job.job_id])
              await context.complete(client, result)
            })
          },
        },
      })
    } catch {
      await delay(100) // The server is being restarted.
    }
  }
}

const worker = await start()
console.log('ready')
process.on('SIGTERM', async () => {
  await worker.stop()
  await pool.end()
  process.exit(0)
})
