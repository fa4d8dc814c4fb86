/** Objects that a caller puts in the way do not change what our definer functions do. */
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()

let theirs: string
let eve: Member

beforeAll(async () => {
  const ours = await createWorkspace(db, 'ours')
  theirs = await createWorkspace(db, 'theirs')
  eve = await createMember(db, ours, 'viewer')
  await db.owner('insert into iu_core.event_reader (reader, seen) values ($1, $2)', ['planted', '1:1:'])
  await db.owner(`select iu_core.fn_event_emit('system', 'gate_changed', p_workspace_id => $1)`, [theirs])
  await db.pool('postgres').query('create schema evil; grant all on schema evil to public')
})

/** A session of the attacker under the given role, with everything of ours faked in a schema searched first. */
async function attacker(role: string): Promise<pg.Client> {
  const session = await db.session('stagedoor_api')
  await session.query(`set role ${role}; set search_path = evil, pg_temp, iu_core, public, pg_catalog`)
  await session.query(`select pg_catalog.set_config('request.jwt.claims', $1, false)`, [
    JSON.stringify(eve.claims),
  ])
  return session
}

const fakes = (schema: string) => `
  create table ${schema}.workspace_members as select '${theirs}'::uuid as workspace_id, '${eve.userId}'::text as user_id, 'admin'::text as role;
  create table ${schema}.app_role as select 'viewer'::text as app_role, 'authenticated'::name as database_role, array['review'] as rights;
  create table ${schema}.workspace_member_role as select '${theirs}'::uuid as workspace_id, '${eve.userId}'::text as user_id, 'admin'::text as app_role;
  create table ${schema}.dot_config as select key, 'true'::text as value from iu_core.dot_config;
  create table ${schema}.event_vocabulary as select 'evil'::text as event_domain, 'done'::text as event_type;
  create function ${schema}.fn_caller_is_service() returns boolean language sql as 'select true';
  create function ${schema}.fn_actor() returns text language sql as $f$select 'root'$f$;
  create function ${schema}.fn_member_role(uuid, text) returns text language sql as $f$select 'admin'$f$;
  create function ${schema}.current_setting(text, boolean) returns text language sql as $f$select '{"sub":"root"}'$f$;
  create function ${schema}.pg_has_role(name, name, text) returns boolean language sql as 'select true';
  create function ${schema}.lower(text) returns text language sql as $f$select 'harmless'$f$;
  create function ${schema}.is_true(text, text) returns boolean language sql as 'select true';
  create operator ${schema}.= (leftarg = text, rightarg = text, function = ${schema}.is_true);
  create function ${schema}.is_false(text, text) returns boolean language sql as 'select false';
  create operator ${schema}.<> (leftarg = text, rightarg = text, function = ${schema}.is_false);`

async function expectTheWallStands(session: pg.Client): Promise<void> {
  const asked = session.query(`select iu_core.require_member($1, 'read')`, [theirs])
  expect(await sqlstateOf(asked)).toBe('SD201')
  const seen = await session.query('select from iu_core.event_outbox where workspace_id = $1', [theirs])
  expect(seen.rowCount).toBe(0)
  const { rows } = await session.query('select iu_core.fn_actor() as actor')
  expect(rows).toEqual([{ actor: eve.userId }])
}

it('fakes in a schema early in the search_path change nothing', async () => {
  const session = await attacker('authenticated')
  const planter = await db.session('postgres')
  await planter.query(fakes('evil'))
  await planter.query('grant all on all tables in schema evil to public')
  await expectTheWallStands(session)
})

it('temporary fakes change nothing', async () => {
  const session = await attacker('authenticated')
  await session.query(fakes('pg_temp'))
  await session.query('set search_path = pg_temp, evil, pg_catalog')
  await expectTheWallStands(session)
})

it('fakes open no gate, forge no event and hide no forbidden key', async () => {
  const session = await attacker('service_role')
  await session.query(fakes('pg_temp').replaceAll('create table', 'create temporary table'))
  await session.query('set search_path = pg_temp, evil, pg_catalog')
  const { rows } = await session.query(
    `select iu_core.fn_gate_open('queue.consumer_dispatch.enabled') as open`,
  )
  expect(rows).toEqual([{ open: false }])
  expect(await sqlstateOf(session.query(`select iu_core.fn_event_emit('evil', 'done')`))).toBe('SD301')
  const leak = session.query(
    `select iu_core.fn_event_emit('system', 'gate_changed', p_safe_payload => '{"Password": 1}')`,
  )
  expect(await sqlstateOf(leak)).toBe('SD302')
})

it('the owner’s own maintenance is not led astray either', async () => {
  const worker = await db.session('stagedoor_worker')
  await worker.query(fakes('pg_temp'))
  await worker.query(
    `create temporary table event_outbox (id int); create temporary table event_reader (id int)`,
  )
  await worker.query('set search_path = pg_temp, evil, pg_catalog')
  expect((await worker.query(`select * from iu_core.fn_event_read('planted')`)).rowCount).toBe(1)
  await worker.query(`select * from iu_core.fn_event_partitions_maintain('400 days')`)
  expect((await worker.query('select from pg_temp.event_outbox')).rowCount).toBe(0)
})
