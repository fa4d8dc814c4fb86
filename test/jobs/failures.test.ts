/** What becomes of a job that fails, and of one under which its workers die. */
import { beforeEach, describe, expect, it } from 'vitest'
import { requireJob } from '../../src/jobs/queue.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type JobRow, MUCH_LATER, queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)

beforeEach(async () => {
  await db.owner(
    'truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history, iu_core.job_dead_letter, iu_core.job_worker, iu_core.job_isolation',
  )
})

const waits = (): Promise<number> =>
  queue.one('select extract(epoch from process_after - clock_timestamp())::float8 from iu_core.job_queue')

it('waits twice as long after each failure, with some chance in it, never longer than the most', async () => {
  await queue.one(
    `select iu_core.fn_job_kind_set('mail', '{"backoff": "10 seconds", "max_backoff": "60 seconds", "max_attempts": 9}')::text`,
  )
  await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  for (const expected of [10, 20, 40, 60, 60]) {
    const [lease] = queue.leasesOf(worker, await queue.claim(worker, 1, MUCH_LATER))
    const began = performance.now()
    expect(await queue.fail(lease!)).toBe('retry')
    const seconds = await waits()
    // What has passed since the failure is no longer waited for.
    const passed = (performance.now() - began) / 1000
    expect(seconds + passed).toBeGreaterThan(expected * 0.74)
    expect(seconds).toBeLessThan(expected * 1.26)
  }
})

it('is a dead letter after the last attempt, with its error, and keeps its key and id when it is replayed', async () => {
  await queue.one(`select iu_core.fn_job_kind_set('mail', '{"max_attempts": 2}')::text`)
  const id = await queue.enqueue('mail', 'week-46')
  const worker = await queue.register(['mail'])
  for (const outcome of ['retry', 'dead']) {
    const [lease] = queue.leasesOf(worker, await queue.claim(worker, 1, MUCH_LATER))
    expect(await queue.fail(lease!)).toBe(outcome)
  }
  expect(await queue.rows('select job_id, attempts, last_error from iu_core.job_dead_letter')).toEqual([
    { job_id: id, attempts: 2, last_error: 'it broke' },
  ])
  expect(await queue.enqueue('mail', 'week-46')).toBe(id)
  expect(await queue.rows('select from iu_core.job_queue')).toEqual([])
  await queue.replay(id)
  const again = await queue.claim(worker)
  expect(again).toMatchObject([{ job_id: id, attempts: 1 }])
  await queue.complete(...queue.leasesOf(worker, again))
  expect(await sqlstateOf(queue.replay(id))).toBe('SD702')
})

it('replays by kind and by time, up to a limit, and says when there is no such job', async () => {
  const worker = await queue.register(['mail', 'sms'])
  for (const kind of ['mail', 'mail', 'mail', 'sms']) await queue.enqueue(kind)
  for (const lease of queue.leasesOf(worker, await queue.claim(worker))) await queue.fail(lease, true)
  expect(await queue.rows(`select iu_core.fn_job_replay(p_kind => 'mail', p_limit => 2)`)).toHaveLength(2)
  expect(
    await queue.rows(`select iu_core.fn_job_replay(p_failed_before => now() - interval '1 day')`),
  ).toEqual([])
  expect(await queue.rows('select iu_core.fn_job_replay(p_failed_before => now())')).toHaveLength(2)
  expect(await sqlstateOf(queue.rows('select iu_core.fn_job_replay()'))).toBe('SD001')
  expect(await sqlstateOf(queue.rows('select iu_core.fn_job_replay(array[gen_random_uuid()])'))).toBe('SD701')
})

