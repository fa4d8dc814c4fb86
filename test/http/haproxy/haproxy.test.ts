/**
 * Two servers as processes of their own behind HAProxy, with the configuration of deploy/haproxy: a sign-in and an upload at one, their
 * pages at the other, one that is killed under load, and one that drains under load.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSignInCode } from '../../../src/access/sign-in-codes.ts'
import { signToken } from '../../../src/access/tokens.ts'
import { SECRET } from '../../support/api.ts'
import { freePort, type RunningCli, runCli, startCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { useIngest } from '../../support/ingest.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'
import { form, week } from '../uploads/uploads-api.ts'

const CONFIGURATION = fileURLToPath(new URL('../../../deploy/haproxy/haproxy.cfg', import.meta.url))
const CALLERS = 8
/** Two failed checks and their time limits, as the configuration has them. */
const NOTICED_MS = 2 * (1_000 + 2_000)

const db = useDatabase()
const ads = useIngest(db)
const home = temporaryHome('haproxy')
const ports = {} as Record<'a' | 'b' | 'proxy', number>
const servers = {} as Record<'a' | 'b', RunningCli>
let proxy: ChildProcess
let proxyLog = ''
let token: string
let service: string

beforeAll(async () => {
  for (const name of ['a', 'b', 'proxy'] as const) ports[name] = await freePort()
  token = await signToken(SECRET, { subject: ads.operator.userId, role: ads.operator.role, expiresIn: '1h' })
  service = await signToken(SECRET, { subject: 'back-end', role: 'service_role', expiresIn: '1h' })
  await Promise.all([startServer('a'), startServer('b')])
  const env = {
    ...process.env,
    STAGEDOOR_BIND: `127.0.0.1:${ports.proxy}`,
    STAGEDOOR_A: `127.0.0.1:${ports.a}`,
    STAGEDOOR_B: `127.0.0.1:${ports.b}`,
  }
  const program = process.env.HAPROXY_PATH ?? '/usr/sbin/haproxy'
  execFileSync(program, ['-c', '-f', CONFIGURATION], { env })
  proxy = spawn(program, ['-db', '-f', CONFIGURATION], { env })
  for (const stream of [proxy.stdout!, proxy.stderr!])
    stream.on('data', (chunk) => {
      proxyLog += chunk
    })
  await untilBothServe()
})
afterAll(async () => {
  if (proxy?.exitCode === null) {
    proxy.kill('SIGKILL')
    await once(proxy, 'close')
  }
  for (const server of Object.values(servers)) if (server.child.exitCode === null) await server.end('SIGTERM')
})

