/** What was read under an earlier lease, or comes twice, changes nothing that is in the log. */
import { expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { faultyPool, gate } from './faulty-pool.ts'

const engines = useEngines()
const { owner } = engines.db

async function startAgain(id: string): Promise<void> {
  await owner(
    `insert into noetl.inbox (execution_id, shard_id, kind, body)
     select $1, noetl.fn_shard_of($1), 'start', jsonb_build_object(
              'catalog_id', catalog_id::text, 'args', '{}'::jsonb, 'workspace_id', null, 'started_by', 'x', 'cause', null,
              'correlation_id', null, 'depth', 0, 'parent', null)
       from noetl.event where execution_id = $1 and seq = 1`,
    [id],
  )
}

const inboxIsEmpty = async () => (await owner('select from noetl.inbox')).length === 0

it('a second start of an execution that is not in memory finds it where it is', async () => {
  const id = await engines.runUntilWaiting('twice')
  await engines.start({ a: () => 1 })
  const before = await engines.log(id)
  await startAgain(id)
  await until('it is consumed', inboxIsEmpty)

  expect(await engines.log(id)).toEqual(before)
  await owner('update noetl.wait set wake_at = now()')
  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED', error: null })
})

it('a second start of an execution that has ended is consumed', async () => {
  await engines.start({ a: () => 1 })
  await engines.register(playbook('over', [{ step: 'a' }]))
  const id = await engines.run('over')
  const ended = await engines.ended(id)
  const before = await engines.log(id)
  await until(
    'its checkpoint is gone',
    async () => (await owner('select from noetl.checkpoint')).length === 0,
  )
  await startAgain(id)
  await until('it is consumed', inboxIsEmpty)

  expect(await engines.log(id)).toEqual(before)
  expect(await engines.ended(id)).toEqual(ended)
  expect(await owner('select from noetl.checkpoint')).toEqual([])
})

it('rows that were read before a shard was lost are not delivered when it is taken again', async () => {
  const id = await engines.runUntilWaiting('earlier')
  const reading = gate()
  let isAsked = false
  let taken = 0
  const pool = faultyPool(engines.db.pool('stagedoor_worker'), async (sql) => {
    if (!sql.includes('from noetl.checkpoint')) return
    isAsked = true
    await reading.passed
  })
  await engines.register(playbook('quick', [{ step: 'a' }]))
  await engines.start({ a: () => 1 }, { pool, leaseMs: 3000, hooks: { onShardTaken: () => taken++ } })
  await engines.ended(await engines.run('quick'))
  // One batch: while the engine reads the first one's execution, both wait.
  const [started] = await owner<{ id: string }>(
    `with told as (insert into noetl.inbox (execution_id, shard_id, kind, body)
                   values ($1, noetl.fn_shard_of($1), 'woken', '{"node_id": "wait#1", "status": "timer"}'))
     select noetl.fn_execution_start('quick')::text as id`,
    [id],
  )
  await until('it reads', () => isAsked)
  // Another engine has the shards for a moment, and consumes both rows.
  await owner('delete from noetl.inbox')
  await owner('update noetl.execution_shard set owner = null')
  await until('they are taken again', () => taken >= 32)
  reading.open()

  expect(await engines.ended(await engines.run('quick'))).toMatchObject({ status: 'COMPLETED' })
  expect(await engines.log(started!.id)).toEqual([])
  expect(await engines.status(id)).toBe('RUNNING')
})

it('a row for an execution that is evicted while the row waits for others is not lost', async () => {
  const asleep = await engines.runUntilWaiting('asleep')
  const reading = gate()
  let isAsked = false
  const pool = faultyPool(engines.db.pool('stagedoor_worker'), async (sql) => {
    if (!sql.includes('from noetl.checkpoint')) return
    isAsked = true
    await reading.passed
  })
  const engine = await engines.start({ a: () => 1 }, { pool })
  const inMemory = await engines.run('asleep')
  await until(
    'it waits',
    async () => (await owner('select from noetl.wait where execution_id = $1', [inMemory])).length === 1,
  )
  // One batch: the execution that is not in memory must be read first.
  await owner(
    `insert into noetl.inbox (execution_id, shard_id, kind, body)
     select id, noetl.fn_shard_of(id), 'woken', '{"node_id": "wait#1", "status": "timer"}' from unnest($1::bigint[]) id`,
    [[asleep, inMemory]],
  )
  await until('it reads', () => isAsked)
  await until('it is evicted', () => engine.health().detail.includes(' 0 executions in memory'))
  reading.open()

  for (const id of [asleep, inMemory]) expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
})
