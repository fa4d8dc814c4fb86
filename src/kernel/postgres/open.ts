/**
 * Opens the database that the configuration names: the user's own, which is only connected to, or the embedded one, which is also
 * started, set up and migrated.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Config, directUrl } from '../config.ts'
import { StagedoorError } from '../errors.ts'
import { withClient } from './connection.ts'
import { readSecrets, type Secrets } from './embedded/cluster.ts'
import { type EmbeddedServer, findRunning, type RunningServer, startEmbedded } from './embedded/server.ts'
import { mapConnectionError } from './errors.ts'
import { migrate } from './migrate/migrate.ts'

export interface Database {
  readonly kind: 'embedded' | 'external'
  /** For requests: the login stagedoor_api, which has no privileges of its own. */
  readonly apiUrl: string
  /** For migrate and administration: a direct connection. */
  readonly directUrl: string
  /** For workers. */
  readonly workerUrl: string
  /** For the `sql` tool of playbooks; undefined on the user's own where PLAYBOOK_DATABASE_URL is not set. */
  readonly playbookUrl: string | undefined
  /** For proposed SQL; undefined on the user's own where PROPOSAL_DATABASE_URL is not set. */
  readonly proposalUrl: string | undefined
  /** Made once on the embedded server; undefined on the user's own. */
  readonly jwtSecret: string | undefined
  /** The embedded server where this process runs it; undefined where another process or the user does. */
  readonly server?: Pick<EmbeddedServer, 'health' | 'lost'>
  /** Stops what was started here. */
  close(): Promise<void>
}

export interface OpenOptions {
  readonly notice?: (line: string) => void
  readonly progress?: (step: string) => void
  /**
   * True (the CLI): uses a server that another process shares on the same home, and waits for a home that another command holds.
   * False (`start`): this process owns the server and shares it, and a home in use is an error.
   */
  readonly share: boolean
  /** Other processes on this home may use the server that is started here, because it keeps running. Default: not `share`. */
  readonly announce?: boolean
  /** False: opens an existing embedded database without migrating or changing it; for commands that only read. */
  readonly prepare?: boolean
  /** How long to wait for a home that another command holds. */
  readonly homeTimeoutMs?: number
}

const DATABASE = 'stagedoor'
const MIGRATOR = 'stagedoor_migrator'
const CONNECT_TIMEOUT_MS = 30_000
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
      proposalUrl: config.proposalDatabaseUrl,
      jwtSecret: config.jwtSecret,
      close: async () => {},
    }
  }
  return openEmbedded(config, options)
}

async function openEmbedded(config: Config, options: OpenOptions): Promise<Database> {
  const server = options.share ? await findOrStart(config, options) : await start(config, options)
  if (!('stop' in server)) {
    return embeddedDatabase(config, server.url(), await readSecrets(config.home), async () => {})
  }
  try {
    const secrets = await readSecrets(config.home)
    const opened = { ...embeddedDatabase(config, server.url(), secrets, () => server.stop()), server }
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

/** Another command may run its own server for a moment. This waits until the home is free. */
async function findOrStart(config: Config, options: OpenOptions): Promise<EmbeddedServer | RunningServer> {
  const { home } = config
  const deadline = performance.now() + (options.homeTimeoutMs ?? CONNECT_TIMEOUT_MS)
  for (let isWaiting = false; ; isWaiting = true) {
    const running = await findRunning(home)
    if (running) return running
    try {
      return await start(config, isWaiting ? { ...options, progress: () => {} } : options)
    } catch (error) {
      const isHeld = error instanceof StagedoorError && error.code === 'home_in_use'
      if (!isHeld || performance.now() > deadline) throw error
      if (!isWaiting)
        options.notice?.(`Waiting for another Stagedoor (process ${error.details.pid}) on ${home}.`)
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
  await migrate({ url: directUrl, ...(progress && { progress }) }).catch((error: unknown) => {
    // The rest comes with a start after the older processes have stopped.
    if (!(error instanceof StagedoorError && error.code === 'migration_waits')) throw error
    progress?.(error.message)
  })
  await attachDdlTriggers(superuserUrl)
  await grantBulkReferenceChecks(superuserUrl)
  await setPasswords(superuserUrl, secrets)
  await withClient(directUrl, (client) => client.query('select iu_core.fn_default_workspace()'), {
    role: 'workflow_admin',
  })
}

function embeddedDatabase(
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
    proposalUrl: login(superuserUrl, 'stagedoor_proposer', secrets.proposerPassword),
    jwtSecret: config.jwtSecret ?? secrets.jwtSecret,
    close,
  }
}

/**
 * The migrator has the rights that a managed PostgreSQL would give: owner of the database, CREATEROLE, no superuser. It has BYPASSRLS
 * in order to grant it to service_role, which needs it to load files by COPY directly.
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

/** The database is created after the migrator's login has its password: if the database exists, the login works. */
async function databaseExists(superuserUrl: string): Promise<boolean> {
  return withClient(superuserUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE])
    return rowCount === 1
  })
}

