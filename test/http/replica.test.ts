/**
 * Reads from a real replica that is late by design: whoever sends back what the answer to their write said sees that write, whoever does
 * not may not; and a replica that is broken or far behind answers nobody.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { signToken } from '../../src/access/tokens.ts'
import { createPool, type Pool, withClient } from '../../src/kernel/postgres/connection.ts'
import { SECRET } from '../support/api.ts'
import { type ReplicatedServer, startReplicatedServer } from '../support/failover.ts'
import { cases } from '../support/length.ts'
import { type TestServing, useServers } from '../support/serving.ts'
import { loginUrl, MIGRATOR, prepareTemplate, TEMPLATE } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const DATABASE = 'replicated'
/** Every commit is seen on the replica so much later: less than a read waits for. */
const DELAY_MS = 30
const WRITES = cases(100, 1_000)
const AT_ONCE = 10

const home = temporaryHome('replica')
let servers: ReplicatedServer
let pool: Pool
let server: TestServing
let service: string
const start = useServers({ url: (login) => loginUrl(servers.current.url(), login ?? MIGRATOR, DATABASE) })

beforeAll(async () => {
  servers = await startReplicatedServer(
    home,
    async (superuserUrl) => {
      await prepareTemplate(superuserUrl)
      await withClient(superuserUrl, async (client) => {
        await client.query(`create database ${DATABASE} template ${TEMPLATE} owner ${MIGRATOR}`)
        // As in production: a commit that was answered is in the log that replicas get.
        await client.query('alter system set synchronous_commit = on')
        await client.query('select pg_reload_conf()')
      })
    },
    { recovery_min_apply_delay: `${DELAY_MS}ms` },
  )
  pool = createPool(loginUrl(servers.current.url(), MIGRATOR, DATABASE), { role: 'workflow_admin', max: 2 })
  service = await signToken(SECRET, { subject: 'back-end', role: 'service_role', expiresIn: '1h' })
  server = await start({
    STAGEDOOR_RATE_LIMIT: '0',
    DATABASE_READ_URL: loginUrl(servers.replica.url(), 'stagedoor_api', DATABASE),
  })
  await untilReplicaAnswers()
})
afterAll(async () => {
  await pool?.end()
  await servers?.stop()
})

it('what was written is read back at once, and without the token some of it is not there yet', {
  tags: 'property',
}, async () => {
  const before = await reads()
  const withToken = await countStale(WRITES, true)
  const between = await reads()
  const without = await countStale(100, false)
  expect(withToken).toBe(0)
  expect(without).toBeGreaterThan(0)
  // It was the replica that answered, at least most of them: on a busy machine it is late now and then.
  expect(between.replica! - before.replica!).toBeGreaterThan(WRITES / 10)
})

it('every route that may read from the replica can, and the rights are those of the primary', async () => {
  const before = await reads()
  const paths = replicaPaths()
  expect(paths.length).toBeGreaterThan(50)
  for (const path of paths) {
    const { status } = await get(path)
    expect(status, path).toBeLessThan(500)
  }
  const after = await reads()
  expect(after.refused).toBe(before.refused)
  expect(after.replica! - before.replica!).toBeGreaterThan(paths.length / 2)
  const stranger = await signToken(SECRET, { subject: 'nobody', role: 'authenticated', expiresIn: '1h' })
  expect((await get('/api/v1/jobs', {}, stranger)).body).toMatchObject({ jobs: [] })
})

it('a token of another history, or none that we made, is answered by the primary', async () => {
  const [{ position }] = (
    await pool.query<{ position: string }>('select pg_current_wal_flush_lsn()::text as position')
  ).rows as [{ position: string }]
  const before = await reads()
  for (const after of [`0000FFFF/${position}`, 'nonsense', '', '00000001/FFFFFFFF/0'])
    expect((await get('/api/v1/jobs', { 'stagedoor-after': after })).status).toBe(200)
  expect((await reads()).behind! - before.behind!).toBe(4)
})