it('a worker’s death uses no attempt, but a job under which they keep dying is a dead letter, each time tried later', async () => {
  await queue.one(`select iu_core.fn_job_kind_set('bomb', '{"max_crashes": 3, "backoff": "1 minute"}')::text`)
  await queue.enqueue('bomb')
  for (const crashes of [1, 2]) {
    const worker = await queue.register(['bomb'])
    expect(await queue.claim(worker, 100, MUCH_LATER)).toHaveLength(1)
    await queue.expire(worker)
    expect(await queue.reap()).toBe(1)
    const waits = `extract(epoch from process_after - now())::integer`
    const [row] = await queue.rows<{ attempts: number; crashes: number; waits: number }>(
      `select attempts, crashes, ${waits} as waits from iu_core.job_queue`,
    )
    expect(row).toMatchObject({ attempts: 0, crashes })
    expect(row!.waits).toBeGreaterThan(40 * crashes)
    expect(row!.waits).toBeLessThan(80 * crashes)
  }
  const worker = await queue.register(['bomb'])
  await queue.claim(worker, 100, MUCH_LATER)
  await queue.expire(worker)
  await queue.reap()
  expect(await queue.rows('select crashes, last_error from iu_core.job_dead_letter')).toEqual([
    { crashes: 3, last_error: 'its worker stopped without notice' },
  ])
})

