import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { renderReference } from '../../src/http/reference.ts'
import type { HealthCheck } from '../../src/kernel/postgres/health.ts'
import { VERSION } from '../../src/kernel/version.ts'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'

const db = useDatabase()
let workers: HealthCheck = { name: 'workers', ok: true, detail: 'fine' }
const api = useApi(db, {
  bodyLimit: 2048,
  rateLimit: 8,
  workers: () => workers,
  routes: (app) => app.post('/api/v1/echo', { schema: { hide: true } }, async () => 'read'),
})
let token: string

beforeAll(async () => {
  token = await api.token(await createMember(db, await createWorkspace(db), 'viewer'))
})

describe('health', () => {
  it('says alive and which version, without a token', async () => {
    expect((await api.get('/api/health')).body).toEqual({ status: 'ok', version: VERSION })
  })

  it('is ready when database, migrations, partitions and workers are', async () => {
    const { status, body } = await api.get('/api/ready')
    expect(status).toBe(200)
    expect((body as { checks: HealthCheck[] }).checks.map((check) => [check.name, check.ok])).toEqual([
      ['database', true],
      ['migrations', true],
      ['event_partitions', true],
      ['job_partitions', true],
      ['execution_partitions', true],
      ['workers', true],
    ])
  })

  it('stays ready while NATS is away, because it answers without it', async () => {
    const before = workers
    workers = { name: 'nats', ok: false, detail: 'the connection was lost' }
    const { status, body } = await api.get('/api/ready')
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'ready' })
    workers = before
  })

  it('is not ready when a worker fails, and says why', async () => {
    workers = { name: 'workers', ok: false, detail: 'event partitions: no space left' }
    const { status, body } = await api.get('/api/ready')
    expect(status).toBe(503)
    expect(body).toMatchObject({ status: 'not_ready' })
    expect(JSON.stringify(body)).toContain('no space left')
  })

  it('is not ready when a routine is not the one that was shipped', async () => {
    workers = { name: 'workers', ok: true, detail: 'fine' }
    await db.owner(`update iu_core.schema_routine set hash = 'old' where object_name = 'fn_gate_open'`)
    const { status, body } = await api.get('/api/ready')
    expect(status).toBe(503)
    expect(JSON.stringify(body)).toContain('stagedoor migrate')
  })
})

describe('requests', () => {
  it('carry an id: the caller’s if it is harmless, else a new one', async () => {
    const named = await api.app.inject({ url: '/api/health', headers: { 'x-request-id': 'abc-1' } })
    expect(named.headers['x-request-id']).toBe('abc-1')
    const forged = await api.app.inject({
      url: '/api/health',
      headers: { 'x-request-id': 'a\tb {"level":60}' },
    })
    expect(forged.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('are answered with security headers', async () => {
    const { headers } = await api.get('/api/health')
    expect(headers['content-security-policy']).toContain("default-src 'self'")
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['referrer-policy']).toBe('no-referrer')
  })

  it('that are not valid say what is wrong', async () => {
    const { status, body } = await api.get('/api/v1/events?limit=0', token)
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'request_invalid', detail: expect.stringContaining('limit') })
    expect((await api.get('/api/v1/events?after=nonsense', token)).status).toBe(400)
  })

  it('with a wrong id in the address say so', async () => {
    const { status, body } = await api.get('/api/v1/events/nowhere', token)
    expect(status).toBe(400)
    expect(body).toMatchObject({
      code: 'request_invalid',
      detail: 'The request is not valid: the id in the address is not a uuid',
    })
  })

  it('to nowhere answer 404 as a problem', async () => {
    const { status, body } = await api.get('/api/v1/nowhere', token)
    expect(status).toBe(404)
    expect(body).toMatchObject({ code: 'not_found' })
  })

  it('with a body over the limit answer 413', async () => {
    const post = (size: number) =>
      api.app.inject({
        method: 'POST',
        url: '/api/v1/echo',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        payload: JSON.stringify({ filler: 'x'.repeat(size) }),
      })
    expect((await post(100)).statusCode).toBe(200)
    const refused = await post(4096)
    expect(refused.statusCode).toBe(413)
    expect(refused.json()).toMatchObject({ code: 'body_too_large', detail: expect.stringContaining('2048') })
  })

  it('are limited a minute for each caller, with Retry-After, but health never is', async () => {
    const other = await api.token({ userId: 'someone-else', role: 'authenticated' })
    const statuses: number[] = []
    for (let i = 0; i < 9; i++) statuses.push((await api.get('/api/v1/gates', other)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 429])
    const limited = await api.get('/api/v1/gates', other)
    expect(limited.body).toMatchObject({ code: 'rate_limited', retryable: true })
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
    for (let i = 0; i < 10; i++) expect((await api.get('/api/health')).status).toBe(200)
  })
})

