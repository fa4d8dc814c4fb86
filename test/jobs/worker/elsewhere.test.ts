/** A worker whose handlers run elsewhere: its room changes, it holds nothing that cannot begin, and it takes over what others had. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { OutcomeHandler } from '../../../src/jobs/handlers.ts'
import { claimJobs, registerWorker } from '../../../src/jobs/lease.ts'
import { type Job, setKind } from '../../../src/jobs/queue.ts'
import { adoptedJobHandler } from '../../../src/jobs/remote.ts'
import { startWorker, type WorkerOptions } from '../../../src/jobs/worker.ts'
import type { Outcome } from '../../../src/jobs/worker-types.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { useJobs } from './support.ts'

const db = useDatabase()
const jobs = useJobs(db)

interface Begun {
  readonly job: Job
  end(outcome: Outcome): void
}

/** Calls wait for the test. */
function elsewhere(): { handler: OutcomeHandler; begun: Begun[] } {
  const begun: Begun[] = []
  const handler: OutcomeHandler = {
    batch: 1,
    outcomes: ([job]) =>
      new Promise((resolve) => begun.push({ job: job!, end: (outcome) => resolve([outcome]) })),
  }
  return { handler, begun }
}

async function start(kind: string, handler: OutcomeHandler, options: Partial<WorkerOptions> = {}) {
  const worker = await startWorker({
    pool: db.pool('stagedoor_worker'),
    listenUrl: db.url('stagedoor_worker'),
    handlers: { [kind]: handler },
    schedules: false,
    shutdownMs: 0,
    prefetch: 0,
    ...options,
  })
  return worker
}

const leased = async (kind: string): Promise<number> =>
  (
    await db.owner<{ n: number }>(
      'select count(*)::int as n from iu_core.job_queue where job_kind = $1 and leased_by is not null',
      [kind],
    )
  )[0]!.n

describe('a worker that lingers', () => {
  it('claims once for slots that become free one after the other, while more jobs wait', async () => {
    const { handler, begun } = elsewhere()
    const claims: number[] = []
    const hooks = { onClaim: (count: number) => void claims.push(count) }
    const worker = await start('lingers', handler, { concurrency: 20, lingerMs: 200, hooks })
    await jobs.enqueue(...Array.from({ length: 30 }, () => ({ job_kind: 'lingers' })))
    await until('all slots are taken', () => begun.length === 20)
    claims.length = 0
    for (const { job, end } of begun.slice(0, 3)) {
      end({ job, as: 'completed' })
      await setTimeout(20)
    }
    await until('their slots are taken again', () => begun.length === 23)
    expect(claims).toEqual([3])
    // A quarter of the slots is enough.
    const since = performance.now()
    for (const { job, end } of begun.slice(3, 9)) end({ job, as: 'completed' })
    await until('these, too', () => begun.length === 29)
    expect(performance.now() - since).toBeLessThan(200)
    const stopped = worker.stop()
    for (const { job, end } of begun) end({ job, as: 'released' })
    await stopped
  })

  it('begins a job that comes alone at once', async () => {
    const { handler, begun } = elsewhere()
    const worker = await start('comes_alone', handler, { concurrency: 20, lingerMs: 10_000 })
    for (let n = 1; n <= 3; n++) {
      await jobs.enqueue({ job_kind: 'comes_alone' })
      await until(`job ${n} runs beside the others`, () => begun.length === n, 5000)
    }
    const stopped = worker.stop()
    for (const { job, end } of begun) end({ job, as: 'released' })
    await stopped
  })
})

