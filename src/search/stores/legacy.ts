/** The old knowledge base's own collection in Qdrant. Only read: there is nothing here that writes (VG-1, VA-5). */
import type { Config } from '../../config.ts'
import { connectQdrant } from './qdrant-connection.ts'
import { LEGACY_COLLECTION } from './store.ts'

export interface LegacyReader {
  /** How many numbers its vectors have, or nothing where there is no such collection. */
  dimension(signal?: AbortSignal): Promise<number | undefined>
  /**
   * Of the nearest points the documents that they are of, as others call them: one for each point that says so. Nothing else of their
   * payload is asked for (VA-3).
   */
  nearest(
    vector: Float32Array,
    options: { limit: number; signal?: AbortSignal },
  ): Promise<{ readonly points: number; readonly documents: readonly string[] }>
}

/** Nothing without QDRANT_URL. */
export function openLegacyReader(
  config: Pick<Config, 'qdrantUrl' | 'qdrantApiKey'>,
  { timeoutMs }: { timeoutMs?: number } = {},
): LegacyReader | undefined {
  if (config.qdrantUrl === undefined) return undefined
  const ask = connectQdrant({
    url: config.qdrantUrl,
    apiKey: config.qdrantApiKey,
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
  return {
    async dimension(signal) {
      const found = await ask((client) => client.getCollection(LEGACY_COLLECTION), {
        missing: undefined as never,
        signal,
      })
      const size = found?.config.params.vectors?.size
      return typeof size === 'number' ? size : undefined
    },
    async nearest(vector, { limit, signal }) {
      const { points } = await ask(
        (client) =>
          client.query(LEGACY_COLLECTION, {
            query: Array.from(vector),
            limit,
            with_payload: ['document_id'],
          }),
        { signal },
      )
      const named = points.map(({ payload }) => payload?.document_id)
      return {
        points: points.length,
        documents: named.filter((id) => typeof id === 'string' || typeof id === 'number').map(String),
      }
    },
  }
}
