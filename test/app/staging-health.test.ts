/** The health of the staging zone looks into the stores of vectors, too: what should never be there would be there unnoticed. */
import { beforeAll, expect, it } from 'vitest'
import { withStoreHealth } from '../../src/app/search.ts'
import { createPool } from '../../src/kernel/postgres/connection.ts'
import { createFirstCollection } from '../../src/search/collections.ts'
import { stagingHealth } from '../../src/staging/records.ts'
import { setGate } from '../staging/people.ts'
import { INTERMEDIATE, stage } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { useLife } from '../units/life.ts'

const db = useDatabase()
const life = useLife(db)
let record: string
beforeAll(async () => {
  await setGate(db, 'staging_writes_enabled', true)
  const what = { workspace: life.workspace, owner: 'importer', ...INTERMEDIATE }
  record = (await stage(life.service.session, what)).staging_record_id
  const pool = createPool(db.url('stagedoor_worker'), { role: 'vector_worker', max: 1 })
  await createFirstCollection(pool, {
    embedder: 'hashed',
    model: 'hashed-1',
    dimension: 2,
    store: 'postgres',
    fingerprint: 'test',
  })
  await pool.end()
})

const health = async () => {
  const pool = db.pool('stagedoor_worker')
  const nothing = {
    embeddingsUrl: undefined,
    embeddingsApiKey: undefined,
    qdrantUrl: undefined,
    qdrantApiKey: undefined,
  }
  return withStoreHealth(pool, nothing, await stagingHealth(pool))
}

it('is well where no store holds a staging id, and fails where one does', async () => {
  expect(await health()).toMatchObject({ ok: true })
  await db.owner(
    `insert into iu_core.search_point (collection, chunk_id, text_hash, generation, state, vector)
     values ('units_1', $1, '', 1, 'written', '\\x0000803f00000000')`,
    [record],
  )
  const found = await health()
  expect(found.ok).toBe(false)
  expect(found.checks.filter((check) => !check.ok)).toEqual([
    { name: 'vector stores', ok: false, detail: expect.stringContaining(record) },
  ])
})
