/** Generations of the LSA embedder: each is a model fitted on all chunks, stored in PostgreSQL, and loaded once per process. */

import { StagedoorError } from '../../../kernel/errors.ts'
import type { Pool, Queryable } from '../../../kernel/postgres/connection.ts'
import { withStoreErrors } from '../../stores/store.ts'
import { type CountWords, countLexemes, createWordCounter, type Embedder, lexemesSql } from '../embedder.ts'
import {
  type Corpus,
  CorpusBuilder,
  decodeModel,
  encodeModel,
  fitInThread,
  type LsaModel,
  projectionOf,
} from './fit.ts'

/** More add nothing: beyond it, every second, third … chunk is used. */
const MAX_FITTED_CHUNKS = 50_000
const PAGE = 2_000

export interface Generation {
  readonly generation_id: string
  readonly dimension: number
  readonly documents: number
  readonly terms: number
}

/** Fits a model on the chunks of all units and stores it. As vector_worker. */
export async function fitGeneration(pool: Pool, signal?: AbortSignal): Promise<Generation> {
  const corpus = await readCorpus(pool, signal)
  const model = await fitInThread(corpus, signal)
  const { rows } = await pool.query<{ generation_id: string }>(
    'select iu_core.fn_search_generation_add($1, $2, $3, $4, $5) as generation_id',
    ['lsa', model.dimension, model.documents, model.terms.length, encodeModel(model)],
  )
  const { dimension, documents, terms } = model
  return { generation_id: rows[0]!.generation_id, dimension, documents, terms: terms.length }
}

/** Only lexemes leave the database, of all workspaces together. */
async function readCorpus(db: Queryable, signal?: AbortSignal): Promise<Corpus> {
  const { rows: counted } = await db.query<{ chunks: number }>(
    'select count(*)::integer as chunks from iu_core.search_chunk where unit_id is not null',
  )
  const every = Math.ceil(counted[0]!.chunks / MAX_FITTED_CHUNKS) || 1
  const corpus = new CorpusBuilder()
  for (let after = 0; ; ) {
    signal?.throwIfAborted()
    const { rows } = await db.query<{ chunk_no: number; words: string }>(
      `select c.chunk_no, ${lexemesSql('substr(v.body, c.from_char + 1, c.to_char - c.from_char)')} as words
         from (select * from iu_core.search_chunk
                where unit_id is not null and chunk_no > $1 and chunk_no % $2 = 0 order by chunk_no limit $3) as c
         join iu_core.unit_version v using (unit_version_id)
        order by c.chunk_no`,
      [after, every, PAGE],
    )
    for (const { words } of rows) {
      const counts = countLexemes(words)
      corpus.add(counts.keys(), counts.values())
    }
    if (rows.length < PAGE) return corpus.build()
    after = rows.at(-1)!.chunk_no
  }
}

/** Models have tens of megabytes and never change: each is loaded once. */
const loaded = new Map<string, Promise<LsaModel>>()
const MAX_LOADED_MODELS = 3

export async function openLsaGeneration(pool: Pool, generationId: string): Promise<Embedder> {
  const model = loaded.get(generationId) ?? readModel(withStoreErrors(pool), generationId)
  // Least recently used models are dropped first.
  loaded.delete(generationId)
  loaded.set(generationId, model)
  for (const id of [...loaded.keys()].slice(0, -MAX_LOADED_MODELS)) loaded.delete(id)
  model.catch(() => loaded.delete(generationId))
  return createLsaEmbedder(await model, generationId, createWordCounter(pool))
}

async function readModel(db: Queryable, generationId: string): Promise<LsaModel> {
  const { rows } = await db.query<{ model: Buffer }>(
    'select model from iu_core.search_generation where generation_id = $1',
    [generationId],
  )
  const bytes = rows[0]?.model
  const unusable = (reason: string) =>
    new StagedoorError('embedder_not_configured', { embedder: 'lsa', reason })
  if (bytes === undefined) throw unusable(`its fitted model ${generationId} does not exist`)
  try {
    return decodeModel(bytes)
  } catch (error) {
    throw unusable(`its fitted model ${generationId} cannot be read: ${(error as Error).message}`)
  }
}

/** Of how words are counted: a model of another version does not know the words of a question. */
export const LSA_MODEL = 'lsa-2'

/** Model name and fingerprint of a generation, for the collection and its embedder. */
export function namesOf(generationId: string, dimension: number): { model: string; fingerprint: string } {
  return {
    model: `${LSA_MODEL}/${generationId}`,
    fingerprint: `${LSA_MODEL}/${dimension} ${generationId} text`,
  }
}

export function createLsaEmbedder(model: LsaModel, generationId: string, words: CountWords): Embedder {
  const project = projectionOf(model)
  return {
    name: 'lsa',
    ...namesOf(generationId, model.dimension),
    dimension: model.dimension,
    async embed(texts, use, signal) {
      signal?.throwIfAborted()
      if (texts.length === 0) return []
      return (await words(texts)).map((counts) => project(counts, use))
    },
  }
}
