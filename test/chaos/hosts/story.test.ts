/**
 * The story of many hosts: a server with the database, two worker hosts that have nothing but the address of NATS, and a fan-out over them.
 * One worker host is cut off, NATS is killed and started again, PostgreSQL is restarted, and the workers are replaced one by one by a newer
 * version. The run completes; nothing is lost, nothing is completed twice.
 */
// @module-tag property
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startExecution } from '../../../src/executions/control.ts'
import { registerPlaybook } from '../../../src/executions/playbooks.ts'
import { type EmbeddedServer, startEmbedded } from '../../../src/kernel/postgres/embedded/server.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { freePort, type RunningCli, runCli, startCli } from '../../support/cli.ts'
import { type TestHost, useHosts } from '../../support/hosts.ts'
import { cases } from '../../support/length.ts'
import { startNats, type TestNats } from '../../support/nats.ts'
import { loginUrl, MIGRATOR, prepareTemplate, TEMPLATE } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'
import { readJournal } from './journal.ts'

const ITEMS = cases(16_000, 50_000)
const AT_ONCE = 25
/** Longer than a session of a remote worker lasts. */
const CUT_MS = cases(8000, 15_000)
const NATS_DOWN_MS = cases(2000, 5000)
const DATABASE = 'story'
const SECRET = 'a secret that is long enough for HS256'
const HANDLERS = fileURLToPath(new URL('handlers.mjs', import.meta.url))

const folder = temporaryHome('story')
const journal = join(folder, 'journal')
const hosts = useHosts()
let server: EmbeddedServer
let nats: TestNats
let database: pg.Pool
/** As the server and as the worker hosts see it. */
let natsHere: Record<string, string>
let natsThere: Record<string, string>

const PLAYBOOK = `
name: story
args: { items: [] }
steps:
  - step: each
    loop: { in: "\${args.items}", as: n, mode: fanout, max_in_flight: 2000 }
    tool: handler
    call: hosts_item
    args: { n: "\${n}" }
    retry: { attempts: 50, backoff_ms: 20, max_backoff_ms: 200 }
`

beforeAll(async () => {
  // As safe as it is shipped: what was committed must be there after a crash.
  server = await startEmbedded({ home: join(folder, 'pg'), settings: { max_connections: '100' } })
  await prepareTemplate(server.url())
  await once(`create database ${DATABASE} template ${TEMPLATE} owner ${MIGRATOR}`, server.url())
  database = new pg.Pool({ connectionString: loginUrl(server.url(), 'postgres', DATABASE), max: 4 })
  database.on('error', () => {})
  const { cert, key } = makeCertificate(folder, hosts.address, '127.0.0.1')
  nats = await startNats({
    config: `tls { cert_file: "${cert}", key_file: "${key}" }`,
  })
  natsHere = { NATS_URL: `tls://127.0.0.1:${nats.port}`, NATS_CA: cert }
  const port = await hosts.forward(nats.port)
  natsThere = { NATS_URL: `tls://${hosts.address}:${port}`, NATS_CA: cert }
})
afterAll(async () => {
  await database?.end()
  await nats?.stop()
  await server?.stop()
})

async function once(sql: string, url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(sql)
  await client.end()
}

function startServer(): RunningCli {
  return startCli(['start'], serverEnvironment())
}

let serverPort: string
function serverEnvironment(): Record<string, string> {
  return {
    DATABASE_URL: loginUrl(server.url(), 'stagedoor_api', DATABASE),
    DATABASE_DIRECT_URL: loginUrl(server.url(), MIGRATOR, DATABASE),
    STAGEDOOR_JWT_SECRET: SECRET,
    STAGEDOOR_HOME: join(folder, 'server'),
    PORT: serverPort,
    ...natsHere,
  }
}

/** No address of the database among its settings. */
function startRemoteWorker(host: TestHost, program?: string): RunningCli {
  const env = {
    ...natsThere,
    STAGEDOOR_HOME: join(folder, host.name),
    STAGEDOOR_WORKER_CONCURRENCY: String(AT_ONCE),
    JOURNAL: journal,
    HANDLER_MS: '50',
  }
  return host.start(['worker', '--handlers', HANDLERS, '--concurrency', String(AT_ONCE)], env, {
    ...(program !== undefined && { program }),
  })
}

