/** Engines, their leases and the shards under them: one owner each, and the epoch says which. */
import { beforeEach, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { engineDriver } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
const ALL = Array.from({ length: 16 }, (_, shard) => shard)

beforeEach(async () => {
  await db.owner('delete from noetl.engine')
  await db.owner('update noetl.execution_shard set owner = null, leased_until = null')
})

it('gives every engine a node number of its own, which goes into its ids', async () => {
  const registered = await Promise.all(Array.from({ length: 20 }, () => engines.register()))
  expect(new Set(registered.map((engine) => engine.node)).size).toBe(20)
  for (const { node } of registered) expect(node).toBeGreaterThan(0)
})

it('gives none to an engine that only runs commands: they limit the engines that drive', async () => {
  const runners = await Promise.all(Array.from({ length: 5 }, () => engines.register({ drives: false })))
  expect(runners.map((engine) => engine.node)).toEqual([null, null, null, null, null])
  expect((await engines.register({ runs: false })).node).toBeGreaterThan(0)
})

it('refuses an engine that does nothing, and a lease that is too short', async () => {
  expect(await sqlstateOf(engines.register({ drives: false, runs: false }))).toBe('SD001')
  expect(await sqlstateOf(engines.rows(`select noetl.fn_engine_register('x', true, true, '10 ms')`))).toBe(
    'SD001',
  )
})

it('takes all shards when it is alone, with a new epoch', async () => {
  const before = await engines.one<string>('select epoch from noetl.execution_shard where shard_id = 0')
  const engine = await engines.register()
  const held = await engines.beat(engine)
  expect(engine.shards).toEqual(ALL)
  expect(BigInt(held[0]!.epoch)).toBe(BigInt(before) + 1n)
  expect(await engines.beat(engine)).toEqual(held)
})

it('takes none when it only runs commands', async () => {
  const engine = await engines.register({ drives: false })
  expect(await engines.beat(engine)).toEqual([])
})

it('reports its surplus to the first when others come; what it gives back is theirs', async () => {
  const [first, second, third] = [
    await engines.register(),
    await engines.register(),
    await engines.register(),
  ]
  await engines.expire(second)
  await engines.expire(third)
  expect((await engines.beat(first)).filter((shard) => shard.surplus)).toEqual([])
  await engines.beat(second)
  await engines.beat(third)
  expect(second.shards).toEqual([])
  const surplus = (await engines.beat(first)).filter((shard) => shard.surplus).map((shard) => shard.shard_id)
  expect(surplus).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
  await engines.rows('select noetl.fn_engine_release_shards($1, $2)', [first.id, surplus])
  await engines.beat(second)
  await engines.beat(third)
  expect([second.shards.length, third.shards.length]).toEqual([6, 4])
  expect((await engines.beat(first)).every((shard) => !shard.surplus)).toBe(true)
})

it('gives back only what is its own', async () => {
  const owner = await engines.register()
  await engines.beat(owner)
  const stranger = await engines.register()
  await engines.rows('select noetl.fn_engine_release_shards($1, $2)', [stranger.id, [1, 2]])
  await engines.beat(owner)
  expect(owner.shards).toEqual(ALL)
})

it('two engines that take at once never both get a shard', async () => {
  for (let round = 0; round < 10; round += 1) {
    await db.owner('delete from noetl.engine')
    const racers = await Promise.all(Array.from({ length: 4 }, () => engines.register()))
    const held = await Promise.all(racers.map((engine) => engines.beat(engine)))
    const shards = held.flat().map((shard) => shard.shard_id)
    expect(new Set(shards).size).toBe(shards.length)
    // What was passed over because somebody was at it comes with the next beat.
    for (const engine of racers) await engines.beat(engine)
    expect(racers.flatMap((engine) => engine.shards).sort((a, b) => a - b)).toEqual(ALL)
  }
})

it('takes the shards of an engine whose lease has passed, which then holds none', async () => {
  const old = await engines.alone()
  await engines.expire(old)
  const next = await engines.register()
  await engines.beat(next)
  expect(next.shards).toEqual(ALL)
  expect(BigInt(next.epochs[0]!)).toBe(BigInt(old.epochs[0]!) + 1n)
  expect(await engines.beat(old)).toEqual([])
})

it('an engine that was late but not missed keeps its shards and their epochs', async () => {
  const engine = await engines.alone()
  const before = engine.epochs
  await engines.expire(engine)
  await engines.beat(engine)
  expect(engine.epochs).toEqual(before)
})

it('refuses the heartbeat of an engine that was reaped; its shards are free', async () => {
  const engine = await engines.alone()
  await engines.expire(engine)
  expect(await engines.one('select noetl.fn_engine_reap()')).toBe(0)
  expect(await sqlstateOf(engines.beat(engine))).toBe('SD805')
  expect(await engines.rows('select from noetl.execution_shard where owner is not null')).toEqual([])
})

it('leaving frees everything at once and is no crash', async () => {
  const engine = await engines.alone()
  await engines.rows('select noetl.fn_engine_leave($1)', [engine.id])
  await engines.rows('select noetl.fn_engine_leave($1)', [engine.id])
  const next = await engines.register()
  await engines.beat(next)
  expect(next.shards).toEqual(ALL)
})

it('does not wait for a shard under which somebody writes, and gets it afterwards', async () => {
  const old = await engines.alone()
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  await session.query('select noetl.fn_execution_flush($1, $2, $3, $4)', [old.id, [3], [old.epochs[3]], '{}'])
  await engines.expire(old)
  const next = await engines.register()
  await engines.beat(next)
  expect(next.shards).toEqual(ALL.filter((shard) => shard !== 3))
  await session.query('commit')
  await engines.beat(next)
  expect(next.shards).toEqual(ALL)
})

it('loads the executions of a shard for its owner alone', async () => {
  const engine = await engines.alone()
  const id = await engines.newId()
  const shard = await engines.one<number>('select noetl.fn_shard_of($1)', [id])
  const snapshot = { execution_id: id, epoch: engine.epochs[shard], last_event_id: id, fold_version: 1 }
  await engines.flush(engine, { checkpoints: [{ ...snapshot, last_seq: 2, state: null }] })
  const LOAD = 'select * from noetl.fn_executions_load($1, $2::smallint)'
  expect(await engines.rows(LOAD, [engine.id, shard])).toEqual([
    { execution_id: id, last_seq: 0, fold_version: 1, state: null, ended: false },
  ])
  await engines.flush(engine, { checkpoints: [{ ...snapshot, last_seq: 5, state: { seq: 5 } }], ended: [id] })
  expect(await engines.rows(LOAD, [engine.id, shard])).toEqual([
    { execution_id: id, last_seq: 5, fold_version: 1, state: { seq: 5 }, ended: true },
  ])
  const stranger = await engines.register()
  expect(await sqlstateOf(engines.rows(LOAD, [stranger.id, shard]))).toBe('SD805')
})
