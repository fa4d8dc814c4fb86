/** One worker process of the runs that the model is compared with: jobs whose handlers wait. */
import { setTimeout as delay } from 'node:timers/promises'
import { inputOf, serve } from '../processes.ts'
import { createPool, startWorker } from '../product.ts'
import { wakeByNats } from '../wakeups.ts'

export interface WorkerProcess {
  readonly workerUrl: string
  /** Processes wake each other over it. */
  readonly natsUrl?: string
  readonly slots: number
  readonly batch: number
  readonly handlerMs: number
}

const { workerUrl, natsUrl, slots, batch, handlerMs } = inputOf<WorkerProcess>()
const pool = createPool(workerUrl, { role: 'dot_executor', max: slots + 2, purpose: 'bench' })
await pool.query('select 1')
const wakeups = natsUrl === undefined ? undefined : await wakeByNats(workerUrl, natsUrl)
let begins: { n: number; at: number }[] = []
let worker: Awaited<ReturnType<typeof startWorker>> | undefined

serve({
  async go() {
    worker = await startWorker({
      pool,
      listenUrl: workerUrl,
      concurrency: slots,
      batch,
      schedules: false,
      handlers: {
        noop: (job) => {
          begins.push({ n: job.payload.n as number, at: performance.timeOrigin + performance.now() })
          return handlerMs === 0 ? undefined : delay(handlerMs)
        },
      },
    })
  },
  /** When each job began, since the last question. */
  begins() {
    const all = begins
    begins = []
    return all
  },
  async stop() {
    await worker?.stop()
    await wakeups?.close()
    await pool.end()
  },
})
