/** Ordinary tables: no tenant column, no uuid; keys and ids of any type. Planned, promoted, undone, with lineage. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { DatasetDeclaration, RowTypeDeclaration } from '../../src/ingest/datasets/dataset.ts'
import { completeDataset, type Dataset } from '../../src/ingest/datasets/dataset.ts'
import { checkDataset } from '../../src/ingest/datasets/declare.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sha256, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db)

/** A table of somebody else: Stagedoor gets the rights that registration names, and nothing more. */
async function createTables(sql: string): Promise<void> {
  const superuser = await db.session('postgres')
  await superuser.query(sql)
  await superuser.end()
}

async function register(declared: DatasetDeclaration, workspaceId?: string): Promise<Dataset> {
  expect(checkDataset(declared)).toEqual([])
  const dataset = completeDataset(declared)
  const options = { approvalRequired: false, workspaceId }
  const refused = await trial.register(dataset, options).catch(asStagedoorError)
  if (!refused) return dataset
  const { statements } = refused.details as { statements?: string[] }
  expect(statements, String(refused.details.reason)).toBeDefined()
  // One round: as one script.
  await createTables(statements!.join('\n'))
  await trial.register(dataset, options)
  return dataset
}

const rowsOf = (table: string, order = '1') => db.owner(`select * from ${table} order by ${order}`)

const text = { type: 'text' as const }

function leaf(row: Omit<RowTypeDeclaration, 'name'>, name = 'thing'): DatasetDeclaration['rows'] {
  return [{ name, ...row }]
}

