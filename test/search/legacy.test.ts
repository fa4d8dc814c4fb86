/** The old knowledge base beside us: read, never changed. One test a rule: VG-1…9 are its guardrails, VA-1…7 what must not be done. */
import { describe, expect, it } from 'vitest'
import { auditSearch } from '../../src/search/audit.ts'
import { guardStore, LEGACY_COLLECTION, LegacyCollection } from '../../src/search/stores/store.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { call, create, edit, sha256, useLife } from '../units/life.ts'
import { heldOf, rowOf, useProjecting, vectorOf } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)

let refs = 0
const put = async (body: string, ref = `kb:${refs++}`, who = life.service) => {
  const made = await call<{ fn_document_put: string }>(who, 'fn_document_put', {
    p_workspace_id: life.workspace,
    p_source_ref: ref,
    p_title: 'A page',
    p_body: body,
  })
  return made.fn_document_put
}
const state = async (document: string) => {
  const [row] = await db.owner<{ vector_state: string }>(
    'select vector_state from iu_core.v_document where document_id = $1',
    [document],
  )
  return row!.vector_state
}
const chunksOf = (document: string) =>
  db.owner<{ from_char: number; to_char: number }>(
    'select from_char, to_char from iu_core.search_chunk where document_id = $1 order by position',
    [document],
  )
/** As whoever filled it did. */
const legacyPoint = (document: string) => {
  const id = `00000000-0000-4000-8000-${String(refs++).padStart(12, '0')}`
  const payload = { document_id: document, content: 'Old text', metadata: {}, is_human_readable: true }
  place.store.of(LEGACY_COLLECTION).set(id, { id, vector: vectorOf('old'), payload: payload as never })
  return id
}
const untouched = async (work: () => Promise<unknown>) => {
  const before = structuredClone([...place.store.of(LEGACY_COLLECTION)])
  await work()
  expect([...place.store.of(LEGACY_COLLECTION)]).toEqual(before)
}

describe('a document', () => {
  it('is searched by its text after the quiet window; its state follows its update and our record of it', async () => {
    const document = await put('Pumps are greased monthly.', 'kb:pumps')
    expect(await state(document)).toBe('stale')
    expect(await rowOf(db, document)).toMatchObject({ status: 'pending' })
    expect(await place.worker().claim()).toEqual([])
    await place.settle()
    expect(await state(document)).toBe('current')
    expect(await put('Pumps are greased monthly.', 'kb:pumps')).toBe(document)
    expect(await state(document)).toBe('current')
    await put('Pumps are greased weekly.', 'kb:pumps')
    expect(await state(document)).toBe('stale')
    await place.settle()
    expect(await state(document)).toBe('current')
    await call(life.service, 'fn_document_delete', { p_document_id: document })
    expect(await state(document)).toBe('absent')
    await place.settle()
    expect(await chunksOf(document)).toEqual([])
    await put('Pumps are back.', 'kb:pumps')
    await place.settle()
    expect(await state(document)).toBe('current')
  })

  it('is stale without an outbox row, too, when it is newer than our record', async () => {
    const document = await put('Valves close by themselves.')
    await place.settle()
    await db.owner(
      `update iu_core.search_document_sync set document_updated_at = document_updated_at - interval '1 second' where document_id = $1`,
      [document],
    )
    expect(await state(document)).toBe('stale')
  })

  it('is an error as a dead letter', async () => {
    const document = await put('Valves close slowly.')
    await db.owner(`update iu_core.vector_outbox set status = 'dead_letter' where document_id = $1`, [
      document,
    ])
    expect(await state(document)).toBe('error')
    await call(life.service, 'fn_vector_replay', {})
    await place.settle()
    expect(await state(document)).toBe('current')
  })

  it('that was only cut is absent and enqueues nothing; put, it is of the knowledge base', async () => {
    const [cut] = await db.owner<{ document_id: string }>(
      `insert into iu_core.kb_document (workspace_id, source_ref, title, body, content_hash, updated_by)
       values ($1, 'file:cut.md', 'Cut', 'Cut into pieces.', $2, 'test') returning document_id`,
      [life.workspace, sha256('Cut into pieces.')],
    )
    expect(await state(cut!.document_id)).toBe('absent')
    expect(await rowOf(db, cut!.document_id)).toBeUndefined()
    expect(
      await sqlstateOf(call(life.service, 'fn_document_delete', { p_document_id: cut!.document_id })),
    ).toBe('SD001')
    expect(await put('Cut into pieces.', 'file:cut.md')).toBe(cut!.document_id)
    await place.settle()
    expect(await state(cut!.document_id)).toBe('current')
  })

  it('is put and removed by those who administer, and is not there for others', async () => {
    const document = await put('Filters are changed.')
    expect(await sqlstateOf(put('x', 'kb:x', life.operator))).toBe('42501')
    expect(await sqlstateOf(put('x', 'kb:x', life.reviewer))).toBe('SD202')
    expect(await sqlstateOf(call(life.stranger, 'fn_document_delete', { p_document_id: document }))).toBe(
      'SD917',
    )
    for (const bad of ['', '   ']) expect(await sqlstateOf(put(bad))).toBe('SD001')
  })
})

