/** Several servers on one database, as behind a load balancer: what one of them knows, all of them know. */
import { randomUUID } from 'node:crypto'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { beforeAll, expect, it } from 'vitest'
import { createSignInCode } from '../../src/access/sign-in-codes.ts'
import { signToken } from '../../src/access/tokens.ts'
import { emitEvents } from '../../src/events/outbox.ts'
import { setSchedule } from '../../src/jobs/schedules.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { SECRET } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { type TestServing, useServers } from '../support/serving.ts'
import { MIGRATOR } from '../support/template.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const start = useServers(db)
let operator: Member
let workspace: string
let token: string

beforeAll(async () => {
  workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  token = await tokenOf(operator)
})

it('a sign-in at one server holds at all: session, forged requests, sign-out everywhere within the cache time', async () => {
  const [a, b] = [await start(), await start()]
  const code = await createSignInCode(db.pool(MIGRATOR), { subject: operator.userId, role: operator.role })
  const signedIn = await call(a, 'POST', '/sign-in', { body: { code } })
  expect(signedIn.status).toBe(200)
  const cookie = String(signedIn.headers['set-cookie']).split(';', 1)[0]!
  // A link is good once, whichever server is asked.
  expect((await call(b, 'POST', '/sign-in', { body: { code } })).status).toBe(401)
  expect((await call(b, 'GET', '/me', { cookie })).body).toMatchObject({ actor: operator.userId })
  const { csrf } = (signedIn.body as { session: { csrf: string } }).session
  const change = { cookie, body: { jobs: [] } }
  expect((await call(b, 'POST', '/jobs', change)).body).toMatchObject({ code: 'csrf_failed' })
  const allowed = await call(b, 'POST', '/jobs', { ...change, csrf })
  expect(allowed.body).not.toMatchObject({ code: 'csrf_failed' })

  expect((await call(a, 'DELETE', '/sessions', { cookie, csrf })).body).toMatchObject({ ended: 1 })
  const signedOutAt = performance.now()
  expect((await call(a, 'GET', '/me', { cookie })).status).toBe(401)
  await until(
    'the other server refuses it, too',
    async () => (await call(b, 'GET', '/me', { cookie })).status === 401,
  )
  // The documented bound is three seconds; what the machine adds is not counted.
  expect(performance.now() - signedOutAt).toBeLessThan(20_000)
  for (const server of [a, b]) await server.stop()
})

it('servers share a caller’s rate limit, and one that leaves gives its share back', async () => {
  const limited = { STAGEDOOR_RATE_LIMIT: '20' }
  const [a, b] = [await start(limited), await start(limited)]
  await until('both know of each other', async () => (await limitOf(a)) === 10 && (await limitOf(b)) === 10)
  const fresh = await tokenOf(await createMember(db, workspace, 'viewer'))
  for (const server of [a, b]) {
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push(await server.status('/api/v1/me', fresh))
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect(statuses.slice(10)).toEqual([429, 429])
  }
  await b.stop()
  await until('the share is whole again', async () => (await limitOf(a)) === 20)
  await a.stop()
})

it('a stream of changes goes on at another server where it ended, and is told what was missed', async () => {
  const [a, b] = [await start(), await start()]
  const first = await follow(a, token)
  await emit('staging', 'record_created')
  await until('it is told', () => first.rooms().includes('records'))
  const lastId = first.ids().at(-1)!
  await a.stop()
  await until('the stream ended', () => first.hasEnded())
  expect(first.text()).toMatch(/\nretry: \d+\n\n$/)
  await emit('piece', 'lifecycle_changed')

  const resumed = await follow(b, token, lastId)
  expect(resumed.text()).toContain('event: begun\ndata: {"resumed":true}')
  await until('what was missed is told', () => resumed.rooms().includes('units'))
  expect(resumed.rooms()).not.toContain('records')
  // An id of another history, of the future or of nobody says nothing.
  for (const id of [
    'nonsense',
    lastId.replace(/^\w+/, 'FFFFFFFF'),
    lastId.replace(/-.*/, '-9:99999999999:'),
  ]) {
    const other = await follow(b, token, id)
    expect(other.text()).toContain('event: begun\ndata: {"resumed":false}')
    await other.leave()
  }
  await resumed.leave()
  await b.stop()
})

