import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../../../src/executions/engine/commands.ts'
import { type HttpOptions, httpTool } from '../../../src/executions/tools/http.ts'
import { ToolError } from '../../../src/executions/tools/tool.ts'
import type { Json, JsonObject } from '../../../src/kernel/json.ts'
import { LazyAbortController } from '../../../src/runtime/lazy-abort.ts'
import { createMemoryResultStore } from '../memory-results.ts'
import { contextOf, playbookOf, stepOf } from '../run-command/command.ts'

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let server: Server
let port: number
let seen: Seen[] = []
let answer: (response: ServerResponse) => void

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      seen.push({ method: request.method!, url: request.url!, headers: request.headers, body })
      answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  seen = []
  answer = (response) => reply(response, 200, { ok: true })
})

function reply(
  response: ServerResponse,
  status: number,
  body: Json,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(JSON.stringify(body))
}

const at = (path = '/') => `http://127.0.0.1:${port}${path}`
const call = (args: JsonObject, options: Partial<HttpOptions> = {}) =>
  httpTool({ hosts: [`127.0.0.1:${port}`], ...options })(undefined, args, contextOf()) as Promise<
    Record<string, Json>
  >
const failure = async (work: Promise<unknown>): Promise<ToolError> => {
  const error = await work.then(
    () => 'not refused',
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ToolError)
  return error as ToolError
}

