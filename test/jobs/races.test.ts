/** Two sessions at one job: the database settles who it is, and nobody wins twice. */
import { beforeEach, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'
import { queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)

beforeEach(async () => {
  await db.owner(
    'truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history, iu_core.job_dead_letter, iu_core.job_worker, iu_core.job_running',
  )
})

async function running(): Promise<{ worker: string; lease: { worker: string; job: string; epoch: number } }> {
  await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  const [lease] = queue.leasesOf(worker, await queue.claim(worker))
  return { worker, lease: lease! }
}

const COMPLETE = 'select count(*)::int as n from iu_core.fn_job_complete($1, array[$2::uuid], array[$3::int])'

it('16 workers that claim at once get every job exactly once', async () => {
  await queue.rows('select iu_core.fn_job_enqueue_batch($1)', [
    JSON.stringify(Array.from({ length: 400 }, () => ({ job_kind: 'mail' }))),
  ])
  const claimed = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const worker = await queue.register(['mail'])
      const mine: string[] = []
      for (;;) {
        const jobs = await queue.claim(worker, 7)
        if (jobs.length === 0) return mine
        mine.push(...jobs.map((job) => job.job_id))
      }
    }),
  )
  expect(claimed.flat()).toHaveLength(400)
  expect(new Set(claimed.flat()).size).toBe(400)
})

const CLAIM_BY_ID = 'select job_id, lease_epoch, attempts, begun from iu_core.fn_job_claim_by_id($1, $2)'

it('16 workers that were told of the same jobs get each of them exactly once', async () => {
  const ids = await Promise.all(Array.from({ length: 40 }, () => queue.enqueue('mail')))
  const claimed = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const worker = await queue.register(['mail'])
      return (await queue.rows<{ job_id: string }>(CLAIM_BY_ID, [worker, ids])).map((job) => job.job_id)
    }),
  )
  expect(claimed.flat().sort()).toEqual([...ids].sort())
})

it('by its id a worker claims what it would get anyhow: nothing later, leased, paused, limited, suspect or another’s', async () => {
  const worker = await queue.register(['mail', 'letters'])
  const claim = (ids: string[]) => queue.rows(CLAIM_BY_ID, [worker, ids])
  const set = (change: string, id: string) =>
    db.owner(`update iu_core.job_queue set ${change} where job_id = $1`, [id])
  const [free, later, suspect, elsewhere] = await Promise.all(
    Array.from({ length: 4 }, () => queue.enqueue('mail')),
  )
  const unknown = await queue.enqueue('parcels')
  await set(`process_after = now() + interval '1 minute'`, later!)
  await set('crashes = 1', suspect!)
  await set(`executor = 'DOT'`, elsewhere!)
  const all = [free!, later!, suspect!, elsewhere!, unknown]
  expect(await claim(all)).toEqual([{ job_id: free, lease_epoch: 1, attempts: 1, begun: true }])
  expect(await claim(all)).toEqual([])

  const letter = await queue.enqueue('letters')
  const kind = (settings: object) =>
    queue.rows(`select iu_core.fn_job_kind_set('letters', $1)`, [JSON.stringify(settings)])
  await kind({ concurrency: 5 })
  expect(await claim([letter])).toEqual([])
  await kind({ concurrency: null })
  await queue.rows(`select iu_core.fn_job_pause('letters')`)
  expect(await claim([letter])).toEqual([])
  await queue.rows(`select iu_core.fn_job_resume('letters')`)
  await db.owner('insert into iu_core.job_isolation (worker_id, job_id, crashes) values ($1, $2, 1)', [
    worker,
    suspect,
  ])
  expect(await claim([letter])).toEqual([])
  await db.owner('delete from iu_core.job_isolation')
  expect(await claim([letter])).toHaveLength(1)
  await queue.expire(worker)
  expect(await sqlstateOf(claim([letter]))).toBe('SD703')
})

it('a completion that came first is not undone by the reaper, which neither waits for it nor forgets its worker', async () => {
  const { worker, lease } = await running()
  const one = await db.session('stagedoor_worker')
  const reap = async () => (await queue.rows<{ n: number }>('select iu_core.fn_job_reap() as n'))[0]!.n
  await one.query('begin')
  expect((await one.query(COMPLETE, [worker, lease.job, lease.epoch])).rows[0].n).toBe(1)
  await queue.expire(worker)
  expect(await reap()).toBe(0)
  expect(await queue.rows('select worker_id from iu_core.job_worker')).toEqual([{ worker_id: worker }])
  await one.query('commit')
  expect(await reap()).toBe(0)
  expect(await queue.rows('select outcome from iu_core.job_history')).toEqual([{ outcome: 'completed' }])
  expect(await queue.rows('select from iu_core.job_queue')).toEqual([])
  expect(await queue.rows('select from iu_core.job_worker')).toEqual([])
})

it('a completion that waited for the reaper changes nothing', async () => {
  const { worker, lease } = await running()
  const [one, two] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  // The worker's check has passed already when its lease runs out: its statement then waits for the row.
  const owner = await db.session()
  await owner.query('begin')
  await owner.query('select from iu_core.job_queue for update')
  const late = two.query(COMPLETE, [worker, lease.job, lease.epoch])
  await untilWaiting(db, two)
  await owner.query(`update iu_core.job_queue set leased_by = null`)
  await owner.query('commit')
  expect((await late).rows[0].n).toBe(0)
  expect(await queue.rows('select from iu_core.job_history')).toEqual([])
  await one.query('select 1')
})

