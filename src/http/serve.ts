/** The process behind `stagedoor start`: the composition with the API, which listens when everything else runs. */
import { once } from 'node:events'
import { type AddressInfo, createServer as createProbe } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createOidcProvider } from '../access/oidc.ts'
import type { SignIn } from '../access/sign-in-codes.ts'
import { createTokenVerifier, signToken } from '../access/tokens.ts'
import { type ApiResources, type ComposeOptions, type Composition, compose } from '../app/compose.ts'
import { createMetrics, type Metrics } from '../app/metrics.ts'
import type { Config } from '../kernel/config.ts'
import { asStagedoorError, StagedoorError } from '../kernel/errors.ts'
import { withClient } from '../kernel/postgres/connection.ts'
import { createHealthProbe, type HealthCheck } from '../kernel/postgres/health.ts'
import type { Database } from '../kernel/postgres/open.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import { Drain } from './drain.ts'
import { type AgentRoutes, createServer } from './server.ts'
import { OIDC_CALLBACK } from './sign-in.ts'

export interface Serving {
  readonly url: string
  /**
   * From now on /api/ready answers 503 and the rest is served as before, for STAGEDOOR_DRAIN_SECONDS: load balancers send new requests elsewhere.
   * Then waits for requests that are still open. Resolves at once where nobody else serves.
   */
  drain(): Promise<void>
  /** Answers no more requests, then stops the composition. The database stays open. */
  stop(): Promise<void>
}

/** Health is asked for by anybody and without a token, so one answer serves all for a moment. */
const HEALTH_CACHE_MS = 1000
/** Longer than a load balancer needs to see two failed checks. */
const DEFAULT_DRAIN_S = 5
/** How long requests that are open after the drain may take. */
const MAX_FINISH_MS = 20_000

/** Runs the API beside the roles of `options`. */
export async function serve(
  config: Config,
  database: Database,
  { roles, log, onCrash, mcp }: Pick<ComposeOptions, 'roles' | 'log' | 'onCrash'> & { mcp?: AgentRoutes },
): Promise<Serving> {
  requireKeys(config, database)
  await requireApiLogin(database)
  const metrics = createMetrics()
  const drain = new Drain()
  let app: FastifyInstance | undefined
  let composition: Composition | undefined
  try {
    composition = await compose(config, database, {
      roles: { ...roles, api: true },
      log,
      metrics,
      ...(onCrash && { onCrash }),
      async prepareApi(composition) {
        app = await openApi(config, database, { composition, metrics, log, drain, mcp })
        // Compiles the schemas of all routes: more than a second of CPU, in which no lease could be kept.
        await app.ready()
      },
    })
    return serving({ app: app!, url: await listen(app!, config), config, composition, drain, log })
  } catch (error) {
    await app?.close()
    await composition?.stop()
    throw error
  }
}

interface ServingDeps {
  readonly app: FastifyInstance
  readonly url: string
  readonly config: Config
  readonly composition: Composition
  readonly drain: Drain
  readonly log: Logger
}

function serving({ app, url, config, composition, drain, log }: ServingDeps): Serving {
  return {
    url,
    async drain() {
      const others = composition.process.servers - 1
      // Whoever sits at the terminal wants it to end now.
      const seconds = config.drainSeconds ?? (others > 0 && !process.stdin.isTTY ? DEFAULT_DRAIN_S : 0)
      drain.begin()
      if (seconds === 0) return
      await composition.process.drain()
      await sleep(seconds * 1000)
      await drain.whenFinished(MAX_FINISH_MS)
    },
    async stop() {
      await app.close().catch((error: unknown) => log.error({ err: error }, 'could not stop cleanly'))
      await composition.stop()
    },
  }
}

interface ApiDeps {
  readonly drain: Drain
  readonly composition: Composition
  readonly metrics: Metrics
  readonly log: Logger
  readonly mcp: AgentRoutes | undefined
}

