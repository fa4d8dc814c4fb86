/**
 * Collections of vectors, and how one replaces another: switch (a person asks), refit (a better LSA model), backfill (a worker fills
 * the new collection and activates it), and the deletion of retired ones.
 */

import type { Logger } from 'pino'
import { StagedoorError } from '../kernel/errors.ts'
import type { Pool, Queryable } from '../kernel/postgres/connection.ts'
import { CHUNKER } from './chunks.ts'
import {
  createHashedEmbedder,
  createWordCounter,
  EmbedderRefused,
  EmbedderUnavailable,
  isPretrained,
} from './embedders/embedder.ts'
import { fitGeneration, LSA_MODEL, namesOf } from './embedders/lsa/generation.ts'
import { recordPointsRefused, recordPointsWritten } from './outbox.ts'
import { PROBE_TEXT, writePoints } from './points.ts'
import type { Projection, ProjectionHooks } from './projection.ts'
import {
  type EmbeddingCollection,
  isProviderUnavailable,
  openEmbedder,
  openStore,
  type SearchProviders,
} from './providers.ts'
import { type StoreKind, StoreUnavailable } from './stores/store.ts'
import { readRows, refreshRows } from './table-rows.ts'
import type { SearchConfig } from './vector-search.ts'

export type CollectionState = 'building' | 'active' | 'retired' | 'legacy'

export interface Collection extends EmbeddingCollection {
  readonly state: CollectionState
  readonly store: StoreKind
  readonly fingerprint: string
}

interface NewCollection {
  readonly embedder: string
  readonly model: string
  readonly dimension: number
  readonly store: StoreKind
  /** Of the embedder; the chunker's is added. */
  readonly fingerprint: string
  readonly generation_id?: string
}

const COLLECTION_COLUMNS = 'collection, state, embedder, model, dimension, store, generation_id, fingerprint'

/** Collections of units: the active one first, then the one that is being built, if any. */
export async function liveCollections(db: Queryable): Promise<Collection[]> {
  const { rows } = await db.query<Collection>(
    `select ${COLLECTION_COLUMNS} from iu_core.search_collection
      where state in ('active', 'building') and source_kind = 'information_unit' order by state`,
  )
  return rows
}

/** Every collection of which a store may hold points. */
export async function allCollections(db: Queryable): Promise<Collection[]> {
  const { rows } = await db.query<Collection>(
    `select ${COLLECTION_COLUMNS} from iu_core.search_collection order by state, collection`,
  )
  return rows
}

/** Retired for so long that no question uses them any more. */
async function expiredCollections(db: Queryable): Promise<Collection[]> {
  const { rows } = await db.query<Collection>(
    `select ${COLLECTION_COLUMNS} from iu_core.search_collection
      where state = 'retired' and retired_at < clock_timestamp() - interval '10 minutes' order by collection`,
  )
  return rows
}

/** Active at once. If two processes find no collection, only one of them creates it. */
export async function createFirstCollection(db: Queryable, one: NewCollection): Promise<void> {
  await db.query('select iu_core.fn_search_collection_create($1, $2, $3, $4, $5, p_first => true)', [
    one.embedder,
    one.model,
    one.dimension,
    one.store,
    `${CHUNKER} ${one.fingerprint}`,
  ])
}

/** A worker fills and activates it. The very first collection is active at once. */
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

/** Returns false while points of the active collection are missing in it. */
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

async function clearCollection(db: Queryable, collection: string): Promise<boolean> {
  const { rows } = await db.query<{ cleared: boolean }>(
    'select iu_core.fn_search_collection_delete($1) as cleared',
    [collection],
  )
  return rows[0]!.cleared
}

// Maintenance by the worker: the first collection, refits, and the deletion of retired ones.

/** With fewer chunks LSA learns too little about which words go together. */
const MIN_CHUNKS_TO_FIT = 200
const REFIT_INTERVAL = '10 minutes'

/** Creates the first collection if there is none. */
export async function ensureFirstCollection(pool: Pool): Promise<void> {
  if ((await liveCollections(pool)).length > 0) return
  const { model, dimension, fingerprint } = createHashedEmbedder({ words: createWordCounter(pool) })
  await createFirstCollection(pool, { embedder: 'hashed', model, dimension, store: 'postgres', fingerprint })
}