describe('the key', () => {
  const KEYS: [name: string, type: string, field: DatasetDeclaration['fields'][string], values: string[]][] =
    [
      ['text', 'text', text, ['a', 'b', 'c']],
      ['varchar', 'varchar(10)', text, ['a', 'b', 'c']],
      ['integer', 'integer', { type: 'integer' }, ['1', '2', '3']],
      ['bigint', 'bigint', { type: 'integer' }, ['9007199254740993', '2', '3']],
      ['uuid', 'uuid', text, [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`)],
      ['date', 'date', { type: 'date' }, ['2026-01-01', '2026-01-02', '2026-01-03']],
      ['numeric', 'numeric(6, 2)', { type: 'decimal' }, ['1.50', '2.00', '3.25']],
    ]
  it.each(KEYS)('can be a primary key of type %s', async (name, type, field, [first, second, third]) => {
    const table = `public.keyed_${name}`
    await createTables(`create table ${table} (code ${type} primary key, label text, seen timestamptz not null default now());
      insert into ${table} (code, label) values ('${first}', 'one'), ('${second}', 'two')`)
    const dataset = await register({
      name: `keyed_${name}`,
      fields: { code: field, label: text },
      rows: leaf({ target: table, key: ['code'], columns: { code: 'code', label: 'label' } }),
    })
    const before = await trial.image([table])
    const plan = await trial.promoted(
      [
        { code: first!, label: 'one' },
        { code: second!, label: 'TWO' },
        { code: third!, label: 'three' },
      ],
      { dataset },
    )
    expect(plan.totals).toEqual({ thing: { insert: 1, update: 1, unchanged: 1 } })
    expect(await db.owner(`select label from ${table} order by label collate "C"`)).toEqual([
      { label: 'TWO' },
      { label: 'one' },
      { label: 'three' },
    ])
    const key = { code: type.startsWith('numeric') || /int/.test(type) ? Number(third) : third }
    const lineage = await trial.service(
      'select line, action from iu_core.fn_ingest_lineage($1, $2, p_key => $3)',
      [trial.workspace, table, JSON.stringify(key)],
    )
    expect(lineage).toEqual([{ line: 4, action: 'insert' }])
    await trial.undo(plan.upload_id)
    expect(await trial.image([table])).toEqual(before)
  })

  it('can be composite, of a date and a text, with NULLs where the index takes them for equal', async () => {
    await createTables(`create table rates (day date not null, place text, rate numeric(8, 4), unique nulls not distinct (day, place));
      insert into rates values ('2026-01-01', null, 1), ('2026-01-01', 'north', 2)`)
    const dataset = await register({
      name: 'rates',
      fields: { day: { type: 'date' }, place: text, rate: { type: 'decimal' } },
      rows: leaf({
        target: 'public.rates',
        key: ['day', 'place'],
        requires: ['day'],
        columns: { day: 'day', place: 'place', rate: 'rate' },
      }),
    })
    const before = await trial.image(['rates'])
    const plan = await trial.promoted(
      [
        { day: '2026-01-01', place: null, rate: 1.5 },
        { day: '2026-01-02', place: 'north', rate: 2 },
      ],
      { dataset },
    )
    expect(plan.totals).toEqual({ thing: { insert: 1, update: 1 } })
    await trial.undo(plan.upload_id)
    expect(await trial.image(['rates'])).toEqual(before)
  })
})

describe('columns that are not declared', () => {
  it('are left to the database: identity, generated columns, defaults and triggers', async () => {
    await createTables(`
      create table plain_products (
        id bigint generated always as identity primary key, sku text unique not null, price numeric(10, 2),
        doubled numeric generated always as (price * 2) stored, state text not null default 'new',
        number serial, touched timestamptz not null default now());
      create function touch_product() returns trigger language plpgsql as $$
        begin new.touched := '2000-01-01'; return new; end $$;
      create trigger touched before update on plain_products for each row execute function touch_product();
      insert into plain_products (sku, price) values ('a', 1), ('b', 2)`)
    const dataset = await register({
      name: 'plain_products',
      fields: { sku: text, price: { type: 'money' } },
      rows: leaf({ target: 'public.plain_products', key: ['sku'], columns: { sku: 'sku', price: 'price' } }),
    })
    const before = await trial.image(['plain_products'])
    const plan = await trial.promoted(
      [
        { sku: 'b', price: 2.5 },
        { sku: 'c', price: 3 },
      ],
      { dataset },
    )
    expect(
      await db.owner(
        `select id, sku, doubled, state, number, touched < '2001-01-01' as touched from plain_products order by sku`,
      ),
    ).toEqual([
      { id: '1', sku: 'a', doubled: '2.00', state: 'new', number: 1, touched: false },
      { id: '2', sku: 'b', doubled: '5.00', state: 'new', number: 2, touched: true },
      { id: '3', sku: 'c', doubled: '6.00', state: 'new', number: 3, touched: false },
    ])
    const { undo_totals } = await trial.undo(plan.upload_id)
    expect(undo_totals).toEqual({ thing: { reversed: 2 } })
    // The trigger of the table has touched the row once more; all else is as before.
    await db.owner(`alter table plain_products disable trigger all`).catch(() => undefined)
    expect((await trial.image(['plain_products'])).plain_products).toHaveLength(before.plain_products!.length)
  })

  it('and an identity column in the key is inserted as the file has it', async () => {
    await createTables(
      `create table numbered (id bigint generated always as identity primary key, label text); insert into numbered (label) values ('one')`,
    )
    const dataset = await register({
      name: 'numbered',
      fields: { id: { type: 'integer' }, label: text },
      rows: leaf({ target: 'public.numbered', key: ['id'], columns: { id: 'id', label: 'label' } }),
    })
    const plan = await trial.promoted(
      [
        { id: 1, label: 'ONE' },
        { id: 50, label: 'fifty' },
      ],
      { dataset },
    )
    expect(await rowsOf('numbered')).toEqual([
      { id: '1', label: 'ONE' },
      { id: '50', label: 'fifty' },
    ])
    await trial.undo(plan.upload_id)
    expect(await rowsOf('numbered')).toEqual([{ id: '1', label: 'one' }])
  })
})

/** Parents and children in one file; the parent is known by its name. */
const family = (
  name: string,
  schema: string,
  parent: Partial<RowTypeDeclaration> = {},
): DatasetDeclaration => ({
  name,
  fields: { shelf: text, floor: { type: 'integer' }, sku: text, title: text },
  rows: [
    {
      name: 'shelf',
      target: `${schema}.shelves`,
      id: 'id',
      key: ['label'],
      identity: { id: 'shelf' },
      columns: { label: 'shelf', floor: 'floor' },
      ...parent,
    },
    {
      name: 'book',
      target: `${schema}.books`,
      key: ['shelf_id', 'sku'],
      columns: { shelf_id: '$shelf', sku: 'sku', title: 'title' },
    },
  ],
})

describe('ids that other rows refer to', () => {
  const IDS: [string, string, string, Partial<RowTypeDeclaration>][] = [
    ['an identity', 'bigint generated always as identity primary key', 'bigint', {}],
    ['an identity by default', 'integer generated by default as identity primary key', 'integer', {}],
    ['a serial', 'serial primary key', 'integer', {}],
    [
      'a smallint of a shared sequence',
      `smallint primary key default nextval('shared_numbers')`,
      'smallint',
      {},
    ],
    ['a uuid', 'uuid primary key default gen_random_uuid()', 'uuid', {}],
  ]
  it.each(IDS)('may be %s', async (name, id, type, parent) => {
    const schema = `"${name.replaceAll(' ', '_')}"`
    await createTables(`create sequence if not exists shared_numbers;
      create schema ${schema};
      create table ${schema}.shelves (id ${id}, label text not null unique, floor integer);
      create table ${schema}.books (id bigint generated always as identity primary key, shelf_id ${type} not null references ${schema}.shelves,
        sku text not null, title text, unique (shelf_id, sku));
      insert into ${schema}.shelves (label, floor) values ('A', 1);
      insert into ${schema}.books (shelf_id, sku, title) select id, 's1', 'Old' from ${schema}.shelves`)
    const dataset = await register(family(`family_${IDS.findIndex(([n]) => n === name)}`, schema, parent))
    const tables = [`${schema}.shelves`, `${schema}.books`]
    const before = await trial.image(tables)
    const lines = [
      { shelf: 'A', floor: 1, sku: 's1', title: 'New' },
      { shelf: 'A', floor: 1, sku: 's2', title: 'Two' },
      { shelf: 'B', floor: 2, sku: 's1', title: 'Three' },
      { shelf: 'C', floor: null, sku: 's1', title: 'Four' },
      { shelf: 'C', floor: 3, sku: 's2', title: 'Five' },
    ]
    const plan = await trial.promoted(lines, { dataset })
    expect(plan.totals).toEqual({ shelf: { insert: 2, unchanged: 1 }, book: { insert: 4, update: 1 } })
    expect(
      await db.owner(
        `select s.label, s.floor, b.sku, b.title from ${schema}.books b join ${schema}.shelves s on s.id = b.shelf_id order by 1, 3`,
      ),
    ).toEqual([
      { label: 'A', floor: 1, sku: 's1', title: 'New' },
      { label: 'A', floor: 1, sku: 's2', title: 'Two' },
      { label: 'B', floor: 2, sku: 's1', title: 'Three' },
      { label: 'C', floor: 3, sku: 's1', title: 'Four' },
      { label: 'C', floor: 3, sku: 's2', title: 'Five' },
    ])
    const again = await trial.stagePlanned(lines, { dataset, hash: sha256(`${name} again`) })
    expect(again.totals).toEqual({ shelf: { unchanged: 3 }, book: { unchanged: 5 } })
    const lineage = await trial.service<{ line: number }>(
      'select line from iu_core.fn_ingest_lineage($1, $2, p_key => $3)',
      [trial.workspace, `${schema}.shelves`, '{"label": "C"}'],
    )
    expect(lineage.map(({ line }) => line)).toEqual([5])
    // By its id, too, which is not the key.
    const [row] = await db.owner<{ key: object }>(
      `select jsonb_build_object('id', id) as key from ${schema}.shelves where label = 'C'`,
    )
    expect(
      await trial.service('select line from iu_core.fn_ingest_lineage($1, $2, p_key => $3)', [
        trial.workspace,
        `${schema}.shelves`,
        JSON.stringify(row!.key),
      ]),
    ).toEqual(lineage)
    await trial.undo(plan.upload_id)
    expect(await trial.image(tables)).toEqual(before)
  })

  it('may be natural: a text or a date that the file has', async () => {
    await createTables(`create schema natural_ids;
      create table natural_ids.shelves (label text primary key, floor integer);
      create table natural_ids.books (shelf_id text not null references natural_ids.shelves, sku text not null, title text, primary key (shelf_id, sku))`)
    const dataset = await register(family('family_natural', 'natural_ids', { id: 'label' }))
    const plan = await trial.promoted([{ shelf: 'A', floor: 1, sku: 's1', title: 'One' }], { dataset })
    expect(await rowsOf('natural_ids.books')).toEqual([{ shelf_id: 'A', sku: 's1', title: 'One' }])
    await trial.undo(plan.upload_id)
    expect(await rowsOf('natural_ids.shelves')).toEqual([])
  })

  it('of a parent whose row the table rejects fail its children, and only those', async () => {
    await createTables(`create schema rejecting;
      create table rejecting.shelves (id bigint generated always as identity primary key, label text not null unique, floor integer check (floor < 10));
      create table rejecting.books (shelf_id bigint not null references rejecting.shelves, sku text not null, title text, primary key (shelf_id, sku))`)
    const dataset = await register(family('family_rejecting', 'rejecting'))
    const lines = [
      { shelf: 'bad', floor: 99, sku: 's0', title: 'Zero' },
      ...Array.from({ length: 19 }, (_, n) => ({ shelf: 'good', floor: 1, sku: `s${n}`, title: 'x' })),
    ]
    await trial.promoted(lines, { dataset }, 'LENIENT')
    expect(await db.owner('select label from rejecting.shelves')).toEqual([{ label: 'good' }])
    expect(await rowsOf('rejecting.books')).toHaveLength(19)
  })
})

describe('a dataset without tenants belongs to one workspace', () => {
  const declared = (name: string): DatasetDeclaration => ({
    name,
    fields: { sku: text, price: { type: 'money' } },
    rows: leaf({ target: 'public.owned', key: ['sku'], columns: { sku: 'sku', price: 'price' } }),
  })
  let other: string
  let stranger: Member
  let both: Member
  let owned: Dataset

  beforeAll(async () => {
    await createTables(
      'create table owned (id bigint generated always as identity primary key, sku text unique not null, price numeric)',
    )
    owned = await register(declared('owned'))
    other = await createWorkspace(db, 'Other')
    stranger = await createMember(db, other, 'operator')
    both = await createMember(db, other, 'operator')
    await db.owner('insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)', [
      trial.workspace,
      both.userId,
      'operator',
    ])
  })

  it('which is the only one there is, or the one that is named', async () => {
    expect(await db.owner(`select workspace_id from iu_core.ingest_dataset where dataset = 'owned'`)).toEqual(
      [{ workspace_id: trial.workspace }],
    )
    // There are two now.
    const refused = await trial.register(completeDataset(declared('owned_too'))).catch(asStagedoorError)
    expect(refused).toMatchObject({ code: 'dataset_invalid' })
    expect(JSON.stringify(refused!.details)).toMatch(/dataset register FILE --workspace/)
    await trial.register(completeDataset(declared('owned_too')), { workspaceId: other })
    // Its next version stays where it is, and no other workspace takes its name.
    await trial.register({ ...owned, version: 2 }, { approvalRequired: false })
    await trial.register({ ...owned, version: 1 }, { approvalRequired: false })
    await expect(trial.register(owned, { workspaceId: other })).rejects.toMatchObject({
      code: 'dataset_invalid',
      details: { reason: expect.stringMatching(/another workspace/) },
    })
    await expect(
      trial.register(completeDataset(declared('owned_three')), {
        workspaceId: '00000000-0000-4000-8000-000000000000',
      }),
    ).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('whose members alone see it', async () => {
    const seen = (caller: Member) =>
      db.as(caller, async (client) =>
        (
          await client.query(
            `select dataset from iu_core.ingest_dataset where dataset in ('owned', 'trial') order by 1`,
          )
        ).rows.map(({ dataset }) => dataset),
      )
    expect(await seen(trial.operator)).toEqual(['owned', 'trial'])
    expect(await seen(trial.agent)).toEqual(['owned', 'trial'])
    expect(await seen(trial.reviewer)).toEqual(['owned', 'trial'])
    expect(await seen(stranger)).toEqual(['trial'])
    expect(await seen(both)).toEqual(['owned', 'trial'])
  })

  it('whose uploads alone can use it: opened, mapped, planned or promoted', async () => {
    const begin = `select iu_core.fn_ingest_begin($1, 'owned', 'file', 'x.csv', $2, 1)`
    for (const caller of [stranger, both])
      expect(
        await sqlstateOf(db.as(caller, (client) => client.query(begin, [other, sha256(caller.userId)]))),
      ).toBe('SD604')
    expect(await sqlstateOf(trial.service(begin, [other, sha256('service')]))).toBe('SD604')
    expect(
      await sqlstateOf(
        db.as(both, (client) =>
          client.query(`select iu_core.fn_ingest_mapping_set($1, 'owned', 'file', '{}')`, [other]),
        ),
      ),
    ).toBe('SD604')
    const plan = await trial.stagePlanned([{ sku: 'a', price: 1 }], { dataset: owned })
    // By hand, by whoever owns the database: an upload never leaves its workspace by itself.
    await db.owner('update iu_core.ingest_dataset set workspace_id = $1 where dataset = $2', [other, 'owned'])
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD604')
    expect(await sqlstateOf(trial.planned(plan.upload_id))).toBe('SD604')
    await db.owner('update iu_core.ingest_dataset set workspace_id = $1 where dataset = $2', [
      trial.workspace,
      'owned',
    ])
    await trial.promote(plan)
    expect(await rowsOf('owned')).toHaveLength(1)
    // Lineage of another workspace does not say that the table is written at all.
    const lineage = `select * from iu_core.fn_ingest_lineage($1, 'public.owned', p_key => '{"sku": "a"}')`
    await trial.register(completeDataset(declared('owned_too')), { workspaceId: other })
    expect(await trial.service(lineage, [trial.workspace])).toHaveLength(1)
    expect(await trial.service(lineage, [other])).toEqual([])
  })

  it('and one with tenants in its keys belongs to none, also if a workspace is named', async () => {
    const prices = completeDataset({
      name: 'shared_prices',
      fields: { sku: text, day: { type: 'date' } },
      rows: leaf({
        target: 'public.trial_prices',
        key: ['workspace_id', 'sku', 'tier', 'day'],
        requires: ['sku'],
        columns: { workspace_id: '$workspace', sku: 'sku', tier: 'sku', day: 'day' },
      }),
    })
    await trial.register(prices, { workspaceId: other })
    expect(
      await db.owner(`select workspace_id from iu_core.ingest_dataset where dataset = 'shared_prices'`),
    ).toEqual([{ workspace_id: null }])
  })

  it('of two who register the same name for two workspaces at once, one is refused', async () => {
    const dataset = JSON.stringify(completeDataset(declared('raced')))
    const [one, two] = [await db.session(), await db.session()]
    const call = 'select iu_core.fn_ingest_dataset_register($1, false, null, $2)'
    await one.query('begin')
    await one.query(call, [dataset, trial.workspace])
    const second = sqlstateOf(two.query(call, [dataset, other]))
    await one.query('commit')
    expect(await second).toBe('SD605')
    expect(await db.owner(`select workspace_id from iu_core.ingest_dataset where dataset = 'raced'`)).toEqual(
      [{ workspace_id: trial.workspace }],
    )
    await Promise.all([one.end(), two.end()])
  })
})
