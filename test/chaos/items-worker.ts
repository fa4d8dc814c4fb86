/** A worker without a database that runs items of playbooks, in a process of its own. Each run leaves a line in a journal. */
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
const log = pino({ level: 'silent' })
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
  log,
)!
startRemoteWorkerProcess({
  nats,
  log,
  concurrency,
  name,
  handlers: {},
  playbookHandlers: {
    async each({ item }: { item: number }, { index }) {
      appendFileSync(journal, `${JSON.stringify({ name, index })}\n`)
      await delay(item % 20)
      return item
    },
  },
  onGateway(gateway) {
    if (gateway !== undefined) console.log('ready')
  },
})