/** Fits a model to all units and stores it as a generation. */
async function fitNewCollection(pool: Pool, store: StoreKind, signal?: AbortSignal): Promise<NewCollection> {
  const { generation_id, dimension } = await fitGeneration(pool, signal)
  return { embedder: 'lsa', ...namesOf(generation_id, dimension), dimension, store, generation_id }
}

/**
 * Whether the LSA model should be fitted again: when it counts words as an earlier version did, when there are enough chunks for a first model, when their number has doubled or
 * halved, or when it has grown by a fifth and the last fit is ten minutes ago. It waits while rows are due: half of a handbook says
 * little about the other half (nDCG@10 on Cranfield, fitted on half of it: 0.49 instead of 0.55).
 */
export async function isFitDue(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>(
    `select n.chunks >= $1
            and case c.embedder
                  when 'hashed' then true
                  when 'lsa' then not starts_with(c.model, $3) or n.chunks >= 2 * g.documents or 2 * n.chunks <= g.documents
                               or (n.chunks >= 1.2 * g.documents and g.fitted_at < statement_timestamp() - $2::interval)
                  else false end
            and not exists (select from iu_core.search_collection b where b.state = 'building')
            and (not exists (select from iu_core.vector_outbox o
                              where o.status in ('pending', 'processing') and o.earliest_run_at <= statement_timestamp())
                 or coalesce(c.activated_at, c.created_at) < statement_timestamp() - $2::interval) as due
       from iu_core.search_collection c
       left join iu_core.search_generation g on g.generation_id = c.generation_id
      cross join lateral (select count(*) as chunks from iu_core.search_chunk k where k.unit_id is not null) as n
      where c.state = 'active' and c.source_kind = 'information_unit'`,
    [MIN_CHUNKS_TO_FIT, REFIT_INTERVAL, `${LSA_MODEL}/`],
  )
  return rows[0]?.due ?? false
}

/** If a fit is due, fits a model, begins its collection and returns the collection's name. */
export async function refit(pool: Pool, signal?: AbortSignal): Promise<string | undefined> {
  if (!(await isFitDue(pool))) return undefined
  const [active] = await liveCollections(pool)
  const fitted = await fitNewCollection(pool, active!.store, signal)
  return (await createCollection(pool, fitted)).collection
}

/**
 * Deletes retired collections from their store, then from PostgreSQL. If the store is not configured any more, only from PostgreSQL:
 * nobody could delete it from the store. If the store is unavailable, `onUnavailable` is called, and the next call retries. Returns how
 * many were deleted.
 */
export async function deleteRetired(
  pool: Pool,
  providers: SearchProviders,
  onUnavailable: (collection: string, error: unknown) => void = () => {},
): Promise<number> {
  let cleared = 0
  for (const { collection, store } of await expiredCollections(pool)) {
    try {
      await providers.store(store).drop(collection)
    } catch (error) {
      onUnavailable(collection, error)
      if (!(error instanceof StagedoorError && error.code === 'store_not_configured')) continue
    }
    if (await clearCollection(pool, collection)) cleared++
  }
  return cleared
}

// Switch: a person wants another embedder or store.

export const EMBEDDERS = ['lsa', 'openai', 'onnx', 'hashed'] as const
export const STORES = ['postgres', 'pgvector', 'qdrant'] as const satisfies StoreKind[]

export interface SwitchTo {
  /** Default: as now. */
  readonly embedder?: (typeof EMBEDDERS)[number]
  /** Of openai; default EMBEDDINGS_MODEL and EMBEDDINGS_DIMENSION. */
  readonly model?: string
  readonly dimension?: number
  /** Default: as now. */
  readonly store?: StoreKind
}

interface SwitchDeps {
  /** As vector_worker. */
  readonly pool: Pool
  readonly config: SearchConfig
}

/** Tries the new store and embedder first: a collection that can never be filled is not begun. */
export async function beginSwitch(
  { pool, config }: SwitchDeps,
  to: SwitchTo,
): Promise<{ collection: string; state: CollectionState }> {
  const [active, building] = await liveCollections(pool)
  if (building) throw new StagedoorError('search_switch_running', { collection: building.collection })
  const store = to.store ?? active?.store ?? 'postgres'
  const embedder = to.embedder ?? (active?.embedder as SwitchTo['embedder']) ?? 'lsa'
  if (Object.values(to).every((wish) => wish === undefined))
    throw invalidSwitch(
      `Choose another embedder, model or store. The current ones are ${embedder} and ${store}`,
    )
  if (embedder !== 'openai' && (to.model ?? to.dimension) !== undefined)
    throw invalidSwitch(`Only openai takes a model and a dimension; ${embedder} has its own`)
  await tryStore(pool, config, store)
  return createCollection(pool, await newCollectionFor({ pool, config }, { ...to, embedder, store }))
}

