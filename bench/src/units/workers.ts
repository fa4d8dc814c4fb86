/** The dispatcher and a worker of jobs, until the parent process disconnects. */
import pino from 'pino'
import { createPool, startDispatcher, startWorker } from '../product.ts'

const workerUrl = process.argv[2]!
const pool = createPool(workerUrl, { role: 'dot_executor', max: 4, purpose: 'bench' })
const dispatcher = startDispatcher(pool, pino({ level: 'silent' }))
const worker = await startWorker({ pool, listenUrl: workerUrl, handlers: { bench_birth: () => {} } })
process.send!('ready')
process.once('disconnect', async () => {
  await dispatcher.stop()
  await worker.stop()
  await pool.end()
  process.exit(0)
})