it('whoever guesses tokens is limited by address', async () => {
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) {
    const reply = await api.app.inject({
      url: '/api/v1/me',
      remoteAddress: '192.0.2.7',
      headers: { authorization: `Bearer guess-${i}` },
    })
    statuses.push(reply.statusCode)
  }
  expect(statuses.slice(0, 8)).toEqual(Array(8).fill(401))
  expect(statuses.at(-1)).toBe(429)
})

describe('the API describes itself', () => {
  it('as OpenAPI 3.1, every route with an operation id, a summary and an error shape', async () => {
    const { body } = await api.get('/api/v1/openapi.json')
    const description = body as {
      openapi: string
      paths: Record<string, Record<string, { operationId?: string; summary?: string; security?: unknown[] }>>
      components: { schemas: Record<string, unknown> }
    }
    expect(description.openapi).toBe('3.1.0')
    expect(Object.keys(description.paths)).toEqual(
      expect.arrayContaining(['/api/v1/events', '/api/v1/gates', '/api/health', '/api/v1/me']),
    )
    expect(description.components.schemas).toHaveProperty('Problem')
    for (const methods of Object.values(description.paths)) {
      for (const operation of Object.values(methods)) {
        expect(operation.operationId).toBeTruthy()
        expect(operation.summary).toBeTruthy()
      }
    }
  })

  it('on a page that needs nothing from outside', async () => {
    const reply = await api.app.inject({ url: '/api/v1/docs/' })
    expect(reply.statusCode).toBe(200)
    expect(reply.body).not.toMatch(/(src|href)="https?:/)
  })

  it('on a page with every operation and every shape, each of which can be linked to', async () => {
    const { body: description } = await api.get('/api/v1/openapi.json')
    const { paths, components } = description as {
      paths: Record<string, Record<string, { operationId: string }>>
      components: { schemas: Record<string, object> }
    }
    const { body } = await api.app.inject({ url: '/api/v1/docs' })
    const anchors = new Set([...body.matchAll(/<article id="([^"]+)"/g)].map(([, id]) => id))
    const wanted = [
      ...Object.values(paths).flatMap((methods) =>
        Object.values(methods).map((one) => one.operationId.toLowerCase()),
      ),
      ...Object.keys(components.schemas).map((name) => `schema-${name.toLowerCase()}`),
    ]
    expect(wanted.filter((id) => !anchors.has(id))).toEqual([])
    const targets = [...body.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!)
    expect(targets.filter((id) => !body.includes(`id="${id}"`))).toEqual([])
  })

  it('on a page that runs no script, and whose only style is the one that it was served with', async () => {
    for (const encoding of ['identity', 'gzip']) {
      const { headers, rawPayload } = await api.app.inject({
        url: '/api/v1/docs/',
        headers: { 'accept-encoding': encoding },
      })
      const body = (encoding === 'gzip' ? gunzipSync(rawPayload) : rawPayload).toString('utf8')
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|script-src/)
      expect(body).not.toMatch(/<script|style="| on[a-z]+="/)
      const [, style] = /<style>(.*?)<\/style>/s.exec(body)!
      expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style!).digest('base64')}'`)
    }
  })

  it('on a page that shows text of the description as text', () => {
    const description = {
      info: { title: 'A & B', version: '1' },
      paths: { '/a<b>': { get: { summary: '<script>alert(1)</script>', tags: ['"x"'] } } },
    }
    const page = renderReference(description, '/openapi.json')
    expect(page).not.toContain('<script')
    expect(page).toContain('&lt;script&gt;alert(1)')
    expect(page).toContain('A &amp; B')
  })
})

it('pages through events with a cursor, newest first', async () => {
  const workspace = await createWorkspace(db, 'Paged')
  const member = await createMember(db, workspace, 'viewer')
  for (let i = 1; i <= 5; i++) {
    await db
      .pool('stagedoor_worker')
      .query(
        `select iu_core.fn_event_emit('staging', 'record_created', p_event_subject_ref => $1, p_workspace_id => $2)`,
        [`event ${i}`, workspace],
      )
  }
  const reader = await api.token(member)
  type Page = { events: { event_subject_ref: string }[]; next: string | null }
  const first = (await api.get('/api/v1/events?limit=3', reader)).body as Page
  const second = (await api.get(`/api/v1/events?limit=3&after=${first.next}`, reader)).body as Page
  expect([...first.events, ...second.events].map((event) => event.event_subject_ref)).toEqual([
    'event 5',
    'event 4',
    'event 3',
    'event 2',
    'event 1',
  ])
  expect(second.next).toBeNull()
})
