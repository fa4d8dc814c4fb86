/** Messages to executions: read by the owner of their shard, consumed by the flush that follows from it. */
import { beforeEach, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { type Engine, engineDriver } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
let engine: Engine

beforeEach(async () => {
  await db.owner('delete from noetl.inbox')
  engine = await engines.alone()
})

async function tell(count: number): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: count }, () => engines.newId()))
  await engines.flush(engine, {
    messages: ids.map((execution_id, n) => ({ execution_id, kind: 'child_ended', body: { n } })),
  })
  return ids
}
const read = (as: Engine, limit = 100, without: string[] = [], withoutExecutions: string[] = []) =>
  engines.rows<{ inbox_id: string; execution_id: string; shard_id: number; body: { n: number } }>(
    'select * from noetl.fn_inbox_read($1, $2, $3, $4)',
    [as.id, limit, without, withoutExecutions],
  )

it('messages to other executions arrive in their order, in the shard of each', async () => {
  const ids = await tell(40)
  const rows = await read(engine)
  expect(rows.map((row) => row.execution_id)).toEqual(ids)
  expect(rows.map((row) => row.body.n)).toEqual(ids.map((_, n) => n))
  for (const { execution_id, shard_id } of rows) {
    expect(Number(((BigInt(execution_id) >> 22n) ^ BigInt(execution_id)) & 15n)).toBe(shard_id)
  }
})

it('reads no more than asked, and passes over what the engine has already', async () => {
  await tell(30)
  const first = await read(engine, 10)
  const second = await read(
    engine,
    100,
    first.map((row) => row.inbox_id),
  )
  expect([first.length, second.length]).toEqual([10, 20])
  expect(BigInt(second[0]!.inbox_id) > BigInt(first[9]!.inbox_id)).toBe(true)
})

it('passes over executions that can receive nothing for now, however many rows they have', async () => {
  const ids = await tell(5)
  const rows = await read(engine, 2, [], ids.slice(0, 3))
  expect(rows.map((row) => row.execution_id)).toEqual(ids.slice(3))
})

it('shows an engine the rows of its own shards only', async () => {
  await tell(40)
  const other = await engines.register()
  await engines.rows('select noetl.fn_engine_release_shards($1, $2)', [
    engine.id,
    [8, 9, 10, 11, 12, 13, 14, 15],
  ])
  await engines.beat(other)
  const [mine, theirs] = [await read(engine), await read(other)]
  expect(mine.length + theirs.length).toBe(40)
  expect(mine.every((row) => row.shard_id < 8)).toBe(true)
  expect(theirs.every((row) => row.shard_id >= 8)).toBe(true)
  expect(await read(await engines.register())).toEqual([])
})

it('a flush that fails leaves the rows that it would have consumed; one that is written takes them', async () => {
  await tell(3)
  const inbox = (await read(engine)).map((row) => row.inbox_id)
  await expect(engines.flush(engine, { inbox, events: [['1', '1', 0, 'step.enter', '1']] })).rejects.toThrow()
  expect(await read(engine)).toHaveLength(3)
  await engines.flush(engine, { inbox: inbox.slice(1) })
  expect((await read(engine)).map((row) => row.inbox_id)).toEqual(inbox.slice(0, 1))
})

it('what commits late is read though rows with higher ids are gone already', async () => {
  const late = await db.session('stagedoor_worker')
  const [early, then] = [await engines.newId(), await engines.newId()]
  const message = (execution_id: string) => ({ messages: [{ execution_id, kind: 'child_ended', body: {} }] })
  await late.query('begin')
  await engines.flush(engine, message(early), late)
  await engines.flush(engine, message(then))
  const [first] = await read(engine)
  expect(first!.execution_id).toBe(then)
  await engines.flush(engine, { inbox: [first!.inbox_id] })
  await late.query('commit')
  expect((await read(engine)).map((row) => row.execution_id)).toEqual([early])
})

it('a start wakes the owner of its shard; messages of a flush do not, because its caller does after the commit', async () => {
  const listener = await db.session('stagedoor_worker')
  const calls: string[] = []
  listener.on('notification', ({ payload }) => calls.push(payload ?? ''))
  await listener.query('listen stagedoor')
  await tell(1)
  const id = await engines.newId()
  await db.owner(`select noetl.fn_execution_inbox_put($1, 'start', '{}')`, [id])
  await listener.query('select')
  expect(calls).toEqual([`inbox ${await engines.one('select noetl.fn_shard_of($1)', [id])}`])
})
