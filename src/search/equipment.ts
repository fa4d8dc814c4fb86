/** Embedders and stores of collections, opened when they are first needed and closed together. */
import type { Pool } from '../db/connection.ts'
import type { Embedder } from './embedders/embedder.ts'
import { type EmbedderConfig, type EmbeddingCollection, openEmbedder } from './embedders/open.ts'
import { openStore, type StoreConfig } from './stores/open.ts'
import type { StoreKind, VectorStore } from './stores/store.ts'

export interface Equipment {
  embedder(collection: EmbeddingCollection): Promise<Embedder>
  store(kind: StoreKind): VectorStore
  close(): Promise<void>
}

export type EquipmentConfig = EmbedderConfig & StoreConfig

/** The active one, the one being built, and one for questions from before a switch: each holds a model of tens of megabytes. */
const MOST_EMBEDDERS = 3

/** `pool` acts as vector_worker to write; a service role is enough to read. `timeoutMs`: of a call over a network. */
export function openEquipment(
  pool: Pool,
  config: EquipmentConfig,
  options: { timeoutMs?: number } = {},
): Equipment {
  const embedders = new Map<string, Promise<Embedder>>()
  // One of a kind serves every collection: a question of before a switch is answered by it, too.
  const stores = new Map<StoreKind, VectorStore>()
  return {
    embedder(collection) {
      const { collection: name } = collection
      const known = embedders.get(name)
      const opened = known ?? openEmbedder(collection, config, { pool, ...options })
      // The last to be asked for is the last to go.
      embedders.delete(name)
      embedders.set(name, opened)
      for (const old of [...embedders.keys()].slice(0, -MOST_EMBEDDERS)) embedders.delete(old)
      if (known) return known
      // What is not configured today may be tomorrow.
      opened.catch(() => {
        if (embedders.get(name) === opened) embedders.delete(name)
      })
      return opened
    },
    store(kind) {
      const store = stores.get(kind) ?? openStore(kind, config, { pool, ...options })
      stores.set(kind, store)
      return store
    },
    async close() {
      await Promise.all([...stores.values()].map((store) => store.close()))
    },
  }
}
