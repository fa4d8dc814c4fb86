/** What goes over the wire compressed, what must not, and what a browser keeps. */
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
const DIST = fileURLToPath(new URL('../../console/dist/', import.meta.url))
const TEXT = 'spend rose because '.repeat(500)
let token: string
let part: string

beforeAll(async () => {
  const workspace = await createWorkspace(db)
  token = await api.token(await createMember(db, workspace, 'operator'))
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'a test')`)
  const created = await api.app.inject({
    method: 'POST',
    url: '/api/v1/staging',
    headers: { authorization: `Bearer ${token}` },
    payload: {
      workspace_id: workspace,
      staging_kind: 'agent_intermediate',
      payload_type: 'source_excerpt',
      purpose: 'a test',
      parts: [{ part_name: 'text', payload_kind: 'text', payload_text: TEXT }],
    },
  })
  part = `/api/v1/staging/${created.json().staging_record_id}/parts/0`
})

const get = (url: string, headers: Record<string, string> = {}) =>
  api.app.inject({
    url,
    headers: { 'accept-encoding': 'gzip, br', authorization: `Bearer ${token}`, ...headers },
  })

describe('responses', () => {
  it('of JSON are compressed, and say that they depend on what the caller takes', async () => {
    const answer = await get('/api/v1/openapi.json')
    expect(answer.headers['content-encoding']).toBe('br')
    expect(answer.headers.vary).toContain('accept-encoding')
    const text = brotliDecompressSync(answer.rawPayload).toString()
    expect(JSON.parse(text).openapi).toMatch(/^3\./)
    expect(answer.rawPayload.length).toBeLessThan(text.length / 5)
  })

  it('that are small, and those for a caller that takes no encoding, stay as they are', async () => {
    expect((await get('/api/health')).headers['content-encoding']).toBeUndefined()
    const plain = await api.app.inject({ url: '/api/v1/openapi.json' })
    expect(plain.headers['content-encoding']).toBeUndefined()
  })

  it('with the bytes of a part keep their length, their ranges and their digest', async () => {
    const whole = await get(part)
    expect(whole.headers['content-encoding']).toBeUndefined()
    expect(whole.headers['content-length']).toBe(String(TEXT.length))
    expect(whole.payload).toBe(TEXT)
    const range = await get(part, { range: 'bytes=0-8' })
    expect(range.statusCode).toBe(206)
    expect(range.headers['content-encoding']).toBeUndefined()
    expect(range.payload).toBe('spend ros')
  })

  it('to a compressed request body stay a refusal: a small body cannot unpack beyond the limits', async () => {
    const answer = await api.app.inject({
      method: 'POST',
      url: '/api/v1/staging',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      payload: gzipSync(JSON.stringify({ purpose: TEXT })),
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().code).toBe('text_invalid')
  })
})

describe.runIf(existsSync(DIST))('the files of the console', () => {
  it('with a hash in their name are kept for good, and compressed', async () => {
    const script = readdirSync(`${DIST}assets`).find((name) => name.endsWith('.js'))
    const answer = await get(`/assets/${script}`)
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(answer.headers['content-encoding']).toBe('br')
  })

  it.each(['/', '/index.html', '/uploads'])('the page at %s is asked for again each time', async (path) => {
    const answer = await get(path, { accept: 'text/html' })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-cache')
  })
})
