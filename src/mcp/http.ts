/**
 * MCP over streamable HTTP at /mcp of the server. The token is that of the API, verified by the same hook, and each call runs in
 * transactions under its role and claims. There are no sessions: any server answers any request.
 */
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { requireRightAnywhere } from '../access/members.ts'
import type { PipelineDeps } from '../ingest/pipeline.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Search } from '../search/library.ts'
import { createMcpServer } from './server.ts'
import { createSlots, type McpOptions, type McpSession, parseToolsets } from './session.ts'

export const MCP_PATH = '/mcp'
const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Four MiB of text whose quotes and line ends are escaped. */
const BODY_LIMIT = 6 * 1024 ** 2
/** Smaller bodies are read faster than the database is asked. */
const LARGE_BODY = 16 * 1024
/** Streams that wait for notifications, in a process. None is sent: lists do not change while a server runs. */
const MAX_SUBSCRIPTIONS = 100

/** What the server gives that this room does not import. */
export interface McpRoutesDeps {
  readonly ingest: PipelineDeps
  readonly search: Search
  /** The address that people open, where it is configured. */
  readonly publicUrl: string | undefined
  /** Who signs the tokens that this server accepts; undefined: the server itself. */
  readonly issuer: string | undefined
}

export function mcpRoutes(deps: McpRoutesDeps): FastifyPluginAsync {
  const { ingest, search } = deps
  return async (app) => {
    const shared = {
      ingest,
      search,
      slots: createSlots(),
      onInternalError: (error: unknown) => app.log.error({ err: error }, 'unexpected error of a tool'),
    }
    const handler = createMcpHandler(
      ({ authInfo }) => {
        const { session, called } = authInfo!.extra as { session: McpSession; called: string | undefined }
        return createMcpServer(session, called)
      },
      {
        maxSubscriptions: MAX_SUBSCRIPTIONS,
        onerror: (error) => app.log.debug({ err: error }, 'mcp'),
      },
    )
    app.addHook('preClose', () => handler.close())
    const sessionOf = (request: FastifyRequest): McpSession => ({
      principal: request.principal!,
      transaction: (work) => request.transaction(work),
      consoleUrl: addressOf(request, deps),
      deps: shared,
      options: optionsOf(request),
    })
    challenge(app, deps)
    app.route({
      method: ['GET', 'POST', 'DELETE'],
      url: MCP_PATH,
      bodyLimit: BODY_LIMIT,
      compress: false,
      schema: { hide: true },
      // A token that can only read may send requests here: it gets the tools that read.
      config: { onlyReads: true },
      onRequest: async (request) => {
        requireOwnPage(request, deps)
        requireToken(request)
        readOnlyWhereAsked(request)
        await requireRightForLargeBody(request)
      },
      handler: async (request, reply) => {
        refuseBatch(request)
        const session = sessionOf(request)
        const { subject } = session.principal
        const answer = await handler.fetch(webRequest(request, reply, session.consoleUrl), {
          // The token itself was verified by the hook of the API, and no tool needs it.
          authInfo: {
            token: '',
            clientId: subject,
            scopes: [],
            extra: { session, called: calledTool(request.body) },
          },
          ...(request.method === 'POST' && { parsedBody: request.body }),
        })
        return reply.send(answer)
      },
    })
    metadataRoutes(app, deps)
  }
}

/** `?read_only=true` and `?toolsets=data,knowledge` of the address, for clients that are to have fewer tools. */
function optionsOf({ query }: FastifyRequest): McpOptions {
  const { toolsets } = query as { toolsets?: unknown }
  return { toolsets: typeof toolsets === 'string' ? parseToolsets(toolsets) : undefined }
}

/** Then the database refuses every write of this request. */
function readOnlyWhereAsked(request: FastifyRequest): void {
  const { read_only: asked } = request.query as { read_only?: unknown }
  if (asked === undefined || asked === 'false') return
  if (asked !== 'true' && asked !== '')
    throw new StagedoorError('request_invalid', { reason: 'read_only must be true or false' })
  request.principal = { ...request.principal!, readOnly: true }
}

