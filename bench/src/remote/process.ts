/** One process of `remote`, `relay`, `idle` and `recovery`: a gateway, workers without a database, or workers with one. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { connectNats, silentLog } from '../nats.ts'
import { inputOf, serve } from '../processes.ts'
import { createPool, startWorker } from '../product.ts'
import { wakeByNats } from '../wakeups.ts'
import { loadRemote } from './product.ts'

export interface HostInput {
  readonly role: 'gateway' | 'remote' | 'direct'
  /** Of a gateway and of direct workers. */
  readonly workerUrl?: string
  readonly natsUrl?: string
  /** Workers in this process, each as if it were a host of its own. */
  readonly workers?: number
  readonly concurrency?: number
  readonly batch?: number
  readonly handlerMs?: number
  /** False: remote workers are started before there is a gateway. */
  readonly awaitsGateway?: boolean
}

/** A handler call that began: which job, when by the clock that all processes of a machine share. */
export interface Begin {
  readonly n: number
  readonly at: number
}

const {
  role,
  workerUrl,
  natsUrl,
  workers = 1,
  concurrency = 1,
  batch,
  handlerMs = 0,
  awaitsGateway = true,
} = inputOf<HostInput>()
const running = new Set<string>()
let begins: Begin[] = []
let ended = 0
let gateways = (): (string | undefined)[] => []

const handlers: Parameters<typeof startWorker>[0]['handlers'] = {
  async noop(job) {
    begins.push({ n: job.payload.n as number, at: performance.timeOrigin + performance.now() })
    running.add(job.job_id)
    if (handlerMs > 0) await delay(handlerMs)
    running.delete(job.job_id)
    ended++
  },
}

const stop = await { gateway: runGateway, remote: runRemote, direct: runDirect }[role]()
serve({
  /** Handler calls that have ended so far. */
  ended: () => ended,
  /** Since the last question. */
  begins() {
    const all = begins
    begins = []
    return all
  },
  /** Of a gateway its own id; of remote workers those that they are attached to. */
  gateways: () => gateways(),
  /** Ids of the jobs whose handlers run now. */
  running: () => [...running],
  stop,
})

async function runGateway(): Promise<() => Promise<void>> {
  const { startGateway } = await loadRemote()
  // As in `stagedoor start` with NATS_URL: it hears of jobs by NATS.
  const wakeups = await wakeByNats(workerUrl!, natsUrl!).catch(() => undefined)
  const nats = await connectNats(natsUrl!, 'gateway')
  const pool = createPool(workerUrl!, { role: 'dot_executor', max: 6, purpose: 'bench' })
  const gateway = await startGateway({
    nats,
    pool,
    listenUrl: workerUrl!,
    log: silentLog,
    process: randomUUID(),
  })
  gateways = () => [gateway.id]
  return async () => {
    await gateway.stop()
    await wakeups?.close()
    await nats.close()
    await pool.end()
  }
}

async function runRemote(): Promise<() => Promise<void>> {
  const { startRemoteWorkerProcess } = await loadRemote()
  const started = await Promise.all(
    Array.from({ length: workers }, async (_, n) => {
      // A connection each, as hosts have.
      const nats = await connectNats(natsUrl!, `worker ${process.pid} ${n}`)
      const worker = startRemoteWorkerProcess({
        nats,
        log: silentLog,
        handlers,
        concurrency,
        name: `bench ${process.pid} ${n}`,
      })
      while (awaitsGateway && worker.gateway === undefined) await delay(10)
      return { nats, worker }
    }),
  )
  gateways = () => started.map(({ worker }) => worker.gateway)
  return async () => {
    await Promise.all(started.map(({ worker }) => worker.stop()))
    await Promise.all(started.map(({ nats }) => nats.close()))
  }
}

async function runDirect(): Promise<() => Promise<void>> {
  const started = await Promise.all(
    Array.from({ length: workers }, async (_, n) => {
      // A name of its own in the address: what is shared in a process is shared by address.
      const url = new URL(workerUrl!)
      url.searchParams.set('application_name', `bench ${process.pid} ${n}`)
      const wakeups = natsUrl === undefined ? undefined : await wakeByNats(url.href, natsUrl)
      const pool = createPool(url.href, { role: 'dot_executor', max: concurrency + 2, purpose: 'bench' })
      const worker = await startWorker({
        pool,
        listenUrl: url.href,
        handlers,
        concurrency,
        schedules: false,
        name: `bench ${process.pid} ${n}`,
        ...(batch !== undefined && { batch }),
      })
      return { worker, pool, wakeups }
    }),
  )
  return async () => {
    await Promise.all(started.map(({ worker }) => worker.stop()))
    await Promise.all(started.map(({ wakeups }) => wakeups?.close()))
    await Promise.all(started.map(({ pool }) => pool.end()))
  }
}