it('keeps what each failed attempt said, also crashes and across a replay: the last twenty, in all three tables', async () => {
  await queue.one(`select iu_core.fn_job_kind_set('mail', '{"max_attempts": 3, "max_crashes": 9}')::text`)
  const id = await queue.enqueue('mail')
  const untouched = await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  const fail = async (error: string, fatal = false) => {
    const [lease] = queue
      .leasesOf(worker, await queue.claim(worker, 9, MUCH_LATER))
      .filter(({ job }) => job === id)
    await queue.rows(
      'select iu_core.fn_job_fail($1, array[$2::uuid], array[$3::integer], array[$4], array[$5::boolean])',
      [worker, id, lease!.epoch, error, fatal],
    )
  }
  const kept = async () => (await requireJob(db.pool('stagedoor_worker'), id)).attempt_errors

  await fail('no address')
  await fail('x'.repeat(3000))
  expect(await kept()).toMatchObject([
    { attempt: 1, replay: 0, crashed: false, error: 'no address', worker_id: worker },
    { attempt: 2, replay: 0, error: 'x'.repeat(2000) },
  ])
  await fail('gone', true)
  expect((await kept()).map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  await queue.replay(id)
  const dying = await queue.register(['mail'])
  await queue.claim(dying, 9, MUCH_LATER)
  await queue.expire(dying)
  await queue.reap()
  expect((await kept()).at(-1)).toMatchObject({
    replay: 1,
    crashed: true,
    error: expect.stringMatching(/worker/),
  })

  // Bounded: of more than twenty the oldest go.
  await queue.one(`select iu_core.fn_job_kind_set('mail', '{"max_attempts": 100}')::text`)
  for (let n = 0; n < 18; n++) await fail(`again ${n}`)
  expect((await kept()).map(({ error }) => error.slice(0, 8))).toEqual([
    'gone',
    'its work',
    ...Array.from({ length: 18 }, (_, n) => `again ${n}`),
  ])
  const [lease] = queue
    .leasesOf(worker, await queue.claim(worker, 9, MUCH_LATER))
    .filter(({ job }) => job === id)
  await queue.complete(lease!)
  expect(await kept()).toHaveLength(20)
  // A job that never failed has nothing, not even an empty list.
  expect(
    await queue.rows('select attempt_errors from iu_core.job_queue where job_id = $1', [untouched]),
  ).toEqual([{ attempt_errors: null }])
})

describe('the death of a worker', () => {
  const charged = () =>
    queue.rows<{ crashes: number; attempts: number }>(
      `select crashes, attempts from iu_core.job_queue where job_kind = 'mixed' order by enqueued_at`,
    )

  it('is charged to what had begun, and to nothing that was only claimed ahead', async () => {
    for (let n = 0; n < 5; n++) await queue.enqueue('mixed')
    const worker = await queue.register(['mixed'])
    const claimed = await queue.rows<JobRow & { begun: boolean }>(
      'select * from iu_core.fn_job_claim($1, 10, null, null, 2)',
      [worker],
    )
    expect(claimed.map(({ begun }) => begun)).toEqual([true, true, false, false, false])
    const [third] = queue.leasesOf(worker, claimed.slice(2))
    const begin = (epoch: number) =>
      queue.rows('select iu_core.fn_job_begin($1, array[$2::uuid], array[$3::integer])', [
        worker,
        third!.job,
        epoch,
      ])
    expect(await begin(third!.epoch + 1)).toEqual([])
    expect(await begin(third!.epoch)).toHaveLength(1)
    await queue.expire(worker)
    expect(await queue.reap()).toBe(5)
    expect(await charged()).toEqual([1, 1, 1, 0, 0].map((crashes) => ({ crashes, attempts: 0 })))
  })

  it('leaves suspects, each of which is claimed alone, by a worker without other jobs', async () => {
    for (let n = 0; n < 4; n++) await queue.enqueue('mixed')
    const dead = await queue.register(['mixed'])
    await queue.rows('select * from iu_core.fn_job_claim($1, 10, null, null, 2)', [dead])
    await queue.expire(dead)
    await queue.reap()
    const worker = await queue.register(['mixed'])
    const held = (n: number) =>
      queue.rows<JobRow & { crashes: number }>(
        'select * from iu_core.fn_job_claim($1, 10, null, $2, null, $3)',
        [worker, MUCH_LATER, n],
      )
    const alone = await held(0)
    expect(alone).toMatchObject([{ crashes: 1 }])
    // While it is in hand there is nothing else for this worker, but the others are there for the next.
    expect(await held(0)).toEqual([])
    expect(await held(1)).toEqual([])
    const other = await queue.register(['mixed'])
    expect(await queue.claim(other, 10, MUCH_LATER)).toMatchObject([{ crashes: 1 }])
    await queue.complete(...queue.leasesOf(worker, alone))
    expect(await held(1)).toMatchObject([{ crashes: 0 }, { crashes: 0 }])
  })

  it('that it names itself is charged under its error, and what had not begun is as it was', async () => {
    for (let n = 0; n < 3; n++) await queue.enqueue('named')
    const worker = await queue.register(['named'])
    await queue.rows('select * from iu_core.fn_job_claim($1, 10, null, null, 1)', [worker])
    expect(
      await queue.one('select iu_core.fn_job_worker_leave($1, $2)', [worker, 'a stray rejection: boom']),
    ).toBe(3)
    expect(
      await queue.rows(
        `select crashes, last_error from iu_core.job_queue where job_kind = 'named' order by crashes desc`,
      ),
    ).toEqual([
      { crashes: 1, last_error: 'a stray rejection: boom' },
      { crashes: 0, last_error: null },
      { crashes: 0, last_error: null },
    ])
  })
})

it('keeps a result that is references only, and refuses another', async () => {
  await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  const [lease] = queue.leasesOf(worker, await queue.claim(worker))
  const complete = (result: string): Promise<unknown> =>
    queue.rows('select iu_core.fn_job_complete($1, array[$2::uuid], array[$3::int], array[$4::jsonb])', [
      worker,
      lease!.job,
      lease!.epoch,
      result,
    ])
  expect(await sqlstateOf(complete('{"password": "x"}'))).toBe('SD705')
  await complete('{"message_id": "42"}')
  expect(await queue.rows('select outcome, result, worker_id from iu_core.job_history')).toEqual([
    { outcome: 'completed', result: { message_id: '42' }, worker_id: worker },
  ])
})

it('cuts a long error and takes an empty one', async () => {
  await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  const [lease] = queue.leasesOf(worker, await queue.claim(worker))
  await queue.rows(
    `select iu_core.fn_job_fail($1, array[$2::uuid], array[$3::int], array[repeat('x', 5000)])`,
    [worker, lease!.job, lease!.epoch],
  )
  expect(await queue.one('select length(last_error) from iu_core.job_queue')).toBe(2000)
})

it('refuses two outcomes for one job', async () => {
  const id = await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  await queue.claim(worker)
  const twice = [worker, [id, id], [1, 1]]
  for (const call of ['fn_job_complete($1, $2, $3)', 'fn_job_release($1, $2, $3)']) {
    expect(await sqlstateOf(queue.rows(`select iu_core.${call}`, twice))).toBe('SD001')
  }
  const fail = queue.rows('select iu_core.fn_job_fail($1, $2, $3, $4)', [...twice, ['a', 'b']])
  expect(await sqlstateOf(fail)).toBe('SD001')
  expect(await queue.one('select attempts from iu_core.job_queue where job_id = $1', [id])).toBe(1)
})
