/** The HTTP server: the API under /api, the console beside it. Parses, calls a module, answers. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import compress from '@fastify/compress'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { type Right, requireRightSomewhere } from '../access/members.ts'
import type { SignIn } from '../access/sign-in-codes.ts'
import type { Config } from '../config.ts'
import type { Client, Pool } from '../db/connection.ts'
import type { HealthCheck } from '../db/health.ts'
import { inTransaction } from '../db/transaction.ts'
import { StagedoorError } from '../errors.ts'
import { EXECUTION_HEADER } from '../executions/tools/http-request.ts'
import type { IngestContext } from '../ingest/ingest.ts'
import type { Search } from '../search/library.ts'
import type { BlobStore } from '../staging/blobs/store.ts'
import { HEADER_TIMES, hasLargeBody, watchArrivals } from './arrival.ts'
import { serveConsole } from './console.ts'
import { readJsonBody } from './json-limits.ts'
import { createMeasures, type Measures } from './measures.ts'
import { describeApi } from './openapi.ts'
import { notFound, sendProblem } from './problem.ts'
import { consumerRoutes } from './routes/consumers.ts'
import { datasetRoutes } from './routes/datasets.ts'
import { documentRoutes } from './routes/documents.ts'
import { eventRouteRoutes } from './routes/event-routes.ts'
import { eventRoutes } from './routes/events.ts'
import { executionResultRoutes } from './routes/executions/result.ts'
import { executionSteerRoutes } from './routes/executions/steer.ts'
import { executionRoutes } from './routes/executions.ts'
import { executorRoutes } from './routes/executors.ts'
import { gateRoutes } from './routes/gates.ts'
import { healthRoutes } from './routes/health.ts'
import { issueRoutes } from './routes/issues.ts'
import { jobKindRoutes } from './routes/jobs/kinds.ts'
import { jobRoutes } from './routes/jobs.ts'
import { lineageRoutes } from './routes/lineage.ts'
import { markRoutes } from './routes/marks.ts'
import { meRoutes } from './routes/me.ts'
import { metricRoutes } from './routes/metrics.ts'
import { playbookRoutes } from './routes/playbooks.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { searchCareRoutes } from './routes/search/care.ts'
import { searchRoutes } from './routes/search.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { stagingRoutes } from './routes/staging.ts'
import { topicRoutes } from './routes/topics.ts'
import { traceRoutes } from './routes/traces.ts'
import { unitLifeRoutes } from './routes/units/life.ts'
import { unitWriteRoutes } from './routes/units/write.ts'
import { unitRoutes } from './routes/units.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import type { Principal, TokenVerifier } from './tokens.ts'

export interface ApiContext {
  readonly config: Pick<Config, 'bodyLimit' | 'rateLimit'> & Partial<Pick<Config, 'webhookHosts'>>
  /** Logged in as stagedoor_api. */
  readonly pool: Pool
  readonly tokens: TokenVerifier
  /** Signs a token for whom a sign-in link is; absent where an identity provider signs them. */
  readonly signIn?: (who: SignIn) => Promise<string>
  readonly health: () => Promise<HealthCheck[]>
  readonly blobs: BlobStore
  /** Logged in as stagedoor_worker: reads files after the caller's right was checked. */
  readonly ingest: IngestContext
  /** Asked under the caller's rights; kept between two questions. */
  readonly search: Search
  /** What the workers of this process count; default: nothing but what comes over HTTP. */
  readonly measures?: Measures
  /** Largest blob in bytes; default 2 GiB. */
  readonly blobLimit?: number
  /** How long an upload may be silent before it is cut off; default a minute. */
  readonly stallMs?: number
  /** How long a body may trickle altogether; default two minutes. */
  readonly totalMs?: number
  readonly log?: FastifyBaseLogger
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
    /** Runs in one transaction under the caller's role and claims. */
    transaction<T>(work: (client: Client) => Promise<T>, options?: { decides?: boolean }): Promise<T>
  }
  interface FastifyContextConfig {
    /** Answers without a token. */
    public?: boolean
    /** Whatever its method: a token that can only read will do. */
    onlyReads?: boolean
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
    http: HEADER_TIMES,
    requestIdHeader: false,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: true } },
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  app.setNotFoundHandler((request, reply) => sendProblem(notFound(request), request, reply))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, url } = request
    request.log.debug(
      { method, path: url.split('?')[0], status: reply.statusCode, ms: reply.elapsedTime },
      'answered',
    )
  })
  watchArrivals(app, context)
  await app.register(helmet, { contentSecurityPolicy: CONTENT_SECURITY, crossOriginEmbedderPolicy: false })
  await app.register(compress, COMPRESSION)
  if (context.config.rateLimit > 0) await limitRate(app, context.config.rateLimit)
  authenticate(app, context)
  parseJson(app)
  const measures = context.measures ?? createMeasures()
  await describeApi(app)
  await app.register(
    async (api) => {
      await api.register(healthRoutes(context.health))
      await api.register(meRoutes)
      await api.register(signInRoutes(context))
      await api.register(gateRoutes)
      await api.register(eventRoutes)
      await api.register(stagingRoutes(context), { prefix: '/staging' })
      await api.register(datasetRoutes, { prefix: '/datasets' })
      await api.register(uploadRoutes(context), { prefix: '/uploads' })
      await api.register(lineageRoutes)
      await api.register(jobRoutes, { prefix: '/jobs' })
      await api.register(jobKindRoutes, { prefix: '/job-kinds' })
      await api.register(executorRoutes(measures.executors), { prefix: '/executors' })
      await api.register(scheduleRoutes, { prefix: '/schedules' })
      await api.register(eventRouteRoutes, { prefix: '/event-routes' })
      await api.register(consumerRoutes, { prefix: '/consumers' })
      await api.register(issueRoutes, { prefix: '/issues' })
      await api.register(webhookRoutes(context.config.webhookHosts ?? []), { prefix: '/webhooks' })
      await api.register(playbookRoutes, { prefix: '/playbooks' })
      await api.register(executionRoutes, { prefix: '/executions' })
      await api.register(executionSteerRoutes, { prefix: '/executions' })
      await api.register(
        executionResultRoutes(() => context.ingest),
        { prefix: '/executions' },
      )
      await api.register(unitRoutes, { prefix: '/units' })
      await api.register(unitWriteRoutes, { prefix: '/units' })
      await api.register(unitLifeRoutes, { prefix: '/units' })
      await api.register(topicRoutes, { prefix: '/topics' })
      await api.register(documentRoutes, { prefix: '/documents' })
      await api.register(markRoutes, { prefix: '/marks' })
      await api.register(searchRoutes(context.search), { prefix: '/search' })
      await api.register(searchCareRoutes(context.search), { prefix: '/search' })
      await api.register(traceRoutes)
      await api.register(metricRoutes(measures))
    },
    { prefix: '/api' },
  )
  app.all('/api/*', { schema: { hide: true } }, (request, reply) =>
    sendProblem(notFound(request), request, reply),
  )
  await serveConsole(app)
  return app
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

