/**
 * A rolling upgrade, both ways round, while a run goes on. Workers of an older release, a direct and a remote one, on the schema, the gateway and
 * the engine of this one, and then this release instead of them. And a server of the older release on the schema of this one, which serves workers
 * of this one, and then this release instead of it. Each item ends once, and nothing waits for a version.
 */
// @module-tag long
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
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
const HANDLERS = fileURLToPath(new URL('handlers.mjs', import.meta.url))

const folder = temporaryHome('upgrade')
let older: OlderRelease
let postgres: EmbeddedServer
let nats: TestNats

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
  if (older.commit === undefined)
    console.warn('The history is not here: the older release is this one with a lower version.')
  postgres = await startEmbedded({ home: join(folder, 'pg'), settings: { max_connections: '150' } })
  await prepareTemplate(postgres.url())
  nats = await startNats()
}, 300_000)
afterAll(async () => {
  await nats?.stop()
  await postgres?.stop()
})

type Release = 'older' | 'this'

/** Its own database of the schema of this release, its own subjects and journal. */
class Installation {
  readonly database: pg.Pool
  readonly urls: Readonly<Record<string, string>>
  private readonly name: string
  private readonly journal: string
  private execution = ''

  private constructor(name: string) {
    this.name = name
    this.journal = join(folder, `${name}.journal`)
    this.database = new pg.Pool({ connectionString: loginUrl(postgres.url(), 'postgres', name), max: 4 })
    this.urls = {
      DATABASE_URL: loginUrl(postgres.url(), 'stagedoor_api', name),
      DATABASE_DIRECT_URL: loginUrl(postgres.url(), MIGRATOR, name),
      STAGEDOOR_JWT_SECRET: 'a secret that is long enough for HS256',
    }
  }

  static async create(name: string): Promise<Installation> {
    const admin = new pg.Client(postgres.url())
    await admin.connect()
    await admin.query(`create database ${name} template ${TEMPLATE} owner ${MIGRATOR}`)
    await admin.end()
    const installation = new Installation(name)
    onTestFinished(() => installation.database.end())
    return installation
  }

  private start(
    release: Release,
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): RunningCli {
    const home = join(folder, `${this.name}-${program}-${release}`)
    mkdirSync(home, { recursive: true })
    const own = { STAGEDOOR_HOME: home, STAGEDOOR_CELL: this.name, NATS_URL: nats.url }
    const all = { ...env, ...own, JOURNAL: this.journal, HANDLER_MS: '60' }
    return startCli(args, all, release === 'older' ? { program: older.program } : {})
  }

  /** Of its own it runs no handlers of the user: items and jobs are for the workers. */
  async startServer(release: Release): Promise<RunningCli> {
    const port = String(await freePort())
    const started = this.start(release, 'server', ['start'], {
      ...this.urls,
      PORT: port,
      STAGEDOOR_DRAIN_SECONDS: '1',
    })
    await started.says(/Ctrl-C stops everything/)
    return started
  }

  async startWorkers(release: Release): Promise<RunningCli[]> {
    const worker = ['worker', '--handlers', HANDLERS, '--concurrency', String(AT_ONCE)]
    const remote = this.start(release, 'remote', worker, {})
    const direct = this.start(release, 'direct', worker, this.urls)
    await remote.says(/attached to gateway/)
    await direct.says(/Working/)
    return [remote, direct]
  }

  async enqueueAll(): Promise<void> {
    await this.database.query('set role workflow_admin')
    await registerPlaybook(this.database, PLAYBOOK)
    this.execution = await startExecution(this.database, 'upgrade', {
      items: Array.from({ length: ITEMS }, (_, n) => n),
    })
    await this.database.query('reset role')
    const jobs = Array.from({ length: JOBS }, (_, n) => ({ job_kind: 'hosts_job', payload: { n } }))
    await enqueueMany(this.database, jobs)
  }

  /** Both of them have begun something since then. */
  async bothWork(workers: readonly RunningCli[], since = 0): Promise<void> {
    await until('the remote and the direct worker work', () => {
      const begun = readJournal(this.journal).entries.filter(
        ({ at, time }) => at === 'begin' && time >= since,
      )
      const pids = new Set(begun.map(({ pid }) => pid))
      return workers.every(({ child }) => pids.has(child.pid!))
    })
  }

