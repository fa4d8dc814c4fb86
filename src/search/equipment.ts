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

/** `pool` acts as vector_worker to write; a service role is enough to read. */
export function openEquipment(pool: Pool, config: EquipmentConfig): Equipment {
  const embedders = new Map<string, Promise<Embedder>>()
  const stores = new Map<StoreKind, VectorStore>()
  return {
    embedder(collection) {
      const known = embedders.get(collection.collection)
      if (known) return known
      const opened = openEmbedder(collection, config, { pool })
      embedders.set(collection.collection, opened)
      // What is not configured today may be tomorrow.
      opened.catch(() => embedders.delete(collection.collection))
      return opened
    },
    store(kind) {
      const store = stores.get(kind) ?? openStore(kind, config, { pool })
      stores.set(kind, store)
      return store
    },
    async close() {
      await Promise.all([...stores.values()].map((store) => store.close()))
    },
  }
}
