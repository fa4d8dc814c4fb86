/** The default store: vectors in PostgreSQL, in the rows that record the points, mirrored into the process for search. */

import { StagedoorError } from '../../kernel/errors.ts'
import type { Pool, Queryable } from '../../kernel/postgres/connection.ts'
import { historyOf } from '../../kernel/postgres/history.ts'
import { bytesOf, floatsOf } from '../embedders/embedder.ts'
import {
  type FindCollectionState,
  guardStore,
  type NearestOptions,
  type NearestPoint,
  openForStore,
  scoresOf,
  type VectorStore,
  withStoreErrors,
} from './store.ts'

const PAGE = 1_000
/** A mirror that is unused for so long is dropped: it would have to be reloaded anyway. */
const IDLE_MS = 5 * 60_000

interface PostgresStoreOptions {
  readonly pool: Pool
  readonly stateOf: FindCollectionState
  readonly maxNumbers?: number
  readonly now?: () => number
}

export function createPostgresStore({ pool, stateOf, ...limits }: PostgresStoreOptions): VectorStore {
  const db = withStoreErrors(pool)
  const mirrors = new Map<string, Mirror>()
  const mirrorOf = (collection: string): Mirror => {
    for (const [name, mirror] of mirrors) {
      if (name !== collection && mirror.idleMs > IDLE_MS) mirrors.delete(name)
    }
    const mirror = mirrors.get(collection) ?? new Mirror({ db: pool, collection, ...limits })
    mirrors.set(collection, mirror)
    return mirror
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
      nearest: (collection, vector, options) => mirrorOf(collection).nearest(vector, options),
      score: async (collection, vector, ids, options) =>
        scoresOf(await mirrorOf(collection).nearest(vector, { ...options, only: ids, limit: ids.length })),
      vectors: (collection, ids) => mirrorOf(collection).vectors(ids),
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
        mirrors.delete(collection)
        await call('select iu_core.fn_vector_points_delete($1, null)', [collection])
      },
      async close() {
        mirrors.clear()
      },
    },
    stateOf,
  )
}

// The mirror: all vectors of a collection in memory, because SQL takes 868 ms for a search that takes 12 ms here (20,000 × 256).
// Changes are read by snapshot difference (docs/decisions/0002): transactions end in another order than they begin, so "newer than
// my last" would miss those that end late. After a failover that lost the last commits transaction ids are used again, so a snapshot
// counts only on sessions of the history that it was taken on. Removed points leave a tombstone, which is purged after ten minutes; a mirror that is
// older than five minutes is therefore reloaded from the start.

/** A million chunks of 256 numbers: a gigabyte. */
const MAX_MIRRORED_NUMBERS = 256_000_000
const MAX_UNUSED_MS = 5 * 60_000
const MIRROR_PAGE = 5_000
/** Changes that are read at once; more are read as pages, from the start. */
const MAX_CHANGES = 50_000

interface MirrorOptions {
  readonly db: Queryable & Partial<Pick<Pool, 'connect'>>
  readonly collection: string
  readonly maxNumbers?: number
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
}

/** Blocks by workspace, and the block of each chunk. */
interface MirroredVectors {
  readonly blocks: Map<string, MirrorBlock>
  readonly blockOf: Map<string, MirrorBlock>
}

interface PointRow {
  chunk_id: string
  workspace_id: string | null
  vector: Buffer | null
}

export class Mirror {
  private readonly options: MirrorOptions
  private readonly now: () => number
  private mirrored: MirroredVectors = { blocks: new Map(), blockOf: new Map() }
  private seen: string | undefined
  /** The history of the database that `seen` is of. */
  private history: string | undefined
  private refreshedAt = 0
  private reading: Promise<void> | undefined
  private waiting: Promise<void> | undefined

  constructor(options: MirrorOptions) {
    this.options = options
    this.now = options.now ?? (() => performance.now())
  }

  get idleMs(): number {
    return this.now() - this.refreshedAt
  }

  get size(): number {
    return this.mirrored.blockOf.size
  }

  /** Finds everything that was committed before the call. */
  async nearest(
    vector: Float32Array,
    { workspace, limit, only, signal }: NearestOptions,
  ): Promise<NearestPoint[]> {
    await this.refresh()
    signal?.throwIfAborted()
    return this.mirrored.blocks.get(workspace)?.nearest(vector, limit, only) ?? []
  }

  async vectors(ids: readonly string[]): Promise<Map<string, Float32Array>> {
    await this.refresh()
    return new Map(
      ids.flatMap((id) => {
        const vector = this.mirrored.blockOf.get(id)?.vector(id)
        return vector ? [[id, vector] as const] : []
      }),
    )
  }

  /** A running read may have begun before the caller's commit: callers during a read share the next one. */
  private refresh(): Promise<void> {
    if (this.reading === undefined) return this.begin()
    this.waiting ??= this.reading.catch(() => {}).then(() => this.begin())
    return this.waiting
  }

  private begin(): Promise<void> {
    this.waiting = undefined
    this.reading = this.read().finally(() => {
      this.reading = undefined
    })
    return this.reading
  }

