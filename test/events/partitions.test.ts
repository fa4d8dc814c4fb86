import { beforeEach, expect, it } from 'vitest'
import { mapDatabaseError } from '../../src/kernel/postgres/errors.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const worker = () => db.pool('stagedoor_worker')

const OLD = 'iu_core.event_outbox_y2020m01'
const maintain = async () =>
  (
    await worker().query<{ created: number; dropped: number }>(
      'select * from iu_core.fn_event_partitions_maintain()',
    )
  ).rows[0]!
const partitions = async () =>
  (
    await db.owner<{ name: string }>(
      'select partition::text as name from iu_core.v_event_partition order by from_time',
    )
  ).map((row) => row.name)
const exists = async (name: string) => (await partitions()).includes(name)

const INTO_OLD = `insert into iu_core.event_outbox (id, event_domain, event_type, correlation_id, actor)
  values ($1, 'system', 'gate_changed', gen_random_uuid(), 'ada')`

/** A month long past, with one event in it. */
async function createOld(): Promise<void> {
  await createPartition(OLD, '2020-01-01Z', '2020-02-01Z')
  await db.owner(INTO_OLD, [await floor('2020-01-15Z')])
}
async function createPartition(name: string, from: string, to: string): Promise<void> {
  await db.owner(`create table ${name} (like iu_core.event_outbox including defaults including constraints)`)
  await db.owner(
    `alter table iu_core.event_outbox attach partition ${name}
       for values from ('${await floor(from)}') to ('${await floor(to)}')`,
  )
}
async function readEverything(): Promise<void> {
  await worker().query(`select iu_core.fn_event_reader_register('reader', true)`)
  await worker().query(`select count(*) from iu_core.fn_event_read('reader', 100000)`)
}
const floor = async (at: string) =>
  (await db.owner<{ id: string }>('select iu_core.fn_time_uuid_floor($1) as id', [at]))[0]!.id

beforeEach(async () => {
  await db.owner('delete from iu_core.event_reader')
  await db.owner(`drop table if exists ${OLD}`)
})

it('reach at least 90 days ahead without a gap after migrate', async () => {
  const [row] = await db.owner<{ ahead: boolean; begun: boolean; gaps: string }>(
    `select max(to_time) >= now() + interval '90 days' as ahead, min(from_time) <= now() as begun,
            count(*) filter (where next <> to_time) as gaps
       from (select *, lead(from_time) over (order by from_time) as next from iu_core.v_event_partition) as p`,
  )
  expect(row).toEqual({ ahead: true, begun: true, gaps: '0' })
})

it('are created once: a second round finds nothing to do', async () => {
  const before = await partitions()
  expect(await maintain()).toEqual({ created: 0, dropped: 0 })
  expect(await partitions()).toEqual(before)
})

it('are created again where one is missing, with the indexes and row security of the others', async () => {
  const next = (await partitions())[1]!
  await db.owner(`drop table ${next}`)
  expect(await maintain()).toEqual({ created: 1, dropped: 0 })
  const shape = (name: string) =>
    db.owner(
      `select c.relrowsecurity, c.relowner::regrole::text as owner,
              (select array_agg(d order by d) from (select replace(pg_get_indexdef(indexrelid), c.relname, 'p') as d from pg_index where indrelid = c.oid) i) as indexes
         from pg_class c where c.oid = $1::regclass`,
      [name],
    )
  expect(await shape(next)).toEqual(await shape((await partitions())[0]!))
})

it('reach as far ahead as asked', async () => {
  await worker().query(`select iu_core.fn_event_partitions_maintain('300 days')`)
  const [row] = await db.owner<{ ahead: boolean }>(
    `select max(to_time) >= now() + interval '300 days' as ahead from iu_core.v_event_partition`,
  )
  expect(row).toEqual({ ahead: true })
})

it.each([
  [null, '90 days'],
  ['90 days', null],
  ['-1 day', '90 days'],
  ['90 days', '-1 day'],
])('refuse to be kept %s ahead and %s back', async (ahead, keep) => {
  const asked = worker().query('select iu_core.fn_event_partitions_maintain($1, $2)', [ahead, keep])
  expect(await sqlstateOf(asked)).toBe('SD001')
})

it('stay, however old, while one reader has not read everything in them, and go when it has', async () => {
  await worker().query(
    `select iu_core.fn_event_reader_register('slow', true), iu_core.fn_event_reader_register('fast', true)`,
  )
  await createOld()
  await worker().query(`select * from iu_core.fn_event_read('fast', 100000)`)
  expect(await maintain()).toEqual({ created: 0, dropped: 0 })
  expect(await exists(OLD)).toBe(true)

  // A page of a larger window is not yet everything.
  const { rows } = await worker().query<{ id: string }>(`select id from iu_core.fn_event_read('slow', 1)`)
  expect(rows).toHaveLength(1)
  expect(await maintain()).toEqual({ created: 0, dropped: 0 })

  await worker().query(`select * from iu_core.fn_event_read('slow', 100000)`)
  expect(await maintain()).toEqual({ created: 0, dropped: 1 })
  expect(await exists(OLD)).toBe(false)
})

it('stay while a transaction that wrote into them is open', async () => {
  await createOld()
  await readEverything()
  const writer = await db.session()
  await writer.query('begin')
  await writer.query(INTO_OLD, [await floor('2020-01-20Z')])
  const maintainer = await db.session('stagedoor_worker')
  const maintaining = maintainer.query('select dropped from iu_core.fn_event_partitions_maintain()')
  await untilWaiting(db, maintainer)
  await writer.query('commit')
  expect((await maintaining).rows).toEqual([{ dropped: 0 }])
  expect(await exists(OLD)).toBe(true)
  const late = await worker().query(`select * from iu_core.fn_event_read('reader')`)
  expect(late.rowCount).toBe(1)
})

