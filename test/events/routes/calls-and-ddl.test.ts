/** Procedures through the wrapper, and DDL where event triggers are permitted. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  activateRoute,
  deleteRoute,
  dryRunRoute,
  registerRoute,
  routeEvidence,
  syncRoutes,
} from '../../../src/events/routes.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { active, admin, approve, failures, payloads, sent, user } from './routed.ts'

const db = useDatabase()

let owner: pg.Client
let producer: pg.Client

beforeAll(async () => {
  owner = await user(db)
  await owner.query(`
    create schema app; grant usage on schema app to stagedoor_producer;
    create table app.closed (month text, lines int[], at timestamptz default now());
    grant insert on app.closed to stagedoor_producer;
    create procedure app.close_month(month text, lines int[] default '{}', note jsonb default null) language plpgsql as
      $$ begin
           if month = 'never' then raise exception 'no such month'; end if;
           insert into app.closed values (month, lines);
         end $$;
    create procedure app.closed_to_all() language sql as 'select 1';
    revoke all on procedure app.closed_to_all() from public;
    create procedure app.twice(a int) language sql as 'select 1'; create procedure app.twice(a text) language sql as 'select 1';
    create procedure app.counts(in a int, out b int) language plpgsql as 'begin b := a + 1; end';
    create procedure app."Odd; Name"("the arg" text) language plpgsql as
      $$ begin insert into app.closed (month) values ("the arg"); end $$`)
  producer = await user(db)
  await producer.query('set role stagedoor_producer')
})

const call = (procedure: string, args: object = {}, as: pg.Client = producer) =>
  as.query('call iu_core.routed_call($1, $2)', [procedure, JSON.stringify(args)])

describe('a procedure', () => {
  it('is called with the caller’s rights, and its call is an event of the same transaction', async () => {
    const code = await active(
      db,
      { source: 'app.close_month', sql_event: 'call', payload_contract: { keep_refs: ['month', 'lines'] } },
      () => call('app.close_month', { month: '2026-09' }),
    )
    await call('app.close_month', { month: '2026-10', lines: [1, 2], note: { password: 'x' } })
    expect(await sent(db, code)).toMatchObject([
      {
        safe_payload: { month: '2026-10', lines: [1, 2] },
        canonical_address: 'sql:app.close_month',
        causation_depth: 0,
      },
    ])
    expect((await owner.query('select month, lines from app.closed order by at')).rows).toEqual([
      { month: '2026-09', lines: [] },
      { month: '2026-10', lines: [1, 2] },
    ])
    await producer.query('begin')
    await call('app.close_month', { month: '2026-11' })
    await producer.query('rollback')
    expect(await sqlstateOf(call('app.close_month', { month: 'never' }))).toBe('P0001')
    expect(await sqlstateOf(call('app.closed_to_all'))).toBe('42501')
    expect(await sent(db, code)).toHaveLength(1)
  })

  it('is found by its very name, and takes arguments that it has', async () => {
    expect(await sqlstateOf(call('app.nope'))).toBe('SD318')
    expect(await sqlstateOf(call('app.twice', { a: 1 }))).toBe('SD318')
    expect(await sqlstateOf(call('app.close_month', { month: '1', months: 2 }))).toBe('SD318')
    expect(await sqlstateOf(call(`app.close_month('x'); drop table app.closed; --`))).toBe('22023')
    await call('app.counts', { a: 1 })
    await call('app."Odd; Name"', { 'the arg': `x'); drop table app.closed; --` })
    const { rows } = await owner.query(`select month from app.closed where month like 'x%'`)
    expect(rows).toEqual([{ month: `x'); drop table app.closed; --` }])
  })

  it('sends the same key once, and no forbidden key', async () => {
    const code = await active(
      db,
      {
        route_code: 'keyed.call',
        source: 'app.close_month',
        sql_event: 'call',
        target_event_type: 'keyed.call',
        payload_contract: { keep_refs: ['month', 'note'] },
        idempotency_policy: { key: '(month)' },
      },
      () => call('app.close_month', { month: '2025-01' }),
    )
    await call('app.close_month', { month: '2025-02' })
    await call('app.close_month', { month: '2025-02', note: { again: true } })
    expect(await payloads(db, code)).toEqual([{ month: '2025-02' }])
    expect(await sqlstateOf(call('app.close_month', { month: '2025-03', note: { token: 1 } }))).toBe('SD310')
    await deleteRoute(admin(db), code)
  })
})

describe('DDL', () => {
  it('is unavailable without a superuser, and says what to run; then one sees what it would send', async () => {
    const code = await registerRoute(admin(db), { sql_event: 'ddl', fail_closed: false })
    expect(code).toBe('database.ddl')
    const error = await dryRunRoute(admin(db), code).catch((thrown: pg.DatabaseError) => thrown)
    expect(error).toMatchObject({ code: 'SD317' })
    const { statements } = JSON.parse((error as pg.DatabaseError).detail!) as { statements: string[] }
    for (const statement of statements) await owner.query(statement)
    await dryRunRoute(admin(db), code)
    expect((await routeEvidence(admin(db), code))[0]!.sample[0]!.payload).toEqual({
      command_tag: 'CREATE TABLE',
      object_type: 'table',
      schema_name: 'public',
      object_identity: 'public.example',
    })
    await approve(db, code)
  })

  it('sends one event for each object, but not of our schemas nor of temporary ones', async () => {
    await owner.query('create table app.made (id int primary key)')
    await owner.query('create temporary table passing (id int)')
    await db.owner(`select * from iu_core.fn_event_partitions_maintain('500 days')`)
    await owner.query('alter table app.made add note text')
    await owner.query('grant select on app.made to public')
    await owner.query('create schema later')
    await owner.query('drop table app.made')
    const told = (await payloads(db, 'database.ddl')).map(
      (one) => `${one.command_tag} ${one.object_identity}`,
    )
    expect(told).toEqual([
      'CREATE TABLE app.made',
      'CREATE INDEX app.made_pkey',
      'ALTER TABLE app.made',
      'GRANT null',
      'CREATE SCHEMA later',
      'DROP TABLE app.made',
    ])
    expect(await failures(db, 'database.ddl')).toEqual([])
  })

  it('can be of one schema, with fewer fields, in the transaction that is rolled back', async () => {
    const code = await registerRoute(admin(db), {
      route_code: 'app.ddl',
      source_schema: 'app',
      sql_event: 'ddl',
      target_event_type: 'app.ddl',
      payload_contract: { keep_refs: ['object_identity'] },
    })
    await dryRunRoute(admin(db), code)
    await approve(db, code)
    await owner.query('create view app.glance as select 1 as one; create view glance as select 1 as one')
    await owner.query('begin; create view app.rolled_back as select 1 as one; rollback')
    expect(await payloads(db, 'app.ddl')).toEqual([{ object_identity: 'app.glance' }])
  })

  it('is disabled by sync when its event triggers are gone', async () => {
    await owner.query('drop event trigger stagedoor_route_drop')
    const findings = await syncRoutes(admin(db))
    expect(findings).toEqual([
      {
        route_code: 'app.ddl',
        finding: 'disabled: its event triggers were dropped or disabled',
      },
      {
        route_code: 'database.ddl',
        finding: 'disabled: its event triggers were dropped or disabled',
      },
    ])
    expect(await sqlstateOf(activateRoute(admin(db), 'database.ddl'))).toBe('SD313')
  })
})
