import { createHash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { useBlobs } from '../support/blobs.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const blobs = useBlobs()
const BLOB_LIMIT = 12 * 1024 * 1024
const api = useApi(db, { blobs: blobs.store, blobLimit: BLOB_LIMIT })
const GATE = 'iu_core.staging_writes_enabled'
let workspace: string
let token: string
let viewer: string
let stranger: string
let address: string

const setGate = (open: boolean) => db.owner('select iu_core.fn_gate_set($1, $2, $3)', [GATE, open, 'a test'])
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

beforeAll(async () => {
  workspace = await createWorkspace(db, 'Acme Media')
  token = await api.token(await createMember(db, workspace, 'agent'))
  viewer = await api.token(await createMember(db, workspace, 'viewer'))
  stranger = await api.token(await createMember(db, await createWorkspace(db, 'Other'), 'operator'))
  await setGate(true)
  address = await api.listen()
})

/** What the test kept, beside what was there before. */
let before: string[]
beforeEach(async () => {
  before = await blobs.kept()
})
const newBlobs = async () => (await blobs.kept()).filter((ref) => !before.includes(ref)).length

const envelope = (changes: object = {}) => ({
  workspace_id: workspace,
  staging_kind: 'nosql_payload',
  payload_type: 'nosql_payload',
  purpose: 'a test',
  ...changes,
})

interface Made {
  staging_record_id: string
  content_hash: string
  created: boolean
}
interface Digests {
  part_digests: { part_name: string; payload_kind: string; byte_len: string; content_hash: string }[]
}

async function records(): Promise<number> {
  const [row] = await db.owner<{ count: number }>(
    'select count(*)::int as count from iu_core.iu_staging_record',
  )
  return row!.count
}

/** Over a real connection, because streams and ends of connections are what is tested. */
async function call(path: string, init: RequestInit = {}, as = token) {
  const reply = await fetch(`${address}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${as}`, ...init.headers },
  })
  return reply
}

async function problem(reply: Response) {
  expect(reply.headers.get('content-type')).toContain('application/problem+json')
  return (await reply.json()) as Record<string, unknown>
}

function form(record: object | string, files: [name: string, bytes: string | Buffer, type: string][] = []) {
  const data = new FormData()
  data.append('record', typeof record === 'string' ? record : JSON.stringify(record))
  for (const [name, bytes, type] of files) data.append(name, new Blob([bytes], { type }), `${name}.file`)
  return data
}

const put = (body: Buffer | string, query = `?workspace_id=${workspace}`, as = token) =>
  call(
    `/api/v1/staging/blobs${query}`,
    { method: 'PUT', body, headers: { 'content-type': 'application/octet-stream' } },
    as,
  )