/** A batch would be one request for the rate limit and many calls. The specification has none any more. */
function refuseBatch({ body }: FastifyRequest): void {
  if (!Array.isArray(body)) return
  throw new StagedoorError('request_invalid', { reason: 'send one message a request; there are no batches' })
}

function calledTool(body: unknown): string | undefined {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown } | null }
  return method === 'tools/call' && typeof params?.name === 'string' ? params.name : undefined
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/**
 * A browser names the page that sends a request. It must be one of this server: at PUBLIC_URL, or without it on this machine, because a name
 * of another site may be made to lead here. Programs name no page.
 */
function requireOwnPage({ headers, host }: FastifyRequest, { publicUrl }: McpRoutesDeps): void {
  const { origin } = headers
  if (origin === undefined) return
  const own =
    publicUrl === undefined
      ? URL.canParse(origin) && new URL(origin).host === host && LOOPBACK.includes(new URL(origin).hostname)
      : origin === new URL(publicUrl).origin
  if (own) return
  throw new StagedoorError(
    'permission_denied',
    { reason: 'a page of another site may not call this' },
    {
      message: `A page of ${origin.slice(0, 200)} may not call this`,
      hint: 'Agents and programs send no Origin header. A page of your own is one at PUBLIC_URL.',
    },
  )
}

function addressOf(request: FastifyRequest, { publicUrl }: McpRoutesDeps): string {
  return publicUrl?.replace(/\/$/, '') ?? `${request.protocol}://${request.host}`
}

/** The cookie of the console is for the console: an agent has a token of its own. */
function requireToken({ session }: FastifyRequest): void {
  if (session === null) return
  throw new StagedoorError(
    'unauthenticated',
    {},
    {
      hint: 'Send `Authorization: Bearer <token>`. A token for an agent: `stagedoor token create NAME --role agent`.',
    },
  )
}

/** Before a body that costs something to read. Whether the caller may do what it asks the database decides, as always. */
async function requireRightForLargeBody(request: FastifyRequest): Promise<void> {
  const { headers, principal } = request
  const isLarge =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE_BODY
  if (!isLarge) return
  if (principal!.readOnly)
    throw new StagedoorError('permission_denied', { reason: 'this token can only read' })
  await request.transaction((client) => requireRightAnywhere(client, 'stage', undefined, principal!.role))
}

/** Its signal ends with the connection, so that work for a client that has gone stops. */
function webRequest(request: FastifyRequest, reply: FastifyReply, origin: string): Request {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined || NOT_FORWARDED.has(name) ? [] : [[name, String(value)] as [string, string]],
  )
  return new Request(new URL(request.url, origin), {
    method: request.method,
    headers,
    signal: gone.signal,
  })
}

/** Of the connection; the body is parsed already; nobody behind needs the token or the cookie. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'authorization',
  'cookie',
])

/** RFC 9728: an unauthenticated request learns where it is described which tokens are accepted. */
function challenge(app: FastifyInstance, deps: McpRoutesDeps): void {
  app.addHook('onSend', async (request, reply) => {
    const metadata = `${addressOf(request, deps)}${METADATA_PATH}${MCP_PATH}`
    if (reply.statusCode === 401) reply.header('www-authenticate', `Bearer resource_metadata="${metadata}"`)
  })
}

function metadataRoutes(app: FastifyInstance, deps: McpRoutesDeps): void {
  const { issuer } = deps
  for (const url of [METADATA_PATH, `${METADATA_PATH}${MCP_PATH}`])
    app.get(url, { config: { public: true }, schema: { hide: true } }, async (request) => ({
      resource: `${addressOf(request, deps)}${MCP_PATH}`,
      resource_name: 'Stagedoor',
      ...(issuer !== undefined && { authorization_servers: [issuer] }),
      bearer_methods_supported: ['header'],
      resource_documentation: `${addressOf(request, deps)}/docs/agents`,
    }))
}