describe('a worker with prefetch 0', () => {
  it('claims for its free slots and no more, at once when there are more, and is not idle with none', async () => {
    let slots = 0
    const { handler, begun } = elsewhere()
    const worker = await start('credit', handler, { concurrency: () => slots })
    const ids = await jobs.enqueue(...Array.from({ length: 6 }, () => ({ job_kind: 'credit' })))
    expect(await db.owner('select from iu_core.worker_idle where worker_id = $1', [worker.id])).toEqual([])
    expect(await leased('credit')).toBe(0)
    slots = 2
    worker.concurrencyChanged()
    await until('two have begun', () => begun.length === 2)
    expect(await leased('credit')).toBe(2)
    slots = 5
    worker.concurrencyChanged()
    await until('five have begun', () => begun.length === 5)
    expect(await leased('credit')).toBe(5)
    // Less room than calls: nothing is claimed until enough of them have ended.
    slots = 1
    worker.concurrencyChanged()
    for (const { job, end } of begun.splice(0, 4)) end({ job, as: 'completed' })
    await jobs.reached('completed', ids.slice(0, 4))
    expect(await leased('credit')).toBe(1)
    for (const { job, end } of begun.splice(0)) end({ job, as: 'completed' })
    await until('the last has begun', () => begun.length === 1)
    begun[0]!.end({ job: begun[0]!.job, as: 'completed' })
    await jobs.reached('completed', ids)
    slots = 0
    worker.concurrencyChanged()
    await until('it is not idle', async () => {
      const idle = await db.owner('select from iu_core.worker_idle where worker_id = $1', [worker.id])
      return idle.length === 0
    })
    await worker.stop()
  })

  it('says of each report whether it counted, after the commit', async () => {
    const { handler, begun } = elsewhere()
    const worker = await start('settled', handler, { concurrency: 3 })
    const [first, second] = await jobs.enqueue({ job_kind: 'settled' }, { job_kind: 'settled' })
    await until('both have begun', () => begun.length === 2)
    const counted = new Map<string, boolean>()
    await db.owner('update iu_core.job_queue set lease_epoch = lease_epoch + 1 where job_id = $1', [second])
    for (const { job, end } of begun)
      end({ job, as: 'completed', settle: (yes) => counted.set(job.job_id, yes) })
    await until('both are settled', () => counted.size === 2)
    expect((await jobs.find(first!)).status).toBe('completed')
    expect(counted).toEqual(
      new Map([
        [first, true],
        [second, false],
      ]),
    )
    await worker.stop()
  })

  it('settles what a lost lease made void', async () => {
    const { handler, begun } = elsewhere()
    const worker = await start('voided', handler, { leaseMs: 1000, concurrency: 1 })
    await jobs.enqueue({ job_kind: 'voided' })
    await until('it has begun', () => begun.length === 1)
    await db.owner('delete from iu_core.job_worker where worker_id = $1', [worker.id])
    const id = worker.id
    await until('it has another lease', () => worker.id !== id)
    let counted: boolean | undefined
    const [{ job, end }] = begun as [Begun]
    end({ job, as: 'completed', settle: (yes) => (counted = yes) })
    await until('it is settled', () => counted === false)
    await worker.stop()
    await db.owner(`delete from iu_core.job_queue where job_kind = 'voided'`)
  })

  it('charges a crash to the job whose process died', async () => {
    await setKind(db.pool('stagedoor_worker'), 'deadly', { max_crashes: 1 })
    const { handler, begun } = elsewhere()
    const worker = await start('deadly', handler, { suspects: 'none' })
    const [id] = await jobs.enqueue({ job_kind: 'deadly' })
    await until('it has begun', () => begun.length === 1)
    begun[0]!.end({ job: begun[0]!.job, as: 'crashed', error: 'its worker is silent' })
    const [dead] = await jobs.reached('dead', [id!])
    expect(dead).toMatchObject({ crashes: 1, attempts: 0, last_error: 'its worker is silent' })
    await worker.stop()
  })
})

it('suspects are left to a worker for suspects', async () => {
  const [id] = await jobs.enqueue({ job_kind: 'odd_one' })
  await db.owner('update iu_core.job_queue set crashes = 1 where job_id = $1', [id])
  const [plain, special] = [elsewhere(), elsewhere()]
  const without = await start('odd_one', plain.handler, { suspects: 'none' })
  const [other] = await jobs.enqueue({ job_kind: 'odd_one' })
  await until('the other has begun', () => plain.begun.length === 1)
  const only = await start('odd_one', special.handler, { suspects: 'only', concurrency: 1 })
  await until('the suspect has begun', () => special.begun.length === 1)
  expect([plain.begun[0]!.job.job_id, special.begun[0]!.job.job_id]).toEqual([other, id])
  for (const { job, end } of [...plain.begun, ...special.begun]) end({ job, as: 'completed' })
  await jobs.reached('completed', [id!, other!])
  await Promise.all([without.stop(), only.stop()])
})

it('takes over what another worker had, and completes it under the same epoch', async () => {
  const [id] = await jobs.enqueue({ job_kind: 'taken_over' })
  const terms = { executor: 'PG_worker', kinds: ['taken_over'], leaseMs: 60_000 }
  const pool = db.pool('stagedoor_worker')
  const dead = await registerWorker(pool, terms)
  const [job] = await claimJobs(pool, dead, 10)
  const { handler, begun } = elsewhere()
  const worker = await start('taken_over', handler)
  const gone = { job_id: '00000000-0000-7000-8000-000000000000', lease_epoch: 1 }
  const adopted = await worker.adopt(dead, [
    { jobs: [job!], handler },
    { jobs: [gone], handler },
  ])
  expect(adopted.map(({ job_id }) => job_id)).toEqual([id])
  expect(begun).toHaveLength(1)
  begun[0]!.end({ job: begun[0]!.job, as: 'completed', result: { by: 'another' } })
  const [done] = await jobs.reached('completed', [id!])
  expect(done).toMatchObject({ attempts: 1, worker_id: worker.id, result: { by: 'another' } })
  await worker.stop()
})

