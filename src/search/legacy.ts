/**
 * The old knowledge base by its own vectors: made by others, in a collection that is only read (VG-1…9). Its payload is theirs
 * (VA-3): nothing is asked of it but which document a point is of, and that is looked up in Postgres.
 */
import type { Pool } from '../db/connection.ts'
import { type Embedder, EmbedderRefused, EmbedderUnavailable } from './embedders/embedder.ts'
import { openEmbedder } from './embedders/open.ts'
import type { Dense, NearestRequest, SearchConfig } from './opened.ts'
import { LEGACY_COLLECTION } from './stores/store.ts'
import { ANSWER_WARNINGS } from './warnings.ts'

/** Of text-embedding-3-small, by which it was filled. */
const DIMENSION = 1536
const MODEL = 'text-embedding-3-small'

export interface Legacy {
  nearest(request: NearestRequest): Promise<Dense>
}

interface LegacyOptions {
  readonly pool: Pool
  readonly config: SearchConfig
  readonly timeoutMs: number
}

export function openLegacy({ pool, config, timeoutMs }: LegacyOptions): Legacy {
  const { qdrantUrl, qdrantApiKey, embeddingsUrl, embeddingsDimension } = config
  if (qdrantUrl === undefined || embeddingsUrl === undefined || embeddingsDimension !== DIMENSION) {
    return { nearest: async () => ({ unavailable: ANSWER_WARNINGS.legacyByText }) }
  }
  let opened: Promise<Embedder> | undefined
  const embedder = (): Promise<Embedder> => {
    opened ??= openEmbedder(
      {
        collection: LEGACY_COLLECTION,
        embedder: 'openai',
        model: config.embeddingsModel ?? MODEL,
        dimension: DIMENSION,
        generation_id: null,
      },
      config,
      { pool, timeoutMs },
    )
    return opened
  }
  return {
    async nearest({ text, limit, byWords }) {
      await byWords
      const signal = AbortSignal.timeout(timeoutMs)
      try {
        const [vector] = await (await embedder()).embed([text], 'query', signal)
        const points = await ask(qdrantUrl, qdrantApiKey, vector!, limit, signal)
        return { ids: points.map(documentOf).filter((id) => id !== undefined) }
      } catch (error) {
        if (error instanceof EmbedderUnavailable || error instanceof EmbedderRefused || signal.aborted)
          return { unavailable: ANSWER_WARNINGS.legacyDown }
        throw error
      }
    },
  }
}

interface LegacyPoint {
  readonly payload?: Record<string, unknown> | null
}

/** By the plain REST call, which reads: the client that can write is not given this collection's name. */
async function ask(
  url: string,
  apiKey: string | undefined,
  vector: Float32Array,
  limit: number,
  signal: AbortSignal,
): Promise<LegacyPoint[]> {
  const call = `${url.replace(/\/$/, '')}/collections/${LEGACY_COLLECTION}/points/query`
  try {
    const reply = await fetch(call, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(apiKey !== undefined && { 'api-key': apiKey }) },
      body: JSON.stringify({ query: [...vector], limit, with_payload: true }),
      signal,
    })
    if (!reply.ok) throw new Error(`Qdrant answered ${reply.status}`)
    const { result } = (await reply.json()) as { result?: { points?: LegacyPoint[] } }
    return result?.points ?? []
  } catch (error) {
    throw new EmbedderUnavailable(`The old knowledge base: ${(error as Error).message}`, { cause: error })
  }
}

function documentOf({ payload }: LegacyPoint): string | undefined {
  const id = payload?.document_id
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}
