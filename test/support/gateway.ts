/** Gateways and remote workers of a test: each with its own connection to NATS, all stopped after each test whatever happened. */
import { randomUUID } from 'node:crypto'
import pino, { type Logger } from 'pino'
import { afterAll, afterEach } from 'vitest'
import { type Gateway, startGateway } from '../../src/app/gateway.ts'
import { createMetrics, type Metrics } from '../../src/app/metrics.ts'
import { type RemoteWorkerProcess, startRemoteWorkerProcess } from '../../src/app/remote-worker.ts'
import type { JobHandlers } from '../../src/jobs/handlers.ts'
import { createPool } from '../../src/kernel/postgres/connection.ts'
import { type Nats, openNats } from '../../src/runtime/nats.ts'
import type { TestDatabase } from './database.ts'
import { startNats, type TestNats } from './nats.ts'
import { until } from './until.ts'

export interface TestGateway extends Gateway {
  readonly nats: Nats
  readonly metrics: Metrics
}

export interface TestGateways {
  readonly server: TestNats
  connect(name: string, url?: string): Promise<Nats>
  gateway(options?: {
    url?: string
    db?: TestDatabase
    cell?: string
    log?: Logger
    shutdownMs?: number
  }): Promise<TestGateway>
  /** Attached when it resolves. */
  worker(
    handlers: JobHandlers,
    options?: {
      url?: string
      concurrency?: number
      name?: string
      cell?: string
      log?: Logger
      shutdownMs?: number
    },
  ): Promise<RemoteWorkerProcess & { readonly nats: Nats }>
}

const SILENT = pino({ level: 'silent' })

export async function useGateways(db: TestDatabase): Promise<TestGateways> {
  const server = await startNats()
  const stops: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    // Workers first: what they run is given back.
    for (const stop of stops.splice(0).reverse()) await stop()
  })
  afterAll(() => server.stop())
  const connect = async (name: string, url = server.url, cell = 'main'): Promise<Nats> => {
    const nats = openNats(
      {
        natsUrl: [url],
        natsCredentials: undefined,
        natsCa: undefined,
        natsInbox: '_INBOX',
        natsPlaintext: 'refuse',
        cell,
      },
      name,
      SILENT,
    )!
    stops.push(() => nats.close())
    await until(`${name} is connected`, () => nats.connected)
    return nats
  }
  return {
    server,
    connect,
    async gateway({ url, db: other = db, cell = 'main', log = SILENT, shutdownMs = 2000 } = {}) {
      const nats = await connect('gateway', url, cell)
      const pool = createPool(other.url('stagedoor_worker'), {
        role: 'dot_executor',
        max: 4,
        purpose: 'gateway',
      })
      stops.push(() => pool.end())
      const metrics = createMetrics()
      const gateway = await startGateway({
        nats,
        pool,
        listenUrl: other.url('stagedoor_worker'),
        log,
        process: randomUUID(),
        shutdownMs,
        metrics,
      })
      stops.push(() => gateway.stop())
      return Object.assign(gateway, { nats, metrics })
    },
    async worker(
      handlers,
      { url, concurrency = 10, name = 'worker', cell = 'main', log = SILENT, shutdownMs = 2000 } = {},
    ) {
      const nats = await connect(name, url, cell)
      const worker = startRemoteWorkerProcess({ nats, log, handlers, concurrency, name, shutdownMs })
      stops.push(() => worker.stop())
      await until('it is attached', () => worker.gateway !== undefined)
      return Object.assign(worker, { nats })
    },
  }
}
