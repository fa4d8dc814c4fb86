/** Opens the embedder that a collection names. The row says what it is of, the configuration how it is reached. */
import type { Config } from '../../config.ts'
import type { Pool } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import type { Embedder } from './embedder.ts'
import { createHashedEmbedder } from './hashed.ts'
import { openLsaGeneration } from './lsa/generation.ts'
import { createOpenAiEmbedder } from './openai.ts'
import { wordsOf } from './words.ts'

/** Of search_collection. */
export interface EmbeddingCollection {
  readonly collection: string
  readonly embedder: string
  readonly model: string | null
  readonly dimension: number | null
  readonly generation_id: string | null
}

export type EmbedderConfig = Pick<Config, 'embeddingsUrl' | 'embeddingsApiKey'>

export interface EmbedderDeps {
  /** As vector_worker or a service: words, models and what it cost go through it. */
  readonly pool: Pool
  /** How long one request to an endpoint may take. */
  readonly timeoutMs?: number
}

export async function openEmbedder(
  row: EmbeddingCollection,
  config: EmbedderConfig,
  deps: EmbedderDeps,
): Promise<Embedder> {
  switch (row.embedder) {
    case 'hashed':
      return createHashedEmbedder({ dimension: row.dimension ?? undefined, words: wordsOf(deps.pool) })
    case 'lsa':
      if (row.generation_id === null) throw notConfigured('lsa', `${row.collection} has no fitted model`)
      return openLsaGeneration(deps.pool, row.generation_id)
    case 'openai': {
      const { model, dimension } = row
      const { embeddingsUrl: url, embeddingsApiKey: apiKey } = config
      if (url === undefined) throw notConfigured('openai', 'EMBEDDINGS_URL is not set')
      if (model === null || dimension === null)
        throw notConfigured('openai', `${row.collection} names no model and dimension`)
      return createOpenAiEmbedder({
        url,
        apiKey,
        model,
        dimension,
        ...(deps.timeoutMs !== undefined && { timeoutMs: deps.timeoutMs }),
        spent: async (tokens) => {
          await deps.pool.query('select iu_core.fn_search_cost_add($1, $2, $3, $4)', [
            'openai',
            model,
            1,
            tokens,
          ])
        },
      })
    }
    default:
      throw notConfigured(row.embedder, `there is no embedder of this name for ${row.collection}`)
  }
}

function notConfigured(embedder: string, reason: string): StagedoorError {
  return new StagedoorError('embedder_not_configured', { embedder, reason })
}
