/** Tables as people have them: names in any letters, partitions, children, and what becomes of them later. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { dryRunRoute, findRoute, registerRoute, syncRoutes } from '../../../src/events/routes.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import {
  active,
  admin,
  approve,
  attachRoute,
  detachRoute,
  dryRun,
  grantTriggers,
  payloads,
  sent,
  user,
} from './routed.ts'

const db = useDatabase()

let owner: pg.Client

beforeAll(async () => {
  owner = await user(db)
})

async function simple(table: string): Promise<string> {
  await owner.query(`create table ${table} (id int primary key, status text)`)
  await grantTriggers(owner, table)
  return active(
    db,
    { source: table, sql_event: 'insert', payload_contract: { keep_refs: ['id', 'status'] } },
    () => owner.query(`insert into ${table} values (0, 'evidence')`),
  )
}

describe('names', () => {
  it('in mixed case, with spaces, quotes and keywords are what they are', async () => {
    await owner.query(`
      create schema "My Schema"; grant usage on schema "My Schema" to workflow_admin;
      create table "My Schema"."Order ""Lines""" ("Id" int primary key, "select" text, "it's" text, "a.b" text)`)
    await grantTriggers(owner, '"My Schema"."Order ""Lines"""')
    const code = await active(
      db,
      {
        source: '"My Schema"."Order ""Lines"""',
        sql_event: 'insert',
        payload_contract: { keep_refs: ['Id', 'select', "it's", 'a.b'] },
        idempotency_policy: { key: '("Id","select")' },
      },
      () => owner.query(`insert into "My Schema"."Order ""Lines""" values (0, 'x')`),
    )
    await owner.query(
      `insert into "My Schema"."Order ""Lines""" values (1, 'a', 'b', 'c'), (1000, 'd', null, null)`,
    )
    expect(await sent(db, code)).toMatchObject([
      {
        safe_payload: { Id: 1, select: 'a', "it's": 'b', 'a.b': 'c' },
        canonical_address: 'sql:"My Schema"."Order ""Lines"""/1',
      },
      { safe_payload: { Id: 1000 } },
    ])
  })

  it('that are SQL run none', async () => {
    const evil = `x"; drop table iu_core.event_outbox; --`
    const quoted = `"${evil.replaceAll('"', '""')}"`
    await owner.query(`create table ${quoted} (${quoted} int primary key, "$1" text, "%s" text, "n.id" text)`)
    await grantTriggers(owner, quoted)
    const code = await active(
      db,
      {
        route_code: 'evil',
        source_schema: 'public',
        source_table: evil,
        sql_event: 'update',
        target_event_type: 'evil',
        payload_contract: { keep_refs: [evil, '$1', '%s', 'n.id'], only_changed: true },
        idempotency_policy: { key: `(${quoted},"$1")` },
      },
      async () => {
        await owner.query(`insert into ${quoted} values (0, 'a', 'b', 'c')`)
        await owner.query(`update ${quoted} set "%s" = 'changed'`)
      },
    )
    await owner.query(`update ${quoted} set "$1" = 'again'`)
    expect(await payloads(db, code)).toEqual([{ [evil]: 0, $1: 'again', '%s': 'changed', 'n.id': 'c' }])
  })

  it('that differ by case only are different tables', async () => {
    await simple('"Twins"')
    await owner.query('create table twins (id int primary key, status text)')
    await owner.query(`insert into twins values (1, 'other'); insert into "Twins" values (2, 'ours')`)
    expect(await payloads(db, 'twins.insert')).toEqual([{ id: 2, status: 'ours' }])
  })
})

describe('a partitioned table', () => {
  async function partitioned(name: string, events: readonly ('insert' | 'update' | 'delete' | 'truncate')[]) {
    await owner.query(`
      create table ${name} (id int, region text, status text, primary key (id, region)) partition by list (region);
      create table ${name}_eu partition of ${name} for values in ('eu');
      create table ${name}_us partition of ${name} for values in ('us') partition by range (id);
      create table ${name}_us_1 (status text, region text not null, id int not null);
      alter table ${name}_us attach partition ${name}_us_1 for values from (0) to (1000)`)
    await grantTriggers(owner, name, `${name}_eu`, `${name}_us`, `${name}_us_1`)
    for (const sql_event of events) {
      const payload_contract = sql_event === 'truncate' ? {} : { keep_refs: ['id', 'region', 'status'] }
      await dryRun(db, { source: name, sql_event, payload_contract })
    }
    await owner.query(
      `insert into ${name} values (0, 'eu', 'evidence'); update ${name} set status = ''; delete from ${name}`,
    )
    for (const sql_event of events) await approve(db, `${name}.${sql_event}`)
  }

  it('sends once for a write through the parent and once for a direct one, at any depth', async () => {
    await partitioned('parts', ['insert'])
    await owner.query(`insert into parts values (1, 'eu', 'parent'), (1, 'us', 'parent')`)
    await owner.query(`insert into parts_eu values (2, 'eu', 'direct')`)
    await owner.query(`insert into parts_us values (3, 'us', 'middle')`)
    await owner.query(`insert into parts_us_1 (id, region, status) values (4, 'us', 'leaf')`)
    expect(await sent(db, 'parts.insert')).toMatchObject([
      { safe_payload: { id: 1, region: 'eu', status: 'parent' } },
      { safe_payload: { id: 1, region: 'us', status: 'parent' } },
      { safe_payload: { id: 2, region: 'eu', status: 'direct' } },
      { safe_payload: { id: 3, region: 'us', status: 'middle' } },
      {
        safe_payload: { id: 4, region: 'us', status: 'leaf' },
        canonical_address: 'sql:public.parts/[4, "us"]',
      },
    ])
  })

  it('sends a row that moves to another partition as the update that it is', async () => {
    await partitioned('moving', ['insert', 'update', 'delete'])
    await owner.query(`insert into moving values (1, 'eu', 'here')`)
    await owner.query(`update moving set region = 'us', status = 'there'`)
    expect(await payloads(db, 'moving.update')).toEqual([{ id: 1, region: 'us', status: 'there' }])
    expect(await payloads(db, 'moving.delete')).toEqual([])
    expect(await payloads(db, 'moving.insert')).toHaveLength(1)
  })

  it('gives one event for TRUNCATE, though each partition is emptied', async () => {
    await partitioned('emptied', ['truncate'])
    await owner.query('truncate emptied')
    await owner.query('truncate emptied_eu')
    expect(await payloads(db, 'emptied.truncate')).toEqual([
      { table: 'public.emptied', truncated: 'public.emptied' },
      { table: 'public.emptied', truncated: 'public.emptied_eu' },
    ])
  })

  it('gets its new partitions by sync, and says what that needs', async () => {
    await partitioned('grown', ['insert'])
    await owner.query(`create table grown_asia partition of grown for values in ('asia')`)
    await owner.query(
      `insert into grown values (1, 'asia', 'parent'); insert into grown_asia values (2, 'asia', 'missed')`,
    )
    expect(await payloads(db, 'grown.insert')).toHaveLength(1)
    const [refused] = await syncRoutes(admin(db))
    expect(refused).toMatchObject({ route_code: 'grown.insert' })
    expect(refused!.finding).toContain('grant trigger on table public.grown_asia to workflow_admin;')
    expect(await findRoute(admin(db), 'grown.insert')).toMatchObject({ state: 'active', attached: 4 })
    await grantTriggers(owner, 'grown_asia')
    expect(await syncRoutes(admin(db))).toEqual([{ route_code: 'grown.insert', finding: 'attached again' }])
    expect(await syncRoutes(admin(db))).toEqual([])
    await owner.query(`insert into grown_asia values (3, 'asia', 'direct')`)
    expect(await payloads(db, 'grown.insert')).toHaveLength(2)
    expect(await findRoute(admin(db), 'grown.insert')).toMatchObject({ state: 'active', attached: 5 })
  })

  it('loses a partition that is detached from it', async () => {
    await partitioned('shrunk', ['insert'])
    await owner.query('alter table shrunk detach partition shrunk_eu')
    await syncRoutes(admin(db))
    await owner.query(`insert into shrunk_eu values (1, 'eu', 'on its own')`)
    expect(await payloads(db, 'shrunk.insert')).toEqual([])
  })

  it('with a foreign partition is refused: its writers would fail', async () => {
    await owner.query(`
      create extension if not exists postgres_fdw; create server nowhere foreign data wrapper postgres_fdw;
      create table mixed (id int, region text) partition by list (region);
      create foreign table mixed_far partition of mixed for values in ('far') server nowhere`)
    const route = registerRoute(admin(db), {
      source: 'mixed',
      sql_event: 'insert',
      payload_contract: { keep_refs: ['id'] },
    })
    expect(await sqlstateOf(route)).toBe('SD311')
  })
})

it('a table with children sends for them, too', async () => {
  await owner.query(`
    create table parent (id int primary key, status text);
    create table child (extra text) inherits (parent)`)
  await grantTriggers(owner, 'parent', 'child')
  for (const sql_event of ['insert', 'update'] as const) {
    await dryRun(db, { source: 'parent', sql_event, payload_contract: { keep_refs: ['id', 'status'] } })
  }
  await owner.query(`insert into parent values (0, 'evidence'); update parent set status = 'seen'`)
  for (const sql_event of ['insert', 'update']) await approve(db, `parent.${sql_event}`)
  await owner.query(`insert into parent values (1, 'p'); insert into child values (2, 'c', 'more')`)
  await owner.query(`update parent set status = 'both' where id > 0; update child set status = 'child'`)
  expect(await payloads(db, 'parent.insert')).toEqual([
    { id: 1, status: 'p' },
    { id: 2, status: 'c' },
  ])
  expect(await sent(db, 'parent.update')).toMatchObject([
    { safe_payload: { id: 1, status: 'both' } },
    { safe_payload: { id: 2, status: 'both' } },
    { safe_payload: { id: 2, status: 'child' }, event_subject_ref: '2' },
  ])
})

describe('a table that', () => {
  const lost = async (code: string, reason: string) => {
    expect(await syncRoutes(admin(db))).toEqual([{ route_code: code, finding: `disabled: ${reason}` }])
    expect(await findRoute(admin(db), code)).toMatchObject({
      state: 'disabled',
      disabled_reason: reason,
      attached: 0,
    })
    const told = await db.owner(
      `select from iu_core.event_outbox where event_subject_ref = $1 and event_stream = 'disabled'`,
      [code],
    )
    expect(told).toHaveLength(1)
  }

  it('is dropped takes its trigger along, and sync disables the route', async () => {
    const code = await simple('dropped')
    await owner.query('drop table dropped')
    await lost(code, 'the table public.dropped was dropped')
  })

  it('is dropped and made again is another one', async () => {
    const code = await simple('remade')
    await owner.query('drop table remade; create table remade (id int primary key, status text)')
    await grantTriggers(owner, 'remade')
    await owner.query(`insert into remade values (1, 'no trigger')`)
    await lost(code, 'the table public.remade was dropped')
    expect(await attachRoute(admin(db), code)).toBe(1)
  })

  it('is renamed goes on sending until sync disables the route', async () => {
    const code = await simple('named')
    await owner.query('alter table named rename to renamed')
    await owner.query(`insert into renamed values (1, 'still')`)
    expect(await payloads(db, code)).toHaveLength(1)
    await lost(code, 'the table public.named is now called public.renamed')
    await owner.query(`insert into renamed values (2, 'not any more')`)
    expect(await payloads(db, code)).toHaveLength(1)
  })

  it('takes over the name of another does not take over its route', async () => {
    const code = await simple('held')
    await owner.query('alter table held rename to held_before; create table held (id int, status text)')
    await owner.query(`insert into held values (1, 'no route')`)
    expect(await payloads(db, code)).toEqual([])
    await syncRoutes(admin(db))
  })

  it('moves to another schema is another one', async () => {
    const code = await simple('moved')
    await owner.query('create schema attic; alter table moved set schema attic')
    await lost(code, 'the table public.moved is now called attic.moved')
  })

  it('lost its trigger, or had it switched off, has its route disabled', async () => {
    const off = await simple('silenced')
    await owner.query('alter table silenced disable trigger stagedoor_route_insert')
    await lost(off, 'its trigger on public.silenced was disabled')
    expect(await sqlstateOf(dryRunRoute(admin(db), off))).toBe('SD315')
    const gone = await simple('bared')
    await owner.query('drop trigger stagedoor_route_insert on bared')
    await lost(gone, 'its trigger on public.bared was dropped')
  })

  it('is altered gets a new statement by sync', async () => {
    const code = await simple('altered')
    await owner.query('alter table altered alter id type bigint')
    expect(await syncRoutes(admin(db))).toEqual([{ route_code: code, finding: 'attached again' }])
    await owner.query(`insert into altered values (1, 'fits')`)
    expect(await payloads(db, code)).toHaveLength(1)
  })

  it('has a trigger of that name already keeps it', async () => {
    await owner.query(`
      create table taken (id int primary key);
      create function theirs() returns trigger language plpgsql as 'begin return null; end';
      create trigger stagedoor_route_insert after insert on taken execute function theirs()`)
    await grantTriggers(owner, 'taken')
    const code = await registerRoute(admin(db), {
      source: 'taken',
      sql_event: 'insert',
      payload_contract: { keep_refs: ['id'] },
    })
    expect(await sqlstateOf(dryRunRoute(admin(db), code))).toBe('SD315')
    expect(await detachRoute(admin(db), code)).toEqual([])
  })
})

it('prepares its statements again after an update of ours', async () => {
  const code = await simple('refreshed')
  await db.owner(
    `update iu_core.iu_sql_event_route_attachment set send_sql = 'select 1/0' where route_code = $1`,
    [code],
  )
  await db.owner('select iu_core.fn_sql_route_refresh()')
  await owner.query(`insert into refreshed values (1, 'new')`)
  expect(await payloads(db, code)).toHaveLength(1)
})