function invalidSwitch(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}

export async function findRunningSwitch(pool: Pool): Promise<string | undefined> {
  return (await liveCollections(pool)).find(({ state }) => state === 'building')?.collection
}

async function newCollectionFor(
  { pool, config }: SwitchDeps,
  to: SwitchTo & Required<Pick<SwitchTo, 'embedder' | 'store'>>,
): Promise<NewCollection> {
  const { store } = to
  switch (to.embedder) {
    case 'lsa':
      return fitNewCollection(pool, store)
    case 'hashed': {
      const { model, dimension, fingerprint } = createHashedEmbedder({ words: createWordCounter(pool) })
      return { embedder: 'hashed', model, dimension, store, fingerprint }
    }
    case 'onnx': {
      const row = {
        collection: 'the new collection',
        embedder: 'onnx',
        model: null,
        dimension: null,
        generation_id: null,
      }
      const { model, dimension, fingerprint } = await openEmbedder(row, config, { pool })
      return { embedder: 'onnx', model, dimension, store, fingerprint }
    }
    case 'openai': {
      const model = to.model ?? config.embeddingsModel
      const dimension = to.dimension ?? config.embeddingsDimension
      const row = {
        collection: 'the new collection',
        embedder: 'openai',
        model,
        dimension,
        generation_id: null,
      }
      const embedder = await openEmbedder(row, config, { pool })
      try {
        await embedder.embed([PROBE_TEXT], 'query')
      } catch (error) {
        if (!(error instanceof EmbedderUnavailable || error instanceof EmbedderRefused)) throw error
        throw new StagedoorError(
          'embedder_not_configured',
          { embedder: 'openai', reason: error.message },
          {
            cause: error,
            // EMBEDDINGS_URL is set: the endpoint, the model or the dimension is wrong.
            hint: `Check the log of the endpoint at EMBEDDINGS_URL (${new URL(config.embeddingsUrl!).host}). It must serve the model ${model} with ${dimension} numbers per vector (EMBEDDINGS_MODEL, EMBEDDINGS_DIMENSION, or --model and --dimension).`,
          },
        )
      }
      return { embedder: 'openai', model, dimension, store, fingerprint: embedder.fingerprint }
    }
  }
}

async function tryStore(pool: Pool, config: SearchConfig, kind: StoreKind): Promise<void> {
  if (kind === 'pgvector') {
    const { rows } = await pool.query(`select from pg_extension where extname = 'vector'`)
    if (rows.length === 0)
      throw new StagedoorError('store_not_configured', {
        store: kind,
        reason: 'the extension vector is not installed',
      })
  }
  if (kind !== 'qdrant') return
  const store = openStore(kind, config, { pool })
  try {
    await store.scroll('stagedoor_asks_whether_it_is_there')
  } catch (error) {
    if (error instanceof StoreUnavailable)
      throw new StagedoorError(
        'store_not_configured',
        { store: kind, reason: error.message },
        { cause: error },
      )
  } finally {
    await store.close()
  }
}

// Backfill: the new collection gets every point of the active one, and is activated when none is missing.

interface MissingPoint {
  readonly chunk_id: string
  readonly unit_id: string | null
  readonly unit_version_id: string | null
  readonly canonical_address: string | null
  readonly content_hash: string
  readonly workspace_id: string
  readonly position: number
  /** Null: it is read in the row of the table. */
  readonly text: string | null
  readonly row_id: string | null
  readonly from_char: number
  readonly to_char: number
}

interface BackfillDeps {
  readonly pool: Pool
  readonly providers: SearchProviders
  readonly projection: Projection
  readonly hooks: ProjectionHooks
  readonly log?: Logger
  /** After this time a step writes nothing any more; default 96 s. */
  readonly leaseMs?: number
}

type BackfillResult = 'more' | 'waiting' | 'switched' | 'incomplete'