  private async read(): Promise<void> {
    const startedAt = this.now()
    await inOneSession(this.options.db, async (db, history) => {
      const isCurrent = this.seen !== undefined && this.history === history && this.idleMs <= MAX_UNUSED_MS
      const changes = isCurrent ? await this.changes(db, this.seen!) : undefined
      if (changes === undefined) await this.reload(db)
      else {
        for (const row of changes.rows) this.apply(row, this.mirrored)
        this.seen = changes.seen
      }
      this.history = history
    })
    this.refreshedAt = startedAt
  }

  /** One statement, so one snapshot: the next call reads what this one does not see. Undefined if there are too many changes. */
  private async changes(
    db: Queryable,
    seen: string,
  ): Promise<{ seen: string; rows: PointRow[] } | undefined> {
    const { rows } = await db.query<PointRow & { seen: string; chunk_id: string | null }>(
      `select s.now::text as seen, p.chunk_id, p.workspace_id, p.vector
         from (select pg_current_snapshot() as now) as s
         left join lateral (
           select p.chunk_id, p.vector, coalesce(u.workspace_id, r.workspace_id) as workspace_id
             from iu_core.search_point p
             left join iu_core.information_unit u using (unit_id)
             left join iu_core.search_row r using (row_id)
            where p.collection = $1
              and (p.tx >= pg_snapshot_xmax($2::pg_snapshot) or p.tx = any (array(select pg_snapshot_xip($2::pg_snapshot))))
            limit $3) as p on true`,
      [this.options.collection, seen, MAX_CHANGES + 1],
    )
    if (rows.length > MAX_CHANGES) return undefined
    return { seen: rows[0]!.seen, rows: rows.filter(({ chunk_id }) => chunk_id !== null) }
  }

  /** The snapshot is taken before the pages are read: changes in between are read again by the next `changes`. */
  private async reload(db: Queryable): Promise<void> {
    const { collection } = this.options
    const mirrored: MirroredVectors = { blocks: new Map(), blockOf: new Map() }
    this.seen = undefined
    const { rows: begun } = await db.query<{ seen: string; points: number; bytes: number }>(
      `select pg_current_snapshot()::text as seen, count(*)::integer as points, coalesce(max(length(vector)), 0) as bytes
         from iu_core.search_point where collection = $1 and vector is not null`,
      [collection],
    )
    this.refuseTooMany(begun[0]!.points, begun[0]!.bytes / 4)
    for (let after: string | null = null; ; ) {
      const { rows }: { rows: PointRow[] } = await db.query<PointRow>(
        `select p.chunk_id, p.vector, coalesce(u.workspace_id, r.workspace_id) as workspace_id
           from iu_core.search_point p
           left join iu_core.information_unit u using (unit_id)
           left join iu_core.search_row r using (row_id)
          where p.collection = $1 and p.vector is not null and ($2::uuid is null or p.chunk_id > $2)
          order by p.chunk_id limit $3`,
        [collection, after, MIRROR_PAGE],
      )
      for (const row of rows) this.apply(row, mirrored)
      if (rows.length < MIRROR_PAGE) break
      after = rows.at(-1)!.chunk_id
    }
    this.mirrored = mirrored
    this.seen = begun[0]!.seen
  }

  private apply({ chunk_id, workspace_id, vector }: PointRow, { blocks, blockOf }: MirroredVectors): void {
    if (vector === null || workspace_id === null) {
      blockOf.get(chunk_id)?.remove(chunk_id)
      blockOf.delete(chunk_id)
      return
    }
    const numbers = floatsOf(vector)
    if (!blockOf.has(chunk_id)) this.refuseTooMany(blockOf.size + 1, numbers.length)
    const block = blocks.get(workspace_id) ?? new MirrorBlock(numbers.length)
    blocks.set(workspace_id, block)
    blockOf.set(chunk_id, block)
    block.put(chunk_id, numbers)
  }

  private refuseTooMany(points: number, dimension: number): void {
    const { collection, maxNumbers = MAX_MIRRORED_NUMBERS } = this.options
    if (points * dimension <= maxNumbers) return
    const maxPoints = Math.floor(maxNumbers / dimension)
    throw new StagedoorError('store_not_configured', {
      store: 'postgres',
      reason: `${collection} has more than ${maxPoints} vectors of ${dimension} numbers, too many to mirror into a process; use pgvector or qdrant`,
    })
  }
}

/** A session sees one history of the database as long as it lives. */
async function inOneSession(
  db: MirrorOptions['db'],
  work: (db: Queryable, history: string | undefined) => Promise<void>,
): Promise<void> {
  if (db.connect === undefined) return work(db, undefined)
  const client = await openForStore(db as Pool)
  try {
    await work(withStoreErrors(client), historyOf(client))
  } finally {
    client.release()
  }
}

/** Vectors per piece. A block grows by pieces: nothing is copied, and a small workspace takes little memory. */
const PIECE = 1_024

