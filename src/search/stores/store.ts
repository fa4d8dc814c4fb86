/** The interface of vector stores. PostgreSQL records which points a store should hold; every store passes the same test suite. */
import type { PoolClient } from 'pg'
import { StagedoorError } from '../../kernel/errors.ts'
import type { Pool, Queryable } from '../../kernel/postgres/connection.ts'
import { isConnectionError, mapDatabaseError } from '../../kernel/postgres/errors.ts'

export type StoreKind = 'postgres' | 'pgvector' | 'qdrant'

export interface PointPayload {
  readonly unit_id?: string
  readonly document_id?: string
  /** Of a row of a table; which, only PostgreSQL knows. */
  readonly row_id?: string
  readonly unit_version_id?: string
  readonly canonical_address?: string
  readonly content_hash_at_embedding: string
  readonly workspace_id: string
  readonly chunk: number
}

/** The id is the chunk's. */
export interface Point {
  readonly id: string
  readonly vector: Float32Array
  readonly payload: PointPayload
}

export interface ReadOptions {
  /** What was committed before this time of performance.now() is found; default: before the call. Several reads of one question share a time. */
  readonly asOf?: number
  readonly signal?: AbortSignal
}

export interface NearestOptions extends ReadOptions {
  readonly limit: number
  readonly workspace: string
  /** Only these points may be returned: those that the filters allow. */
  readonly only?: readonly string[]
}

export interface NearestPoint {
  readonly id: string
  /** Cosine: 1 is the same direction. */
  readonly score: number
}

export interface ScoreOptions extends ReadOptions {
  readonly workspace: string
}

export interface ScrolledPoint {
  readonly id: string
  readonly payload: unknown
}

export interface VectorStore {
  readonly kind: StoreKind
  /** Creates the collection if it does not exist; another dimension is an error. */
  ensure(collection: string, dimension: number): Promise<void>
  upsert(collection: string, points: readonly Point[]): Promise<void>
  /** By id, never by filter. Unknown ids are ignored. */
  remove(collection: string, ids: readonly string[]): Promise<void>
  /** Begins to read what `nearest` will need, while its question is still being embedded. */
  prepare?(collection: string, asOf: number): Promise<void>
  nearest(collection: string, vector: Float32Array, options: NearestOptions): Promise<NearestPoint[]>
  /**
   * Cosines of these points of the workspace, on the scale of `nearest`; points that do not exist have none. A store without it gives no
   * scores for points of its caller's choice, so its hits can only be ranked.
   */
  score?(
    collection: string,
    vector: Float32Array,
    ids: readonly string[],
    options: ScoreOptions,
  ): Promise<Map<string, number>>
  /** The vectors of those points that exist; for relevance feedback. */
  vectors(
    collection: string,
    ids: readonly string[],
    options?: ReadOptions,
  ): Promise<Map<string, Float32Array>>
  /** All points of every workspace, ordered by id. `next`, if present, is the `after` of the next page. */
  scroll(collection: string, after?: string): Promise<{ points: ScrolledPoint[]; next?: string }>
  drop(collection: string): Promise<void>
  close(): Promise<void>
}

/** Results of `nearest` as those of `score`. */
export function scoresOf(points: readonly NearestPoint[]): Map<string, number> {
  return new Map(points.map(({ id, score }) => [id, score]))
}

/** An outage: the points are fine, a retry may help. */
export class StoreUnavailable extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'StoreUnavailable'
  }
}

/** Another system writes this collection: Stagedoor only reads it, whatever its row says (VG-1, VA-5). */
export const LEGACY_COLLECTION = 'production_documents'

export class LegacyCollection extends StagedoorError {
  constructor(collection: string) {
    super('collection_legacy', { collection })
    this.name = 'LegacyCollection'
  }
}

/** The state of search_collection; undefined if there is no such row. */
export type FindCollectionState = (collection: string) => Promise<string | undefined>

