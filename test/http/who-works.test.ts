/** A server with NATS: what it says about itself, and who works, over HTTP and on the command line. */
import { hostname } from 'node:os'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { signToken } from '../../src/access/tokens.ts'
import { VERSION } from '../../src/kernel/version.ts'
import { SECRET } from '../support/api.ts'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { startNats } from '../support/nats.ts'
import { type TestServing, useServers } from '../support/serving.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const start = useServers(db)
const nats = await startNats()
const home = temporaryHome('who-works')
let operator: Member
let viewer: Member

beforeAll(async () => {
  const workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  viewer = await createMember(db, workspace, 'viewer')
})
afterAll(() => nats.stop())

const cli = (...args: string[]) =>
  runCli(args, {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    STAGEDOOR_HOME: home,
    STAGEDOOR_JWT_SECRET: SECRET,
  })

async function get<T>(server: TestServing, path: string, who: Pick<Member, 'userId' | 'role'> = operator) {
  const token = await signToken(SECRET, { subject: who.userId, role: who.role, expiresIn: '1h' })
  const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const text = await response.text()
  return { status: response.status, text, body: (text.startsWith('{') ? JSON.parse(text) : {}) as T }
}

it('says how to start a worker where there is none', async () => {
  const { code, stdout } = await cli('worker', 'list')
  expect(code).toBe(0)
  expect(stdout).toMatch(/No worker is registered[\s\S]*stagedoor worker --handlers[\s\S]*NATS_URL=/)
  const json = await cli('worker', 'list', '--json')
  expect(JSON.parse(json.stdout)).toEqual({ workers: [], engines: [], remote_workers: [], leaders: [] })
})

it('lists workers, engines, workers behind gateways and leaders, to whoever operates a workspace', async () => {
  const server = await start(
    { NATS_URL: nats.url, STAGEDOOR_RATE_LIMIT: '0' },
    { jobs: { handlers: { send_report: async () => {} } }, dispatcher: true, playbooks: {} },
  )
  await db.owner(
    `select iu_core.fn_remote_workers_write((select process_id from iu_core.process limit 1), $1)`,
    [
      JSON.stringify([
        {
          session: 's1',
          name: 'far 1',
          host: 'far',
          pid: 7,
          version: '0.0.9',
          pool: 'abc',
          concurrency: 8,
          held: 3,
          oldest_call_at: new Date(Date.now() - 60_000),
          attached_at: new Date(),
        },
      ]),
    ],
  )
  interface Found {
    workers: { name: string }[]
    engines: { name: string }[]
    remote_workers: object[]
    leaders: { name: string; host: string; pid: number }[]
  }
  const leaders = await until('everything is led', async () => {
    const { body } = await get<Found>(server, '/api/v1/workers')
    return body.leaders.length >= 6 && body.leaders
  })
  expect(leaders.map(({ name }) => name)).toEqual([
    'events',
    'executions',
    'jobs.reap',
    'jobs.schedules',
    'maintenance',
    'wakeups',
  ])
  expect(leaders[0]).toMatchObject({ host: hostname(), pid: process.pid })
  const { body } = await get<Found>(server, '/api/v1/workers')
  expect(body.workers.map(({ name }) => name)).toContain(`${hostname()} ${process.pid}`)
  expect(body.engines.length).toBeGreaterThan(0)
  expect(body.remote_workers).toMatchObject([
    { name: 'far 1', host: 'far', pid: 7, version: '0.0.9', pool: 'abc', held: 3, gateway_host: hostname() },
  ])
  expect((await get(server, '/api/v1/workers', viewer)).status).toBe(403)

  const { stdout } = await cli('worker', 'list')
  expect(stdout).toMatch(new RegExp(`● alive +jobs +${hostname()} ${process.pid} +${VERSION}`))
  expect(stdout).toMatch(/● alive +engine/)
  expect(stdout).toMatch(
    new RegExp(
      `● alive +remote +far 7 +0\\.0\\.9 +pool abc +${hostname()} ${process.pid} +3 of 8 +1 min ago`,
    ),
  )
  expect(stdout).toMatch(new RegExp(`Leaders[\\s\\S]*wakeups +${hostname()} +${process.pid}`))
  await server.stop()
})

it('stays ready while NATS is away, also as a gateway, and says so as a warning', async () => {
  const server = await start({ NATS_URL: nats.url, STAGEDOOR_RATE_LIMIT: '0' }, { gateway: true })
  interface Details {
    checks: { name: string; ok: boolean; severity: string; remedy: string }[]
  }
  const check = async () =>
    (await get<Details>(server, '/api/v1/health')).body.checks.find(({ name }) => name === 'nats')
  const metric = async (name: string): Promise<number> => {
    const { text } = await get(server, '/api/v1/metrics', {
      userId: operator.userId,
      role: 'service_role' as never,
    })
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  }
  await until('connected', async () => (await check())?.ok)
  expect(await check()).toMatchObject({ severity: 'ok' })
  expect(await metric('stagedoor_nats_connected')).toBe(1)
  await until('its echo was measured', async () => (await metric('stagedoor_wakeup_lag_seconds_count')) > 0)
  expect(await metric('stagedoor_wakeups_total\\{carrier="notify"\\}')).toBeGreaterThanOrEqual(0)
  expect(await metric('stagedoor_wakeups_garbage_total')).toBe(0)
  await nats.kill()
  await until('away', async () => (await check())?.ok === false)
  expect(await check()).toMatchObject({ severity: 'warning', remedy: expect.stringContaining('NATS_URL') })
  expect(await metric('stagedoor_nats_connected')).toBe(0)
  // Not at once: on a busy machine the check itself may run out of time, whatever NATS does.
  await until('it is ready', async () => (await server.status('/api/ready')) === 200)
  await nats.start()
  await until('connected again', async () => (await check())?.ok)
  await server.stop()
})
