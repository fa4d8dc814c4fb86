/** What an event may carry: the kept columns, no forbidden key at any depth, and not much. */
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { registerRoute, routeEvidence } from '../../../src/events/routes.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { active, admin, dryRun, grantTriggers, payloads, user } from './routed.ts'

const db = useDatabase()

let owner: pg.Client

beforeAll(async () => {
  owner = await user(db)
})

async function table(name: string, definition: string): Promise<void> {
  await owner.query(`create table ${name} (${definition})`)
  await grantTriggers(owner, name)
}

it('refuses a forbidden key at any depth, in json, jsonb, arrays and domains over them', async () => {
  await owner.query('create domain document as jsonb; create domain documents as jsonb[]')
  const nested = '{"a": [{"b": {"PassWord": 1}}]}'
  for (const [name, type, value] of [
    ['in_jsonb', 'jsonb', nested],
    ['in_json', 'json', nested],
    ['in_domain', 'document', nested],
    ['in_array', 'jsonb[]', `{${JSON.stringify(nested)}}`],
    ['in_domain_array', 'document[]', `{${JSON.stringify(nested)}}`],
    ['in_array_domain', 'documents', `{${JSON.stringify(nested)}}`],
  ] as const) {
    await table(name, `id int primary key, doc ${type}`)
    await active(
      db,
      { source: name, sql_event: 'insert', payload_contract: { keep_refs: ['id', 'doc'] } },
      () => owner.query(`insert into ${name} values (0, null)`),
    )
    expect(await sqlstateOf(owner.query(`insert into ${name} values (1, '${value}')`)), name).toBe('SD310')
    const fine = value.replaceAll('PassWord', 'word')
    await owner.query(`insert into ${name} values (2, '${fine}')`)
    expect(await payloads(db, `${name}.insert`), name).toHaveLength(1)
  }
})

it('lets a route forbid more, never less', async () => {
  await table('stricter', 'id int primary key, doc jsonb')
  const contract = { keep_refs: ['id', 'doc'], forbid_keys: ['Iban'] }
  await active(db, { source: 'stricter', sql_event: 'insert', payload_contract: contract }, () =>
    owner.query(`insert into stricter values (0, '{}')`),
  )
  expect(await sqlstateOf(owner.query(`insert into stricter values (1, '{"x": {"IBAN": 1}}')`))).toBe('SD310')
  expect(await sqlstateOf(owner.query(`insert into stricter values (1, '{"x": {"token": 1}}')`))).toBe(
    'SD310',
  )
})

it('refuses one bad row among 10,000, and then none of them is there', async () => {
  await table('many', 'id int primary key, doc jsonb')
  await active(
    db,
    { source: 'many', sql_event: 'insert', payload_contract: { keep_refs: ['id', 'doc'] } },
    () => owner.query(`insert into many values (0, '{}')`),
  )
  const bad = owner.query(
    `insert into many select n, case n when 9999 then '{"body": 1}'::jsonb else '{"a": 1}' end from generate_series(1, 10000) n`,
  )
  expect(await sqlstateOf(bad)).toBe('SD310')
  expect((await owner.query('select from many')).rowCount).toBe(1)
  expect(await payloads(db, 'many.insert')).toEqual([])
})

it('refuses more than 8192 characters, and not one fewer', async () => {
  await table('long', 'id int primary key, note text')
  await active(db, { source: 'long', sql_event: 'insert', payload_contract: { keep_refs: ['note'] } }, () =>
    owner.query(`insert into long values (0, '')`),
  )
  const room = 8192 - '{"note": ""}'.length
  await owner.query(`insert into long values (1, repeat('x', ${room}))`)
  expect(await sqlstateOf(owner.query(`insert into long values (2, repeat('x', ${room + 1}))`))).toBe('SD310')
  expect(await payloads(db, 'long.insert')).toHaveLength(1)
})

it('looks at the length of columns that have a limit which is too high', async () => {
  await table('limited', 'id int primary key, a varchar(1000), b varchar(1000)')
  await active(
    db,
    { source: 'limited', sql_event: 'insert', payload_contract: { keep_refs: ['a', 'b'] } },
    () => owner.query(`insert into limited values (0, '', '')`),
  )
  // Each control character takes six in JSON.
  const long = owner.query(`insert into limited values (1, repeat(chr(1), 1000), repeat(chr(1), 1000))`)
  expect(await sqlstateOf(long)).toBe('SD310')
})

it('shows in dry run what would be refused, without its content', async () => {
  await table('rehearsed', 'id int primary key, doc jsonb')
  const code = await dryRun(db, {
    source: 'rehearsed',
    sql_event: 'insert',
    payload_contract: { keep_refs: ['id', 'doc'] },
  })
  await owner.query(`insert into rehearsed values (1, '{"a": 1}'), (2, '{"secret": "s3cret"}')`)
  const [evidence] = await routeEvidence(admin(db), code)
  expect(evidence).toMatchObject({ events: '2', refused: '1' })
  expect(evidence!.sample.map((one) => one.payload)).toEqual([{ id: 1, doc: { a: 1 } }])
})