  async isListed(list: 'worker' | 'process', version: string): Promise<void> {
    await until(`${list} list has version ${version}`, async () => {
      const { stdout } = await runCli([list, 'list', '--json'], this.urls)
      return stdout.includes(`"version": "${version}"`)
    })
  }

  async progress(share: number): Promise<void> {
    await until(
      `${share} of all`,
      async () => (await this.itemsEnded()) + (await this.jobsEnded()) >= share * (ITEMS + JOBS),
      200_000,
    )
  }

  /** All ended, each once, and the log has no gap. */
  async completed(): Promise<void> {
    await this.progress(1)
    await until('the execution has ended', async () => {
      const { rows } = await this.database.query<{ status: string }>(
        'select status from noetl.execution where execution_id = $1',
        [this.execution],
      )
      return rows[0]?.status === 'COMPLETED'
    })
    const ITEM_ENDS = `from noetl.event where execution_id = $1 and event_type = 'loop.shard.done'`
    const distinct = `select count(distinct meta ->> 'shard_id')::integer as n ${ITEM_ENDS}`
    expect(await this.count(distinct, [this.execution])).toBe(ITEMS)
    expect(await this.itemsEnded()).toBe(ITEMS)
    const gaps = `select (max(seq) - count(*))::integer as n from noetl.event where execution_id = $1`
    expect(await this.count(gaps, [this.execution])).toBe(0)
    const ids = `select count(distinct job_id)::integer as n from iu_core.job_history
                 where job_kind = 'hosts_job' and outcome = 'completed'`
    expect(await this.count(ids)).toBe(JOBS)
    expect(await this.jobsEnded()).toBe(JOBS)
    const { runs, repeated } = readJournal(this.journal)
    expect(runs.size).toBe(ITEMS + JOBS)
    // Nobody was killed: who leaves lets its calls end, or takes them along to another gateway.
    expect(repeated).toBe(0)
  }

  private itemsEnded(): Promise<number> {
    return this.count(
      `select count(*)::integer as n from noetl.event where execution_id = $1 and event_type = 'loop.shard.done'`,
      [this.execution],
    )
  }

  private jobsEnded(): Promise<number> {
    return this.count(
      `select count(*)::integer as n from iu_core.job_history where job_kind = 'hosts_job' and outcome = 'completed'`,
    )
  }

  private async count(sql: string, values: readonly unknown[] = []): Promise<number> {
    const { rows } = await this.database.query<{ n: number }>(sql, [...values])
    return rows[0]!.n
  }
}

it('a run goes on while workers of an older release are replaced', async () => {
  const here = await Installation.create('workers')
  const server = await here.startServer('this')
  const olderWorkers = await here.startWorkers('older')
  await here.enqueueAll()
  await here.bothWork(olderWorkers)
  await here.isListed('worker', older.version)
  await here.progress(0.5)
  // Worker by worker, as in a rolling upgrade.
  for (const worker of olderWorkers) expect(await worker.end('SIGTERM')).toBe(0)
  const newWorkers = await here.startWorkers('this')
  await here.bothWork(newWorkers)
  await here.completed()
  for (const one of [...newWorkers, server]) expect(await one.end('SIGTERM')).toBe(0)
}, 300_000)

it('a run goes on while a server of an older release, which serves workers of this one, is replaced', async () => {
  const here = await Installation.create('server')
  const olderServer = await here.startServer('older')
  const workers = await here.startWorkers('this')
  // Before there is work, so that the work does not run out while a server starts.
  const newServer = await here.startServer('this')
  await here.enqueueAll()
  await here.bothWork(workers)
  await here.isListed('process', older.version)
  const [remote] = workers as [RunningCli, RunningCli]
  const attachments = () => remote.output().match(/attached to gateway/g)!.length
  expect(attachments()).toBe(1)
  // The remote worker goes to the gateway of this release, with what it runs.
  const stopped = olderServer.end('SIGTERM')
  await until('the remote worker is at the other gateway', () => attachments() === 2)
  await here.bothWork(workers, Date.now())
  expect(await stopped).toBe(0)
  await here.completed()
  for (const one of [...workers, newServer]) expect(await one.end('SIGTERM')).toBe(0)
}, 300_000)
