/** What a question gets when the embedder, the store or the old knowledge base's vectors are away, slow or not set up. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createVectorSearch, type SearchConfig } from '../../src/search/vector-search.ts'
import { useDatabase } from '../support/database.ts'
import { type Endpoint, startEndpoint } from './embedders/endpoint.ts'
import { createKnowledge, type Knowledge, NOTHING_CONFIGURED } from './knowledge.ts'
import { type QdrantServer, startQdrant } from './stores/qdrant-server.ts'

const db = useDatabase()
const DIMENSION = 1536
let know: Knowledge
let endpoint: Endpoint
let qdrant: QdrantServer
let unit: string
let configured: SearchConfig
const opened: ReturnType<typeof createVectorSearch>[] = []

beforeAll(async () => {
  endpoint = await startEndpoint(DIMENSION)
  qdrant = await startQdrant()
  configured = { ...NOTHING_CONFIGURED, embeddingsUrl: endpoint.url, qdrantUrl: qdrant.url }
  know = await createKnowledge(db)
  unit = await know.unit('handbook/leave', 'Every employee has 28 days of leave.')
})
beforeEach(async () => {
  endpoint.play(undefined)
  qdrant.fail(undefined)
  await useCollection('openai', 'postgres')
})
afterAll(async () => {
  for (const one of opened) await one.close()
  await endpoint.close()
  await qdrant.close()
})

async function useCollection(embedder: string, store: string, name = 'units_1'): Promise<void> {
  await db.owner(`update iu_core.search_collection set state = 'retired' where state = 'active'`)
  await db.owner(
    `insert into iu_core.search_collection (collection, source_kind, state, embedder, model, dimension, store, fingerprint)
     values ($1, 'information_unit', 'active', $2, 'text-embedding-3-small', ${DIMENSION}, $3, 'test')
     on conflict (collection) do update set state = 'active', embedder = excluded.embedder, store = excluded.store`,
    [name, embedder, store],
  )
}

/** As a process that has just started. */
function fresh(config: SearchConfig = configured, budgetMs = 10_000) {
  const one = createVectorSearch({ pool: db.pool('stagedoor_worker'), config, budgetMs })
  opened.push(one)
  return one
}

describe('the answer comes from the words, with a warning that says what to do', () => {
  const asked = async (one = fresh()) => {
    const { hits, warnings, legs } = await know.ask('days of leave', { vectorSearch: one })
    expect(hits).toMatchObject([{ unit_id: unit, legs: { lexical: 1 } }])
    return { warnings, dense: legs.dense }
  }

  it('where the embedder answers nothing within its time', async () => {
    endpoint.play(() => 'hang')
    const began = performance.now()
    expect(await asked(fresh(configured, 300))).toEqual({
      dense: 'unavailable',
      warnings: ['Keyword hits only: the embedder took too long. Search again for hits by meaning.'],
    })
    // By itself the embedder would be waited for thirty seconds.
    expect(performance.now() - began).toBeLessThan(15_000)
  })

  it('where the embedder is down, and the next questions do not wait for it', async () => {
    endpoint.play(() => ({ status: 503 }))
    const one = fresh()
    expect(await asked(one)).toMatchObject({
      dense: 'unavailable',
      warnings: [expect.stringMatching(/embedder is unreachable\. Search again later/)],
    })
    const before = endpoint.requests.length
    expect(await asked(one)).toMatchObject({ dense: 'unavailable', warnings: [expect.any(String)] })
    expect(endpoint.requests.length).toBe(before)
  })

  it.each([
    ['another dimension', () => ({ body: { data: [{ index: 0, embedding: [1, 2] }] } })],
    [
      'something that is no number',
      () => ({ body: { data: [{ index: 0, embedding: Array(DIMENSION).fill(null) }] } }),
    ],
    ['another count', () => ({ body: { data: [] } })],
  ])('where the embedder answers with %s', async (_, reply) => {
    endpoint.play(reply)
    expect(await asked()).toMatchObject({
      dense: 'unavailable',
      warnings: [expect.stringMatching(/^Keyword hits only: the embedder/)],
    })
  })

  it('where the embedder is not set up in this process', async () => {
    expect(await asked(fresh(NOTHING_CONFIGURED))).toMatchObject({
      dense: 'unavailable',
      warnings: [expect.stringMatching(/not configured here\. `stagedoor search status`/)],
    })
  })

  it('where the vector store is down', async () => {
    await useCollection('openai', 'qdrant')
    qdrant.fail(503)
    expect(await asked()).toMatchObject({
      dense: 'unavailable',
      warnings: [expect.stringMatching(/vector store is unreachable/)],
    })
  })

  it('where only hashed words could be asked: they say nothing that the words do not', async () => {
    await useCollection('hashed', 'postgres')
    expect(await asked()).toEqual({ dense: 'off', warnings: [] })
  })
})

describe('a process that goes on', () => {
  it('asks the embedder of the collection that became the active one', async () => {
    const one = fresh()
    expect((await know.ask('leave', { vectorSearch: one })).legs.dense).toBe(0)
    const before = endpoint.requests.length
    await useCollection('openai', 'postgres', 'units_2')
    await db.owner(
      `update iu_core.search_collection set model = 'another-model' where collection = 'units_2'`,
    )
    await know.ask('leave', { vectorSearch: one })
    expect(endpoint.requests.slice(before).map(({ model }) => model)).toEqual(['another-model'])
  })

  it('spends nothing for somebody who may not ask', async () => {
    const before = endpoint.requests.length
    await expect(
      know.ask('leave', { as: know.people.stranger, vectorSearch: fresh() }),
    ).rejects.toMatchObject({
      code: 'not_member',
    })
    expect(endpoint.requests.length).toBe(before)
  })
})