/** Only a superuser can create event triggers, and the migrator's login is none. Routes of DDL need them. */
async function attachDdlTriggers(superuserUrl: string): Promise<void> {
  await withClient(ours(superuserUrl).toString(), (client) =>
    client.query('select iu_core.fn_sql_route_attach_ddl()'),
  )
}

/** Only a superuser can grant it. Promotion uses it while the gate iu_core.bulk_reference_checks_enabled is open. */
async function grantBulkReferenceChecks(superuserUrl: string): Promise<void> {
  await withClient(superuserUrl, (client) =>
    client.query('grant set on parameter session_replication_role to workflow_admin'),
  )
}

async function setPasswords(superuserUrl: string, secrets: Secrets): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    await client.query(`alter role stagedoor_api password ${pg.escapeLiteral(secrets.apiPassword)}`)
    await client.query(`alter role stagedoor_worker password ${pg.escapeLiteral(secrets.workerPassword)}`)
    await client.query(`alter role stagedoor_playbook password ${pg.escapeLiteral(secrets.playbookPassword)}`)
    await client.query(`alter role stagedoor_proposer password ${pg.escapeLiteral(secrets.proposerPassword)}`)
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

// Detects a transaction pooler between this process and the server. LISTEN, advisory locks and SET do not work through one, so
// migrations, workers and notifications need a direct connection.

/** `unknown`: no second session was available. */
type Pooling = 'none' | 'session' | 'transaction' | 'unknown'

/** How often to compare: a busy pooler may give us the same session by chance, but not this often. */
const ROUNDS = 5
/** An exhausted pool lets clients wait. */
const POOLER_PROBE_TIMEOUT_MS = 5_000
/** The server, the database or the login has no connection left. */
const TOO_MANY = '53300'

/** For callers that keep a lock, a role or a LISTEN in their session: through a transaction pooler they might wait for ever. */
export async function refuseTransactionPooler(url: string): Promise<void> {
  if ((await detectPooling(url)) === 'transaction') {
    throw new StagedoorError('pooler_refused', { target: endpointOf(url) })
  }
}

/** `host:port`, without login and password. */
export function endpointOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname || 'localhost'}:${port || 5432}`
}

/**
 * Without a transaction pooler two open clients have two sessions, and each keeps its own. A transaction pooler gives both the same
 * session, or one client several. A session pooler reports a process id of its own when we connect.
 */
export async function detectPooling(url: string): Promise<Pooling> {
  const clients = [probe(url), probe(url)]
  try {
    for (const client of clients) await client.connect()
    const owners = new Map<number, pg.Client>()
    let announced = true
    for (let round = 0; round < ROUNDS; round++) {
      for (const client of clients) {
        const pid = await backendOf(client)
        if (pid === undefined) return 'unknown'
        if ((owners.get(pid) ?? client) !== client) return 'transaction'
        owners.set(pid, client)
        announced &&= pid === announcedPid(client)
      }
      if (owners.size > clients.length) return 'transaction'
      if (announced) return 'none'
    }
    return 'session'
  } catch (error) {
    if ((error as { code?: string }).code === TOO_MANY) return 'unknown'
    throw mapConnectionError(error, url)
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

function probe(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: 'stagedoor probe',
  })
  client.on('error', () => {})
  return client
}

/** Undefined: no answer in time, because others have all the sessions. */
async function backendOf(client: pg.Client): Promise<number | undefined> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, POOLER_PROBE_TIMEOUT_MS, undefined)
  })
  const answer = client.query<{ pid: number }>('select pg_backend_pid() as pid')
  try {
    return (await Promise.race([answer, timeout]))?.rows[0]?.pid
  } finally {
    clearTimeout(timer)
    // The client is closed while its query still waits; nobody needs that answer.
    answer.catch(() => {})
  }
}

/** The process id that the server reported at connect; the driver's types do not list it. */
function announcedPid(client: pg.Client): number | undefined {
  return (client as unknown as { processID?: number }).processID
}
