/** Sessions and calls of a gateway over a real NATS server, without a database: the test is the lease holder, and speaks for workers. */
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type Nats, type NatsMessage, openNats } from '../../../src/runtime/nats.ts'
import type { RemoteCall, RemoteOutcome } from '../../../src/runtime/remote/calls.ts'
import {
  RemoteGateway,
  type RemoteGatewayDeps,
  type RemotePool,
} from '../../../src/runtime/remote/gateway.ts'
import type {
  Answers,
  CallEnd,
  HeldCall,
  Problem,
  Requests,
  Verb,
} from '../../../src/runtime/remote/protocol.ts'
import { type RemoteWorker, startRemoteWorker } from '../../../src/runtime/remote/worker.ts'
import { startNats } from '../../support/nats.ts'
import { until } from '../../support/until.ts'

const log = pino({ level: 'silent' })
const server = await startNats()
const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})
afterAll(() => server.stop())

async function connect(more: { url?: string; cell?: string; inbox?: string } = {}): Promise<Nats> {
  const { url = server.url, cell = 'main', inbox = '_INBOX' } = more
  const nats = openNats(
    {
      natsUrl: [url],
      natsCredentials: undefined,
      natsCa: undefined,
      natsInbox: inbox,
      natsPlaintext: 'refuse',
      cell,
    },
    'test',
    log,
  )!
  stops.push(() => nats.close())
  await until('connected', () => nats.connected)
  return nats
}

interface TestGateway {
  readonly gateway: RemoteGateway
  readonly nats: Nats
  readonly pools: RemotePool[]
  readonly counts: { garbage: number; reoffered: number; crashed: number }
}

type AdoptCalls = RemoteGatewayDeps['adopt']

async function startTestGateway(
  more: { url?: string; cell?: string; database?: string; adopt?: AdoptCalls } = {},
): Promise<TestGateway> {
  const nats = await connect(more)
  const pools: RemotePool[] = []
  const counts = { garbage: 0, reoffered: 0, crashed: 0 }
  const gateway = new RemoteGateway({
    nats,
    log,
    version: '1.0.0',
    database: more.database ?? 'db',
    openPool: (pool) => pools.push(pool),
    closePool: () => {},
    adopt: more.adopt ?? (async () => {}),
    enqueue: async (_call, from) => `after ${from}`,
    hooks: {
      onGarbage: () => counts.garbage++,
      onReoffered: () => counts.reoffered++,
      onCrashed: (calls) => (counts.crashed += calls),
    },
  })
  stops.push(() => gateway.stop())
  return { gateway, nats, pools, counts }
}

const ABOUT: Requests['attach'] = {
  worker: 'w1',
  name: 'worker one',
  host: 'host',
  pid: 7,
  version: '1.0.0',
  executor: 'PG_worker',
  concurrency: 2,
  handlers: [{ what: 'job', name: 'mail', batch: 1 }],
  adopts: false,
}
const BEAT = { held: [], ending: [], leaving: false, moved: [], gone: false }

/** Speaks for a worker, message by message. */
async function speaker(gateway: RemoteGateway, url = server.url) {
  const nats = await connect({ url })
  const ask = async <V extends Verb>(verb: V, body: object, v = 1): Promise<Answers[V] & Problem> =>
    (await nats.request(nats.subject('gw', gateway.id, verb), { v, ...body }, 8000)) as Answers[V] & Problem
  return { nats, ask }
}

let numbers = 0
const call = (more: Partial<RemoteCall> = {}): RemoteCall => ({
  call: `job:${++numbers}:1`,
  what: 'job',
  name: 'mail',
  body: { n: numbers },
  ...more,
})
/** What a worker says of a call that it got from another gateway under the lease L1. */
const heldCall = (more: Partial<HeldCall> = {}): HeldCall => {
  const id = `j${++numbers}`
  const ref = { id, epoch: 1 }
  return { call: `job:${id}:1`, what: 'job', name: 'mail', lease: 'L1', refs: [ref], alone: false, ...more }
}
/** A lease holder with the lease `to` to which the calls are moved; their ends are collected. */
const adoptAs =
  (to: string, ends: Promise<unknown>[] = []): AdoptCalls =>
  async (_pool, held, resume) => {
    for (const { call: id, what, name, refs } of held)
      ends.push(
        resume({ call: id, what, name, refs, body: {}, lease: to }, never).catch((error: unknown) => error),
      )
  }
const never = new AbortController().signal
const done: RemoteOutcome = { status: 'completed', result: [] }

