/** A worker with exactly the permissions that the guide gives it works, and can neither read the calls of another nor wake anybody. */
import pino from 'pino'
import { afterAll, afterEach, expect, it } from 'vitest'
import { startGateway } from '../../../src/app/gateway.ts'
import { startRemoteWorkerProcess } from '../../../src/app/remote-worker.ts'
import { type Nats, openNats } from '../../../src/runtime/nats.ts'
import { useJobs } from '../../jobs/worker/support.ts'
import { useDatabase } from '../../support/database.ts'
import { startNats } from '../../support/nats.ts'
import { until } from '../../support/until.ts'

const db = useDatabase()
const jobs = useJobs(db)
const verbs = ['attach', 'beat', 'pull', 'ended', 'adopt', 'enqueue'].map((verb) => `"sd.main.gw.*.${verb}"`)
const worker = (name: string) => `{ user: ${name}, password: ${name}, permissions: {
  publish: [${verbs.join(', ')}]
  subscribe: ["_INBOX_${name}.>", "sd.main.gw.alive"]
} }`
const server = await startNats({
  config: `authorization { users: [ { user: server, password: server }, ${worker('w1')}, ${worker('w2')} ] }`,
})
const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})
afterAll(() => server.stop())

async function connect(user: string): Promise<Nats> {
  const nats = openNats(
    {
      natsUrl: [server.url.replace('nats://', `nats://${user}:${user}@`)],
      natsCredentials: undefined,
      natsCa: undefined,
      natsInbox: `_INBOX_${user}`,
      natsPlaintext: 'refuse',
      cell: 'main',
    },
    user,
    pino({ level: 'silent' }),
  )!
  stops.push(() => nats.close())
  await until(`${user} is connected`, () => nats.connected)
  return nats
}

it('works with its permissions, and reads nothing of others', async () => {
  const log = pino({ level: 'silent' })
  const nats = await connect('server')
  const heard: string[] = []
  nats.subscribe('sd.main.wake.>', ({ subject }) => heard.push(subject))
  const gateway = await startGateway({
    nats,
    log,
    pool: db.pool('stagedoor_worker'),
    listenUrl: db.url('stagedoor_worker'),
    process: '00000000-0000-4000-8000-00000000000a',
  })
  stops.push(() => gateway.stop())
  const own = await connect('w1')
  const remote = startRemoteWorkerProcess({
    nats: own,
    log,
    concurrency: 2,
    handlers: {
      first: async (_job, { enqueue }) => ({ next: await enqueue({ job_kind: 'second' }) }),
      second: async () => {},
    },
  })
  stops.push(() => remote.stop())
  const spy = await connect('w2')
  const stolen: string[] = []
  for (const subject of ['sd.main.gw.*.*', '_INBOX_w1.>', '_INBOX_server.>', 'sd.main.wake.>', '>'])
    spy.subscribe(subject, (message) => stolen.push(message.subject))
  spy.publish('sd.main.wake.jobs', 'x')
  spy.publish('sd.main.gw.alive', { v: 1 })
  const [id] = await jobs.enqueue({ job_kind: 'first' })
  const [done] = await jobs.reached('completed', [id!])
  await jobs.reached('completed', [(done!.result as { next: string }).next])
  // Allowed, so what was published before it has been refused by now.
  await spy.request(
    `sd.main.gw.${gateway.id}.beat`,
    { v: 1, session: 'x', held: [], ending: [], leaving: false, moved: [], gone: false },
    2000,
  )
  expect(stolen.filter((subject) => !subject.startsWith('_INBOX_w2'))).toEqual([])
  expect(heard).toEqual([])
  expect(gateway.health().every(({ ok }) => ok)).toBe(true)
})