describe('a blob', () => {
  it('is uploaded by itself and staged by its reference, with the store’s length and digest', async () => {
    const bytes = randomBytes(300_000)
    const reply = await put(bytes)
    expect(reply.status).toBe(201)
    const blob = (await reply.json()) as { blob_ref: string; byte_len: string; content_hash: string }
    expect(blob).toMatchObject({ byte_len: '300000', content_hash: sha256(bytes) })
    const parts = [{ part_name: 'video', payload_kind: 'blob_ref', ...blob }]
    const made = await api.post('/api/v1/staging', token, envelope({ parts }))
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const id = (made.body as Made).staging_record_id
    expect((await api.get(`/api/v1/staging/${id}`, token)).body as Digests).toMatchObject({
      byte_len: '300000',
      part_digests: [{ part_name: 'video', payload_kind: 'blob_ref', content_hash: sha256(bytes) }],
    })
    const read = await call(`/api/v1/staging/${id}/parts/0`)
    expect(read.headers.get('content-type')).toBe('application/octet-stream')
    expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true)
  })

  it.each([{ byte_len: 5 }, { content_hash: '0'.repeat(64) }])(
    'whose facts the caller states wrongly is refused: %o',
    async (wrong) => {
      const { blob_ref } = (await (await put('hello!')).json()) as { blob_ref: string }
      const parts = [{ part_name: 'a', payload_kind: 'blob_ref', blob_ref, ...wrong }]
      const { body } = await api.post('/api/v1/staging', token, envelope({ parts }))
      expect(body).toMatchObject({ status: 400, code: 'staging_part_invalid' })
    },
  )

  it('of up to the limit is taken, beyond it refused, announced or not', async () => {
    expect((await put(Buffer.alloc(BLOB_LIMIT))).status).toBe(201)
    const announced = await api.app.inject({
      method: 'PUT',
      url: `/api/v1/staging/blobs?workspace_id=${workspace}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
      payload: Buffer.alloc(BLOB_LIMIT + 1),
    })
    expect(announced.json()).toMatchObject({ status: 413, code: 'body_too_large' })
    async function* chunks() {
      for (let sent = 0; sent <= BLOB_LIMIT; sent += 65_536) yield Buffer.alloc(65_536)
    }
    const unannounced = await call(`/api/v1/staging/blobs?workspace_id=${workspace}`, {
      method: 'PUT',
      body: chunks() as never,
      duplex: 'half',
      headers: { 'content-type': 'application/octet-stream' },
    } as RequestInit)
    expect(await problem(unannounced)).toMatchObject({ status: 413, code: 'body_too_large' })
    expect(await newBlobs()).toBe(1)
  })

  it('is not taken from whoever may not stage', async () => {
    expect(await problem(await put('x', undefined, viewer))).toMatchObject({ code: 'right_missing' })
    expect(await problem(await put('x', undefined, stranger))).toMatchObject({ code: 'not_member' })
    expect(await problem(await put('x', ''))).toMatchObject({ code: 'not_member' })
    expect((await call('/api/v1/staging/blobs', { method: 'PUT', body: 'x' }, 'nonsense')).status).toBe(401)
    expect(await newBlobs()).toBe(0)
  })

  it('is not taken behind a closed gate', async () => {
    await setGate(false)
    try {
      expect(await problem(await put('x'))).toMatchObject({ status: 409, code: 'gate_closed' })
      const data = form(envelope(), [['a', 'x', 'application/octet-stream']])
      expect(await problem(await call('/api/v1/staging', { method: 'POST', body: data }))).toMatchObject({
        code: 'gate_closed',
      })
      expect(await newBlobs()).toBe(0)
    } finally {
      await setGate(true)
    }
  })

  it('of another type than bytes is refused', async () => {
    const reply = await call(`/api/v1/staging/blobs?workspace_id=${workspace}`, {
      method: 'PUT',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(reply.status).toBe(400)
  })
})

describe('a form', () => {
  const send = (data: FormData, headers: Record<string, string> = {}) =>
    call('/api/v1/staging', { method: 'POST', body: data, headers })

  it('holds JSON and text as such and all else as blobs, in their order', async () => {
    const json = '{"id": 12345678901234567890, "k": 1, "k": 2}'
    const image = randomBytes(100_000)
    const long = Buffer.alloc(11 * 1024 * 1024, 'x')
    const inside = { part_name: 'first', payload_kind: 'text', payload_text: 'in the record' }
    const reply = await send(
      form(envelope({ parts: [inside] }), [
        ['data', json, 'application/json'],
        ['notes', '\ufeffüber', 'text/markdown'],
        ['image', image, 'image/png'],
        ['long', long, 'text/plain'],
      ]),
    )
    const made = (await reply.json()) as Made
    expect(reply.status, JSON.stringify(made)).toBe(201)
    const { body } = await api.get(`/api/v1/staging/${made.staging_record_id}`, token)
    const digests = (body as Digests).part_digests
    expect(digests.map((part) => [part.part_name, part.payload_kind, part.content_hash])).toEqual([
      ['first', 'text', sha256('in the record')],
      ['data', 'json', sha256('{"k": 2, "id": 12345678901234567890}')],
      ['notes', 'text', sha256('\ufeffüber')],
      ['image', 'blob_ref', sha256(image)],
      ['long', 'blob_ref', sha256(long)],
    ])
    expect(await newBlobs()).toBe(2)
  })

  it('gives the same record as the same parts in JSON', async () => {
    const parts = [{ part_name: 'data', payload_kind: 'json', payload_json: { a: [1, 2] } }]
    const asJson = (await api.post('/api/v1/staging', token, envelope({ parts }))).body as Made
    const asForm = (await (
      await send(form(envelope(), [['data', '{"a":[1,2]}', 'application/json']]))
    ).json()) as Made
    expect(asForm.content_hash).toBe(asJson.content_hash)
  })

  it('sent again with its key finds the record and leaves no second blob', async () => {
    const data = () => form(envelope(), [['image', Buffer.from('same bytes'), 'image/png']])
    const first = await send(data(), { 'idempotency-key': 'again' })
    const again = await send(data(), { 'idempotency-key': 'again' })
    expect([first.status, again.status]).toEqual([201, 200])
    const made = (await first.json()) as Made
    expect(await again.json()).toMatchObject({ staging_record_id: made.staging_record_id, created: false })
    expect(await newBlobs()).toBe(1)
  })

  it('takes a record that says it is JSON without rounding it', async () => {
    const boundary = 'xyz'
    const record = JSON.stringify(envelope({ metadata: { id: 0 } })).replace(
      '"id":0',
      '"id":120210000000000001',
    )
    const body = [
      `--${boundary}\r\ncontent-disposition: form-data; name="record"\r\ncontent-type: application/json\r\n\r\n${record}\r\n`,
      `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\ncontent-type: application/json\r\n\r\n9007199254740993\r\n`,
      `--${boundary}--\r\n`,
    ].join('')
    const reply = await call('/api/v1/staging', {
      method: 'POST',
      body,
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    })
    expect(reply.status).toBe(201)
    const { staging_record_id: id } = (await reply.json()) as Made
    expect(await (await call(`/api/v1/staging/${id}`)).text()).toContain('120210000000000001')
    expect(await (await call(`/api/v1/staging/${id}/parts/0`)).text()).toBe('9007199254740993')
  })

  const blob: [string, string, string] = ['image', 'bytes', 'image/png']
  it.each<[string, () => FormData, number, string, string]>([
    ['no record', () => new FormData(), 400, 'request_invalid', ''],
    ['a record that is no JSON', () => form('{', [blob]), 400, 'request_invalid', 'not JSON'],
    [
      'a record that is not valid',
      () => form(envelope({ staging_kind: 'x' }), [blob]),
      400,
      'request_invalid',
      'record/staging_kind',
    ],
    ['no parts', () => form(envelope()), 400, 'staging_part_invalid', 'at least one part'],
    [
      'another workspace',
      () => form(envelope({ workspace_id: crypto.randomUUID() }), [blob]),
      403,
      'not_member',
      '',
    ],
    [
      'a part that is no JSON',
      () => form(envelope(), [blob, ['a', '1,"payload_kind":"text"', 'application/json']]),
      400,
      'request_invalid',
      'part a is not JSON',
    ],
    [
      'a part that is not UTF-8',
      () => form(envelope(), [blob, ['a', Buffer.from([0xff, 0xfe]), 'text/plain']]),
      400,
      'text_invalid',
      'part a',
    ],
    [
      'a part with a NUL',
      () => form(envelope(), [blob, ['a', 'a\0b', 'text/plain']]),
      400,
      'text_invalid',
      '',
    ],
    [
      'a type that the kind does not take',
      () => form(envelope({ payload_type: 'review_bundle' }), [blob]),
      400,
      'staging_kind_unknown',
      '',
    ],
    [
      'a blob over the limit',
      () => form(envelope(), [blob, ['a', Buffer.alloc(BLOB_LIMIT + 1), 'image/png']]),
      413,
      'body_too_large',
      String(BLOB_LIMIT),
    ],
    [
      '101 parts',
      () =>
        form(
          envelope(),
          Array.from({ length: 101 }, () => blob),
        ),
      400,
      'staging_part_invalid',
      'at most 100',
    ],
    [
      'a blob in the record that is not there',
      () => form(envelope({ parts: [{ part_name: 'a', payload_kind: 'blob_ref', blob_ref: 'x' }] }), [blob]),
      400,
      'blob_missing',
      '',
    ],
  ])('with %s answers an error and stores nothing', async (_name, data, status, code, detail) => {
    const staged = await records()
    const body = await problem(await send(data()))
    expect(body).toMatchObject({ status, code, detail: expect.stringContaining(detail) })
    expect(await records()).toBe(staged)
    expect(await newBlobs()).toBe(0)
  })

  it.each([
    ['without a boundary', 'multipart/form-data', 'x'],
    [
      'cut off',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="record"\r\n\r\n{}',
    ],
  ])('%s is refused', async (_name, type, body) => {
    const reply = await call('/api/v1/staging', { method: 'POST', body, headers: { 'content-type': type } })
    expect(await problem(reply)).toMatchObject({ status: 400, code: 'request_invalid' })
  })

  it('whose first field is not the record is refused', async () => {
    const data = new FormData()
    data.append('a', new Blob(['x']), 'a')
    data.append('record', JSON.stringify(envelope()))
    expect(await problem(await send(data))).toMatchObject({ detail: expect.stringContaining('first field') })
  })
})

describe('a client that disconnects during an upload leaves no blob and no record', () => {
  const record = () => JSON.stringify(envelope())
  it.each<[string, () => string]>([
    [
      'as bytes',
      () =>
        `PUT /api/v1/staging/blobs?workspace_id=${workspace} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n` +
        `content-type: application/octet-stream\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(5000)}`,
    ],
    [
      'as a form, in its second blob',
      () =>
        `POST /api/v1/staging HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n` +
        'content-type: multipart/form-data; boundary=b\r\ncontent-length: 1000000\r\n\r\n' +
        `--b\r\ncontent-disposition: form-data; name="record"\r\n\r\n${record()}\r\n` +
        '--b\r\ncontent-disposition: form-data; name="one"; filename="1"\r\ncontent-type: image/png\r\n\r\nwhole\r\n' +
        `--b\r\ncontent-disposition: form-data; name="two"; filename="2"\r\ncontent-type: image/png\r\n\r\n${'x'.repeat(5000)}`,
    ],
  ])('%s', async (_name, request) => {
    const staged = await records()
    const { port } = new URL(address)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(request())
    await until('the upload has begun', () => blobs.drafts() > 0)
    socket.destroy()
    await until('the upload has ended', () => blobs.drafts() === 0)
    await until('nothing is kept', async () => (await newBlobs()) === 0)
    expect(await records()).toBe(staged)
  })
})

describe('the bytes of a part', () => {
  const text = 'Grüße, world'
  const size = Buffer.byteLength(text)
  let id: string

  beforeAll(async () => {
    const reply = await call('/api/v1/staging', {
      method: 'POST',
      body: form(envelope(), [
        ['notes "ä".txt', text, 'text/html'],
        ['data', '[1,{"b":2,"a":1}]', 'application/json'],
        ['blob', '0123456789', 'application/x-thing'],
        ['empty', '', 'text/plain'],
      ]),
    })
    id = ((await reply.json()) as Made).staging_record_id
  })
  const get = (index: number | string, headers: Record<string, string> = {}, method = 'GET') =>
    call(`/api/v1/staging/${id}/parts/${index}`, { method, headers })

  it('come whole, as a download that no browser runs', async () => {
    const reply = await get(0)
    expect(await reply.text()).toBe(text)
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(size),
      etag: `"${sha256(text)}"`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'content-disposition': expect.stringMatching(
        /^attachment; filename="[ -~]+"; filename\*=UTF-8''notes%20/,
      ),
    })
  })

  it('of JSON are its canonical form', async () => {
    const reply = await get(1)
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await reply.text()).toBe('[1, {"a": 1, "b": 2}]')
  })

  it.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=4-', '456789', 'bytes 4-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-30', '0123456789', 'bytes 0-9/10'],
    ['bytes=9-100', '9', 'bytes 9-9/10'],
  ])('%s of a blob answers 206', async (range, body, contentRange) => {
    const reply = await get(2, { range })
    expect(reply.status).toBe(206)
    expect(reply.headers.get('content-range')).toBe(contentRange)
    expect(reply.headers.get('content-length')).toBe(String(body.length))
    expect(await reply.text()).toBe(body)
  })

  it('ranges of text count bytes, not characters', async () => {
    const reply = await get(0, { range: 'bytes=2-5' })
    expect(Buffer.from(await reply.arrayBuffer())).toEqual(Buffer.from(text).subarray(2, 6))
  })

  it.each([
    [2, 'bytes=10-', 10],
    [2, 'bytes=-0', 10],
    [3, 'bytes=0-0', 0],
  ])('part %i with %s answers 416 and the size', async (index, range, length) => {
    const reply = await get(index, { range })
    expect(reply.status).toBe(416)
    expect(reply.headers.get('content-range')).toBe(`bytes */${length}`)
    expect(await problem(reply)).toMatchObject({ status: 416 })
  })

  it.each(['bytes=5-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=a-b', 'bytes=-'])(
    'a range like %s is passed over, as the standard says',
    async (range) => {
      const reply = await get(2, { range })
      expect(reply.status).toBe(200)
      expect(await reply.text()).toBe('0123456789')
    },
  )

  it('are not sent again to whoever has them, and a range of other bytes comes whole', async () => {
    const etag = `"${sha256('0123456789')}"`
    expect((await get(2, { 'if-none-match': `"x", W/${etag}` })).status).toBe(304)
    expect((await get(2, { range: 'bytes=0-0', 'if-range': etag })).status).toBe(206)
    expect((await get(2, { range: 'bytes=0-0', 'if-range': '"x"' })).status).toBe(200)
  })

  it('are described by HEAD without being read', async () => {
    const reply = await get(2, {}, 'HEAD')
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-length')).toBe('10')
    expect(await reply.text()).toBe('')
  })

  it('are nothing where there is no such part', async () => {
    expect(await problem(await get(4))).toMatchObject({ status: 404, code: 'not_found' })
    expect((await get('first')).status).toBe(400)
    expect((await get(-1)).status).toBe(400)
  })
  it('are refused when the blob is not the one that was staged, or gone', async () => {
    const data = form(envelope(), [['a', 'as staged', 'image/png']])
    const reply = await call('/api/v1/staging', { method: 'POST', body: data })
    const { staging_record_id } = (await reply.json()) as Made
    const [row] = await db.owner<{ blob_ref: string }>(
      'select blob_ref from iu_core.iu_staging_payload where staging_record_id = $1',
      [staging_record_id],
    )
    const read = async () => problem(await call(`/api/v1/staging/${staging_record_id}/parts/0`))
    blobs.tamper(row!.blob_ref, 'cut')
    expect(await read()).toMatchObject({ status: 409, code: 'staging_tampered' })
    await blobs.store.delete(row!.blob_ref)
    expect(await read()).toMatchObject({ status: 409, detail: expect.stringContaining('missing') })
  })
})