describe('a call', () => {
  it('is handed out, ends, and its end is answered after it is settled', async () => {
    const { gateway, pools } = await startTestGateway()
    const { ask } = await speaker(gateway)
    const { session } = await ask('attach', ABOUT)
    const [pool] = pools
    expect(pool!.slots).toBe(2)
    const one = call()
    const run = pool!.run(one, never)
    const { calls } = await ask('pull', { session, seq: 1 })
    expect(calls).toEqual([one])
    expect(gateway.state).toMatchObject({ offered: 1, held: 0, free: 1 })
    const next = ask('pull', { session, seq: 2 })
    await until('it is confirmed', () => gateway.state.held === 1)
    const ended = ask('ended', { session, ends: [{ call: one.call, outcome: done }] })
    expect(await run).toEqual({ ...done, worker: 'worker one' })
    expect(gateway.state.endsWaiting).toBe(1)
    pool!.settle(one.call, true)
    expect(await ended).toMatchObject({ written: [one.call], void: [] })
    // Its answer was lost: the same again.
    expect(await ask('ended', { session, ends: [{ call: one.call, outcome: done }] })).toMatchObject({
      written: [one.call],
    })
    void next.catch(() => {})
  })

  it('whose answer was lost is sent again to the same pull, and to another worker after a while', async () => {
    const { gateway, pools, counts } = await startTestGateway()
    const [one, other] = [await speaker(gateway), await speaker(gateway)]
    const { session } = await one.ask('attach', ABOUT)
    const run = pools[0]!.run(call(), never)
    const first = await one.ask('pull', { session, seq: 1 })
    const again = await one.ask('pull', { session, seq: 1 })
    expect(again.calls).toEqual(first.calls)
    expect(again.calls).toHaveLength(1)
    const second = await other.ask('attach', { ...ABOUT, worker: 'w2' })
    const taken = await other.ask('pull', { session: second.session, seq: 1 })
    expect(taken.calls).toEqual(first.calls)
    expect(counts.reoffered).toBe(1)
    // The first one comes late: it must not begin.
    const beat = await one.ask('beat', { ...BEAT, session, held: [first.calls[0]!.call] })
    expect(beat.drop).toMatchObject([{ call: first.calls[0]!.call, why: 'void' }])
    void other.ask('beat', { ...BEAT, session: second.session, held: [first.calls[0]!.call] })
    await other.ask('ended', {
      session: second.session,
      ends: [{ call: first.calls[0]!.call, outcome: done }],
    })
    expect(await run).toMatchObject(done)
  })

  it('fits into a message of a NATS server that takes small ones; one that does not fit fails', async () => {
    const own = await startNats({ config: 'max_payload: 65536' })
    stops.push(() => own.stop())
    const { gateway, pools } = await startTestGateway({ url: own.url })
    const { ask } = await speaker(gateway, own.url)
    const { session } = await ask('attach', { ...ABOUT, concurrency: 40 })
    const large = pools[0]!.run(call({ body: { text: 'x'.repeat(70_000) } }), never)
    const several = Array.from({ length: 12 }, () => call({ body: { text: 'x'.repeat(7000) } }))
    for (const one of several) pools[0]!.run(one, never).catch(() => {})
    const first = await ask('pull', { session, seq: 1 })
    const second = await ask('pull', { session, seq: 2 })
    expect(first.calls).toHaveLength(7)
    expect([...first.calls, ...second.calls]).toEqual(several)
    expect(await large).toMatchObject({
      status: 'failed',
      retryable: false,
      error: expect.stringMatching(/max_payload/),
    })
  })

  it('is gone with a worker that is silent, and its late end is void', async () => {
    const { gateway, pools, counts } = await startTestGateway()
    const { ask } = await speaker(gateway)
    const { session } = await ask('attach', ABOUT)
    const one = call()
    const run = pools[0]!.run(one, never).catch((error: unknown) => error)
    await ask('pull', { session, seq: 1 })
    await ask('beat', { ...BEAT, session, held: [one.call] })
    expect(await run).toMatchObject({ name: 'WorkerGone', began: true })
    expect(counts.crashed).toBe(1)
    expect(pools[0]!.slots).toBe(0)
    expect(await ask('ended', { session, ends: [{ call: one.call, outcome: done }] })).toMatchObject({
      problem: 'session',
    })
    const { session: again } = await ask('attach', ABOUT)
    expect(await ask('ended', { session: again, ends: [{ call: one.call, outcome: done }] })).toMatchObject({
      written: [],
      void: [one.call],
    })
  })

  it('of a worker that says goodbye is free, and charged to nobody', async () => {
    const { gateway, pools, counts } = await startTestGateway()
    const { ask } = await speaker(gateway)
    const { session } = await ask('attach', ABOUT)
    const one = call()
    const run = pools[0]!.run(one, never).catch((error: unknown) => error)
    await ask('pull', { session, seq: 1 })
    await ask('beat', { ...BEAT, session, held: [one.call] })
    await ask('beat', { ...BEAT, session, held: [one.call], leaving: true, gone: true })
    expect(await run).toMatchObject({ name: 'WorkerGone', began: false })
    expect(counts.crashed).toBe(0)
  })

  it('that finds no free slot goes back', async () => {
    const { gateway, pools } = await startTestGateway()
    const { ask } = await speaker(gateway)
    await ask('attach', ABOUT)
    await expect(pools[0]!.run(call(), never)).rejects.toMatchObject({ name: 'WorkerGone', began: false })
  })

  it('that is aborted is told to its worker at once, which may still say how it ended', async () => {
    const { gateway, pools } = await startTestGateway()
    const { ask } = await speaker(gateway)
    const { session } = await ask('attach', ABOUT)
    const abort = new AbortController()
    const one = call()
    const run = pools[0]!.run(one, abort.signal)
    await ask('pull', { session, seq: 1 })
    const waiting = ask('pull', { session, seq: 2 })
    await until('it is held', () => gateway.state.held === 1)
    abort.abort(Object.assign(new Error('no longer needed'), { why: 'cancelled' }))
    expect((await waiting).drop).toEqual([{ call: one.call, why: 'cancelled', message: 'no longer needed' }])
    const outcome: RemoteOutcome = { status: 'failed', error: 'stopped', retryable: false }
    void ask('ended', { session, ends: [{ call: one.call, outcome }] }).catch(() => {})
    expect(await run).toMatchObject(outcome)
  })

  it('under a lost lease ends at once, and its worker has a slot less until its handler has ended', async () => {
    const { gateway, pools } = await startTestGateway()
    const { ask } = await speaker(gateway)
    const { session } = await ask('attach', ABOUT)
    const abort = new AbortController()
    const one = call()
    const run = pools[0]!.run(one, abort.signal).catch((error: unknown) => error)
    await ask('pull', { session, seq: 1 })
    abort.abort(Object.assign(new Error('lost'), { why: 'lease_lost' }))
    expect(await run).toMatchObject({ message: 'lost' })
    expect(pools[0]!.slots).toBe(1)
    expect((await ask('beat', { ...BEAT, session, held: [one.call] })).drop).toMatchObject([{ why: 'void' }])
    await ask('beat', { ...BEAT, session })
    expect(pools[0]!.slots).toBe(2)
  })

  it('that killed a worker before gets one that runs nothing else', async () => {
    const { gateway, pools } = await startTestGateway()
    const { ask } = await speaker(gateway)
    const { session } = await ask('attach', ABOUT)
    const [plain, alone] = [call(), call({ alone: true })]
    const first = pools[0]!.run(plain, never)
    await ask('pull', { session, seq: 1 })
    const second = pools[0]!.run(alone, never)
    const third = pools[0]!.run(call(), never).catch((error: unknown) => error)
    const waiting = ask('pull', { session, seq: 2 })
    expect(pools[0]!.slots).toBe(1)
    const ended = ask('ended', { session, ends: [{ call: plain.call, outcome: done }] })
    await first
    pools[0]!.settle(plain.call, true)
    await ended
    expect((await waiting).calls).toEqual([alone])
    // The other did not find a place meanwhile.
    expect(await third).toMatchObject({ began: false })
    void ask('ended', { session, ends: [{ call: alone.call, outcome: done }] }).catch(() => {})
    expect(await second).toMatchObject(done)
  })
})

