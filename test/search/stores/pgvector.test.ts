/**
 * Vectors in pgvector, on PGlite, which ships the extension: the servers of the other tests do not. With the schema that the
 * functions need, as migrations make it.
 */
import { randomUUID } from 'node:crypto'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queryable } from '../../../src/kernel/postgres/connection.ts'
import { readSqlFiles } from '../../../src/kernel/postgres/migrate/files.ts'
import { openStore } from '../../../src/search/providers.ts'
import { createPgvectorStore } from '../../../src/search/stores/pgvector.ts'
import { StoreUnavailable, type VectorStore } from '../../../src/search/stores/store.ts'
import { useDatabase } from '../../support/database.ts'
import { DIMENSION, pointOf, storeConformance, vectorOf } from './conformance.ts'
import { registerCollection, workerPool } from './recorded.ts'

const FUNCTIONS = [
  'collection_require_writable',
  ...['table', 'ensure', 'put', 'delete', 'nearest'].map((n) => `pgvector_${n}`),
]
const SCHEMA = `
  create role vector_worker; create role dot_executor; create role service_role;
  create schema iu_core; grant usage on schema iu_core to vector_worker, dot_executor;
  create schema extensions; create extension vector schema extensions;
  create table iu_core.search_collection (
    collection text primary key, state text not null, store text not null, dimension integer);
  grant select on iu_core.search_collection to vector_worker, dot_executor;`

const workspaces = [randomUUID(), randomUUID()] as const
let lite: PGlite
let store: VectorStore

const register = async (collection: string, dimension: number, state = 'active') => {
  await lite.query(`reset role`)
  await lite.query(`insert into iu_core.search_collection values ($1, $2, 'pgvector', $3)`, [
    collection,
    state,
    dimension,
  ])
  await lite.query(`set role vector_worker`)
}

beforeAll(async () => {
  lite = await PGlite.create({ extensions: { vector } })
  await lite.exec(SCHEMA)
  const { routines } = readSqlFiles()
  for (const name of FUNCTIONS) {
    const { sql } = routines.find((routine) => routine.name === `fn_search_${name}`)!
    await lite.exec(sql)
  }
  await lite.exec('revoke execute on all functions in schema iu_core from public; set role vector_worker')
  const db = { query: (sql: string, values: unknown[]) => lite.query(sql, values) } as unknown as Queryable
  const stateOf = async (collection: string) => {
    const { rows } = await lite.query<{ state: string }>(
      'select state from iu_core.search_collection where collection = $1',
      [collection],
    )
    return rows[0]?.state
  }
  store = createPgvectorStore({ db, stateOf })
})
afterAll(() => lite.close())

storeConformance('the store pgvector', () => ({ store, workspaces, register, record: async () => {} }))

describe('the table of a collection', () => {
  it('has an index for the nearest, which goes on until a workspace is served', async () => {
    await register('indexed', DIMENSION)
    await store.ensure('indexed', DIMENSION)
    const theirs = Array.from({ length: 3_000 }, (_, seed) => pointOf(workspaces[1], seed))
    const ours = Array.from({ length: 30 }, (_, seed) => pointOf(workspaces[0], seed * 97 + 5_000))
    await store.upsert('indexed', [...theirs, ...ours])
    const found = await store.nearest('indexed', vectorOf(1), { limit: 30, workspace: workspaces[0] })
    expect(found).toHaveLength(30)
    const { rows } = await lite.query<{ indexdef: string }>(
      `select indexdef from pg_indexes where tablename = 'search_vectors_indexed' and indexdef like '%hnsw%'`,
    )
    expect(rows[0]!.indexdef).toContain('vector_cosine_ops')
  })

  it('is made for more numbers than an index takes', async () => {
    await register('wide', 3_072)
    await store.ensure('wide', 3_072)
    const point = { ...pointOf(workspaces[0], 1), vector: vectorOf(1, 3_072) }
    await store.upsert('wide', [point])
    const [best] = await store.nearest('wide', point.vector, { limit: 1, workspace: workspaces[0] })
    expect(best!.id).toBe(point.id)
  })

  it('is written by nobody but through the functions', async () => {
    await register('walled', DIMENSION)
    await store.ensure('walled', DIMENSION)
    await expect(lite.query('delete from iu_core.search_vectors_walled')).rejects.toThrow(/permission denied/)
    await lite.exec('set role dot_executor')
    await expect(store.upsert('walled', [pointOf(workspaces[0], 1)])).rejects.toThrow(/permission denied/)
    expect(await store.nearest('walled', vectorOf(1), { limit: 1, workspace: workspaces[0] })).toEqual([])
    await lite.exec('set role vector_worker')
  })

  it('is an outage for who searches it while it is not there', async () => {
    await register('lost', DIMENSION)
    await expect(store.nearest('lost', vectorOf(1), { limit: 1, workspace: workspaces[0] })).rejects.toThrow(
      StoreUnavailable,
    )
    await expect(store.scroll('lost')).rejects.toThrow(StoreUnavailable)
  })
})

describe('on a server without the extension', () => {
  const db = useDatabase()
  const pool = workerPool(db)

  it('says what is missing', async () => {
    await registerCollection(db, 'elsewhere', DIMENSION, 'retired', 'pgvector')
    const plain = openStore('pgvector', { qdrantUrl: undefined, qdrantApiKey: undefined }, { pool })
    await expect(plain.ensure('elsewhere', DIMENSION)).rejects.toMatchObject({
      code: 'store_not_configured',
      message: expect.stringContaining('no extension vector'),
    })
  })
})