function authenticate(app: FastifyInstance, { pool, tokens, config }: ApiContext): void {
  const refusal =
    config.rateLimit > 0
      ? limitedRefusal(app, config.rateLimit)
      : async (_: FastifyRequest, error: unknown) => error
  app.decorateRequest('principal', null)
  app.decorateRequest('transaction', async function (this: FastifyRequest, work, options = {}) {
    if (!this.principal) throw new StagedoorError('unauthenticated')
    return inTransaction(pool, work, options.decides ? decider(this.principal) : this.principal)
  })
  app.addHook('onRequest', async (request) => {
    if (isPublic(request)) return
    const [scheme, token] = request.headers.authorization?.split(' ') ?? []
    if (scheme?.toLowerCase() !== 'bearer' || !token)
      throw await refusal(request, new StagedoorError('unauthenticated'))
    request.principal = await tokens.verify(token).catch(async (error) => {
      throw await refusal(request, error)
    })
    await refusePlaybooks(request, pool)
    if (request.principal.readOnly && !onlyReads(request)) {
      throw new StagedoorError('permission_denied', { reason: 'this token can only read' })
    }
    await requireRight(request)
  })
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
    client.query<{ known: boolean }>('select iu_core.fn_execution_is_known($1) as known', [id])
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
    requireRightSomewhere(client, right, typeof workspace === 'string' ? workspace : undefined, role),
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
function limitedRefusal(app: FastifyInstance, max: number) {
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

/** Only what says so. The path is no help: the router decodes it, and `/%61pi/me` is `/api/me`. */
function isPublic(request: FastifyRequest): boolean {
  return request.routeOptions.config?.public === true
}

async function limitRate(app: FastifyInstance, max: number): Promise<void> {
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
