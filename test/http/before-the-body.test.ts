/** Who may not write is refused before their body is read, costly JSON while it is read, and what trickles is cut off. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { HEADER_TIMEOUTS } from '../../src/http/request-limits.ts'
import { JsonLimits, MAX_VALUES } from '../../src/staging/json-limits.ts'
import { useApi } from '../support/api.ts'
import { cpuClock } from '../support/cpu.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
const impatient = useApi(db, { totalMs: 400 })
let workspace: string
let other: string
let viewer: string
let operator: string
let agent: string
let address: URL
/** Of the server whose bodies have 400 ms. */
let impatientAddress: URL

beforeAll(async () => {
  workspace = await createWorkspace(db)
  other = await createWorkspace(db, 'Other')
  viewer = await api.token(await createMember(db, workspace, 'viewer'))
  operator = await api.token(await createMember(db, workspace, 'operator'))
  agent = await api.token(await createMember(db, workspace, 'agent'))
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'a test')`)
  address = new URL(await api.listen())
  impatientAddress = new URL(await impatient.listen())
})

interface Sent {
  readonly socket: Socket
  /** What came back, once the connection has ended. */
  readonly answer: Promise<string>
}

/** A request whose headers are whole and whose body has not come. */
async function begun(
  method: string,
  path: string,
  token: string,
  headers: string[],
  at = address,
): Promise<Sent> {
  const socket = connect(Number(at.port), at.hostname)
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  const answer = new Promise<string>((resolve) => socket.on('close', () => resolve(text)))
  await once(socket, 'connect')
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: x',
    ...(token ? [`authorization: Bearer ${token}`] : []),
    ...headers,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return { socket, answer }
}

const JSON_BODY = ['content-type: application/json', 'content-length: 6000000']

describe('before a byte of the body has come', () => {
  it.each<[string, string, string, () => string, number, string[]]>([
    ['nobody', 'POST', '/api/v1/staging', () => '', 401, JSON_BODY],
    ['a viewer who stages', 'POST', '/api/v1/staging', () => viewer, 403, JSON_BODY],
    [
      'a viewer who does not say how long it is',
      'POST',
      '/api/v1/staging',
      () => viewer,
      403,
      ['content-type: application/json', 'transfer-encoding: chunked'],
    ],
    [
      'a viewer who uploads',
      'POST',
      '/api/v1/uploads?dataset=x&platform=y',
      () => viewer,
      403,
      ['content-type: text/csv', 'content-length: 6000000'],
    ],
    [
      'a viewer who asks for a preview',
      'POST',
      '/api/v1/datasets/x/mapping/preview?platform=y',
      () => viewer,
      403,
      ['content-type: text/csv', 'content-length: 6000000'],
    ],
    ['a viewer who marks', 'POST', '/api/v1/marks', () => viewer, 403, JSON_BODY],
    ['a viewer who writes units', 'POST', '/api/v1/units/batch', () => viewer, 403, JSON_BODY],
    ['an agent who writes units', 'POST', '/api/v1/units', () => agent, 403, JSON_BODY],
    [
      'an operator who replaces a document',
      'POST',
      '/api/v1/search/documents',
      () => operator,
      403,
      JSON_BODY,
    ],
  ])('%s is refused', async (_who, method, path, token, status, headers) => {
    const { answer } = await begun(method, path, token(), headers)
    expect(await answer).toContain(`HTTP/1.1 ${status} `)
  })

  it('an operator of another workspace is refused by the one that the query names', async () => {
    const path = `/api/v1/staging/blobs?workspace_id=${other}`
    const { answer } = await begun('PUT', path, operator, [
      'content-type: application/octet-stream',
      'content-length: 6000000',
    ])
    expect(await answer).toMatch(/HTTP\/1.1 (403|404|405) /)
  })

  it('a viewer’s three million numbers block nobody', async () => {
    const body = `{"parts":[${'1,'.repeat(3_000_000)}1]}`
    const workedMs = cpuClock()
    const answered = await fetch(new URL('/api/v1/staging', address), {
      method: 'POST',
      headers: { authorization: `Bearer ${viewer}`, 'content-type': 'application/json' },
      body,
    }).then(
      ({ status }) => status,
      // The connection may be closed while it is still being sent.
      () => 403,
    )
    expect(answered).toBe(403)
    expect(workedMs()).toBeLessThan(2000)
  })
})

describe('costly JSON is refused while it comes', () => {
  it.each([
    ['too deep', '['.repeat(200)],
    ['with too many values', `[${'1,'.repeat(MAX_VALUES + 10)}`],
    ['with an exponent', '[1e131071,'],
  ])('%s, to somebody who has the right', async (_what, start) => {
    for (const path of ['/api/v1/staging', '/api/v1/marks']) {
      const { socket, answer } = await begun('POST', path, operator, [
        'content-type: application/json',
        'content-length: 20000000',
      ])
      // The rest never comes: nobody waits for it.
      socket.write(start)
      expect(await answer, path).toContain('HTTP/1.1 400 ')
    }
  })

  it('finds the same however the bytes are cut', () => {
    const texts = [
      '{"parts":[1],"a":"\\"e99999","b":12.5e400}',
      '[1e401000]',
      `${'['.repeat(105)}`,
      '["1e999999"]',
      '[12e411]',
    ]
    for (const text of texts) {
      const verdicts = [1, 2, 3, 1000].map((size) => {
        const limits = new JsonLimits()
        const bytes = Buffer.from(text)
        try {
          for (let at = 0; at < bytes.length; at += size) limits.write(bytes.subarray(at, at + size))
          limits.end()
          return 'taken'
        } catch (error) {
          return (error as Error).message
        }
      })
      expect(new Set(verdicts).size, text).toBe(1)
    }
  })
})

describe('a request that trickles', () => {
  it('is cut off when its body has taken too long altogether, though a byte comes all the time', async () => {
    for (const [path, type] of [
      ['/api/v1/staging', 'application/json'],
      [`/api/v1/uploads?dataset=x&platform=y&workspace_id=${workspace}&file_name=a.csv`, 'text/csv'],
    ] as const) {
      const { socket, answer } = await begun(
        'POST',
        path,
        operator,
        [`content-type: ${type}`, 'transfer-encoding: chunked'],
        impatientAddress,
      )
      const trickle = setInterval(() => socket.write('1\r\n \r\n'), 20)
      await answer
      clearInterval(trickle)
    }
  })

  it('is cut off after a refusal, too: nobody waits for the rest of what was refused', async () => {
    for (const token of ['', viewer]) {
      for (const headers of [
        ['content-type: application/json', 'content-length: 12000'],
        ['content-type: application/json', 'transfer-encoding: chunked'],
      ]) {
        const { socket, answer } = await begun('POST', '/api/v1/staging', token, headers, impatientAddress)
        const byte = headers[1]!.includes('chunked') ? '1\r\n \r\n' : ' '
        const trickle = setInterval(() => socket.write(byte), 20)
        expect(await answer).toMatch(/^(HTTP\/1.1 40[13] |$)/)
        clearInterval(trickle)
      }
    }
  })

  it('has a time for its headers, which is looked at often', () => {
    expect(HEADER_TIMEOUTS.headersTimeout + HEADER_TIMEOUTS.connectionsCheckingInterval).toBeLessThanOrEqual(
      30_000,
    )
    expect(api.app.server.headersTimeout).toBe(HEADER_TIMEOUTS.headersTimeout)
  })
})
