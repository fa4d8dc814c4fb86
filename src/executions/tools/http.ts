/**
 * The tool `http`: one request to a host that the operator named, at an address that was checked. Redirects are not followed:
 * where they lead, nobody has allowed. The command id goes along as idempotency key, the same in every run of an attempt.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import {
  type Address,
  HostRefused,
  orAborted,
  permittedAddresses,
  pinnedTo,
  type Resolve,
} from '../../access/outbound-hosts.ts'
import { VERSION } from '../../version.ts'
import type { Json } from '../playbook/definition.ts'
import { type Tool, type ToolContext, ToolError } from '../tool.ts'
import { EXECUTION_HEADER, type HttpRequest, requestOf } from './http-request.ts'
import { bodyOf, headersOf, readLimited } from './http-response.ts'

export interface HttpOptions {
  /** STAGEDOOR_HTTP_HOSTS: empty, and no request leaves the house. */
  readonly hosts: readonly string[]
  readonly resolve?: Resolve
  /** Certificates to trust besides the public ones: a server inside the house. */
  readonly ca?: string
}

/** Where the step says nothing. */
const TIMEOUT_MS = 30_000
const TRY_AGAIN = new Set([408, 425, 429])

export function httpTool(options: HttpOptions): Tool {
  return async (_call, args, context) => {
    const asked = requestOf(args, context.command_id)
    const request = { ...asked, headers: { ...asked.headers, [EXECUTION_HEADER]: context.execution_id } }
    const late = context.deadline === undefined ? AbortSignal.timeout(TIMEOUT_MS) : undefined
    const signal = late === undefined ? context.signal : AbortSignal.any([context.signal, late])
    try {
      return await answerTo(request, signal, options)
    } catch (error) {
      if (late?.aborted && !context.signal.aborted) {
        throw new ToolError(`${request.name} timed out after ${TIMEOUT_MS / 1000} s`, { retryable: true })
      }
      throw explained(error, request, context)
    }
  }
}

async function answerTo(request: HttpRequest, signal: AbortSignal, options: HttpOptions): Promise<Json> {
  const allowed = { hosts: options.hosts, setting: 'STAGEDOOR_HTTP_HOSTS' }
  const addresses = await orAborted(permittedAddresses(request.url, allowed, options.resolve), signal)
  const response = await send(request, addresses, signal, options.ca)
  const bytes = await readLimited(response, request.name)
  const status = response.statusCode!
  if (!request.expects(status)) throw unexpected(request, response, bytes)
  return { status, headers: headersOf(response), ...bodyOf(response, bytes, request.name) }
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
        lookup: pinnedTo(addresses),
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

function unexpected(request: HttpRequest, response: IncomingMessage, bytes: Buffer): ToolError {
  const status = response.statusCode!
  if (status >= 300 && status < 400) {
    return new ToolError(`${request.name} answered ${status}; redirects are not followed`)
  }
  const said = bytes.toString('utf8', 0, 500).replaceAll(/\s+/g, ' ').trim()
  return new ToolError(`${request.name} answered ${status}${said === '' ? '' : `: ${said}`}`, {
    retryable: status >= 500 || TRY_AGAIN.has(status),
  })
}

function explained(error: unknown, request: HttpRequest, { signal }: ToolContext): unknown {
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
