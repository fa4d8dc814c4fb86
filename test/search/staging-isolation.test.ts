/** Isolation of staging from search: whoever embeds cannot read, name or enqueue what is staged. */
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { setGate } from '../staging/people.ts'
import { INTERMEDIATE, stage } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { useLife } from '../units/life.ts'
import { useProjecting } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
let record: string
beforeAll(async () => {
  await setGate(db, 'staging_writes_enabled', true)
  record = (
    await stage(life.service.session, { workspace: life.workspace, owner: 'importer', ...INTERMEDIATE })
  ).staging_record_id
})

it('lets vector_worker read no table and no view of the staging zone', async () => {
  const relations = await db.owner<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v') and not c.relispartition and c.relname like '%staging%'
        and n.nspname in ('iu_core', 'public')`,
  )
  expect(relations.length).toBeGreaterThan(6)
  for (const { name } of relations)
    expect(await sqlstateOf(place.pool.query(`select from ${name}`)), name).toBe('42501')
})

it('lets vector_worker call no function of the staging zone, nor of ingest', async () => {
  const functions = await db.owner<{ call: string }>(
    `select format('%I.%I(%s%s)', n.nspname, p.proname, case when p.provariadic <> 0 then 'variadic ' end,
                   (select string_agg('null::' || t::regtype::text, ', ') from unnest(p.proargtypes) as t)) as call
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('iu_core', 'public') and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
        and (p.proname like '%staging%' or p.proname like 'fn\\_ingest%')`,
  )
  expect(functions.length).toBeGreaterThan(40)
  for (const { call } of functions)
    expect(await sqlstateOf(place.pool.query(`select ${call}`)), call).toBe('42501')
})

it('has no way into the outbox for a staging id, not even for the owner of everything', async () => {
  for (const column of ['unit_id', 'document_id']) {
    const forged = `insert into iu_core.vector_outbox (${column}, operation, earliest_run_at) values ($1, 'upsert', now())`
    expect(await sqlstateOf(db.owner(forged, [record])), column).toBe('23503')
    expect(await sqlstateOf(place.pool.query(forged, [record])), column).toBe('42501')
  }
  const neither = `insert into iu_core.vector_outbox (operation, earliest_run_at) values ('upsert', now())`
  expect(await sqlstateOf(db.owner(neither))).toBe('23502')
  const chunk = `insert into iu_core.search_chunk (chunk_id, workspace_id, unit_id, unit_version_id, content_hash_at_embedding, position,
      from_char, to_char, text_hash, language, lexeme_ids, lexeme_counts, length, words)
    values ($1, $2, $3, $3, '', 1, 0, 1, '', 'en', '{}', '{}', 0, '')`
  expect(await sqlstateOf(db.owner(chunk, [randomUUID(), life.workspace, record]))).toBe('23503')
})

it('has no way through the functions that the worker may call', async () => {
  await db.owner('select iu_core.fn_vector_enqueue(array[$1]::uuid[], $2)', [record, 'upsert'])
  expect(await db.owner('select from iu_core.vector_outbox')).toEqual([])
  const source = {
    outbox_id: record,
    generation: 1,
    unit_version_id: record,
    content_hash: 'x',
    chunks: [{ from: 0, to: 1 }],
  }
  const { rows } = await place.pool.query('select * from iu_core.fn_vector_put($1, $2)', [
    randomUUID(),
    JSON.stringify([source]),
  ])
  expect(rows).toEqual([])
  expect(await db.owner('select from iu_core.search_chunk')).toEqual([])
})