it('a worker whose lease has passed completes, fails, snoozes, releases and claims nothing, also before it is reaped', async () => {
  const { worker, lease } = await running()
  await queue.expire(worker)
  for (const attempt of [
    () => queue.complete(lease),
    () => queue.fail(lease),
    () => queue.snooze(lease),
    () => queue.release(lease),
    () => queue.claim(worker),
    () => queue.rows('select iu_core.fn_job_heartbeat($1)', [worker]),
    () => queue.rows('select iu_core.fn_job_worker_leave($1)', [worker]),
  ]) {
    expect(await sqlstateOf(attempt())).toBe('SD703')
  }
  expect(await queue.rows('select leased_by from iu_core.job_queue')).toEqual([{ leased_by: worker }])
})

it('a stale epoch of the same worker completes nothing', async () => {
  const { worker, lease } = await running()
  expect(await queue.release(lease)).toBe(1)
  const [again] = queue.leasesOf(worker, await queue.claim(worker))
  expect(await queue.complete(lease)).toEqual([])
  expect(await queue.complete(again!)).toEqual([lease.job])
})

it('cancel and claim of one job: whoever is second sees what the first did', async () => {
  const job = await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  await session.query('select iu_core.fn_job_cancel($1)', [job])
  expect(await queue.claim(worker)).toEqual([])
  await session.query('rollback')
  expect(await queue.claim(worker)).toHaveLength(1)
  expect(await queue.cancel(job)).toBe('requested')
})

it('replayed by two at once, a dead letter comes back once', async () => {
  const { lease } = await running()
  expect(await queue.fail(lease, true)).toBe('dead')
  const back = await Promise.all(
    Array.from({ length: 8 }, () => queue.rows('select iu_core.fn_job_replay(p_kind => $1)', ['mail'])),
  )
  expect(back.flat()).toHaveLength(1)
  expect(await queue.rows('select job_id, attempts, replays from iu_core.job_queue')).toEqual([
    { job_id: lease.job, attempts: 0, replays: 1 },
  ])
  expect(await queue.complete(lease)).toEqual([])
})

it('a schedule fires once for each time, whoever asks', async () => {
  const due = new Date(Date.now() - 60_000)
  const next = new Date(due.getTime() + 3_600_000)
  await queue.rows(`select iu_core.fn_job_schedule_set('hourly', '30 * * * *', 'UTC', 'sweep', '{}', $1)`, [
    due,
  ])
  const fired = await Promise.all(
    Array.from({ length: 16 }, () =>
      queue.one<string | null>(`select iu_core.fn_job_schedule_fire('hourly', $1, $2)`, [due, next]),
    ),
  )
  expect(fired.filter(Boolean)).toHaveLength(1)
  // A machine whose clock is ahead does not fire what the database's clock has not reached.
  expect(
    await queue.one(`select iu_core.fn_job_schedule_fire('hourly', $1, $2)`, [
      next,
      new Date(next.getTime() + 3_600_000),
    ]),
  ).toBeNull()
  expect(await queue.rows('select from iu_core.job_queue')).toHaveLength(1)
})

it('a claim locks the limited kinds of its worker in one order, whatever their turn', async () => {
  await queue.one(`select iu_core.fn_job_kind_set('a_limited', '{"concurrency": 5}')::text`)
  await queue.one(`select iu_core.fn_job_kind_set('b_limited', '{"concurrency": 5}')::text`)
  await queue.enqueue('a_limited')
  await queue.enqueue('b_limited', null, 10)
  const worker = await queue.register(['b_limited', 'a_limited'])
  const [holder, claimer] = [await db.session('postgres'), await db.session('stagedoor_worker')]
  const hold = (kind: string) =>
    holder.query(`select from iu_core.job_kind where job_kind = '${kind}' for no key update nowait`)
  await holder.query('begin')
  await hold('a_limited')
  const claimed = claimer.query('select job_kind from iu_core.fn_job_claim($1)', [worker])
  await untilWaiting(db, claimer)
  // It waits for the first with nothing in its hands, though the second one has the higher priority.
  await hold('b_limited')
  await holder.query('commit')
  expect((await claimed).rows).toEqual([{ job_kind: 'b_limited' }, { job_kind: 'a_limited' }])
})

it('8 workers with the same limited kinds never wait for each other in a circle', async () => {
  const kinds = ['limited_a', 'limited_b', 'limited_c']
  for (const kind of kinds) {
    await queue.one('select iu_core.fn_job_kind_set($1, $2)::text', [kind, '{"concurrency": 2}'])
  }
  await queue.rows('select iu_core.fn_job_enqueue_batch($1)', [
    JSON.stringify(Array.from({ length: 150 }, (_, n) => ({ job_kind: kinds[n % 3] }))),
  ])
  let completed = 0
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      const worker = await queue.register(kinds)
      while (completed < 150) {
        // More than a kind lets go at once, so that one claim goes through all of them.
        const jobs = await queue.claim(worker, 50)
        if (jobs.length === 0) continue
        const done = await queue.complete(...queue.leasesOf(worker, jobs))
        completed += done.length
      }
    }),
  )
  expect(completed).toBe(150)
})
