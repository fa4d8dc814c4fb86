/** The store that needs nothing else: vectors in Postgres beside the record of their points, mirrored to be searched. */
import type { Pool } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import { bytesOf } from '../embedders/lsa/model.ts'
import { Mirror } from '../mirror.ts'
import { guarded, type StateOf } from './guarded.ts'
import { reached } from './reached.ts'
import type { VectorStore } from './store.ts'

const PAGE = 1_000
/** A mirror that nobody asked for this long would be read again from the start anyway. */
const IDLE_MS = 5 * 60_000

export interface PostgresStoreOptions {
  readonly pool: Pool
  readonly stateOf: StateOf
  readonly mostNumbers?: number
  readonly now?: () => number
}

export function createPostgresStore({ pool, stateOf, ...limits }: PostgresStoreOptions): VectorStore {
  const db = reached(pool)
  const mirrors = new Map<string, Mirror>()
  const mirrorOf = (collection: string): Mirror => {
    for (const [name, mirror] of mirrors) {
      if (name !== collection && mirror.idleMs > IDLE_MS) mirrors.delete(name)
    }
    const mirror = mirrors.get(collection) ?? new Mirror({ db, collection, ...limits })
    mirrors.set(collection, mirror)
    return mirror
  }
  const call = async (sql: string, values: unknown[]): Promise<void> => {
    await db.query(sql, values)
  }

  return guarded(
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
      remove: (collection, ids) => call('select iu_core.fn_vector_points_forget($1, $2)', [collection, ids]),
      nearest: (collection, vector, options) => mirrorOf(collection).nearest(vector, options),
      vectors: (collection, ids) => mirrorOf(collection).vectors(ids),
      async scroll(collection, after) {
        const { rows } = await db.query<{ id: string; payload: unknown }>(
          `select p.chunk_id as id,
                    jsonb_strip_nulls(jsonb_build_object('unit_id', p.unit_id, 'document_id', p.document_id)) as payload
               from iu_core.search_point p
              where p.collection = $1 and p.vector is not null and ($2::uuid is null or p.chunk_id > $2)
              order by p.chunk_id limit $3`,
          [collection, after ?? null, PAGE],
        )
        const next = rows.length === PAGE ? rows.at(-1)!.id : undefined
        return { points: rows, ...(next !== undefined && { next }) }
      },
      async drop(collection) {
        mirrors.delete(collection)
        await call('select iu_core.fn_vector_points_forget($1, null)', [collection])
      },
      async close() {
        mirrors.clear()
      },
    },
    stateOf,
  )
}