const BACKFILL_BATCH = 256
/** Each batch looks for the first missing chunk again: of an embedder that costs nothing a larger one is better. */
const BACKFILL_BATCH_IN_PROCESS = 1024
/** Tombstones are purged after ten minutes: a worker that pauses so long between embedding and writing must not write. */
const BACKFILL_LEASE_MS = 96_000
/** Generation of the points that a backfill records: they belong to no row of the outbox. */
const BACKFILL_GENERATION = '0'

/** One step. `waiting`: the embedder or the store is unavailable; `incomplete`: other workers are writing the rest. */
export async function backfillCollection(
  { pool, providers, projection, hooks, log, leaseMs = BACKFILL_LEASE_MS }: BackfillDeps,
  collection: Collection,
  stopping: AbortSignal,
): Promise<BackfillResult> {
  const { collection: name } = collection
  const breaker = projection.breakerOf(name)
  if (breaker.remainingMs > 0 || !(await projection.ensure(collection))) return 'waiting'
  try {
    // Before anything is claimed: a process that cannot embed must not keep points from others that can.
    await providers.embedder(collection)
  } catch (error) {
    if (!isProviderUnavailable(error)) throw error
    breaker.recordFailure((error as Error).message)
    return 'waiting'
  }
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(leaseMs)])
  const { rows: missing } = await pool.query<MissingPoint>(
    'select * from iu_core.fn_search_collection_backfill($1, $2)',
    [name, isPretrained(collection.embedder) ? BACKFILL_BATCH : BACKFILL_BATCH_IN_PROCESS],
  )
  if (missing.length === 0) return activateIfComplete(pool, name, hooks)
  const rows = await withTextsOfRows(pool, missing)
  // Rows of tables that have changed since: what changed is projected into this collection, too.
  if (rows.length === 0) return 'incomplete'
  const { refused, waiting } = await writePoints(
    {
      providers,
      breaker,
      collection,
      signal,
      recordWritten: (ids) =>
        recordPointsWritten(
          pool,
          name,
          ids,
          ids.map(() => BACKFILL_GENERATION),
        ),
      ...(hooks.boundary && { boundary: hooks.boundary }),
    },
    rows.map((row) => ({
      owner: row.chunk_id,
      id: row.chunk_id,
      text: row.text,
      payload: {
        ...(row.row_id !== null
          ? { row_id: row.row_id }
          : {
              unit_id: row.unit_id!,
              unit_version_id: row.unit_version_id!,
              canonical_address: row.canonical_address!,
            }),
        content_hash_at_embedding: row.content_hash,
        workspace_id: row.workspace_id,
        chunk: row.position,
      },
    })),
  )
  hooks.onEmbedded?.(name, rows.length)
  const [reason] = refused.values()
  if (reason !== undefined) {
    await recordPointsRefused(pool, name, [...refused.keys()], reason)
    log?.warn(
      { collection: name, chunks: refused.size, reason },
      'the embedder refuses these chunks; the new collection will be activated without them',
    )
  }
  return waiting.size > 0 ? 'waiting' : 'more'
}

/** Without rows of tables whose text is another one by now, or that are gone. */
async function withTextsOfRows(
  pool: Pool,
  missing: readonly MissingPoint[],
): Promise<(MissingPoint & { readonly text: string })[]> {
  const ids = [...new Set(missing.flatMap(({ row_id }) => row_id ?? []))]
  const read = await readRows(pool, ids)
  const isAsProjected = (one: MissingPoint) => read.get(one.row_id!)?.content_hash === one.content_hash
  const changed = missing.filter((one) => one.row_id !== null && !isAsProjected(one))
  await refreshRows(pool, [...new Set(changed.map(({ row_id }) => row_id!))])
  return missing.flatMap((one) => {
    if (one.row_id === null) return [{ ...one, text: one.text! }]
    if (!isAsProjected(one)) return []
    const row = read.get(one.row_id)!
    return [{ ...one, text: [...row.body].slice(one.from_char, one.to_char).join('') }]
  })
}

async function activateIfComplete(pool: Pool, name: string, hooks: ProjectionHooks): Promise<BackfillResult> {
  if (!(await activateCollection(pool, name))) return 'incomplete'
  hooks.onActivated?.(name)
  return 'switched'
}
