/**
 * Gateways, workers and NATS that are killed or frozen while calls run. Counted from tables and from a journal that handlers write: nothing
 * is lost, nothing ends twice, and what runs twice is only what ran on a worker that was killed or frozen.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { setKind } from '../../../src/jobs/queue.ts'
import { compile, type Program, standBy } from '../../chaos/program.ts'
import { useJobs } from '../../jobs/worker/support.ts'
import { useDatabase } from '../../support/database.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { startNats, type TestNats } from '../../support/nats.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const db = useDatabase()
const jobs = useJobs(db)
const home = temporaryHome('gateway-deaths')
const journal = join(home, 'journal')
const programs: Program[] = []
let compiled: (source: string) => string
let nats: TestNats
let seen = 0

beforeAll(async () => {
  nats = await startNats()
  compiled = compile(join(home, 'programs'), ['gateway-process.ts', 'remote-worker.ts'])
})

afterEach(async () => {
  for (const one of programs) end(one, 'SIGKILL')
  await Promise.all(programs.splice(0).map((one) => one.ended))
  seen += lines().length
  await db.owner('delete from iu_core.job_queue')
})
afterAll(() => nats.stop())

function start(source: string, orders: object): Program {
  const one = standBy(
    compiled(source),
    { url: db.url('stagedoor_worker'), natsUrl: nats.url, journal, ...orders },
    (why) => {
      throw new Error(why)
    },
  )
  programs.push(one)
  return one
}

function end(one: Program, signal: NodeJS.Signals): void {
  one.doomed = true
  one.child.kill('SIGCONT')
  one.child.kill(signal)
}

async function gateways(count: number): Promise<Program[]> {
  const started = Array.from({ length: count }, () => start('gateway-process.ts', {}))
  await until('the gateways are there', () => started.every(({ ready }) => ready))
  return started
}

async function workers(count: number, concurrency: number): Promise<Program[]> {
  const started = Array.from({ length: count }, (_, n) =>
    start('remote-worker.ts', { concurrency, name: `worker ${n}` }),
  )
  await until('the workers are attached', () => started.every(({ ready }) => ready))
  return started
}

interface Line {
  readonly what: 'begin' | 'end' | 'aborted'
  readonly pid: number
  readonly job: string
  readonly epoch: number
}

/** Of this test. */
function lines(): Line[] {
  if (!existsSync(journal)) return []
  const all = readFileSync(journal, 'utf8').split('\n').filter(Boolean)
  return all.slice(seen).map((line) => JSON.parse(line) as Line)
}

const begun = () => lines().filter(({ what }) => what === 'begin')

const lasting = (ms: number, count: number) =>
  jobs.enqueue(...Array.from({ length: count }, () => ({ job_kind: 'lasting', payload: { ms } })))

/** Each ended once, and how often each was begun. */
async function counted(ids: readonly string[]): Promise<{ repeated: string[]; crashes: number }> {
  const found = await jobs.reached('completed', ids)
  const rows = await db.owner<{ n: number }>(
    'select count(*)::integer as n from iu_core.job_history where job_id = any ($1)',
    [ids],
  )
  expect(rows[0]!.n).toBe(ids.length)
  const runs = new Map<string, number>()
  for (const { job } of begun()) runs.set(job, (runs.get(job) ?? 0) + 1)
  expect(ids.filter((id) => !runs.has(id))).toEqual([])
  return {
    repeated: ids.filter((id) => runs.get(id)! > 1),
    crashes: found.reduce((sum, job) => sum + job.crashes, 0),
  }
}

it('a gateway that is killed repeats nothing: its workers take along what they run', async () => {
  const [first, second] = await gateways(2)
  await workers(4, 4)
  const long = await lasting(6000, 10)
  const short = await lasting(20, 100)
  await until('all long ones have begun', () => {
    const ids = new Set(begun().map(({ job }) => job))
    return long.every((id) => ids.has(id))
  })
  // The one that leases more of them.
  end(first!, 'SIGKILL')
  const more = await lasting(20, 50)
  // A claim that it had made and not handed out counts as a crash, and no handler has run for it.
  expect((await counted([...long, ...short, ...more])).repeated).toEqual([])
  expect((await counted(long)).crashes).toBe(0)
  expect(second!.ready).toBe(true)
})

it('a gateway that is cut off from NATS loses its workers to another, and what they run goes on there', async () => {
  const proxy = await startFaultProxy({ port: nats.port })
  try {
    const cut = start('gateway-process.ts', { natsUrl: `nats://127.0.0.1:${proxy.port}` })
    await until('the gateway is there', () => cut.ready)
    await workers(3, 4)
    // Nobody is attached to it before the cut.
    const [other] = await gateways(1)
    const long = await lasting(7000, 8)
    await until('all have begun', () => begun().length === 8)
    // Nothing passes any more, and no connection is closed.
    proxy.setFault({ kind: 'stall', direction: 'up', afterBytes: 0 })
    const more = await lasting(20, 30)
    expect((await counted([...long, ...more])).repeated).toEqual([])
    expect((await counted(long)).crashes).toBe(0)
    expect([proxy.hits > 0, other!.ready]).toEqual([true, true])
    end(cut, 'SIGKILL')
    await cut.ended
  } finally {
    await proxy.stop()
  }
})

