/** The staging functions as the design document has them: their arguments, in its order, and who may call them. */
import { beforeAll, describe, expect, it } from 'vitest'
import { mapDatabaseError } from '../../src/kernel/postgres/errors.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { cutDocument, HANDBOOK, mark } from '../units/documents.ts'
import { directus, type Workplace, workplace } from './people.ts'
import { jsonPart } from './staged.ts'

const db = useDatabase()
let place: Workplace

beforeAll(async () => {
  place = await workplace(db)
})

interface Made {
  staging_record_id: string
  content_hash: string
  lifecycle_status: string
  created: boolean
}

describe('fn_iu_staging_create', () => {
  it('takes the arguments of the document in their order', async () => {
    const { rows } = await place.service.session.query<Made>(
      `select * from iu_core.fn_iu_staging_create('nosql_payload', 'source_excerpt', 'in order', 'importer', 'import',
         'https://example.com/12', 'key-12', array[$1::jsonb], now() + interval '1 day')`,
      [jsonPart('{"n": 1}')],
    )
    const [record] = await db.owner(
      `select purpose, owner_actor, source_kind, source_ref from iu_core.iu_staging_record where staging_record_id = $1`,
      [rows[0]!.staging_record_id],
    )
    expect(record).toEqual({
      purpose: 'in order',
      owner_actor: 'importer',
      source_kind: 'import',
      source_ref: 'https://example.com/12',
    })
  })

  it('without parts is refused, not taken for nothing', async () => {
    expect(
      await sqlstateOf(
        place.service.session.query(
          `select iu_core.fn_iu_staging_create('nosql_payload', 'source_excerpt', 'none')`,
        ),
      ),
    ).toMatch(/^SD/)
  })
})

describe('without an idempotency key', () => {
  const create = async (ref: string | null, json: string, more = '', who = place.service) => {
    const { rows } = await who.session.query<Made>(
      `select * from iu_core.fn_iu_staging_create('nosql_payload', 'source_excerpt', 'no key', p_source_ref => $1,
         p_parts => array[$2::jsonb], p_workspace_id => $3 ${more})`,
      [ref, jsonPart(json), place.workspace],
    )
    return rows[0]!
  }

  it('the source and the kind are one: the same call again finds its record, also after it ended', async () => {
    const first = await create('doc:1', '1')
    expect(await create('doc:1', '1')).toEqual({ ...first, created: false })
    await place.reviewer.session.query('select iu_core.fn_iu_staging_reject($1, $2)', [
      first.staging_record_id,
      'no',
    ])
    expect(await create('doc:1', '1')).toMatchObject({ created: false, lifecycle_status: 'rejected' })
    expect((await create('doc:2', '1')).staging_record_id).not.toBe(first.staging_record_id)
  })

  it('other content is refused with what to do, and p_new makes another', async () => {
    const first = await create('doc:3', '1')
    const refused = await create('doc:3', '2').catch(mapDatabaseError)
    expect(refused).toMatchObject({ code: 'staging_key_taken' })
    const second = await create('doc:3', '2', ', p_new => true')
    expect(second.created).toBe(true)
    expect((await create('doc:3', '1', ', p_new => true')).staging_record_id).not.toBe(
      first.staging_record_id,
    )
    expect(await sqlstateOf(create('doc:3', '1', `, p_new => true, p_idempotency_key => 'k'`))).toBe('SD001')
  })

  it('and without a source every call makes a record', async () => {
    const first = await create(null, '1')
    expect((await create(null, '1')).staging_record_id).not.toBe(first.staging_record_id)
  })

  it('of two at once one makes it, and both get it', async () => {
    const second = await db.session('stagedoor_worker')
    const [a, b] = await Promise.all([
      create('doc:race', '1'),
      create('doc:race', '1', '', { ...place.service, session: second }),
    ])
    expect(a.staging_record_id).toBe(b.staging_record_id)
    expect([a.created, b.created].sort()).toEqual([false, true])
  })
})

