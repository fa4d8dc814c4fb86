/** Jobs that move between gateways, and crashes of single remote workers: whoever comes first, nothing is lost and nothing counts twice. */
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'
import { MUCH_LATER, queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)

beforeEach(async () => {
  await db.owner(
    `truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history, iu_core.job_dead_letter, iu_core.job_worker, iu_core.job_running,
              iu_core.job_isolation, iu_core.job_cancellation`,
  )
})

const ADOPT = 'select job_id from iu_core.fn_job_adopt($1, $2, array[$3::uuid], array[$4::int])'
const CRASH = `select outcome from iu_core.fn_job_crash($1, array[$2::uuid], array[$3::int], 'its worker is silent')`

interface Held {
  readonly from: string
  readonly to: string
  readonly job: string
  readonly epoch: number
}

async function held(kind = 'mail'): Promise<Held> {
  await queue.enqueue(kind)
  const [from, to] = [await queue.register([kind]), await queue.register([kind])]
  const [job] = await queue.claim(from)
  return { from, to, job: job!.job_id, epoch: job!.lease_epoch }
}

const adopt = ({ from, to, job, epoch }: Held) => queue.rows(ADOPT, [from, to, job, epoch])
const leasedBy = async (): Promise<unknown> =>
  (await queue.rows<{ leased_by: string | null }>('select leased_by from iu_core.job_queue'))[0]?.leased_by

describe('a job that another gateway adopts', () => {
  it('keeps its epoch and its attempt, and only the new gateway completes it', async () => {
    const one = await held()
    expect(await adopt(one)).toEqual([{ job_id: one.job }])
    expect(await queue.rows('select leased_by, lease_epoch, attempts, begun from iu_core.job_queue')).toEqual(
      [{ leased_by: one.to, lease_epoch: one.epoch, attempts: 1, begun: true }],
    )
    expect(await queue.complete({ worker: one.from, job: one.job, epoch: one.epoch })).toEqual([])
    expect(await queue.complete({ worker: one.to, job: one.job, epoch: one.epoch })).toEqual([one.job])
  })

  it('is adopted again where the answer was lost, and by nobody else', async () => {
    const one = await held()
    const third = await queue.register(['mail'])
    await adopt(one)
    expect(await adopt(one)).toEqual([{ job_id: one.job }])
    expect(await adopt({ ...one, to: third })).toEqual([])
  })

  it('is not adopted under another epoch, by a gateway without its kind, or for another executor', async () => {
    const one = await held()
    expect(await adopt({ ...one, epoch: one.epoch + 1 })).toEqual([])
    expect(await adopt({ ...one, to: await queue.register(['other']) })).toEqual([])
    expect(await adopt({ ...one, to: await queue.register(['mail'], 'Codex') })).toEqual([])
    expect(await leasedBy()).toBe(one.from)
  })

  it('is not adopted by a gateway whose lease has passed', async () => {
    const one = await held()
    await queue.expire(one.to)
    expect(await sqlstateOf(adopt(one))).toBe('SD703')
  })

  it('takes its slot, its cancellation and its isolation along', async () => {
    await queue.one(`select iu_core.fn_job_kind_set('ledger', '{"serial_by": "target_ref"}')::text`)
    await queue.rows('select iu_core.fn_job_enqueue_batch($1)', [
      JSON.stringify([
        { job_kind: 'ledger', target_ref: 'a' },
        { job_kind: 'ledger', target_ref: 'a' },
      ]),
    ])
    const [from, to] = [await queue.register(['ledger']), await queue.register(['ledger'])]
    const [job] = await queue.claim(from)
    await queue.cancel(job!.job_id)
    await adopt({ from, to, job: job!.job_id, epoch: job!.lease_epoch })
    await queue.expire(from)
    await queue.reap()
    // The key is still taken: the second waits.
    expect(await queue.claim(to)).toEqual([])
    expect(await queue.rows('select cancelled from iu_core.fn_job_heartbeat($1)', [to])).toEqual([
      { cancelled: [job!.job_id] },
    ])
    await queue.fail({ worker: to, job: job!.job_id, epoch: job!.lease_epoch })
    expect(await queue.rows('select outcome from iu_core.job_history')).toEqual([{ outcome: 'cancelled' }])
    expect(await queue.claim(to)).toHaveLength(1)
  })

  it('isolates a suspect at its new gateway, unless that isolates another', async () => {
    const ids = [await queue.enqueue('mail'), await queue.enqueue('mail')]
    await db.owner('update iu_core.job_queue set crashes = 1')
    const [from, to] = [await queue.register(['mail']), await queue.register(['mail'])]
    const [first] = await queue.claim(from)
    await adopt({ from, to, job: first!.job_id, epoch: first!.lease_epoch })
    const isolated = () => queue.rows('select worker_id, job_id from iu_core.job_isolation')
    expect(await isolated()).toEqual([{ worker_id: to, job_id: first!.job_id }])
    const [second] = await queue.claim(from)
    expect([first!.job_id, second!.job_id].sort()).toEqual(ids.sort())
    await adopt({ from, to, job: second!.job_id, epoch: second!.lease_epoch })
    expect(await isolated()).toEqual([{ worker_id: to, job_id: first!.job_id }])
  })
})

