/** The HTTP server: the API under /api, the console beside it. Parses, calls a module, answers. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import files from '@fastify/static'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { type Right, requireRightAnywhere } from '../access/members.ts'
import type { OidcProvider } from '../access/oidc.ts'
import type { Session } from '../access/sessions.ts'
import type { SignIn } from '../access/sign-in-codes.ts'
import type { Principal, TokenVerifier } from '../access/tokens.ts'
import { createMetrics, type Metrics } from '../app/metrics.ts'
import { AFTER_HEADER, type ReadReplica } from '../app/replica.ts'
import { EXECUTION_HEADER } from '../executions/tools/http.ts'
import type { PipelineDeps } from '../ingest/pipeline.ts'
import type { Config } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Pool } from '../kernel/postgres/connection.ts'
import type { HealthCheck } from '../kernel/postgres/health.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import { API_PREFIX } from '../kernel/version.ts'
import type { Nats } from '../runtime/nats.ts'
import type { BlobStore } from '../runtime/stores/blob-store.ts'
import type { Wakeups } from '../runtime/wakeups.ts'
import type { Search } from '../search/library.ts'
import { accessRoutes } from './access.ts'
import { approvalRoutes, kindRoutes } from './approvals.ts'
import { changeRoutes } from './changes.ts'
import { consumerRoutes } from './consumers.ts'
import { type Credentials, createCredentials } from './credentials.ts'
import { datasetRoutes } from './datasets.ts'
import { docsRoutes } from './docs-pages.ts'
import { documentRoutes } from './documents.ts'
import type { Drain } from './drain.ts'
import { eventRouteRoutes } from './event-routes.ts'
import { eventRoutes, issueRoutes } from './events.ts'
import { executionRoutes, type ResultFiles } from './executions.ts'
import { findRoutes } from './find.ts'
import { gateRoutes, healthDetailRoutes, healthRoutes, metricRoutes } from './health.ts'
import { inboxRoutes } from './inbox.ts'
import { deadLetterRoutes, jobKindRoutes, jobRoutes } from './jobs.ts'
import { limitRoutes } from './limits.ts'
import { liveRoutes } from './live.ts'
import { markRoutes } from './marks.ts'
import { invitationRoutes, memberRoutes } from './members.ts'
import { describeApi } from './openapi.ts'
import { playbookRoutes } from './playbooks.ts'
import { poolRoutes } from './pools.ts'
import { invalidInput, notFound, sendProblem } from './problem.ts'
import { lineageRoutes, promotionRoutes } from './promotions.ts'
import { proposalRoutes } from './proposals.ts'
import {
  abortStalledRequests,
  HEADER_TIMEOUTS,
  hasLargeBody,
  readJsonBody,
  shareOfRateLimit,
} from './request-limits.ts'
import { groupRoutes, reviewPolicyRoutes } from './review-policies.ts'
import { scheduleRoutes } from './schedules.ts'
import { searchRoutes } from './search.ts'
import { signInRoutes } from './sign-in.ts'
import { stagingRoutes } from './staging.ts'
import { tokenRoutes } from './tokens.ts'
import { topicRoutes } from './topics.ts'
import { unitRoutes } from './units.ts'
import { uploadRoutes } from './uploads.ts'
import { webhookRoutes } from './webhooks.ts'
import { workerRoutes } from './workers.ts'

export interface ApiContext {
  readonly config: Pick<Config, 'bodyLimit' | 'rateLimit'> &
    Partial<
      Pick<
        Config,
        | 'webhookHosts'
        | 'mailDomains'
        | 'publicUrl'
        | 'sessionHours'
        | 'sessionIdleHours'
        | 'trustProxy'
        | 'jwtIssuer'
      >
    >
  /** Logged in as stagedoor_api. */
  readonly pool: Pool
  readonly tokens: TokenVerifier
  /** Signs a token for whom a sign-in link is; absent where an identity provider signs them. */
  readonly signIn?: (who: SignIn) => Promise<string>
  /** The identity provider, where one is configured. */
  readonly oidc?: OidcProvider | undefined
  /** The link of an invitation is enough to become a member: on the embedded server without an identity provider. */
  readonly linkInvitations?: boolean
  /** How long a cookie or machine token that the database accepted is accepted without asking again; default 3 s. */
  readonly credentialCacheMs?: number
  readonly health: () => Promise<HealthCheck[]>
  /** What lets go of connections before the server stops; default: it just stops. */
  readonly drain?: Drain
  /** Where routes with `replica: true` read; default: the primary. */
  readonly replica?: ReadReplica | undefined
  /** Whose state is among the details of health. */
  readonly nats?: Pick<Nats, 'health'> | undefined
  /** Wake claims of executors that wait for jobs, and calls that wait for a decision; default: they poll. */
  readonly wakeups?: Wakeups | undefined
  /** How many servers share the rate limits; default: this one alone. */
  readonly servers?: () => number
  readonly blobs: BlobStore
  /** Where large results are besides rows; default: in the home. */
  readonly results?: Omit<ResultFiles, 'pool'>
  /** Logged in as stagedoor_worker: reads files after the caller's right was checked. */
  readonly ingest: PipelineDeps
  /** Asked under the caller's rights; kept between two questions. */
  readonly search: Search
  /** What the workers of this process count; default: nothing but what comes over HTTP. */
  readonly measures?: Metrics
  /** Largest blob in bytes; default 2 GiB. */
  readonly blobLimit?: number
  /** How long an upload may be silent before it is cut off; default a minute. */
  readonly stallMs?: number
  /** How long a body may trickle altogether; default two minutes. */
  readonly totalMs?: number
  readonly log?: FastifyBaseLogger
  /** The adapter for agents: it stands beside this one, so whoever starts the server brings it. Default: none. */
  readonly mcp?: AgentRoutes | undefined
}

