/** Tables of every kind, and what happens to them between plan and promotion; large tables; applications that write meanwhile. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completeDataset, type Dataset, type DatasetDeclaration } from '../../src/ingest/datasets/dataset.ts'
import { checkDataset } from '../../src/ingest/datasets/declare.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import { useDatabase } from '../support/database.ts'
import { type StagedLine, sha256, useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db)
const text = { type: 'text' as const }
let hashes = 0

async function superuser(sql: string): Promise<void> {
  const session = await db.session('postgres')
  await session.query(sql)
  await session.end()
}

async function register(declared: DatasetDeclaration): Promise<Dataset> {
  expect(checkDataset(declared)).toEqual([])
  const dataset = completeDataset(declared)
  await trial.register(dataset, { approvalRequired: false })
  return dataset
}

async function refusal(declared: DatasetDeclaration): Promise<{ reason: string; statements: string[] }> {
  const error = await trial.register(completeDataset(declared)).catch(asStagedoorError)
  return (error as unknown as { details: { reason: string; statements: string[] } }).details
}

const stage = (dataset: Dataset, lines: readonly StagedLine[]) =>
  trial.stage(lines, { dataset, hash: sha256(`change ${++hashes}`) })
const planned = async (dataset: Dataset, lines: readonly StagedLine[]) =>
  trial.planned(await stage(dataset, lines))

const goods = (name: string, target: string): DatasetDeclaration => ({
  name,
  fields: { sku: text, price: { type: 'decimal' } },
  rows: [{ name: 'good', target, key: ['sku'], columns: { sku: 'sku', price: 'price' } }],
})

it('tells the story of a shop: a file with a category’s name, from the first plan to lineage and undo', async () => {
  await superuser(`
    create table categories (id bigint generated always as identity primary key, name text unique not null);
    create table products (id bigint generated always as identity primary key, sku text unique not null, name text, price numeric(10, 2),
      category_id bigint references categories, updated_at timestamptz default now());
    insert into categories (name) values ('Garden'), ('Kitchen');
    insert into products (sku, name, price, category_id) values ('a-1', 'Spade', 19.90, 1), ('a-2', 'Rake', 12, 1)`)
  const declared: DatasetDeclaration = {
    name: 'products',
    fields: {
      sku: { ...text, aliases: ['Article'] },
      name: { ...text, aliases: ['Description'] },
      price: { type: 'money', aliases: ['Price'] },
      category: { ...text, aliases: ['Group'], lookup: 'categories' },
    },
    lookups: { categories: { table: 'public.categories', by: 'name', value: 'id' } },
    rows: [
      {
        name: 'product',
        target: 'public.products',
        key: ['sku'],
        columns: { sku: 'sku', name: 'name', price: 'price', category_id: 'category' },
      },
    ],
  }
  // Everything that is missing in one round, as one script: the right to use a number of its own is not needed.
  const { statements } = await refusal(declared)
  expect(statements).toEqual([
    ...['select', 'insert', 'update', 'delete'].map(
      (right) => `grant ${right} on public.products to workflow_admin;`,
    ),
    'grant select on public.categories to workflow_admin;',
  ])
  await superuser(statements.join('\n'))
  await register(declared)
  const before = await trial.image(['products', 'categories'])
  const path = join(trial.home, 'products.csv')
  writeFileSync(
    path,
    'Article,Description,Price,Group,Remark\na-1,Spade,21.50,Garden,x\na-2,Rake,12.00,Garden,\na-3,Pan,30,Kitchen,\na-4,Pot,1,Kitchn,\n',
  )
  const upload = await trial.run(path, {
    dataset: 'products',
    platform: 'file',
    clientId: undefined as never,
    onInvalid: 'skip',
    threshold: 0.5,
  } as never)
  expect(upload).toMatchObject({ status: 'planned', valid_count: 3, invalid_count: 1 })
  expect(upload.plan_totals).toEqual({ product: { insert: 1, update: 1, unchanged: 1, skipped: 1 } })
  const [error] = await db.owner<{ e: { suggestion: string; line: number } }>(
    'select validation_errors -> 0 as e from staging_rows where upload_id = $1 and row_number = 5',
    [upload.upload_id],
  )
  expect(error!.e.suggestion).toMatch(/^Nearest: Kitchen/)
  expect(error!.e).toMatchObject({ line: 5, column: 'Group', field: 'category', value: 'Kitchn' })
  await trial.promote({ upload_id: upload.upload_id, digest: upload.plan_digest! } as never)
  expect(
    await db.owner(
      'select p.sku, p.price, c.name from products p join categories c on c.id = p.category_id order by 1',
    ),
  ).toEqual([
    { sku: 'a-1', price: '21.50', name: 'Garden' },
    { sku: 'a-2', price: '12.00', name: 'Garden' },
    { sku: 'a-3', price: '30.00', name: 'Kitchen' },
  ])
  expect(
    await trial.service(
      `select file_name, line, action from iu_core.fn_ingest_lineage($1, 'public.products', p_key => '{"sku": "a-3"}')`,
      [trial.workspace],
    ),
  ).toEqual([{ file_name: 'products.csv', line: 4, action: 'insert' }])
  await trial.undo(upload.upload_id)
  expect(await trial.image(['products', 'categories'])).toEqual(before)
})

describe('tables', () => {
  it('may be partitioned, in any schema, with names in any case', async () => {
    await superuser('create schema "Sales 2026" authorization workflow_admin')
    await db.owner(`
      create table "Sales 2026"."Order ""lines""" ("Day" date not null, "No" integer not null, "Amount" numeric(10, 2), primary key ("Day", "No"))
        partition by range ("Day");
      create table "Sales 2026".early partition of "Sales 2026"."Order ""lines""" for values from ('2026-01-01') to ('2026-07-01');
      create table "Sales 2026".late partition of "Sales 2026"."Order ""lines""" for values from ('2026-07-01') to ('2027-01-01');
      insert into "Sales 2026"."Order ""lines""" values ('2026-01-01', 1, 10), ('2026-08-01', 1, 20)`)
    const table = '"Sales 2026"."Order ""lines"""'
    const dataset = await register({
      name: 'order_lines',
      fields: { day: { type: 'date' }, no: { type: 'integer' }, amount: { type: 'money' } },
      rows: [
        {
          name: 'line',
          target: table,
          key: ['Day', 'No'],
          columns: { Day: 'day', No: 'no', Amount: 'amount' },
        },
      ],
    })
    const before = await trial.image([table])
    const plan = await planned(dataset, [
      { day: '2026-01-01', no: 1, amount: 11 },
      { day: '2026-08-01', no: 1, amount: 20 },
      { day: '2026-08-01', no: 2, amount: 30 },
    ])
    expect(plan.totals).toEqual({ line: { insert: 1, update: 1, unchanged: 1 } })
    await trial.promote(plan)
    expect(await db.owner('select "Amount" from "Sales 2026".late order by "No"')).toEqual([
      { Amount: '20.00' },
      { Amount: '30.00' },
    ])
    await trial.undo(plan.upload_id)
    expect(await trial.image([table])).toEqual(before)
  })

  it('behind views are named, foreign tables and tables without a key are refused with what would help', async () => {
    await superuser(`create table behind (sku text primary key, price numeric);
      create view shown as select * from behind; create materialized view shown_once as select * from behind;
      create table keyless (sku text not null, price numeric); grant all on keyless to workflow_admin`)
    expect(await refusal(goods('shown', 'public.shown'))).toMatchObject({
      reason: expect.stringMatching(/public.shown is not a table but a view/),
      statements: ['Name the table behind it: public.behind.'],
    })
    expect((await refusal(goods('shown', 'public.shown_once'))).reason).toMatch(/materialized view/)
    const { reason, statements } = await refusal(goods('keyless', 'public.keyless'))
    expect(reason).toMatch(/no unique index over sku/)
    await superuser(statements.join('\n'))
    await register(goods('keyless', 'public.keyless'))
    const missing = await superuser('create extension if not exists postgres_fdw').catch(
      (error: Error) => error,
    )
    if (missing) return
    await superuser(
      `create server far foreign data wrapper postgres_fdw; create foreign table far_goods (sku text, price numeric) server far`,
    )
    expect(await refusal(goods('far_goods', 'public.far_goods'))).toMatchObject({
      reason: expect.stringMatching(/foreign table/),
      statements: [expect.stringMatching(/Name a table of this database/)],
    })
  })

  it('that lack everything are described in one round, whose statements are one script', async () => {
    await superuser(`create schema nothing_yet;
      create table nothing_yet.goods (id bigserial, sku text not null, owner_id integer not null default 1);
      create table nothing_yet.owners (id integer, name text);`)
    const declared: DatasetDeclaration = {
      ...goods('nothing_yet', 'nothing_yet.goods'),
      lookups: { owners: { table: 'nothing_yet.owners', by: 'name', value: 'id' } },
    }
    declared.fields.owner = { ...text, lookup: 'owners' }
    declared.rows[0]!.columns.owner_id = 'owner'
    declared.rows[0]!.id = 'id'
    const { statements } = await refusal(declared)
    expect(statements.join('\n')).toMatch(
      /grant usage on schema.*sequence.*add column price.*owners \(name\)/s,
    )
    await superuser(statements.join('\n'))
    await register(declared)
  })

  it('may have 1,600 columns', async () => {
    const names = Array.from({ length: 1598 }, (_, n) => `n${n}`)
    await db.owner(
      `create table wide (sku text primary key, price numeric, ${names.map((name) => `${name} smallint`).join(', ')})`,
    )
    const dataset = await register(goods('wide', 'public.wide'))
    const before = await trial.image(['wide'])
    const plan = await planned(dataset, [{ sku: 'a', price: 1 }])
    await trial.promote(plan)
    const second = await planned(dataset, [{ sku: 'a', price: 2 }])
    expect(second.totals).toEqual({ good: { update: 1 } })
    await trial.promote(second)
    await trial.undo(second.upload_id)
    await trial.undo(plan.upload_id)
    expect(await trial.image(['wide'])).toEqual(before)
    const all = { ...goods('wide', 'public.wide') }
    all.rows[0]!.columns = {
      ...all.rows[0]!.columns,
      ...Object.fromEntries(names.map((name) => [name, 'price'])),
    }
    expect((await refusal(all)).reason).toMatch(/writes 1600 columns of public.wide, and at most 1500/)
  })
})

describe('between plan and promotion', () => {
  const CHANGES: [what: string, change: string, code: string, said: RegExp][] = [
    ['the table is dropped', 'drop table changing', 'dataset_invalid', /public.changing does not exist/],
    ['it is renamed', 'alter table changing rename to changed', 'dataset_invalid', /does not exist/],
    [
      'a view takes its name',
      'drop table changing; create view changing as select 1 as sku, 2 as price',
      'dataset_invalid',
      /is not a table/,
    ],
    ['a column is dropped', 'alter table changing drop column price', 'dataset_invalid', /no column price/],
    [
      'a column becomes generated',
      'alter table changing drop column price; alter table changing add column price numeric generated always as (1) stored',
      'dataset_invalid',
      /generated column/,
    ],
    [
      'a type is changed',
      'alter table changing alter column price type integer',
      'plan_stale',
      /price was numeric\(10,2\) and is integer/,
    ],
    [
      'the key is no longer unique',
      'alter table changing drop constraint changing_sku_key',
      'dataset_invalid',
      /no unique index over sku/,
    ],
    [
      'the right to insert is revoked',
      'alter table changing owner to postgres; grant select, update, delete on changing to workflow_admin',
      'dataset_invalid',
      /may not insert/,
    ],
    [
      'the schema is closed',
      'create schema shut; alter table changing set schema shut',
      'dataset_invalid',
      /does not exist/,
    ],
    [
      'a row is written by others',
      `insert into changing (sku) values ('b')`,
      'plan_stale',
      /changed since the plan/,
    ],
    [
      'row security is switched on',
      'alter table changing owner to postgres; grant all on changing to workflow_admin; alter table changing enable row level security',
      'dataset_invalid',
      /Row security/,
    ],
  ]
  it.each(CHANGES)('%s: nothing is written, and the error says why', async (_, change, code, said) => {
    await superuser(
      'drop view if exists changing; drop table if exists changed; drop schema if exists shut cascade',
    ).catch(() => superuser('drop table if exists changing, changed; drop schema if exists shut cascade'))
    await superuser('drop table if exists changing')
    await db.owner(`create table changing (id bigint generated always as identity primary key, sku text unique not null, price numeric(10, 2));
      insert into changing (sku, price) values ('a', 1)`)
    const dataset = await register(goods('changing', 'public.changing'))
    const plan = await planned(dataset, [
      { sku: 'a', price: 2.5 },
      { sku: 'b', price: 3 },
    ])
    await superuser(change)
    const written = () =>
      db.owner(
        `select (select count(*) from iu_core.ingest_promotion) as promotions, (select count(*) from iu_core.ingest_ledger) as rows`,
      )
    const before = await written()
    const error = await trial.promote(plan).catch(asStagedoorError)
    expect(error).toMatchObject({ code })
    expect(JSON.stringify((error as { details?: unknown }).details)).toMatch(said)
    expect(await written()).toEqual(before)
    // Planned again, it is refused for the same reason, or right again, or asks first, because the file would write over their row.
    const again = await trial.planned(plan.upload_id).catch(asStagedoorError)
    const isWritten = change.startsWith('insert')
    const refused = code === 'dataset_invalid' ? code : isWritten ? 'plan_conflicts' : undefined
    expect(again).toMatchObject(refused ? { code: refused } : { upload_id: plan.upload_id })
    if (isWritten)
      expect(await trial.planned(plan.upload_id, 'STRICT', 0.9, 'use_mine')).toMatchObject({ refusal: null })
  })
})

describe('a large table', () => {
  it('is not read through by the plan, by a lookup nor by its suggestions', async () => {
    await db.owner(`create table large_goods (id bigint generated always as identity primary key, sku text unique not null, price numeric, owner_id integer);
      create table large_owners (id integer primary key, name text unique not null);
      insert into large_goods (sku, price) select 'sku-' || n, n from generate_series(1, 100000) n;
      insert into large_owners select n, 'owner ' || n from generate_series(1, 100000) n;
      -- What building their indexes counted must not arrive later.
      select pg_stat_force_next_flush()`)
    await superuser('analyze large_goods; analyze large_owners')
    const declared = goods('large', 'public.large_goods')
    declared.lookups = { owners: { table: 'public.large_owners', by: 'name', value: 'id' } }
    declared.fields.owner = { ...text, lookup: 'owners' }
    declared.rows[0]!.columns.owner_id = 'owner'
    const dataset = await register(declared)
    const lines = Array.from({ length: 50 }, (_, n) => ({
      sku: `sku-${n * 2000}`,
      price: n,
      owner: n === 49 ? 'owner 12x' : `owner ${n * 2000 + 1}`,
    }))
    const read = async () => {
      await superuser('select pg_stat_force_next_flush()')
      return db.owner(
        `select relname, seq_scan, seq_tup_read from pg_stat_all_tables where relname in ('large_goods', 'large_owners') order by 1`,
      )
    }
    const session = await db.session('stagedoor_worker')
    await session.query('set role service_role')
    const upload = await stage(dataset, lines)
    const before = await read()
    const { rows } = await session.query(`select * from iu_core.fn_ingest_plan($1, 'LENIENT', 0.5)`, [upload])
    await session.query('select pg_stat_force_next_flush()')
    expect(await read()).toEqual(before)
    expect(rows[0].totals).toEqual({ good: { insert: 1, update: 48, skipped: 1 } })
    await session.query('select iu_core.fn_ingest_promote($1, $2)', [upload, rows[0].digest])
    await session.query('select pg_stat_force_next_flush()')
    expect(await read()).toEqual(before)
    await session.end()
    const [error] = await db.owner<{ suggestion: string }>(
      `select validation_errors -> 0 ->> 'suggestion' as suggestion from staging_rows where upload_id = $1 and validation_status = 'invalid'`,
      [upload],
    )
    expect(error!.suggestion).toMatch(/^Nearest: owner 12/)
  })
})

describe('an application that writes the same table', () => {
  it('gets other numbers than the plan has reserved, and no row is lost or doubled', async () => {
    await superuser('create schema busy authorization workflow_admin')
    await db.owner(`
      create table busy.parents (id bigint generated always as identity primary key, code text unique not null);
      create table busy.children (id bigint generated always as identity primary key, parent_id bigint not null references busy.parents, code text not null, unique (parent_id, code))`)
    const dataset = await register({
      name: 'busy',
      fields: { parent: text, child: text },
      rows: [
        {
          name: 'parent',
          target: 'busy.parents',
          id: 'id',
          key: ['code'],
          identity: { id: 'parent' },
          columns: { code: 'parent' },
        },
        {
          name: 'child',
          target: 'busy.children',
          key: ['parent_id', 'code'],
          columns: { parent_id: '$parent', code: 'child' },
        },
      ],
    })
    const app = await db.session()
    let stopped = false
    let writes = 0
    const writing = (async () => {
      while (!stopped) {
        writes += 1
        await app.query(
          `with p as (insert into busy.parents (code) values ($1) returning id)
           insert into busy.children (parent_id, code) select id, 'app' from p`,
          [`app-${writes}`],
        )
      }
    })()
    const promotions = await Promise.all(
      [0, 1, 2].map(async (n) => {
        const lines = Array.from({ length: 200 }, (_, line) => ({
          parent: `file-${n}-${line % 40}`,
          child: `c${line}`,
        }))
        const plan = await planned(dataset, lines)
        await trial.promote(plan)
        return plan.upload_id
      }),
    )
    stopped = true
    await writing
    await app.end()
    const counts = async () =>
      (
        await db.owner<{ parents: number; children: number; ids: number }>(
          `select (select count(*)::int from busy.parents) as parents, (select count(*)::int from busy.children) as children,
                  (select count(distinct id)::int from busy.parents) as ids`,
        )
      )[0]
    expect(await counts()).toEqual({ parents: 120 + writes, children: 600 + writes, ids: 120 + writes })
    expect(
      await db.owner(
        `select p.code from busy.children c join busy.parents p on p.id = c.parent_id where (c.code = 'app') <> (p.code like 'app%')`,
      ),
    ).toEqual([])
    // A row that the application takes first: the plan is stale, and planned again it is an update.
    const late = await planned(dataset, [{ parent: 'late', child: 'x' }])
    await db.owner(`insert into busy.parents (code) values ('late')`)
    expect(await trial.promote(late).catch(asStagedoorError)).toMatchObject({ code: 'plan_stale' })
    expect((await trial.planned(late.upload_id)).totals).toEqual({
      parent: { unchanged: 1 },
      child: { insert: 1 },
    })
    await db.owner(`delete from busy.parents where code = 'late'`)
    for (const upload of promotions) await trial.undo(upload)
    expect(await counts()).toEqual({ parents: writes, children: writes, ids: writes })
  })

  it('with the same key at the same moment: whoever commits second is refused', async () => {
    await db.owner(
      'create table contested (id bigint generated always as identity primary key, sku text unique not null, price numeric)',
    )
    const dataset = await register(goods('contested', 'public.contested'))
    const plan = await planned(dataset, [{ sku: 'same', price: 1 }])
    const app = await db.session()
    await app.query('begin')
    await app.query(`insert into contested (sku, price) values ('same', 2)`)
    const promotion = trial.promote(plan).catch(asStagedoorError)
    await app.query('commit')
    await app.end()
    expect(await promotion).toMatchObject({ code: 'plan_stale' })
    expect(await db.owner('select id, price from contested')).toEqual([{ id: '1', price: '2' }])
  })
})
