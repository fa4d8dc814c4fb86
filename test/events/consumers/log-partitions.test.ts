import { beforeEach, expect, it } from 'vitest'
import { deleteConsumer } from '../../../src/events/consumers.ts'
import { useDatabase } from '../../support/database.ts'
import { MIGRATOR } from '../../support/template.ts'
import { active, drain, openSwitch } from './registered.ts'

const db = useDatabase()
const OLD = 'iu_core.event_outbox_y2020m01'
const OLD_LOG = 'iu_core.event_dispatch_log_y2020m01'

const maintain = async () =>
  (await db.pool('stagedoor_worker').query('select dropped from iu_core.fn_event_partitions_maintain()'))
    .rows[0].dropped
const exists = async (name: string) =>
  (await db.owner<{ there: boolean }>('select to_regclass($1) is not null as there', [name]))[0]!.there

/** A month long past, with one event that the dispatcher has passed on. */
beforeEach(async () => {
  await openSwitch(db)
  await db.owner(`drop table if exists ${OLD}, ${OLD_LOG}`)
  await db.owner(
    `create table ${OLD} (like iu_core.event_outbox including defaults including constraints);
     do $$ begin execute format('alter table iu_core.event_outbox attach partition ${OLD} for values from (%L) to (%L)',
       iu_core.fn_time_uuid_floor('2020-01-01Z'), iu_core.fn_time_uuid_floor('2020-02-01Z')); end $$`,
  )
  await active(db, 'old_times')
  await db.owner(
    `insert into iu_core.event_outbox (id, event_domain, event_type, correlation_id, actor)
     values (iu_core.fn_time_uuid_floor(timestamptz '2020-01-15Z' + random() * interval '9 days'), 'dot', 'run.applied', gen_random_uuid(), 'ada')`,
  )
})

it('has a partition with row security for each one of the outbox, with the same bounds', async () => {
  await maintain()
  const differing = await db.owner(
    `select o.partition from iu_core.v_event_partition o
       join pg_class oc on oc.oid = o.partition
       left join pg_class lc on lc.oid = to_regclass(replace(o.partition::text, 'event_outbox', 'event_dispatch_log'))
      where lc.oid is null or not lc.relispartition or not lc.relrowsecurity
         or pg_get_expr(oc.relpartbound, oc.oid) <> pg_get_expr(lc.relpartbound, lc.oid)`,
  )
  expect(differing).toEqual([])
})

it('keeps a partition whose events are not dispatched yet, and goes with it when they are', async () => {
  expect(await maintain()).toBe(0)
  await drain(db)
  expect(await db.owner(`select outcome from ${OLD_LOG}`)).toEqual([{ outcome: 'enqueued' }])
  expect(await maintain()).toBe(1)
  expect([await exists(OLD), await exists(OLD_LOG)]).toEqual([false, false])
})

it('keeps a partition with a deferred event until that is dispatched, or its consumer is deleted', async () => {
  const user = await db.session('stagedoor_worker')
  await user.query('begin')
  await maintain()
  const [event] = await db.owner<{ id: string }>(`select id from ${OLD}`)
  await user.query(`select iu_core.fn_job_enqueue('old_times_work', 'old_times:' || $1)`, [event!.id])
  await drain(db)
  expect(await db.owner(`select outcome from ${OLD_LOG}`)).toEqual([{ outcome: 'deferred' }])
  expect(await maintain()).toBe(0)
  expect(await exists(OLD)).toBe(true)
  await user.query('rollback')
  await deleteConsumer(db.pool(MIGRATOR), 'old_times')
  expect(await maintain()).toBe(1)
})
