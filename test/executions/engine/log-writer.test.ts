/** The writer of logs alone: what goes into which flush, and who goes on when. */
import pino from 'pino'
import { afterEach, expect, it } from 'vitest'
import { LogWriter, ShardLost, Superseded } from '../../../src/executions/engine/log-writer.ts'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import { DedicatedConnection } from '../../../src/kernel/postgres/connection.ts'
import { useDatabase } from '../../support/database.ts'
import { engineDriver } from '../sql/engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
const EXECUTIONS = 40
let session: DedicatedConnection | undefined

afterEach(async () => {
  await session?.release()
})

/** Of each execution `rounds` events, each decided when the one before is durable. `flushes`: how many events each flush had. */
async function start({ mayContinue = () => true }: { mayContinue?: (n: number) => boolean } = {}) {
  const engine = await engines.alone()
  session = new DedicatedConnection(db.pool('stagedoor_worker'), 30_000)
  const flushes: number[] = []
  const durable = new Map<string, number[]>()
  const refused: Error[] = []
  const epochs = new Map(engine.shards.map((shard, n) => [shard, engine.epochs[n]!]))
  const owned = new Map(epochs)
  const writer: LogWriter = new LogWriter({
    connection: session,
    engine: () => engine.id,
    epochOf: (shard) => epochs.get(shard),
    onFenced: async () => {},
    onLogMoved: () => {},
    log: pino({ level: 'silent' }),
    onFlush: (appends) => {
      flushes.push(appends.length)
    },
  })
  const ids = await Promise.all(Array.from({ length: EXECUTIONS }, () => engines.newId()))
  const append = (n: number, seq: number, rounds: number): void => {
    const execution_id = ids[n]!
    const id = BigInt(execution_id)
    const shard_id = Number(((id >> 22n) ^ id) & 15n)
    const event = {
      ...{
        execution_id,
        event_id: String(id + BigInt(seq)),
        seq,
        catalog_id: '1',
        meta: { workspace_id: null },
      },
      event_type: seq === 1 ? 'playbook.initialized' : 'execution.resumed',
    } as unknown as ExecutionEvent
    writer.append({
      ...{ execution_id, shard_id, epoch: owned.get(shard_id)!, events: [event] },
      onDurable: () => {
        durable.set(execution_id, [...(durable.get(execution_id) ?? []), seq])
        if (!mayContinue(n)) throw new Error('a mistake of ours')
        if (seq < rounds) append(n, seq + 1, rounds)
      },
      onRefused: (error) => refused.push(error),
    })
  }
  return { writer, flushes, durable, refused, epochs, ids, append }
}

it('of executions that were written together half continue first, and the others while that is written', async () => {
  const { writer, flushes, durable, ids, append } = await start()
  for (let n = 0; n < EXECUTIONS; n++) append(n, 1, 3)
  await writer.drain()
  expect(flushes.slice(0, 2)).toEqual([40, 20])
  expect(flushes.reduce((sum, appends) => sum + appends)).toBe(3 * EXECUTIONS)
  for (const id of ids) expect(durable.get(id)).toEqual([1, 2, 3])
  const logged = await engines.rows<{ events: number }>(
    'select count(*)::int as events from noetl.event where execution_id = any ($1) group by execution_id',
    [ids],
  )
  expect(logged).toEqual(ids.map(() => ({ events: 3 })))
})

it('those that continue later are told before the writer counts as drained, and a few are not divided', async () => {
  const { writer, flushes, durable, append } = await start()
  for (let n = 0; n < EXECUTIONS; n++) append(n, 1, 1)
  await writer.drain()
  expect(durable.size).toBe(EXECUTIONS)
  for (let n = 0; n < 10; n++) append(n, 2, 3)
  await writer.drain()
  expect(flushes).toEqual([40, 10, 10])
})

it('a mistake in one of them, and a shard that is lost meanwhile, change nothing for the others', async () => {
  const { writer, durable, refused, epochs, ids, append } = await start({ mayContinue: (n) => n !== 30 })
  const shard = Number(((BigInt(ids[35]!) >> 22n) ^ BigInt(ids[35]!)) & 15n)
  for (let n = 0; n < EXECUTIONS; n++) append(n, 1, 2)
  while (durable.size === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  epochs.delete(shard)
  await writer.drain()
  expect(durable.size).toBe(EXECUTIONS)
  const lost = ids.filter((id) => Number(((BigInt(id) >> 22n) ^ BigInt(id)) & 15n) === shard)
  expect(refused.filter((error) => error instanceof Superseded)).toHaveLength(1)
  expect(refused.filter((error) => error instanceof ShardLost).length).toBeLessThanOrEqual(lost.length)
  for (const [n, id] of ids.entries())
    if (n !== 30 && !lost.includes(id)) expect(durable.get(id), `execution ${n}`).toEqual([1, 2])
})