it('a sign-in and an upload at one server are known at the other, without sticky sessions', async () => {
  const subject = ads.operator
  const code = await createSignInCode(db.pool(MIGRATOR), { subject: subject.userId, role: subject.role })
  const signedIn = await call('proxy', 'POST', '/api/v1/sign-in', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  expect(signedIn.status).toBe(200)
  const cookie = String(signedIn.headers['set-cookie']).split(';', 1)[0]!
  const answeredBy = new Set<unknown>()
  await until('both servers know the session', async () => {
    const me = await call('proxy', 'GET', '/api/v1/me', { headers: { cookie } })
    expect(me.status).toBe(200)
    answeredBy.add(me.headers['x-stagedoor-server'])
    return answeredBy.size === 2
  })

  const { body, type } = form(
    week('One'),
    { dataset: 'ads', platform: 'meta', client_id: ads.client },
    'week.csv',
  )
  const sent = await call('a', 'POST', '/api/v1/uploads', {
    headers: { ...bearer(token), 'content-type': type },
    body,
  })
  expect(sent.status).toBe(202)
  const { upload_id: upload } = JSON.parse(sent.text).upload
  const page = await until('the other server shows that it was read', async () => {
    const { text } = await call('b', 'GET', `/api/v1/uploads/${upload}`, { headers: bearer(token) })
    return JSON.parse(text).status !== 'reading' && text
  })
  expect(JSON.parse(page)).toMatchObject({ upload_id: upload, file_name: 'week.csv' })
})

it('the command line lists both servers, and a third with another token secret does not start', async () => {
  const listed = await runCli(['process', 'list', '--json'], environment('a'))
  expect(listed.code, listed.stderr).toBe(0)
  const processes = JSON.parse(listed.stdout) as { pid: number; roles: string[]; is_alive: boolean }[]
  const running = processes.filter(({ roles, is_alive }) => is_alive && roles.includes('server'))
  expect(running.map(({ pid }) => pid).sort()).toEqual(
    [servers.a, servers.b].map(({ child }) => child.pid).sort(),
  )
  const third = { ...environment('a'), PORT: '0', STAGEDOOR_JWT_SECRET: 'another'.repeat(5) }
  const refused = await runCli(['start', '--no-playbooks'], third)
  expect(refused.code).toBe(3)
  expect(refused.stderr).toContain('uses another token secret on this database')
  expect(refused.stderr).toContain('Change the token secret')
  expect(refused.stderr).not.toContain(SECRET)
})

it('a server is killed under load: nothing fails after it was noticed, before that only writes in flight', async () => {
  const load = startLoad()
  await load.answers(200)
  servers.a.child.kill('SIGKILL')
  const killedAt = performance.now()
  await until('the load went on after it was noticed', () => load.startedAfter(killedAt + NOTICED_MS) >= 200)
  const results = await load.stop()
  const failed = results.filter(({ ok }) => !ok)
  console.log(`killed: ${failed.length} of ${results.length} requests failed: ${describe(failed)}`)
  expect(failed.filter(({ began }) => began > killedAt + NOTICED_MS)).toEqual([])
  // Each caller has one request at a time; a read is asked again by the proxy.
  expect(failed.length).toBeLessThanOrEqual(CALLERS)
  expect(failed.filter(({ method }) => method === 'GET')).toEqual([])
  await startServer('a')
  await untilBothServe()
})

it('a server drains under load: nothing fails, and its process ends well', async () => {
  const load = startLoad()
  await load.answers(200)
  const stopped = servers.a.end('SIGTERM')
  const ready = await until('it is not ready', async () => {
    const { status, text } = await call('a', 'GET', '/api/ready')
    return status === 503 && text
  })
  expect(ready).toContain('draining')
  expect(await stopped).toBe(0)
  await load.answers(200)
  const results = await load.stop()
  const failed = results.filter(({ ok }) => !ok)
  console.log(`drained: ${failed.length} of ${results.length} requests failed: ${describe(failed)}`)
  expect(failed).toEqual([])
})

interface Result {
  readonly method: 'GET' | 'POST'
  readonly began: number
  readonly ok: boolean
  readonly what: string
}

/** Callers that read and write through the proxy, one request each at a time. */
function startLoad() {
  const results: Result[] = []
  let isStopping = false
  const caller = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = 0; !isStopping; n++) {
      const method = n % 4 === 0 ? 'POST' : 'GET'
      const began = performance.now()
      const answer = await (method === 'GET'
        ? call('proxy', 'GET', '/api/v1/me', { headers: bearer(token), agent })
        : call('proxy', 'POST', '/api/v1/jobs', {
            headers: { ...bearer(service), 'content-type': 'application/json' },
            body: JSON.stringify({ jobs: [{ job_kind: 'of_the_load' }] }),
            agent,
          })
      ).catch((error: Error) => ({ status: 0, text: error.message }))
      const ok = answer.status === (method === 'GET' ? 200 : 201)
      results.push({ method, began, ok, what: `${answer.status} ${answer.text.slice(0, 80)}` })
    }
    agent.destroy()
  }
  const callers = Array.from({ length: CALLERS }, caller)
  return {
    answers: (more: number) => {
      const wanted = results.length + more
      return until(`${more} answers`, () => results.length >= wanted)
    },
    startedAfter: (time: number) => results.filter(({ began }) => began > time).length,
    async stop() {
      isStopping = true
      await Promise.all(callers)
      return results
    },
  }
}

function describe(failed: readonly Result[]): string {
  return failed.map(({ method, what }) => `${method} ${what}`).join('; ') || 'none'
}

async function startServer(name: 'a' | 'b'): Promise<void> {
  servers[name] = startCli(['start', '--no-playbooks'], environment(name))
  await servers[name].says(/runs at/)
}

function environment(name: 'a' | 'b'): Record<string, string> {
  return {
    PORT: String(ports[name]),
    STAGEDOOR_HOME: home,
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url('stagedoor_worker'),
    STAGEDOOR_JWT_SECRET: SECRET,
    STAGEDOOR_RATE_LIMIT: '0',
    STAGEDOOR_TRUST_PROXY: '127.0.0.1',
  }
}

async function untilBothServe(): Promise<void> {
  const seen = new Set<unknown>()
  await until('both servers answer through the proxy', async () => {
    const { status, headers } = await call('proxy', 'GET', '/api/health').catch(() => ({
      status: 0,
      headers: {} as Answer['headers'],
    }))
    if (status === 200) seen.add(headers['x-stagedoor-server'])
    return seen.size === 2
  }).catch((error: Error) => {
    throw new Error(`${error.message}\n${proxyLog}`)
  })
}

function bearer(of: string): Record<string, string> {
  return { authorization: `Bearer ${of}` }
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
}

function call(
  to: keyof typeof ports,
  method: string,
  path: string,
  {
    headers = {},
    body,
    agent,
  }: { headers?: Record<string, string>; body?: string | Buffer; agent?: Agent } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: ports[to], method, path, headers, ...(agent && { agent }) }
    const sent = httpRequest(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
