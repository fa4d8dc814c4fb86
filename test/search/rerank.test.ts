/** An endpoint that orders hits again: what it gets, what it changes, and what an outage costs. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createVectorSearch, type VectorSearch } from '../../src/search/vector-search.ts'
import { useDatabase } from '../support/database.ts'
import { createKnowledge, type Knowledge, NOTHING_CONFIGURED } from './knowledge.ts'

interface Asked {
  readonly query: string
  readonly model?: string
  readonly documents?: string[]
  readonly texts?: string[]
}

const db = useDatabase()
let know: Knowledge
let asked: (Asked & { key: string | undefined })[] = []
let answer: (asked: Asked) => { status?: number; body: unknown } | undefined
const server = createServer((request, response) => {
  let text = ''
  request.on('data', (part) => {
    text += part
  })
  request.on('end', () => {
    const body = JSON.parse(text) as Asked
    asked.push({ ...body, key: request.headers.authorization })
    const reply = answer(body)
    // Undefined: it never answers.
    if (reply === undefined) return
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(reply.body))
  })
})
const searches: VectorSearch[] = []

beforeAll(async () => {
  know = await createKnowledge(db)
  await know.unit('a/one', 'The heron stands. The heron waits. Heron.')
  await know.unit('a/two', 'A heron flies over the long river in the morning of a day.')
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
})
afterAll(async () => {
  for (const one of searches) await one.close()
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
})

function searchWith(model: string | undefined, budgetMs = 5000): VectorSearch {
  const { port } = server.address() as AddressInfo
  const made = createVectorSearch({
    pool: db.pool('stagedoor_worker'),
    config: {
      ...NOTHING_CONFIGURED,
      rerankUrl: `http://127.0.0.1:${port}/v1`,
      rerankApiKey: 'key',
      ...(model !== undefined && { rerankModel: model }),
    },
    budgetMs,
  })
  searches.push(made)
  return made
}
const order = async (vectorSearch?: VectorSearch) => {
  const { hits, warnings } = await know.ask('heron', vectorSearch ? { vectorSearch } : {})
  return { hits: hits.map(({ canonical_address }) => canonical_address), warnings }
}
const FORWARDS = ['a/one', 'a/two']
/** The last text is best. */
const backwards = (texts: string[]) => texts.map((_, index) => ({ index, score: index }))

it('orders the best hits again, by the API of Cohere or that of TEI', async () => {
  expect((await order()).hits).toEqual(FORWARDS)
  answer = ({ documents }) => ({
    body: { results: backwards(documents!).map(({ index, score }) => ({ index, relevance_score: score })) },
  })
  expect(await order(searchWith('rerank-1'))).toEqual({ hits: FORWARDS.toReversed(), warnings: [] })
  expect(asked).toMatchObject([{ query: 'heron', model: 'rerank-1', key: 'Bearer key' }])
  expect(asked[0]!.documents![0]).toContain('The heron stands.')
  answer = ({ texts }) => ({ body: backwards(texts!) })
  expect((await order(searchWith(undefined))).hits).toEqual(FORWARDS.toReversed())
})

it('gets only texts that the caller may read', async () => {
  const others = await createKnowledge(db)
  await others.unit('secret', 'The heron is a secret.')
  answer = ({ texts }) => ({ body: backwards(texts!) })
  await order(searchWith(undefined))
  expect(JSON.stringify(asked)).not.toContain('secret')
  await expect(
    know.ask('heron', { as: know.people.stranger, vectorSearch: searchWith(undefined) }),
  ).rejects.toMatchObject({ code: 'not_member' })
  expect(asked).toHaveLength(1)
})

it.each([
  ['an error', () => ({ status: 500, body: {} }), /unreachable/],
  ['a refusal', () => ({ status: 422, body: {} }), /usable answer/],
  ['nonsense', () => ({ body: { results: [{ index: 7, score: 1 }] } }), /usable answer/],
  [
    'no number',
    () => ({
      body: [
        { index: 0, score: 'x' },
        { index: 1, score: 1 },
      ],
    }),
    /usable answer/,
  ],
  ['a score too few', () => ({ body: [{ index: 0, score: 1 }] }), /usable answer/],
  ['nothing in time', () => undefined, /took too long/],
])('leaves the order with a warning after %s', async (_, reply, warning) => {
  answer = reply
  const found = await order(searchWith(undefined, 300))
  expect(found.hits).toEqual(FORWARDS)
  expect(found.warnings).toEqual([expect.stringMatching(warning)])
})

it('is not asked again at once after an outage', async () => {
  answer = () => ({ status: 503, body: {} })
  const vectorSearch = searchWith(undefined)
  for (let n = 0; n < 8; n++) await order(vectorSearch)
  const before = asked.length
  expect((await order(vectorSearch)).warnings).toEqual([expect.stringMatching(/unreachable/)])
  expect(asked).toHaveLength(before)
})