describe('a session', () => {
  it('of a process that attaches twice is one: what it holds goes on, what it did not get is sent again', async () => {
    const { gateway, pools } = await startTestGateway()
    const { ask } = await speaker(gateway)
    const { session } = await ask('attach', ABOUT)
    const [held, offered] = [call(), call()]
    const first = pools[0]!.run(held, never)
    await ask('pull', { session, seq: 1 })
    await ask('beat', { ...BEAT, session, held: [held.call] })
    void pools[0]!.run(offered, never).catch(() => {})
    expect((await ask('pull', { session, seq: 2 })).calls).toEqual([offered])
    const { session: again } = await ask('attach', { ...ABOUT, adopts: true })
    expect(pools[0]!.workers).toBe(1)
    expect(await ask('beat', { ...BEAT, session })).toMatchObject({ problem: 'session' })
    const asHeld = { what: 'job', name: 'mail', lease: 'x', refs: [], alone: false }
    expect(await ask('adopt', { session: again, held: [{ ...asHeld, call: held.call }] })).toMatchObject({
      yours: [held.call],
      void: [],
    })
    expect((await ask('pull', { session: again, seq: 1 })).calls).toEqual([offered])
    void ask('ended', { session: again, ends: [{ call: held.call, outcome: done }] }).catch(() => {})
    expect(await first).toMatchObject(done)
  })

  it('of a host under which workers keep dying begins after a pause', async () => {
    const { gateway, pools } = await startTestGateway()
    const { ask } = await speaker(gateway)
    const runs: Promise<unknown>[] = []
    const { session: living } = await ask('attach', { ...ABOUT, worker: 'living', leaving: true })
    for (let n = 0; n < 3; n++) {
      const { session } = await ask('attach', { ...ABOUT, worker: `w${n}`, concurrency: 1 })
      const one = call()
      runs.push(pools[0]!.run(one, never).catch((error: unknown) => error))
      await ask('pull', { session, seq: 1 })
      await ask('beat', { ...BEAT, session, held: [one.call] })
    }
    let isOver = false
    void Promise.all(runs).then(() => {
      isOver = true
    })
    await until('they are gone', async () => {
      await ask('beat', { ...BEAT, session: living })
      return isOver
    })
    const refused = await ask('attach', { ...ABOUT, worker: 'w9' })
    expect(refused.problem).toBe('pause')
    expect(refused.waitMs).toBeGreaterThan(2000)
    expect(await ask('attach', { ...ABOUT, worker: 'w9', host: 'another' })).toHaveProperty('session')
    // These have not died.
    expect(await ask('attach', { ...ABOUT, worker: 'living' })).toHaveProperty('session')
    expect(await ask('attach', { ...ABOUT, worker: 'w10', adopts: true })).toHaveProperty('session')
  })

  it('does not age while NATS is away', async () => {
    const own = await startNats()
    stops.push(() => own.stop())
    const { gateway, pools } = await startTestGateway({ url: own.url })
    const begun: string[] = []
    let end = (): void => {}
    const nats = await connect({ url: own.url })
    const worker = startRemoteWorker({
      ...ABOUT,
      nats,
      log,
      run: async ({ call: id }) => {
        begun.push(id)
        await new Promise<void>((resolve) => {
          end = resolve
        })
        return done
      },
    })
    stops.push(() => worker.stop())
    await until('it is attached', () => worker.gateway !== undefined)
    const one = call()
    const run = pools[0]!.run(one, never)
    await until('it runs', () => begun.length === 1)
    await own.kill()
    await new Promise((resolve) => setTimeout(resolve, 7000))
    // It ends while nobody can hear it.
    end()
    await own.start()
    expect(await run).toMatchObject(done)
    pools[0]!.settle(one.call, true)
    expect(begun).toEqual([one.call])
    await until('the worker knows', () => gateway.state.endsWaiting === 0 && worker.running === 0)
  })
})

