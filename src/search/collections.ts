/** Collections of vectors: which there are, and how one takes the place of another. */
import type { Queryable } from '../db/connection.ts'
import { CHUNKER } from './chunks.ts'
import type { EmbeddingCollection } from './embedders/open.ts'
import type { StoreKind } from './stores/store.ts'

export type CollectionState = 'building' | 'active' | 'retired' | 'legacy'

export interface Collection extends EmbeddingCollection {
  readonly state: CollectionState
  readonly store: StoreKind
  readonly fingerprint: string
}

export interface NewCollection {
  readonly embedder: string
  readonly model: string
  readonly dimension: number
  readonly store: StoreKind
  /** Of the embedder; that of how units are divided is added. */
  readonly fingerprint: string
  readonly generation_id?: string
}

const COLUMNS = 'collection, state, embedder, model, dimension, store, generation_id, fingerprint'

/** Of units: the active one first, then one that is being built beside it. */
export async function liveCollections(db: Queryable): Promise<Collection[]> {
  const { rows } = await db.query<Collection>(
    `select ${COLUMNS} from iu_core.search_collection
      where state in ('active', 'building') and source_kind = 'information_unit' order by state`,
  )
  return rows
}

/** All that a store may hold something of. */
export async function allCollections(db: Queryable): Promise<Collection[]> {
  const { rows } = await db.query<Collection>(
    `select ${COLUMNS} from iu_core.search_collection order by state, collection`,
  )
  return rows
}

/** Retired for so long that nobody asks it any more. */
export async function forgottenCollections(db: Queryable): Promise<Collection[]> {
  const { rows } = await db.query<Collection>(
    `select ${COLUMNS} from iu_core.search_collection
      where state = 'retired' and retired_at < clock_timestamp() - interval '10 minutes' order by collection`,
  )
  return rows
}

/** The first of all, active at once; of two processes that find none one makes it. */
export async function createFirstCollection(db: Queryable, one: NewCollection): Promise<void> {
  await db.query('select iu_core.fn_search_collection_create($1, $2, $3, $4, $5, p_first => true)', [
    one.embedder,
    one.model,
    one.dimension,
    one.store,
    `${CHUNKER} ${one.fingerprint}`,
  ])
}

/** Begins one; a worker fills it and swaps. The first of all is active at once. */
export async function createCollection(
  db: Queryable,
  one: NewCollection,
): Promise<{ collection: string; state: CollectionState }> {
  const { rows } = await db.query<{ collection: string; state: CollectionState }>(
    'select collection, state from iu_core.fn_search_collection_create($1, $2, $3, $4, $5, $6)',
    [
      one.embedder,
      one.model,
      one.dimension,
      one.store,
      `${CHUNKER} ${one.fingerprint}`,
      one.generation_id ?? null,
    ],
  )
  return rows[0]!
}

/** False while it lacks something that the active one holds. */
export async function activateCollection(db: Queryable, collection: string): Promise<boolean> {
  const { rows } = await db.query<{ activated: boolean }>(
    'select iu_core.fn_search_collection_activate($1) as activated',
    [collection],
  )
  return rows[0]!.activated
}

export async function cancelCollection(db: Queryable, collection: string): Promise<void> {
  await db.query('select iu_core.fn_search_collection_cancel($1)', [collection])
}

export async function clearCollection(db: Queryable, collection: string): Promise<boolean> {
  const { rows } = await db.query<{ cleared: boolean }>(
    'select iu_core.fn_search_collection_clear($1) as cleared',
    [collection],
  )
  return rows[0]!.cleared
}