describe('a request', () => {
  it('goes with its query and headers, and gives status, headers and JSON', async () => {
    answer = (response) => reply(response, 200, { n: 1 }, { 'x-rate': '9', 'set-cookie': 'session=1' })
    const result = await call({
      url: at('/a?b=1'),
      query: { q: 'two words', tag: ['x', 'y'], n: 3, none: null },
      headers: { Authorization: 'Bearer key', 'X-Trace': 7 },
    })
    expect(seen).toMatchObject([
      {
        method: 'GET',
        url: '/a?b=1&q=two+words&tag=x&tag=y&n=3',
        headers: { authorization: 'Bearer key', 'x-trace': '7', host: `127.0.0.1:${port}` },
      },
    ])
    expect(seen[0]!.headers['idempotency-key']).toBeUndefined()
    expect(result).toMatchObject({ status: 200, body: { n: 1 }, headers: { 'x-rate': '9' } })
    expect(result.headers).not.toHaveProperty('set-cookie')
  })

  it('that writes carries the command as idempotency key, unless it has one of its own', async () => {
    await call({ method: 'POST', url: at(), body: { a: [1] } })
    await call({ method: 'DELETE', url: at(), headers: { 'Idempotency-Key': 'mine' } })
    await call({ method: 'PUT', url: at(), body: 'plain', headers: { 'content-type': 'text/csv' } })
    expect(seen).toMatchObject([
      {
        body: '{"a":[1]}',
        headers: { 'idempotency-key': '1:fetch#1:1', 'content-type': 'application/json' },
      },
      { body: '', headers: { 'idempotency-key': 'mine' } },
      { body: 'plain', headers: { 'content-type': 'text/csv', 'content-length': '5' } },
    ])
  })

  it.each([
    ['text', 'text/plain', Buffer.from('grüße'), { body: 'grüße' }],
    ['bytes that are no text', 'image/png', Buffer.from([0, 255]), { body: 'AP8=', encoding: 'base64' }],
    ['a kind of JSON', 'application/problem+json', Buffer.from('{"a":1}'), { body: { a: 1 } }],
    ['nothing', 'application/json', Buffer.alloc(0), { body: null }],
  ])('can be answered with %s', async (_, type, bytes, expected) => {
    answer = (response) => response.writeHead(200, { 'content-type': type }).end(bytes)
    expect(await call({ url: at() })).toMatchObject(expected)
  })

  it('that is answered with broken JSON fails for good', async () => {
    answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{')
    expect(await failure(call({ url: at() }))).toMatchObject({
      message: expect.stringContaining('says that its answer is JSON, and it is not'),
      retryable: false,
    })
  })

  it('that is answered with more than 8 MiB fails for good', async () => {
    answer = (response) => response.end(Buffer.alloc(8 * 1024 * 1024 + 1, 'x'))
    expect(await failure(call({ url: at() }))).toMatchObject({
      message: expect.stringContaining('more than 8388608 bytes'),
      retryable: false,
    })
    answer = (response) => response.end(Buffer.alloc(8 * 1024 * 1024, 'x'))
    expect(((await call({ url: at() })).body as string).length).toBe(8 * 1024 * 1024)
  })
})

describe('a status', () => {
  it.each([
    [400, false],
    [404, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
  ])('%i fails; tried again: %s', async (status, retryable) => {
    answer = (response) => reply(response, status, { why: 'because' })
    expect(await failure(call({ url: at('/secret-path') }))).toMatchObject({
      message: `GET 127.0.0.1:${port} answered ${status}: {"why":"because"}`,
      retryable,
    })
  })

  it('that is expected is a result, and then every other is not', async () => {
    answer = (response) => reply(response, 404, null)
    expect(await call({ url: at(), expect: [200, 404] })).toMatchObject({ status: 404 })
    answer = (response) => reply(response, 204, null)
    await failure(call({ url: at(), expect: [200, 404] }))
  })

  it('of a redirect is not followed', async () => {
    answer = (response) => reply(response, 302, null, { location: at('/elsewhere') })
    expect(await failure(call({ url: at() }))).toMatchObject({
      message: expect.stringContaining('redirects are not followed'),
      retryable: false,
    })
    expect(seen).toHaveLength(1)
  })
})

describe('a target', () => {
  it.each([
    ['that nobody allowed', 'https://example.com/', 'is not among the hosts of STAGEDOOR_HTTP_HOSTS'],
    [
      'inside the house',
      'http://169.254.169.254/latest/meta-data',
      'is not among the hosts of STAGEDOOR_HTTP_HOSTS',
    ],
    ['of another kind', 'file:///etc/passwd', 'must be an address like https://host/…'],
    ['with a password in it', 'https://user:pass@example.com/', 'give them in the header authorization'],
    ['that is none', 'nonsense', 'must be an address like https://host/…'],
  ])('%s is refused for good', async (_, url, message) => {
    expect(await failure(call({ url }))).toMatchObject({
      message: expect.stringContaining(message),
      retryable: false,
    })
  })

  it('that is allowed by name but means an address inside is refused', async () => {
    const options = {
      hosts: ['api.example.com'],
      resolve: async () => [{ address: '10.0.0.5', family: 4 as const }],
    }
    expect(await failure(call({ url: 'https://api.example.com/' }, options))).toMatchObject({
      message: 'api.example.com is 10.0.0.5, which is not a public address',
      retryable: false,
    })
  })

  it('is connected to at the address that was checked, whatever its name means', async () => {
    const options = {
      hosts: [`api.example.com:${port}`, `127.0.0.1:${port}`],
      resolve: async () => [{ address: '127.0.0.1', family: 4 as const }],
    }
    // The server speaks no TLS: that it hears of it at all shows where the connection went.
    const error = await failure(call({ url: `https://api.example.com:${port}/` }, options))
    expect(error).toMatchObject({
      retryable: true,
      message: expect.stringMatching(/could not be reached: (EPROTO|ERR_SSL|ECONNRESET)/),
    })
  })

  it('that does not answer is tried again', async () => {
    const url = 'http://127.0.0.1:1/'
    expect(await failure(call({ url }, { hosts: ['127.0.0.1:1'] }))).toMatchObject({
      message: 'GET 127.0.0.1:1 could not be reached: ECONNREFUSED',
      retryable: true,
    })
    answer = (response) => response.destroy()
    expect((await failure(call({ url: at() }))).retryable).toBe(true)
  })
})

describe('arguments', () => {
  it.each([
    [
      'a header that says where the request ends',
      { headers: { 'Content-Length': 1 } },
      'cannot set Content-Length',
    ],
    ['another host', { headers: { Host: 'inside' } }, 'cannot set Host'],
    ['a header over two lines', { headers: { a: 'b\r\nc: d' } }, 'Invalid character in header content'],
    ['a header that is a list', { headers: { a: [1] } }, 'headers.a of the tool http must be a text'],
    ['a body with GET', { body: 'x' }, 'not with GET'],
    ['an unknown method', { method: 'TRACE' }, 'must be one of GET, HEAD'],
    ['a status that is none', { expect: ['ok'] }, 'must be a list of statuses'],
  ])('are refused: %s', async (_, args, message) => {
    expect(await failure(call({ url: at(), ...(args as JsonObject) }))).toMatchObject({
      message: expect.stringContaining(message),
      retryable: false,
    })
    expect(seen).toEqual([])
  })
})

it('a secret goes into a header and into no error', async () => {
  answer = (response) => reply(response, 401, { youSent: 'Bearer hunter2' })
  const step = stepOf([
    { tool: 'http', args: { url: at(), headers: { authorization: 'Bearer ${secret.KEY}' } } },
  ])
  const outcome = await runCommand({
    playbook: playbookOf(step),
    step,
    scope: {},
    tools: { http: httpTool({ hosts: [`127.0.0.1:${port}`] }) },
    results: createMemoryResultStore(),
    context: contextOf(),
    aborts: new LazyAbortController(),
    secret: () => 'hunter2',
  })
  expect(seen[0]!.headers.authorization).toBe('Bearer hunter2')
  expect(outcome).toEqual({
    status: 'failed',
    error: `GET 127.0.0.1:${port} answered 401: {"youSent":"Bearer ***"}`,
    retryable: false,
  })
})

it('ends when the time of its step is up', async () => {
  answer = () => {}
  const step = stepOf([{ tool: 'http', args: { url: at() } }], { timeout_ms: 50 })
  const outcome = await runCommand({
    playbook: playbookOf(step),
    step,
    scope: {},
    tools: { http: httpTool({ hosts: [`127.0.0.1:${port}`] }) },
    results: createMemoryResultStore(),
    context: contextOf(),
    aborts: new LazyAbortController(),
  })
  expect(outcome).toEqual({ status: 'failed', error: 'timed out after 0.05 s', retryable: true })
})
