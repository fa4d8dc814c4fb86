/** The old knowledge base's own collection in Qdrant. Only read: there is nothing here that writes (VG-1, VA-5). */
import type { Config } from '../../config.ts'
import { connectQdrant } from './qdrant-connection.ts'
import { LEGACY_COLLECTION } from './store.ts'

export interface LegacyHit {
  readonly id: string
  readonly score: number
  /** As others wrote it; `document_id` leads to kb_document. */
  readonly payload: Readonly<Record<string, unknown>>
}

export interface LegacyReader {
  /** How many numbers its vectors have, or nothing where there is no such collection. */
  dimension(): Promise<number | undefined>
  nearest(vector: Float32Array, options: { limit: number; signal?: AbortSignal }): Promise<LegacyHit[]>
  /** Points of one document. */
  count(documentId: string): Promise<number>
}

/** Nothing without QDRANT_URL. */
export function openLegacy(
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
    async dimension() {
      const found = await ask((client) => client.getCollection(LEGACY_COLLECTION), {
        missing: undefined as never,
      })
      const size = found?.config.params.vectors?.size
      return typeof size === 'number' ? size : undefined
    },
    async nearest(vector, { limit, signal }) {
      const { points } = await ask(
        (client) => client.query(LEGACY_COLLECTION, { query: Array.from(vector), limit, with_payload: true }),
        { signal },
      )
      return points.map(({ id, score, payload }) => ({ id: String(id), score, payload: payload ?? {} }))
    },
    async count(documentId) {
      const { count } = await ask((client) =>
        client.count(LEGACY_COLLECTION, {
          filter: { must: [{ key: 'document_id', match: { value: documentId } }] },
          exact: true,
        }),
      )
      return count
    },
  }
}