describe('an adoption', () => {
  it('of jobs that another worker runs here, or under an invented name, is void', async () => {
    const ends: Promise<unknown>[] = []
    const { gateway, pools } = await startTestGateway({ adopt: adoptAs('L2', ends) })
    const [one, other] = [await speaker(gateway), await speaker(gateway)]
    const { session } = await one.ask('attach', ABOUT)
    const runs = call({ call: 'job:mine:1', lease: 'L2', refs: [{ id: 'mine', epoch: 1 }] })
    void pools[0]!.run(runs, never).catch(() => {})
    await one.ask('pull', { session, seq: 1 })
    await one.ask('beat', { ...BEAT, session, held: [runs.call] })
    const second = await other.ask('attach', { ...ABOUT, worker: 'w2', adopts: true })
    const held = [
      heldCall(),
      heldCall({ call: 'x', refs: [{ id: 'mine', epoch: 1 }] }),
      heldCall({ call: 'job:mine:2', refs: [{ id: 'mine', epoch: 2 }] }),
      heldCall({ call: 'x' }),
      heldCall({ refs: [] }),
    ]
    const [adopted, ...invented] = held.map(({ call: id }) => id)
    expect(await other.ask('adopt', { session: second.session, held })).toMatchObject({
      yours: [adopted],
      void: invented,
    })
    expect(ends).toHaveLength(1)
  })
})

