/** Objects that a caller puts in the way do not change what the functions of the staging zone do. */
import type pg from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { person, setGate, type Workplace, workplace } from './people.ts'
import { jsonPart, stage } from './staged.ts'

const db = useDatabase()
let place: Workplace
let own: { staging_record_id: string; content_hash: string }

/** Everything that would help: another owner, another actor, open gates, digests and comparisons that always agree. */
const fakes = (schema: string) => `
  create table ${schema}.iu_staging_record as select *, 'x'::text as evil from iu_core.iu_staging_record where false;
  create table ${schema}.iu_staging_payload as select * from iu_core.iu_staging_payload where false;
  create table ${schema}.iu_staging_kind_policy as
    select staging_kind, false as approval_required, false as four_eyes, false as checklist_required, time_to_live, retention, reason
      from iu_core.iu_staging_kind_policy;
  create table ${schema}.dot_config as select key, 'true'::text as value from iu_core.dot_config;
  create function ${schema}.fn_actor() returns text language sql as $f$select 'grace'$f$;
  create function ${schema}.fn_caller_is_service() returns boolean language sql as 'select true';
  create function ${schema}.fn_iu_staging_verify(uuid) returns text language sql as $f$select ''$f$;
  create function ${schema}.fn_gate_require(text) returns void language sql as 'select';
  create function ${schema}.sha256(bytea) returns bytea language sql as 'select $1';
  create function ${schema}.encode(bytea, text) returns text language sql as $f$select repeat('0', 64)$f$;
  create function ${schema}.clock_timestamp() returns timestamptz language sql as $f$select '2000-01-01'::timestamptz$f$;
  create function ${schema}.jsonb_typeof(jsonb) returns text language sql as $f$select 'object'$f$;
  create function ${schema}.never(text, text) returns boolean language sql as 'select false';
  create operator ${schema}.= (leftarg = text, rightarg = text, function = ${schema}.never);
  create operator ${schema}.<> (leftarg = text, rightarg = text, function = ${schema}.never);`

beforeAll(async () => {
  place = await workplace(db)
  await stage(place.agent.session, { workspace: place.workspace })
  const superuser = db.pool('postgres')
  await superuser.query('create schema evil; grant usage, create on schema evil to public')
  await superuser.query(`${fakes('evil')}; grant all on all tables in schema evil to public`)
})
beforeEach(async () => {
  own = await stage(place.owner.session, { workspace: place.workspace })
})

async function attackers(): Promise<[string, pg.Client][]> {
  const inSchema = await person(db, 'stagedoor_reviewer', place.owner.actor)
  await inSchema.session.query('set search_path = evil, pg_temp, iu_core, public, pg_catalog')
  const inTemp = await person(db, 'stagedoor_reviewer', place.owner.actor)
  await inTemp.session.query(
    fakes('pg_temp')
      .replaceAll('create table', 'create temporary table')
      .replaceAll('temporary table pg_temp.', 'temporary table '),
  )
  await inTemp.session.query('set search_path = pg_temp, evil, iu_core, pg_catalog')
  return [
    ['a schema early in the search_path', inSchema.session],
    ['temporary objects', inTemp.session],
  ]
}

describe('fakes', () => {
  let sessions: [string, pg.Client][]
  beforeAll(async () => {
    sessions = await attackers()
  })

  it('let nobody approve their own record, or with another digest', async () => {
    for (const [how, session] of sessions) {
      const approve = (digest: string) =>
        sqlstateOf(
          session.query('select iu_core.fn_iu_staging_approve($1, $2)', [own.staging_record_id, digest]),
        )
      expect(await approve(own.content_hash), how).toBe('SD508')
      expect(await approve('0'.repeat(64)), how).toBe('SD504')
    }
  })

  it('let nobody withdraw what belongs to another', async () => {
    const other = await stage(place.agent.session, { workspace: place.workspace })
    for (const [how, session] of sessions) {
      const withdrawn = session.query('select iu_core.fn_iu_staging_withdraw($1)', [other.staging_record_id])
      expect(await sqlstateOf(withdrawn), how).toBe('SD511')
    }
  })

  it('neither change a digest, nor a policy, nor let bad parts in', async () => {
    for (const [how, session] of sessions) {
      const made = await stage(session, { workspace: place.workspace })
      expect(made.content_hash, how).toBe(own.content_hash)
      const [row] = await db.owner(
        'select approval_required, four_eyes, owner_actor from iu_core.iu_staging_record where staging_record_id = $1',
        [made.staging_record_id],
      )
      expect(row, how).toEqual({ approval_required: true, four_eyes: true, owner_actor: place.owner.actor })
      expect(await sqlstateOf(stage(session, { workspace: place.workspace, parts: ['[]'] })), how).toBe(
        'SD506',
      )
      expect(
        (await session.query('select from pg_temp.iu_staging_record').catch(() => ({ rowCount: 0 })))
          .rowCount,
        how,
      ).toBe(0)
    }
  })

  it('open no gate', async () => {
    await setGate(db, 'staging_writes_enabled', false)
    try {
      for (const [how, session] of sessions) {
        expect(await sqlstateOf(stage(session, { workspace: place.workspace })), how).toBe('SD101')
      }
    } finally {
      await setGate(db, 'staging_writes_enabled', true)
    }
  })

  it('show no rows of others', async () => {
    const agent = await person(db, 'stagedoor_agent', place.agent.actor)
    await agent.session.query('set search_path = evil, iu_core, public, pg_catalog')
    const { rows } = await agent.session.query('select distinct owner_actor from iu_core.v_iu_staging_record')
    expect(rows).toEqual([{ owner_actor: place.agent.actor }])
  })

  it('do not lead the worker astray when it expires and cleans', async () => {
    const session = await db.session('stagedoor_worker')
    await session.query('set search_path = evil, pg_temp, iu_core, public, pg_catalog')
    const { rows } = await session.query(
      `select iu_core.fn_iu_staging_expire() as expired, iu_core.fn_iu_staging_cleanup() ->> 'cleaned' as cleaned,
              iu_core.fn_iu_staging_healthcheck() ->> 'ok' as ok`,
    )
    expect(rows).toEqual([{ expired: 0, cleaned: '0', ok: 'true' }])
  })
})

it('takes no override of a gate or claims from anybody’s session settings', async () => {
  const { session } = await person(db, 'stagedoor_reviewer', place.owner.actor)
  await setGate(db, 'staging_writes_enabled', false)
  try {
    for (const setting of [
      'iu_core.staging_writes_enabled',
      'stagedoor.gate_reason',
      'stagedoor.staging_writes_enabled',
    ]) {
      await session.query(`select set_config($1, 'true', false)`, [setting])
    }
    expect(await sqlstateOf(stage(session, { workspace: place.workspace, parts: [jsonPart('1')] }))).toBe(
      'SD101',
    )
  } finally {
    await setGate(db, 'staging_writes_enabled', true)
  }
})