it('of a process that crashes: what runs stays leased and is not charged, so that another adopts it', async () => {
  const [id] = await jobs.enqueue({ job_kind: 'outlives' })
  const { handler, begun } = elsewhere()
  const crashed = await start('outlives', handler, { remote: true })
  await until('it has begun', () => begun.length === 1)
  const { job } = begun[0]!
  await crashed.crash(new Error('elsewhere in the process'))
  expect(await jobs.find(id!)).toMatchObject({ status: 'running', crashes: 0, attempts: 1 })
  const other = await start('outlives', handler)
  const adopted = await other.adopt(crashed.id, [{ jobs: [job as Job & { lease_epoch: number }], handler }])
  expect(adopted.map(({ job_id }) => job_id)).toEqual([id])
  begun[1]!.end({ job: begun[1]!.job, as: 'completed' })
  expect((await jobs.reached('completed', [id!]))[0]).toMatchObject({ crashes: 0, worker_id: other.id })
  begun[0]!.end({ job, as: 'moved' })
  await Promise.all([crashed.stop(), other.stop()])
})

it('an outcome that the database refuses, whatever it says, is no job that stays leased for ever', async () => {
  await db.owner(`create function public.refuse_poison() returns trigger language plpgsql as $$
    begin
      if new.job_kind = 'unwritable' and new.last_error like '%poison%' then
        raise exception using errcode = '22000', message = 'no';
      end if;
      return new;
    end $$`)
  await db.owner(
    'create trigger refuse_poison before update on iu_core.job_queue for each row execute function public.refuse_poison()',
  )
  const { handler, begun } = elsewhere()
  const worker = await start('unwritable', handler, { concurrency: 2 })
  const [id] = await jobs.enqueue({ job_kind: 'unwritable' })
  await until('it has begun', () => begun.length === 1)
  let counted: boolean | undefined
  begun[0]!.end({
    ...{ job: begun[0]!.job, as: 'failed', error: 'poison', fatal: false },
    settle: (yes) => (counted = yes),
  })
  await until('it is free again, and charged', async () => (await jobs.find(id!)).crashes === 1)
  expect(counted).toBe(false)
  expect(await jobs.find(id!)).toMatchObject({ last_error: 'the database does not store its outcome' })
  await worker.stop()
  await db.owner(`delete from iu_core.job_queue where job_kind = 'unwritable'`)
  await db.owner('drop trigger refuse_poison on iu_core.job_queue')
})

it('takes over nothing that runs here in another call, and cannot say while it stops', async () => {
  const { handler, begun } = elsewhere()
  const worker = await start('occupied', handler)
  const [id] = await jobs.enqueue({ job_kind: 'occupied' })
  await until('it has begun', () => begun.length === 1)
  const [{ job, end }] = begun as [Begun]
  const refs = [job as Job & { lease_epoch: number }]
  expect(await worker.adopt(randomUUID(), [{ jobs: refs, handler }])).toEqual([])
  expect(begun).toHaveLength(1)
  end({ job, as: 'completed', result: { by: 'its own call' } })
  expect((await jobs.reached('completed', [id!]))[0]).toMatchObject({ result: { by: 'its own call' } })
  const stopped = worker.stop()
  await expect(worker.adopt(randomUUID(), [{ jobs: refs, handler }])).rejects.toThrow('just now')
  await stopped
})

it('what it took over is a call under its own lease', async () => {
  const [id] = await jobs.enqueue({ job_kind: 'leased_anew' })
  const pool = db.pool('stagedoor_worker')
  const dead = await registerWorker(pool, {
    ...{ executor: 'PG_worker', kinds: ['leased_anew'], leaseMs: 60_000 },
  })
  const [job] = await claimJobs(pool, dead, 10)
  const worker = await start('leased_anew', elsewhere().handler)
  let lease: string | undefined
  const handler = adoptedJobHandler({ settle: () => {} }, { call: 'x', alone: false }, async (call) => {
    lease = call.lease
    return { status: 'completed', result: [{ job_id: id, as: 'completed' }] }
  })
  await worker.adopt(dead, [{ jobs: [job!], handler }])
  await jobs.reached('completed', [id!])
  expect(lease).toBe(worker.id)
  await worker.stop()
})
