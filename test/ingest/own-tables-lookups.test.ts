/** Values that a file names are found in another table, or in the table that it writes itself. */
import { beforeAll, describe, expect, it } from 'vitest'
import { completeDataset, type Dataset, type DatasetDeclaration } from '../../src/ingest/datasets/dataset.ts'
import { checkDataset } from '../../src/ingest/datasets/declare.ts'
import { listPlanRows } from '../../src/ingest/plan.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import type { Caller } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { type StagedLine, sha256, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

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

const stage = (dataset: Dataset, lines: readonly StagedLine[]) =>
  trial.stage(lines, { dataset, hash: sha256(`lookup ${++hashes}`) })

interface Finding {
  line: number
  rule: string
  message: string
  suggestion: string
  field: string
}

const findings = async (upload: string) =>
  (
    await db.owner<{ e: Finding }>(
      `select e from staging_rows, jsonb_array_elements(validation_errors) e where upload_id = $1 order by row_number, e ->> 'field'`,
      [upload],
    )
  ).map(({ e }) => e)

const products = (name: string, categories: string, ignoreCase?: true): DatasetDeclaration => ({
  name,
  fields: { sku: text, category: { ...text, lookup: 'categories' } },
  lookups: { categories: { table: categories, by: 'name', value: 'id', ...(ignoreCase && { ignoreCase }) } },
  rows: [
    {
      name: 'product',
      target: 'public.shop_products',
      key: ['sku'],
      columns: { sku: 'sku', category_id: 'category' },
    },
  ],
})

