/** Arguments of the tool `http`, as a request. */
import type { Json, JsonObject } from '../playbook/definition.ts'
import { ToolError } from '../tool.ts'
import { Arguments } from './arguments.ts'

export interface HttpRequest {
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
const NOT_THEIRS = [
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

export function requestOf(args: JsonObject, commandId: string): HttpRequest {
  const given = new Arguments('http', args, ['method', 'url', 'headers', 'query', 'body', 'expect'])
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
      ...headersOf(given),
    },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    name: `${method} ${url.host}`,
    expects: expectationOf(given),
  }
}

function urlOf(given: Arguments): URL {
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

function headersOf(given: Arguments): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given.map('headers'))) {
    const lower = name.toLowerCase()
    if (NOT_THEIRS.includes(lower) || lower.startsWith('proxy-')) {
      throw given.wrong('headers', `cannot set ${name}`)
    }
    if (value !== null) headers[lower] = scalar(given, `headers.${name}`, value)
  }
  return headers
}

function scalar(given: Arguments, name: string, value: Json): string {
  if (typeof value === 'object') throw given.wrong(name, 'must be a text, a number or true or false')
  return String(value)
}

function expectationOf(given: Arguments): (status: number) => boolean {
  const expected = given.list('expect')
  if (expected.length === 0) return (status) => status >= 200 && status < 300
  if (expected.some((status) => !Number.isInteger(status) || Number(status) < 100 || Number(status) > 599)) {
    throw new ToolError('The argument expect of the tool http must be a list of statuses, as in [200, 404]')
  }
  return (status) => expected.includes(status)
}
