/** Executors that wait for jobs where the process has wake-ups, as `stagedoor start` has: no polling, one claim for one job. */
import { expect, it } from 'vitest'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { beginWorker, enqueue, executorToken, stateOf } from './executors-api.ts'

const db = useDatabase()
const api = useApi(db, { wakeups: true })
const executor = 'external_worker'

/** How often workers of this kind have renewed their lease: once with each claim. */
async function countClaims(): Promise<() => Promise<number>> {
  await db.owner('create table if not exists public.claims_counted (worker_id uuid)')
  await db.owner('truncate public.claims_counted')
  await db.owner(`create or replace function public.count_claim() returns trigger language plpgsql security definer as $$
    begin insert into public.claims_counted values (new.worker_id); return null; end $$`)
  await db.owner(`create or replace trigger count_claim after update of heartbeat_at on iu_core.job_worker
    for each row execute function public.count_claim()`)
  return async () => {
    const [row] = await db.owner<{ n: number }>('select count(*)::integer as n from public.claims_counted')
    return row!.n
  }
}

async function idleWorkers(kind: string): Promise<number> {
  const [row] = await db.owner<{ n: number }>(
    'select count(*)::integer as n from iu_core.worker_idle where $1 = any (kinds)',
    [kind],
  )
  return row!.n
}

it('ten that wait poll no database, and a job that plain SQL enqueues costs a claim or two', async () => {
  const token = await executorToken(executor)
  const workers = await Promise.all(
    Array.from({ length: 10 }, () => beginWorker(api, token, { executor, kinds: ['rung'] })),
  )
  const claims = await countClaims()
  const waiting = workers.map((worker) => worker.lease({ wait_s: 4 }))
  // Each looks, says that it waits, and looks once more.
  await until('all wait', async () => (await idleWorkers('rung')) === 10 && (await claims()) >= 20)
  const before = await claims()
  const id = await enqueue(db, 'rung')
  await until('it runs', async () => (await stateOf(db, id)) === 'running')
  const jobs = await Promise.all(waiting)
  expect(jobs.flat().map(({ job_id }) => job_id)).toEqual([id])
  // Those that found nothing look once at the end, and once more if the bus has just opened its session. Polling is 16 times each.
  expect((await claims()) - before).toBeLessThanOrEqual(30)
  expect(await idleWorkers('rung')).toBe(0)
})

it('a job that is due later is claimed then, and not by polling', async () => {
  const worker = await beginWorker(api, await executorToken(executor), { executor, kinds: ['later'] })
  const id = await enqueue(db, 'later')
  await db.owner(
    `update iu_core.job_queue set process_after = clock_timestamp() + interval '700 milliseconds' where job_id = $1`,
    [id],
  )
  const [job] = await worker.lease({ wait_s: 20 })
  expect(job?.job_id).toBe(id)
})

it('a place that becomes free in a kind with a limit is taken', async () => {
  const token = await executorToken(executor)
  await db.owner(`select iu_core.fn_job_kind_set('narrow', '{"concurrency": 1}')`)
  const [first, second] = [await enqueue(db, 'narrow'), await enqueue(db, 'narrow')]
  const one = await beginWorker(api, token, { executor, kinds: ['narrow'] })
  const other = await beginWorker(api, token, { executor, kinds: ['narrow'] })
  const [job] = await one.lease()
  expect(job?.job_id).toBe(first)
  const waiting = other.lease({ wait_s: 20 })
  await until('it waits', async () => (await idleWorkers('narrow')) === 1)
  await one.say('complete', { jobs: [{ job_id: first, epoch: job!.lease_epoch }] })
  expect((await waiting).map(({ job_id }) => job_id)).toEqual([second])
})

it('whoever waits with jobs of theirs hears that one is cancelled', async () => {
  const worker = await beginWorker(api, await executorToken(executor), { executor, kinds: ['unwanted'] })
  const id = await enqueue(db, 'unwanted')
  await worker.lease()
  const waiting = worker.say('claim', { wait_s: 20, held: 1 })
  await until('it waits', async () => (await idleWorkers('unwanted')) === 1)
  await db.owner(`select iu_core.fn_job_cancel($1, 'no longer wanted')`, [id])
  expect(await waiting).toMatchObject({ status: 200, body: { jobs: [], cancelled: [id] } })
})

it('a worker may say of itself alone that it waits', async () => {
  const mine = await beginWorker(api, await executorToken(executor), { executor, kinds: ['mine'] })
  const stranger = await executorToken('Hermes', 'executor:stranger')
  const answer = await mine.say('claim', { wait_s: 1 }, stranger)
  expect(answer.status).toBe(403)
  expect(await idleWorkers('mine')).toBe(0)
})

it('of two claims of one worker that wait, the second is still woken after the first has its job', async () => {
  const worker = await beginWorker(api, await executorToken(executor), { executor, kinds: ['twice'] })
  const claims = await countClaims()
  const waiting = [worker.lease({ wait_s: 20 }), worker.lease({ wait_s: 20 })]
  await until('both wait', async () => (await idleWorkers('twice')) === 1 && (await claims()) >= 4)
  const first = await enqueue(db, 'twice')
  expect((await Promise.race(waiting)).map(({ job_id }) => job_id)).toEqual([first])
  expect(await idleWorkers('twice')).toBe(1)
  const second = await enqueue(db, 'twice')
  const jobs = (await Promise.all(waiting)).flat().map(({ job_id }) => job_id)
  expect(jobs.sort()).toEqual([first, second].sort())
  expect(await idleWorkers('twice')).toBe(0)
})
