/** An OpenAI-compatible endpoint: how it is asked, and what every fault of it becomes. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Embedder } from '../../../src/search/embedders/embedder.ts'
import { EmbedderRefused, EmbedderUnavailable } from '../../../src/search/embedders/embedder.ts'
import { createOpenAiEmbedder } from '../../../src/search/embedders/openai.ts'
import { openEmbedder } from '../../../src/search/providers.ts'
import { useDatabase } from '../../support/database.ts'
import { workerPool } from '../stores/recorded.ts'
import { embedderConformance, TEXTS } from './conformance.ts'
import { answer, type Endpoint, startEndpoint } from './endpoint.ts'

const KEY = 'sk-nobody-prints-this'
const DIMENSION = 16
let endpoint: Endpoint
let embedder: Embedder
let spent: number[]

beforeAll(async () => {
  endpoint = await startEndpoint(DIMENSION)
})
afterAll(() => endpoint.close())
beforeEach(() => {
  spent = []
  endpoint.requests.length = 0
  endpoint.headers.length = 0
  embedder = open()
})
afterEach(() => endpoint.play(undefined))

function open(options: Partial<Parameters<typeof createOpenAiEmbedder>[0]> = {}): Embedder {
  return createOpenAiEmbedder({
    url: endpoint.url,
    apiKey: KEY,
    model: 'text-embedding-3-small',
    dimension: DIMENSION,
    timeoutMs: 30_000,
    onTokensSpent: async (tokens) => {
      spent.push(tokens)
    },
    ...options,
  })
}

/** What it is asked for, and nothing of it in what is said. */
async function failure(
  asked: Promise<unknown> = embedder.embed(TEXTS, 'passage'),
): Promise<EmbedderUnavailable> {
  const error = await asked.then(
    () => expect.fail('it answered'),
    (thrown) => thrown,
  )
  expect(JSON.stringify([error.stack, error.message, error.cause, { ...error }])).not.toMatch(
    new RegExp(`${KEY}|boundary|Refunds`),
  )
  return error
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

embedderConformance('the embedder openai', () => embedder)

describe('a request', () => {
  it('has the model, the dimension and the key, and nothing from the environment of others', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'of-somebody-else')
    vi.stubEnv('OPENAI_ORG_ID', 'of-somebody-else')
    vi.stubEnv('OPENAI_PROJECT_ID', 'of-somebody-else')
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1')
    await embedder.embed(TEXTS, 'passage')
    await open({ apiKey: undefined, model: 'bge-small' }).embed(TEXTS, 'query')
    vi.unstubAllEnvs()
    expect(endpoint.requests[0]).toMatchObject({
      model: 'text-embedding-3-small',
      dimensions: DIMENSION,
      input: TEXTS,
    })
    expect(endpoint.requests[1]).not.toHaveProperty('dimensions')
    expect(endpoint.headers[0]!.authorization).toBe(`Bearer ${KEY}`)
    expect(endpoint.headers[1]).not.toHaveProperty('authorization')
    expect(JSON.stringify(endpoint.headers)).not.toContain('of-somebody-else')
  })

  it('has at most 256 texts and not too many words', async () => {
    const short = Array.from({ length: 600 }, (_, at) => `text ${at}`)
    const vectors = await embedder.embed(short, 'passage')
    expect(endpoint.requests.map(({ input }) => input.length).sort()).toEqual([256, 256, 88].sort())
    expect(vectors[599]).toEqual((await embedder.embed(['text 599'], 'passage'))[0])
    endpoint.requests.length = 0
    await embedder.embed(
      Array.from({ length: 5 }, () => 'word '.repeat(20_000)),
      'passage',
    )
    expect(endpoint.requests.map(({ input }) => input.length)).toEqual([2, 2, 1])
  })

  it('runs beside one other, and no more', async () => {
    const { promise: second, resolve: arrived } = withResolvers()
    let atOnce: number | undefined
    endpoint.play(async () => {
      if (endpoint.requests.length === 2) arrived()
      await second
      // The first two are both still open.
      atOnce ??= endpoint.requests.length
      return undefined
    })
    await embedder.embed(
      Array.from({ length: 1_000 }, (_, at) => `text ${at}`),
      'passage',
    )
    expect(atOnce).toBe(2)
    expect(endpoint.requests).toHaveLength(4)
  })

  it('is counted with what it cost, also where the answer could not be used', async () => {
    await embedder.embed(TEXTS, 'passage')
    endpoint.play(({ input }) => ({ body: answer(input.slice(1), DIMENSION) }))
    await failure()
    endpoint.play(({ input }) => ({ body: { ...answer(input, DIMENSION), usage: undefined } }))
    await embedder.embed(['eight by'], 'passage')
    expect(spent).toEqual([21, 14, 2])
  })

  it('is not lost because its cost could not be written down', async () => {
    const careless = open({ onTokensSpent: () => Promise.reject(new Error('no database')) })
    expect(await careless.embed(TEXTS, 'passage')).toHaveLength(3)
  })
})

