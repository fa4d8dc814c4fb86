/** Fixtures for tests of the projection: an embedder and a store in memory that a test controls, and workers that use them. */
import { createHash, randomUUID } from 'node:crypto'
import pino from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { createPool, type Pool } from '../../src/kernel/postgres/connection.ts'
import type { BreakerOptions } from '../../src/runtime/breaker.ts'
import { createFirstCollection, liveCollections } from '../../src/search/collections.ts'
import { type Embedder, EmbedderRefused, EmbedderUnavailable } from '../../src/search/embedders/embedder.ts'
import { claimRows, type OutboxRow, readGates } from '../../src/search/outbox.ts'
import {
  Projection,
  type ProjectionHooks,
  type ProjectionResult,
  type TextStages,
} from '../../src/search/projection.ts'
import type { EmbeddingCollection, SearchProviders } from '../../src/search/providers.ts'
import {
  LEGACY_COLLECTION,
  LegacyCollection,
  type Point,
  type PointPayload,
  StoreUnavailable,
  type VectorStore,
} from '../../src/search/stores/store.ts'
import type { TestDatabase } from '../support/database.ts'

export const DIMENSION = 8

/** What is planted. */
export interface Faults {
  /** The endpoint is away. */
  embedderAway: boolean
  storeAway: boolean
  /** Texts with this in them are refused. */
  poison: string | undefined
  /** At texts with this in them the server falls over: it answers 500. */
  crash: string | undefined
  answer: ((vectors: Float32Array[]) => Float32Array[]) | undefined
}

/** Equal texts, equal vectors; nothing else is asked of it here. */
export function vectorOf(text: string, dimension = DIMENSION): Float32Array {
  const bytes = createHash('sha256').update(text).digest()
  return Float32Array.from({ length: dimension }, (_, at) => (bytes[at % bytes.length]! - 128) / 128)
}

export class FakeEmbedder implements Embedder {
  readonly name = 'openai'
  readonly model: string
  readonly dimension = DIMENSION
  readonly fingerprint: string
  readonly embeddedTexts: string[] = []
  calls = 0
  private readonly faults: Faults

  constructor(faults: Faults, model = 'fake-1') {
    this.faults = faults
    this.model = model
    this.fingerprint = model
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const { faults } = this
    this.calls++
    if (faults.embedderAway) throw new EmbedderUnavailable('the endpoint is away')
    const { poison } = faults
    if (poison !== undefined && texts.some((text) => text.includes(poison)))
      throw new EmbedderRefused('this text cannot be embedded')
    const { crash } = faults
    if (crash !== undefined && texts.some((text) => text.includes(crash)))
      throw new EmbedderUnavailable('the endpoint answered 500', { answered: true })
    this.embeddedTexts.push(...texts)
    const vectors = texts.map((text) => vectorOf(text))
    return faults.answer?.(vectors) ?? vectors
  }
}

/** Holds what it was given, by collection and id. Refuses the legacy collection as every store does. */
export class MemoryStore implements VectorStore {
  readonly kind = 'qdrant'
  readonly held = new Map<string, Map<string, Point>>()
  private readonly faults: Faults

  constructor(faults: Faults) {
    this.faults = faults
  }

  of(collection: string): Map<string, Point> {
    const points = this.held.get(collection) ?? new Map<string, Point>()
    this.held.set(collection, points)
    return points
  }

  private reach(collection: string): void {
    if (collection === LEGACY_COLLECTION) throw new LegacyCollection(collection)
    if (this.faults.storeAway) throw new StoreUnavailable('the store is away')
  }

  async ensure(collection: string): Promise<void> {
    this.reach(collection)
    this.of(collection)
  }

  async upsert(collection: string, points: readonly Point[]): Promise<void> {
    this.reach(collection)
    for (const point of points) this.of(collection).set(point.id, point)
  }

  async remove(collection: string, ids: readonly string[]): Promise<void> {
    this.reach(collection)
    for (const id of ids) this.of(collection).delete(id)
  }

  async nearest(): Promise<never[]> {
    return []
  }

  async vectors(collection: string, ids: readonly string[]): Promise<Map<string, Float32Array>> {
    const points = this.of(collection)
    return new Map(ids.filter((id) => points.has(id)).map((id) => [id, points.get(id)!.vector]))
  }

  async scroll(collection: string, after = '') {
    if (this.faults.storeAway) throw new StoreUnavailable('the store is away')
    const ids = [...this.of(collection).keys()].sort().filter((id) => id > after)
    const points = ids.slice(0, 3).map((id) => ({ id, payload: this.of(collection).get(id)!.payload }))
    const last = points.at(-1)?.id
    return { points, ...(ids.length > 3 && last !== undefined && { next: last }) }
  }

