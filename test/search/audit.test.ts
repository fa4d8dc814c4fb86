/** What a store really holds, compared with Postgres: planted faults are found, and ours are repaired on command. */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { auditSearch, stagingInStores } from '../../src/search/audit.ts'
import { LEGACY_COLLECTION } from '../../src/search/stores/store.ts'
import { setGate } from '../staging/people.ts'
import { INTERMEDIATE, stage } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type CreatedUnit, call, create, edit, useLife } from '../units/life.ts'
import { documentIn } from './projecting.ts'
import { activeName, heldOf, stateOf, useProjecting, vectorOf } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
let unit: CreatedUnit
let active: string
beforeEach(async () => {
  unit = await create(life, { body: 'Anchors are painted black.' })
  await place.settle()
  active = await activeName(place.pool)
  await audit(true)
  await place.settle()
})

const audit = (repair = false) =>
  auditSearch({ pool: db.pool('stagedoor_worker'), worker: place.pool, providers: place.providers, repair })
const found = async () =>
  (await audit()).findings.map(({ finding, id, collection }) => ({ finding, id, collection }))
const pointOf = (id: string) =>
  [...place.store.of(active).values()].find(({ payload }) => payload.unit_id === id)!

/** A record of the staging zone, as an intruder would have to know it. */
async function stagedRecord(): Promise<string> {
  await setGate(db, 'staging_writes_enabled', true)
  const what = { workspace: life.workspace, owner: 'importer', ...INTERMEDIATE }
  return (await stage(life.service.session, what)).staging_record_id
}

it('finds nothing where nothing is wrong', async () => {
  const report = await audit()
  expect(report).toMatchObject({ ok: true, findings: [] })
  expect(report.collections.map(({ collection }) => collection).sort()).toEqual(
    [LEGACY_COLLECTION, active].sort(),
  )
})

it('finds an orphan and removes it by its id', async () => {
  const id = randomUUID()
  place.store.of(active).set(id, { ...pointOf(unit.unit_id), id })
  expect(await found()).toEqual([{ finding: 'orphan', id, collection: active }])
  await audit(true)
  expect(place.store.of(active).has(id)).toBe(false)
  expect(pointOf(unit.unit_id)).toBeDefined()
  expect(await found()).toEqual([])
})

it('finds what somebody planted or took in the records themselves, where they are the store', async () => {
  const other = await create(life, { body: 'Sails are dried in the sun.' })
  const third = await create(life, { body: 'Lamps are lit at dusk.' })
  await place.settle()
  const chunkOf = async (id: string) =>
    (
      await db.owner<{ id: string }>('select chunk_id as id from iu_core.search_chunk where unit_id = $1', [
        id,
      ])
    )[0]!.id
  // As the store postgres has it: whatever is recorded is held.
  const held = place.store.of(active)
  const orphan = randomUUID()
  await db.owner(
    `insert into iu_core.search_point (collection, chunk_id, unit_id, text_hash, generation, state)
     select collection, $2, unit_id, text_hash, generation, state from iu_core.search_point where collection = $1 and unit_id = $3`,
    [active, orphan, unit.unit_id],
  )
  held.set(orphan, { ...pointOf(unit.unit_id), id: orphan })
  const taken = await chunkOf(other.unit_id)
  await db.owner('delete from iu_core.search_point where collection = $1 and chunk_id = $2', [active, taken])
  held.delete(taken)
  const strange = await chunkOf(third.unit_id)
  await db.owner('update iu_core.search_point set unit_id = $3 where collection = $1 and chunk_id = $2', [
    active,
    strange,
    unit.unit_id,
  ])
  const kinds = (await found()).map(({ finding, id }) => `${finding} ${id}`).sort()
  expect(kinds).toEqual([`ghost ${taken}`, `orphan ${orphan}`, `payload ${strange}`].sort())
  await audit(true)
  await place.settle()
  expect(await found()).toEqual([])
  expect(heldOf(place.store, active, other.unit_id)).toHaveLength(1)
  expect(heldOf(place.store, active, third.unit_id)).toHaveLength(1)
  for (const { unit_id } of [unit, other, third]) expect(await stateOf(db, unit_id)).toBe('current')
})

