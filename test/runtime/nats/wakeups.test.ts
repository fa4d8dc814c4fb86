/** Wake-ups over a real NATS server. Each bus has another address, as in another process. */
import { connect } from '@nats-io/transport-node'
import pino from 'pino'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { type Nats, openNats } from '../../../src/runtime/nats.ts'
import { type Hears, openWakeups, type Wakeups } from '../../../src/runtime/wakeups.ts'
import { useJobs } from '../../jobs/worker/support.ts'
import { useDatabase } from '../../support/database.ts'
import { startNats } from '../../support/nats.ts'
import { until } from '../../support/until.ts'

const log = pino({ level: 'silent' })
const db = useDatabase()
const jobs = useJobs(db)
const server = await startNats()
const opened: { close(): Promise<void> }[] = []

interface Bus {
  readonly url: string
  readonly wakeups: Wakeups
  readonly nats: Nats | undefined
  readonly counted: { process: number; notify: number; nats: number; garbage: number; echoes: number[] }
}

function urlOf(process: string): string {
  return `${db.url('stagedoor_worker')}?fallback_application_name=${process}`
}

interface BusOptions {
  readonly cell?: string
  readonly plain?: boolean
  readonly hears?: readonly Hears[]
  readonly natsUrl?: string
}

async function open(
  process: string,
  { cell = 'main', plain = false, hears = plain ? ['notify'] : ['nats', 'both'], natsUrl }: BusOptions = {},
): Promise<Bus> {
  const settings = {
    natsUrl: plain ? undefined : [natsUrl ?? server.url],
    natsCredentials: undefined,
    natsCa: undefined,
    natsInbox: '_INBOX',
    natsPlaintext: 'refuse' as const,
    cell,
  }
  const nats = openNats(settings, process, log)
  const counted: Bus['counted'] = { process: 0, notify: 0, nats: 0, garbage: 0, echoes: [] }
  const url = urlOf(process)
  const wakeups = openWakeups(url, log, {
    nats,
    hooks: {
      onWakeup: (carrier) => {
        counted[carrier] += 1
      },
      onGarbage: () => {
        counted.garbage += 1
      },
      onEcho: (ms) => counted.echoes.push(ms),
    },
  })
  opened.push({
    async close() {
      await wakeups.close()
      await nats?.close()
    },
  })
  await until(`the bus of ${process} hears ${hears}`, () => wakeups.works && hears.includes(wakeups.hears))
  return { url, wakeups, nats, counted }
}

async function forwarder(...buses: readonly Bus[]): Promise<Bus> {
  return until('one of them forwards', () => buses.find(({ wakeups }) => wakeups.hears === 'both'))
}

async function listening(): Promise<string[]> {
  const { rows } = await db.pool('postgres').query<{ lock: string }>(
    `select case (classid::bigint << 32) | objid::bigint when hashtextextended('stagedoor.wakeups', 0) then 'notify' else 'both' end as lock
       from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and database = (select oid from pg_database where datname = $1)
      order by 1`,
    [db.name],
  )
  return rows.map(({ lock }) => lock)
}

beforeEach(async () => {
  await server.kill()
  await server.start()
  await until('nobody of an earlier test listens', async () => (await listening()).length === 0)
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
})
afterAll(() => server.stop())

it('goes from one process to others over NATS, and one of them listens to the database', async () => {
  const buses = [await open('one'), await open('two'), await open('three')]
  const first = await forwarder(...buses)
  await until('nobody but it listens', async () => String(await listening()) === 'both')
  const others = buses.filter((bus) => bus !== first)
  const heard: string[] = []
  others[1]!.wakeups.on('commands', (key) => heard.push(key))
  await until('it is subscribed', () => {
    others[0]!.wakeups.tell('commands', '["a"]')
    return heard.includes('["a"]')
  })
  expect(others[1]!.counted).toMatchObject({ notify: 0, garbage: 0 })
  // Its own message does not come back to it.
  expect(others[0]!.counted.nats).toBe(0)
})

it('carries what plain SQL notifies, and begins a job of it in another process before a poll would', async () => {
  const begun = new Map<string, number>()
  const [here, there] = [await open('here'), await open('there')]
  const first = await forwarder(here, there)
  // In the process that does not listen to the database.
  const worker = first === here ? there : here
  await jobs.start(
    { quick: async ({ job_id }) => void begun.set(job_id, performance.now()) },
    { listenUrl: worker.url, pollMs: 3_600_000 },
  )
  const delays: number[] = []
  for (let n = 0; n < 40; n++) {
    await until('it waits', async () => {
      const idle = await db.pool('stagedoor_worker').query('select from iu_core.worker_idle')
      return idle.rowCount === 1
    })
    const [id] = await jobs.enqueue({ job_kind: 'quick' })
    const enqueuedAt = performance.now()
    await until('it began', () => begun.has(id!))
    delays.push(begun.get(id!)! - enqueuedAt)
  }
  delays.sort((a, b) => a - b)
  // A poll comes every two seconds. How many milliseconds it takes on a quiet machine is measured by `bench remote`.
  expect(delays[20]).toBeLessThan(500)
  expect(worker.counted.notify).toBe(0)
  expect(worker.counted.nats).toBeGreaterThanOrEqual(40)
})

