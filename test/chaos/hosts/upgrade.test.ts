/**
 * A rolling upgrade of workers: a direct and a remote worker of an older release against the schema and the gateway of this one, then this
 * release instead of them, while a run goes on. Each item ends once, and nothing waits for a version.
 */
// @module-tag long
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startExecution } from '../../../src/executions/control.ts'
import { registerPlaybook } from '../../../src/executions/playbooks.ts'
import { enqueueMany } from '../../../src/jobs/queue.ts'
import { type EmbeddedServer, startEmbedded } from '../../../src/kernel/postgres/embedded/server.ts'
import { freePort, type RunningCli, runCli, startCli } from '../../support/cli.ts'
import { startNats, type TestNats } from '../../support/nats.ts'
import { buildOlderRelease, type OlderRelease } from '../../support/older-release.ts'
import { loginUrl, MIGRATOR, prepareTemplate, TEMPLATE } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'
import { readJournal } from './journal.ts'

const ITEMS = 3000
const JOBS = 1500
const AT_ONCE = 8
const DATABASE = 'upgrade'
const HANDLERS = fileURLToPath(new URL('handlers.mjs', import.meta.url))

const folder = temporaryHome('upgrade')
const journal = join(folder, 'journal')
let older: OlderRelease
let server: EmbeddedServer
let nats: TestNats
let database: pg.Pool

const PLAYBOOK = `
name: upgrade
args: { items: [] }
steps:
  - step: each
    loop: { in: "\${args.items}", as: n, mode: fanout, max_in_flight: 500 }
    tool: handler
    call: hosts_item
    args: { n: "\${n}" }
    retry: { attempts: 50, backoff_ms: 20, max_backoff_ms: 200 }
`

beforeAll(async () => {
  older = buildOlderRelease()
  server = await startEmbedded({ home: join(folder, 'pg'), settings: { max_connections: '100' } })
  await prepareTemplate(server.url())
  const admin = new pg.Client(server.url())
  await admin.connect()
  await admin.query(`create database ${DATABASE} template ${TEMPLATE} owner ${MIGRATOR}`)
  await admin.end()
  database = new pg.Pool({ connectionString: loginUrl(server.url(), 'postgres', DATABASE), max: 4 })
  nats = await startNats()
}, 300_000)
afterAll(async () => {
  await database?.end()
  await nats?.stop()
  await server?.stop()
})

type Release = 'older' | 'this'

function start(
  release: Release,
  name: string,
  args: readonly string[],
  env: Record<string, string>,
): RunningCli {
  const home = join(folder, name)
  mkdirSync(home, { recursive: true })
  const all = { ...env, STAGEDOOR_HOME: home, NATS_URL: nats.url, JOURNAL: journal, HANDLER_MS: '30' }
  return startCli(args, all, release === 'older' ? { program: older.program } : {})
}

const databaseUrls = () => ({
  DATABASE_URL: loginUrl(server.url(), 'stagedoor_api', DATABASE),
  DATABASE_DIRECT_URL: loginUrl(server.url(), MIGRATOR, DATABASE),
  STAGEDOOR_JWT_SECRET: 'a secret that is long enough for HS256',
})

/** Of its own it runs no handlers of the user: items and jobs are for the workers. */
async function startServer(): Promise<RunningCli> {
  const port = String(await freePort())
  const started = start('this', 'server', ['start'], { ...databaseUrls(), PORT: port })
  await started.says(/Ctrl-C stops everything/)
  return started
}

async function startWorkers(release: Release): Promise<RunningCli[]> {
  const worker = ['worker', '--handlers', HANDLERS, '--concurrency', String(AT_ONCE)]
  const workers = [
    start(release, `remote-${release}`, worker, {}),
    start(release, `direct-${release}`, worker, databaseUrls()),
  ]
  for (const one of workers) await one.says(/Working/)
  return workers
}

async function count(sql: string, values: unknown[] = []): Promise<number> {
  const { rows } = await database.query<{ n: number }>(sql, values)
  return rows[0]!.n
}

it('a run goes on while workers of an older release are replaced', async () => {
  if (older.commit === undefined)
    console.warn('The history is not here: the older release is this one with a lower version.')
  const first = await startServer()
  const olderWorkers = await startWorkers('older')
  await database.query('set role workflow_admin')
  await registerPlaybook(database, PLAYBOOK)
  const execution = await startExecution(database, 'upgrade', {
    items: Array.from({ length: ITEMS }, (_, n) => n),
  })
  await database.query('reset role')
  await enqueueMany(
    database,
    Array.from({ length: JOBS }, (_, n) => ({ job_kind: 'hosts_job', payload: { n } })),
  )
  const ended = async () =>
    (await count(
      `select count(*)::integer as n from noetl.event where execution_id = $1 and event_type = 'loop.shard.done'`,
      [execution],
    )) +
    (await count(
      `select count(*)::integer as n from iu_core.job_history where job_kind = 'hosts_job' and outcome = 'completed'`,
    ))
  const progress = (share: number) =>
    until(`${share} of all`, async () => (await ended()) >= share * (ITEMS + JOBS), 200_000)
  const pidsOf = (workers: readonly RunningCli[]) => workers.map(({ child }) => child.pid)
  const bothWork = (workers: readonly RunningCli[]) =>
    until('the remote and the direct worker work', () => {
      const pids = new Set(readJournal(journal).entries.map(({ pid }) => pid))
      return pidsOf(workers).every((pid) => pids.has(pid!))
    })

  // Workers of the older release, schema and gateway of this one.
  await bothWork(olderWorkers)
  const listed = async () => (await runCli(['worker', 'list', '--json'], databaseUrls())).stdout
  await until('the versions of the workers are listed', async () => (await listed()).includes(older.version))
  await progress(0.2)
  await progress(0.5)
  // Worker by worker, as in a rolling upgrade.
  for (const worker of olderWorkers) expect(await worker.end('SIGTERM')).toBe(0)
  const newWorkers = await startWorkers('this')
  await bothWork(newWorkers)
  await progress(1)
  await until(
    'the execution has ended',
    async () =>
      (await count(
        `select count(*)::integer as n from noetl.execution where execution_id = $1 and status = 'COMPLETED'`,
        [execution],
      )) === 1,
  )

  expect(
    await count(
      `select (count(*) - count(distinct meta ->> 'shard_id'))::integer as n
         from noetl.event where execution_id = $1 and event_type = 'loop.shard.done'`,
      [execution],
    ),
  ).toBe(0)
  expect(
    await count(`select (max(seq) - count(*))::integer as n from noetl.event where execution_id = $1`, [
      execution,
    ]),
  ).toBe(0)
  expect(
    await count(
      `select (count(*) - count(distinct job_id))::integer as n
         from iu_core.job_history where job_kind = 'hosts_job' and outcome = 'completed'`,
    ),
  ).toBe(0)
  const { runs, repeated } = readJournal(journal)
  expect(runs.size).toBe(ITEMS + JOBS)
  // Nobody was killed: who leaves lets its calls end, or takes them along to another gateway.
  expect(repeated).toBe(0)
  for (const one of [...newWorkers, first]) expect(await one.end('SIGTERM')).toBe(0)
}, 300_000)