it('finds what was deleted and is there again', async () => {
  const point = pointOf(unit.unit_id)
  await call(life.operator, 'fn_unit_delete', { p_unit_id: unit.unit_id })
  await place.settle()
  place.store.of(active).set(point.id, point)
  expect(await found()).toEqual([{ finding: 'orphan', id: point.id, collection: active }])
})

it('brings back what somebody wanted again between the look and the removal', async () => {
  const point = pointOf(unit.unit_id)
  await edit(life.operator, unit.unit_id, 1, { p_body: 'Anchors are painted white.' })
  await place.settle()
  place.store.of(active).set(point.id, point)
  const late: typeof place.providers = {
    ...place.providers,
    store: () =>
      Object.assign(Object.create(place.store), {
        async remove(collection: string, ids: readonly string[]) {
          await edit(life.operator, unit.unit_id, 2, { p_body: 'Anchors are painted black.' })
          await place.settle()
          await place.store.remove(collection, ids)
        },
      }),
  }
  const report = await auditSearch({
    pool: db.pool('stagedoor_worker'),
    worker: place.pool,
    providers: late,
    repair: true,
  })
  expect(report.findings).toMatchObject([{ finding: 'orphan', id: point.id }])
  await place.settle()
  expect(heldOf(place.store, active, unit.unit_id)).toHaveLength(1)
  expect(await stateOf(db, unit.unit_id)).toBe('current')
  expect(await found()).toEqual([])
})

it('finds a ghost and has it written again', async () => {
  const { id } = pointOf(unit.unit_id)
  place.store.of(active).delete(id)
  expect(await found()).toEqual([{ finding: 'ghost', id, collection: active }])
  await audit(true)
  await place.settle()
  expect(heldOf(place.store, active, unit.unit_id)).toHaveLength(1)
  expect(await found()).toEqual([])
  expect(await stateOf(db, unit.unit_id)).toBe('current')
})

it.each([
  ['unit', { unit_id: randomUUID() }],
  ['workspace', { workspace_id: randomUUID() }],
  ['hash', { content_hash_at_embedding: 'f'.repeat(64) }],
])('finds a payload that lies about its %s, and has it written again', async (_, lie) => {
  const point = pointOf(unit.unit_id)
  place.store.of(active).set(point.id, { ...point, payload: { ...point.payload, ...lie } })
  expect(await found()).toEqual([{ finding: 'payload', id: point.id, collection: active }])
  await audit(true)
  await place.settle()
  expect(place.store.of(active).get(point.id)).toEqual(point)
  expect(await found()).toEqual([])
})

it('finds a unit that Postgres lost the text of, and one that it kept too long', async () => {
  const left = await create(life, { body: 'Chains are counted.' })
  await place.settle()
  await db.owner('delete from iu_core.search_chunk where unit_id = $1', [unit.unit_id])
  await call(life.operator, 'fn_unit_delete', { p_unit_id: left.unit_id })
  await db.owner(`update iu_core.vector_outbox set status = 'done' where unit_id = $1`, [left.unit_id])
  const findings = (await found()).filter(({ collection }) => collection === null)
  expect(findings).toEqual(
    expect.arrayContaining([
      { finding: 'missing', id: unit.unit_id, collection: null },
      { finding: 'left', id: left.unit_id, collection: null },
    ]),
  )
  await audit(true)
  await place.settle()
  await audit(true)
  await place.settle()
  expect(await found()).toEqual([])
})