it('is NOTIFY again at once when NATS is killed, and NATS when it is back', async () => {
  const [here, there] = [await open('here'), await open('there')]
  await forwarder(here, there)
  const heard: string[] = []
  let looks = 0
  there.wakeups.on('inbox', (key) => heard.push(key))
  there.wakeups.onChange(() => looks++)
  const before = looks
  await server.kill()
  // What is told while nobody has noticed may be lost; that somebody looks afterwards is the net.
  await until('both listen', async () => String(await listening()) === 'notify,notify')
  await until('it looked for itself', () => looks > before)
  await until('it arrives by NOTIFY', () => {
    here.wakeups.tell('inbox', '1')
    return heard.length > 0 && there.counted.notify > 0
  })
  await server.start()
  await until('NATS carries it', async () => String(await listening()) === 'both')
  heard.length = 0
  await until('it arrives', () => {
    here.wakeups.tell('inbox', '2')
    return heard.includes('2')
  })
})

it('notices a server that is frozen, though the connection stays', async () => {
  const bus = await open('frozen')
  await forwarder(bus)
  server.freeze()
  try {
    await until('it listens to the database', async () => bus.wakeups.hears === 'notify')
    expect(String(await listening())).toBe('notify')
  } finally {
    server.thaw()
  }
  await until('and then to NATS', async () => bus.wakeups.hears === 'both')
})

it('loses nothing in the moments of the switch: what was told reaches who looks or hears', async () => {
  const [here, there] = [await open('here'), await open('there')]
  await forwarder(here, there)
  const done = new Set<string>()
  await jobs.start({ swayed: async ({ job_id }) => void done.add(job_id) }, { listenUrl: there.url })
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    for (const change of [() => server.kill(), () => server.start()]) {
      const [changed, enqueued] = await Promise.all([change(), jobs.enqueue({ job_kind: 'swayed' })])
      expect(changed).toBeUndefined()
      ids.push(...enqueued)
      await until('it ran, at the latest by the poll', () => done.has(enqueued[0]!), 4000)
    }
  }
  expect(done.size).toBe(ids.length)
})

it('with every wake-up lost a job begins within the poll', async () => {
  const [here, there] = [await open('here'), await open('there')]
  await forwarder(here, there)
  for (const { wakeups } of [here, there]) wakeups.injectLoss(1)
  const begun = new Map<string, number>()
  await jobs.start(
    { unheard: async ({ job_id }) => void begun.set(job_id, performance.now()) },
    { listenUrl: there.url },
  )
  const delays: number[] = []
  for (let n = 0; n < 6; n++) {
    const [id] = await jobs.enqueue({ job_kind: 'unheard' })
    const enqueuedAt = performance.now()
    await until('it began', () => begun.has(id!))
    delays.push(begun.get(id!)! - enqueuedAt)
  }
  expect(Math.max(...delays)).toBeLessThan(2900)
})

it('processes with and without NATS wake each other', async () => {
  const [first, second] = [await open('first'), await open('second')]
  const [plain, other] = [await open('plain', { plain: true }), await open('other', { plain: true })]
  const forwards = await forwarder(first, second)
  const quiet = forwards === first ? second : first
  const heard = { quiet: new Set<string>(), plain: new Set<string>(), other: new Set<string>() }
  quiet.wakeups.on('inbox', (key) => heard.quiet.add(key))
  plain.wakeups.on('inbox', (key) => heard.plain.add(key))
  other.wakeups.on('inbox', (key) => heard.other.add(key))
  for (const [index, from] of [quiet, plain, forwards].entries()) {
    const key = String(index)
    await until('those who did not tell it heard it', () => {
      from.wakeups.tell('inbox', key)
      return heard.quiet.has(key) && heard.plain.has(key) && heard.other.has(key)
    })
  }
  // One plain process left: it must not take itself for alone.
  await other.wakeups.close()
  await until('the process with NATS hears the last one without', () => {
    plain.wakeups.tell('inbox', 'last')
    return heard.quiet.has('last')
  })
  await plain.wakeups.close()
  const payloads: string[] = []
  const session = await db.session('stagedoor_worker')
  session.on('notification', ({ payload }) => payloads.push(payload ?? ''))
  await session.query('listen stagedoor')
  await until('nobody notifies for nobody', async () => {
    const before = payloads.length
    quiet.wakeups.tell('inbox', 'x')
    forwards.wakeups.tell('inbox', 'x')
    await quiet.nats!.request(quiet.nats!.subject('nobody'), {}, 1000).catch(() => {})
    await db.owner('select pg_sleep(0.05)')
    return payloads.length === before
  })
})

