/** The history is dropped by month, keys go after it, and never while their job is there. */
import { expect, it } from 'vitest'
import { mapDatabaseError } from '../../src/kernel/postgres/errors.ts'
import { useDatabase } from '../support/database.ts'
import { queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)

const partitions = (): Promise<{ name: string }[]> =>
  db.owner(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'iu_core.job_history'::regclass order by 1`,
  )

it('has partitions for at least 90 days ahead from the first migrate on', async () => {
  expect((await partitions()).length).toBeGreaterThanOrEqual(4)
  expect(await queue.rows('select created, dropped, keys from iu_core.fn_job_history_maintain()')).toEqual([
    { created: 0, dropped: 0, keys: 0 },
  ])
})

it('drops a month that is wholly past its retention, one in each call', async () => {
  for (const [name, from, to] of [
    ['y2020m01', '2020-01-01Z', '2020-02-01Z'],
    ['y2020m02', '2020-02-01Z', '2020-03-01Z'],
  ]) {
    await db.owner(
      `create table iu_core.job_history_${name} partition of iu_core.job_history for values from ('${from}') to ('${to}')`,
    )
  }
  expect(await queue.one('select dropped from iu_core.fn_job_history_maintain()')).toBe(1)
  expect((await partitions()).map((row) => row.name)).not.toContain('iu_core.job_history_y2020m01')
  expect((await partitions()).map((row) => row.name)).toContain('iu_core.job_history_y2020m02')
  expect(await queue.one('select dropped from iu_core.fn_job_history_maintain()')).toBe(1)
})

it('forgets a key after its retention, but not that of a job that waits or is dead', async () => {
  const old = async (key: string): Promise<string> => {
    const id = await queue.one<string>(
      `select overlay(iu_core.fn_time_uuid()::text placing '00000000-0000' from 1 for 13)`,
    )
    await db.owner('insert into iu_core.job_key values ($1, $2, $3)', ['mail', key, id])
    return id
  }
  await queue.one(`select iu_core.fn_job_kind_set('mail', '{}')::text`)
  await old('ended')
  const waiting = await old('waiting')
  await db.owner(`insert into iu_core.job_queue (job_id, job_kind, actor) values ($1, 'mail', 'x')`, [
    waiting,
  ])
  await queue.enqueue('mail', 'young')
  expect(await queue.one('select keys from iu_core.fn_job_history_maintain()')).toBe(1)
  expect(await queue.rows('select idempotency_key as key from iu_core.job_key order by 1')).toEqual([
    { key: 'waiting' },
    { key: 'young' },
  ])
})

it('is named in health and by doctor where no job could end today, and the error says what to do', async () => {
  await db.owner(`begin; drop table iu_core.job_history_${await thisMonth()}; commit`)
  expect(await queue.one('select history_days_left from iu_core.fn_health()')).toBeNull()
  await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  const completed = queue.complete(...queue.leasesOf(worker, await queue.claim(worker, 1)))
  expect(mapDatabaseError(await completed.catch((error) => error))).toMatchObject({
    code: 'job_partition_missing',
  })
  expect(await queue.one('select created from iu_core.fn_job_history_maintain()')).toBe(1)
  expect(await queue.one('select history_days_left >= 90 from iu_core.fn_health()')).toBe(true)
})

const thisMonth = (): Promise<string> => queue.one(`select to_char(now() at time zone 'UTC', '"y"YYYY"m"MM')`)

it('keeps the key of a job that was enqueued long ago and ended a moment ago', async () => {
  const id = await queue.one<string>(
    `select overlay(iu_core.fn_time_uuid()::text placing '00000000-0000' from 1 for 13)`,
  )
  await db.owner(`insert into iu_core.job_key values ('mail', 'long', $1)`, [id])
  await db.owner(
    `insert into iu_core.job_queue (job_id, job_kind, idempotency_key, actor) values ($1, 'mail', 'long', 'x')`,
    [id],
  )
  const worker = await queue.register(['mail'])
  const claimed = (await queue.claim(worker)).filter((job) => job.job_id === id)
  await queue.complete(...queue.leasesOf(worker, claimed))
  await queue.rows('select iu_core.fn_job_history_maintain()')
  expect(await queue.enqueue('mail', 'long')).toBe(id)
})
