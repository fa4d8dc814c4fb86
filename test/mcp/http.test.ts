/** /mcp as an endpoint: tokens, where they are described, pages of other sites, cookies, sizes, rates. */
import { describe, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ads = useIngest(db)
const api = useApi(db, { publicUrl: 'https://stagedoor.example.com' })
const limited = useApi(db, { rateLimit: 5 })

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const post = (to: typeof api, body: object | string, headers: Record<string, string> = {}) =>
  to.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...HEADERS, ...headers },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  })
const bearer = async () => ({ authorization: `Bearer ${await api.token(ads.agent)}` })

describe('a request without a valid token', () => {
  it('learns where it is described which tokens are accepted', async () => {
    for (const headers of [{}, { authorization: 'Bearer nonsense' }] as Record<string, string>[]) {
      const reply = await post(api, LIST, headers)
      expect(reply.statusCode).toBe(401)
      expect(reply.headers['www-authenticate']).toBe(
        'Bearer resource_metadata="https://stagedoor.example.com/.well-known/oauth-protected-resource/mcp"',
      )
    }
    for (const path of ['', '/mcp']) {
      const reply = await api.app.inject({ url: `/.well-known/oauth-protected-resource${path}` })
      expect(reply.statusCode).toBe(200)
      expect(reply.json()).toMatchObject({
        resource: 'https://stagedoor.example.com/mcp',
        bearer_methods_supported: ['header'],
      })
    }
  })

  it('does not get in with the cookie of the console', async () => {
    const link = await api.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { ...HEADERS, cookie: '__Host-stagedoor_session=anything', 'x-stagedoor-csrf': 'x' },
      payload: JSON.stringify(LIST),
    })
    expect(link.statusCode).toBe(401)
  })
})

it('refuses pages of other sites, and takes its own', async () => {
  const token = await bearer()
  const own = await post(api, LIST, { ...token, origin: 'https://stagedoor.example.com' })
  expect(own.statusCode).toBe(200)
  for (const origin of ['https://evil.example', 'null', 'http://localhost:3000'])
    expect((await post(api, LIST, { ...token, origin })).statusCode, origin).toBe(403)
})

it('refuses what is too large or no JSON, before a tool sees it', async () => {
  const token = await bearer()
  const big = await post(
    api,
    `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"${'x'.repeat(7 * 1024 ** 2)}"}}`,
    token,
  )
  expect(big.statusCode).toBe(413)
  expect((await post(api, '{', token)).statusCode).toBe(400)
  expect((await post(api, [LIST, { ...LIST, id: 2 }], token)).statusCode).toBe(400)
  expect(
    (await post(api, LIST, { ...token, 'content-type': 'text/plain' })).statusCode,
  ).toBeGreaterThanOrEqual(400)
  const reader = { authorization: `Bearer ${await api.token(ads.agent, { readOnly: true })}` }
  expect((await post(api, LIST, reader)).statusCode).toBe(200)
  const large = { ...LIST, params: { _meta: { note: 'x'.repeat(20_000) } } }
  expect((await post(api, large, reader)).statusCode).toBe(403)
  const toolsets = await api.app.inject({
    method: 'POST',
    url: '/mcp?toolsets=everything',
    headers: { ...HEADERS, ...token },
    payload: JSON.stringify(LIST),
  })
  expect(toolsets.statusCode).toBe(400)
  expect(toolsets.json().detail).toContain('data, knowledge, work')
})

it('counts calls like any request of the API', async () => {
  const token = { authorization: `Bearer ${await limited.token(ads.agent)}` }
  const statuses: number[] = []
  for (let call = 0; call < 7; call++) statuses.push((await post(limited, LIST, token)).statusCode)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
})