describe('an adoption that takes long', () => {
  it('counts for the session that the worker has by then', async () => {
    const ends: Promise<unknown>[] = []
    let go = (): void => {}
    let asked = 0
    const { gateway } = await startTestGateway({
      async adopt(...given) {
        asked++
        await new Promise<void>((resolve) => {
          go = resolve
        })
        await adoptAs('L2', ends)(...given)
      },
    })
    const { ask, nats } = await speaker(gateway)
    const about = { ...ABOUT, adopts: true }
    const held = [heldCall()]
    const { session } = await ask('attach', about)
    nats.publish(nats.subject('gw', gateway.id, 'adopt'), { v: 1, session, held })
    await until('it waits for the database', () => asked === 1)
    const again = await ask('attach', about)
    const answer = ask('adopt', { session: again.session, held })
    // Requests come in their order: the second adoption waits.
    await ask('beat', { ...BEAT, session: again.session })
    go()
    expect(await answer).toMatchObject({
      yours: [held[0]!.call],
      void: [],
      leases: { [held[0]!.call]: 'L2' },
    })
    expect(asked).toBe(1)
    expect(gateway.state.held).toBe(1)
    void ask('ended', { session: again.session, ends: [{ call: held[0]!.call, outcome: done }] }).catch(
      () => {},
    )
    expect(await Promise.all(ends)).toMatchObject([done])
  })

  it('is asked for again at the same gateway', async () => {
    const cell = 'slow'
    const first = await startTestGateway({ cell })
    const worker = startRemoteWorker({
      ...ABOUT,
      nats: await connect({ cell }),
      log,
      shutdownMs: 0,
      run: (_call, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ status: 'released' }))),
    })
    stops.push(() => worker.stop())
    await until('it is attached', () => worker.gateway === first.gateway.id)
    const one = call({ call: 'job:d:1', lease: 'L1', refs: [{ id: 'd', epoch: 1 }] })
    const run = first.pools[0]!.run(one, never).catch((error: unknown) => error)
    await until('it runs', () => worker.running === 1)
    const asked: string[] = []
    let go = (): void => {}
    const isOpen = new Promise<void>((resolve) => {
      go = resolve
    })
    const slow = async (name: string) =>
      startTestGateway({
        cell,
        async adopt(...given) {
          asked.push(name)
          await isOpen
          await adoptAs(name)(...given)
        },
      })
    const others = [await slow('one'), await slow('two'), await slow('three')]
    first.gateway.drain()
    // The second session of the worker: the first did not get its answer in time.
    const names = new Set<string>()
    await until('it attached again', () => {
      for (const { gateway } of others)
        for (const { session } of gateway.state.workers) names.add(`${gateway.id} ${session}`)
      return names.size === 2
    })
    go()
    await until('it is there', () => worker.gateway !== undefined)
    expect(new Set([...names].map((name) => name.split(' ')[0]))).toEqual(new Set([worker.gateway]))
    expect(asked).toHaveLength(1)
    expect(await run).toMatchObject({ name: 'CallMoved' })
  })
})

it('a worker reports ends that come together in one message', async () => {
  const nats = await connect({ cell: 'together' })
  const messages: number[] = []
  let answers = 0
  const calls = Array.from({ length: 6 }, () => call())
  nats.subscribe(nats.subject('gw', 'fake', '*'), (message) => {
    const verb = message.subject.split('.').at(-1)
    if (verb === 'attach') message.respond({ v: 1, session: 's' })
    else if (verb === 'pull' && answers++ === 0)
      message.respond({ v: 1, seq: 1, calls, drop: [], waitedMs: 0, leave: false })
    else if (verb === 'beat') message.respond({ v: 1, drop: [], leave: false })
    else if (verb === 'ended') {
      const { ends } = message.body as Requests['ended']
      messages.push(ends.length)
      message.respond({ v: 1, written: ends.map(({ call: id }) => id), void: [] })
    }
  })
  const worker = startRemoteWorker({
    ...ABOUT,
    nats: await connect({ cell: 'together' }),
    log,
    run: async () => done,
  })
  const alive = { v: 1, gateway: 'fake', version: '1', database: 'db', since: 1, room: 0, attached: 0 }
  await until('all ends came', () => {
    if (answers === 0) nats.publish(nats.subject('gw', 'alive'), { ...alive, draining: false })
    return messages.reduce((sum, count) => sum + count, 0) === calls.length
  })
  expect(messages).toEqual([calls.length])
  await worker.stop()
})

it('a worker that hears no gateway says so once, and what to do', async () => {
  const lines: { msg: string; subject?: string }[] = []
  const worker = startRemoteWorker({
    ...ABOUT,
    nats: await connect({ cell: 'nobody' }),
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    run: async () => done,
  })
  await until('it says so', () => lines.length > 0)
  await delay(1000)
  expect(lines).toMatchObject([
    {
      subject: 'sd.nobody.gw.alive',
      msg: 'no gateway is there: run `stagedoor start` with the same NATS_URL and STAGEDOOR_CELL as this worker',
    },
  ])
  await worker.stop()
})