it('directus may execute all eight functions of the document', async () => {
  const names = [
    'create',
    'approve',
    'consume',
    'reject',
    'cleanup',
    'emit_event',
    'healthcheck',
    'unregister',
  ]
  const rows = await db.owner<{ proname: string; may: boolean }>(
    `select proname, has_function_privilege('directus', oid, 'execute') as may from pg_proc
      where pronamespace = 'iu_core'::regnamespace and proname = any ($1)`,
    [names.map((name) => `fn_iu_staging_${name}`)],
  )
  expect(rows).toHaveLength(8)
  expect(rows.filter(({ may }) => !may)).toEqual([])
  const { session } = await directus(db)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_cleanup_enabled', true)`)
  expect(
    (await session.query(`select iu_core.fn_iu_staging_cleanup('{"dry_run": true}') as done`)).rows[0].done,
  ).toMatchObject({
    dry_run: true,
  })
})

describe('a cut', () => {
  const digests = async (record: string) =>
    (
      await db.owner<{ part: string; whole: string }>(
        `select part_digests -> 0 ->> 'content_hash' as part, content_hash as whole from iu_core.iu_staging_record where staging_record_id = $1`,
        [record],
      )
    )[0]!
  const approve = (record: string, digest: string) =>
    place.reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [record, digest])
  const cut = (record: string, digest: string, source: string | null = null) =>
    place.operator.session
      .query<{ cut: { created: number } }>('select iu_core.dot_iu_cut_from_manifest($1, $2, $3) as cut', [
        record,
        digest,
        source,
      ])
      .then(({ rows }) => rows[0]!.cut)

  it('takes the digest of the manifest part, as well as that of the record, and no other', async () => {
    const staged = await mark(place, HANDBOOK, { sourceRef: 'part-digest.md', address: 'part-digest' })
    const { part, whole } = await digests(staged.staging_record_id)
    expect(part).not.toBe(whole)
    await approve(staged.staging_record_id, whole)
    const sourceDigest = (
      await db.owner<{ d: string }>(
        `select part_digests -> 1 ->> 'content_hash' as d from iu_core.iu_staging_record where staging_record_id = $1`,
        [staged.staging_record_id],
      )
    )[0]!.d
    for (const wrong of ['0'.repeat(64), sourceDigest])
      expect(await sqlstateOf(cut(staged.staging_record_id, wrong))).toBe('SD504')
    expect((await cut(staged.staging_record_id, part)).created).toBeGreaterThan(3)
  })

  const alone = async (sourceRef: string, address: string, source = HANDBOOK) => {
    const { manifest } = await mark(place, source, { sourceRef, address })
    const { rows } = await place.operator.session.query<Made>(
      `select * from iu_core.fn_iu_staging_create('mark_manifest', 'manifest_json', 'alone', p_new => true, p_source_ref => $1,
         p_parts => array[$2::jsonb], p_workspace_id => $3)`,
      [sourceRef, jsonPart(JSON.stringify(manifest)), place.workspace],
    )
    await approve(rows[0]!.staging_record_id, rows[0]!.content_hash)
    return { id: rows[0]!.staging_record_id, part: (await digests(rows[0]!.staging_record_id)).part }
  }

  it('takes a manifest of one part with its document, and only with that very document', async () => {
    const { id, part } = await alone('alone.md', 'alone')
    expect(await sqlstateOf(cut(id, part))).toBe('SD909')
    expect(await sqlstateOf(cut(id, part, HANDBOOK.replace('Twenty', 'Thirty')))).toBe('SD909')
    expect((await cut(id, part, HANDBOOK)).created).toBeGreaterThan(3)
  })

  it('finds the document of a manifest of one part where it was cut from before', async () => {
    await cutDocument(place, HANDBOOK, { sourceRef: 'known.md', address: 'known' })
    const { id, part } = await alone('known.md', 'known')
    expect(await cut(id, part)).toMatchObject({ created: 0 })
  })

  it('refuses a manifest of one part that is none when it is staged', async () => {
    expect(
      await sqlstateOf(
        place.operator.session.query(
          `select iu_core.fn_iu_staging_create('mark_manifest', 'manifest_json', 'x', p_parts => array[$1::jsonb], p_workspace_id => $2)`,
          [jsonPart('{"pieces": []}'), place.workspace],
        ),
      ),
    ).toBe('SD909')
  })
})
