/**
 * The tool `http`: one request to a host that the operator named, at an address that was checked. Redirects are not followed:
 * where they lead, nobody has allowed. The command id goes along as idempotency key, the same in every run of an attempt.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import {
  type Address,
  abortable,
  HostRefused,
  permittedAddresses,
  pinLookup,
  type Resolve,
} from '../../access/outbound-hosts.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { VERSION } from '../../kernel/version.ts'
import { type Tool, ToolArguments, type ToolContext, ToolError } from './tool.ts'

export interface HttpOptions {
  /** STAGEDOOR_HTTP_HOSTS: empty, and no request leaves the house. */
  readonly hosts: readonly string[]
  readonly resolve?: Resolve
  /** Certificates to trust besides the public ones, for servers in a private network. */
  readonly ca?: string
}

/** Where the step says nothing. */
const DEFAULT_TIMEOUT_MS = 30_000
const RETRYABLE_STATUSES = new Set([408, 425, 429])

export function httpTool(options: HttpOptions): Tool {
  return async (_call, args, context) => {
    const asked = parseRequest(args, context.command_id)
    const request = { ...asked, headers: { ...asked.headers, [EXECUTION_HEADER]: context.execution_id } }
    const late = context.deadline === undefined ? AbortSignal.timeout(DEFAULT_TIMEOUT_MS) : undefined
    const signal = late === undefined ? context.signal : AbortSignal.any([context.signal, late])
    try {
      return await fetchAnswer(request, signal, options)
    } catch (error) {
      if (late?.aborted && !context.signal.aborted) {
        throw new ToolError(`${request.name} timed out after ${DEFAULT_TIMEOUT_MS / 1000} s`, {
          retryable: true,
        })
      }
      throw toToolError(error, request, context)
    }
  }
}

async function fetchAnswer(request: HttpRequest, signal: AbortSignal, options: HttpOptions): Promise<Json> {
  const allowed = { hosts: options.hosts, setting: 'STAGEDOOR_HTTP_HOSTS' }
  const addresses = await abortable(permittedAddresses(request.url, allowed, options.resolve), signal)
  const response = await send(request, addresses, signal, options.ca)
  const bytes = await readLimited(response, request.name)
  const status = response.statusCode!
  if (!request.expects(status)) throw unexpectedStatus(request, response, bytes)
  return { status, headers: responseHeaders(response), ...responseBody(response, bytes, request.name) }
}

function send(
  { url, method, headers, body }: HttpRequest,
  addresses: readonly Address[],
  signal: AbortSignal,
  ca: string | undefined,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        // A connection of its own: a kept one might lead to an address that was checked for another time.
        agent: false,
        lookup: pinLookup(addresses),
        signal,
        ...(ca !== undefined && { ca }),
        headers: {
          accept: 'application/json, */*;q=0.5',
          'accept-encoding': 'identity',
          'user-agent': `Stagedoor/${VERSION}`,
          ...headers,
          ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
        },
      },
      resolve,
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

function unexpectedStatus(request: HttpRequest, response: IncomingMessage, bytes: Buffer): ToolError {
  const status = response.statusCode!
  if (status >= 300 && status < 400) {
    return new ToolError(`${request.name} answered ${status}; redirects are not followed`)
  }
  const said = bytes.toString('utf8', 0, 500).replaceAll(/\s+/g, ' ').trim()
  return new ToolError(`${request.name} answered ${status}${said === '' ? '' : `: ${said}`}`, {
    retryable: status >= 500 || RETRYABLE_STATUSES.has(status),
  })
}

function toToolError(error: unknown, request: HttpRequest, { signal }: ToolContext): unknown {
  if (error instanceof ToolError || signal.aborted) return error
  if (error instanceof HostRefused) return new ToolError(error.message, { cause: error })
  const { code, message } = error as NodeJS.ErrnoException
  // The request was never one: a header with a line break in it.
  const isOurs = code?.startsWith('ERR_') === true && code !== 'ERR_SOCKET_CONNECTION_TIMEOUT' && !isTls(code)
  if (isOurs) return new ToolError(`${request.name}: ${message}`, { cause: error })
  return new ToolError(`${request.name} could not be reached: ${code ?? message}`, {
    retryable: true,
    cause: error,
  })
}

function isTls(code: string): boolean {
  return code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')
}

