/** The log is written in groups: what the database refuses, and answers that are lost, concern nobody but their own step. */
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createResultStore } from '../../../src/executions/results.ts'
import type { Pool } from '../../../src/kernel/postgres/connection.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { breakingOnce } from './faulty-pool.ts'

const engines = useEngines()
const three = (name: string) =>
  playbook(name, [{ step: 'a', next: 'b' }, { step: 'b', next: 'c' }, { step: 'c' }])

/** The engine's pool, but for flushes that `lose` names: they are committed, and their session breaks before the answer. */
function losingAnswers(pool: Pool, lose: () => boolean): Pool {
  return new Proxy(pool, {
    get(target, name) {
      if (name !== 'connect') {
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      }
      return async () => {
        const client = await target.connect()
        return new Proxy(client, {
          get(session, member) {
            const value = Reflect.get(session, member)
            if (member !== 'query') return typeof value === 'function' ? value.bind(session) : value
            return async (config: pg.QueryConfig) => {
              const answer = await session.query(config)
              if (config.name === 'stagedoor_flush' && lose())
                throw new Error('Connection terminated unexpectedly')
              return answer
            }
          },
        })
      }
    },
  })
}

describe('the log', () => {
  it('takes no event twice when the answer to a flush was lost, and runs no command again', async () => {
    const runs = new Map<string, number>()
    const count = (_: unknown, { command_id }: { command_id: string }) => {
      runs.set(command_id, (runs.get(command_id) ?? 0) + 1)
    }
    let flushes = 0
    const pool = losingAnswers(engines.db.pool('stagedoor_worker'), () => ++flushes % 2 === 0)
    await engines.start({ a: count, b: count, c: count }, { pool })
    await engines.register(three('lost-answers'))
    const ids = await Promise.all(Array.from({ length: 10 }, () => engines.run('lost-answers')))

    for (const id of ids) expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(flushes).toBeGreaterThan(3)
    expect(runs.size).toBe(30)
    expect([...runs.values()].every((times) => times === 1)).toBe(true)
    for (const id of ids)
      expect((await engines.log(id)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('goes on when the session that writes it is ended again and again', async () => {
    const runs = new Map<string, number>()
    const count = (_: unknown, { command_id }: { command_id: string }) => {
      runs.set(command_id, (runs.get(command_id) ?? 0) + 1)
    }
    await engines.start({ a: count, b: count, c: count })
    await engines.register(three('cut'))
    let stop = false
    let cuts = 0
    // A fixed number: the loop sees every flush, and without an end none would ever come through.
    const cutting = (async () => {
      while (!stop && cuts < 10) {
        // Only a superuser sees what others ask.
        const { rowCount } = await engines.db.pool('postgres').query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = $1 and query like '%fn_execution_flush%' and pid <> pg_backend_pid()`,
          [engines.db.name],
        )
        cuts += rowCount!
        if (rowCount! > 0) await delay(20)
      }
    })()
    try {
      const ids = await Promise.all(Array.from({ length: 30 }, () => engines.run('cut')))
      for (const id of ids) expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    } finally {
      stop = true
      await cutting
    }
    expect(cuts).toBeGreaterThan(0)
    expect([...runs.values()].every((times) => times === 1)).toBe(true)
    expect(await engines.differences()).toEqual([])
  })

  it('refuses what it cannot hold, which fails that step alone, with the reason', async () => {
    const kept = createResultStore({ pool: engines.db.pool('stagedoor_worker') })
    const results = { ...kept, store: async (value: never) => ({ value }) }
    await engines.start(
      { a: () => 'good', b: (_, { execution_id }) => (execution_id === bad ? 'x' : 'y'), c: () => null },
      {
        results: {
          ...results,
          store: async (value, origin) =>
            origin.execution_id === bad && origin.node_name === 'b' ? { value: 'nul \0 inside' } : { value },
        },
      },
    )
    await engines.register(three('poison'))
    const { rows } = await engines.db
      .pool('stagedoor_worker')
      .query<{ id: string }>(
        `select noetl.fn_execution_start('poison')::text as id from generate_series(1, 20)`,
      )
    const ids = rows.map(({ id }) => id)
    bad = ids[7]!

    for (const id of ids.filter((one) => one !== bad)) {
      expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    }
    const ended = await engines.ended(bad)
    expect(ended.status).toBe('FAILED')
    expect(ended.error).toContain('its result cannot be stored')
    const failed = (await engines.log(bad)).find(({ event_type }) => event_type === 'command.failed')
    expect(failed).toMatchObject({ node_name: 'b', meta: { final: true } })
  })

  it('takes the end of an execution that the engine chokes on, with the reason, and the others go on', async () => {
    await engines.start({ a: () => 1, b: () => 2, c: () => 3 })
    await engines.register(three('well'))
    // Never checked: the catalogue takes what back-end code gives it.
    await engines.register({ name: 'broken', start: 'a', args: {}, steps: [{ step: 'a' }] } as never)
    const [broken, well] = [await engines.run('broken'), await engines.run('well')]

    expect(await engines.ended(well)).toMatchObject({ status: 'COMPLETED' })
    const ended = await engines.ended(broken)
    expect(ended.status).toBe('FAILED')
    expect(ended.error).not.toBe('')
    expect((await engines.log(broken)).map(({ event_type }) => event_type)).toEqual([
      'playbook.initialized',
      'playbook.failed',
    ])
  })

  it('refuses it from an item of a loop, too', async () => {
    await engines.start(
      { each: () => null },
      {
        results: {
          ...createResultStore({ pool: engines.db.pool('stagedoor_worker') }),
          store: async (value, origin) => ({ value: origin.command_id?.endsWith(':3:1') ? '\0' : value }),
        },
      },
    )
    await engines.register(
      playbook('poison-item', [
        { step: 'each', loop: { in: [0, 1, 2, 3, 4, 5], mode: 'fanout', allow_partial: true } },
      ]),
    )
    const id = await engines.run('poison-item')

    const { status, state } = await engines.ended(id)
    expect(status).toBe('COMPLETED')
    expect(state).toMatchObject({ fanout: { each: { done: 5, failed: 1, status: 'partial' } } })
  })
})
let bad = ''

const held = (engine: { id: string }) =>
  engines.db
    .owner<{ n: number }>('select count(*)::integer as n from noetl.execution_shard where owner = $1', [
      engine.id,
    ])
    .then((rows) => rows[0]!.n)

describe('two engines', () => {
  it('share the shards, and one that leaves releases its shards at once', async () => {
    const first = await engines.start(
      { a: () => 1, b: () => 2, c: () => 3 },
      { leaseMs: 3000, name: 'first' },
    )
    const second = await engines.start(
      { a: () => 1, b: () => 2, c: () => 3 },
      { leaseMs: 3000, name: 'second' },
    )
    await until('each has half', async () => (await held(first)) === 8 && (await held(second)) === 8)
    await engines.register(three('shared'))
    const ids = await Promise.all(Array.from({ length: 40 }, () => engines.run('shared')))
    await first.stop()
    for (const id of ids) expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    await until('the other has all', async () => (await held(second)) === 16)
    expect(await engines.differences()).toEqual([])
  })

  it('one whose release of a shard does not arrive sends it again, and does not go on under the same epoch', async () => {
    const taken: number[] = []
    const { pool, breaks } = breakingOnce(engines.db.pool('stagedoor_worker'), 'fn_engine_release_shards')
    const first = await engines.start(
      {},
      { pool, leaseMs: 3000, name: 'first', hooks: { onShardTaken: (shard) => taken.push(shard) } },
    )
    await until('it has all', () => taken.length === 16)
    const second = await engines.start({}, { leaseMs: 3000, name: 'second' })
    await until('each has half', async () => (await held(first)) === 8 && (await held(second)) === 8)
    expect(breaks()).toBe(1)
    expect(taken).toHaveLength(16)
  })

  it('one that was frozen finds its shards taken: what it flushes is refused, and it drops them', async () => {
    const ran: string[] = []
    let open: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const lost: number[] = []
    const aborted: unknown[] = []
    const zombie = await engines.start(
      {
        a: async (_, { signal }) => {
          signal.addEventListener('abort', () => aborted.push(signal.reason))
          ran.push('zombie a')
          await gate
          return 'late'
        },
        b: () => ran.push('zombie b'),
        c: () => ran.push('zombie c'),
      },
      // Its heartbeat stands still, as that of a frozen process.
      {
        sendsHeartbeats: false,
        runs: false,
        leaseMs: 60_000,
        hooks: { onShardLost: (shard) => lost.push(shard) },
        name: 'zombie',
      },
    )
    await engines.register(three('fenced'))
    const id = await engines.run('fenced')
    await until('the zombie runs it', () => ran.length === 1)
    await engines.endLease(zombie.id)
    await engines.start({
      a: () => ran.push('heir a'),
      b: () => ran.push('heir b'),
      c: () => ran.push('heir c'),
    })
    await until('the heir runs it', () => ran.includes('heir a'))
    open()

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(ran).toEqual(['zombie a', 'heir a', 'heir b', 'heir c'])
    const log = await engines.log(id)
    expect(log.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    await until('the zombie knows', () => lost.length === 16)
    await zombie.stop()
  })
})