describe('a value looked up in another table', () => {
  let dataset: Dataset

  beforeAll(async () => {
    await db.owner(`
      create table shop_categories (id bigint generated always as identity primary key, name text unique not null);
      insert into shop_categories (name) values ('Garden'), ('Gardening tools'), ('Kitchen'), ('Guarding'), ('Toys');
      create table shop_products (id bigint generated always as identity primary key, sku text unique not null,
        category_id bigint references shop_categories)`)
    dataset = await register(products('shop', 'public.shop_categories'))
  })

  it('is planned and promoted as the row that was found, and an empty cell as none', async () => {
    const upload = await stage(dataset, [
      { sku: 'a', category: 'Kitchen' },
      { sku: 'b', category: 'Garden' },
      { sku: 'c', category: null },
    ])
    expect(await findings(upload)).toEqual([])
    const plan = await trial.planned(upload)
    expect(plan.refusal).toBeNull()
    await trial.promote(plan)
    expect(await db.owner('select sku, category_id from shop_products order by sku')).toEqual([
      { sku: 'a', category_id: '3' },
      { sku: 'b', category_id: '1' },
      { sku: 'c', category_id: null },
    ])
    const again = await trial.planned(await stage(dataset, [{ sku: 'a', category: 'Toys' }]))
    expect(again.totals).toEqual({ product: { update: 1 } })
    const [row] = await db.owner(
      'select before, after, changed from iu_core.ingest_plan_row where upload_id = $1',
      [again.upload_id],
    )
    expect(row).toMatchObject({
      before: { category_id: 3 },
      after: { category_id: 5 },
      changed: ['category_id'],
    })
  })

  it('that is unknown is an error of its line when it is staged, with the nearest three, until the row is there', async () => {
    const upload = await stage(dataset, [
      { sku: 'x', category: 'Gardn' },
      { sku: 'y', category: 'Toys' },
    ])
    const found = await findings(upload)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      line: 2,
      rule: 'lookup.unknown',
      field: 'category',
      message: 'There is no category Gardn: no row of public.shop_categories has this name.',
    })
    expect(found[0]!.suggestion).toMatch(
      /^Nearest: Garden, (Guarding|Gardening tools), (Guarding|Gardening tools)\. Correct/,
    )
    const refused = await trial.planned(upload)
    expect(refused.refusal).toMatch(/1 of 2 lines is invalid/)
    await db.owner(`insert into shop_categories (name) values ('Gardn')`)
    const plan = await trial.planned(upload)
    expect(plan.refusal).toBeNull()
    expect(plan.totals).toEqual({ product: { insert: 2 } })
    // And gone again.
    await db.owner(`delete from shop_categories where name = 'Gardn'`)
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD606')
    expect((await trial.planned(upload)).refusal).toMatch(/1 of 2 lines is invalid/)
    const lenient = await trial.planned(upload, 'LENIENT', 0.5)
    expect(lenient.totals).toEqual({ product: { insert: 1, skipped: 1 } })
    await trial.promote(lenient)
    await trial.undo(upload)
  })

  it('that means another row since the plan makes the plan stale, and nothing is written', async () => {
    const upload = await stage(dataset, [{ sku: 'swapped', category: 'Kitchen' }])
    const plan = await trial.planned(upload)
    await db.owner(`update shop_categories set name = 'Old kitchen' where name = 'Kitchen'`)
    await db.owner(`insert into shop_categories (name) values ('Kitchen')`)
    const error = await trial.promote(plan).catch(asStagedoorError)
    expect(error).toMatchObject({ code: 'plan_stale' })
    expect(JSON.stringify((error as { details: unknown }).details)).toMatch(/Kitchen was 3 and is \d+/)
    expect(await db.owner(`select from shop_products where sku = 'swapped'`)).toEqual([])
    await trial.promote(await trial.planned(upload))
    await trial.undo(upload)
  })

  it('may ignore upper and lower case; two that differ only in case are ambiguous', async () => {
    await db.owner(`create table loose_categories (id bigint primary key, name text unique not null);
      insert into loose_categories select id, name from shop_categories where id in (1, 3, 5)`)
    const loose = await register(products('loose_shop', 'public.loose_categories', true))
    const upload = await stage(loose, [{ sku: 'k1', category: 'gArDeN' }])
    const plan = await trial.planned(upload)
    expect(plan.refusal).toBeNull()
    await db.owner(`insert into loose_categories values (77, 'GARDEN')`)
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD606')
    expect((await trial.planned(upload)).refusal).toBe('no line is valid')
    expect(await findings(upload)).toMatchObject([
      {
        rule: 'lookup.ambiguous',
        message: expect.stringMatching(/^2 rows of public.loose_categories have the name gArDeN/),
      },
    ])
  })

  it('of a type that the text cannot have is unknown, and of another type than text is found', async () => {
    await db.owner(`create table stores (code integer primary key, id uuid not null default gen_random_uuid(), "Opened" date unique);
      insert into stores (code, "Opened") values (7, '2026-01-07'), (70, '2026-01-08');
      create table visits (day date primary key, store uuid, opened integer)`)
    const visits = await register({
      name: 'visits',
      fields: {
        day: { type: 'date' },
        store: { ...text, lookup: 'stores' },
        opened: { ...text, lookup: 'by_day' },
      },
      lookups: {
        stores: { table: 'public.stores', by: 'code', value: 'id' },
        by_day: { table: 'public.stores', by: 'Opened', value: 'code' },
      },
      rows: [
        {
          name: 'visit',
          target: 'public.visits',
          key: ['day'],
          columns: { day: 'day', store: 'store', opened: 'opened' },
        },
      ],
    })
    const upload = await stage(visits, [
      { day: '2026-01-01', store: '7', opened: '2026-01-08' },
      { day: '2026-01-02', store: 'seven', opened: 'never' },
    ])
    expect((await findings(upload)).map(({ line, rule, field }) => [line, rule, field])).toEqual([
      [3, 'lookup.unknown', 'opened'],
      [3, 'lookup.unknown', 'store'],
    ])
    await trial.promote(await trial.planned(upload, 'LENIENT', 0.5))
    expect(await db.owner('select s.code, v.opened from visits v join stores s on s.id = v.store')).toEqual([
      { code: 7, opened: 70 },
    ])
  })

  it('is found in tables and columns with any name', async () => {
    await db.owner(`create table "Look ""up""" ("k" integer primary key, "lower(x)" text unique not null, "value" text, "found" text);
      insert into "Look ""up""" values (1, 'a', 'x', 'y'), (2, 'b', 'x', 'z');
      create table "k_f2" ("x" text primary key, "o2" integer, "matches" text)`)
    const odd = await register({
      name: 'odd',
      fields: { x: text, k: { ...text, lookup: 'lookup' }, found: { ...text, lookup: 'value' } },
      lookups: {
        lookup: { table: 'public."Look ""up"""', by: 'lower(x)', value: 'k', ignoreCase: true },
        value: { table: 'public."Look ""up"""', by: 'k', value: 'found' },
      },
      rows: [
        {
          name: 'own',
          target: 'public.k_f2',
          key: ['x'],
          columns: { x: 'x', o2: 'k', matches: 'found' },
        },
      ],
    })
    const plan = await trial.planned(await stage(odd, [{ x: 'one', k: 'B', found: '1' }]))
    await trial.promote(plan)
    expect(await db.owner('select * from k_f2')).toEqual([{ x: 'one', o2: 2, matches: 'y' }])
  })

  it('asks for a table, its columns, a unique index and the right to read it', async () => {
    await superuser(`create schema far; create table far.places (id integer, name text);
      create view far.shown as select * from far.places`)
    const problems = async (table: string, by = 'name') => {
      const declared = products('far', table)
      declared.lookups!.categories!.by = by
      const error = await trial.register(completeDataset(declared)).catch(asStagedoorError)
      return (error as unknown as { details: { reason: string; statements: string[] } }).details
    }
    expect((await problems('far.nowhere')).reason).toMatch(
      /far.nowhere of the lookup categories does not exist/,
    )
    expect((await problems('far.shown')).statements.join()).toMatch(/Name the table behind it: far.places/)
    expect((await problems('far.places', 'title')).statements.join()).toMatch(/It has id, name/)
    const { reason, statements } = await problems('far.places')
    expect(reason).toMatch(/may not use the schema.*may not select far.places.*no unique index/)
    await superuser(statements.join('\n'))
    await register(products('far', 'far.places'))
  })
})