describe('an outage', () => {
  it('is recognised by 429, 5xx, a wrong key and a missing model, after one attempt', async () => {
    for (const status of [401, 403, 404, 408, 429, 500, 502, 503, 529]) {
      endpoint.requests.length = 0
      endpoint.play(() => ({
        status,
        body: { error: { message: `Key ${KEY}: ${TEXTS[0]}`, code: 'some_code' } },
      }))
      const error = await failure()
      expect(error).toBeInstanceOf(EmbedderUnavailable)
      expect(error.message).toContain(`${status} (some_code)`)
      expect(error.retryAfterMs).toBeUndefined()
      // Too many requests are never the fault of a text; of any other answer nobody knows.
      expect(error.answered).toBe(status !== 429)
      expect(endpoint.requests).toHaveLength(1)
    }
  })

  it('says when to come back, in seconds or as a date', async () => {
    const waitFor = async (value: string) => {
      endpoint.play(() => ({ status: 429, headers: { 'retry-after': value } }))
      return (await failure()).retryAfterMs
    }
    expect(await waitFor('7')).toBe(7_000)
    const soon = await waitFor(new Date(Date.now() + 60_000).toUTCString())
    expect(soon).toBeGreaterThan(50_000)
    expect(soon).toBeLessThanOrEqual(60_000)
    expect(await waitFor(new Date(Date.now() - 60_000).toUTCString())).toBe(0)
    expect(await waitFor('whenever')).toBeUndefined()
    endpoint.play(() => ({ status: 429, headers: { 'retry-after-ms': '250' } }))
    expect((await failure()).retryAfterMs).toBe(250)
    endpoint.play(() => ({ status: 503, headers: { 'retry-after': '7' } }))
    expect((await failure()).answered).toBe(false)
  })

  it('is recognised by a connection that is refused, cut or silent', async () => {
    expect(await failure(open({ url: 'http://127.0.0.1:1/v1' }).embed(TEXTS, 'query'))).toBeInstanceOf(
      EmbedderUnavailable,
    )
    endpoint.play(() => 'cut')
    expect(await failure()).toMatchObject({ name: 'EmbedderUnavailable', answered: false })
    endpoint.play(() => 'hang')
    expect(await failure(open({ timeoutMs: 50 }).embed(TEXTS, 'query'))).toBeInstanceOf(EmbedderUnavailable)
  })

  it('is not what a question that nobody waits for any more ends with', async () => {
    endpoint.play(() => 'hang')
    const stop = new AbortController()
    const asked = embedder.embed(TEXTS, 'query', stop.signal)
    stop.abort(new Error('nobody waits'))
    await expect(asked).rejects.toThrow('nobody waits')
  })
})