// Arguments of the tool `http`, as a request.

interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** For errors: the path may hold a token. */
  readonly name: string
  expects(status: number): boolean
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
/** Says which execution sent a request: our own API refuses it (decision 0014). */
export const EXECUTION_HEADER = 'stagedoor-execution'
/** They say where the request goes, where it ends and who sent it: Node and the tool write them. */
const RESERVED_HEADERS = [
  EXECUTION_HEADER,
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
]

function parseRequest(args: JsonObject, commandId: string): HttpRequest {
  const given = new ToolArguments('http', args, ['method', 'url', 'headers', 'query', 'body', 'expect'])
  const method = given.oneOf('method', METHODS) ?? 'GET'
  const url = urlOf(given)
  const reads = method === 'GET' || method === 'HEAD'
  const body = given.any('body') ?? undefined
  if (reads && body !== undefined)
    throw given.wrong('body', `goes with POST, PUT, PATCH or DELETE, not with ${method}`)
  return {
    method,
    url,
    headers: {
      ...(!reads && { 'idempotency-key': commandId }),
      ...(body !== undefined && {
        'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
      }),
      ...requestHeaders(given),
    },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    name: `${method} ${url.host}`,
    expects: expectationOf(given),
  }
}

function urlOf(given: ToolArguments): URL {
  const text = given.text('url')
  if (!URL.canParse(text) || !/^https?:/i.test(text)) {
    throw given.wrong('url', 'must be an address like https://host/…')
  }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    throw given.wrong('url', 'holds a user or a password; give them in the header authorization')
  }
  for (const [name, value] of Object.entries(given.map('query'))) {
    for (const one of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
      if (one !== null) url.searchParams.append(name, scalar(given, `query.${name}`, one as Json))
    }
  }
  url.hash = ''
  return url
}

function requestHeaders(given: ToolArguments): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given.map('headers'))) {
    const lower = name.toLowerCase()
    if (RESERVED_HEADERS.includes(lower) || lower.startsWith('proxy-')) {
      throw given.wrong('headers', `cannot set ${name}`)
    }
    if (value !== null) headers[lower] = scalar(given, `headers.${name}`, value)
  }
  return headers
}

function scalar(given: ToolArguments, name: string, value: Json): string {
  if (typeof value === 'object') throw given.wrong(name, 'must be a text, a number or true or false')
  return String(value)
}

function expectationOf(given: ToolArguments): (status: number) => boolean {
  const expected = given.list('expect')
  if (expected.length === 0) return (status) => status >= 200 && status < 300
  if (expected.some((status) => !Number.isInteger(status) || Number(status) < 100 || Number(status) > 599)) {
    throw new ToolError('The argument expect of the tool http must be a list of statuses, as in [200, 404]')
  }
  return (status) => expected.includes(status)
}

// An answer, as JSON that an execution can hold.

const MAX_RESPONSE_BYTES = 8 * 1024 * 1024

async function readLimited(response: IncomingMessage, name: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length
    if (bytes > MAX_RESPONSE_BYTES) {
      response.destroy()
      throw new ToolError(`${name} answered more than ${MAX_RESPONSE_BYTES} bytes; ask for less, or in pages`)
    }
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

/** Without cookies: they are keys to somebody's session, and results are kept. */
function responseHeaders(response: IncomingMessage): Record<string, Json> {
  const { 'set-cookie': _, ...headers } = response.headers
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerText(value)]))
}

/** JSON where it says so, else text; bytes that are no text as base64, with the name of that in `encoding`. */
function responseBody(
  response: IncomingMessage,
  bytes: Buffer,
  name: string,
): { readonly body: Json; readonly encoding?: string } {
  if (bytes.length === 0) return { body: null }
  const type = response.headers['content-type'] ?? ''
  if (/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) return { body: parseJson(bytes, name) }
  const body = asText(bytes)
  return body === undefined ? { body: bytes.toString('base64'), encoding: 'base64' } : { body }
}

function parseJson(bytes: Buffer, name: string): Json {
  try {
    return JSON.parse(bytes.toString('utf8')) as Json
  } catch (error) {
    throw new ToolError(`${name} says that its answer is JSON, and it is not: ${(error as Error).message}`)
  }
}

function asText(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

/** Node reads headers as Latin-1: no half characters in them. */
function headerText(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}