describe('a reference to the table that the file writes', () => {
  let staff: Dataset
  beforeAll(async () => {
    await db.owner(`
      create table employees (id bigint generated always as identity primary key, email text unique not null, name text,
        manager_id bigint references employees);
      insert into employees (email, name) values ('ada@x.org', 'Ada')`)
    staff = await register({
      name: 'staff',
      fields: { email: text, name: text, manager: { ...text, lookup: 'managers' } },
      lookups: { managers: { table: 'public.employees', by: 'email', value: 'id' } },
      rows: [
        {
          name: 'employee',
          target: 'public.employees',
          id: 'id',
          key: ['email'],
          columns: { email: 'email', name: 'name', manager_id: 'manager' },
        },
      ],
    })
  })
  const chart = async () =>
    Object.fromEntries(
      (
        await db.owner<{ email: string; manager: string | null }>(
          `select split_part(e.email, '@', 1) as email, split_part(m.email, '@', 1) as manager
             from employees e left join employees m on m.id = e.manager_id`,
        )
      ).map(({ email, manager }) => [email, manager]),
    )

  it('finds rows that the file inserts, in any order and in a circle, and undo removes them', async () => {
    const before = await trial.image(['employees'])
    const upload = await stage(staff, [
      { email: 'eve@x.org', name: 'Eve', manager: 'bob@x.org' },
      { email: 'bob@x.org', name: 'Bob', manager: 'ada@x.org' },
      { email: 'c1@x.org', name: 'C1', manager: 'c2@x.org' },
      { email: 'c2@x.org', name: 'C2', manager: 'c1@x.org' },
      { email: 'self@x.org', name: 'Self', manager: 'self@x.org' },
      { email: 'ada@x.org', name: 'Ada', manager: 'eve@x.org' },
    ])
    expect(await findings(upload)).toEqual([])
    const plan = await trial.planned(upload)
    expect(plan.totals).toEqual({ employee: { insert: 5, update: 1 } })
    await trial.promote(plan)
    expect(await chart()).toEqual({ ada: 'eve', eve: 'bob', bob: 'ada', c1: 'c2', c2: 'c1', self: 'self' })
    // An application takes the next number: none is taken twice.
    await db.owner(`insert into employees (email) values ('app@x.org')`)
    await db.owner(`delete from employees where email = 'app@x.org'`)
    expect((await trial.undo(upload)).undo_totals).toEqual({ employee: { reversed: 6 } })
    expect(await trial.image(['employees'])).toEqual(before)
  })

  it('does not find a row whose line is wrong, nor those that refer to it', async () => {
    const upload = await stage(staff, [
      { email: 'd1@x.org', name: 'D1', manager: 'nobody@x.org' },
      { email: 'd2@x.org', name: 'D2', manager: 'd1@x.org' },
      { email: 'd3@x.org', name: 'D3', manager: 'd2@x.org' },
      { email: 'd4@x.org', name: 'D4', manager: 'ada@x.org' },
    ])
    expect((await findings(upload)).map(({ line }) => line)).toEqual([2, 3, 4])
    const plan = await trial.planned(upload, 'LENIENT', 0.2)
    expect(plan.totals).toEqual({ employee: { insert: 1, skipped: 3 } })
    await trial.promote(plan)
    expect(await chart()).toEqual({ ada: null, d4: 'ada' })
    await trial.undo(upload)
  })

  it('works for entities with uuids and for natural keys', async () => {
    await db.owner(`
      create table folders (id uuid primary key default gen_random_uuid(), path text unique not null, parent uuid references folders);
      create table terms (code text primary key, label text, broader text references terms)`)
    const folders = await register({
      name: 'folders',
      fields: { path: text, parent: { ...text, lookup: 'folders' } },
      lookups: { folders: { table: 'public.folders', by: 'path', value: 'id' } },
      rows: [
        {
          name: 'folder',
          target: 'public.folders',
          id: 'id',
          key: ['path'],
          identity: { id: 'path' },
          columns: { path: '$identity', parent: 'parent' },
          requires: ['path'],
        },
      ],
    })
    const one = await trial.planned(
      await stage(folders, [
        { path: 'a/b', parent: 'a' },
        { path: 'a', parent: null },
      ]),
    )
    await trial.promote(one)
    expect(
      await db.owner('select f.path, p.path as parent from folders f join folders p on p.id = f.parent'),
    ).toEqual([{ path: 'a/b', parent: 'a' }])
    await trial.undo(one.upload_id)
    const terms = await register({
      name: 'terms',
      fields: { code: text, label: text, broader: { ...text, lookup: 'terms' } },
      lookups: { terms: { table: 'public.terms', by: 'code', value: 'code' } },
      rows: [
        {
          name: 'term',
          target: 'public.terms',
          key: ['code'],
          columns: { code: 'code', label: 'label', broader: 'broader' },
        },
      ],
    })
    const two = await trial.planned(
      await stage(terms, [
        { code: 'x.1', label: 'X1', broader: 'x' },
        { code: 'x', label: 'X', broader: null },
      ]),
    )
    await trial.promote(two)
    expect(await db.owner('select code, broader from terms order by 1')).toEqual([
      { code: 'x', broader: null },
      { code: 'x.1', broader: 'x' },
    ])
    await trial.undo(two.upload_id)
    expect(await db.owner('select from terms')).toEqual([])
  })
})