it('a drain: not ready at once, everything else is served, connections end, then it stops', async () => {
  const server = await start({ STAGEDOOR_DRAIN_SECONDS: '2' })
  const stream = await follow(server, token)
  let drained = false
  const draining = server.drain().then(() => {
    drained = true
  })
  expect(await server.status('/api/ready')).toBe(503)
  const ready = (await (await fetch(`${server.url}/api/ready`)).json()) as { checks: object[] }
  expect(ready.checks[0]).toMatchObject({ name: 'draining', ok: false })
  const answer = await call(server, 'GET', '/me', { token })
  expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } })
  const processes = (await call(server, 'GET', '/processes', { token })).body as { processes: object[] }
  expect(processes.processes).toContainEqual(expect.objectContaining({ draining_at: expect.any(String) }))
  expect(stream.hasEnded()).toBe(false)
  expect(drained).toBe(false)
  await draining
  await server.stop()
  expect(stream.text()).toMatch(/retry: \d+\n\n$/)
})

it('a server that is alone stops at once unless it is told to drain', async () => {
  const server = await start()
  const began = performance.now()
  await server.drain()
  expect(performance.now() - began).toBeLessThan(4_000)
  await server.stop()
})

it('a schedule of three servers fires once each time', async () => {
  const runs: string[] = []
  const handlers = {
    async weekly_report(job: { job_id: string }) {
      runs.push(job.job_id)
    },
  }
  const servers = [1, 2, 3].map(() => start({}, { jobs: { handlers } }))
  const started = await Promise.all(servers)
  await setSchedule(db.pool('stagedoor_worker'), {
    schedule: 'report',
    cron: '0 0 1 1 *',
    job_kind: 'weekly_report',
  })
  for (let round = 1; round <= 5; round++) {
    // Another time each round: a time that has fired never fires again.
    await db.owner(
      `update iu_core.job_schedule set next_at = clock_timestamp() - make_interval(mins => 100 - $1) where schedule = 'report'`,
      [round],
    )
    await until(`round ${round} ran`, () => runs.length >= round)
    await until('the schedule is no longer due', async () => {
      const [row] = await db.owner<{ due: boolean }>(
        `select next_at <= clock_timestamp() as due from iu_core.job_schedule where schedule = 'report'`,
      )
      return !row!.due
    })
  }
  const [{ jobs }] = (await db.owner<{ jobs: number }>(
    `select ((select count(*) from iu_core.job_queue where job_kind = 'weekly_report')
           + (select count(*) from iu_core.job_history where job_kind = 'weekly_report'))::int as jobs`,
  )) as [{ jobs: number }]
  await Promise.all(started.map((server) => server.stop()))
  expect(runs).toHaveLength(5)
  expect(jobs).toBe(5)
})

async function tokenOf(member: Member): Promise<string> {
  return signToken(SECRET, { subject: member.userId, role: member.role, expiresIn: '1h' })
}

async function limitOf(server: TestServing): Promise<number> {
  // A caller of its own each time: asking uses up the limit.
  const caller = await signToken(SECRET, {
    subject: randomUUID(),
    role: 'authenticated',
    expiresIn: '1h',
  })
  return Number((await call(server, 'GET', '/me', { token: caller })).headers['x-ratelimit-limit'])
}

function emit(event_domain: string, event_type: string): Promise<unknown> {
  return inTransaction(
    db.pool('stagedoor_worker'),
    (client) => emitEvents(client, [{ event_domain, event_type, workspace_id: workspace }]),
    { role: 'service_role' },
  )
}

interface Call {
  readonly token?: string
  readonly cookie?: string
  readonly csrf?: string
  readonly body?: object
}

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

/** With the host of the load balancer, which the name of the cookie belongs to. */
function call({ url }: TestServing, method: string, path: string, asked: Call): Promise<Answer> {
  const { token: bearer, cookie, csrf, body } = asked
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      `${url.replace('localhost', '127.0.0.1')}/api/v1${path}`,
      {
        method,
        headers: {
          host: 'stagedoor.test',
          ...(bearer && { authorization: `Bearer ${bearer}` }),
          ...(cookie && { cookie }),
          ...(csrf && { 'x-stagedoor-csrf': csrf }),
          ...(body && { 'content-type': 'application/json' }),
        },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: text === '' ? undefined : JSON.parse(text),
          }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

async function follow({ url }: TestServing, bearer: string, lastEventId?: string) {
  const gone = new AbortController()
  const response = await fetch(`${url}/api/v1/live`, {
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    signal: gone.signal,
  })
  let text = ''
  let ended = false
  const read = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  })()
    .catch(() => {})
    .finally(() => {
      ended = true
    })
  await until('the stream begins', () => text.includes('event: begun'))
  return {
    text: () => text,
    hasEnded: () => ended,
    ids: () => [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id!),
    rooms: () =>
      [...text.matchAll(/^event: changed\ndata: (.+)$/gm)].flatMap(
        ([, data]) => JSON.parse(data!).rooms as string[],
      ),
    async leave() {
      gone.abort()
      await read
    },
  }
}