it('carries every type as JSON, also enums, domains, arrays and ranges', async () => {
  await owner.query(
    `create type mood as enum ('good', 'bad'); create domain positive as int check (value > 0)`,
  )
  await table(
    'types',
    `id uuid primary key, b boolean, n numeric, f float8, t timestamptz, d date, i interval, raw_bytes bytea,
     m mood, ms mood[], p positive, tags text[], r int4range, c char(3), j jsonb`,
  )
  const keep_refs = ['id', 'b', 'n', 'f', 't', 'd', 'i', 'raw_bytes', 'm', 'ms', 'p', 'tags', 'r', 'c', 'j']
  const insert = (id: string) =>
    owner.query(
      `insert into types values ('${id}', true, 1234567890.5, 0.1, '2026-11-16 07:00+07', '2026-11-16', '1 day 2 hours',
         '\\xdead', 'good', '{good,bad}', 3, '{"a b","c,d"}', '[1,5)', 'ab', '[1, {"x": null}]')`,
    )
  await active(db, { source: 'types', sql_event: 'insert', payload_contract: { keep_refs } }, () =>
    insert('00000000-0000-4000-8000-000000000000'),
  )
  await insert('00000000-0000-4000-8000-000000000001')
  await owner.query(`insert into types (id) values ('00000000-0000-4000-8000-000000000002')`)
  const [full, empty] = await payloads(db, 'types.insert')
  expect(full).toEqual({
    id: '00000000-0000-4000-8000-000000000001',
    b: true,
    n: 1234567890.5,
    f: 0.1,
    t: '2026-11-16T00:00:00+00:00',
    d: '2026-11-16',
    i: 'P1DT2H',
    raw_bytes: '\\xdead',
    m: 'good',
    ms: ['good', 'bad'],
    p: 3,
    tags: ['a b', 'c,d'],
    r: '[1,5)',
    c: 'ab ',
    j: [1, { x: null }],
  })
  const nulls = Object.fromEntries(keep_refs.map((name) => [name, null]))
  expect(empty).toEqual({ ...nulls, id: '00000000-0000-4000-8000-000000000002' })
})

it('runs no code of a type’s owner with our rights', async () => {
  await owner.query(`
    create table caught (who text); grant insert on caught to public;
    create type colour as enum ('red'); create domain shade as text`)
  for (const type of ['colour', 'colour[]', 'shade[]']) {
    for (const target of ['json', 'jsonb', 'text']) {
      await owner.query(`
        create function catches(${type}) returns ${target} language plpgsql as
          $$ begin insert into caught values (current_user); return '{}'; end $$;
        alter function catches rename to "${type} to ${target}";
        create cast (${type} as ${target}) with function "${type} to ${target}"(${type}) as implicit`)
    }
  }
  await table('painted', 'id int primary key, c colour, cs colour[], ss shade[]')
  for (const subject of ['c', 'cs', 'ss']) {
    const code = await active(
      db,
      {
        route_code: `painted.${subject}`,
        source: 'painted',
        sql_event: 'insert',
        target_event_type: `painted.${subject}`,
        payload_contract: { keep_refs: ['id', 'c', 'cs', 'ss'], subject: [subject] },
        idempotency_policy: { key: '(id,c,cs,ss)' },
      },
      () => owner.query(`insert into painted values (0, 'red', '{red}', '{dark}')`),
    )
    await owner.query(`delete from painted; insert into painted values (1, 'red', '{red}', '{dark}')`)
    expect(await payloads(db, code)).toEqual([{ id: 1, c: 'red', cs: ['red'], ss: ['dark'] }])
    await owner.query('delete from painted')
  }
  expect((await owner.query('select who from caught')).rows).toEqual([])
})

it('does not take a column that has become JSON since for harmless', async () => {
  await table('altered', 'id int primary key, note text')
  await active(
    db,
    { source: 'altered', sql_event: 'insert', payload_contract: { keep_refs: ['id', 'note'] } },
    () => owner.query(`insert into altered values (0, '{}')`),
  )
  await owner.query('alter table altered alter note type jsonb using note::jsonb')
  expect(await sqlstateOf(owner.query(`insert into altered values (1, '{"token": 1}')`))).toBe('SD310')
  await owner.query(`insert into altered values (2, '{"a": 1}')`)
  expect(await payloads(db, 'altered.insert')).toEqual([{ id: 2, note: { a: 1 } }])
})

it('refuses virtual columns, which triggers do not see', async () => {
  if (db.server.version < 18) return
  await table('virtual', 'id int primary key, twice int generated always as (id * 2) virtual')
  const route = {
    source: 'virtual',
    sql_event: 'insert',
    payload_contract: { keep_refs: ['id', 'twice'] },
  } as const
  expect(await sqlstateOf(registerRoute(admin(db), route))).toBe('SD311')
})