describe('a worker that stops', () => {
  it('gives back what comes late, and pulls no more', async () => {
    const nats = await connect({ cell: 'stops' })
    const pulls: NatsMessage[] = []
    const beats: Requests['beat'][] = []
    const ends: CallEnd[] = []
    nats.subscribe(nats.subject('gw', 'fake', '*'), (message) => {
      const verb = message.subject.split('.').at(-1)
      if (verb === 'attach') message.respond({ v: 1, session: 's' })
      else if (verb === 'pull') pulls.push(message)
      else if (verb === 'beat') {
        beats.push(message.body as Requests['beat'])
        message.respond({ v: 1, drop: [], leave: false })
      } else if (verb === 'ended') {
        const given = (message.body as Requests['ended']).ends
        ends.push(...given)
        message.respond({ v: 1, written: given.map(({ call: id }) => id), void: [] })
      }
    })
    const begun: string[] = []
    let end = (): void => {}
    const worker = startRemoteWorker({
      ...ABOUT,
      nats: await connect({ cell: 'stops' }),
      log,
      run: ({ call: id }) =>
        new Promise((resolve) => {
          begun.push(id)
          end = () => resolve(done)
        }),
    })
    const alive = { v: 1, gateway: 'fake', version: '1', database: 'db', since: 1, room: 0, attached: 0 }
    await until('it pulls', () => {
      if (pulls.length === 0) nats.publish(nats.subject('gw', 'alive'), { ...alive, draining: false })
      return pulls.length === 1
    })
    const [early, late] = [call(), call()]
    const send = (one: RemoteCall, seq: number) =>
      pulls.at(-1)!.respond({ v: 1, seq, calls: [one], drop: [], waitedMs: 0, leave: false })
    send(early, 1)
    await until('it runs and pulls again', () => begun.length === 1 && pulls.length === 2)
    const stopped = worker.stop()
    await until('it says that it leaves', () => beats.some(({ leaving }) => leaving))
    send(late, 2)
    await until('it gave it back', () => ends.length === 1)
    expect(ends).toEqual([{ call: late.call, outcome: { status: 'released' } }])
    end()
    await stopped
    expect(begun).toEqual([early.call])
    expect(pulls).toHaveLength(2)
    expect(ends).toHaveLength(2)
  })

  it('takes nothing new from the next gateway, to which it brings what it runs', async () => {
    const cell = 'stops-too'
    const first = await startTestGateway({ cell })
    let begun = 0
    let end = (): void => {}
    const worker = startRemoteWorker({
      ...ABOUT,
      nats: await connect({ cell }),
      log,
      run: () =>
        new Promise((resolve) => {
          begun++
          end = () => resolve(done)
        }),
    })
    await until('it is attached', () => worker.gateway === first.gateway.id)
    const one = call({ call: 'job:c:1', lease: 'L1', refs: [{ id: 'c', epoch: 1 }] })
    first.pools[0]!.run(one, never).catch(() => {})
    await until('it runs', () => begun === 1)
    const stopped = worker.stop()
    await until('it leaves', () => first.pools[0]!.slots === 1)
    const second = await startTestGateway({ cell, adopt: adoptAs('L2') })
    first.gateway.drain()
    await until('it is in the second', () => second.gateway.state.held === 1)
    expect(second.pools[0]!.slots).toBe(1)
    await expect(second.pools[0]!.run(call(), never)).rejects.toMatchObject({ began: false })
    expect(begun).toBe(1)
    end()
    await until('its end came', () => second.gateway.state.endsWaiting === 1)
    second.pools[0]!.settle(one.call, true)
    await stopped
  })
})

