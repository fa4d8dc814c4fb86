/** Search over HTTP. */
import { beforeAll, describe, expect, it } from 'vitest'
import { createKnowledge, type Knowledge } from '../../search/knowledge.ts'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import type { Member } from '../../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
let know: Knowledge
let leave: string

beforeAll(async () => {
  know = await createKnowledge(db)
  leave = await know.unit('handbook/leave', '# Leave\n\nEvery employee has 28 days of leave.')
})

const SERVICE = { userId: 'back-end', role: 'service_role' }
const get = async (who: Pick<Member, 'userId' | 'role'>, url: string) =>
  api.get(`/api/v1${url}`, await api.token(who))
const post = async (who: Pick<Member, 'userId' | 'role'>, url: string, body?: object) =>
  api.post(`/api/v1${url}`, await api.token(who), body)

async function call(
  method: 'PUT' | 'DELETE',
  who: Pick<Member, 'userId' | 'role'>,
  url: string,
  payload?: object,
) {
  const reply = await api.app.inject({
    method,
    url: `/api/v1${url}`,
    headers: { authorization: `Bearer ${await api.token(who)}` },
    ...(payload && { payload }),
  })
  return { status: reply.statusCode, body: reply.json() as unknown }
}

describe('a question over HTTP', () => {
  it.each(['viewer', 'agent'] as const)('is answered for the %s of the only workspace', async (role) => {
    const { status, body } = await get(know.people[role], '/search?q=days%20of%20leave')
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        hits: [
          {
            source: 'unit',
            unit_id: leave,
            canonical_address: 'handbook/leave',
            title: 'Leave',
            snippet: 'Every employee has 28 days of leave.',
            highlights: [
              [22, 26],
              [30, 35],
            ],
            freshness: 'current',
            warnings: [],
          },
        ],
        legs: { lexical: 1 },
      },
    })
  })

  it('with filters is a POST, and may be long', async () => {
    const text = `${'word '.repeat(10_000)}leave`
    const { status, body } = await post(know.people.viewer, '/search', {
      text,
      filters: { kind: ['note'] },
      limit: 1,
    })
    expect({ status, body }).toMatchObject({ status: 200, body: { hits: [{ unit_id: leave }] } })
  })

  it('is asked with a token that can only read, whatever the method', async () => {
    const token = await api.token(know.people.viewer, { readOnly: true })
    expect((await api.get('/api/v1/search?q=leave', token)).body).toMatchObject({
      hits: [{ unit_id: leave }],
    })
    const { status, body } = await api.post('/api/v1/search', token, {
      text: 'leave',
      filters: { kind: 'note' },
    })
    expect({ status, body }).toMatchObject({ status: 200, body: { hits: [{ unit_id: leave }] } })
    expect((await api.post('/api/v1/search/flush', token, {})).status).toBe(403)
  })

  it('by an edge names its type, its target or both', async () => {
    const ask = async (edge: object) =>
      (await post(know.people.viewer, '/search', { text: 'leave', filters: { edge } })).status
    expect(await ask({ type: 'cites' })).toBe(200)
    expect(await ask({ target: 'https://example.com' })).toBe(200)
    expect(await ask({ type: 'cites', target: 'https://example.com' })).toBe(200)
    expect(await ask({})).toBe(400)
  })

  it('of a workspace that is not the caller’s is refused', async () => {
    const { status } = await get(know.people.stranger, `/search?q=leave&workspace_id=${know.workspace}`)
    expect(status).toBe(403)
  })

  it.each([
    ['/search', /q/],
    ['/search?q=', /The question is empty/],
    ['/search?q=leave&colour=red', /has no property colour/],
    ['/search?q=leave&limit=1000', /limit/],
    ['/search?q=leave&status=retired', /one of draft, enacted, superseded/],
  ])('%s is refused in words', async (url, words) => {
    const { status, body } = await get(know.people.viewer, url)
    expect({ status, body }).toMatchObject({ status: 400, body: { detail: expect.stringMatching(words) } })
    expect(body).not.toMatchObject({ hint: expect.stringContaining('--help') })
  })

  it('of a container that is not there is answered with 404', async () => {
    expect((await get(know.people.viewer, '/search?q=leave&container=handbook/nowhere')).status).toBe(404)
  })
})

