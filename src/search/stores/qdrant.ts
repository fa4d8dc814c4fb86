/** Vectors in Qdrant, one collection there for each of ours. */
import { StagedoorError } from '../../errors.ts'
import { guarded, type StateOf } from './guarded.ts'
import { connectQdrant, type QdrantAddress, statusOf } from './qdrant-connection.ts'
import type { PointPayload, ScrolledPoint, VectorStore } from './store.ts'

const PAGE = 1_000
/** Numbers in a request: as JSON about half of the 32 MB that a server takes. */
const MOST_NUMBERS = 1_000_000

export interface QdrantStoreOptions extends QdrantAddress {
  readonly stateOf: StateOf
}

export function createQdrantStore({ stateOf, ...address }: QdrantStoreOptions): VectorStore {
  const ask = connectQdrant(address)

  const dimensionOf = async (collection: string): Promise<number | undefined> => {
    const found = await ask((client) => client.getCollection(collection), { missing: undefined as never })
    if (found === undefined) return undefined
    const { vectors } = found.config.params
    return typeof vectors?.size === 'number' ? vectors.size : Number.NaN
  }

  return guarded(
    {
      kind: 'qdrant',
      async ensure(collection, dimension) {
        const made = await dimensionOf(collection)
        if (made === undefined) {
          await ask((client) =>
            client
              .createCollection(collection, { vectors: { size: dimension, distance: 'Cosine' } })
              // Another worker was quicker.
              .catch((error) => (statusOf(error) === 409 ? true : Promise.reject(error))),
          )
        } else if (made !== dimension) {
          throw new StagedoorError('argument_invalid', {
            reason: `${collection} is there with vectors of ${made} numbers, not ${dimension}`,
          })
        }
        // Also where it was made already: whoever made it may have been stopped in between.
        await ask((client) =>
          client.createPayloadIndex(collection, {
            field_name: 'workspace_id',
            field_schema: 'keyword',
            wait: true,
          }),
        )
      },
      async upsert(collection, points) {
        const page = Math.max(1, Math.min(PAGE, Math.floor(MOST_NUMBERS / points[0]!.vector.length)))
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
