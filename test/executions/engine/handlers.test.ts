/** Steps whose handler another process has: handed over by whoever drives, run once, and never lost between the two. */
import { describe, expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import type { PlaybookHandler, PlaybookHandlers, ToolContext } from '../../../src/executions/tools/tool.ts'
import type { Pool } from '../../../src/kernel/postgres/connection.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { faultyPool } from './faulty-pool.ts'

const engines = useEngines()
const STEPS = [
  { step: 'a', next: 'b' },
  { step: 'b', next: 'c', args: { before: '${steps.a.result}', n: '${args.n}' } },
  { step: 'c', next: 'd' },
  { step: 'd' },
]
const hello = (name: string) =>
  playbook(name, STEPS, { args: { n: 1 }, output: { b: '${steps.b.result}', last: '${steps.d.result}' } })

/** Runs of each command, by its id. */
function counted(handlers: PlaybookHandlers) {
  const runs = new Map<string, number>()
  const wrapped = Object.entries(handlers).map(([name, handler]): [string, PlaybookHandler] => [
    name,
    (args, context) => {
      runs.set(context.command_id, (runs.get(context.command_id) ?? 0) + 1)
      return handler(args, context)
    },
  ])
  return { runs, handlers: Object.fromEntries(wrapped) }
}

const four = () =>
  counted({ a: () => 'A', b: ({ before, n }) => `${before}${n}`, c: () => 'C', d: () => 'D' })

function gate() {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

const rows = () =>
  engines.db.owner<{ command_id: string; leased_by: string | null; scope: unknown }>(
    'select command_id, leased_by, scope from noetl.command',
  )
const kinds = (log: readonly ExecutionEvent[]) =>
  log.map(({ event_type, node_name }) => `${event_type} ${node_name ?? ''}`.trim())
const endsOf = (log: readonly ExecutionEvent[]) =>
  log.filter(({ event_type }) => event_type === 'command.completed').map(({ meta }) => meta!.command_id)

/** What engines ask every few seconds. */
async function look(issueAfter: string, grace: string | null = null): Promise<boolean> {
  await engines.db
    .pool('stagedoor_worker')
    .query('select noetl.fn_handlers_review_missing($1, $2)', [issueAfter, grace])
  return true
}
const issues = () =>
  engines.db.owner<{ subject_ref: string; title: string; resolution: string | null }>(
    "select subject_ref, title, resolution from iu_core.system_issue where code = 'handler_missing'",
  )

describe('an engine that drives without the handler', () => {
  it('sends each step to an engine that has its handler, and the log is as if it ran here', async () => {
    await engines.start({})
    const { runs, handlers } = four()
    await engines.start(handlers, { drives: false })
    await engines.register(hello('hello'))
    const id = await engines.run('hello', { n: 7 })

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED', error: null })
    const log = await engines.log(id)
    expect(kinds(log)).toEqual([
      'playbook.initialized hello',
      ...['a', 'b', 'c', 'd'].flatMap((name) => [`command.issued ${name}`, `command.completed ${name}`]),
      'playbook.completed',
    ])
    expect(log.at(-1)!.result).toMatchObject({ value: { b: 'A7', last: 'D' } })
    expect([...runs.values()]).toEqual([1, 1, 1, 1])
    expect(endsOf(log)).toEqual([...runs.keys()])
    expect(await rows()).toEqual([])
    expect(await engines.differences()).toEqual([])
  })

  it('shares the shards with one that has it: every execution completes, whoever drives it', async () => {
    await engines.start({})
    const { runs, handlers } = four()
    const second = await engines.start(handlers)
    const held = () =>
      engines.db
        .owner('select from noetl.execution_shard where owner = $1', [second.id])
        .then((all) => all.length)
    await until('each has half', async () => (await held()) === 8)
    await engines.register(hello('shared'))
    const ids = await Promise.all(Array.from({ length: 32 }, () => engines.run('shared')))

    for (const id of ids) expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(runs.size).toBe(32 * 4)
    expect(new Set(runs.values())).toEqual(new Set([1]))
  })

  it('takes no item of a loop, sequential or fan-out, and does not look for one all the time', async () => {
    let claims = 0
    const pool = watched(engines.db.pool('stagedoor_worker'), (name) => {
      if (name === 'stagedoor_command_claim') claims++
    })
    await engines.start({}, { pool, pollMs: 60_000 })
    const seen: unknown[] = []
    const { runs, handlers } = counted({
      one: ({ item }) => seen.push(item),
      each: ({ item }) => Number(item) * 2,
    })
    await engines.start(handlers, { drives: false })
    const items = Array.from({ length: 300 }, (_, index) => index)
    await engines.register(
      playbook('loops', [
        { step: 'one', loop: { in: ['x', 'y', 'z'] }, args: { item: '${item}' }, next: 'each' },
        { step: 'each', loop: { in: items, mode: 'fanout', max_in_flight: 10 }, args: { item: '${item}' } },
      ]),
    )
    const id = await engines.run('loops')

    expect(await engines.ended(id)).toMatchObject({
      status: 'COMPLETED',
      state: { fanout: { each: { done: 300, failed: 0 } } },
    })
    expect(seen).toEqual(['x', 'y', 'z'])
    expect(runs.size).toBe(303)
    expect(claims).toBeLessThan(5)
  })

  it('gives a step everything that it refers to, also what is large, and who began it', async () => {
    await engines.start({})
    const contexts: ToolContext[] = []
    const large = 'x'.repeat(50_000)
    await engines.start(
      {
        a: () => large,
        b: ({ before }, context) => {
          contexts.push(context)
          return String(before).length
        },
      },
      { drives: false },
    )
    await engines.register(
      playbook(
        'large',
        [
          { step: 'a', next: 'b' },
          { step: 'b', args: { before: '${steps.a.result}' } },
        ],
        {
          output: '${steps.b.result}',
        },
      ),
    )
    const id = await engines.run('large')

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect((await engines.log(id)).at(-1)!.result).toMatchObject({ value: 50_000 })
    expect(contexts[0]).toMatchObject({ execution_id: id, step: 'b', attempt: 1, command_id: `${id}:b#1:1` })
    expect(contexts[0]).not.toHaveProperty('index')
  })

  it('has a step tried again there, each attempt handed over', async () => {
    await engines.start({})
    const { runs, handlers } = counted({
      a: (_, { attempt }) => {
        if (attempt < 3) throw new Error(`attempt ${attempt}`)
        return attempt
      },
    })
    await engines.start(handlers, { drives: false })
    await engines.register(playbook('again', [{ step: 'a', retry: { attempts: 3 } }]))
    const id = await engines.run('again')

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect([...runs]).toEqual([1, 2, 3].map((attempt) => [`${id}:a#1:${attempt}`, 1]))
  })

  it('fails nothing while the only process with the handlers is restarted: steps, loops and sub-playbooks wait for it', async () => {
    await engines.start({})
    const items = Array.from({ length: 20 }, (_, index) => index)
    await engines.register(playbook('restarted-child', [{ step: 'a' }]))
    await engines.register(
      playbook('restarted-plain', [{ step: 'a', next: 'b', retry: { attempts: 5 } }, { step: 'b' }]),
    )
    await engines.register(
      playbook('restarted-loops', [
        { step: 'a', loop: { in: [1, 2] }, next: 'b' },
        { step: 'b', loop: { in: items, mode: 'fanout', max_in_flight: 5 } },
      ]),
    )
    await engines.register(
      playbook('restarted-parent', [
        { step: 'sub', tools: [{ tool: 'playbook', call: 'restarted-child', args: {} }] },
      ]),
    )
    const NAMES = ['restarted-plain', 'restarted-loops', 'restarted-parent']
    const run = () => Promise.all(NAMES.map((name) => engines.run(name)))
    const { handlers } = counted({ a: () => 'A', b: () => 'B' })

    const ids = await run()
    for (let restart = 0; restart < 3; restart++) {
      const process = await engines.start(handlers, { drives: false })
      ids.push(...(await run()))
      await process.stop()
      ids.push(...(await run()))
    }
    await until('what is due waits', async () => (await rows()).length > 0)
    await engines.start(handlers, { drives: false })

    for (const id of ids) expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await rows()).toEqual([])
  })

  it('opens an issue about a missing handler, and resolves it when the handler is back', async () => {
    await engines.start({ other: () => null })
    await engines.start({ a: () => null }, { runs: false, leaseMs: 60_000, name: 'runs nothing' })
    await engines.register(playbook('missing', [{ step: 'a', next: 'other' }, { step: 'other' }]))
    const id = await engines.run('missing')
    await until('it waits', async () => (await rows()).length === 1)
    expect(await issues()).toEqual([])
    await until('it is missed', () => look('1 minute'))
    expect(await issues()).toEqual([])
    await until('people are told', async () => (await look('0 seconds')) && (await issues()).length === 1)
    expect(await issues()).toEqual([
      {
        subject_ref: 'handler:a',
        title: 'No running process has the handler a; 1 step(s) of 1 execution(s) wait for it',
        resolution: null,
      },
    ])

    await engines.start({ a: () => null }, { drives: false })
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    await until(
      'it is resolved',
      async () => (await look('0 seconds')) && (await issues())[0]!.resolution !== null,
    )
    expect(await engines.db.owner('select from noetl.missing_handler')).toEqual([])
  })

  it('fails what waits for a handler after the grace that was set, once, and says what to do', async () => {
    await engines.start({ other: () => null })
    const items = Array.from({ length: 2500 }, (_, index) => index)
    await engines.register(playbook('grace', [{ step: 'nowhere', retry: { attempts: 5 } }]))
    await engines.register(
      playbook('grace-loops', [{ step: 'each', loop: { in: items, mode: 'fanout', max_in_flight: 100 } }]),
    )
    const [step, loop] = [await engines.run('grace'), await engines.run('grace-loops')]
    await until('both wait', async () => (await rows()).some(({ command_id }) => command_id.startsWith(step)))
    const both = Promise.all([engines.ended(step), engines.ended(loop)])
    let over = false
    void both.finally(() => {
      over = true
    })
    await until('the grace is over for all', async () => (await look('1 minute', '0 seconds')) && over)

    const [failed, loopFailed] = await both
    expect(failed).toMatchObject({ status: 'FAILED' })
    expect(failed.error).toMatch(/No running process has had the handler nowhere for .*--handlers/)
    expect(kinds(await engines.log(step)).filter((kind) => kind.startsWith('command.'))).toEqual([
      'command.issued nowhere',
      'command.failed nowhere',
    ])
    expect(loopFailed).toMatchObject({
      status: 'FAILED',
      state: { fanout: { each: { done: 0, failed: 2500 } } },
    })
    expect(await rows()).toEqual([])
  })

  it('takes a step back when its execution is cancelled', async () => {
    await engines.start({})
    const stopped = gate()
    await engines.start(
      {
        a: (_, { signal }) => {
          signal.addEventListener('abort', stopped.open)
          return stopped.opened
        },
      },
      { drives: false, leaseMs: 3000 },
    )
    await engines.register(playbook('cancelled', [{ step: 'a' }]))
    const id = await engines.run('cancelled')
    await until('it runs', async () => (await rows()).some(({ leased_by }) => leased_by !== null))
    await engines.db.pool('stagedoor_worker').query('select noetl.fn_execution_cancel($1)', [id])

    expect(await engines.ended(id)).toMatchObject({ status: 'CANCELLED' })
    expect(await rows()).toEqual([])
    await stopped.opened
  })
})

describe('a step that was handed over', () => {
  it('whose process died waits for another that has the handler, and ends once', async () => {
    await engines.start({})
    const late = gate()
    const dead = counted({ a: () => late.opened.then(() => 'late') })
    // Its heartbeat stands still and it asks for nothing any more, as a process that was killed.
    let isDead = false
    const over = gate()
    const pool = faultyPool(engines.db.pool('stagedoor_worker'), async () => {
      if (isDead) await over.opened
    })
    const terms = { pool, sendsHeartbeats: false, drives: false, leaseMs: 60_000 }
    const killed = await engines.start(dead.handlers, terms)
    await engines.register(playbook('died', [{ step: 'a' }], { output: '${steps.a.result}' }))
    const id = await engines.run('died')
    await until('the first runs it', () => dead.runs.size === 1)
    isDead = true
    await engines.endLease(killed.id)
    await until('it is free again', async () => (await rows()).every(({ leased_by }) => leased_by === null))
    await until('it is known to run', async () => (await engines.status(id)) === 'RUNNING')
    const heir = counted({ a: () => 'heir' })
    await engines.start(heir.handlers, { drives: false })

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    late.open()
    over.open()
    const log = await engines.log(id)
    expect(log.at(-1)!.result).toMatchObject({ value: 'heir' })
    expect([...heir.runs]).toEqual([[`${id}:a#1:1`, 1]])
    expect(endsOf(log)).toEqual([`${id}:a#1:1`])
  })

  it.each(['plain', 'sequential'])(
    'is not begun by the next owner, although that has the handler (%s)',
    async (kind) => {
      const first = await engines.start({})
      const running = gate()
      const { runs, handlers } = counted({ a: () => running.opened })
      await engines.start(handlers, { drives: false })
      await engines.register(
        playbook(`next-${kind}`, [{ step: 'a', ...(kind === 'plain' ? {} : { loop: { in: [1] } }) }]),
      )
      const id = await engines.run(`next-${kind}`)
      await until('it runs', () => runs.size === 1)
      await first.stop()
      const taken = new Set<number>()
      const next = counted({ a: () => 'twice' })
      await engines.start(next.handlers, {
        runs: false,
        hooks: { onShardTaken: (shard) => taken.add(shard) },
      })
      await until('the next owner has it', () => taken.size === 16)
      // What comes after it in the inbox was told to the execution: by then it would have begun its commands.
      await engines.db.pool('stagedoor_worker').query('select noetl.fn_execution_pause($1)', [id])
      await until('it is told', async () => (await engines.status(id)) === 'PAUSED')
      await engines.db.pool('stagedoor_worker').query('select noetl.fn_execution_resume($1)', [id])
      expect(next.runs.size).toBe(0)
      running.open()

      expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
      expect(next.runs.size).toBe(0)
      expect([...runs.values()]).toEqual([1])
      expect(endsOf(await engines.log(id))).toEqual([...runs.keys()])
    },
  )

  it('and ended while nobody drove is taken from the inbox, not run again', async () => {
    const first = await engines.start({})
    const running = gate()
    const { runs, handlers } = counted({ a: () => running.opened.then(() => 'once') })
    await engines.start(handlers, { drives: false })
    await engines.register(playbook('inbox', [{ step: 'a' }], { output: '${steps.a.result}' }))
    const id = await engines.run('inbox')
    await until('it runs', () => runs.size === 1)
    await first.stop()
    running.open()
    await until('its end is in the inbox', async () => (await rows()).length === 0)
    const next = counted({ a: () => 'twice' })
    await engines.start(next.handlers)

    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect((await engines.log(id)).at(-1)!.result).toMatchObject({ value: 'once' })
    expect(next.runs.size).toBe(0)
  })
})

/** Calls back with the name of every prepared statement. */
function watched(pool: Pool, asked: (name: string | undefined) => void): Pool {
  return new Proxy(pool, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'query') return value.bind(target)
      return (config: { name?: string }, ...more: unknown[]) => {
        asked(config.name)
        return value.call(target, config, ...more)
      }
    },
  })
}
