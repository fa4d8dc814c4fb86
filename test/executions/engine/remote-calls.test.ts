/** Steps and items whose handlers run in remote workers: the engine of a gateway holds their leases, and knows what became of each call. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type GatewayEngine, startGatewayEngine } from '../../../src/executions/engine/engine.ts'
import type { ExecutionEvent } from '../../../src/executions/event.ts'
import { createResultStore } from '../../../src/executions/results.ts'
import { type PlaybookHandlers, type ToolContext, ToolError } from '../../../src/executions/tools/tool.ts'
import { createPool, type Pool } from '../../../src/kernel/postgres/connection.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { FakeGateway, FakeWorker } from './fake-remote.ts'
import { faultyAnswers, faultyPool, gate } from './faulty-pool.ts'

const engines = useEngines()
const { owner } = engines.db
const worker = () => engines.db.pool('stagedoor_worker')
const started: GatewayEngine[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((engine) => engine.stop()))
})

interface Gateway {
  readonly calls: FakeGateway
  readonly engine: GatewayEngine
}

async function startGateway(
  handlers: readonly string[],
  options: { pool?: Pool; leaseMs?: number; name?: string; shutdownMs?: number } = {},
): Promise<Gateway> {
  const calls = new FakeGateway()
  const engine = await startGatewayEngine({
    pool: worker(),
    listenUrl: engines.db.url('stagedoor_worker'),
    results: createResultStore({ pool: worker() }),
    tools: { http: async () => 'over http' },
    handlers,
    remote: calls,
    shutdownMs: 0,
    ...options,
  })
  started.push(engine)
  return { calls, engine }
}

function attach({ calls }: Gateway, handlers: PlaybookHandlers, concurrency = 4, name = 'w1'): FakeWorker {
  const remote = new FakeWorker(name, concurrency, handlers)
  remote.attach(calls)
  return remote
}

const fanout = (name: string, count: number, more: object = {}) =>
  playbook(name, [
    {
      step: 'each',
      loop: { in: Array.from({ length: count }, (_, index) => index), mode: 'fanout', max_in_flight: 500 },
      args: { item: '${item}' },
      ...more,
    },
  ])

const commands = () =>
  owner<{ command_id: string; leased_by: string | null; lease_epoch: number; crashes: number }>(
    'select command_id, leased_by, lease_epoch, crashes from noetl.command order by item_index',
  )
const completions = (log: readonly ExecutionEvent[]) =>
  log.filter(({ event_type }) => ['command.completed', 'loop.shard.done'].includes(event_type))

it('a fan-out of 2,000 items runs in the workers: each once, never more than their slots, and the log names them', async () => {
  await engines.start({})
  const gateway = await startGateway(['each'])
  const runs = new Map<unknown, number>()
  const most = new Map<FakeWorker, number>()
  const workers: FakeWorker[] = []
  const each = async ({ item }: { item: number }) => {
    runs.set(item, (runs.get(item) ?? 0) + 1)
    for (const one of workers) most.set(one, Math.max(most.get(one) ?? 0, one.running.length))
    await new Promise((resolve) => setImmediate(resolve))
    return item * 2
  }
  for (const name of ['host-a 1', 'host-b 2', 'host-c 3']) workers.push(attach(gateway, { each }, 20, name))
  await engines.register(fanout('many', 2000))
  const id = await engines.run('many')

  expect(await engines.ended(id)).toMatchObject({
    status: 'COMPLETED',
    state: { fanout: { each: { done: 2000, failed: 0 } } },
  })
  expect(runs.size).toBe(2000)
  expect(new Set(runs.values())).toEqual(new Set([1]))
  expect(Math.max(...most.values())).toBeLessThanOrEqual(20)
  const log = await engines.log(id)
  const where = new Set(completions(log).map(({ meta }) => meta!.worker))
  expect(where).toEqual(new Set(['host-a 1', 'host-b 2', 'host-c 3']))
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  await until('every end is settled', () => gateway.calls.settled.length === 2000)
  expect(new Set(gateway.calls.settled.map(({ counted }) => counted))).toEqual(new Set([true]))
  expect(workers.flatMap(({ held }) => [...held.keys()])).toEqual([])
  expect(await engines.differences()).toEqual([])
})

describe('a gateway claims', () => {
  it('nothing without workers, and at once when one comes', async () => {
    await engines.start({})
    let claims = 0
    const pool = faultyPool(worker(), (sql) => {
      if (sql.includes('fn_command_claim')) claims++
    })
    const gateway = await startGateway(['each'], { pool })
    await engines.register(fanout('later', 5))
    const id = await engines.run('later')
    await until('the items wait', async () => (await commands()).length === 5)
    expect(claims).toBe(0)
    attach(gateway, { each: () => 1 })
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  })

  it('for the free slots and no more, and gives back what it has no room for any more', async () => {
    await engines.start({})
    const gateway = await startGateway(['each'])
    const busy = gate()
    const first = attach(gateway, { each: () => busy.passed.then(() => 1) }, 3, 'first')
    const second = attach(gateway, { each: () => busy.passed.then(() => 1) }, 2, 'second')
    await engines.register(fanout('few', 30))
    const id = await engines.run('few')
    await until('both are full', () => first.running.length + second.running.length === 5)
    expect((await commands()).filter(({ leased_by }) => leased_by !== null)).toHaveLength(5)
    busy.open()
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  })

  it('no item that calls no handler', async () => {
    await engines.start({}, { runs: false })
    const gateway = await startGateway(['each'])
    attach(gateway, { each: () => 1 })
    await engines.register(fanout('plain', 3, { tools: [{ tool: 'http', args: {} }] }))
    await engines.register(fanout('handlers', 3))
    await engines.run('plain')
    expect(await engines.ended(await engines.run('handlers'))).toMatchObject({ status: 'COMPLETED' })
    expect((await commands()).map(({ lease_epoch }) => lease_epoch)).toEqual([0, 0, 0])
  })
})

it('six sets of handlers in one gateway with four sessions all get their items', async () => {
  await engines.start({})
  const pool = createPool(engines.db.url('stagedoor_worker'), { role: 'dot_executor', max: 4 })
  const names = Array.from({ length: 6 }, (_, n) => `set_${n}`)
  for (const name of names) {
    attach(await startGateway([name], { pool }), { [name]: () => 1 })
    await engines.register(playbook(name, [{ step: name }]))
  }
  const ids = await Promise.all(names.map((name) => engines.run(name)))
  for (const id of ids) expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  await Promise.all(started.splice(0).map((engine) => engine.stop()))
  await pool.end()
})

describe('what a handler gets and gives', () => {
  it('its arguments and its context; the rest of the step runs in the gateway, and secrets are masked there', async () => {
    vi.stubEnv('STAGEDOOR_SECRET_KEY', 'very-secret')
    await engines.start({})
    const gateway = await startGateway(['a', 'b'])
    const seen: { args: unknown; context: ToolContext }[] = []
    const remote = attach(gateway, {
      a: (args, context) => {
        seen.push({ args, context })
        return { echo: args.key }
      },
      b: (args) => args,
    })
    const tools = [
      { tool: 'http' as const, args: {} },
      { tool: 'handler' as const, call: 'a', args: { prev: '${prev}', key: '${secret.KEY}' } },
      { tool: 'handler' as const, call: 'b', args: { prev: '${prev}' } },
    ]
    await engines.register(playbook('several', [{ step: 'one', tools, timeout_ms: 60_000 }]))
    const id = await engines.run('several')
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    const { args, context } = seen[0]!
    expect(args).toEqual({ prev: 'over http', key: 'very-secret' })
    expect(context).toMatchObject({
      ...{ execution_id: id, playbook: 'several', step: 'one', attempt: 1, workspace_id: null, cause: null },
      ...{ signal: expect.any(AbortSignal), deadline: expect.any(Date), log: expect.anything() },
    })
    expect(context.command_id).toBe(remote.begun[0]!.split('@')[0])
    // Several calls of one command have ids of their own, which no other gateway adopts.
    expect(remote.begun).toEqual([`${context.command_id}@1.1`, `${context.command_id}@1.2`])
    const [end] = completions(await engines.log(id))
    expect(end!.result).toMatchObject({ value: { prev: { echo: '***' } } })
    await until('both are settled', () => gateway.calls.settled.length === 2)
    expect(remote.held.size).toBe(0)
  })

  it('an error keeps its meaning: a ToolError is final unless it says otherwise, everything else is retried', async () => {
    await engines.start({})
    const gateway = await startGateway(['final', 'again', 'plain', 'notjson'])
    const attempts: string[] = []
    attach(gateway, {
      final: (_, { step }) => {
        attempts.push(step)
        throw new ToolError('never')
      },
      again: (_, { step, attempt }) => {
        attempts.push(step)
        if (attempt === 1) throw new ToolError('later', { retryable: true })
      },
      plain: (_, { step, attempt }) => {
        attempts.push(step)
        if (attempt === 1) throw new Error('oops')
      },
      notjson: () => 1n,
    })
    const retry = { attempts: 2 }
    for (const name of ['final', 'again', 'plain', 'notjson'])
      await engines.register(playbook(name, [{ step: name, retry }]))
    expect(await engines.ended(await engines.run('final'))).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('never'),
    })
    expect(await engines.ended(await engines.run('again'))).toMatchObject({ status: 'COMPLETED' })
    expect(await engines.ended(await engines.run('plain'))).toMatchObject({ status: 'COMPLETED' })
    expect(await engines.ended(await engines.run('notjson'))).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('BigInt'),
    })
    expect(attempts).toEqual(['final', 'again', 'again', 'plain', 'plain'])
  })

  it('more than 256 KiB of arguments or result is an error that names the limit and the way out', async () => {
    await engines.start({})
    const gateway = await startGateway(['large'])
    let runs = 0
    attach(gateway, {
      large: () => {
        runs++
        return 'x'.repeat(300_000)
      },
    })
    const retry = { attempts: 3 }
    await engines.register(playbook('result', [{ step: 'large', retry }]))
    await engines.register(
      playbook('arguments', [{ step: 'large', args: { text: '${args.text}' }, retry }], {
        args: { text: '' },
      }),
    )
    for (const [name, args] of [
      ['result', {}],
      ['arguments', { text: 'x'.repeat(300_000) }],
    ] as const) {
      const { status, error } = await engines.ended(await engines.run(name, args))
      expect(status).toBe('FAILED')
      expect(error).toMatch(new RegExp(`too many for the ${name} of the handler large.*262144.*DATABASE_URL`))
    }
    expect(runs).toBe(1)
  })
})

it.each([
  ['the text of its error', `new.body->>'error' like '%poison%'`, 'does not store its error'],
  ['any end of it', `new.kind = 'command_ended' and new.body->>'error' not like 'its worker died%'`, 'died'],
])('a command of which the database refuses %s is not left leased', async (_what, condition, error) => {
  await engines.start({})
  await owner(`create function public.refuse_end() returns trigger language plpgsql as $$
    begin
      if ${condition} then raise exception using errcode = '22000', message = 'no'; end if;
      return new;
    end $$`)
  await owner(
    'create trigger refuse_end before insert on noetl.inbox for each row execute function public.refuse_end()',
  )
  try {
    const gateway = await startGateway(['each'])
    attach(
      gateway,
      {
        each: () => {
          throw new ToolError('poison')
        },
      },
      1,
      'half \u{d800} and \0',
    )
    await engines.register(playbook('refused', [{ step: 'each' }]))
    expect(await engines.ended(await engines.run('refused'))).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining(error),
    })
    expect(await commands()).toEqual([])
  } finally {
    await owner('drop trigger refuse_end on noetl.inbox')
    await owner('drop function public.refuse_end()')
  }
})

describe('an abort reaches the worker', () => {
  /** A handler that ends only by its signal. */
  function endless() {
    const reasons: string[] = []
    const each = (_: unknown, { signal }: ToolContext) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(String((signal.reason as Error).message))
          reject(signal.reason)
        })
      })
    return { reasons, each }
  }

  it('when the time of the step is up', async () => {
    await engines.start({})
    const gateway = await startGateway(['each'])
    const { reasons, each } = endless()
    const remote = attach(gateway, { each })
    await engines.register(playbook('slow', [{ step: 'each', timeout_ms: 150 }]))
    expect(await engines.ended(await engines.run('slow'))).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('timed out after 0.15 s'),
    })
    await until('the handler was aborted', () => reasons.length === 1)
    await until('the worker is free', () => remote.held.size === 0)
  })

  it('when the execution is cancelled', async () => {
    await engines.start({})
    const gateway = await startGateway(['each'], { leaseMs: 1000 })
    const { reasons, each } = endless()
    const remote = attach(gateway, { each })
    await engines.register(fanout('cancelled', 2))
    const id = await engines.run('cancelled')
    await until('both run', () => remote.running.length === 2)
    await worker().query('select noetl.fn_execution_cancel($1)', [id])
    expect(await engines.ended(id)).toMatchObject({ status: 'CANCELLED' })
    await until('both were aborted', () => reasons.length === 2 && remote.held.size === 0)
  })

  it('when the lease of the gateway is lost: what ran is void, and runs again under the next', async () => {
    await engines.start({})
    const gateway = await startGateway(['each'])
    const { reasons, each } = endless()
    let isEndless = true
    const remote = attach(gateway, { each: (args, context) => (isEndless ? each(args, context) : 1) })
    await engines.register(fanout('again', 2))
    const id = await engines.run('again')
    await until('both run', () => remote.running.length === 2)
    isEndless = false
    const first = gateway.engine.id
    await engines.endLease(first)
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(reasons).toHaveLength(2)
    expect(gateway.engine.id).not.toBe(first)
    expect(remote.begun.map((call) => call.split('@')[1]).sort()).toEqual(['1', '1', '2', '2'])
    expect(completions(await engines.log(id))).toHaveLength(2)
  })
})