describe('a call that is adopted twice', () => {
  /** The database: which lease has the call. */
  function leases() {
    const leased = new Map<string, string>()
    const adoptions: string[] = []
    const adopt =
      (to: string): AdoptCalls =>
      async (pool, held, resume) => {
        const mine = held.filter(({ call: id, lease }) => leased.get(id) === lease)
        for (const { call: id, lease } of mine) {
          leased.set(id, to)
          adoptions.push(`${lease} to ${to}`)
        }
        await adoptAs(to)(pool, mine, resume)
      }
    return { leased, adoptions, adopt }
  }

  function startWorker(nats: Nats) {
    const seen = { begun: 0, aborted: 0 }
    const worker = startRemoteWorker({
      ...ABOUT,
      nats,
      log,
      shutdownMs: 0,
      run: (_call, { signal }) =>
        new Promise((resolve) => {
          seen.begun++
          signal.addEventListener('abort', () => {
            seen.aborted++
            resolve({ status: 'released' })
          })
        }),
    })
    stops.push(() => worker.stop())
    return { worker, seen }
  }

  it('goes on in the third gateway', async () => {
    const cell = 'thrice'
    const { leased, adoptions, adopt } = leases()
    const first = await startTestGateway({ cell, adopt: adopt('L1') })
    const { worker, seen } = startWorker(await connect({ cell }))
    await until('it is attached', () => worker.gateway === first.gateway.id)
    const one = call({ call: 'job:a:1', lease: 'L1', refs: [{ id: 'a', epoch: 1 }] })
    leased.set(one.call, 'L1')
    const run = first.pools[0]!.run(one, never).catch((error: unknown) => error)
    await until('it runs', () => seen.begun === 1)
    const second = await startTestGateway({ cell, adopt: adopt('L2') })
    first.gateway.drain()
    await until('it is in the second', () => worker.gateway === second.gateway.id)
    expect(await run).toMatchObject({ name: 'CallMoved' })
    first.gateway.stop()
    const third = await startTestGateway({ cell, adopt: adopt('L3') })
    second.gateway.drain()
    await until('it is in the third', () => worker.gateway === third.gateway.id)
    expect(adoptions).toEqual(['L1 to L2', 'L2 to L3'])
    expect(third.gateway.state.held).toBe(1)
    expect(seen).toEqual({ begun: 1, aborted: 0 })
  })

  it('comes back to the first gateway, which did not hear of it', async () => {
    const { leased, adoptions, adopt } = leases()
    const { gateway, pools } = await startTestGateway({ adopt: adopt('L1') })
    const { ask } = await speaker(gateway)
    const { session } = await ask('attach', ABOUT)
    const one = call({ call: 'job:b:1', lease: 'L1', refs: [{ id: 'b', epoch: 1 }] })
    const run = pools[0]!.run(one, never).catch((error: unknown) => error)
    await ask('pull', { session, seq: 1 })
    await ask('beat', { ...BEAT, session, held: [one.call] })
    leased.set(one.call, 'L2')
    const held = [heldCall({ call: one.call, lease: 'L2', refs: one.refs! })]
    const again = await ask('attach', { ...ABOUT, adopts: true })
    const answer = { yours: [one.call], void: [], leases: { [one.call]: 'L1' } }
    expect(await ask('adopt', { session: again.session, held })).toMatchObject(answer)
    expect(await run).toMatchObject({ name: 'CallMoved' })
    expect(gateway.state.held).toBe(1)
    // The answer was lost: the worker asks with the lease that it knows.
    expect(await ask('adopt', { session: again.session, held })).toMatchObject(answer)
    expect(adoptions).toEqual(['L2 to L1'])
  })
})

describe('while NATS is away', () => {
  it('a gateway has no free slots, and a call goes back instead of being sent to nobody', async () => {
    const own = await startNats()
    stops.push(() => own.stop())
    const { gateway, pools } = await startTestGateway({ url: own.url })
    const { ask } = await speaker(gateway, own.url)
    const { session } = await ask('attach', ABOUT)
    const [pool] = pools
    ask('pull', { session, seq: 1 }).catch(() => {})
    // Answers come in the order of requests: the pull waits there.
    await ask('beat', { ...BEAT, session })
    const seen: number[] = []
    pool!.onSlots(() => seen.push(pool!.slots))
    await own.kill()
    await until('the slots are gone', () => seen.at(-1) === 0)
    await expect(pool!.run(call(), never)).rejects.toMatchObject({ name: 'WorkerGone', began: false })
    expect(gateway.state.offered).toBe(0)
    await own.start()
    await until('the slots are back', () => seen.at(-1) === 2)
  })
})

