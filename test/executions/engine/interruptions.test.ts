/** A connection that breaks once, at the worst moment: nothing is lost, and nothing that was done is done again. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createResultStore } from '../../../src/executions/results.ts'
import { ToolError } from '../../../src/executions/tools/tool.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { breakingOnce, faultyAnswers, faultyPool, gate } from './faulty-pool.ts'

const engines = useEngines()
const worker = () => engines.db.pool('stagedoor_worker')

it('an engine that cannot start leaves nothing running', async () => {
  const pool = new Proxy(worker(), {
    get(target, name) {
      if (name === 'connect') return () => Promise.reject(new Error('Connection terminated unexpectedly'))
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await expect(engines.start({}, { pool })).rejects.toThrow(/cannot be reached|terminated/)
  expect(await engines.db.owner('select from noetl.engine')).toEqual([])
})

it('items that were claimed run, though their playbook could not be read at first', async () => {
  await engines.register(playbook('claimed', [{ step: 'each', loop: { in: [0, 1, 2], mode: 'parallel' } }]))
  await engines.start({ each: () => 1 }, { runs: false })
  const { pool, breaks } = breakingOnce(worker(), 'noetl.catalog where catalog_id')
  await engines.start({ each: () => 1 }, { drives: false, pool })

  const id = await engines.run('claimed')
  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  expect(breaks()).toBe(1)
})

it('a step that ends while the engine looks for commands of a lost claim does not run again', async () => {
  let runs = 0
  let broken = false
  const busy = gate()
  const breaking = faultyPool(worker(), (sql) => {
    if (!sql.includes('fn_command_claim') || runs === 0 || broken) return
    broken = true
    throw new Error('Connection terminated unexpectedly')
  })
  const commands = async () => (await engines.db.owner('select from noetl.command')).length
  let looked = 0
  const pool = faultyAnswers(breaking, async (sql) => {
    if (!sql.includes('noetl.command where leased_by')) return
    if (looked++ > 0) return
    // The answer names the step; before it arrives the step ends, and the engine has forgotten it.
    busy.open()
    await until('its end is written', async () => (await commands()) === 0)
    await delay(200)
  })
  await engines.start({}, { runs: false })
  const each = async () => {
    runs++
    await busy.passed
  }
  await engines.start({ each }, { drives: false, pool })
  await engines.register(playbook('looked', [{ step: 'each' }]))

  expect(await engines.ended(await engines.run('looked'))).toMatchObject({ status: 'COMPLETED' })
  await until('it looked', () => looked > 0)
  await delay(300)
  expect(runs).toBe(1)
})

it('a large result is kept when the database is back, and its step does not run again', async () => {
  let runs = 0
  const { pool, breaks } = breakingOnce(worker(), 'fn_result_put')
  await engines.start(
    {
      large: () => {
        runs++
        return 'x'.repeat(20_000)
      },
    },
    { results: createResultStore({ pool }) },
  )
  await engines.register(playbook('large', [{ step: 'large' }]))

  expect(await engines.ended(await engines.run('large'))).toMatchObject({ status: 'COMPLETED' })
  expect([runs, breaks()]).toEqual([1, 1])
})

it('a collection that could not be read once is read again for the next attempt', async () => {
  const large = Array.from({ length: 3 }, (_, n) => String(n).repeat(9000))
  await engines.register(
    playbook('collection', [
      { step: 'each', retry: { attempts: 2 }, loop: { in: large, mode: 'parallel', max_in_flight: 1 } },
    ]),
  )
  await engines.start({ each: () => 1 }, { runs: false })
  const results = createResultStore({ pool: worker() })
  let loads = 0
  await engines.start(
    { each: () => 1 },
    {
      drives: false,
      results: {
        ...results,
        load(result) {
          if (loads++ === 0) throw new ToolError('not now', { retryable: true })
          return results.load(result)
        },
      },
    },
  )

  expect(await engines.ended(await engines.run('collection'))).toMatchObject({ status: 'COMPLETED' })
  expect(loads).toBe(2)
})

it('what is refused while a value is fetched is decided again on the log, not on the state that was ahead of it', async () => {
  const [value, reading, work] = [gate(), gate(), gate()]
  const asked = { value: false, state: false }
  const kept = createResultStore({ pool: worker() })
  await engines.register(playbook('quick', [{ step: 'b' }]))
  await engines.register(
    playbook('overlap', [
      { step: 'a', next: { mode: 'inclusive', arcs: [{ step: 'b' }, { step: 'c' }] } },
      { step: 'b', on_error: 'continue', next: 'd' },
      { step: 'c', next: { mode: 'exclusive', arcs: [{ step: 'd', when: 'result == "x"' }] } },
      { step: 'd' },
    ]),
  )
  let overlapping = ''
  const both = async (_: unknown, { execution_id }: { execution_id: string }) => {
    if (execution_id === overlapping) await work.passed
  }
  const pool = faultyPool(worker(), async (sql) => {
    if (!sql.includes('from noetl.checkpoint')) return
    asked.state = true
    await reading.passed
  })
  await engines.start(
    {
      a: (_, { execution_id }) => {
        overlapping = execution_id
      },
      b: both,
      c: both,
      d: () => 1,
    },
    {
      pool,
      results: {
        // The end of b is refused, and that of c cannot be routed before its value is here.
        async store(result, origin) {
          if (origin.execution_id !== overlapping) return { value: result }
          if (origin.node_name === 'b') return { value: 'nul \0 inside' }
          return origin.node_name === 'c' ? { ref: '99', bytes: 9999 } : { value: result }
        },
        async load(result) {
          if (!('ref' in result)) return kept.load(result)
          asked.value = true
          await value.passed
          return 'x'
        },
      },
    },
  )
  const id = await engines.run('overlap')
  await until('both run', async () => (await engines.log(id)).length === 5)
  work.open()
  await until('both are on their way', () => asked.value && asked.state)
  value.open()
  // Whatever would be written now is there before another execution has ended.
  await engines.ended(await engines.run('quick'))
  expect(await engines.log(id)).toHaveLength(5)
  reading.open()

  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  const log = await engines.log(id)
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, n) => n + 1))
  const ends = log.filter(({ event_type }) => /^command\.(completed|failed)$/.test(event_type))
  expect(ends.map(({ node_id, status }) => `${node_id} ${status}`).sort()).toEqual([
    'a#1 completed',
    'b#1 failed',
    'c#1 completed',
    'd#1 completed',
    'd#2 completed',
  ])
})
