/** The pgvector store: one table per collection; for a corpus that is too large to mirror into a process. */

import { StagedoorError } from '../../kernel/errors.ts'
import type { Queryable } from '../../kernel/postgres/connection.ts'
import {
  type FindCollectionState,
  guardStore,
  type NearestPoint,
  type ScrolledPoint,
  StoreUnavailable,
  scoresOf,
  type VectorStore,
  withStoreErrors,
} from './store.ts'

const PAGE = 1_000
const NEAREST = 'select id, score from iu_core.fn_search_pgvector_nearest($1, $2, $3, $4, $5)'

interface PgvectorStoreOptions {
  readonly db: Queryable
  readonly stateOf: FindCollectionState
}

export function createPgvectorStore({ db, stateOf }: PgvectorStoreOptions): VectorStore {
  const { query } = withStoreErrors(db)
  const ask = async <Row>(sql: string, values: unknown[]): Promise<Row[]> => {
    try {
      return (await query(sql, values)).rows as Row[]
    } catch (error) {
      throw translateError(error)
    }
  }
  return guardStore(
    {
      kind: 'pgvector',
      async ensure(collection, dimension) {
        await ask('select iu_core.fn_search_pgvector_ensure($1, $2)', [collection, dimension])
      },
      async upsert(collection, points) {
        const rows = points.map(({ id, vector, payload }) => ({
          id,
          workspace_id: payload.workspace_id,
          payload,
          vector: textOf(vector),
        }))
        for (let from = 0; from < rows.length; from += PAGE) {
          const page = JSON.stringify(rows.slice(from, from + PAGE))
          await ask('select iu_core.fn_search_pgvector_put($1, $2)', [collection, page])
        }
      },
      async remove(collection, ids) {
        await ask('select iu_core.fn_search_pgvector_delete($1, $2)', [collection, ids])
      },
      async nearest(collection, vector, { workspace, limit, only, signal }) {
        signal?.throwIfAborted()
        return ask(NEAREST, [collection, workspace, textOf(vector), limit, only ?? null])
      },
      async score(collection, vector, ids, { workspace, signal }) {
        signal?.throwIfAborted()
        if (ids.length === 0) return new Map()
        return scoresOf(
          await ask<NearestPoint>(NEAREST, [collection, workspace, textOf(vector), ids.length, ids]),
        )
      },
      async vectors(collection, ids) {
        const rows = await ask<{ id: string; vector: string }>(
          `select chunk_id as id, embedding::text as vector from ${tableOf(collection)} where chunk_id = any ($1)`,
          [ids],
        )
        return new Map(rows.map(({ id, vector }) => [id, Float32Array.from(JSON.parse(vector) as number[])]))
      },
      async scroll(collection, after) {
        const points = await ask<ScrolledPoint>(
          `select chunk_id as id, payload from ${tableOf(collection)}
            where $1::uuid is null or chunk_id > $1 order by chunk_id limit $2`,
          [after ?? null, PAGE],
        )
        const next = points.length === PAGE ? points.at(-1)!.id : undefined
        return { points, ...(next !== undefined && { next }) }
      },
      async drop(collection) {
        await ask('select iu_core.fn_search_pgvector_delete($1, null)', [collection])
      },
      async close() {},
    },
    stateOf,
  )
}

function textOf(vector: Float32Array): string {
  return `[${vector.join(',')}]`
}

function tableOf(collection: string): string {
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(collection)) {
    throw new StagedoorError('collection_unknown', { collection })
  }
  return `iu_core.search_vectors_${collection}`
}

function translateError(error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string }
  if (code === '0A000') {
    return new StagedoorError(
      'store_not_configured',
      { store: 'pgvector', reason: message },
      { cause: error },
    )
  }
  // A missing table is treated like an unavailable server.
  if (code === '42P01') return new StoreUnavailable('The collection is not in pgvector', { cause: error })
  if (code === 'SD001' || code?.startsWith('22')) {
    return new StagedoorError('argument_invalid', { reason: message }, { cause: error })
  }
  return error
}