describe('VG', () => {
  it('VG-1 production_documents is never changed: every store refuses, whatever our tables say', async () => {
    const store = guardStore(place.store, async () => 'active')
    const point = { id: 'x', vector: vectorOf('x'), payload: {} as never }
    for (const write of [
      () => store.upsert(LEGACY_COLLECTION, [point]),
      () => store.remove(LEGACY_COLLECTION, ['x']),
      () => store.ensure(LEGACY_COLLECTION, 8),
      () => store.drop(LEGACY_COLLECTION),
    ])
      await expect(write()).rejects.toThrow(LegacyCollection)
    for (const name of ['activate', 'cancel', 'delete'])
      expect(
        await sqlstateOf(
          place.pool.query(`select iu_core.fn_search_collection_${name}($1)`, [LEGACY_COLLECTION]),
        ),
      ).toBe('SD916')
    expect(
      await sqlstateOf(
        db
          .pool('stagedoor_worker')
          .query(`select iu_core.fn_search_audit_repair($1, '{}')`, [LEGACY_COLLECTION]),
      ),
    ).toBe('SD916')
    expect(
      await sqlstateOf(
        place.pool.query('select iu_core.fn_search_collection_backfill($1)', [LEGACY_COLLECTION]),
      ),
    ).toBe('SD915')
  })

  it('VG-2 documents keep windows of 4,000 characters that share 400', async () => {
    const document = await put('abcdefghi '.repeat(1000))
    await place.settle()
    const windows = await chunksOf(document)
    expect(windows.map(({ from_char }) => from_char)).toEqual([0, 3600, 7200])
    expect(windows[0]!.to_char).toBeGreaterThan(3990)
  })

  it('VG-3 documents are never embedded by us', async () => {
    const before = place.embedder.embeddedTexts.length
    const document = await put('Nobody embeds this page.')
    await place.settle()
    expect(place.embedder.embeddedTexts.slice(before)).toEqual([])
    expect(await db.owner('select from iu_core.search_point where document_id = $1', [document])).toEqual([])
  })

  it('VG-4 VG-6 orphans of the old knowledge base are reported and never removed', async () => {
    const id = legacyPoint('a document that is not there')
    await untouched(async () => {
      const report = await auditSearch({
        pool: db.pool('stagedoor_worker'),
        worker: place.pool,
        providers: place.providers,
        repair: true,
      })
      expect(report.findings).toMatchObject([
        { finding: 'orphan', id, collection: LEGACY_COLLECTION, repaired: false },
      ])
    })
    place.store.of(LEGACY_COLLECTION).clear()
  })

  it('VG-5 VG-8 VA-4 whatever happens to documents here, their pipeline’s points stay as they are', async () => {
    const document = await put('Pages come and go.')
    legacyPoint(document)
    await untouched(async () => {
      await place.settle()
      await call(life.service, 'fn_document_delete', { p_document_id: document })
      await place.settle()
    })
    place.store.of(LEGACY_COLLECTION).clear()
  })

  it('VG-7 VA-3 nothing of a unit is asked of, or put into, their payload', async () => {
    const document = await put('Payloads are theirs.')
    const id = legacyPoint(document)
    await untouched(place.settle)
    expect(Object.keys(place.store.of(LEGACY_COLLECTION).get(id)!.payload)).not.toContain('unit_id')
    const report = await auditSearch({
      pool: db.pool('stagedoor_worker'),
      worker: place.pool,
      providers: place.providers,
    })
    expect(report.findings).toEqual([])
    place.store.of(LEGACY_COLLECTION).clear()
  })

  it('VG-9 the store can be lost: Postgres makes it again', async () => {
    const unit = await create(life, { body: 'Everything can be made again.' })
    await place.settle()
    place.store.of('units_1').clear()
    await auditSearch({
      pool: db.pool('stagedoor_worker'),
      worker: place.pool,
      providers: place.providers,
      repair: true,
    })
    await place.settle()
    expect(heldOf(place.store, 'units_1', unit.unit_id)).toHaveLength(1)
  })
})