describe('a worker that is gone', () => {
  it('is charged to what it ran; that runs again elsewhere, and its late end is void', async () => {
    await engines.start({})
    const gateway = await startGateway(['each'])
    const busy = gate()
    const first = attach(gateway, { each: () => busy.passed.then(() => 'late') }, 2, 'first')
    await engines.register(fanout('gone', 2))
    const id = await engines.run('gone')
    await until('both run', () => first.running.length === 2)
    gateway.calls.workerIsSilent(first)
    await until('they are free', async () => (await commands()).every(({ leased_by }) => leased_by === null))
    expect((await commands()).map(({ crashes }) => crashes)).toEqual([1, 1])
    busy.open()
    attach(gateway, { each: () => 'in time' }, 2, 'second')
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    first.attach(gateway.calls)
    first.report()
    const ends = completions(await engines.log(id))
    expect(ends.map(({ meta }) => meta!.worker)).toEqual(['second', 'second'])
  })

  it('leaves a command that is claimed again before the release of the first claim is answered: that ends, too', async () => {
    await engines.start({})
    const [released, asked, busy] = [gate(), gate(), gate()]
    const waiting = { release: 0, cancelled: 0 }
    const pool = faultyAnswers(worker(), async (sql) => {
      if (sql.includes('fn_command_release')) {
        waiting.release++
        await released.passed
      }
      if (sql.includes('fn_command_cancelled')) {
        waiting.cancelled++
        await asked.passed
      }
    })
    const gateway = await startGateway(['each'], { pool, leaseMs: 1000 })
    const first = attach(gateway, { each: () => new Promise(() => {}) }, 1, 'first')
    await engines.register(fanout('twice', 1))
    const id = await engines.run('twice')
    await until('it runs', () => first.running.length === 1)
    first.kill()
    await until('it was released', () => waiting.release === 1)
    // A heartbeat asks for the command, which nobody leases now.
    const before = waiting.cancelled
    await until('a heartbeat has asked', () => waiting.cancelled > before)
    const second = attach(gateway, { each: () => busy.passed.then(() => 1) }, 1, 'second')
    await until('it runs again', () => second.running.length === 1)
    asked.open()
    released.open()
    const beats = waiting.cancelled
    await until('the answers are processed', () => waiting.cancelled > beats)
    busy.open()
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(second.begun).toHaveLength(1)
  })

  it('charges nothing if it stops and says so, or if the call had not begun', async () => {
    await engines.start({})
    const gateway = await startGateway(['each'])
    const busy = gate()
    const first = attach(gateway, { each: () => busy.passed }, 1, 'first')
    await engines.register(fanout('stops', 1))
    const id = await engines.run('stops')
    await until('it runs', () => first.running.length === 1)
    const [call] = first.begun
    first.attach(gateway.calls)
    first.leave()
    gateway.calls.ended(first, call!, { status: 'released', worker: 'first' })
    await until('it is free', async () => (await commands())[0]?.leased_by === null)
    expect((await commands()).map(({ crashes }) => crashes)).toEqual([0])
    attach(gateway, { each: () => 1 }, 1, 'second')
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  })

  it('again and again because of one item: that fails after 20 deaths, and takes none of its neighbours with it', async () => {
    await engines.start({})
    const gateway = await startGateway(['each'])
    let deaths = 0
    const besides = new Set<number>()
    const spawn = (): void => {
      const name = `w${deaths}`
      const remote: FakeWorker = attach(
        gateway,
        {
          each: async ({ item }: { item: number }) => {
            if (item !== 3) return item
            if (deaths >= 3) besides.add(remote.running.length - 1)
            deaths++
            // After this call was handed out, and before the others have ended.
            setImmediate(() => {
              remote.kill()
              spawn()
            })
            await new Promise(() => {})
          },
        },
        4,
        name,
      )
    }
    spawn()
    await engines.register(
      playbook('poison', [
        {
          step: 'each',
          args: { item: '${item}' },
          loop: {
            in: Array.from({ length: 40 }, (_, index) => index),
            mode: 'fanout',
            max_in_flight: 500,
            allow_partial: true,
          },
        },
      ]),
    )
    const id = await engines.run('poison')
    expect(await engines.ended(id)).toMatchObject({ state: { fanout: { each: { done: 39, failed: 1 } } } })
    expect(deaths).toBe(20)
    const failed = (await engines.log(id)).filter(({ event_type }) => event_type === 'loop.shard.failed')
    expect(failed.map(({ error }) => error)).toEqual([expect.stringContaining('died 20 times')])
    // From its third death on it ran alone.
    expect(besides).toEqual(new Set([0]))
  })
})

