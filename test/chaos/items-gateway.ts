/** A server that drives executions and is a gateway for remote workers, in a process of its own. */
import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { startGateway } from '../../src/app/gateway.ts'
import { startEngine } from '../../src/executions/engine/engine.ts'
import { createResultStore } from '../../src/executions/results.ts'
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
const pool = createPool(url, { role: 'dot_executor', max: 12, purpose: 'gateway' })
const results = createResultStore({ pool })
await startEngine({ pool, listenUrl: url, tools: {}, results, log })
const playbooks = { tools: {}, results }
await startGateway({ nats, pool, listenUrl: url, log, process: randomUUID(), playbooks })
await until('it is connected', () => nats.connected)
console.log('ready')
