/** The default store: vectors in PostgreSQL, in the rows that record the points, mirrored into the process for search (mirror/). */

import { StagedoorError } from '../../kernel/errors.ts'
import type { Pool } from '../../kernel/postgres/connection.ts'
import { bytesOf } from '../embedders/embedder.ts'
import { Mirror } from './mirror/mirror.ts'
import { type FindCollectionState, guardStore, scoresOf, type VectorStore, withStoreErrors } from './store.ts'

const PAGE = 1_000
/** A mirror that is not used is kept up to date, so that the next question does not wait until it is loaded, and then given back. */
const KEEP_UP_MS = 2 * 60_000
const MAX_UNUSED_MS = 30 * 60_000
/** Of a collection that another one has replaced. */
const MAX_REPLACED_MS = 5 * 60_000

interface PostgresStoreOptions {
  readonly pool: Pool
  readonly stateOf: FindCollectionState
}

export function createPostgresStore({ pool, stateOf }: PostgresStoreOptions): VectorStore {
  const db = withStoreErrors(pool)
  const mirrors = new Map<string, Mirror>()
  let keepingUp: NodeJS.Timeout | undefined
  const mirrorOf = (collection: string): Mirror => {
    const mirror = mirrors.get(collection) ?? new Mirror({ db: pool, collection })
    mirrors.set(collection, mirror)
    keepingUp ??= setInterval(keepUp, KEEP_UP_MS).unref()
    return mirror
  }
  const closeMirror = async (collection: string): Promise<void> => {
    const mirror = mirrors.get(collection)
    mirrors.delete(collection)
    if (mirrors.size === 0) {
      clearInterval(keepingUp)
      keepingUp = undefined
    }
    await mirror?.close()
  }
  const keepUp = (): void => {
    const newest = Math.min(...[...mirrors.values()].map(({ unusedMs }) => unusedMs))
    for (const [collection, mirror] of mirrors) {
      const { unusedMs } = mirror
      const isUnused = unusedMs > (unusedMs > newest ? MAX_REPLACED_MS : MAX_UNUSED_MS)
      // A failure is the next question's: it reads again, and says what is wrong.
      if (isUnused) closeMirror(collection).catch(() => {})
      else mirror.refresh().catch(() => {})
    }
  }
  const call = async (sql: string, values: unknown[]): Promise<void> => {
    await db.query(sql, values)
  }

  return guardStore(
    {
      kind: 'postgres',
      async ensure(collection, dimension) {
        const { rows } = await db.query<{ dimension: number; store: string }>(
          'select dimension, store from iu_core.search_collection where collection = $1',
          [collection],
        )
        if (rows[0]?.dimension !== dimension || rows[0].store !== 'postgres') {
          throw new StagedoorError('argument_invalid', {
            reason: `${collection} is a collection of ${rows[0]?.dimension} numbers in ${rows[0]?.store}, not of ${dimension} in postgres`,
          })
        }
      },
      upsert: (collection, points) =>
        call('select iu_core.fn_vector_points_store($1, $2, $3)', [
          collection,
          points.map(({ id }) => id),
          points.map(({ vector }) => bytesOf(vector)),
        ]),
      remove: (collection, ids) => call('select iu_core.fn_vector_points_delete($1, $2)', [collection, ids]),
      prepare: (collection, asOf) => mirrorOf(collection).refresh(asOf),
      nearest: (collection, vector, options) => mirrorOf(collection).nearest(vector, options),
      score: async (collection, vector, ids, options) =>
        scoresOf(await mirrorOf(collection).nearest(vector, { ...options, only: ids, limit: ids.length })),
      vectors: (collection, ids, options) => mirrorOf(collection).vectors(ids, options),
      async scroll(collection, after) {
        const { rows } = await db.query<{ id: string; payload: unknown }>(
          `select p.chunk_id as id,
                    jsonb_strip_nulls(jsonb_build_object('unit_id', p.unit_id, 'document_id', p.document_id, 'row_id', p.row_id)) as payload
               from iu_core.search_point p
              where p.collection = $1 and p.vector is not null and ($2::uuid is null or p.chunk_id > $2)
              order by p.chunk_id limit $3`,
          [collection, after ?? null, PAGE],
        )
        const next = rows.length === PAGE ? rows.at(-1)!.id : undefined
        return { points: rows, ...(next !== undefined && { next }) }
      },
      async drop(collection) {
        await closeMirror(collection)
        await call('select iu_core.fn_vector_points_delete($1, null)', [collection])
      },
      async close() {
        await Promise.all([...mirrors.keys()].map(closeMirror))
      },
    },
    stateOf,
  )
}