/** Routes at /mcp, and what they need of this server. */
export type AgentRoutes = (deps: {
  readonly ingest: PipelineDeps
  readonly search: Search
  readonly publicUrl: string | undefined
  readonly issuer: string | undefined
}) => FastifyPluginAsync

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
    /** Of the cookie that authenticated the request; null where a token did. */
    session: Session | null
    /** Runs in one transaction under the caller's role and claims. */
    transaction<T>(work: (client: Client) => Promise<T>): Promise<T>
    /** The same for a decision: a person acts as stagedoor_reviewer for this one request, an agent's token is refused. */
    decide<T>(work: (client: Client) => Promise<T>): Promise<T>
  }
  interface FastifyContextConfig {
    /** Answers without a token. */
    public?: boolean
    /** Whatever its method: a token that can only read will do. */
    onlyReads?: boolean
    /** A replica may answer it. */
    replica?: boolean
    /** What its caller must have in some workspace before a large body is read; default: stage, the least that writes. */
    right?: Right
  }
}

/** A caller may name the request, but only in characters that are safe in a log line. */
const REQUEST_ID = /^[\w.:-]{1,100}$/

export async function createServer(context: ApiContext): Promise<FastifyInstance> {
  const app = Fastify({
    ...(context.log ? { loggerInstance: context.log } : { logger: false }),
    bodyLimit: context.config.bodyLimit,
    http: HEADER_TIMEOUTS,
    // Otherwise whoever calls could say from where they call.
    trustProxy: context.config.trustProxy?.length ? [...context.config.trustProxy] : false,
    requestIdHeader: false,
    // A request that comes over an open connection while the server closes is answered like any other.
    return503OnClosing: false,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: true } },
  })

  app.setSchemaErrorFormatter(invalidInput)
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  app.setNotFoundHandler((request, reply) => sendProblem(notFound(request), request, reply))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, url, ip } = request
    request.log.debug(
      { method, ip, path: url.split('?')[0], status: reply.statusCode, ms: reply.elapsedTime },
      'answered',
    )
  })
  context.drain?.watch(app)
  abortStalledRequests(app, context)
  await app.register(helmet, { contentSecurityPolicy: CONTENT_SECURITY, crossOriginEmbedderPolicy: false })
  await app.register(compress, COMPRESSION)
  if (context.config.rateLimit > 0) await limitRate(app, shareOfRateLimit(context))
  await app.register(cookie)
  const credentials = createCredentials({
    pool: context.pool,
    tokens: context.tokens,
    publicUrl: context.config.publicUrl,
    cacheMs: context.credentialCacheMs,
  })
  authenticate(app, context, credentials)
  if (context.replica) tellPositions(app, context.replica)
  parseJson(app)
  const metrics = context.measures ?? createMetrics()
  await describeApi(app)
  await app.register(healthRoutes(context.health), { prefix: '/api' })
  for (const [path, plugin] of Object.entries(apiRoutes(context, metrics, credentials)))
    await app.register(plugin, { prefix: `${API_PREFIX}${path}` })
  app.all('/api/*', { schema: { hide: true } }, (request, reply) =>
    sendProblem(notFound(request), request, reply),
  )
  if (context.mcp) await app.register(agentRoutes(context, context.mcp))
  await serveConsole(app)
  return app
}

function agentRoutes({ config, ingest, search }: ApiContext, routes: AgentRoutes): FastifyPluginAsync {
  return routes({
    ingest,
    search,
    publicUrl: config.publicUrl,
    issuer: config.jwtIssuer,
  })
}