it('another process forwards when the one that did is gone', async () => {
  const buses = [await open('one'), await open('two'), await open('three')]
  const first = await forwarder(...buses)
  const left = buses.filter((bus) => bus !== first)
  const heard: string[] = []
  for (const { wakeups } of left) wakeups.on('jobs', (key) => heard.push(key))
  await first.wakeups.close()
  await forwarder(...left)
  await until('plain SQL is heard by both', async () => {
    await db.owner(`select pg_notify('stagedoor', 'jobs later')`)
    return heard.filter((key) => key === 'later').length >= 2
  })
})

it('what is told together is one message', async () => {
  const [here, there] = [await open('here'), await open('there')]
  const messages: { keys: string[] }[] = []
  const spy = await connect({ servers: server.url })
  const heard = new Set<string>()
  there.wakeups.on('inbox', (key) => heard.add(key))
  spy.subscribe('sd.main.wake.inbox', { callback: (_error, message) => void messages.push(message.json()) })
  await spy.flush()
  for (let n = 0; n < 1000; n++) here.wakeups.tell('inbox', String(n % 4))
  await until('it arrived', () => messages.length > 0 && heard.size === 4)
  expect(messages).toHaveLength(1)
  expect(messages[0]!.keys).toEqual(['0', '1', '2', '3'])
  here.wakeups.tell('inbox', 'x'.repeat(9000))
  await until('what is too long says "any"', () => heard.has(''))
  await spy.close()
})

it('ignores and counts what is no wake-up', async () => {
  const bus = await open('alone')
  await forwarder(bus)
  const keys: string[] = []
  bus.wakeups.on('commands', (key) => {
    JSON.parse(key)
    keys.push(key)
  })
  const spy = await connect({ servers: server.url })
  const bodies = [
    'no JSON',
    '',
    '5',
    'null',
    '[]',
    '{"v":1}',
    '{"v":2,"from":"x","keys":["[]"]}',
    '{"v":1,"from":"x","keys":[1]}',
    '{"v":1,"from":"x","keys":"[]"}',
    '{"v":1,"from":"x","keys":["{no list"]}',
  ]
  await until('it is subscribed', () => {
    spy.publish('sd.main.wake.commands', '{"v":1,"from":"x","keys":["[1]"]}')
    return keys.length > 0
  })
  keys.length = 0
  for (const body of bodies) spy.publish('sd.main.wake.commands', body)
  spy.publish('sd.main.wake.unknown', '{"v":1,"from":"x","keys":["[]"]}')
  spy.publish('sd.main.wake.commands', '{"v":1,"from":"x","keys":["[2]"]}')
  await until('the good one arrived', () => keys.includes('[2]'))
  expect(bus.counted.garbage).toBe(bodies.length)
  await db.owner(`select pg_notify('stagedoor', p) from unnest(array['commands {no list', 'nothing', '']) p`)
  await until('notifications, too', () => bus.counted.garbage === bodies.length + 3)
  expect(bus.wakeups.works).toBe(true)
  await spy.close()
})

it('does not hear another cell', async () => {
  const [here, same, other] = [
    await open('here'),
    await open('same'),
    await open('other', { cell: 'blue', hears: ['nats', 'both'] }),
  ]
  const heard = { same: 0, other: 0 }
  same.wakeups.on('shards', () => heard.same++)
  other.wakeups.on('shards', () => heard.other++)
  await until('its own cell heard it', () => {
    here.wakeups.tell('shards')
    return heard.same > 0
  })
  await other.nats!.request(other.nats!.subject('nobody'), {}, 1000).catch(() => {})
  expect(other.counted.nats).toBe(0)
})

it('listens to the database where NATS refuses the subjects of wake-ups', async () => {
  const strict = await startNats({
    config:
      'authorization { default_permissions = { publish: "other.>", subscribe: "other.>" }, users = [{ user: u, password: p }] }',
  })
  try {
    const url = strict.url.replace('nats://', 'nats://u:p@')
    const bus = await open('refused', { natsUrl: url, hears: ['notify'] })
    await until('connected', () => bus.nats!.connected)
    const heard: string[] = []
    bus.wakeups.on('jobs', (key) => heard.push(key))
    await until('it hears by NOTIFY', async () => {
      await db.owner(`select pg_notify('stagedoor', 'jobs refused')`)
      return heard.length > 0
    })
    expect(bus.wakeups.hears).toBe('notify')
    expect(bus.counted.echoes).toHaveLength(0)
  } finally {
    await strict.stop()
  }
})