describe('a refusal', () => {
  it('is recognised by 400, 413 and 422', async () => {
    for (const status of [400, 413, 422]) {
      endpoint.play(() => ({
        status,
        body: { error: { message: `too long: ${TEXTS[1]}`, code: 'too_long' } },
      }))
      const error = await failure()
      expect(error).toBeInstanceOf(EmbedderRefused)
      expect(error.message).toContain(`${status} (too_long)`)
    }
  })

  type Data = ReturnType<typeof answer>['data']
  const WRONG: Record<string, (data: Data) => unknown> = {
    'fewer vectors': (data) => data.slice(1),
    'more vectors': (data) => [...data, data[0]],
    'another dimension': (data) => data.map((entry) => ({ ...entry, embedding: entry.embedding.slice(1) })),
    'one of another dimension': ([first, ...others]) => [{ ...first, embedding: [1] }, ...others],
    'nulls where JSON has no NaN': ([first, ...others]) => [
      { ...first, embedding: Array(DIMENSION).fill(null) },
      ...others,
    ],
    'numbers that are infinite as float32': ([first, ...others]) => [
      { ...first, embedding: Array(DIMENSION).fill(1e300) },
      ...others,
    ],
    'a vector of zeros': ([first, ...others]) => [
      { ...first, embedding: Array(DIMENSION).fill(0) },
      ...others,
    ],
    'the same index twice': (data) => data.map((entry) => ({ ...entry, index: 0 })),
    'an index beyond': (data) => data.map((entry) => ({ ...entry, index: entry.index + 1 })),
    'texts for vectors': (data) => data.map((entry) => ({ ...entry, embedding: 'abcd' })),
    'nulls for vectors': (data) => data.map(() => null),
    'no list': () => ({ vectors: 'elsewhere' }),
    nothing: () => undefined,
  }
  for (const [what, changed] of Object.entries(WRONG)) {
    it(`is recognised by an answer with ${what}`, async () => {
      endpoint.play(({ input }) => {
        const right = answer(input, DIMENSION)
        return { body: { ...right, data: changed(right.data) } }
      })
      expect(await failure()).toBeInstanceOf(EmbedderRefused)
    })
  }

  it('is recognised by an answer that is no JSON', async () => {
    endpoint.play(() => ({ body: '<html>Welcome to nginx</html>', headers: { 'content-type': 'text/html' } }))
    expect(await failure()).toBeInstanceOf(EmbedderRefused)
  })
})

describe('opened by a collection', () => {
  const db = useDatabase()
  const pool = workerPool(db)
  const row = {
    collection: 'units_2',
    embedder: 'openai',
    model: 'text-embedding-3-small',
    dimension: DIMENSION,
    generation_id: null,
  }

  it('counts what it cost for the day', async () => {
    const opened = await openEmbedder(row, { embeddingsUrl: endpoint.url, embeddingsApiKey: KEY }, { pool })
    await opened.embed(TEXTS, 'passage')
    await opened.embed(TEXTS, 'query')
    expect(
      await db.owner(
        `select embedder, model, requests::integer, tokens::integer from iu_core.search_cost
          where day = (now() at time zone 'UTC')::date`,
      ),
    ).toEqual([{ embedder: 'openai', model: 'text-embedding-3-small', requests: 2, tokens: 42 }])
  })

  it('says what is missing', async () => {
    const without = { embeddingsUrl: undefined, embeddingsApiKey: undefined }
    const refusal = (reason: string) => ({
      code: 'embedder_not_configured',
      message: expect.stringContaining(reason),
    })
    await expect(openEmbedder(row, without, { pool })).rejects.toMatchObject(
      refusal('EMBEDDINGS_URL is not set'),
    )
    await expect(
      openEmbedder(row, { ...without, embeddingsUrl: 'https://me:secret@host/v1' }, { pool }),
    ).rejects.toMatchObject(refusal('EMBEDDINGS_API_KEY'))
    await expect(openEmbedder({ ...row, embedder: 'lsa' }, without, { pool })).rejects.toMatchObject(
      refusal('no fitted model'),
    )
    await expect(openEmbedder({ ...row, embedder: 'none' }, without, { pool })).rejects.toMatchObject(
      refusal('no embedder of this name'),
    )
  })
})
