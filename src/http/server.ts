/** The HTTP server: the API under /api, the console beside it. Parses, calls a module, answers. */
import { randomUUID } from 'node:crypto'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Config } from '../config.ts'
import type { Client, Pool } from '../db/connection.ts'
import type { HealthCheck } from '../db/health.ts'
import { inTransaction } from '../db/transaction.ts'
import { StagedoorError } from '../errors.ts'
import { serveConsole } from './console.ts'
import { describeApi } from './openapi.ts'
import { sendProblem } from './problem.ts'
import { eventRoutes } from './routes/events.ts'
import { gateRoutes } from './routes/gates.ts'
import { healthRoutes } from './routes/health.ts'
import { meRoutes } from './routes/me.ts'
import type { Principal, TokenVerifier } from './tokens.ts'

export interface ApiContext {
  readonly config: Pick<Config, 'bodyLimit' | 'rateLimit'>
  /** Logged in as stagedoor_api. */
  readonly pool: Pool
  readonly tokens: TokenVerifier
  readonly health: () => Promise<HealthCheck[]>
  readonly log?: FastifyBaseLogger
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
    /** Runs in one transaction under the caller's role and claims. */
    transaction<T>(work: (client: Client) => Promise<T>): Promise<T>
  }
  interface FastifyContextConfig {
    /** Answers without a token. */
    public?: boolean
  }
}

/** A caller may name the request, but only in characters that are safe in a log line. */
const REQUEST_ID = /^[\w.:-]{1,100}$/

export async function createServer(context: ApiContext): Promise<FastifyInstance> {
  const app = Fastify({
    ...(context.log ? { loggerInstance: context.log } : { logger: false }),
    bodyLimit: context.config.bodyLimit,
    requestIdHeader: false,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: true } },
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      new StagedoorError('not_found', { what: `${request.method} ${request.url.split('?')[0]}` }),
      request,
      reply,
    ),
  )
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
  await app.register(helmet, { contentSecurityPolicy: CONTENT_SECURITY, crossOriginEmbedderPolicy: false })
  authenticate(app, context)
  if (context.config.rateLimit > 0) await limitRate(app, context.config.rateLimit)
  await describeApi(app)
  await app.register(
    async (api) => {
      await api.register(healthRoutes(context.health))
      await api.register(meRoutes)
      await api.register(gateRoutes)
      await api.register(eventRoutes)
    },
    { prefix: '/api' },
  )
  await serveConsole(app)
  return app
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

function authenticate(app: FastifyInstance, { pool, tokens }: ApiContext): void {
  app.decorateRequest('principal', null)
  app.decorateRequest('transaction', function (this: FastifyRequest, work) {
    if (!this.principal) throw new StagedoorError('unauthenticated')
    return inTransaction(pool, work, this.principal)
  })
  app.addHook('onRequest', async (request) => {
    if (isPublic(request)) return
    const [scheme, token] = request.headers.authorization?.split(' ') ?? []
    if (scheme?.toLowerCase() !== 'bearer' || !token) throw new StagedoorError('unauthenticated')
    request.principal = await tokens.verify(token)
    if (request.principal.readOnly && request.method !== 'GET' && request.method !== 'HEAD') {
      throw new StagedoorError('permission_denied', { reason: 'this token can only read' })
    }
  })
}

/** The console's files, and the few calls that say so. A path that does not exist is not public. */
function isPublic(request: FastifyRequest): boolean {
  return request.routeOptions.config.public === true || !request.url.startsWith('/api/')
}

async function limitRate(app: FastifyInstance, max: number): Promise<void> {
  await app.register(rateLimit, {
    max,
    timeWindow: '1 minute',
    hook: 'preHandler',
    keyGenerator: (request) => request.principal?.subject ?? request.ip,
    allowList: (request) => isPublic(request),
    errorResponseBuilder: (_request, { ttl }) =>
      new StagedoorError('rate_limited', { seconds: Math.ceil(ttl / 1000) }),
  })
}