/** The same program with a higher version: what a newer release is for its neighbours. */
function newerVersion(): string {
  const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
  const copy = join(folder, 'newer')
  cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true })
  cpSync(join(root, 'sql'), join(copy, 'sql'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...manifest, version: '0.2.0' }))
  return join(copy, 'dist', 'cli', 'main.js')
}

async function one<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row> {
  return (await database.query<Row>(sql, values)).rows[0]!
}

it('a fan-out over worker hosts without a database completes through every fault', async () => {
  serverPort = String(await freePort())
  const [north, south] = [hosts.add('north'), hosts.add('south')]
  const main = startServer()
  await main.says(/Ctrl-C stops everything/)
  const workers = [north, south].map((host) => startRemoteWorker(host))
  for (const worker of workers) await worker.says(/Working/, 60_000)

  await database.query('set role workflow_admin')
  await registerPlaybook(database, PLAYBOOK)
  const items = Array.from({ length: ITEMS }, (_, n) => n)
  const execution = await startExecution(database, 'story', { items })
  const ended = async () =>
    (
      await one<{ n: number }>(
        `select count(*)::integer as n from noetl.event where execution_id = $1 and event_type = 'loop.shard.done'`,
        [execution],
      ).catch(() => ({ n: 0 }))
    ).n
  const progress = async (what: string, share: number) =>
    until(what, async () => (await ended()) >= share * ITEMS, 280_000)

  await until('both hosts work', () => Object.keys(readJournal(journal).byHost).length === 2)
  await until('both are listed', async () => {
    const { stdout } = await runCli(['worker', 'list', '--json'], serverEnvironment())
    return stdout.includes('north') && stdout.includes('south')
  })

  await progress('a tenth', 0.1)
  north.cut()
  await delay(CUT_MS)
  north.heal()
  await progress('a third', 0.3)
  await nats.kill()
  await delay(NATS_DOWN_MS)
  await nats.start()
  await progress('a half', 0.5)
  await server.restart('immediate')
  const atRestart = await until('the database answers', async () => (await ended()) || undefined)
  expect(atRestart).toBeLessThan(ITEMS)
  await progress('two thirds', 0.65)
  const newer = newerVersion()
  for (const [place, host] of [north, south].entries()) {
    expect(await workers[place]!.end('SIGTERM')).toBe(0)
    workers[place] = startRemoteWorker(host, newer)
    await workers[place]!.says(/Working/, 60_000)
  }
  await until(
    'it has ended',
    async () =>
      (
        await one<{ ended: boolean }>(
          `select end_time is not null as ended from noetl.execution where execution_id = $1`,
          [execution],
        ).catch(() => ({ ended: false }))
      ).ended,
    280_000,
  )

  expect(await one(`select status from noetl.execution where execution_id = $1`, [execution])).toEqual({
    status: 'COMPLETED',
  })
  // From the log: each item ended once, no sequence number is missing.
  expect(
    await one(
      `select count(*)::integer as ends, count(distinct meta ->> 'shard_id')::integer as items
         from noetl.event where execution_id = $1 and event_type = 'loop.shard.done'`,
      [execution],
    ),
  ).toEqual({ ends: ITEMS, items: ITEMS })
  expect(
    await one(
      `select max(seq)::integer - count(*)::integer as gaps from noetl.event where execution_id = $1`,
      [execution],
    ),
  ).toEqual({ gaps: 0 })
  // From the journal: every item ran, and those that ran twice were in flight where a fault was.
  const { runs, repeated, byHost } = readJournal(journal)
  expect(runs.size).toBe(ITEMS)
  expect(repeated).toBeLessThanOrEqual(6 * AT_ONCE)
  expect(Object.keys(byHost).sort()).toEqual(['north', 'south'])
  for (const worker of workers) expect(await worker.end('SIGTERM')).toBe(0)
  expect(await main.end('SIGTERM')).toBe(0)
})
