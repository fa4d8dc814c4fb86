/** Row security of what hangs on a unit: whoever sees the unit sees it, and nobody else. */
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type CreatedUnit, call, create, useLife } from './life.ts'

const db = useDatabase()
const life = useLife(db)
const TABLES = ['unit_version', 'unit_check', 'unit_vector', 'kb_unit_map', 'vector_outbox'] as const
let ours: CreatedUnit
let theirs: CreatedUnit

beforeAll(async () => {
  ours = await create(life)
  theirs = await call<CreatedUnit>(life.stranger, 'fn_unit_create', {
    p_workspace_id: life.elsewhere,
    p_canonical_address: 'theirs',
    p_body: 'Secret',
  })
  for (const [unit, workspace] of [
    [ours, life.workspace],
    [theirs, life.elsewhere],
  ] as const) {
    await db.pool('stagedoor_worker').query('select iu_core.fn_unit_check(array[$1::uuid])', [unit.unit_id])
    await db.owner(
      `insert into iu_core.unit_vector (unit_id, unit_version_id, content_hash_at_embedding, collection) values ($1, $2, $3, 'units')`,
      [unit.unit_id, unit.unit_version_id, unit.content_hash],
    )
    await db.owner(
      `with document as (
         insert into iu_core.kb_document (workspace_id, source_ref, title, body, content_hash, updated_by)
         values ($1, 'file:x.md', 'X', 'x', 'hash', 'test') returning document_id),
            waiting as (
         insert into iu_core.vector_outbox (document_id, operation, earliest_run_at)
         select document_id, 'upsert', now() from document)
       insert into iu_core.kb_unit_map (document_id, unit_id, piece_address, position, title, content_hash, cut_run_id)
       select document_id, $2, 'x', 1, 'X', 'hash', gen_random_uuid() from document`,
      [workspace, unit.unit_id],
    )
    await db.owner(
      `insert into iu_core.topic_vocabulary (workspace_id, topic_label, registered_by) values ($1, $2, 'test')`,
      [workspace, workspace === life.workspace ? 'ours' : 'theirs'],
    )
  }
  await db.owner(
    `insert into iu_core.topic_vocabulary (topic_label, registered_by) values ('everybodys', 'test')`,
  )
})

it.each(TABLES)(
  '%s is seen by members of the unit’s workspace, agents too, and by back-end code',
  async (table) => {
    const seen = async (who: { session: { query: (sql: string) => Promise<{ rows: { id: string }[] }> } }) =>
      (
        await who.session.query(`select unit_id as id from iu_core.${table} where unit_id is not null`)
      ).rows.map((row) => row.id)
    for (const who of [life.viewer, life.operator, life.reviewer, life.agent])
      expect(await seen(who)).toEqual([ours.unit_id])
    expect(await seen(life.stranger)).toEqual([theirs.unit_id])
    expect((await seen(life.service)).sort()).toEqual([ours.unit_id, theirs.unit_id].sort())
  },
)

it('shows what a document waits for to those who see the document', async () => {
  for (const [who, count] of [
    [life.viewer, 1],
    [life.stranger, 1],
    [life.service, 2],
  ] as const)
    expect(
      (await who.session.query('select from iu_core.vector_outbox where document_id is not null')).rowCount,
    ).toBe(count)
})

it('shows topics of the own workspace and everybody’s', async () => {
  const labels = async (who: typeof life.viewer) =>
    (await who.session.query('select topic_label from iu_core.topic_vocabulary order by 1')).rows.map(
      (row) => row.topic_label,
    )
  expect(await labels(life.agent)).toEqual(['everybodys', 'ours'])
  expect(await labels(life.stranger)).toEqual(['everybodys', 'theirs'])
})

it('gives anon nothing, and agents no function that writes', async () => {
  const superuser = await db.session('postgres')
  await superuser.query('set role anon')
  for (const table of ['information_unit', 'topic_vocabulary', 'vector_policy', ...TABLES])
    expect(await sqlstateOf(superuser.query(`select from iu_core.${table}`))).toBe('42501')
  const callable = await db.owner(
    `select p.oid::regprocedure from pg_proc p
      where p.proname ~ '^(fn_unit_|fn_topic_|fn_vector_|fn_cut_|fn_mark_|dot_iu_cut)'
        and p.provolatile = 'v'
        and (has_function_privilege('stagedoor_agent', p.oid, 'execute') or has_function_privilege('anon', p.oid, 'execute'))`,
  )
  expect(callable).toEqual([])
})
