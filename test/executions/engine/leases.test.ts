/** An engine that loses its lease has another soon, whatever is refused, delayed or lost on the way. */
import type pg from 'pg'
import { expect, it } from 'vitest'
import { createPool } from '../../../src/kernel/postgres/connection.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { faultyPool, gate } from './faulty-pool.ts'

const engines = useEngines()
const worker = () => engines.db.pool('stagedoor_worker')

for (const statement of ['fn_command_claim', 'fn_inbox_read', 'fn_command_cancelled'])
  it(`a late answer to ${statement} under an old lease does not end the new one`, async () => {
    const held = gate()
    let holds = false
    let isHeld = false
    const pool = faultyPool(worker(), async (sql) => {
      if (!holds || isHeld || !sql.includes(statement)) return
      isHeld = true
      await held.passed
    })
    const lost: string[] = []
    const busy = gate()
    const engine = await engines.start(
      { a: () => 1, each: () => busy.passed },
      { pool, pollMs: 20, hooks: { onLeaseLost: (reason) => lost.push(reason) } },
    )
    await engines.register(playbook('plain', [{ step: 'a' }]))
    await engines.register(playbook('items', [{ step: 'each', loop: { in: [1], mode: 'parallel' } }]))
    const items = await engines.run('items')
    await until('an item runs', async () => {
      const rows = await engines.db.owner('select from noetl.command where leased_by is not null')
      return rows.length > 0
    })
    const first = engine.id
    holds = true
    await until('the statement is under way', () => isHeld)
    await engines.endLease(first)
    await until('the engine has a lease again', () => engine.id !== first && engine.health().ok)
    const second = engine.id
    held.open()

    busy.open()
    expect(await engines.ended(await engines.run('plain'))).toMatchObject({ status: 'COMPLETED' })
    expect(await engines.ended(items)).toMatchObject({ status: 'COMPLETED' })
    expect(engine.id).toBe(second)
    expect(lost).toHaveLength(1)
    await engine.stop()
  })

it('an engine whose registrations and first heartbeats are lost for a while tries again until it has a lease', async () => {
  let broken = 0
  let breaks = false
  const pool = new Proxy(worker(), {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name !== 'connect') return typeof value === 'function' ? value.bind(target) : value
      return async () => breaking(await target.connect())
    },
  })
  const breaking = (client: pg.PoolClient): pg.PoolClient =>
    new Proxy(client, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value
        return (config: { text: string }) => {
          if (!breaks || broken === 6 || !/fn_engine_(register|heartbeat)/.test(config.text))
            return target.query(config)
          broken++
          return Promise.reject(new Error('Connection terminated unexpectedly'))
        }
      },
    })
  const engine = await engines.start({ a: () => 1 }, { pool, pollMs: 20 })
  await engines.register(playbook('plain', [{ step: 'a' }]))
  const first = engine.id
  breaks = true
  await engines.endLease(first)
  await until('the engine has a lease again', () => engine.id !== first && engine.health().ok)
  expect(broken).toBe(6)
  expect(await engines.ended(await engines.run('plain'))).toMatchObject({ status: 'COMPLETED' })
})

it('an engine whose pool is in use by others keeps its lease and writes its log: both have sessions from its start on', async () => {
  const LEASE_MS = 3000
  const max = 8
  const pool = createPool(engines.db.url('stagedoor_worker'), { role: 'dot_executor', max })
  const taken: pg.PoolClient[] = []
  const busy = gate()
  const lost: string[] = []
  const engine = await engines.start(
    {
      // With two of them kept, nothing is left for anybody else.
      greedy: async () => {
        while (taken.length < max - 2) taken.push(await pool.connect())
        await busy.passed
      },
    },
    { pool, leaseMs: LEASE_MS, pollMs: 20, hooks: { onLeaseLost: (reason) => lost.push(reason) } },
  )
  try {
    await engines.register(playbook('hoarding', [{ step: 'greedy' }]))
    const id = await engines.run('hoarding')
    await until('it has them all', () => taken.length === max - 2)
    const leasedUntil = async () => {
      const [row] = await engines.db.owner<{ at: Date }>('select leased_until as at from noetl.engine')
      return row!.at.getTime()
    }
    const before = await leasedUntil()
    await until('its lease was prolonged', async () => (await leasedUntil()) > before + LEASE_MS)
    busy.open()
    await until('the end of the step is in the log', async () =>
      (await engines.log(id)).some(({ event_type }) => event_type === 'playbook.completed'),
    )
    expect(taken).toHaveLength(max - 2)
    expect(lost).toEqual([])
  } finally {
    for (const client of taken) client.release()
    busy.open()
    await engine.stop()
    await pool.end()
  }
})