/** One plugin a noun. */
function apiRoutes(
  context: ApiContext,
  metrics: Metrics,
  credentials: Credentials,
): Record<string, FastifyPluginAsync> {
  return {
    '': async (api) => {
      for (const plugin of [
        accessRoutes,
        signInRoutes(context, credentials),
        gateRoutes,
        healthDetailRoutes(context),
        limitRoutes(context),
        eventRoutes,
        findRoutes,
        lineageRoutes,
        docsRoutes(),
        liveRoutes(context),
        metricRoutes(metrics),
      ])
        await api.register(plugin)
    },
    '/members': memberRoutes(credentials),
    '/invitations': invitationRoutes(context),
    '/tokens': tokenRoutes(credentials),
    '/staging': stagingRoutes(context),
    '/approvals': approvalRoutes(context),
    '/kinds': kindRoutes,
    '/datasets': datasetRoutes(context),
    '/uploads': uploadRoutes(context),
    '/proposals': proposalRoutes(context.ingest),
    '/promotions': promotionRoutes,
    '/changes': changeRoutes,
    '/inbox': inboxRoutes,
    '/review-policies': reviewPolicyRoutes,
    '/groups': groupRoutes,
    '/jobs': jobRoutes,
    '/dead-letters': deadLetterRoutes,
    '/job-kinds': jobKindRoutes,
    '/workers': workerRoutes(metrics.executors, context.wakeups),
    '/pools': poolRoutes,
    '/schedules': scheduleRoutes,
    '/event-routes': eventRouteRoutes,
    '/consumers': consumerRoutes,
    '/issues': issueRoutes,
    '/webhooks': webhookRoutes({
      hosts: context.config.webhookHosts ?? [],
      mailDomains: context.config.mailDomains,
    }),
    '/playbooks': playbookRoutes,
    '/executions': executionRoutes({ ...context.ingest, ...context.results }),
    '/units': unitRoutes,
    '/topics': topicRoutes,
    '/documents': documentRoutes,
    '/marks': markRoutes,
    '/search': searchRoutes(context.search),
  }
}

/**
 * Text only. Not server-sent events, which must go out as they come, and not the bytes of parts and results: those have
 * ranges, a length and a digest of their own (their routes say `compress: false`).
 */
const COMPRESSION = {
  threshold: 1_024,
  customTypes:
    /^(?:application\/(?:problem\+)?json|text\/(?!event-stream)[\w.+-]+|application\/javascript|image\/svg\+xml)(?:;|$)/,
  encodings: ['br' as const, 'gzip' as const],
  // Request bodies stay as they are sent: a small body that unpacks to gigabytes would pass every limit.
  globalDecompression: false,
}

const CONTENT_SECURITY = {
  directives: {
    defaultSrc: ["'self'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    objectSrc: ["'none'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
    // The embedded default is plain http on this machine.
    upgradeInsecureRequests: null,
  },
}

function authenticate(app: FastifyInstance, context: ApiContext, credentials: Credentials): void {
  const { pool, config } = context
  const refusal =
    config.rateLimit > 0
      ? limitedRefusal(app, shareOfRateLimit(context))
      : async (_: FastifyRequest, error: unknown) => error
  app.decorateRequest('principal', null)
  app.decorateRequest('session', null)
  app.decorateRequest('transaction', async function (this: FastifyRequest, work) {
    if (!this.principal) throw new StagedoorError('unauthenticated')
    const { replica } = context
    if (!replica || !this.routeOptions.config.replica) return inTransaction(pool, work, this.principal)
    return replica.read(work, this.principal, afterOf(this))
  })
  app.decorateRequest('decide', async function (this: FastifyRequest, work) {
    if (!this.principal) throw new StagedoorError('unauthenticated')
    return inTransaction(pool, work, decider(this.principal))
  })
  app.addHook('onRequest', async (request) => {
    if (isPublic(request)) return
    const { principal, session = null } = await credentials.authenticate(request).catch(async (error) => {
      throw await refusal(request, error)
    })
    request.principal = principal
    request.session = session
    await refusePlaybooks(request, pool)
    if (request.principal.readOnly && !onlyReads(request)) {
      throw new StagedoorError('permission_denied', { reason: 'this token can only read' })
    }
    await requireRight(request)
  })
}

/** How far the primary is after a write: sent back, it makes a replica answer only when it has that write. */
function tellPositions(app: FastifyInstance, replica: ReadReplica): void {
  app.addHook('onSend', async (request, reply) => {
    if (request.principal && request.method !== 'GET' && request.method !== 'HEAD')
      reply.header(AFTER_HEADER, await replica.position())
  })
}

function afterOf({ headers }: FastifyRequest): string | undefined {
  const after = headers[AFTER_HEADER]
  return Array.isArray(after) ? after[0] : after
}

/**
 * A playbook with somebody's token would read what awaits approval, write units and decide, and the database would take it for that
 * person. For all of it there are tools, which say for which execution they act. Executions of other installations pass.
 */
async function refusePlaybooks(request: FastifyRequest, pool: Pool): Promise<void> {
  const id = request.headers[EXECUTION_HEADER]
  if (id === undefined || !(await isOwnExecution(pool, String(id)))) return
  throw new StagedoorError('permission_denied', {
    reason:
      'a playbook does not call the API of its own installation; it has the tools staging, unit, ingest and playbook',
  })
}

/** What is no id of an execution was written by somebody who had a reason to, and counts as ours. */
async function isOwnExecution(pool: Pool, id: string): Promise<boolean> {
  if (!/^\d{1,19}$/.test(id) || BigInt(id) >= 2n ** 63n) return true
  const ask = (client: Client) =>
    client.query<{ known: boolean }>('select iu_core.fn_execution_exists($1) as known', [id])
  const { rows } = await inTransaction(pool, ask, { role: 'service_role', readOnly: true })
  return rows[0]!.known
}

/**
 * Before a body that costs something to read: whoever has the right in no workspace, or not in the one that the query names, is
 * refused at once. Whether they have it for this very thing the database decides, as always.
 */
async function requireRight(request: FastifyRequest): Promise<void> {
  const { role } = request.principal!
  const right = request.routeOptions.config.right ?? 'stage'
  if (!hasLargeBody(request) || onlyReads(request) || role === 'stagedoor_executor') return
  const { workspace_id: workspace } = request.query as { workspace_id?: unknown }
  await request.transaction((client) =>
    requireRightAnywhere(client, right, typeof workspace === 'string' ? workspace : undefined, role),
  )
}

/** JSON is looked at while it comes; the parser is Fastify's own. */
function parseJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const text = (await readJsonBody(request, payload)).toString('utf8')
    return new Promise((resolve, reject) => {
      parse(request, text, (error, body) => (error ? reject(error) : resolve(body)))
    })
  })
}