  async drop(collection: string): Promise<void> {
    this.reach(collection)
    this.held.delete(collection)
  }

  async close(): Promise<void> {}
}

/** A worker that does one batch when a test calls it. */
export interface Hand {
  readonly id: string
  readonly projection: Projection
  claim(limit?: number): Promise<OutboxRow[]>
  work(rows: readonly OutboxRow[], stages?: TextStages): Promise<ProjectionResult>
  once(limit?: number): Promise<ProjectionResult>
}

export interface Projecting {
  readonly pool: Pool
  readonly faults: Faults
  readonly store: MemoryStore
  /** By model. */
  readonly embedders: Map<string, FakeEmbedder>
  readonly embedder: FakeEmbedder
  readonly providers: SearchProviders
  worker(options?: { id?: string; hooks?: ProjectionHooks; breaker?: BreakerOptions }): Hand
  /** What waits for quiet is due. */
  due(): Promise<void>
  /** Everything that is due, and what becomes due by it. */
  settle(hand?: Hand): Promise<void>
}

const LEASE_MS = 120_000

export function useProjecting(db: TestDatabase): Projecting {
  const faults: Faults = {
    embedderAway: false,
    storeAway: false,
    poison: undefined,
    crash: undefined,
    answer: undefined,
  }
  const store = new MemoryStore(faults)
  const embedder = new FakeEmbedder(faults)
  const embedders = new Map([[embedder.model, embedder]])
  const providers: SearchProviders = {
    async embedder(collection: EmbeddingCollection) {
      return embedders.get(collection.model ?? '') ?? embedder
    },
    store: () => store,
    async close() {},
  }
  let pool: Pool
  const worker: Projecting['worker'] = ({
    id = randomUUID(),
    hooks = {},
    breaker = { minBlockMs: 1, maxBlockMs: 1 },
  } = {}) => {
    const log = pino({ level: 'silent' })
    const projection = new Projection({ pool, worker: id, providers, log, hooks, breaker })
    const hand: Hand = {
      id,
      projection,
      claim: (limit = 50) => claimRows(pool, id, { limit, leaseMs: LEASE_MS }),
      work: async (rows, stages) =>
        projection.project(rows, await readGates(pool), AbortSignal.timeout(LEASE_MS), stages),
      once: async (limit) => {
        const rows = await hand.claim(limit)
        return rows.length > 0 ? hand.work(rows) : { done: 0, failed: 0, waiting: 0 }
      },
    }
    return hand
  }
  const due = async (): Promise<void> => {
    await db.owner(
      `update iu_core.vector_outbox set earliest_run_at = clock_timestamp() - interval '1 second'
        where status in ('pending', 'processing')`,
    )
  }
  beforeAll(async () => {
    pool = createPool(db.url('stagedoor_worker'), { role: 'vector_worker', max: 8 })
    await createFirstCollection(pool, {
      embedder: 'openai',
      model: 'fake-1',
      dimension: DIMENSION,
      store: 'qdrant',
      fingerprint: 'fake-1',
    })
  })
  afterAll(() => pool.end())
  return {
    get pool() {
      return pool
    },
    faults,
    store,
    embedders,
    embedder,
    providers,
    worker,
    due,
    async settle(hand = worker()) {
      for (;;) {
        await due()
        const rows = await hand.claim()
        if (rows.length === 0) return
        await hand.work(rows)
      }
    },
  }
}

export const activeName = async (pool: Pool): Promise<string> =>
  (await liveCollections(pool)).find(({ state }) => state === 'active')!.collection

/** What a unit's freshness is, as people see it. */
export async function stateOf(db: TestDatabase, unit: string): Promise<string> {
  const [row] = await db.owner<{ vector_state: string }>(
    'select vector_state from iu_core.v_unit where unit_id = $1',
    [unit],
  )
  return row!.vector_state
}

export interface Row {
  status: string
  generation: string
  retry_count: number
  last_error: string | null
}

export async function rowOf(db: TestDatabase, source: string): Promise<Row> {
  const [row] = await db.owner<Row & { [column: string]: unknown }>(
    'select status, generation, retry_count, last_error from iu_core.vector_outbox where source_id = $1',
    [source],
  )
  return row!
}

/** What the store says of a unit's chunks, in their order. */
export function heldOf(store: MemoryStore, collection: string, unit: string): PointPayload[] {
  return [...store.of(collection).values()]
    .map(({ payload }) => payload)
    .filter((payload) => payload.unit_id === unit)
    .sort((a, b) => a.chunk - b.chunk)
}