/** The vectors of one workspace, in contiguous pieces without gaps, so that a scan reads memory in order. */
class MirrorBlock {
  private readonly dimension: number
  private readonly pieces: Float32Array[] = []
  private readonly ids: string[] = []
  private readonly places = new Map<string, number>()

  constructor(dimension: number) {
    this.dimension = dimension
  }

  put(id: string, vector: Float32Array): void {
    this.requireDimension(vector)
    const place = this.places.get(id) ?? this.ids.length
    if (place === this.ids.length) {
      this.ids.push(id)
      this.places.set(id, place)
      if (place % PIECE === 0) this.pieces.push(new Float32Array(PIECE * this.dimension))
    }
    this.at(place).set(vector)
  }

  /** The last vector takes its place. */
  remove(id: string): void {
    const place = this.places.get(id)
    if (place === undefined) return
    const last = this.ids.length - 1
    const moved = this.ids[last]!
    this.at(place).set(this.at(last))
    this.ids[place] = moved
    this.places.set(moved, place)
    this.places.delete(id)
    this.ids.pop()
    if (last % PIECE === 0) this.pieces.pop()
  }

  vector(id: string): Float32Array | undefined {
    const place = this.places.get(id)
    return place === undefined ? undefined : this.at(place).slice()
  }

  nearest(vector: Float32Array, limit: number, only?: readonly string[]): NearestPoint[] {
    this.requireDimension(vector)
    const best = new TopK(limit)
    if (only !== undefined) {
      for (const id of new Set(only)) {
        const place = this.places.get(id)
        if (place === undefined) continue
        // Not through at(): a view per point costs more than its dot product.
        const score = dot(vector, this.pieces[Math.floor(place / PIECE)]!, (place % PIECE) * this.dimension)
        if (score >= best.minScore) best.offer(id, score)
      }
      return best.ranked()
    }
    for (let place = 0, piece = 0; place < this.ids.length; piece++) {
      const numbers = this.pieces[piece]!
      const end = Math.min(this.ids.length, place + PIECE)
      for (let from = 0; place < end; place++, from += this.dimension) {
        const score = dot(vector, numbers, from)
        if (score >= best.minScore) best.offer(this.ids[place]!, score)
      }
    }
    return best.ranked()
  }

  private at(place: number): Float32Array {
    const from = (place % PIECE) * this.dimension
    return this.pieces[Math.floor(place / PIECE)]!.subarray(from, from + this.dimension)
  }

  private requireDimension({ length }: Float32Array): void {
    if (length === this.dimension) return
    throw new StagedoorError('argument_invalid', {
      reason: `A vector of ${length} numbers does not fit a collection of ${this.dimension}`,
    })
  }
}

/** Four independent sums, so that additions do not wait for each other. */
function dot(vector: Float32Array, numbers: Float32Array, from: number): number {
  const length = vector.length
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let at = 0
  for (; at + 3 < length; at += 4) {
    a += vector[at]! * numbers[from + at]!
    b += vector[at + 1]! * numbers[from + at + 1]!
    c += vector[at + 2]! * numbers[from + at + 2]!
    d += vector[at + 3]! * numbers[from + at + 3]!
  }
  for (; at < length; at++) a += vector[at]! * numbers[from + at]!
  return a + b + (c + d)
}

/** The best k of many, without sorting the many. Equal scores are ordered by id, so that an answer is always the same. */
class TopK {
  private readonly limit: number
  /** A heap: the worst is first, the one that the next must beat. */
  private readonly heap: NearestPoint[] = []

  constructor(limit: number) {
    this.limit = limit
  }

  /** Lower scores are not accepted. */
  get minScore(): number {
    return this.heap.length < this.limit
      ? Number.NEGATIVE_INFINITY
      : (this.heap[0]?.score ?? Number.POSITIVE_INFINITY)
  }

  offer(id: string, score: number): void {
    const near = { id, score }
    if (this.heap.length < this.limit) {
      this.heap.push(near)
      this.rise(this.heap.length - 1)
    } else if (this.limit > 0 && isWorse(this.heap[0]!, near)) {
      this.heap[0] = near
      this.sink()
    }
  }

  ranked(): NearestPoint[] {
    return [...this.heap].sort((a, b) => (isWorse(a, b) ? 1 : -1))
  }

  private rise(from: number): void {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1
      if (!isWorse(this.heap[at]!, this.heap[above]!)) return
      this.swap(at, above)
      at = above
    }
  }

  private sink(): void {
    for (let at = 0; ; ) {
      let worst = at
      for (const below of [2 * at + 1, 2 * at + 2]) {
        if (below < this.heap.length && isWorse(this.heap[below]!, this.heap[worst]!)) worst = below
      }
      if (worst === at) return
      this.swap(at, worst)
      at = worst
    }
  }

  private swap(a: number, b: number): void {
    const first = this.heap[a]!
    this.heap[a] = this.heap[b]!
    this.heap[b] = first
  }
}

function isWorse(a: NearestPoint, b: NearestPoint): boolean {
  return a.score < b.score || (a.score === b.score && a.id > b.id)
}