describe('what does not belong', () => {
  it('garbage on every subject is counted and harms nothing', async () => {
    const { gateway, nats, counts } = await startTestGateway()
    const { ask, nats: outside } = await speaker(gateway)
    const junk: unknown[] = [
      undefined,
      null,
      1,
      'x',
      [],
      {},
      { v: 1 },
      { v: 'x' },
      { v: 1, session: 5 },
      { v: 1, session: {} },
    ]
    let sent = 0
    for (const verb of ['attach', 'beat', 'pull', 'ended', 'adopt', 'enqueue', 'nothing'])
      for (const body of junk) {
        outside.publish(outside.subject('gw', gateway.id, verb), body)
        sent++
      }
    for (const body of junk) outside.publish(outside.subject('gw', 'alive'), body)
    await until('all was counted', () => counts.garbage === sent + junk.length)
    expect(await ask('attach', ABOUT)).toHaveProperty('session')
    expect(nats.connected).toBe(true)
  })

  it('a text that the database cannot store is made storable, or refused where it is the name of a thing', async () => {
    const { gateway, pools, counts } = await startTestGateway()
    const { ask, nats } = await speaker(gateway)
    const odd = 'a\u0000b\ud800c\n'
    const { session } = await ask('attach', { ...ABOUT, name: odd, host: odd, version: odd })
    const plain = 'a\ufffdb\ufffdc\ufffd'
    expect(gateway.state.workers).toMatchObject([{ name: plain, host: plain, version: plain }])
    const one = call()
    const run = pools[0]!.run(one, never)
    await ask('pull', { session, seq: 1 })
    const outcome: RemoteOutcome = { status: 'failed', error: odd, retryable: false }
    void ask('ended', { session, ends: [{ call: one.call, outcome }] }).catch(() => {})
    expect(await run).toEqual({ ...outcome, error: 'a\ufffdb\ufffdc\n', worker: plain })
    const refused: Partial<Requests['attach']>[] = [
      { worker: odd },
      { executor: odd },
      { handlers: [{ what: 'job', name: odd, batch: 1 }] },
    ]
    for (const more of refused)
      nats.publish(nats.subject('gw', gateway.id, 'attach'), { v: 1, ...ABOUT, ...more })
    await until('they were counted', () => counts.garbage === refused.length)
  })

  it('what a worker may send has limits', async () => {
    let asked = 0
    const { gateway, counts } = await startTestGateway({
      adopt: () => {
        asked++
        return new Promise(() => {})
      },
    })
    const { ask, nats } = await speaker(gateway)
    const job = (name: string) => ({ what: 'job' as const, name, batch: 1 })
    const named = (count: number, length: number) =>
      Array.from({ length: count }, (_, n) => job(`${n}`.padStart(length, 'x')))
    for (const handlers of [named(201, 3), named(150, 150)])
      expect(await ask('attach', { ...ABOUT, handlers })).toMatchObject({ problem: 'refused' })
    const { session } = await ask('attach', { ...ABOUT, junk: 'x'.repeat(1000), handlers: named(200, 3) })
    for (let n = 1; n < 16; n++)
      expect(await ask('attach', { ...ABOUT, worker: `p${n}`, handlers: named(n, 3) })).toHaveProperty(
        'session',
      )
    expect(await ask('attach', { ...ABOUT, worker: 'p16', handlers: named(16, 3) })).toMatchObject({
      problem: 'later',
    })
    const beat = { v: 1, ...BEAT, session, held: Array.from({ length: 1005 }, (_, n) => `${n}`) }
    nats.publish(nats.subject('gw', gateway.id, 'beat'), beat)
    await until('it was counted', () => counts.garbage === 1)
    const request = { v: 1, session, held: [heldCall()] }
    for (let n = 0; n < 4; n++) nats.publish(nats.subject('gw', gateway.id, 'adopt'), request)
    expect(await ask('adopt', request)).toMatchObject({ problem: 'later' })
    expect(asked).toBe(1)
  })

  it('a worker of a later version is told so, and goes to a gateway that understands it', async () => {
    const { gateway } = await startTestGateway()
    const { ask } = await speaker(gateway)
    expect(await ask('attach', ABOUT, 2)).toMatchObject({ problem: 'version' })
  })

  it('a second installation on the same subjects hands out nothing, and the first goes on', async () => {
    const first = await startTestGateway({ cell: 'both', database: 'one' })
    const nats = await connect({ cell: 'both' })
    const worker: RemoteWorker = startRemoteWorker({ ...ABOUT, nats, log, run: async () => done })
    stops.push(() => worker.stop())
    await until('it is attached', () => worker.gateway === first.gateway.id)
    // Its start is later by the clock that both share.
    await new Promise((resolve) => setTimeout(resolve, 5))
    const second = await startTestGateway({ cell: 'both', database: 'two' })
    await until('the second notices', () => !second.gateway.health().ok)
    expect(second.gateway.health().detail).toMatch(/cell_shared/)
    expect(first.gateway.health().ok).toBe(true)
    const attach = await nats.request(
      nats.subject('gw', second.gateway.id, 'attach'),
      { v: 1, ...ABOUT },
      2000,
    )
    expect(attach).toMatchObject({ problem: 'shared' })
    expect(worker.gateway).toBe(first.gateway.id)
    first.gateway.stop()
    await until('the second goes on', () => second.gateway.health().ok)
    await until('the worker went there', () => worker.gateway === second.gateway.id)
  })
})