function onlyReads({ method, routeOptions }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || routeOptions.config.onlyReads === true
}

/** Whoever guesses tokens is limited, too: by address, because there is no caller yet. */
function limitedRefusal(app: FastifyInstance, max: () => number) {
  const count = app.createRateLimit({ max, timeWindow: '1 minute', keyGenerator: (request) => request.ip })
  return async (request: FastifyRequest, error: unknown): Promise<unknown> => {
    const limit = await count(request)
    return !limit.isAllowed && limit.isExceeded
      ? new StagedoorError('rate_limited', { seconds: limit.ttlInSeconds })
      : error
  }
}

/**
 * Only stagedoor_reviewer may call what decides. A person's rights come from their membership, which the database
 * checks in any case, so a person steps up for this one request. An agent never does, whoever its subject is.
 */
function decider(principal: Principal): Principal {
  if (principal.role === 'stagedoor_agent') {
    throw new StagedoorError('permission_denied', { reason: 'an agent decides nothing' })
  }
  return principal.role === 'authenticated' ? { ...principal, role: 'stagedoor_reviewer' } : principal
}

/** Only what says so. The path is no help: the router decodes it, and `/%61pi/v1/me` is `/api/v1/me`. */
function isPublic(request: FastifyRequest): boolean {
  return request.routeOptions.config?.public === true
}

async function limitRate(app: FastifyInstance, max: () => number): Promise<void> {
  await app.register(rateLimit, {
    max,
    timeWindow: '1 minute',
    // After the token, which says who it is, and before the body is read.
    hook: 'onRequest',
    keyGenerator: (request) => request.principal?.subject ?? request.ip,
    // What an executor asks for, it asks for as often as there are jobs.
    allowList: (request) => isPublic(request) || request.principal?.role === 'stagedoor_executor',
    errorResponseBuilder: (_request, { ttl }) =>
      new StagedoorError('rate_limited', { seconds: Math.ceil(ttl / 1000) }),
  })
}

// The built console: files beside the API, and its page for every path that is not a file.

const FOLDER = fileURLToPath(new URL('../../console/dist', import.meta.url))

async function serveConsole(app: FastifyInstance): Promise<void> {
  if (!existsSync(FOLDER)) return
  await app.register(async (site) => {
    site.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
    })
    await site.register(files, {
      root: FOLDER,
      wildcard: false,
      // Its own header, max-age=0, would replace the one below.
      cacheControl: false,
      // Hashed names never change; the page that names them always may.
      setHeaders: (reply, path) => {
        reply.setHeader(
          'cache-control',
          path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        )
      },
    })
    site.get('/*', { schema: { hide: true } }, (request, reply) => {
      if (!request.headers.accept?.includes('text/html'))
        return sendProblem(notFound(request), request, reply)
      return reply.header('cache-control', 'no-cache').sendFile('index.html')
    })
  })
}
