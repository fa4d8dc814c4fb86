import { beforeEach, expect, it } from 'vitest'
import { executionTasks } from '../../../src/executions/maintenance.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { append, type LogEvent, rowOf } from './log.ts'

const db = useDatabase()
const worker = () => db.pool('stagedoor_worker')

const OLD = 'noetl.event_y2024m02'
const LOG: LogEvent[] = [
  { event_type: 'playbook.initialized', meta: { started_by: 'ada' } },
  { event_type: 'playbook.completed' },
]
const maintain = async (keep: string | null = '0 days') =>
  (await worker().query('select * from noetl.fn_execution_partitions_maintain($1, $2)', ['90 days', keep]))
    .rows[0]
const partitions = async () =>
  (
    await db.owner<{ name: string }>(
      'select partition::text as name from noetl.v_execution_partition order by from_time',
    )
  ).map((row) => row.name)
const floor = async (at: string) =>
  (await db.owner<{ id: string }>('select noetl.fn_snowflake_floor($1) as id', [at]))[0]!.id
const rebuild = (id: string) => worker().query('select noetl.rebuild_execution_projection($1)', [id])

let old: string
/** A month long past with one execution that has ended, and is projected. */
beforeEach(async () => {
  await db.owner(
    `delete from noetl.checkpoint; delete from noetl.inbox; delete from noetl.result_ref; delete from noetl.execution`,
  )
  await db.owner(`drop table if exists ${OLD}`)
  await db.owner(`create table ${OLD} (like noetl.event including defaults including constraints)`)
  await db.owner(
    `alter table noetl.event attach partition ${OLD} for values from (${await floor('2024-02-01Z')}) to (${await floor('2024-03-01Z')})`,
  )
  old = await floor('2024-02-15Z')
  await append(db, old, 1, LOG)
  await rebuild(old)
  await db.owner(`update noetl.execution set end_time = '2024-02-16Z'`)
})

it('reach at least 90 days ahead after migrate, are made once, and again where one is missing', async () => {
  const days = () => db.owner('select execution_days_left >= 90 as enough from iu_core.fn_health()')
  expect(await days()).toEqual([{ enough: true }])
  expect(await maintain('1000 years')).toEqual({ created: 0, dropped: 0 })
  const next = (await partitions()).at(-1)!
  await db.owner(`drop table ${next}`)
  expect(await days()).toEqual([{ enough: false }])
  expect(await maintain('1000 years')).toEqual({ created: 1, dropped: 0 })
  const shape = (name: string) =>
    db.owner(
      `select c.relrowsecurity, c.relowner::regrole::text as owner,
              array(select tgname::text from pg_trigger where tgrelid = c.oid order by 1) as triggers,
              array(select replace(pg_get_indexdef(indexrelid), c.relname, 'p') from pg_index where indrelid = c.oid order by 1) as indexes
         from pg_class c where c.oid = $1::regclass`,
      [name],
    )
  expect(await shape(next)).toEqual(await shape((await partitions())[1]!))
})

it('only grow: no row is changed or deleted, no partition truncated, not even by the owner', async () => {
  await maintain('1000 years')
  for (const sql of [
    'update noetl.event set status = null',
    'delete from noetl.event',
    'truncate noetl.event',
    `truncate ${OLD}`,
  ]) {
    expect(await sqlstateOf(db.owner(sql))).toBe('SD002')
  }
})

it('go with all that belongs to their executions when those have long ended', async () => {
  await db.owner(
    `insert into noetl.result_ref (ref_id, execution_id, store_tier, content_hash, bytes) values (1, $1, 'db', '', 2)`,
    [old],
  )
  await db.owner(`insert into noetl.result_body values (1, '{}')`)
  await db.owner(`insert into noetl.execution_key values ('p', null, 'k', $1, '')`, [old])
  expect(await maintain(null)).toEqual({ created: 0, dropped: 1 })
  expect(await partitions()).not.toContain(OLD)
  expect(await rowOf(db, old)).toBeUndefined()
  expect(
    await db.owner(
      'select from noetl.result_ref union all select from noetl.result_body union all select from noetl.execution_key',
    ),
  ).toEqual([])
})