it('while the replica replays nothing, a caller sees their writes, and after ten seconds everybody does', {
  tags: 'long',
}, async () => {
  const replay = (verb: 'pause' | 'resume') =>
    withClient(servers.replica.url(), (client) => client.query(`select pg_wal_replay_${verb}()`))
  await replay('pause')
  const { job, after } = await write()
  expect((await read(job, after)).status).toBe(200)
  expect((await read(job, undefined)).status).toBe(404)
  await until('nobody is sent there any more', async () => {
    await write()
    return (await read(job, undefined)).status === 200
  })
  expect(await replicaCheck()).toMatchObject({ ok: false, detail: expect.stringMatching(/ s behind/) })
  expect(await notReady()).not.toContain('replica')
  await replay('resume')
  await untilReplicaAnswers()
})

it('a replica that is away costs nobody a request', async () => {
  await servers.replica.stop()
  const statuses = await Promise.all(Array.from({ length: 20 }, () => get('/api/v1/jobs')))
  expect(statuses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  await until('health says so', async () => (await replicaCheck())?.ok === false)
  expect(await notReady()).not.toContain('replica')
  expect((await reads()).broken).toBeGreaterThan(0)
})

async function countStale(writes: number, withToken: boolean): Promise<number> {
  let left = writes
  let stale = 0
  const one = async (): Promise<void> => {
    while (left-- > 0) {
      const { job, after } = await write()
      const { status } = await read(job, withToken ? after : undefined)
      expect([200, 404]).toContain(status)
      if (status === 404) stale++
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  return stale
}

async function write(): Promise<{ job: string; after: string }> {
  const response = await fetch(`${server.url}/api/v1/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jobs: [{ job_kind: 'written' }] }),
  })
  expect(response.status).toBe(201)
  const after = response.headers.get('stagedoor-after')
  expect(after).toMatch(/^0000000\d\/[0-9A-F]+\/[0-9A-F]+$/)
  return { job: ((await response.json()) as { jobs: string[] }).jobs[0]!, after: after! }
}

function read(job: string, after: string | undefined) {
  return get(`/api/v1/jobs/${job}`, after === undefined ? {} : { 'stagedoor-after': after })
}

async function get(path: string, headers: Record<string, string> = {}, token = service) {
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  const text = await response.text()
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}

/** Who answered so far, by the metrics of the server. */
async function reads(): Promise<Record<string, number>> {
  const { text } = await get('/api/v1/metrics')
  return Object.fromEntries(
    [...text.matchAll(/^stagedoor_replica_reads_total\{answer="(\w+)"\} (\d+)$/gm)].map(
      ([, answer, count]) => [answer, Number(count)],
    ),
  )
}

async function replicaCheck(): Promise<{ ok: boolean; detail: string } | undefined> {
  const { body } = await get('/api/v1/health')
  return body.checks.find(({ name }: { name: string }) => name === 'replica')
}

/** What keeps a load balancer away. */
async function notReady(): Promise<string[]> {
  const { checks } = (await get('/api/ready')).body as { checks: { name: string; ok: boolean }[] }
  return checks.filter(({ ok }) => !ok).map(({ name }) => name)
}

async function untilReplicaAnswers(): Promise<void> {
  await until('the replica answers', async () => (await replicaCheck())?.ok)
}

/** The paths of all routes that say `replica: true`, with ids of nothing. */
function replicaPaths(): string[] {
  const folder = new URL('../../src/http/', import.meta.url)
  const operations = readdirSync(folder).flatMap((file) =>
    [...readFileSync(new URL(file, folder), 'utf8').matchAll(/operationId: '(\w+)',\s+replica: true/g)].map(
      ([, operation]) => operation,
    ),
  )
  const reference = JSON.parse(
    readFileSync(new URL('../../docs/reference/openapi.json', import.meta.url), 'utf8'),
  ) as { paths: Record<string, { get?: { operationId: string } }> }
  return Object.entries(reference.paths)
    .filter(([, { get: route }]) => route && operations.includes(route.operationId))
    .map(([path]) => path.replace(/\{[^}]+\}/g, '01900000-0000-7000-8000-000000000000'))
}