describe('looking after search', () => {
  it('as a whole is the back end’s', async () => {
    const { status, body } = await get(SERVICE, '/search/status')
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { chunks: { units: 1 }, gates: { excluded: true, phase_2: true } },
    })
    expect((await post(know.people.admin, '/search/audit')).status).toBe(403)
    expect((await call('DELETE', know.people.admin, '/search/switch')).status).toBe(403)
    expect((await get(know.people.admin, '/search/status')).status).toBe(403)
    expect((await post(know.people.admin, '/search/switch', { embedder: 'lsa' })).status).toBe(403)
    expect((await call('PUT', know.people.admin, '/search/phases/3', { open: false })).status).toBe(403)
  })

  it('the audit reports what is wrong', async () => {
    const { status, body } = await post(SERVICE, '/search/audit', {})
    expect({ status, body }).toMatchObject({ status: 200, body: { ok: true, findings: [] } })
  })

  it('phases open and close in order', async () => {
    expect((await call('PUT', SERVICE, '/search/phases/1', { open: false })).status).toBe(409)
    expect((await call('PUT', SERVICE, '/search/phases/3', { open: false })).body).toEqual({ changed: true })
    expect((await call('PUT', SERVICE, '/search/phases/3', { open: true })).body).toEqual({ changed: true })
    expect((await call('PUT', SERVICE, '/search/phases/4', { open: true })).status).toBe(400)
  })

  it('dead letters are seen by members and replayed by administrators', async () => {
    const poison = await know.unit('handbook/poison', 'A text that no embedder takes.')
    await know.setUnit(poison, 'error')
    const { body } = await get(know.people.viewer, '/search/dead-letters')
    expect(body).toMatchObject({ dead_letters: [{ unit_id: poison, name: 'handbook/poison' }] })
    expect((await get(know.people.stranger, '/search/dead-letters')).body).toEqual({ dead_letters: [] })
    expect((await post(know.people.operator, '/search/dead-letters/replay', {})).status).toBe(403)
    expect((await post(know.people.admin, '/search/dead-letters/replay', {})).body).toEqual({ count: 1 })
    expect((await get(know.people.viewer, '/search?q=embedder%20takes')).body).toMatchObject({
      hits: [{ unit_id: poison, freshness: 'pending' }],
    })
  })

  it('what was edited is due at once for those who operate', async () => {
    await know.edit(leave, 'Every employee has 30 days of leave.')
    expect((await post(know.people.viewer, '/search/flush', {})).status).toBe(403)
    expect((await post(know.people.operator, '/search/flush', {})).body).toEqual({ count: 1 })
  })

  it('documents of the old knowledge base come and go by administrators', async () => {
    const document = { source_ref: 'wiki/parking', title: 'Parking', text: 'Parking is free.' }
    expect((await post(know.people.operator, '/search/documents', document)).status).toBe(403)
    const { status, body } = await post(know.people.admin, '/search/documents', document)
    expect(status).toBe(200)
    const { document_id } = body as { document_id: string }
    const token = await api.token(know.people.admin)
    const gone = await api.app.inject({
      method: 'DELETE',
      url: `/api/v1/search/documents/${document_id}`,
      headers: { authorization: `Bearer ${token}` },
    })
    expect(gone.statusCode).toBe(204)
  })

  it('a switch to what is not set up is refused with what it needs', async () => {
    const { status, body } = await post(SERVICE, '/search/switch', { embedder: 'openai' })
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { detail: expect.stringMatching(/EMBEDDINGS_URL/) },
    })
  })
})

describe('the list over HTTP', () => {
  it('is counted, sorted and read on from a cursor', async () => {
    for (const n of [1, 2, 3]) await know.unit(`list/${n}`, `The marmot number${n} is alone with word${n}.`)
    const { viewer } = know.people
    const first = await get(viewer, '/search?q=marmot&limit=2&facets=true&sort=address&context=true')
    expect(first).toMatchObject({
      status: 200,
      body: {
        hits: [{ canonical_address: 'list/1', context: expect.any(Object) }, { canonical_address: 'list/2' }],
        facets: expect.arrayContaining([{ filter: 'source', value: 'unit', count: 3 }]),
        next: expect.any(String),
      },
    })
    const { next } = first.body as { next: string }
    expect((await get(viewer, `/search?q=marmot&limit=2&sort=address&after=${next}`)).body).toMatchObject({
      hits: [{ canonical_address: 'list/3' }],
    })
    expect(await get(viewer, `/search?q=other&after=${next}`)).toMatchObject({ status: 400 })
    expect((await get(viewer, '/search?q=mramot')).body).toMatchObject({
      corrected: { text: 'marmot', instead: 'mramot' },
    })
    expect((await get(viewer, '/search?q=marm&typing=true')).body).toMatchObject({ suggestions: ['marmot'] })
    expect((await post(viewer, '/search', { text: 'marmot -word2', collapse: false })).body).toMatchObject({
      hits: [{}, {}],
    })
  })

  it('has synonyms and a log that administrators change', async () => {
    const { admin, viewer } = know.people
    const pto = { word: 'rodent', synonyms: ['marmot'], both: true }
    expect(await post(viewer, '/search/synonyms', pto)).toMatchObject({ status: 403 })
    expect(await post(admin, '/search/synonyms', pto)).toMatchObject({ status: 200, body: { count: 2 } })
    expect((await get(viewer, '/search?q=rodent')).body).toMatchObject({
      synonyms: [{ word: 'rodent', synonyms: ['marmot'] }],
    })
    expect((await get(viewer, '/search/synonyms')).body).toMatchObject({
      synonyms: [{ word: 'marmot' }, { word: 'rodent' }],
    })
    expect(await call('DELETE', admin, '/search/synonyms?word=rodent&both=true')).toMatchObject({
      status: 200,
      body: { count: 2 },
    })
    expect(await call('DELETE', admin, '/search/synonyms?word=rodent')).toMatchObject({ status: 404 })
    expect(await call('PUT', viewer, '/search/missed', { on: true })).toMatchObject({ status: 403 })
    expect(await call('PUT', admin, '/search/missed', { on: true })).toMatchObject({
      body: { changed: true },
    })
    await get(viewer, '/search?q=qwertyuiop')
    const reading = await api.token(viewer, { readOnly: true })
    expect(await api.get('/api/v1/search?q=zxcvbnm', reading)).toMatchObject({
      status: 200,
      body: { hits: [] },
    })
    expect(await get(viewer, '/search/missed')).toMatchObject({ status: 403 })
    expect((await get(admin, '/search/missed')).body).toMatchObject({
      log: { on: true },
      questions: [{ question: 'qwertyuiop', times: 1 }],
    })
    expect(await call('PUT', admin, '/search/missed', { on: false })).toMatchObject({ status: 200 })
  })
})