it('stay while one of their executions runs, ended lately, has a message or is not projected', async () => {
  const stays = async (because: string) => {
    expect(await maintain(), because).toEqual({ created: 0, dropped: 0 })
    expect(await rowOf(db, old), because).toBeDefined()
  }
  await db.owner(`update noetl.execution set end_time = now() + interval '1 minute'`)
  await stays('it ended lately')
  await db.owner('update noetl.execution set end_time = null')
  await stays('it goes on')
  await db.owner(`update noetl.execution set end_time = '2024-02-16Z'`)
  await db.owner(
    `insert into noetl.checkpoint (execution_id, shard_id, epoch, last_event_id, last_seq, fold_version)
     values ($1, 0, 1, 1, 1, 1)`,
    [old],
  )
  await stays('it has a checkpoint')
  await db.owner('delete from noetl.checkpoint')
  await db.owner(`insert into noetl.inbox (execution_id, shard_id, kind) values ($1, 0, 'cancel')`, [old])
  await stays('it is told something')
  await db.owner('delete from noetl.inbox')
  await append(db, old, 3, [{ event_type: 'execution.paused' }])
  await stays('an event is not projected')
  await rebuild(old)
  await db.owner(`update noetl.execution set end_time = '2024-02-16Z'`)
  await db.owner(
    `insert into noetl.result_ref (ref_id, execution_id, store_tier, content_hash, bytes) values (1, $1, 'disk', '', 2)`,
    [old],
  )
  await stays('a file is not deleted')
  await db.owner('update noetl.result_ref set collected_at = now()')
  expect(await maintain()).toEqual({ created: 0, dropped: 1 })
})

it('wait for another day where somebody has the log locked, and nothing is lost', async () => {
  const writer = await db.session()
  await writer.query('begin')
  await writer.query('lock table noetl.event in row exclusive mode')
  expect(await maintain()).toEqual({ created: 0, dropped: 0 })
  await writer.query('rollback')
  expect(await rowOf(db, old)).toBeDefined()
  expect(await maintain()).toEqual({ created: 0, dropped: 1 })
})

it('results are forgotten after their retention, and kept while an ancestor or a rerun goes on', async () => {
  const result = (ref: number, tier: string) =>
    db.owner(
      `insert into noetl.result_ref (ref_id, execution_id, store_tier, physical_uri, content_hash, bytes, created_at)
       values ($1, $2, $3, $4, '', 2, '2024-02-15Z')`,
      [ref, old, tier, `file ${ref}`],
    )
  await result(1, 'db')
  await result(2, 'disk')
  await db.owner(`insert into noetl.result_body values (1, '{}')`)
  const task = executionTasks(worker()).find((one) => one.name === 'execution results')!
  const run = () => task.run(worker() as never)
  const parent = String(BigInt(old) + 100n)
  await append(db, parent, 1, LOG.slice(0, 1))
  await rebuild(parent)
  await db.owner('update noetl.execution set parent_execution_id = $2 where execution_id = $1', [old, parent])
  expect(await run()).toBeUndefined()
  await db.owner('update noetl.execution set parent_execution_id = null')

  const rerun = String(BigInt(old) + 200n)
  await append(db, rerun, 1, [{ event_type: 'playbook.initialized', meta: { rerun_of: old } }])
  await db.owner(
    `insert into noetl.checkpoint (execution_id, shard_id, epoch, last_event_id, last_seq, fold_version)
     values ($1, 0, 1, 1, 1, 1)`,
    [rerun],
  )
  expect(await run()).toBeUndefined()
  await db.owner('delete from noetl.checkpoint')

  expect(await run()).toBe('2 results forgotten, 0 files without one deleted')
  expect(await db.owner('select from noetl.result_body')).toEqual([])
  expect(await db.owner('select from noetl.result_ref where collected_at is not null')).toHaveLength(2)
  expect(await run()).toBeUndefined()
})
