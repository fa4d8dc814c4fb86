/** Collections and points as Postgres records them before a store is written. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { createPool, type Pool } from '../../../src/kernel/postgres/connection.ts'
import { openStore } from '../../../src/search/providers.ts'
import type { Point, VectorStore } from '../../../src/search/stores/store.ts'
import type { TestDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'

export interface Places {
  readonly workspaces: [string, string]
  readonly units: Map<string, string>
}

const WITHOUT_NETWORK = { qdrantUrl: undefined, qdrantApiKey: undefined }

/** Two workspaces with one unit each. */
export function useStoreWorkspaces(db: TestDatabase): Places {
  const places: Places = { workspaces: ['', ''], units: new Map() }
  beforeAll(async () => {
    for (const at of [0, 1] as const) {
      const workspace = await createWorkspace(db)
      places.workspaces[at] = workspace
      const operator = await createMember(db, workspace, 'operator')
      const unit = await db.as(operator, async (client) => {
        const { rows } = await client.query<{ unit_id: string }>(
          `select unit_id from iu_core.fn_unit_create($1, 'handbook/one', 'A body')`,
          [workspace],
        )
        return rows[0]!.unit_id
      })
      places.units.set(workspace, unit)
    }
  })
  return places
}

/** As a worker of its own process has it. */
export function workerPool(db: TestDatabase): Pool {
  const pool = createPool(db.url('stagedoor_worker'), { role: 'vector_worker', max: 4 })
  afterAll(() => pool.end())
  return pool
}

export function openPostgres(db: TestDatabase): VectorStore {
  return openStore('postgres', WITHOUT_NETWORK, { pool: workerPool(db) })
}

export async function registerCollection(
  db: TestDatabase,
  collection: string,
  dimension: number,
  state = 'retired',
  store = 'postgres',
): Promise<void> {
  await db.owner(
    `insert into iu_core.search_collection (collection, source_kind, state, embedder, dimension, store, fingerprint)
     values ($1, 'information_unit', $2, 'hashed', $3, $4, 'test')`,
    [collection, state === 'active' ? 'retired' : state, dimension, store],
  )
}

export const RECORD = `
  insert into iu_core.search_point (collection, chunk_id, unit_id, text_hash, generation, state)
  select $1, p.id, p.unit_id, '\\x00', 1, 'writing' from unnest($2::uuid[], $3::uuid[]) as p (id, unit_id)
  on conflict (collection, chunk_id) do update set state = 'writing', vector = null`

export async function recordPoints(
  db: TestDatabase,
  places: Places,
  collection: string,
  points: readonly Point[],
): Promise<void> {
  await db.owner(RECORD, [
    collection,
    points.map(({ id }) => id),
    points.map(({ payload }) => places.units.get(payload.workspace_id)),
  ])
}

/** A uuid that is the same for the same number. */
export function idOf(number: number): string {
  const hex = createHash('sha256').update(String(number)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
