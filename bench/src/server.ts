/** The server of one benchmark: fresh, durable as in production, and a fresh database for whoever asks. */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type EmbeddedServer, migrate, startEmbedded, VERSION } from './product.ts'

export interface SessionOptions {
  /** The driver sends statements without waiting for the answers to those before. */
  readonly pipeline?: boolean
}

export interface BenchDatabase {
  /** The superuser's address, for what a benchmark does apart from the measured work, and for peers. */
  readonly url: string
  /** The address of the product's worker. */
  readonly workerUrl: string
  /** Sessions of the product's worker, acting as dot_executor. Closed with the database. */
  worker(options?: SessionOptions): Promise<pg.Client>
  superuser(): Promise<pg.Client>
  /** Ends the server, with `immediate` as a crash would, and starts it again on the same port. */
  restartServer(mode: 'fast' | 'immediate'): Promise<void>
  drop(): Promise<void>
}

export interface BenchServer {
  readonly versions: { readonly stagedoor: string; readonly postgres: string }
  /** The settings that decide what a figure means. */
  readonly settings: Readonly<Record<string, string>>
  freshDatabase(): Promise<BenchDatabase>
  /** Stops the server and removes everything that it wrote. May be called twice. */
  stop(): Promise<void>
}

const TEMPLATE = 'bench_template'
const REPORTED = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers']

export async function startBenchServer(
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  const home = await mkdtemp(join(tmpdir(), 'stagedoor-bench-'))
  // As root the server runs as another user, who must be able to enter; the data folder inside is closed.
  await chmod(home, 0o755)
  let server: EmbeddedServer | undefined
  try {
    server = await startEmbedded({ home, version: 18, durability: 'safe', settings })
    const password = randomBytes(16).toString('hex')
    await prepareTemplate(server, password)
    return await benchServer(server, home, password, Object.keys(settings))
  } catch (error) {
    await server?.stop()
    await rm(home, { recursive: true, force: true })
    throw error
  }
}

async function prepareTemplate(server: EmbeddedServer, password: string): Promise<void> {
  await once(server.url(), `create database ${TEMPLATE}`)
  await migrate({ url: server.url(TEMPLATE) })
  await once(server.url(), `alter role stagedoor_worker password '${password}'`)
}

async function benchServer(
  server: EmbeddedServer,
  home: string,
  password: string,
  changed: readonly string[],
): Promise<BenchServer> {
  const names = [...REPORTED, ...changed]
  const reported = await once(
    server.url(),
    `select name, current_setting(name) as value from pg_settings
      where name = any ('{server_version,${names.join()}}')`,
  )
  const values = Object.fromEntries(reported.map(({ name, value }) => [name, value]))
  // A figure without them would not be comparable with anything.
  if (values.fsync !== 'on' || values.synchronous_commit !== 'on') {
    throw new Error('the benchmark server runs without fsync or synchronous_commit')
  }
  let databases = 0
  return {
    versions: { stagedoor: VERSION, postgres: values.server_version! },
    settings: Object.fromEntries(names.map((name) => [name, values[name]!])),
    async freshDatabase() {
      const name = `bench_${++databases}`
      await once(server.url(), `create database ${name} template ${TEMPLATE}`)
      return benchDatabase(server, name, password)
    },
    async stop() {
      await server.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

function benchDatabase(server: EmbeddedServer, name: string, password: string): BenchDatabase {
  const url = server.url(name)
  const workerUrl = new URL(url)
  workerUrl.username = 'stagedoor_worker'
  workerUrl.password = password
  const sessions = new Set<pg.Client>()
  const open = async (connectionString: string, options: SessionOptions = {}): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString, ...options })
    client.on('error', () => {}) // The next statement on it says the same, and has a caller.
    await client.connect()
    sessions.add(client)
    return client
  }
  return {
    url,
    workerUrl: workerUrl.toString(),
    async worker(options) {
      const client = await open(workerUrl.toString(), options)
      await client.query('set role dot_executor')
      return client
    },
    superuser: () => open(url),
    restartServer: (mode) => server.restart(mode),
    async drop() {
      // A session that a restart of the server has ended fails here.
      await Promise.allSettled([...sessions].map((session) => session.end()))
      await once(server.url(), `drop database ${name} with (force)`)
    },
  }
}

async function once(url: string, sql: string): Promise<Record<string, string>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