describe('two sessions at one job', () => {
  it('the reaper leaves alone what is being adopted', async () => {
    const one = await held()
    const session = await db.session('stagedoor_worker')
    await queue.expire(one.from)
    await session.query('begin')
    await session.query(ADOPT, [one.from, one.to, one.job, one.epoch])
    expect(await queue.reap()).toBe(0)
    await session.query('commit')
    expect(await queue.reap()).toBe(0)
    expect(await leasedBy()).toBe(one.to)
    expect(await queue.rows('select worker_id from iu_core.job_worker')).toEqual([{ worker_id: one.to }])
  })

  it('what the reaper has taken is adopted by nobody', async () => {
    const one = await held()
    const session = await db.session('stagedoor_worker')
    const other = await db.session('stagedoor_worker')
    await queue.expire(one.from)
    await session.query('begin')
    await session.query('select iu_core.fn_job_reap()')
    const late = other.query(ADOPT, [one.from, one.to, one.job, one.epoch])
    await untilWaiting(db, other)
    await session.query('commit')
    expect((await late).rows).toEqual([])
    expect(await leasedBy()).toBeNull()
  })

  it('of two gateways that adopt at once one gets the job', async () => {
    const one = await held()
    const third = await queue.register(['mail'])
    const session = await db.session('stagedoor_worker')
    const other = await db.session('stagedoor_worker')
    await session.query('begin')
    expect((await session.query(ADOPT, [one.from, one.to, one.job, one.epoch])).rows).toHaveLength(1)
    const late = other.query(ADOPT, [one.from, third, one.job, one.epoch])
    await untilWaiting(db, other)
    await session.query('commit')
    expect((await late).rows).toEqual([])
    expect(await leasedBy()).toBe(one.to)
  })

  it('a completion that came first is not adopted, and one that waited counts for nothing', async () => {
    const one = await held()
    const session = await db.session('stagedoor_worker')
    const other = await db.session('stagedoor_worker')
    await session.query('begin')
    await session.query(ADOPT, [one.from, one.to, one.job, one.epoch])
    const late = other.query('select from iu_core.fn_job_complete($1, array[$2::uuid], array[$3::int])', [
      one.from,
      one.job,
      one.epoch,
    ])
    await untilWaiting(db, other)
    await session.query('commit')
    expect((await late).rows).toEqual([])
    await queue.complete({ worker: one.to, job: one.job, epoch: one.epoch })
    expect(await adopt(one)).toEqual([])
    expect(await queue.rows('select outcome from iu_core.job_history')).toEqual([{ outcome: 'completed' }])
  })
})

describe('a crash of one remote worker', () => {
  it('is charged to a job that had begun, as the reaper charges it', async () => {
    const one = await held()
    expect(await queue.rows(CRASH, [one.from, one.job, one.epoch])).toEqual([{ outcome: 'retry' }])
    const [crashed] = await queue.rows<object>(
      'select attempts, crashes, leased_by, last_error from iu_core.job_queue',
    )
    expect(crashed).toEqual({ attempts: 0, crashes: 1, leased_by: null, last_error: 'its worker is silent' })
    await queue.claim(one.to, 1, MUCH_LATER)
    await db.owner('truncate iu_core.job_isolation')
    await queue.expire(one.to)
    await queue.reap()
    expect(await queue.rows('select attempts, crashes from iu_core.job_queue')).toEqual([
      { attempts: 0, crashes: 2 },
    ])
  })

  it('gives back a job that had not begun', async () => {
    await queue.enqueue('mail')
    const worker = await queue.register(['mail'])
    const [job] = await queue.rows<{ job_id: string; lease_epoch: number }>(
      'select * from iu_core.fn_job_claim($1, 10, p_begin => 0)',
      [worker],
    )
    expect(await queue.rows(CRASH, [worker, job!.job_id, job!.lease_epoch])).toEqual([])
    expect(await queue.rows('select attempts, crashes, leased_by from iu_core.job_queue')).toEqual([
      { attempts: 0, crashes: 0, leased_by: null },
    ])
  })

  it('makes a dead letter after the last crash, and counts once', async () => {
    await queue.one(`select iu_core.fn_job_kind_set('mail', '{"max_crashes": 1}')::text`)
    const one = await held()
    expect(await queue.rows(CRASH, [one.from, one.job, one.epoch])).toEqual([{ outcome: 'dead' }])
    expect(await queue.rows(CRASH, [one.from, one.job, one.epoch])).toEqual([])
    await queue.one(`select iu_core.fn_job_kind_set('mail', '{"max_crashes": 20}')::text`)
  })
})