function openApi(
  config: Config,
  database: Database,
  { composition, metrics, log, drain, mcp }: ApiDeps,
): Promise<FastifyInstance> {
  const { requests, ingest, search, blobs, results, health, replica, nats, wakeups } = composition.api!
  return createServer({
    config,
    pool: requests,
    // `start` prints its address itself; the log of the API has what went wrong.
    log: log.child({}, config.logLevel === 'info' ? { level: 'warn' } : {}),
    tokens: createTokenVerifier(config, database.jwtSecret, config.jwtSecretOther),
    ...(database.jwtSecret !== undefined && { signIn: signerOf(database.jwtSecret, config) }),
    oidc: createOidcProvider(config, OIDC_CALLBACK),
    linkInvitations: database.kind === 'embedded' && config.oidcIssuer === undefined,
    blobs,
    results,
    ingest,
    search,
    measures: metrics,
    blobLimit: config.blobLimit,
    health: drain.check(healthOf(database, health, () => composition.health())),
    drain,
    replica,
    nats,
    wakeups,
    servers: () => composition.process.servers,
    mcp,
  })
}

async function listen(app: FastifyInstance, config: Config): Promise<string> {
  try {
    await app.listen({ port: config.port, host: config.host })
  } catch (error) {
    throw listenError(error, config)
  }
  const { port } = app.server.address() as AddressInfo
  const host = ['127.0.0.1', '0.0.0.0', '::', '::1'].includes(config.host) ? 'localhost' : config.host
  return `http://${host}:${port}`
}

/** Asked before anything is started, so that a port in use costs nothing. */
export async function requireFreePort(config: Config): Promise<void> {
  const probe = createProbe()
  try {
    probe.listen(config.port, config.host)
    await once(probe, 'listening')
  } catch (error) {
    throw listenError(error, config)
  } finally {
    probe.close()
  }
}

function listenError(error: unknown, config: Config): unknown {
  const { port, host } = config
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new StagedoorError('port_in_use', { port, host }, { cause: error })
    case 'EACCES':
      return new StagedoorError('config_invalid', {
        setting: 'PORT',
        value: port,
        reason: 'this user may not listen on it',
      })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new StagedoorError('config_invalid', {
        setting: 'STAGEDOOR_HOST',
        value: host,
        reason: 'this machine has no such address',
      })
    default:
      return error
  }
}

/** Without keys nobody could ever sign in. */
function requireKeys(config: Config, database: Database): void {
  if (database.jwtSecret !== undefined || config.jwksUrl !== undefined || config.oidcIssuer !== undefined)
    return
  throw new StagedoorError(
    'config_invalid',
    { setting: 'STAGEDOOR_JWKS_URL' },
    {
      message:
        'None of OIDC_ISSUER, STAGEDOOR_JWKS_URL and STAGEDOOR_JWT_SECRET is set, so nobody could sign in',
      hint: 'Set your identity provider (docs/guides/sign-in.md), the address of its keys, or a secret of at least 32 characters.',
    },
  )
}

/** A login with more rights than stagedoor_api would bypass row-level security. */
async function requireApiLogin(database: Database): Promise<void> {
  const login = await withClient(database.apiUrl, async (client) => {
    const { rows } = await client.query<{ login: string }>('select session_user as login')
    return rows[0]!.login
  })
  if (login !== 'stagedoor_api') throw new StagedoorError('api_login_wrong', { login })
}

function signerOf(secret: string, config: Config): (who: SignIn) => Promise<string> {
  return (who) => signToken(secret, { ...who, expiresIn: '12h' }, config)
}

/** The state of the embedded server costs no query and is never cached: a short outage must show at once. */
function healthOf(
  { server }: Database,
  pool: ApiResources['health'],
  workers: () => HealthCheck[],
): () => Promise<HealthCheck[]> {
  const probe = createHealthProbe()
  const checks = cached(HEALTH_CACHE_MS, async () => [
    ...(await inTransaction(pool, probe).catch(unreachable)),
    ...workers(),
  ])
  return async () => {
    const cachedChecks = await checks()
    return server ? [server.health(), ...cachedChecks] : cachedChecks
  }
}

/** The other checks are still reported: they need no database. */
function unreachable(error: unknown): HealthCheck[] {
  return [{ name: 'database', ok: false, detail: asStagedoorError(error).message }]
}

function cached<T>(forMs: number, load: () => Promise<T>): () => Promise<T> {
  let loadedAt = Number.NEGATIVE_INFINITY
  let value: Promise<T>
  return () => {
    if (performance.now() - loadedAt > forMs) {
      loadedAt = performance.now()
      value = load()
    }
    return value
  }
}
