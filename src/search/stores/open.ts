/** Opens a vector store by the name that a collection's row has for it. */
import type { Config } from '../../config.ts'
import type { Pool } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import { createPgvectorStore } from './pgvector.ts'
import { createPostgresStore } from './postgres.ts'
import { createQdrantStore } from './qdrant.ts'
import type { StoreKind, VectorStore } from './store.ts'

export type StoreConfig = Pick<Config, 'qdrantUrl' | 'qdrantApiKey'>

export interface StoreDeps {
  /** As vector_worker to write; a service role is enough to read. */
  readonly pool: Pool
  readonly timeoutMs?: number
}

/** One for a process is enough: it serves every collection of its kind. Nothing is reached before the first call. */
export function openStore(kind: StoreKind, config: StoreConfig, deps: StoreDeps): VectorStore {
  const { pool } = deps
  const stateOf = async (collection: string): Promise<string | undefined> => {
    const { rows } = await pool.query<{ state: string }>(
      'select state from iu_core.search_collection where collection = $1',
      [collection],
    )
    return rows[0]?.state
  }
  switch (kind) {
    case 'postgres':
      return createPostgresStore({ pool, stateOf })
    case 'pgvector':
      return createPgvectorStore({ db: pool, stateOf })
    case 'qdrant': {
      const { qdrantUrl: url, qdrantApiKey: apiKey } = config
      if (url === undefined) {
        throw new StagedoorError('store_not_configured', { store: kind, reason: 'QDRANT_URL is not set' })
      }
      return createQdrantStore({
        url,
        apiKey,
        stateOf,
        ...(deps.timeoutMs !== undefined && { timeoutMs: deps.timeoutMs }),
      })
    }
    default:
      throw new StagedoorError('store_not_configured', {
        store: String(kind),
        reason: 'there is no store of this name',
      })
  }
}