it('a worker for suspects claims them one by one and nothing else', async () => {
  await queue.enqueue('mail')
  const suspect = await queue.enqueue('mail')
  await db.owner(`update iu_core.job_queue set crashes = 1 where job_id = $1`, [suspect])
  const worker = await queue.register(['mail'])
  const claim = () =>
    queue.rows<{ job_id: string }>('select job_id from iu_core.fn_job_claim_suspects($1)', [worker])
  const dueIn = () => queue.one(`select iu_core.fn_job_suspect_due_in(array['mail'], 'PG_worker')`)
  expect(await dueIn()).toBe(0)
  expect(await claim()).toEqual([{ job_id: suspect }])
  expect(await claim()).toEqual([])
  expect(await dueIn()).toBeNull()
})

it('lists remote workers to whoever operates a workspace, and forgets those of a gateway that left', async () => {
  const workspace = await createWorkspace(db)
  const operator = await createMember(db, workspace, 'operator')
  const viewer = await createMember(db, workspace, 'viewer')
  const gateway = '00000000-0000-4000-8000-000000000001'
  const row = {
    name: 'w',
    host: 'h',
    pid: 7,
    version: '1',
    pool: 'p',
    concurrency: 2,
    held: 1,
    attached_at: new Date(),
  }
  const write = (sessions: string[]) =>
    queue.rows('select iu_core.fn_remote_workers_write($1, $2)', [
      gateway,
      JSON.stringify(sessions.map((session) => ({ ...row, session }))),
    ])
  const listed = async () =>
    (await db.as(operator, (client) => client.query('select session, held from iu_core.fn_remote_workers()')))
      .rows
  await write(['one', 'two'])
  expect(await listed()).toEqual([
    { session: 'one', held: 1 },
    { session: 'two', held: 1 },
  ])
  await write(['two'])
  expect(await listed()).toEqual([{ session: 'two', held: 1 }])
  await write([])
  expect(await listed()).toEqual([])
  const asViewer = db.as(viewer, (client) => client.query('select iu_core.fn_remote_workers()'))
  expect(await sqlstateOf(asViewer)).toBe('SD202')
})

/** Any order of claims, adoptions, crashes, ends and reaps over three gateways: each job ends at most once, and none is lost. */
it('whatever happens in whatever order, each job ends once', { tags: 'property' }, async () => {
  const step = fc.record({
    what: fc.constantFrom('claim', 'adopt', 'complete', 'crash', 'release', 'reap'),
    worker: fc.nat(2),
    other: fc.nat(2),
    old: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await db.owner(
        'truncate iu_core.job_queue, iu_core.job_history, iu_core.job_dead_letter, iu_core.job_worker, iu_core.job_isolation',
      )
      const jobs = [await queue.enqueue('mail'), await queue.enqueue('mail')]
      const workers = await Promise.all([0, 1, 2].map(() => queue.register(['mail'])))
      const seen: { job_id: string; lease_epoch: number }[] = []
      const completions: string[] = []
      for (const { what, worker, other, old } of steps) {
        const mine = workers[worker]!
        const ref = old ? seen[0] : seen.at(-1)
        if (what === 'claim') seen.push(...(await queue.claim(mine, 1, MUCH_LATER)))
        else if (what === 'reap') {
          await queue.expire(mine)
          await queue.reap()
          workers[worker] = await queue.register(['mail'])
        } else if (ref === undefined) continue
        else if (what === 'adopt')
          await adopt({ from: workers[other]!, to: mine, job: ref.job_id, epoch: ref.lease_epoch })
        else if (what === 'crash') await queue.rows(CRASH, [mine, ref.job_id, ref.lease_epoch])
        else if (what === 'release')
          await queue.release({ worker: mine, job: ref.job_id, epoch: ref.lease_epoch })
        else
          completions.push(
            ...(await queue.complete({ worker: mine, job: ref.job_id, epoch: ref.lease_epoch })),
          )
      }
      expect(new Set(completions).size).toBe(completions.length)
      const left = await queue.rows<{ job_id: string; leased_by: string | null }>(
        'select job_id, leased_by from iu_core.job_queue',
      )
      expect([...left.map(({ job_id }) => job_id), ...completions].sort()).toEqual([...jobs].sort())
      // A leased job belongs to a worker that exists.
      for (const { leased_by } of left) if (leased_by !== null) expect(workers).toContain(leased_by)
    }),
    { numRuns: cases(20, 300) },
  )
})
