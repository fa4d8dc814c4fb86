/** A gateway whose database is away, and a worker whose answers get lost. Counted from the history and from what handlers did. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { setKind } from '../../../src/jobs/queue.ts'
import { useJobs } from '../../jobs/worker/support.ts'
import { useDatabase } from '../../support/database.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { useGateways } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'

const db = useDatabase()
const jobs = useJobs(db)
const remote = await useGateways(db)
const proxies: FaultProxy[] = []
// After the gateways, which close their sessions first.
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.stop()
})

async function proxyOf(address: string): Promise<{ proxy: FaultProxy; port: number }> {
  const proxy = await startFaultProxy({ port: Number(new URL(address).port) })
  proxies.push(proxy)
  return { proxy, port: proxy.port }
}

const through = (address: string, port: number): string => {
  const url = new URL(address)
  url.port = String(port)
  return url.href
}

async function gatewayBehindProxy(): Promise<FaultProxy> {
  const { proxy, port } = await proxyOf(db.url('stagedoor_worker'))
  await remote.gateway({ db: { ...db, url: (login) => through(db.url(login), port) } })
  return proxy
}

/** Every run of a job. */
function journal() {
  const begun: string[] = []
  const aborted: string[] = []
  return { begun, aborted, runsOf: (id: string) => begun.filter((one) => one === id).length }
}

async function completedOnce(ids: readonly string[]): Promise<void> {
  await jobs.reached('completed', ids)
  const [row] = await db.owner<{ n: number }>(
    'select count(*)::integer as n from iu_core.job_history where job_id = any ($1)',
    [ids],
  )
  expect(row!.n).toBe(ids.length)
}

it('a database whose connections break for two seconds delays ends, and repeats nothing', async () => {
  const proxy = await gatewayBehindProxy()
  const { begun, runsOf } = journal()
  await remote.worker({
    broken: async (job) => {
      begun.push(job.job_id)
      await delay(1000)
    },
  })
  const ids = await jobs.enqueue(...Array.from({ length: 30 }, () => ({ job_kind: 'broken' })))
  await until('the first have begun', () => begun.length >= 10)
  proxy.setFault({ kind: 'reset', direction: 'up', afterBytes: 0 })
  await delay(2000)
  proxy.setFault(undefined)
  await completedOnce(ids)
  expect(ids.filter((id) => runsOf(id) !== 1)).toEqual([])
})

it('a database that is away for longer than the lease makes all calls void: workers stop them, and they run again', async () => {
  const proxy = await gatewayBehindProxy()
  const { begun, aborted, runsOf } = journal()
  await remote.worker({
    stalled: async (job, { signal }) => {
      begun.push(job.job_id)
      // Only those that began before the outage last.
      if (runsOf(job.job_id) > 1) return
      await delay(60_000, undefined, { signal }).catch(() => {
        aborted.push(`${signal.reason.why}`)
        throw signal.reason
      })
    },
  })
  const ids = await jobs.enqueue(...Array.from({ length: 4 }, () => ({ job_kind: 'stalled' })))
  await setKind(db.pool('stagedoor_worker'), 'stalled', { backoff: '10 milliseconds' })
  await until('all have begun', () => begun.length === 4)
  proxy.setFault({ kind: 'stall', direction: 'up', afterBytes: 0 })
  await until('their handlers were stopped', () => aborted.length === 4)
  proxy.setFault({ kind: 'reset', direction: 'up', afterBytes: 0 })
  await delay(100)
  proxy.setFault(undefined)
  await completedOnce(ids)
  expect(aborted).toEqual(Array.from({ length: 4 }, () => 'lease_lost'))
  expect(ids.map(runsOf)).toEqual([2, 2, 2, 2])
})

it('answers that get lost cost time: each job is completed once, and only what was in flight may run twice', async () => {
  await remote.gateway()
  const { proxy, port } = await proxyOf(remote.server.url)
  const { begun, runsOf } = journal()
  const handler = async (job: { job_id: string }): Promise<void> => {
    begun.push(job.job_id)
    await delay(20)
  }
  const cut = await remote.worker(
    { lost: handler },
    { url: `nats://127.0.0.1:${port}`, concurrency: 4, name: 'cut' },
  )
  await remote.worker({ lost: handler }, { concurrency: 4, name: 'whole' })
  const ids = await jobs.enqueue(...Array.from({ length: 600 }, () => ({ job_kind: 'lost' })))
  await until('many have begun', () => begun.length > 100)
  proxy.setFault({ kind: 'stall', direction: 'down', afterBytes: 0, times: 1 })
  await until('the fault hit', () => proxy.hits === 1)
  await completedOnce(ids)
  const repeated = ids.filter((id) => runsOf(id) > 1)
  expect(repeated.length).toBeLessThanOrEqual(4)
  await until('it is attached again', () => cut.health().ok)
})
