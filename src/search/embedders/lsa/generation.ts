/** Generations of the embedder that needs no network: fitted on every chunk there is, kept in Postgres, read once a process. */
import type { Pool, Queryable } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { reached } from '../../stores/reached.ts'
import type { Embedder } from '../embedder.ts'
import { analysed, type Words, wordsOf } from '../words.ts'
import { fitBeside } from './beside.ts'
import { type Corpus, CorpusBuilder } from './corpus.ts'
import { decodeModel, encodeModel, type LsaModel, projectionOf } from './model.ts'

/** More than these add nothing that the projection would show: every second, third … is taken. */
const MOST_CHUNKS = 50_000
const PAGE = 2_000

export interface Generation {
  readonly generation_id: string
  readonly dimension: number
  readonly documents: number
  readonly terms: number
}

/** Reads every chunk of a unit, fits a model and keeps it. As vector_worker. */
export async function fitGeneration(pool: Pool, signal?: AbortSignal): Promise<Generation> {
  const corpus = await readCorpus(pool, signal)
  const model = await fitBeside(corpus, signal)
  const { rows } = await pool.query<{ generation_id: string }>(
    'select iu_core.fn_search_generation_add($1, $2, $3, $4, $5) as generation_id',
    ['lsa', model.dimension, model.documents, model.terms.length, encodeModel(model)],
  )
  const { dimension, documents, terms } = model
  return { generation_id: rows[0]!.generation_id, dimension, documents, terms: terms.length }
}

/** Words only, of all workspaces together; the texts stay where they are. */
async function readCorpus(db: Queryable, signal?: AbortSignal): Promise<Corpus> {
  const { rows: counted } = await db.query<{ chunks: number }>(
    'select count(*)::integer as chunks from iu_core.search_chunk where unit_id is not null',
  )
  const every = Math.ceil(counted[0]!.chunks / MOST_CHUNKS) || 1
  const corpus = new CorpusBuilder()
  for (let after = 0; ; ) {
    signal?.throwIfAborted()
    const { rows } = await db.query<{ chunk_no: number; lexemes: string[]; counts: number[] }>(
      `select c.chunk_no,
              array(select w.lexeme from unnest(a.words) as w) as lexemes,
              array(select cardinality(w.positions) from unnest(a.words) as w) as counts
         from (select * from iu_core.search_chunk
                where unit_id is not null and chunk_no > $1 and chunk_no % $2 = 0 order by chunk_no limit $3) as c
         join iu_core.unit_version v using (unit_version_id)
        cross join lateral (select ${analysed('substr(v.body, c.from_char + 1, c.to_char - c.from_char)')} as words
                            offset 0) as a
        order by c.chunk_no`,
      [after, every, PAGE],
    )
    for (const { lexemes, counts } of rows) corpus.add(lexemes, counts)
    if (rows.length < PAGE) return corpus.build()
    after = rows.at(-1)!.chunk_no
  }
}

/** Models are tens of megabytes and never change: each is read once, whichever of them is asked for. */
const loaded = new Map<string, Promise<LsaModel>>()
const MOST_LOADED = 3

export async function openLsaGeneration(pool: Pool, generationId: string): Promise<Embedder> {
  const model = loaded.get(generationId) ?? readModel(reached(pool), generationId)
  // The last to be asked for is the last to go.
  loaded.delete(generationId)
  loaded.set(generationId, model)
  for (const id of [...loaded.keys()].slice(0, -MOST_LOADED)) loaded.delete(id)
  model.catch(() => loaded.delete(generationId))
  return createLsaEmbedder(await model, generationId, wordsOf(pool))
}

async function readModel(db: Queryable, generationId: string): Promise<LsaModel> {
  const { rows } = await db.query<{ model: Buffer }>(
    'select model from iu_core.search_generation where generation_id = $1',
    [generationId],
  )
  const bytes = rows[0]?.model
  const unusable = (reason: string) =>
    new StagedoorError('embedder_not_configured', { embedder: 'lsa', reason })
  if (bytes === undefined) throw unusable(`its fitted model ${generationId} is not there`)
  try {
    return decodeModel(bytes)
  } catch (error) {
    throw unusable(`its fitted model ${generationId} cannot be read: ${(error as Error).message}`)
  }
}

/** By what a collection and its embedder know the same fit. */
export function namesOf(generationId: string, dimension: number): { model: string; fingerprint: string } {
  return { model: `lsa-1/${generationId}`, fingerprint: `lsa-1/${dimension} ${generationId} text` }
}

export function createLsaEmbedder(model: LsaModel, generationId: string, words: Words): Embedder {
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