describe('the vectors of the old knowledge base', () => {
  /** As whoever filled it: these documents, all of them equally near. */
  const holding = (...documents: string[]) =>
    qdrant.collections.set('production_documents', {
      size: DIMENSION,
      points: new Map(
        documents.map((document_id, at) => [
          String(at),
          { id: String(at), vector: Array.from({ length: DIMENSION }, () => 1), payload: { document_id } },
        ]),
      ),
    } as never)
  const legacyAsked = () => qdrant.requests.filter((one) => one.includes('production_documents')).length

  it('find what its words do not, and what is unknown here stays unknown', async () => {
    const wiki = await know.document('wiki/parking', 'Cars stand behind the house.')
    holding('wiki/parking', 'wiki/of-others')
    const { hits, warnings } = await know.ask('automobile', { vectorSearch: fresh() })
    expect(hits).toMatchObject([
      { source: 'document', document_id: wiki, legs: { dense: 1 }, freshness: 'current' },
    ])
    expect(warnings).toEqual([])
    const writes = qdrant.requests.filter(
      (request) => !/^POST .*\/points\/(query|scroll)|^GET /.test(request),
    )
    expect(writes.filter((request) => request.includes('production_documents'))).toEqual([])
  })

  it('keep to the filters, as the words do', async () => {
    holding('wiki/parking')
    const ask = async (filters: object) =>
      (await know.ask('automobile', { vectorSearch: fresh(), filters })).hits.map(({ source }) => source)
    expect(await ask({ language: 'en' })).toEqual(['document'])
    expect(await ask({ language: 'vi' })).toEqual([])
    expect(await ask({ source: 'document', language: ['vi', 'en'] })).toEqual(['document'])
    expect(await ask({ source: 'document', language: 'vi' })).toEqual([])
  })

  it('are not asked for what must be there word for word', async () => {
    holding('wiki/parking')
    const before = legacyAsked()
    expect((await know.ask('"purple elephants"', { vectorSearch: fresh() })).hits).toEqual([])
    expect(legacyAsked()).toBe(before)
  })

  it('are asked for more where those of others come first', async () => {
    holding(...Array.from({ length: 500 }, (_, at) => `of-others/${at}`), 'wiki/parking')
    expect((await know.ask('automobile', { vectorSearch: fresh() })).hits).toMatchObject([
      { source: 'document' },
    ])
  })

  it('unavailable: its text answers, with a warning', async () => {
    qdrant.fail(503)
    const { hits, warnings } = await know.ask('cars', { vectorSearch: fresh() })
    expect(hits).toMatchObject([{ source: 'document' }])
    expect(warnings).toEqual([
      expect.stringMatching(/searched by keywords only: its vectors are unreachable/),
    ])
  })

  it('unavailable: the next questions do not wait for them', async () => {
    await useCollection('hashed', 'postgres')
    holding('wiki/parking')
    endpoint.play(() => 'hang')
    const one = fresh(configured, 200)
    const before = endpoint.requests.length
    for (let times = 0; times < 3; times++)
      expect((await know.ask('cars', { vectorSearch: one })).warnings).toEqual([
        expect.stringMatching(/its vectors are unreachable/),
      ])
    expect(endpoint.requests.length).toBe(before + 1)
  })

  it('get the beginning of a long question, and one that is refused says so', async () => {
    await useCollection('hashed', 'postgres')
    holding('wiki/parking')
    const before = endpoint.requests.length
    await know.ask('cars and '.repeat(5000), { vectorSearch: fresh() })
    expect(endpoint.requests.slice(before).map(({ input }) => input[0]!.length)).toEqual([8000])
    endpoint.play(() => ({ status: 400 }))
    expect((await know.ask('cars', { vectorSearch: fresh() })).warnings).toEqual([
      expect.stringMatching(/its embedder rejected this question/),
    ])
  })

  it('are asked with the model that they were made by, or not at all', async () => {
    await useCollection('hashed', 'postgres')
    holding('wiki/parking')
    const [requests, reads] = [endpoint.requests.length, legacyAsked()]
    const other = { ...configured, embeddingsModel: 'text-embedding-ada-002' }
    expect((await know.ask('cars', { vectorSearch: fresh(other) })).warnings).toEqual([
      expect.stringMatching(/its embedder \(text-embedding-3-small\) and Qdrant are not configured/),
    ])
    expect([endpoint.requests.length, legacyAsked()]).toEqual([requests, reads])
    const prefixed = { ...configured, embeddingsModel: 'openai/text-embedding-3-small' }
    expect((await know.ask('cars', { vectorSearch: fresh(prefixed) })).warnings).toEqual([])
    expect(endpoint.requests.slice(requests).map(({ model }) => model)).toEqual([
      'openai/text-embedding-3-small',
    ])
  })

  it('of another size than they should have are not asked', async () => {
    await useCollection('hashed', 'postgres')
    qdrant.collections.set('production_documents', { size: 3, points: new Map() } as never)
    const before = endpoint.requests.length
    expect((await know.ask('cars', { vectorSearch: fresh() })).warnings).toEqual([
      expect.stringMatching(/searched by keywords only/),
    ])
    expect(endpoint.requests.length).toBe(before)
  })

  it('share the vector of the question with the units’ where the model is the same', async () => {
    holding('wiki/parking')
    const before = endpoint.requests.length
    const { hits } = await know.ask('automobile', { vectorSearch: fresh() })
    expect(hits).toMatchObject([{ source: 'document', legs: { dense: 1 } }])
    expect(endpoint.requests.length).toBe(before + 1)
  })
})
