import { describe, expect, it } from 'vitest'
import { ToolError } from '../../../src/executions/tools/tool.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { gate } from './faulty-pool.ts'

const engines = useEngines()
const [ITEM, ITEMS, RESULTS] = ['${item}', '${args.items}', '${steps.each.results}']

describe.each(['sequential', 'parallel', 'fanout'] as const)('a %s loop', (mode) => {
  const looped = (name: string, loop: object = {}, more: object = {}) =>
    playbook(
      `${name}-${mode}`,
      [
        { step: 'each', args: { item: ITEM }, loop: { in: ITEMS, mode, ...loop }, ...more, next: 'after' },
        { step: 'after', args: { results: RESULTS } },
      ],
      { args: { items: [] } },
    )

  it('runs every item once and gives their results in order', async () => {
    const ran: number[] = []
    let results: unknown
    await engines.start({
      each: ({ item }) => {
        ran.push(item as number)
        return (item as number) * 10
      },
      after: (args) => {
        results = args.results
      },
    })
    await engines.register(looped('all'))
    const items = Array.from({ length: 40 }, (_, n) => n)
    const id = await engines.run(`all-${mode}`, { items })

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(ran.sort((a, b) => a - b)).toEqual(items)
    expect(results).toEqual(items.map((n) => n * 10))
    const log = await engines.log(id)
    expect(log.filter(({ event_type }) => event_type === 'loop.done')).toHaveLength(1)
    expect(log.filter(({ event_type }) => event_type === 'loop.fanin.completed')).toHaveLength(
      mode === 'fanout' ? 1 : 0,
    )
    expect(await engines.differences()).toEqual([])
  })

  it('ends at once when there is nothing to go through', async () => {
    await engines.start({ each: () => null, after: () => null })
    await engines.register(looped('none'))
    const id = await engines.run(`none-${mode}`)

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  })

  it('counts what failed, and goes on where a part is enough', async () => {
    await engines.start({
      each: ({ item }) => {
        if ((item as number) % 4 === 0) throw new ToolError(`no ${item}`)
        return item
      },
      after: () => null,
    })
    await engines.register(looped('part', { allow_partial: true }))
    const id = await engines.run(`part-${mode}`, { items: [1, 2, 3, 4, 5] })

    const { status, state } = await engines.ended(id)
    expect(status).toBe('COMPLETED')
    expect(state).toMatchObject({ loop: { each: { total: 5, done: 4, failed: 1, completed: true } } })
  })

  it('tries an item again before it counts as failed', async () => {
    const attempts = new Map<number, number>()
    await engines.start({
      each: ({ item }, { attempt }) => {
        attempts.set(item as number, attempt)
        if (attempt < 3) throw new Error('again')
        return item
      },
      after: () => null,
    })
    await engines.register(looped('again', {}, { retry: { attempts: 3 } }))
    const id = await engines.run(`again-${mode}`, { items: [1, 2, 3] })

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect([...attempts.values()]).toEqual([3, 3, 3])
  })

  it('ends with the first failure where its definition says so', async () => {
    await engines.start({
      each: ({ item }) => {
        if (item === 1) throw new ToolError('stop')
        return item
      },
    })
    await engines.register(looped('fast', { fail_fast: true, max_in_flight: 2 }))
    const id = await engines.run(`fast-${mode}`, { items: Array.from({ length: 200 }, (_, n) => n) })

    const ended = await engines.ended(id)
    expect(ended).toMatchObject({ status: 'FAILED' })
    expect(ended.error).toContain('stop')
    expect(await engines.db.owner('select from noetl.command where execution_id = $1', [id])).toEqual([])
    const [progress] = await engines.db.owner<Record<string, string | number>>(
      'select * from noetl.fn_loop_progress($1)',
      [id],
    )
    const { total, issued, done, failed, cancelled, open, status } = progress!
    expect({ total, open, sum: Number(done) + Number(failed) }).toEqual({ total: 200, open: '0', sum: 200 })
    expect(Number(cancelled)).toBe(Number(failed) - 1)
    expect(status).toBe(Number(done) === 0 ? 'failed' : 'partial')
    const ends = (await engines.log(id)).filter(({ event_type, meta }) =>
      mode === 'fanout'
        ? /^loop\.shard\.(done|failed)$/.test(event_type)
        : event_type === 'command.completed' || (event_type === 'command.failed' && meta!.final === true),
    )
    expect(ends).toHaveLength(Number(issued))
    expect(await engines.differences()).toEqual([])
  })
})

it('a loop entered again receives nothing of the old one, and each ends once', async () => {
  let rounds = 0
  await engines.start({ each: ({ item }) => item, count: () => ++rounds })
  const again = [{ when: 'result < 3', step: 'each' }]
  await engines.register(
    playbook(
      'circle',
      [
        { step: 'each', args: { item: ITEM }, loop: { in: ITEMS, mode: 'fanout' }, next: 'count' },
        { step: 'count', next: { mode: 'exclusive', arcs: again } },
      ],
      { args: { items: [] } },
    ),
  )
  const id = await engines.run('circle', { items: [1, 2, 3, 4] })

  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  const done = (await engines.log(id)).filter(({ event_type }) => event_type === 'loop.done')
  expect(new Set(done.map(({ meta }) => meta!.loop_id)).size).toBe(3)
  expect(done).toHaveLength(3)
})

it('an entry of a loop continues with results that are durable while the end of a later entry is written', async () => {
  const [second, secondEnd] = [gate(), gate()]
  let ended = 0
  await engines.start(
    {
      fork: () => null,
      each: (_, { command_id }) => (command_id.includes('each#2') ? second.passed : null),
      after: () => null,
    },
    // The end is decided on at once after this call.
    { hooks: { onCommandEnd: (step) => step === 'each' && ++ended === 2 && secondEnd.open() } },
  )
  const both = [{ step: 'each' }, { step: 'each' }]
  const arcs = [{ when: 'size(steps.each.results) == 1', step: 'after' }]
  await engines.register(
    playbook('twice', [
      { step: 'fork', next: { mode: 'inclusive', arcs: both } },
      { step: 'each', loop: { in: [1] }, next: { mode: 'exclusive', arcs } },
      { step: 'after' },
    ]),
  )
  // A flush that registers the results of a loop waits for this lock, and nothing else of the execution does.
  const lock = 'begin; lock table noetl.result_ref in share mode'
  const waiting = (count: number) =>
    until(`${count} sessions wait for the lock`, async () => {
      const rows = await engines.db.owner(
        `select from pg_locks where relation = 'noetl.result_ref'::regclass and not granted`,
      )
      return rows.length === count
    })
  const [one, other] = [await engines.db.session(), await engines.db.session()]
  await one.query(lock)
  const id = await engines.run('twice')
  try {
    await waiting(1)
    const locked = other.query(lock)
    await waiting(2)
    second.open()
    await secondEnd.passed
    // The flush with the first end is done before the other session has the lock, that with the second end waits for it.
    await one.query('commit')
    await locked
    // So does the first entry, which now combines its own results.
    await waiting(2)
  } finally {
    await one.query('rollback')
    await other.query('rollback')
  }

  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED', error: null })
  const ran = (await engines.log(id)).filter(({ event_type }) => event_type === 'command.completed')
  expect(ran.map(({ node_id }) => node_id).sort()).toEqual([
    'after#1',
    'after#2',
    'each#1',
    'each#2',
    'fork#1',
  ])
})