it('finds a document that Postgres lost the text of, and one that it kept too long', async () => {
  const [lost, left] = [await documentIn(db, life, 'Old chains.'), await documentIn(db, life, 'Old ropes.')]
  await place.settle()
  const stateOfLost = () =>
    db.owner('select vector_state from iu_core.v_document where document_id = $1', [lost])
  expect(await stateOfLost()).toEqual([{ vector_state: 'current' }])
  await db.owner('delete from iu_core.search_chunk where document_id = $1', [lost])
  await db.pool('stagedoor_worker').query('select iu_core.fn_document_delete($1)', [left])
  await db.owner(`update iu_core.vector_outbox set status = 'done' where document_id = $1`, [left])
  expect(await stateOfLost()).toEqual([{ vector_state: 'stale' }])
  const findings = await found()
  expect(findings).toHaveLength(2)
  expect(findings).toEqual(
    expect.arrayContaining([
      { finding: 'missing', id: lost, collection: null },
      { finding: 'left', id: left, collection: null },
    ]),
  )
  await audit(true)
  await place.settle()
  expect(await found()).toEqual([])
  expect(await stateOfLost()).toEqual([{ vector_state: 'current' }])
})

describe('a staging id', () => {
  it('may be part of a unit’s own address', async () => {
    const record = await stagedRecord()
    const { unit_id } = await create(life, { address: `drafts/${record}`, body: 'It was staged once.' })
    await place.settle()
    expect(heldOf(place.store, active, unit_id)).toMatchObject([{ canonical_address: `drafts/${record}` }])
    expect(await found()).toEqual([])
    const options = { pool: db.pool('stagedoor_worker'), worker: place.pool, providers: place.providers }
    expect(await stagingInStores(options)).toMatchObject({ ok: true })
  })

  it('is found as the id of a point and anywhere in a payload, and removed', async () => {
    const record = await stagedRecord()
    const other = randomUUID()
    const { payload } = pointOf(unit.unit_id)
    place.store.of(active).set(record, { id: record, vector: vectorOf('x'), payload })
    place.store.of(active).set(other, {
      id: other,
      vector: vectorOf('y'),
      payload: { ...payload, canonical_address: `from/${record.toUpperCase()}` },
    })
    const staged = (await found()).filter(({ finding }) => finding === 'staging').map(({ id }) => id)
    expect(staged.sort()).toEqual([record, other].sort())
    const health = await stagingInStores({
      pool: db.pool('stagedoor_worker'),
      providers: place.providers,
    })
    expect(health).toMatchObject({ ok: false, detail: expect.stringContaining(record) })
    await audit(true)
    expect(await found()).toEqual([])
    expect(
      await stagingInStores({
        pool: db.pool('stagedoor_worker'),
        providers: place.providers,
      }),
    ).toMatchObject({ ok: true })
  })

  it('is found in the old knowledge base, and left to whoever fills it', async () => {
    const record = await stagedRecord()
    const id = randomUUID()
    const payload = { document_id: 'x', content: `see ${record}` } as never
    place.store.of(LEGACY_COLLECTION).set(id, { id, vector: vectorOf('x'), payload })
    const report = await audit(true)
    expect(report.findings).toMatchObject([
      { finding: 'staging', id, collection: LEGACY_COLLECTION, repaired: false },
    ])
    expect(place.store.of(LEGACY_COLLECTION).has(id)).toBe(true)
    place.store.of(LEGACY_COLLECTION).delete(id)
  })
})

describe('a store that is unavailable', () => {
  beforeEach(() => {
    place.faults.storeAway = true
    return () => {
      place.faults.storeAway = false
    }
  })

  it('is named, and nothing is said to be well', async () => {
    const report = await audit()
    expect(report).toMatchObject({ ok: false, findings: [] })
    expect(report.collections).toMatchObject([{ points: null }, { points: null }])
  })

  it('proves nothing about staged data', async () => {
    const options = { pool: db.pool('stagedoor_worker'), worker: place.pool, providers: place.providers }
    expect(await stagingInStores(options)).toEqual({
      ok: false,
      detail: expect.stringContaining(`not checked: `),
    })
  })
})

it('is for back-end code only', async () => {
  for (const sql of [
    `select iu_core.fn_search_audit('units_1', '[]')`,
    `select iu_core.fn_search_audit_repair('units_1', '{}')`,
    'select iu_core.fn_search_audit_text()',
  ]) {
    expect(await sqlstateOf(place.pool.query(sql)), sql).toBe('42501')
    expect(await sqlstateOf(life.reviewer.session.query(sql)), sql).toBe('42501')
  }
})