/** Refuses writes to collections of others (VG-1, VA-5): the old knowledge base by its name, and collections without a row. */
export function guardStore(store: VectorStore, stateOf: FindCollectionState): VectorStore {
  const refuseOthers = async (collection: string): Promise<void> => {
    if (collection === LEGACY_COLLECTION) throw new LegacyCollection(collection)
    const state = await stateOf(collection)
    if (state === 'legacy') throw new LegacyCollection(collection)
    if (state === undefined) throw new StagedoorError('collection_unknown', { collection })
  }
  return {
    kind: store.kind,
    async ensure(collection, dimension) {
      await refuseOthers(collection)
      await store.ensure(collection, dimension)
    },
    async upsert(collection, points) {
      await refuseOthers(collection)
      refuseInvalidVectors(points)
      if (points.length > 0) await store.upsert(collection, points)
    },
    async remove(collection, ids) {
      await refuseOthers(collection)
      if (ids.length > 0) await store.remove(collection, ids)
    },
    async drop(collection) {
      await refuseOthers(collection)
      await store.drop(collection)
    },
    ...(store.prepare && { prepare: store.prepare.bind(store) }),
    nearest: (collection, vector, options) => store.nearest(collection, vector, options),
    ...(store.score && { score: store.score.bind(store) }),
    vectors: (collection, ids, options) => store.vectors(collection, ids, options),
    scroll: (collection, after) => store.scroll(collection, after),
    close: () => store.close(),
  }
}

/** An invalid vector would match every question, or break the order of the others. */
function refuseInvalidVectors(points: readonly Point[]): void {
  const dimension = points[0]?.vector.length
  for (const { id, vector } of points) {
    if (
      vector.length !== dimension ||
      !vector.every(Number.isFinite) ||
      vector.every((value) => value === 0)
    ) {
      throw new StagedoorError('argument_invalid', {
        reason: `The vector of ${id} is invalid: it has another dimension, is all zero or holds a value that is not a number`,
      })
    }
  }
}

/** An unreachable database becomes StoreUnavailable. Only for `query(sql, values)`: other forms of the driver are not used here. */
export function withStoreErrors(db: Queryable): Queryable {
  const query = async (sql: string, values: unknown[]): Promise<unknown> => {
    try {
      return await db.query(sql, values)
    } catch (error) {
      throw storeError(error)
    }
  }
  return { query: query as Queryable['query'] }
}

/** A session of its own, with the same errors. */
export async function openForStore(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw storeError(error)
  }
}

function storeError(error: unknown): unknown {
  if (error instanceof StagedoorError) return error
  const { code } = error as { code?: unknown }
  // An error with an SQLSTATE comes from the server.
  const fromServer = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
  if (fromServer && !isUnavailableState(code)) return mapDatabaseError(error)
  if (!fromServer && !isConnectionError(error)) return error
  return new StoreUnavailable('The database does not answer', { cause: error })
}

const isUnavailableState = (state: string): boolean => ['08', '53', '57', '58'].includes(state.slice(0, 2))

interface PassingQuery<T> {
  readonly limit: number
  /** How many nearest are asked for at most. */
  readonly maxAsked: number
  readonly keyOf: (item: T) => string
  nearest(asked: number): Promise<{ readonly found: readonly T[]; readonly isLast: boolean }>
  passing(keys: readonly string[]): Promise<readonly string[]>
}

/** Asks for more and more of the nearest, until `limit` of them pass the filters or there are no more. */
export async function nearestPassing<T>(query: PassingQuery<T>): Promise<readonly T[]> {
  const { limit, maxAsked, keyOf, nearest, passing } = query
  for (let asked = 4 * limit; ; asked = Math.min(8 * asked, maxAsked)) {
    const { found, isLast } = await nearest(asked)
    const pass = new Set(found.length > 0 ? await passing(found.map(keyOf)) : [])
    const kept = found.filter((item) => pass.has(keyOf(item)))
    if (kept.length >= limit || isLast || asked >= maxAsked) return kept.slice(0, limit)
  }
}
