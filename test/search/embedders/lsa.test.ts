/** The embedder that is fitted on the corpus itself. */
import { beforeAll, describe, expect, it } from 'vitest'
import { createWordCounter, type Embedder } from '../../../src/search/embedders/embedder.ts'
import {
  type Corpus,
  CorpusBuilder,
  decodeModel,
  encodeModel,
  fitLsa,
  projectionOf,
} from '../../../src/search/embedders/lsa/fit.ts'
import { createLsaEmbedder, fitGeneration } from '../../../src/search/embedders/lsa/generation.ts'
import { openEmbedder } from '../../../src/search/providers.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { workerPool } from '../stores/recorded.ts'
import { embedderConformance, TEXTS } from './conformance.ts'

const db = useDatabase()
const pool = workerPool(db)
const CONFIG = { embeddingsUrl: undefined, embeddingsApiKey: undefined }

/** Two subjects whose words go together; `car` and `automobile` are never in one text. */
const BODIES = [
  ...['car', 'automobile'].flatMap((thing) =>
    Array.from(
      { length: 12 },
      (_, at) => `The ${thing} has an engine, wheels and a driver on road ${at % 4}.`,
    ),
  ),
  ...Array.from({ length: 24 }, (_, at) => `Bake bread with flour, yeast, salt and water in oven ${at % 4}.`),
]

const counted = (text: string) => {
  const counts = new Map<string, number>()
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
const corpusOf = (texts: readonly string[]): Corpus => {
  const builder = new CorpusBuilder()
  for (const text of texts) builder.add(counted(text).keys(), counted(text).values())
  return builder.build()
}
const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * b[at]!, 0)

let fitted: Embedder
beforeAll(() => {
  const words = createWordCounter(pool)
  fitted = createLsaEmbedder(fitLsa(corpusOf([...BODIES, ...TEXTS, ...TEXTS])), 'a-generation', words)
})
embedderConformance('the embedder lsa', () => fitted)

describe('a fit', () => {
  const project = projectionOf(fitLsa(corpusOf(BODIES), 5))
  const similarity = (a: string, b: string) =>
    cosine(project(counted(a), 'query'), project(counted(b), 'passage'))

  it('brings together what is said in other words', () => {
    expect(similarity('automobile', 'The car on the road')).toBeGreaterThan(0.5)
    expect(similarity('automobile', 'Bake bread with yeast')).toBeLessThan(0.3)
  })

  it('finds nothing for words that it does not know', () => {
    expect(similarity('zeppelin', 'The car on the road')).toBe(0)
    expect(similarity('zeppelin', 'airship')).toBe(-1)
  })

  it('is the same for the same texts, bit for bit, and through its bytes', () => {
    const model = fitLsa(corpusOf(BODIES), 10)
    const bytes = encodeModel(model)
    expect(encodeModel(fitLsa(corpusOf(BODIES), 10)).equals(bytes)).toBe(true)
    expect(decodeModel(Buffer.concat([Buffer.alloc(1), bytes]).subarray(1))).toEqual(model)
    expect(() => decodeModel(bytes.subarray(0, -1))).toThrow('cut off')
    expect(() => decodeModel(Buffer.concat([Buffer.from([9]), bytes.subarray(1)]))).toThrow('version 1')
  })

  it('works on next to nothing', () => {
    for (const texts of [[], ['one'], ['one', 'one'], ['', ''], ['one two', 'two one', 'three three']]) {
      const model = fitLsa(corpusOf(texts), 10)
      expect([...model.projection].every(Number.isFinite)).toBe(true)
      expect(
        Math.hypot(...projectionOf(decodeModel(encodeModel(model)))(counted('one two'), 'passage')),
      ).toBeCloseTo(1)
    }
  })

  it('has directions of length one that do not overlap, the strongest first', () => {
    const { terms, projection } = fitLsa(
      corpusOf(BODIES.map((body, at) => `${body} w${at % 11} v${at % 7}`)),
      9,
    )
    const axis = (at: number) => Float32Array.from(terms, (_, term) => projection[term * 9 + at]!)
    for (let a = 0; a < 8; a++) {
      for (let b = 0; b <= a; b++) expect(cosine(axis(a), axis(b))).toBeCloseTo(a === b ? 1 : 0, 4)
    }
  })
})

describe('a generation', () => {
  beforeAll(async () => {
    const workspace = await createWorkspace(db)
    const operator = await createMember(db, workspace, 'operator')
    const units = BODIES.map((body, at) => ({ canonical_address: `handbook/u${at}`, body: `${body} Straße` }))
    await db.as(operator, (client) =>
      client.query('select iu_core.fn_unit_create_batch($1, $2)', [workspace, JSON.stringify(units)]),
    )
    await db.owner(
      `insert into iu_core.search_chunk (chunk_id, workspace_id, unit_id, unit_version_id, content_hash_at_embedding, position,
                                         from_char, to_char, text_hash, language, lexeme_ids, lexeme_counts, length, words)
       select gen_random_uuid(), u.workspace_id, u.unit_id, u.current_version_id, u.content_hash, 0,
              0, length(v.body) - 7, '\\x00', 'en', '{}', '{}', 1, ''
         from iu_core.information_unit u join iu_core.unit_version v on v.unit_version_id = u.current_version_id`,
    )
  })

  it('is fitted on the chunks there are, kept, and opened by its collection', async () => {
    const generation = await fitGeneration(pool)
    expect(generation).toMatchObject({ documents: BODIES.length, dimension: 200 })
    const row = {
      collection: 'units_2',
      embedder: 'lsa',
      model: null,
      dimension: 200,
      generation_id: generation.generation_id,
    }
    const embedder = await openEmbedder(row, CONFIG, { pool })
    const [query] = await embedder.embed(['engines and wheels'], 'query')
    const [car, bread, outside] = await embedder.embed(
      ['A car with wheels', 'Bread from the oven', 'Straße'],
      'passage',
    )
    expect(cosine(query!, car!)).toBeGreaterThan(cosine(query!, bread!) + 0.3)
    // Only what is inside the chunk counts.
    expect(cosine(query!, outside!)).toBe(0)
    expect(embedder.fingerprint).toContain(generation.generation_id)
  })

  it('is read once a process', async () => {
    const { generation_id } = await fitGeneration(pool)
    const row = { collection: 'units_3', embedder: 'lsa', model: null, dimension: 200, generation_id }
    const first = await openEmbedder(row, CONFIG, { pool })
    await db.owner('delete from iu_core.search_generation where generation_id = $1', [generation_id])
    const again = await openEmbedder(row, CONFIG, { pool })
    expect(await again.embed(TEXTS, 'query')).toEqual(await first.embed(TEXTS, 'query'))
  })

  it('that is not there, or is not one, says so', async () => {
    const row = { collection: 'units_4', embedder: 'lsa', model: null, dimension: 200 }
    const missing = '018f0000-0000-7000-8000-000000000000'
    await expect(openEmbedder({ ...row, generation_id: missing }, CONFIG, { pool })).rejects.toMatchObject({
      code: 'embedder_not_configured',
      message: expect.stringContaining('does not exist'),
    })
    const [broken] = await db.owner<{ id: string }>(
      `insert into iu_core.search_generation (embedder, dimension, documents, terms, model)
       values ('lsa', 200, 1, 1, '\\x00') returning generation_id as id`,
    )
    await expect(openEmbedder({ ...row, generation_id: broken!.id }, CONFIG, { pool })).rejects.toMatchObject(
      {
        code: 'embedder_not_configured',
        message: expect.stringContaining('cannot be read'),
      },
    )
  })
})
