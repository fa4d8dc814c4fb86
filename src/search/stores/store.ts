/** Where vectors live. Postgres says what should be there; a store holds it, and every one passes the same suite. */
import { StagedoorError } from '../../errors.ts'

export type StoreKind = 'postgres' | 'pgvector' | 'qdrant'

export interface PointPayload {
  readonly unit_id?: string
  readonly document_id?: string
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

export interface NearestOptions {
  readonly limit: number
  readonly workspace: string
  /** The only points that may be answered: what the filters left over. */
  readonly only?: readonly string[]
  readonly signal?: AbortSignal
}

export interface Near {
  readonly id: string
  /** Cosine: 1 is the same direction. */
  readonly score: number
}

export interface ScrolledPoint {
  readonly id: string
  readonly payload: unknown
}

export interface VectorStore {
  readonly kind: StoreKind
  /** Makes the collection if it is not there; one that is there with another dimension is an error. */
  ensure(collection: string, dimension: number): Promise<void>
  upsert(collection: string, points: readonly Point[]): Promise<void>
  /** By id, never by filter: what is unknown is left alone. */
  remove(collection: string, ids: readonly string[]): Promise<void>
  nearest(collection: string, vector: Float32Array, options: NearestOptions): Promise<Near[]>
  /** Of these points, as far as they are there: what is like a good hit is found by going towards it (feedback.ts). */
  vectors(collection: string, ids: readonly string[]): Promise<Map<string, Float32Array>>
  /** What is really there, of every workspace and in the order of ids; `next` goes on. */
  scroll(collection: string, after?: string): Promise<{ points: ScrolledPoint[]; next?: string }>
  drop(collection: string): Promise<void>
  close(): Promise<void>
}

/** An outage: nothing is wrong with the points, and trying again later is all there is to do. */
export class StoreUnavailable extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'StoreUnavailable'
  }
}

/** Made and written by others: whatever its row says, it is only read (VG-1, VA-5). */
export const LEGACY_COLLECTION = 'production_documents'

export class LegacyCollection extends StagedoorError {
  constructor(collection: string) {
    super('collection_legacy', { collection })
    this.name = 'LegacyCollection'
  }
}