it('stay while nobody reads at all: nothing in them has been dispatched', async () => {
  await createOld()
  expect(await maintain()).toEqual({ created: 0, dropped: 0 })
  expect(await exists(OLD)).toBe(true)
})

it('go one in each round, the oldest first', async () => {
  const older = 'iu_core.event_outbox_y2019m12'
  await createOld()
  await createPartition(older, '2019-12-01Z', '2020-01-01Z')
  await readEverything()
  expect(await maintain()).toEqual({ created: 0, dropped: 1 })
  expect([await exists(older), await exists(OLD)]).toEqual([false, true])
  expect(await maintain()).toEqual({ created: 0, dropped: 1 })
  expect(await exists(OLD)).toBe(false)
})

it('are let go of at once when something unread came in while the drop waited', async () => {
  await createOld()
  await readEverything()
  const writer = await db.session()
  await writer.query('begin')
  await writer.query(INTO_OLD, [await floor('2020-01-20Z')])
  const maintainer = await db.session('stagedoor_worker')
  await maintainer.query('begin')
  const maintaining = maintainer.query('select dropped from iu_core.fn_event_partitions_maintain()')
  await untilWaiting(db, maintainer)
  await writer.query('commit')
  expect((await maintaining).rows).toEqual([{ dropped: 0 }])
  // The maintainer's transaction is still open, and writers go on.
  await db.owner(
    `set lock_timeout = '1s'; select iu_core.fn_event_emit('system', 'gate_changed'); reset lock_timeout`,
  )
  await maintainer.query('commit')
})

it('are asked by index whether they were read, not row by row', async () => {
  await createOld()
  await db.owner(
    `insert into iu_core.event_outbox (id, event_domain, event_type, correlation_id, actor)
     select iu_core.fn_time_uuid_floor(timestamptz '2020-01-15Z' + n * interval '1 second'),
            'system', 'gate_changed', gen_random_uuid(), 'ada' from generate_series(1, 20000) as n`,
  )
  await readEverything()
  // So that it stays, and what was read of it can be counted.
  await db.owner(INTO_OLD, [await floor('2020-01-20Z')])
  await db.owner(`analyze ${OLD}`)
  const session = await db.session()
  await session.query('begin')
  expect((await session.query('select dropped from iu_core.fn_event_partitions_maintain()')).rows).toEqual([
    { dropped: 0 },
  ])
  const { rows } = await session.query(
    `select seq_scan, idx_scan > 0 as asked from pg_stat_xact_user_tables where relid = $1::regclass`,
    [OLD],
  )
  await session.query('rollback')
  expect(rows).toEqual([{ seq_scan: '0', asked: true }])
})

it('and their parent are not truncated, not even by the owner', async () => {
  await createOld()
  await maintain()
  for (const table of ['iu_core.event_outbox', ...(await partitions())]) {
    expect([table, await sqlstateOf(db.owner(`truncate ${table}`))]).toEqual([table, 'SD002'])
  }
})

it('are counted ahead without what lies behind a gap, by readiness and by doctor alike', async () => {
  const [first, second, ...others] = await partitions()
  const session = await db.session('postgres')
  const ask = async () =>
    (
      await session.query(
        `select iu_core.fn_event_partition_days_left() as doctor, (iu_core.fn_health()).partition_days_left as readiness`,
      )
    ).rows[0]
  await session.query('begin')
  const { doctor: whole } = await ask()
  expect(whole).toBeGreaterThanOrEqual(90)
  await session.query(`alter table iu_core.event_outbox detach partition ${second}`)
  const broken = await ask()
  expect(broken.doctor).toBeLessThan(32)
  expect(broken.readiness).toBe(broken.doctor)
  for (const name of [first, ...others])
    await session.query(`alter table iu_core.event_outbox detach partition ${name}`)
  expect(await ask()).toEqual({ doctor: null, readiness: null })
  await session.query('rollback')
})

it('of today are never dropped, even when nothing is to be kept', async () => {
  const before = await partitions()
  await worker().query(`select iu_core.fn_event_partitions_maintain('90 days', '0')`)
  expect(await partitions()).toEqual(before)
})

it('are maintained by two at once without harm', async () => {
  const next = (await partitions())[1]!
  await db.owner(`drop table ${next}`)
  await createOld()
  await readEverything()
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  const done = await first.query('select created, dropped from iu_core.fn_event_partitions_maintain()')
  const waiting = second.query('select created, dropped from iu_core.fn_event_partitions_maintain()')
  await untilWaiting(db, second)
  await first.query('commit')
  expect(done.rows).toEqual([{ created: 1, dropped: 1 }])
  expect((await waiting).rows).toEqual([{ created: 0, dropped: 0 }])
})

it('missing for today make a clear error of an event', async () => {
  const session = await db.session('postgres')
  await session.query('begin')
  for (const name of await partitions())
    await session.query(`alter table iu_core.event_outbox detach partition ${name}`)
  const refused = await session
    .query(`select iu_core.fn_event_emit('system', 'gate_changed')`)
    .catch((error: unknown) => error)
  await session.query('rollback')
  expect(mapDatabaseError(refused)).toMatchObject({ code: 'event_partition_missing' })
})
