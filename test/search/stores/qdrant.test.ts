/** Vectors in Qdrant: against a small server of its REST interface, and the same against a real one where QDRANT_URL is set. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openLegacyReader } from '../../../src/search/legacy.ts'
import { openStore } from '../../../src/search/providers.ts'
import { createQdrantStore } from '../../../src/search/stores/qdrant.ts'
import { StoreUnavailable, type VectorStore } from '../../../src/search/stores/store.ts'
import { DIMENSION, pointOf, storeConformance, vectorOf } from './conformance.ts'
import { type QdrantServer, startQdrant } from './qdrant-server.ts'

const KEY = 'a-key-that-nobody-prints'
const states = new Map<string, string>()
const workspaces = [randomUUID(), randomUUID()] as const
let server: QdrantServer
let store: VectorStore

beforeAll(async () => {
  server = await startQdrant()
  store = open(server.url)
})
afterAll(() => server.close())

function open(url: string, timeoutMs = 30_000): VectorStore {
  return createQdrantStore({ url, apiKey: KEY, timeoutMs, stateOf: async (name) => states.get(name) })
}

const under = (of: () => VectorStore) => () => ({
  store: of(),
  workspaces,
  register: async (collection: string, _dimension: number, state = 'active') => {
    states.set(collection, state)
  },
  record: async () => {},
})

storeConformance(
  'the store qdrant',
  under(() => store),
)

const real = process.env.QDRANT_URL
if (real) {
  const itself = createQdrantStore({
    url: real,
    apiKey: process.env.QDRANT_API_KEY,
    stateOf: async (name) => states.get(name),
  })
  afterAll(async () => {
    for (const [name, state] of states) if (state !== 'legacy') await itself.drop(name)
  })
  storeConformance(
    'a real Qdrant',
    under(() => itself),
  )
}

describe('towards the server', () => {
  beforeEach(async () => {
    states.set('wire', 'active')
    await store.ensure('wire', DIMENSION)
    server.requests.length = 0
  })
  afterEach(() => server.fail(undefined))

  it('waits for writes, and sends at most a thousand points at once', async () => {
    await store.upsert(
      'wire',
      Array.from({ length: 2_001 }, (_, seed) => pointOf(workspaces[0], seed)),
    )
    expect(server.requests).toEqual(Array(3).fill('PUT /collections/wire/points?wait=true'))
    await store.drop('wire')
  })

  it('has an index of the workspace', () => {
    expect([...server.collections.get('wire')!.indexed]).toEqual(['workspace_id'])
  })

  it('sends the key in a header, and answers below the path of the URL', async () => {
    await expect(open(`${server.url}/behind/a/proxy/`).scroll('wire')).rejects.toThrow(StoreUnavailable)
    expect(server.requests).toEqual(['POST /behind/a/proxy/collections/wire/points/scroll'])
    expect(server.headers['api-key']).toBe(KEY)
  })

  const EVERYTHING: Record<string, (of: VectorStore) => Promise<unknown>> = {
    ensure: (of) => of.ensure('wire', DIMENSION),
    upsert: (of) => of.upsert('wire', [pointOf(workspaces[0], 1)]),
    remove: (of) => of.remove('wire', [randomUUID()]),
    nearest: (of) => of.nearest('wire', vectorOf(1), { limit: 1, workspace: workspaces[0] }),
    score: (of) =>
      of.score!('wire', vectorOf(1), [randomUUID()], { workspace: workspaces[0] }).then(() => {}),
    vectors: (of) => of.vectors('wire', [randomUUID()]),
    scroll: (of) => of.scroll('wire'),
    drop: (of) => of.drop('wire'),
  }
  for (const [method, ask] of Object.entries(EVERYTHING)) {
    it(`${method} says of an outage that it is one, without the key`, async () => {
      for (const status of [401, 429, 500, 503]) {
        server.fail(status)
        const error = await ask(store).catch((thrown: Error) => thrown)
        expect(error).toBeInstanceOf(StoreUnavailable)
        expect((error as Error).message).toContain(String(status))
        expect(String((error as Error).stack)).not.toContain(KEY)
      }
      server.fail('hang')
      await expect(ask(open(server.url, 50))).rejects.toThrow(StoreUnavailable)
      await expect(ask(open('http://127.0.0.1:1'))).rejects.toThrow(StoreUnavailable)
    })
  }

  it('a collection that was lost is an outage for who searches it', async () => {
    await store.drop('wire')
    await expect(EVERYTHING.nearest!(store)).rejects.toThrow(StoreUnavailable)
  })

  it('gives up waiting when nobody waits for it', async () => {
    server.fail('hang')
    const stop = new AbortController()
    const asked = store.nearest('wire', vectorOf(1), {
      limit: 1,
      workspace: workspaces[0],
      signal: stop.signal,
    })
    stop.abort(new Error('nobody waits'))
    await expect(asked).rejects.toThrow('nobody waits')
  })
})

describe('the collection of the old knowledge base', () => {
  const config = () => ({ qdrantUrl: server.url, qdrantApiKey: undefined })

  it('is not there without a server', () => {
    expect(openLegacyReader({ qdrantUrl: undefined, qdrantApiKey: undefined })).toBeUndefined()
    expect(() => openStore('qdrant', { qdrantUrl: undefined, qdrantApiKey: undefined }, {} as never)).toThrow(
      expect.objectContaining({ code: 'store_not_configured' }),
    )
  })

  it('is read: which documents its points are of, and nothing else of their payload', async () => {
    const reader = openLegacyReader(config())!
    expect(await reader.dimension()).toBeUndefined()
    const document = randomUUID()
    const point = (id: string, seed: number, document_id: string) =>
      [id, { vector: Array.from(vectorOf(seed)), payload: { document_id, text: 'old' } }] as const
    const near = randomUUID()
    server.collections.set('production_documents', {
      size: DIMENSION,
      indexed: new Set(),
      points: new Map([point(near, 1, document), point(randomUUID(), 2, randomUUID())]),
    })
    expect(await reader.dimension()).toBe(DIMENSION)
    expect(await reader.nearest(vectorOf(1), { limit: 1 })).toEqual({ points: 1, documents: [document] })
    expect(await reader.nearest(vectorOf(1), { limit: 9 })).toMatchObject({ points: 2 })
  })
})
