/** Another embedder or another store: a new collection beside the active one, which a worker fills and swaps in. */
import type { Pool } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import { type CollectionState, createCollection, liveCollections, type NewCollection } from './collections.ts'
import { EmbedderRefused, EmbedderUnavailable } from './embedders/embedder.ts'
import { createHashedEmbedder } from './embedders/hashed.ts'
import { openEmbedder } from './embedders/open.ts'
import { wordsOf } from './embedders/words.ts'
import { fittedCollection } from './maintenance.ts'
import type { SearchConfig } from './opened.ts'
import { openStore } from './stores/open.ts'
import { type StoreKind, StoreUnavailable } from './stores/store.ts'

export const EMBEDDERS = ['lsa', 'openai', 'hashed'] as const
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

interface Surroundings {
  /** As vector_worker. */
  readonly pool: Pool
  readonly config: SearchConfig
}

/** Whoever cannot be reached is found out now, not by a collection that is never filled. */
export async function beginSwitch(
  { pool, config }: Surroundings,
  to: SwitchTo,
): Promise<{ collection: string; state: CollectionState }> {
  const [active, building] = await liveCollections(pool)
  if (building) throw new StagedoorError('search_switch_running', { collection: building.collection })
  const store = to.store ?? active?.store ?? 'postgres'
  const embedder = to.embedder ?? (active?.embedder as SwitchTo['embedder']) ?? 'lsa'
  if (Object.values(to).every((wish) => wish === undefined))
    throw wrong(`Say to what: another embedder, model or store. Now it is ${embedder} in ${store}`)
  if (embedder !== 'openai' && (to.model ?? to.dimension) !== undefined)
    throw wrong(`Only openai has a model and a dimension to choose; ${embedder} has its own`)
  await tryStore(pool, config, store)
  return createCollection(pool, await collectionOf({ pool, config }, { ...to, embedder, store }))
}

function wrong(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}

export async function runningSwitch(pool: Pool): Promise<string | undefined> {
  return (await liveCollections(pool)).find(({ state }) => state === 'building')?.collection
}

async function collectionOf(
  { pool, config }: Surroundings,
  to: SwitchTo & Required<Pick<SwitchTo, 'embedder' | 'store'>>,
): Promise<NewCollection> {
  const { store } = to
  switch (to.embedder) {
    case 'lsa':
      return fittedCollection(pool, store)
    case 'hashed': {
      const { model, dimension, fingerprint } = createHashedEmbedder({ words: wordsOf(pool) })
      return { embedder: 'hashed', model, dimension, store, fingerprint }
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
        await embedder.embed(['Is anybody there?'], 'query')
      } catch (error) {
        if (!(error instanceof EmbedderUnavailable || error instanceof EmbedderRefused)) throw error
        throw new StagedoorError(
          'embedder_not_configured',
          { embedder: 'openai', reason: error.message },
          {
            cause: error,
            // It is set: what answers there is at fault, or what it is asked for.
            hint: `EMBEDDINGS_URL (${new URL(config.embeddingsUrl!).host}) answered so: look at its own log; it must serve the model ${model} with ${dimension} numbers a vector (EMBEDDINGS_MODEL, EMBEDDINGS_DIMENSION, or --model and --dimension).`,
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
        reason: 'the extension vector is not there',
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
