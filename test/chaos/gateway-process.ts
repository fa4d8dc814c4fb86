/** A gateway in a process of its own, to be killed. */
import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { startGateway } from '../../src/app/gateway.ts'
import { createPool } from '../../src/kernel/postgres/connection.ts'
import { openNats } from '../../src/runtime/nats.ts'
import { until } from '../support/until.ts'

const { url, natsUrl } = JSON.parse(process.argv[2]!) as { url: string; natsUrl: string }
const log = pino({ level: 'silent' })
const settings = {
  natsUrl: [natsUrl],
  natsCredentials: undefined,
  natsCa: undefined,
  natsInbox: '_INBOX',
  natsPlaintext: 'refuse',
  cell: 'main',
} as const
const nats = openNats(settings, 'gateway', log)!
const pool = createPool(url, { role: 'dot_executor', max: 4, purpose: 'gateway' })
const gateway = await startGateway({ nats, pool, listenUrl: url, log, process: randomUUID() })
await until('it is connected', () => nats.connected)
console.log('ready')
process.on('SIGTERM', async () => {
  await gateway.stop()
  await pool.end()
  await nats.close()
  process.exit(0)
})
