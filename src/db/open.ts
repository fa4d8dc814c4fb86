/**
 * From the configuration to a database: the user's own, which is only connected to, or the embedded one, which
 * is ours and therefore started, set up and migrated without asking.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Config, directUrl } from '../config.ts'
import { StagedoorError } from '../errors.ts'
import { withClient } from './connection.ts'
import { readSecrets, type Secrets } from './embedded/secrets.ts'
import { type EmbeddedServer, findRunning, type RunningServer, startEmbedded } from './embedded/server.ts'
import { migrate } from './migrate/migrate.ts'

export interface Database {
  readonly kind: 'embedded' | 'external'
  /** For requests: the login stagedoor_api, which can do nothing by itself. */
  readonly apiUrl: string
  /** For migrate and administration: a direct connection. */
  readonly directUrl: string
  /** For workers. */
  readonly workerUrl: string
  /** For the `sql` tool of playbooks; undefined on the user's own where PLAYBOOK_DATABASE_URL is not set. */
  readonly playbookUrl: string | undefined
  /** Made once on the embedded server; undefined on the user's own. */
  readonly jwtSecret: string | undefined
  /** The embedded server where this process runs it; undefined where another process or the user does. */
  readonly server?: Pick<EmbeddedServer, 'health' | 'lost'>
  /** What was started for this is stopped. */
  close(): Promise<void>
}

export interface OpenOptions {
  readonly notice?: (line: string) => void
  readonly progress?: (step: string) => void
  /**
   * True (the CLI): a server that another process runs for all on the same home is used, and a home that another
   * command holds is waited for. False (start): the server is ours, others may use it, and a home in use is an error.
   */
  readonly share: boolean
  /** Others on this home may use the server that is started here: whoever starts one to stay. Default: not `share`. */
  readonly announce?: boolean
  /** False: an existing embedded database is opened as it is, neither migrated nor changed; for those who look. */
  readonly prepare?: boolean
  /** How long to wait for a home that another command holds. */
  readonly patienceMs?: number
}

const DATABASE = 'stagedoor'
const MIGRATOR = 'stagedoor_migrator'
const PATIENCE_MS = 30_000
const POLL_MS = 100

export async function openDatabase(config: Config, options: OpenOptions): Promise<Database> {
  const direct = directUrl(config)
  if (config.databaseUrl !== undefined && direct !== undefined) {
    return {
      kind: 'external',
      apiUrl: config.databaseUrl,
      directUrl: direct,
      workerUrl: direct,
      playbookUrl: config.playbookDatabaseUrl,
      jwtSecret: config.jwtSecret,
      close: async () => {},
    }
  }
  return openEmbedded(config, options)
}

async function openEmbedded(config: Config, options: OpenOptions): Promise<Database> {
  const server = options.share ? await findOrStart(config, options) : await start(config, options)
  if (!('stop' in server)) {
    return embedded(config, server.url(), await readSecrets(config.home), async () => {})
  }
  try {
    const secrets = await readSecrets(config.home)
    const opened = { ...embedded(config, server.url(), secrets, () => server.stop()), server }
    if (options.prepare !== false || !(await databaseExists(server.url()))) {
      await prepare(server.url(), opened.directUrl, secrets, options)
    }
    if (options.announce ?? !options.share) await server.announce()
    return opened
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Another command brings its own server for a moment and takes it away again: then it is our turn. */
async function findOrStart(config: Config, options: OpenOptions): Promise<EmbeddedServer | RunningServer> {
  const { home } = config
  const deadline = performance.now() + (options.patienceMs ?? PATIENCE_MS)
  for (let told = false; ; told = true) {
    const running = await findRunning(home)
    if (running) return running
    try {
      return await start(config, told ? { ...options, progress: () => {} } : options)
    } catch (error) {
      const isHeld = error instanceof StagedoorError && error.code === 'home_in_use'
      if (!isHeld || performance.now() > deadline) throw error
      if (!told) options.notice?.(`Waiting for another Stagedoor (process ${error.details.pid}) on ${home}.`)
      await delay(POLL_MS)
    }
  }
}

function start(config: Config, { notice, progress }: OpenOptions): Promise<EmbeddedServer> {
  progress?.('starting the embedded PostgreSQL')
  const restartLimitMs = config.embeddedRestartLimit * 1000
  return startEmbedded({ home: config.home, restartLimitMs, ...(notice && { notice }) })
}

async function prepare(
  superuserUrl: string,
  directUrl: string,
  secrets: Secrets,
  { progress }: OpenOptions,
): Promise<void> {
  await createDatabase(superuserUrl, secrets)
  await migrate({ url: directUrl, ...(progress && { progress }) })
  await attachDdlTriggers(superuserUrl)
  await setPasswords(superuserUrl, secrets)
  await withClient(directUrl, (client) => client.query('select iu_core.fn_default_workspace()'), {
    role: 'workflow_admin',
  })
}

function embedded(
  config: Config,
  superuserUrl: string,
  secrets: Secrets,
  close: () => Promise<void>,
): Database {
  return {
    kind: 'embedded',
    apiUrl: login(superuserUrl, 'stagedoor_api', secrets.apiPassword),
    directUrl: login(superuserUrl, MIGRATOR, secrets.migratorPassword),
    workerUrl: login(superuserUrl, 'stagedoor_worker', secrets.workerPassword),
    playbookUrl: login(superuserUrl, 'stagedoor_playbook', secrets.playbookPassword),
    jwtSecret: config.jwtSecret ?? secrets.jwtSecret,
    close,
  }
}

/**
 * The migrator is what a managed Postgres would give us: the database's owner, with CREATEROLE, no superuser. BYPASSRLS is
 * there to be handed on to service_role, which then takes files by COPY without a detour.
 */
async function createDatabase(superuserUrl: string, secrets: Secrets): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    const roles = await client.query('select from pg_roles where rolname = $1', [MIGRATOR])
    if (roles.rowCount === 0) await client.query(`create role ${MIGRATOR} login createrole bypassrls`)
    await client.query(`alter role ${MIGRATOR} password ${pg.escapeLiteral(secrets.migratorPassword)}`)
    const databases = await client.query('select from pg_database where datname = $1', [DATABASE])
    if (databases.rowCount === 0) await client.query(`create database ${DATABASE} owner ${MIGRATOR}`)
  })
}

/** It is made after the login that migrates has its password: where it exists, that login works. */
async function databaseExists(superuserUrl: string): Promise<boolean> {
  return withClient(superuserUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE])
    return rowCount === 1
  })
}

/** Only a superuser makes event triggers, and the login that migrates is none. Without them no route of DDL works. */
async function attachDdlTriggers(superuserUrl: string): Promise<void> {
  await withClient(ours(superuserUrl).toString(), (client) =>
    client.query('select iu_core.fn_sql_route_attach_ddl()'),
  )
}

async function setPasswords(superuserUrl: string, secrets: Secrets): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    await client.query(`alter role stagedoor_api password ${pg.escapeLiteral(secrets.apiPassword)}`)
    await client.query(`alter role stagedoor_worker password ${pg.escapeLiteral(secrets.workerPassword)}`)
    await client.query(`alter role stagedoor_playbook password ${pg.escapeLiteral(secrets.playbookPassword)}`)
  })
}

function login(superuserUrl: string, user: string, password: string): string {
  const url = ours(superuserUrl)
  url.username = user
  url.password = password
  return url.toString()
}

/** Our database on the embedded server. */
function ours(superuserUrl: string): URL {
  const url = new URL(superuserUrl)
  url.pathname = `/${DATABASE}`
  return url
}