describe('VA', () => {
  it('VA-1 no chunk reaches beyond its unit', async () => {
    const one = await create(life, { body: 'Short.' })
    const two = await create(life, { body: `${'long '.repeat(1500)}` })
    await place.settle()
    const rows = await db.owner<{ inside: boolean }>(
      `select c.from_char >= 0 and c.to_char <= length(v.body) and v.unit_id = c.unit_id as inside
         from iu_core.search_chunk c join iu_core.unit_version v using (unit_version_id) where c.unit_id = any ($1)`,
      [[one.unit_id, two.unit_id]],
    )
    expect(rows.length).toBeGreaterThan(2)
    expect(rows.every(({ inside }) => inside)).toBe(true)
  })

  it('VA-2 nothing that a store holds gets into Postgres', async () => {
    const unit = await create(life, { body: 'Postgres knows best.' })
    await place.settle()
    const [point] = [...place.store.of('units_1').values()].filter(
      ({ payload }) => payload.unit_id === unit.unit_id,
    )
    place.store
      .of('units_1')
      .set(point!.id, { ...point!, payload: { ...point!.payload, body: 'lies' } as never })
    await auditSearch({
      pool: db.pool('stagedoor_worker'),
      worker: place.pool,
      providers: place.providers,
      repair: true,
    })
    await place.settle()
    const [row] = await db.owner<{ body: string }>(
      'select body from iu_core.unit_version where unit_id = $1',
      [unit.unit_id],
    )
    expect(row!.body).toBe('Postgres knows best.')
    place.store.of('units_1').set(point!.id, point!)
  })

  it('VA-5 VA-7 units are written into a collection of their own, and cutting changes no point of theirs', async () => {
    const document = await put('A page that is cut.')
    legacyPoint(document)
    await untouched(async () => {
      const unit = await create(life, { body: 'A page that is cut.' })
      await edit(life.operator, unit.unit_id, 1, { p_body: 'A piece that is edited.' })
      await place.settle()
      expect(heldOf(place.store, 'units_1', unit.unit_id)).toHaveLength(1)
    })
    place.store.of(LEGACY_COLLECTION).clear()
  })

  it('VA-6 a page of the knowledge base is searched without becoming a unit first', async () => {
    const [before] = await db.owner<{ n: number }>('select count(*)::int as n from iu_core.information_unit')
    const document = await put('Drafts stay drafts.')
    await place.settle()
    expect(await state(document)).toBe('current')
    expect(await db.owner('select count(*)::int as n from iu_core.information_unit')).toEqual([before])
  })
})
