/** The default store: vectors in Postgres. How the mirror follows is in mirror.test.ts. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { createPool } from '../../../src/kernel/postgres/connection.ts'
import { openStore } from '../../../src/search/providers.ts'
import { StoreUnavailable } from '../../../src/search/stores/store.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { pointOf, type StoreUnderTest, storeConformance, vectorOf } from './conformance.ts'
import { openPostgres, recordPoints, registerCollection, useStoreWorkspaces } from './recorded.ts'

const db = useDatabase()
const places = useStoreWorkspaces(db)
const store = openPostgres(db)
let under: StoreUnderTest

beforeAll(() => {
  under = {
    store,
    workspaces: places.workspaces,
    register: (collection, dimension, state) => registerCollection(db, collection, dimension, state),
    record: (collection, points) => recordPoints(db, places, collection, points),
  }
})

storeConformance('the store postgres', () => under)

describe('a late worker', () => {
  it('brings nothing back that is gone, and adds nothing that was never recorded', async () => {
    await registerCollection(db, 'late', 8)
    const [gone, unknown] = [pointOf(places.workspaces[0], 1), pointOf(places.workspaces[0], 2)]
    await under.record('late', [gone])
    await under.store.upsert('late', [gone])
    await under.store.remove('late', [gone.id])
    await under.store.upsert('late', [gone, unknown])
    expect(await under.store.scroll('late')).toEqual({ points: [] })
    expect(
      await db.owner(`select state, vector from iu_core.search_point where collection = 'late'`),
    ).toEqual([{ state: 'removed', vector: null }])
  })
})

describe('the functions below the store', () => {
  const call = (sql: string, values: unknown[]) => db.owner(sql, values)

  it('refuse the old knowledge base and unknown collections by themselves', async () => {
    const store = 'select iu_core.fn_vector_points_store($1, $2, $3)'
    const forget = 'select iu_core.fn_vector_points_delete($1, $2)'
    const id = randomUUID()
    expect(await sqlstateOf(call(store, ['production_documents', [id], [Buffer.alloc(32)]]))).toBe('SD916')
    expect(await sqlstateOf(call(forget, ['production_documents', [id]]))).toBe('SD916')
    expect(await sqlstateOf(call(forget, ['nobody', [id]]))).toBe('SD915')
  })

  it('refuse vectors of another dimension, and lists that do not match', async () => {
    await registerCollection(db, 'exact', 8)
    const store = 'select iu_core.fn_vector_points_store($1, $2, $3)'
    const id = randomUUID()
    expect(await sqlstateOf(call(store, ['exact', [id], [Buffer.alloc(28)]]))).toBe('SD001')
    expect(await sqlstateOf(call(store, ['exact', [id], []]))).toBe('SD001')
    expect(await sqlstateOf(call(store, ['exact', null, null]))).toBe('SD001')
  })
})

it('reports an unavailable database as an unavailable store', async () => {
  const pool = createPool('postgres://127.0.0.1:1/nowhere')
  const away = openStore('postgres', { qdrantUrl: undefined, qdrantApiKey: undefined }, { pool })
  const asked = away.nearest('late', vectorOf(1), { limit: 1, workspace: places.workspaces[0] })
  await expect(asked).rejects.toThrow(StoreUnavailable)
  await pool.end()
})
