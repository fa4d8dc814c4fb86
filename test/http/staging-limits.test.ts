/** What costs more than it looks is refused early; what stalls is cut off. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { refuseCostlyJson } from '../../src/staging/json-limits.ts'
import { useApi } from '../support/api.ts'
import { useBlobs } from '../support/blobs.ts'
import { cpuClock } from '../support/cpu.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const blobs = useBlobs()
const api = useApi(db, { blobs: blobs.store })
const impatient = useApi(db, { blobs: blobs.store, stallMs: 200 })
const limited = useApi(db, { blobs: blobs.store, rateLimit: 1 })
let workspace: string
let agent: string
let person: string

beforeAll(async () => {
  workspace = await createWorkspace(db, 'Acme Media')
  agent = await api.token(await createMember(db, workspace, 'agent'))
  person = await api.token(await createMember(db, workspace, 'operator'))
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'a test')`)
})

const record = (changes: object = {}) => ({
  workspace_id: workspace,
  staging_kind: 'nosql_payload',
  payload_type: 'nosql_payload',
  purpose: 'a test',
  parts: [{ part_name: 'a', payload_kind: 'json', payload_json: 1 }],
  ...changes,
})
const refusal = (text: string) => () => refuseCostlyJson(Buffer.from(text))

describe('JSON', () => {
  it('of nothing but brackets is refused at once', async () => {
    const workedMs = cpuClock()
    const { body } = await api.post('/api/v1/staging', agent, '['.repeat(20_000_000))
    expect(body).toMatchObject({ status: 400, code: 'staging_part_invalid' })
    expect(workedMs()).toBeLessThan(5000)
  })

  it('with an exponent beyond 400 never reaches the database', async () => {
    const text = JSON.stringify(record()).replace('"payload_json":1', '"payload_json":[1e131071]')
    const { body } = await api.post('/api/v1/staging', agent, text)
    expect(body).toMatchObject({
      status: 400,
      code: 'staging_part_invalid',
      detail: expect.stringContaining('exponent'),
    })
  })

  it.each(['[1E+401000]', '[-1e-131071]', '[0.5e99999999999999999999]'])(
    'with long numbers is refused: %s',
    (text) => expect(refusal(text)).toThrow(expect.objectContaining({ code: 'staging_part_invalid' })),
  )

  it('of many short numbers that become long is refused', () => {
    expect(refusal(`[${'1e400,'.repeat(200_000)}1]`)).toThrow('longer than a record')
  })

  it.each(['{"a":"1e999999 [[[[","\\"[":"\\\\"}', '[1e400,-1.5E-10,0.001e402,true,false]', '"1e9999'])(
    'that only looks costly is left to the parser: %s',
    (text) => expect(refusal(text)).not.toThrow(),
  )

  it('with 101 parts is refused before any of its blobs is looked for', async () => {
    const part = { part_name: 'a', payload_kind: 'blob_ref', blob_ref: 'disk:nothing' }
    const many = (count: number) => record({ parts: Array.from({ length: count }, () => part) })
    const first = await api.post('/api/v1/staging', agent, many(101))
    expect(first.body).toMatchObject({ status: 400, code: 'staging_part_invalid' })
    const hidden = JSON.stringify(many(101)).replace('"parts"', '"p\\u0061rts"')
    expect((await api.post('/api/v1/staging', agent, hidden)).body).toMatchObject({
      status: 400,
      code: 'request_invalid',
    })
    expect((await api.post('/api/v1/staging', agent, many(100))).body).toMatchObject({ code: 'blob_missing' })
  })

  it('in large bodies waits for its turn, and each is answered', async () => {
    const large = (name: string) =>
      record({ parts: [{ part_name: name, payload_kind: 'text', payload_text: 'x'.repeat(1_200_000) }] })
    const tokens = [agent, agent, person, person, agent]
    const replies = await Promise.all(
      tokens.map((token, index) => api.post('/api/v1/staging', token, large(`p${index}`))),
    )
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
  })
})

it('the limit for each caller counts before the body is read', async () => {
  await limited.get('/api/v1/me', agent)
  const reply = await limited.app.inject({
    method: 'POST',
    url: '/api/v1/staging',
    headers: { authorization: `Bearer ${agent}`, 'content-type': 'application/json' },
    payload: 'not JSON at all',
  })
  expect(reply.json()).toMatchObject({ status: 429, code: 'rate_limited' })
})

describe('source_kind', () => {
  const sourceOf = async (token: string, changes: object = {}) => {
    const { body } = await api.post('/api/v1/staging', token, record(changes))
    const id = (body as { staging_record_id: string }).staging_record_id
    return ((await api.get(`/api/v1/staging/${id}`, token)).body as { source_kind: string }).source_kind
  }

  it('is agent for an agent’s token and user for a person’s, unless they say another', async () => {
    expect(await sourceOf(agent)).toBe('agent')
    expect(await sourceOf(agent, { source_kind: 'import' })).toBe('import')
    expect(await sourceOf(person)).toBe('user')
    expect(await sourceOf(person, { source_kind: 'agent' })).toBe('agent')
  })

  it('user is refused for an agent, in JSON and in a form', async () => {
    const { body } = await api.post('/api/v1/staging', agent, record({ source_kind: 'user' }))
    expect(body).toMatchObject({ status: 400, code: 'argument_invalid' })
    const form = new FormData()
    form.append('record', JSON.stringify(record({ source_kind: 'user' })))
    const sent = new Response(form)
    const reply = await api.app.inject({
      method: 'POST',
      url: '/api/v1/staging',
      headers: { authorization: `Bearer ${agent}`, 'content-type': sent.headers.get('content-type')! },
      payload: Buffer.from(await sent.arrayBuffer()),
    })
    expect(reply.json()).toMatchObject({ status: 400, code: 'argument_invalid' })
  })
})

describe('an upload that stalls', () => {
  /** Announces more than it sends. */
  async function stall(address: string, path: string, type: string, method = 'PUT'): Promise<Socket> {
    const { hostname, port } = new URL(address)
    const socket = connect(Number(port), hostname).on('error', () => {})
    await once(socket, 'connect')
    socket.write(
      `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${agent}\r\n` +
        `content-type: ${type}\r\ncontent-length: 2000000\r\n\r\n{"some": "bytes`,
    )
    socket.resume()
    return socket
  }

  it('is cut off after a while, and leaves nothing', async () => {
    const address = await impatient.listen()
    const path = `/api/v1/staging/blobs?workspace_id=${workspace}`
    const socket = await stall(address, path, 'application/octet-stream')
    await once(socket, 'close')
    await until('nothing is left of it', () => blobs.drafts() === 0)
  })

  it('does not hold up the close of the server, nor does a body of JSON', async () => {
    const address = await api.listen()
    const path = `/api/v1/staging/blobs?workspace_id=${workspace}`
    const sockets = [
      await stall(address, path, 'application/octet-stream'),
      await stall(address, '/api/v1/staging', 'application/json', 'POST'),
      // Waits for the one before, of the same caller.
      await stall(address, '/api/v1/staging', 'application/json', 'POST'),
    ]
    await until('the upload has begun', () => blobs.drafts() === 1)
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')))
    const started = performance.now()
    await api.app.close()
    await closed
    expect(performance.now() - started).toBeLessThan(20_000)
    await until('nothing is left of it', () => blobs.drafts() === 0)
  })
})