describe('a gateway that is gone', () => {
  function counting(passed: Promise<void>) {
    const counter = { runs: 0 }
    const each = async () => {
      counter.runs++
      await passed
      return 'done'
    }
    return { counter, each }
  }

  it('hands over what runs: another adopts it, each handler runs once, and nothing is charged', async () => {
    await engines.start({})
    const [one, two] = [await startGateway(['each']), await startGateway(['each'])]
    const busy = gate()
    const { counter, each } = counting(busy.passed)
    const remote = attach(one, { each }, 3, 'kept')
    await engines.register(fanout('adopted', 3))
    const id = await engines.run('adopted')
    await until('all run', () => remote.running.length === 3)
    remote.leave()
    const adopted = await two.calls.adoptFrom(remote, one.engine.id, two.engine)
    expect(adopted.sort()).toEqual([...remote.held.keys()].sort())
    expect((await commands()).map(({ leased_by, crashes }) => [leased_by, crashes])).toEqual(
      Array(3).fill([two.engine.id, 0]),
    )
    // The first notices that its session is silent: what it holds no longer is not touched.
    one.calls.workerIsSilent(remote)
    busy.open()
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(counter.runs).toBe(3)
    const ends = completions(await engines.log(id))
    expect(ends.map(({ meta }) => meta!.worker)).toEqual(['kept', 'kept', 'kept'])
    await until('the worker may forget them', () => remote.held.size === 0)
    expect(two.calls.settled.map(({ counted }) => counted)).toEqual([true, true, true])
  })

  it('that crashes keeps its lease until others have adopted what its workers run', async () => {
    await engines.start({})
    const [one, two] = [await startGateway(['each']), await startGateway(['each'])]
    const busy = gate()
    const { counter, each } = counting(busy.passed)
    const remote = attach(one, { each }, 2)
    await engines.register(fanout('crashed', 2))
    const id = await engines.run('crashed')
    await until('both run', () => remote.running.length === 2)
    const former = one.engine.id
    await one.engine.crash(new Error('out of memory'))
    remote.leave()
    expect(await two.calls.adoptFrom(remote, former, two.engine)).toHaveLength(2)
    busy.open()
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(counter.runs).toBe(2)
  })

  it('takes with it what nobody adopts in time: it runs again, and the worker is told that its call is void', async () => {
    await engines.start({})
    const [one, two] = [await startGateway(['each']), await startGateway(['each'])]
    const aborted: string[] = []
    const remote = attach(
      one,
      {
        each: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted.push('first')
              reject(signal.reason)
            })
          }),
      },
      1,
    )
    await engines.register(fanout('late', 1))
    const id = await engines.run('late')
    await until('it runs', () => remote.running.length === 1)
    const former = one.engine.id
    remote.leave()
    await engines.endLease(former)
    expect(await two.calls.adoptFrom(remote, former, two.engine)).toEqual([])
    expect(aborted.length).toBeGreaterThan(0)
    // It may have got the item again while it was attached, and its handler never ends.
    remote.leave()()
    attach(two, { each: () => 1 }, 1, 'second')
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  })

  it('leaves a step of several tools to be run again', async () => {
    await engines.start({})
    const [one, two] = [await startGateway(['each']), await startGateway(['each'])]
    const busy = gate()
    const remote = attach(one, { each: () => busy.passed }, 1, 'first')
    const tools = [
      { tool: 'http' as const, args: {} },
      { tool: 'handler' as const, call: 'each', args: {} },
    ]
    await engines.register(playbook('two-tools', [{ step: 'each', tools }]))
    const id = await engines.run('two-tools')
    await until('it runs', () => remote.running.length === 1)
    remote.leave()
    expect(await two.calls.adoptFrom(remote, one.engine.id, two.engine)).toEqual([])
    // Also if the worker says that it is the only call.
    const [command] = await commands()
    const ref = { id: command!.command_id, epoch: command!.lease_epoch }
    expect(await two.engine.adopt(one.engine.id, [ref], two.calls.resume)).toEqual([])
    remote.leave()
    attach(two, { each: () => 1 }, 1, 'second')
    one.calls.workerIsSilent(remote)
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  })

  it('does not give a step more time than it has', async () => {
    await engines.start({})
    const [one, two] = [await startGateway(['each']), await startGateway(['each'])]
    const remote = attach(one, { each: () => new Promise(() => {}) }, 1)
    await engines.register(playbook('timed', [{ step: 'each', timeout_ms: 60_000 }]))
    const id = await engines.run('timed')
    await until('it runs', () => remote.running.length === 1)
    await owner(`update noetl.command set started_at = started_at - interval '1 hour'`)
    remote.leave()
    expect(await two.calls.adoptFrom(remote, one.engine.id, two.engine)).toHaveLength(1)
    expect(await engines.ended(id)).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('timed out after 60 s'),
    })
    await until('the worker was told', () => remote.held.size === 0)
  })

  it('adopts also when the first answer of the database is lost', async () => {
    await engines.start({})
    let broken = 0
    const pool = faultyAnswers(worker(), (sql) => {
      if (!sql.includes('fn_command_adopt') || broken > 0) return
      broken++
      throw new Error('Connection terminated unexpectedly')
    })
    const [one, two] = [await startGateway(['each']), await startGateway(['each'], { pool })]
    const busy = gate()
    const { counter, each } = counting(busy.passed)
    const remote = attach(one, { each }, 2)
    await engines.register(fanout('unanswered', 2))
    const id = await engines.run('unanswered')
    await until('both run', () => remote.running.length === 2)
    remote.leave()
    expect(await two.calls.adoptFrom(remote, one.engine.id, two.engine)).toHaveLength(2)
    expect(broken).toBe(1)
    busy.open()
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(counter.runs).toBe(2)
  })

  it('adopts nothing that runs there in another call, and cannot say while it stops', async () => {
    await engines.start({})
    const one = await startGateway(['each'])
    const busy = gate()
    const remote = attach(one, { each: () => busy.passed.then(() => 1) }, 1)
    await engines.register(fanout('occupied', 1))
    const id = await engines.run('occupied')
    await until('it runs', () => remote.running.length === 1)
    const { refs } = [...remote.held.values()][0]!
    const resume = vi.fn(() => Promise.reject(new Error('nothing was adopted')))
    expect(await one.engine.adopt(randomUUID(), refs, resume)).toEqual([])
    busy.open()
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(resume).not.toHaveBeenCalled()
    const stopped = one.engine.stop()
    await expect(one.engine.adopt(randomUUID(), refs, resume)).rejects.toThrow('just now')
    await stopped
  })

  it('calls what it adopted by its own lease', async () => {
    await engines.start({})
    const [one, two] = [await startGateway(['each']), await startGateway(['each'])]
    const remote = attach(one, { each: () => new Promise(() => {}) }, 1)
    await engines.register(fanout('lease', 1))
    const id = await engines.run('lease')
    await until('it runs', () => remote.running.length === 1)
    const { refs } = [...remote.held.values()][0]!
    const leases: unknown[] = []
    await two.engine.adopt(one.engine.id, refs, async ({ lease }) => {
      leases.push(lease)
      return { status: 'completed', result: 1 }
    })
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
    expect(leases).toEqual([two.engine.id])
  })

  it('adopts nothing under a lease that has ended, and has another soon', async () => {
    await engines.start({})
    const [one, two] = [await startGateway(['each']), await startGateway(['each'])]
    const busy = gate()
    const remote = attach(one, { each: () => busy.passed.then(() => 1) }, 1)
    await engines.register(fanout('no-lease', 1))
    const id = await engines.run('no-lease')
    await until('it runs', () => remote.running.length === 1)
    const former = two.engine.id
    await engines.endLease(former)
    const { refs } = [...remote.held.values()][0]!
    await expect(two.engine.adopt(one.engine.id, refs, two.calls.resume)).rejects.toMatchObject({
      code: 'SD805',
    })
    await until('it has a lease again', () => two.engine.id !== former && two.engine.health().ok)
    remote.leave()
    expect(await two.calls.adoptFrom(remote, one.engine.id, two.engine)).toHaveLength(1)
    busy.open()
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  })

  it('that stops waits until others have adopted what runs; what is left goes back without a charge', async () => {
    await engines.start({})
    const [one, two] = [
      await startGateway(['each'], { shutdownMs: 60_000, leaseMs: 1000 }),
      await startGateway(['each']),
    ]
    const busy = gate()
    const { counter, each } = counting(busy.passed)
    const remote = attach(one, { each }, 2)
    await engines.register(fanout('stops', 2))
    const id = await engines.run('stops')
    await until('both run', () => remote.running.length === 2)
    const stopped = one.engine.stop()
    remote.leave()
    expect(await two.calls.adoptFrom(remote, one.engine.id, two.engine)).toHaveLength(2)
    await stopped
    // The second stops at once, because it waits for nothing.
    await two.engine.stop()
    expect(remote.running).toEqual([])
    expect((await commands()).map(({ leased_by, crashes }) => [leased_by, crashes])).toEqual([
      [null, 0],
      [null, 0],
    ])
    expect(counter.runs).toBe(2)
    busy.open()
    attach(await startGateway(['each']), { each: () => 1 })
    expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
  })
})
