/** What keeps collections in order by itself: the first one, a better model when there is more to learn from, and the end of old ones. */
import type { Pool } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import {
  clearCollection,
  createCollection,
  createFirstCollection,
  forgottenCollections,
  liveCollections,
  type NewCollection,
} from './collections.ts'
import { createHashedEmbedder } from './embedders/hashed.ts'
import { fitGeneration, namesOf } from './embedders/lsa/generation.ts'
import { wordsOf } from './embedders/words.ts'
import type { Equipment } from './equipment.ts'
import type { StoreKind } from './stores/store.ts'

/** Fewer chunks say too little about which words go together. */
const FEWEST_CHUNKS = 200
const BETWEEN_FITS = '10 minutes'

/** Makes the first collection where there is none yet. */
export async function ensureFirstCollection(pool: Pool): Promise<void> {
  if ((await liveCollections(pool)).length > 0) return
  const { model, dimension, fingerprint } = createHashedEmbedder({ words: wordsOf(pool) })
  await createFirstCollection(pool, { embedder: 'hashed', model, dimension, store: 'postgres', fingerprint })
}

/** A model of what all units say, kept as a generation. */
export async function fittedCollection(
  pool: Pool,
  store: StoreKind,
  signal?: AbortSignal,
): Promise<NewCollection> {
  const { generation_id, dimension } = await fitGeneration(pool, signal)
  return { embedder: 'lsa', ...namesOf(generation_id, dimension), dimension, store, generation_id }
}

/**
 * Whether the embedder without a network should learn anew: enough to begin with, then when it has doubled or halved, or has
 * grown by a fifth and the last time is ten minutes ago. While there is more to come it waits: half of a handbook says little
 * about the other half (Cranfield, fitted on half of it: 0.49 instead of 0.55).
 */
export async function isFitDue(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>(
    `select n.chunks >= $1
            and case c.embedder
                  when 'hashed' then true
                  when 'lsa' then n.chunks >= 2 * g.documents or 2 * n.chunks <= g.documents
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
    [FEWEST_CHUNKS, BETWEEN_FITS],
  )
  return rows[0]?.due ?? false
}

/** Begins a collection of a newly fitted model; whoever fills swaps it in. Answers its name if there was reason to. */
export async function refit(pool: Pool, signal?: AbortSignal): Promise<string | undefined> {
  if (!(await isFitDue(pool))) return undefined
  const [active] = await liveCollections(pool)
  const fitted = await fittedCollection(pool, active!.store, signal)
  return (await createCollection(pool, fitted)).collection
}

/**
 * Takes retired collections out of their store, and then out of Postgres. One whose store is not set up here any more is only forgotten:
 * nobody could ever take it out. Of one whose store is away `left` hears, and it is tried again. Answers how many went.
 */
export async function clearRetired(
  pool: Pool,
  equipment: Equipment,
  left: (collection: string, error: unknown) => void = () => {},
): Promise<number> {
  let cleared = 0
  for (const { collection, store } of await forgottenCollections(pool)) {
    try {
      await equipment.store(store).drop(collection)
    } catch (error) {
      left(collection, error)
      if (!(error instanceof StagedoorError && error.code === 'store_not_configured')) continue
    }
    if (await clearCollection(pool, collection)) cleared++
  }
  return cleared
}
