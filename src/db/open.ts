/**
 * From the configuration to a database: the user's own, which is only connected to, or the embedded one, which
 * is ours and therefore started, set up and migrated without asking.
 */
import pg from 'pg'
import { type Config, directUrl } from '../config.ts'
import { withClient } from './connection.ts'
import { ensureDefaultWorkspace } from './default-workspace.ts'
import { readSecrets, type Secrets } from './embedded/secrets.ts'
import { findRunning, startEmbedded } from './embedded/server.ts'
import { migrate } from './migrate/migrate.ts'

export interface Database {
  readonly kind: 'embedded' | 'external'
  /** For requests: the login stagedoor_api, which can do nothing by itself. */
  readonly apiUrl: string
  /** For migrate, administration and LISTEN: a direct connection. */
  readonly directUrl: string
  /** For workers. */
  readonly workerUrl: string
  /** Made once on the embedded server; undefined on the user's own. */
  readonly jwtSecret: string | undefined
  /** What was started for this is stopped. */
  close(): Promise<void>
}

export interface OpenOptions {
  readonly notice?: (line: string) => void
  readonly progress?: (step: string) => void
  /** A server that another process runs on the same home may be used (the CLI), or must not be (start). */
  readonly share: boolean
}

const DATABASE = 'stagedoor'
const MIGRATOR = 'stagedoor_migrator'

export async function openDatabase(config: Config, options: OpenOptions): Promise<Database> {
  const direct = directUrl(config)
  if (config.databaseUrl !== undefined && direct !== undefined) {
    return {
      kind: 'external',
      apiUrl: config.databaseUrl,
      directUrl: direct,
      workerUrl: direct,
      jwtSecret: config.jwtSecret,
      close: async () => {},
    }
  }
  return openEmbedded(config, options)
}

async function openEmbedded(config: Config, options: OpenOptions): Promise<Database> {
  const running = options.share ? await findRunning(config.home) : undefined
  if (running) return embedded(config, running.url(), await readSecrets(config.home), async () => {})
  options.progress?.('starting the embedded PostgreSQL')
  const server = await startEmbedded({
    home: config.home,
    ...(options.notice && { notice: options.notice }),
  })
  try {
    const secrets = await readSecrets(config.home)
    const opened = embedded(config, server.url(), secrets, () => server.stop())
    await createDatabase(server.url(), secrets)
    await migrate({ url: opened.directUrl, ...(options.progress && { progress: options.progress }) })
    await setPasswords(server.url(), secrets)
    await withClient(opened.directUrl, ensureDefaultWorkspace, { role: 'workflow_admin' })
    return opened
  } catch (error) {
    await server.stop()
    throw error
  }
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
    jwtSecret: config.jwtSecret ?? secrets.jwtSecret,
    close,
  }
}

/** The migrator is what a managed Postgres would give us: the database's owner, with CREATEROLE, no superuser. */
async function createDatabase(superuserUrl: string, secrets: Secrets): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    const roles = await client.query('select from pg_roles where rolname = $1', [MIGRATOR])
    if (roles.rowCount === 0) await client.query(`create role ${MIGRATOR} login createrole`)
    await client.query(`alter role ${MIGRATOR} password ${pg.escapeLiteral(secrets.migratorPassword)}`)
    const databases = await client.query('select from pg_database where datname = $1', [DATABASE])
    if (databases.rowCount === 0) await client.query(`create database ${DATABASE} owner ${MIGRATOR}`)
  })
}

async function setPasswords(superuserUrl: string, secrets: Secrets): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    await client.query(`alter role stagedoor_api password ${pg.escapeLiteral(secrets.apiPassword)}`)
    await client.query(`alter role stagedoor_worker password ${pg.escapeLiteral(secrets.workerPassword)}`)
  })
}

function login(superuserUrl: string, user: string, password: string): string {
  const url = new URL(superuserUrl)
  url.username = user
  url.password = password
  url.pathname = `/${DATABASE}`
  return url.toString()
}
