/** The Qdrant store: one Qdrant collection per collection. */

import type { QdrantClient } from '@qdrant/js-client-rest'
import { StagedoorError } from '../../kernel/errors.ts'
import {
  type FindCollectionState,
  guardStore,
  type PointPayload,
  type ScrolledPoint,
  StoreUnavailable,
  type VectorStore,
} from './store.ts'

const PAGE = 1_000
/** As JSON about half of the 32 MB that a server accepts. */
const MAX_NUMBERS_PER_REQUEST = 1_000_000

interface QdrantStoreOptions extends QdrantAddress {
  readonly stateOf: FindCollectionState
}

export function createQdrantStore({ stateOf, ...address }: QdrantStoreOptions): VectorStore {
  const ask = connectQdrant(address)

  const dimensionOf = async (collection: string): Promise<number | undefined> => {
    const found = await ask((client) => client.getCollection(collection), { missing: undefined as never })
    if (found === undefined) return undefined
    const { vectors } = found.config.params
    return typeof vectors?.size === 'number' ? vectors.size : Number.NaN
  }

  return guardStore(
    {
      kind: 'qdrant',
      async ensure(collection, dimension) {
        const made = await dimensionOf(collection)
        if (made === undefined) {
          await ask((client) =>
            client
              .createCollection(collection, { vectors: { size: dimension, distance: 'Cosine' } })
              // Another worker has created it.
              .catch((error) => (statusOf(error) === 409 ? true : Promise.reject(error))),
          )
        } else if (made !== dimension) {
          throw new StagedoorError('argument_invalid', {
            reason: `${collection} exists with vectors of ${made} numbers, not ${dimension}`,
          })
        }
        // Also if the collection exists: its creator may have been stopped before this.
        await ask((client) =>
          client.createPayloadIndex(collection, {
            field_name: 'workspace_id',
            field_schema: 'keyword',
            wait: true,
          }),
        )
      },
      async upsert(collection, points) {
        const page = Math.max(
          1,
          Math.min(PAGE, Math.floor(MAX_NUMBERS_PER_REQUEST / points[0]!.vector.length)),
        )
        for (let from = 0; from < points.length; from += page) {
          const some = points.slice(from, from + page).map(({ id, vector, payload }) => ({
            id,
            vector: Array.from(vector),
            payload: payload as PointPayload & Record<string, unknown>,
          }))
          await ask((client) => client.upsert(collection, { wait: true, points: some }))
        }
      },
      async remove(collection, ids) {
        for (let from = 0; from < ids.length; from += PAGE) {
          const points = ids.slice(from, from + PAGE)
          await ask((client) => client.delete(collection, { wait: true, points }), { missing: {} as never })
        }
      },
      async nearest(collection, vector, { workspace, limit, only, signal }) {
        if (limit === 0 || only?.length === 0) return []
        const must = [
          { key: 'workspace_id', match: { value: workspace } },
          ...(only ? [{ has_id: [...only] }] : []),
        ]
        const { points } = await ask(
          (client) =>
            client.query(collection, {
              query: Array.from(vector),
              filter: { must },
              limit,
              with_payload: false,
            }),
          { signal },
        )
        return points.map(({ id, score }) => ({ id: String(id), score }))
      },
      async score(collection, vector, ids, { workspace, signal }) {
        const scores = new Map<string, number>()
        for (let from = 0; from < ids.length; from += PAGE) {
          const some = ids.slice(from, from + PAGE)
          const { points } = await ask(
            (client) =>
              client.query(collection, {
                query: Array.from(vector),
                filter: { must: [{ key: 'workspace_id', match: { value: workspace } }, { has_id: some }] },
                limit: some.length,
                // The index is approximate and may skip points that were asked for.
                params: { exact: true },
                with_payload: false,
              }),
            signal ? { signal } : {},
          )
          for (const { id, score } of points) scores.set(String(id), score)
        }
        return scores
      },
      async vectors(collection, ids) {
        if (ids.length === 0) return new Map()
        const points = await ask((client) =>
          client.retrieve(collection, { ids: [...ids], with_payload: false, with_vector: true }),
        )
        return new Map(points.map(({ id, vector }) => [String(id), Float32Array.from(vector as number[])]))
      },
      async scroll(collection, after) {
        const { points, next_page_offset: next } = await ask((client) =>
          client.scroll(collection, {
            limit: PAGE,
            ...(after !== undefined && { offset: after }),
            with_payload: true,
            with_vector: false,
          }),
        )
        const found: ScrolledPoint[] = points.map(({ id, payload }) => ({ id: String(id), payload }))
        return { points: found, ...(typeof next === 'string' && { next }) }
      },
      async drop(collection) {
        await ask((client) => client.deleteCollection(collection), { missing: true })
      },
      async close() {},
    },
    stateOf,
  )
}

const TIMEOUT_MS = 10_000

interface QdrantAddress {
  readonly url: string
  readonly apiKey?: string | undefined
  readonly timeoutMs?: number
}

/** Calls Qdrant and translates its errors. `missing` is returned if the collection does not exist. */
type AskQdrant = <T>(
  question: (client: QdrantClient) => Promise<T>,
  options?: { missing?: T; signal?: AbortSignal | undefined },
) => Promise<T>

/** Loads the official client on the first call. */
export function connectQdrant(address: QdrantAddress): AskQdrant {
  let client: Promise<QdrantClient> | undefined
  return async (question, { signal, ...missing } = {}) => {
    signal?.throwIfAborted()
    client ??= connect(address)
    const asked = client.then(question)
    try {
      return await (signal ? Promise.race([asked, rejectOnAbort(signal)]) : asked)
    } catch (error) {
      signal?.throwIfAborted()
      if (statusOf(error) === 404 && 'missing' in missing) return missing.missing as never
      throw translateError(error, new URL(address.url).host)
    }
  }
}

async function connect({ url, apiKey, timeoutMs = TIMEOUT_MS }: QdrantAddress): Promise<QdrantClient> {
  const { QdrantClient } = await import('@qdrant/js-client-rest')
  const { origin, pathname } = new URL(url)
  return new QdrantClient({
    url: origin,
    // The client forgets the path of a URL.
    ...(pathname !== '/' && { prefix: pathname.replace(/\/$/, '') }),
    // As a header, because given as a key it writes a warning about http to the console.
    ...(apiKey !== undefined && { headers: { 'api-key': apiKey } }),
    timeout: timeoutMs,
    checkCompatibility: false,
  })
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function statusOf(error: unknown): number | undefined {
  return (error as { status?: number }).status
}

/** The server's own message is not repeated: it may quote texts. */
function translateError(error: unknown, host: string): Error {
  const status = statusOf(error)
  if (status === 400 || status === 413 || status === 422) {
    return new StagedoorError('argument_invalid', {
      reason: `Qdrant at ${host} rejected the points (${status})`,
    })
  }
  if (status === 404) return new StoreUnavailable(`Qdrant at ${host} does not have the collection`)
  return new StoreUnavailable(
    status === undefined ? `Qdrant at ${host} does not answer` : `Qdrant at ${host} answered ${status}`,
  )
}
