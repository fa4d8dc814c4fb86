/** A worker without a database in a process of its own, to be killed and frozen. Each run leaves lines in a journal. */
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { startRemoteWorkerProcess } from '../../src/app/remote-worker.ts'
import { openNats } from '../../src/runtime/nats.ts'

interface Orders {
  readonly natsUrl: string
  readonly journal: string
  readonly concurrency: number
  readonly name: string
}

const { natsUrl, journal, concurrency, name } = JSON.parse(process.argv[2]!) as Orders
const write = (what: string, job: { job_id: string; lease_epoch: number }) =>
  appendFileSync(
    journal,
    `${JSON.stringify({ what, name, pid: process.pid, job: job.job_id, epoch: job.lease_epoch })}\n`,
  )
const nats = openNats(
  {
    natsUrl: [natsUrl],
    natsCredentials: undefined,
    natsCa: undefined,
    natsInbox: '_INBOX',
    natsPlaintext: 'refuse',
    cell: 'main',
  },
  name,
  pino({ level: 'silent' }),
)!
const worker = startRemoteWorkerProcess({
  nats,
  log: pino({ level: 'silent' }),
  concurrency,
  name,
  handlers: {
    async lasting(job, { signal }) {
      write('begin', job)
      try {
        await delay(Number(job.payload.ms), undefined, { signal })
      } catch (error) {
        write('aborted', job)
        throw error
      }
      write('end', job)
      return { by: name }
    },
    async poison(job) {
      write('begin', job)
      process.kill(process.pid, 'SIGKILL')
      await delay(60_000)
    },
  },
  onGateway(gateway) {
    if (gateway !== undefined) console.log('ready')
  },
})
process.on('SIGTERM', async () => {
  await worker.stop()
  await nats.close()
  process.exit(0)
})