it('a gateway that stops hands everything over, and waits for nothing', async () => {
  const [first] = await gateways(2)
  await workers(2, 4)
  const long = await lasting(4000, 8)
  await until('all have begun', () => begun().length === 8)
  const began = performance.now()
  end(first!, 'SIGTERM')
  await first!.ended
  expect(performance.now() - began).toBeLessThan(3500)
  expect(await counted(long)).toEqual({ repeated: [], crashes: 0 })
})

it('gateways that are replaced one after the other repeat nothing: calls move as often as needed', async () => {
  const [first] = await gateways(1)
  await workers(2, 4)
  const ids = await lasting(14_000, 6)
  await until('all have begun', () => begun().length === 6)
  const leases = async () =>
    (
      await db.owner<{ leased_by: string }>(
        'select distinct leased_by from iu_core.job_queue where job_id = any ($1)',
        [ids],
      )
    ).map(({ leased_by }) => leased_by)
  const seenLeases = new Set(await leases())
  const haveMoved = async () => {
    const now = await leases()
    return now.length === 1 && !seenLeases.has(now[0]!)
  }
  const [second] = await gateways(1)
  end(first!, 'SIGKILL')
  await until('all are in the second', haveMoved)
  for (const lease of await leases()) seenLeases.add(lease)
  await gateways(1)
  end(second!, 'SIGTERM')
  await until('all are in the third', haveMoved)
  expect(await counted(ids)).toEqual({ repeated: [], crashes: 0 })
})

it('what a killed worker ran runs elsewhere, and is charged to it alone', async () => {
  await gateways(1)
  const [victim] = await workers(2, 4)
  const ids = await lasting(2000, 8)
  await until('all have begun', () => begun().length === 8)
  const hit = new Set(
    begun()
      .filter(({ pid }) => pid === victim!.pid)
      .map(({ job }) => job),
  )
  expect(hit.size).toBe(4)
  end(victim!, 'SIGKILL')
  const { repeated, crashes } = await counted(ids)
  expect(new Set(repeated)).toEqual(hit)
  expect(crashes).toBe(hit.size)
})

it('a worker that was frozen past its session ends nothing that others have by now', async () => {
  await gateways(1)
  const [victim] = await workers(2, 2)
  const ids = await lasting(1500, 4)
  await until('all have begun', () => begun().length === 4)
  const hit = begun()
    .filter(({ pid }) => pid === victim!.pid)
    .map(({ job }) => job)
  victim!.child.kill('SIGSTOP')
  await until('others have begun them again', () =>
    hit.every((id) => begun().filter(({ job }) => job === id).length === 2),
  )
  victim!.child.kill('SIGCONT')
  const { repeated } = await counted(ids)
  expect(new Set(repeated)).toEqual(new Set(hit))
  // It works again.
  const more = await lasting(300, 4)
  await counted(more)
  expect(
    new Set(
      begun()
        .filter(({ job }) => more.includes(job))
        .map(({ pid }) => pid),
    ).size,
  ).toBe(2)
})

it('a NATS that is killed for five seconds delays, and neither loses nor repeats', async () => {
  await gateways(2)
  await workers(3, 4)
  const ids = [...(await lasting(3000, 6)), ...(await lasting(100, 60))]
  await until('many have begun', () => begun().length > 20)
  await nats.kill()
  await new Promise((resolve) => setTimeout(resolve, 5000))
  await nats.start()
  const back = performance.now()
  expect(await counted(ids)).toEqual({ repeated: [], crashes: 0 })
  expect(performance.now() - back).toBeLessThan(10_000)
})

it('a job that kills its workers runs alone, stalls nobody, and becomes a dead letter', {
  tags: 'long',
}, async () => {
  await gateways(1)
  await workers(3, 2)
  await setKind(db.pool('stagedoor_worker'), 'poison', { max_crashes: 2, backoff: '100 milliseconds' })
  const [poison] = await jobs.enqueue({ job_kind: 'poison' })
  for (const one of programs) one.doomed = true
  const others = await lasting(200, 60)
  const { repeated } = await counted(others)
  // What ran beside it the first time; the second time it was alone.
  expect(repeated.length).toBeLessThanOrEqual(1)
  const [dead] = await jobs.reached('dead', [poison!])
  expect(dead).toMatchObject({ crashes: 2, attempts: 0 })
  expect(programs.filter(({ child }) => child.exitCode === null && child.signalCode === null)).toHaveLength(2)
})