it('a number that is looked up is no measure: nobody sums it', async () => {
  await db.owner(
    `create table numbered_places (id bigint generated always as identity primary key, number integer unique not null, above bigint references numbered_places)`,
  )
  const dataset = await register({
    name: 'numbered_places',
    fields: { number: { type: 'integer' }, above: { type: 'integer', lookup: 'places' } },
    lookups: { places: { table: 'public.numbered_places', by: 'number', value: 'id' } },
    rows: [
      {
        name: 'place',
        target: 'public.numbered_places',
        id: 'id',
        key: ['number'],
        columns: { number: 'number', above: 'above' },
      },
    ],
  })
  const plan = await trial.planned(
    await stage(dataset, [
      { number: 1, above: null },
      { number: 2, above: 1 },
    ]),
  )
  expect(plan.refusal).toBeNull()
  const [{ control }] = (await db.owner<{ control: { measure: string }[] }>(
    'select control from iu_core.ingest_plan where upload_id = $1',
    [plan.upload_id],
  )) as [{ control: { measure: string }[] }]
  expect(control.map(({ measure }) => measure)).not.toContain('above')
})

describe('the names of a plan’s rows', () => {
  const rowsOf = (as: Caller, upload: string) =>
    db.as(as, (client) => listPlanRows(client, upload, { limit: 50 }))
  const key = (value: string) => [{ column: 'sku', value }]

  it('are the key that the file fills, and for what is looked up the names before and after', async () => {
    await db.owner(`
      create table named_categories (id bigint generated always as identity primary key, name text unique not null);
      insert into named_categories (name) values ('Shoes'), ('Boots'), ('Hats');
      create table named_products (id bigint generated always as identity primary key, sku text unique not null,
        category_id bigint references named_categories);
      insert into named_products (sku, category_id) values ('A-1', 1), ('A-2', 3), ('A-3', 2)`)
    const dataset = await register({
      ...products('named', 'public.named_categories', true),
      rows: [
        {
          name: 'product',
          target: 'public.named_products',
          key: ['sku'],
          columns: { sku: 'sku', category_id: 'category' },
        },
      ],
    })
    const upload = await stage(dataset, [
      { sku: 'A-1', category: 'boots' },
      { sku: 'A-2', category: null },
      { sku: 'A-3', category: 'Boots' },
      { sku: 'B-1', category: 'Hats' },
    ])
    await trial.planned(upload)
    expect(await rowsOf(trial.operator, upload)).toMatchObject([
      // As the table calls it, not as the file spells it.
      { action: 'update', row_key: key('A-1'), names: { category_id: { before: 'Shoes', after: 'Boots' } } },
      { action: 'update', row_key: key('A-2'), names: { category_id: { before: 'Hats', after: null } } },
      { action: 'unchanged', row_key: key('A-3'), names: null },
      { action: 'insert', row_key: key('B-1'), names: { category_id: { before: null, after: 'Hats' } } },
    ])

    const stranger = await createMember(db, await createWorkspace(db, 'Somebody else'), 'admin')
    const asked = db.as(stranger, (client) =>
      client.query('select * from iu_core.fn_ingest_plan_row_names($1, $2, $3)', [upload, [1], [2]]),
    )
    expect(await sqlstateOf(asked)).toBe('SD601')

    // Without the right to read the table the ids are still shown, and the names that the file has.
    await db.owner('revoke select on named_categories from workflow_admin')
    expect(await rowsOf(trial.operator, upload)).toMatchObject([
      { before: { category_id: 1 }, names: { category_id: { before: null, after: 'boots' } } },
      { before: { category_id: 3 }, names: { category_id: { before: 'Hats', after: null } } },
      { row_key: key('A-3') },
      { names: { category_id: { before: null, after: 'Hats' } } },
    ])
    await db.owner('grant select on named_categories to workflow_admin')

    // The dataset became that of another workspace: its table is no longer read for this one.
    const other = await createWorkspace(db, 'Another owner')
    const own = (workspace: string) =>
      db.owner(`update iu_core.ingest_dataset set workspace_id = $1 where dataset = 'named'`, [workspace])
    await own(other)
    expect((await rowsOf(trial.operator, upload))[0]).toMatchObject({
      names: { category_id: { before: null, after: 'boots' } },
    })
    await own(trial.workspace)
  })

  it('are those that the file has where the schema of the table may no longer be used: the plan can still be read', async () => {
    await superuser(`
      create schema apart;
      create table apart.categories (id bigint generated always as identity primary key, name text unique not null);
      insert into apart.categories (name) values ('Shoes'), ('Boots');
      grant usage on schema apart to workflow_admin;
      grant select on apart.categories to workflow_admin`)
    await db.owner(`
      create table apart_products (sku text primary key, category_id bigint);
      insert into apart_products values ('A-1', 1)`)
    const dataset = completeDataset({
      ...products('apart', 'apart.categories'),
      rows: [
        {
          name: 'product',
          target: 'public.apart_products',
          key: ['sku'],
          columns: { sku: 'sku', category_id: 'category' },
        },
      ],
    })
    await trial.register(dataset, { approvalRequired: false, workspaceId: trial.workspace })
    const upload = await stage(dataset, [{ sku: 'A-1', category: 'Boots' }])
    await trial.planned(upload)
    const names = async () => (await rowsOf(trial.operator, upload)).map((row) => row.names)
    expect(await names()).toEqual([{ category_id: { before: 'Shoes', after: 'Boots' } }])
    await superuser('revoke usage on schema apart from workflow_admin')
    expect(await names()).toEqual([{ category_id: { before: null, after: 'Boots' } }])
  })

  it('of a dataset that all workspaces share are only those that the file has: the table may hold rows of others', async () => {
    await db.owner(`
      create table shared_categories (id bigint generated always as identity primary key, name text unique not null);
      insert into shared_categories (name) values ('Secret plans of others'), ('Boots');
      create table shared_products (workspace_id uuid not null, sku text not null, category_id bigint,
        unique (workspace_id, sku))`)
    await db.owner(`insert into shared_products values ($1, 'A-1', 1)`, [trial.workspace])
    const dataset = await register({
      ...products('shared', 'public.shared_categories'),
      rows: [
        {
          name: 'product',
          target: 'public.shared_products',
          key: ['workspace_id', 'sku'],
          columns: { workspace_id: '$workspace', sku: 'sku', category_id: 'category' },
        },
      ],
    })
    const upload = await stage(dataset, [{ sku: 'A-1', category: 'Boots' }])
    await trial.planned(upload)
    expect(await rowsOf(trial.operator, upload)).toMatchObject([
      { row_key: key('A-1'), names: { category_id: { before: null, after: 'Boots' } } },
    ])
  })
})
