/** What becomes of a job that fails, and of one under which its workers die. */
import { beforeEach, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MUCH_LATER, queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)

beforeEach(async () => {
  await db.owner(
    'truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history, iu_core.job_dead_letter, iu_core.job_worker',
  )
})

const waits = (): Promise<number> =>
  queue.one('select extract(epoch from process_after - clock_timestamp())::float8 from iu_core.job_queue')

it('waits twice as long after each failure, with some chance in it, never longer than the most', async () => {
  await queue.one(
    `select iu_core.fn_job_kind_set('mail', '{"backoff": "10 seconds", "backoff_most": "60 seconds", "max_attempts": 9}')::text`,
  )
  await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  for (const expected of [10, 20, 40, 60, 60]) {
    const [lease] = queue.leasesOf(worker, await queue.claim(worker, 1, MUCH_LATER))
    expect(await queue.fail(lease!)).toBe('retry')
    const seconds = await waits()
    expect(seconds).toBeGreaterThan(expected * 0.74)
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
  expect(await queue.rows(`select iu_core.fn_job_replay(p_died_before => now() - interval '1 day')`)).toEqual(
    [],
  )
  expect(await queue.rows('select iu_core.fn_job_replay(p_died_before => now())')).toHaveLength(2)
  expect(await sqlstateOf(queue.rows('select iu_core.fn_job_replay()'))).toBe('SD001')
  expect(await sqlstateOf(queue.rows('select iu_core.fn_job_replay(array[gen_random_uuid()])'))).toBe('SD701')
})

it('a worker’s death uses no attempt, but a job under which they keep dying is a dead letter', async () => {
  await queue.one(`select iu_core.fn_job_kind_set('bomb', '{"max_crashes": 3}')::text`)
  await queue.enqueue('bomb')
  for (const [attempts, crashes] of [
    [0, 1],
    [0, 2],
  ]) {
    const worker = await queue.register(['bomb'])
    expect(await queue.claim(worker)).toHaveLength(1)
    await queue.expire(worker)
    expect(await queue.reap()).toBe(1)
    expect(await queue.rows('select attempts, crashes from iu_core.job_queue')).toEqual([
      { attempts, crashes },
    ])
  }
  const worker = await queue.register(['bomb'])
  await queue.claim(worker)
  await queue.expire(worker)
  await queue.reap()
  expect(await queue.rows('select crashes, last_error from iu_core.job_dead_letter')).toEqual([
    { crashes: 3, last_error: 'its worker stopped without a word' },
  ])
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

it('refuses to be told two things of one job', async () => {
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
