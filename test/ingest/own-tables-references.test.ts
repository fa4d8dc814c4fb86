/** Foreign keys of the columns that a file fills: what they refer to must exist when the plan is made. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { completeDataset, type Dataset, type DatasetDeclaration } from '../../src/ingest/datasets/dataset.ts'
import { checkDataset } from '../../src/ingest/datasets/declare.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { backEndActor } from '../../src/ingest/pipeline.ts'
import { repairUpload } from '../../src/ingest/repair.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { PRICES, type StagedLine, type StageOptions, TRIAL, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db)
afterAll(closeDuck)
const text = { type: 'text' as const }
const number = { type: 'integer' as const, additive: false }

async function superuser(sql: string): Promise<void> {
  const session = await db.session('postgres')
  await session.query(sql)
  await session.end()
}

async function register(declared: DatasetDeclaration): Promise<Dataset> {
  expect(checkDataset(declared)).toEqual([])
  const dataset = completeDataset(declared)
  await trial.register(dataset, { approvalRequired: false, workspaceId: trial.workspace })
  return dataset
}

const stage = (dataset: Dataset, lines: readonly StagedLine[], options: StageOptions = {}) =>
  trial.stage(lines, { dataset, ...options })

interface Finding {
  line: number
  rule: string
  field: string
  value: string
  message: string
  suggestion: string
}
const findings = async (upload: string) =>
  (
    await db.owner<{ e: Finding }>(
      `select e from staging_rows, jsonb_array_elements(validation_errors) e where upload_id = $1
        order by row_number, e ->> 'rule', e ->> 'field'`,
      [upload],
    )
  ).map(({ e }) => e)
const refusals = async (upload: string) =>
  (
    await db.owner<{ row_type: string; row_number: number; reason: string }>(
      `select row_type, row_number, reason from iu_core.ingest_plan_row where upload_id = $1 and action = 'refused' order by 1, 2`,
      [upload],
    )
  ).map(({ row_type, row_number, reason }) => [row_type, row_number, reason])

/** One row type, a key `sku`, and whatever else its columns are called like its fields. */
const plain = (
  name: string,
  target: string,
  fields: DatasetDeclaration['fields'],
  more: Partial<DatasetDeclaration['rows'][number]> = {},
): DatasetDeclaration => ({
  name,
  fields: { sku: text, ...fields },
  rows: [
    {
      name: 'good',
      target,
      key: ['sku'],
      columns: { sku: 'sku', ...Object.fromEntries(Object.keys(fields).map((field) => [field, field])) },
      ...more,
    },
  ],
})

describe('a foreign key that a column of the file fills as it is', () => {
  let dataset: Dataset
  beforeAll(async () => {
    await db.owner(`
      create table ref_kinds (id integer primary key, name text);
      insert into ref_kinds values (1, 'tool'), (2, 'toy');
      create table ref_goods (id bigint generated always as identity primary key, sku text unique not null,
        kind_id integer references ref_kinds, amount numeric)`)
    dataset = await register(
      plain('ref_goods', 'public.ref_goods', { kind_id: number, amount: { type: 'money' } }),
    )
  })
  const message =
    'public.ref_goods.kind_id refers to public.ref_kinds, and no row there has the id 9 (foreign key ref_goods_kind_id_fkey).'

  it('is an error of its line where no row has the value, and right where it is empty or there is one', async () => {
    const upload = await stage(dataset, [
      { sku: 'a', kind_id: 1, amount: 1 },
      { sku: 'b', kind_id: 9, amount: 10 },
      { sku: 'c', kind_id: null, amount: 100 },
    ])
    const strict = await trial.planned(upload)
    expect(strict.refusal).toBe('1 of 3 lines is invalid')
    expect(strict.totals).toEqual({ good: { insert: 2, refused: 1 } })
    expect(await findings(upload)).toEqual([
      expect.objectContaining({ line: 3, rule: 'reference.unknown', field: 'kind_id', value: '9', message }),
    ])
    expect((await findings(upload))[0]!.suggestion).toBe(
      'Correct the cell, or add the row to public.ref_kinds and plan again.',
    )
    const lenient = await trial.planned(upload, 'LENIENT', 0)
    expect(lenient.totals).toEqual({ good: { insert: 2, skipped: 1 } })
    const [control] = (
      await db.owner<{ control: Record<string, string>[] }>(
        'select control from iu_core.ingest_plan where upload_id = $1',
        [upload],
      )
    )[0]!.control
    expect(control).toMatchObject({ read: '111', valid: '101', refused: '10', written: '101' })
    await trial.promote(lenient)
    expect(await db.owner('select sku, kind_id from ref_goods order by 1')).toEqual([
      { sku: 'a', kind_id: 1 },
      { sku: 'c', kind_id: null },
    ])
    await trial.undo(upload)
    expect(await db.owner('select from ref_goods')).toEqual([])
  })

  it('is right again when the row is there, and wrong again when it is gone', async () => {
    const upload = await stage(dataset, [{ sku: 'later', kind_id: 3, amount: 1 }])
    expect((await trial.planned(upload)).refusal).toBe('no line is valid')
    await db.owner(`insert into ref_kinds values (3, 'new')`)
    expect((await trial.planned(upload)).refusal).toBeNull()
    await db.owner('delete from ref_kinds where id = 3')
    expect((await trial.planned(upload)).refusal).toBe('no line is valid')
  })

  it('by which rows are deleted between plan and promotion is a stale plan that names the line, STRICT and LENIENT', async () => {
    for (const mode of ['STRICT', 'LENIENT'] as const) {
      await db.owner(`insert into ref_kinds values (4, 'brief')`)
      const upload = await stage(dataset, [
        { sku: 'stays', kind_id: 1, amount: 1 },
        { sku: 'lost', kind_id: 4, amount: 1 },
      ])
      const plan = await trial.planned(upload, mode, 0)
      await db.owner('delete from ref_kinds where id = 4')
      const before = await trial.image(['ref_goods', 'iu_core.ingest_ledger', 'iu_core.ingest_promotion'])
      const error = await trial.promote(plan).catch(asStagedoorError)
      expect(error).toMatchObject({ code: 'plan_stale' })
      expect(JSON.stringify((error as { details: unknown }).details)).toContain(
        '1 row of public.ref_goods refers to a row that is no longer there: line 3, public.ref_goods.kind_id refers to public.ref_kinds, and no row there has the id 4',
      )
      expect(await trial.image(['ref_goods', 'iu_core.ingest_ledger', 'iu_core.ingest_promotion'])).toEqual(
        before,
      )
      expect((await trial.planned(upload)).refusal).toBe('1 of 2 lines is invalid')
    }
  })

  it('names the nearest values where it is a text, but not where the workspaces share the dataset', async () => {
    await db.owner(`
      create table ref_countries (code text primary key);
      insert into ref_countries values ('France'), ('Finland'), ('Germany'), ('Spain'), ('Poland');
      create table ref_places (id bigint generated always as identity primary key, sku text unique not null, country text references ref_countries);
      create table ref_shared (workspace_id uuid not null, sku text not null, country text references ref_countries, unique (workspace_id, sku))`)
    const own = await register(plain('ref_places', 'public.ref_places', { country: text }))
    const upload = await stage(own, [
      { sku: 'a', country: 'Frence' },
      { sku: 'b', country: 'Spain' },
    ])
    await trial.planned(upload)
    expect((await findings(upload)).map(({ suggestion }) => suggestion)).toEqual([
      expect.stringMatching(/^Nearest: France, .+\. Correct the cell/),
    ])
    const declared = plain(
      'ref_shared',
      'public.ref_shared',
      { country: text },
      { key: ['workspace_id', 'sku'] },
    )
    declared.rows[0]!.columns.workspace_id = '$workspace'
    const shared = await register(declared)
    const other = await stage(shared, [{ sku: 'a', country: 'Frence' }])
    await trial.planned(other)
    expect((await findings(other)).map(({ suggestion }) => suggestion)).toEqual([
      'Correct the cell, or add the row to public.ref_countries and plan again.',
    ])
  })

  it.each([
    ['a repaired reference', 4, { Kind: '2' }],
    ['a reference that is broken', 2, { Kind: '77' }],
    ['a figure beside a broken reference', 4, { Amount: '5' }],
    ['a figure beside a right one', 3, { Amount: '6' }],
  ])('re-plans %s line by line as the whole plan does', async (_, line, values) => {
    const files = await register({
      ...plain('ref_files', 'public.ref_goods', {
        kind_id: { ...number, aliases: ['Kind'] },
        amount: { type: 'money', aliases: ['Amount'] },
      }),
    })
    for (const mode of ['refuse', 'skip'] as const) {
      const { upload_id: upload } = await trial.file(
        `sku,Kind,Amount,Run\na,1,5,${mode}${line}\nb,2,6,x\nc,9,7,x\nd,,8,${JSON.stringify(values).length}\n`,
        { dataset: files.name, platform: 'file', clientId: undefined, name: `${mode} ${line}.csv` },
      )
      await trial.plan(upload, { onInvalid: mode, threshold: 0 })
      const repaired = await repairUpload(
        db.pool('stagedoor_worker'),
        backEndActor(db.pool('stagedoor_worker'), trial.operator.userId),
        { upload, corrections: [{ line, values }] },
      )
      expect(repaired).toMatchObject({ replanned: 'lines' })
      const planOf = async () =>
        db.owner('select digest, totals, control, refusal from iu_core.ingest_plan where upload_id = $1', [
          upload,
        ])
      const [updated, found] = [await planOf(), await findings(upload)]
      await trial.plan(upload, { onInvalid: mode, threshold: 0 })
      expect(updated).toEqual(await planOf())
      expect(found).toEqual(await findings(upload))
    }
  })

  it('into a large table is found by its index, and so are the nearest values', async () => {
    await db.owner(`create table ref_large (code text primary key, region integer not null, unique (region, code));
      insert into ref_large select 'code ' || n, n % 7 from generate_series(1, 100000) n;
      create table ref_many (sku text primary key, code text references ref_large, region integer,
        foreign key (region, code) references ref_large (region, code));
      -- What building its indexes counted must not arrive later.
      select pg_stat_force_next_flush()`)
    await superuser('analyze ref_large')
    const many = await register(plain('ref_many', 'public.ref_many', { code: text, region: number }))
    const lines = Array.from({ length: 50 }, (_, n) => ({
      sku: `sku ${n}`,
      code: n === 49 ? 'code 12x' : `code ${n * 2000 + 1}`,
      region: n === 49 ? null : (n * 2000 + 1) % 7,
    }))
    const read = async () => {
      await superuser('select pg_stat_force_next_flush()')
      return db.owner(`select seq_scan, seq_tup_read from pg_stat_all_tables where relname = 'ref_large'`)
    }
    const session = await db.session('stagedoor_worker')
    await session.query('set role service_role')
    const upload = await stage(many, lines)
    const before = await read()
    const { rows } = await session.query(`select * from iu_core.fn_ingest_plan($1, 'LENIENT', 0.5)`, [upload])
    await session.query('select pg_stat_force_next_flush()')
    expect(await read()).toEqual(before)
    expect(rows[0].totals).toEqual({ good: { insert: 49, skipped: 1 } })
    await session.end()
    expect((await findings(upload))[0]!.suggestion).toMatch(/^Nearest: code 12/)
  })
})

describe('a composite foreign key', () => {
  it('refers to nothing where one of its columns is empty, and is wrong where no row has both', async () => {
    await db.owner(`
      create table ref_towns (country text, zip integer, primary key (country, zip));
      insert into ref_towns values ('DE', 1), ('FR', 2);
      create table ref_shops (sku text primary key, country text, zip integer, foreign key (country, zip) references ref_towns);
      create table ref_full_shops (sku text primary key, country text, zip integer, constraint together
        foreign key (country, zip) references ref_towns match full)`)
    const lines = [
      { sku: 'right', country: 'DE', zip: 1 },
      { sku: 'mixed', country: 'DE', zip: 2 },
      { sku: 'half', country: 'XX', zip: null },
      { sku: 'none', country: null, zip: null },
    ]
    const simple = await stage(
      await register(plain('ref_shops', 'public.ref_shops', { country: text, zip: number })),
      lines,
    )
    await trial.planned(simple, 'LENIENT', 0)
    expect((await findings(simple)).map(({ line, value, message }) => [line, value, message])).toEqual([
      [
        3,
        'DE, 2',
        'public.ref_shops (country, zip) refers to public.ref_towns, and no row there has country DE and zip 2 (foreign key ref_shops_country_zip_fkey).',
      ],
    ])
    await trial.promote(await trial.planned(simple, 'LENIENT', 0))
    const full = await stage(
      await register(plain('ref_full', 'public.ref_full_shops', { country: text, zip: number })),
      lines,
    )
    await trial.promote(await trial.planned(full, 'LENIENT', 0))
    expect((await findings(full)).map(({ line, message }) => [line, message])).toEqual([
      [3, expect.stringContaining('country DE and zip 2')],
      [4, 'public.ref_full_shops (country, zip) must be filled or empty together (foreign key together).'],
    ])
    expect(await db.owner('select sku from ref_full_shops order by 1')).toEqual([
      { sku: 'none' },
      { sku: 'right' },
    ])
  })

  it('with the tenant in it does not find rows of another workspace: by a plain column, by a lookup, by a parent', async () => {
    const other = await createWorkspace(db, 'Elsewhere')
    await db.owner(
      `create table ref_groups (id bigint generated always as identity primary key, workspace_id uuid not null, code text not null,
         label text unique, unique (workspace_id, code), unique (workspace_id, id));
       create table ref_items (workspace_id uuid not null, sku text not null, group_code text, group_id bigint, parent_id bigint,
         primary key (workspace_id, sku),
         foreign key (workspace_id, group_code) references ref_groups (workspace_id, code),
         constraint of_its_tenant foreign key (workspace_id, group_id) references ref_groups (workspace_id, id),
         foreign key (workspace_id, parent_id) references ref_groups (workspace_id, id))`,
    )
    await db.owner(
      `insert into ref_groups (workspace_id, code, label) values ($1, 'ours', 'Ours'), ($2, 'theirs', 'Theirs')`,
      [trial.workspace, other],
    )
    const dataset = await register({
      name: 'ref_items',
      fields: { sku: text, code: text, label: { ...text, lookup: 'labels' }, group: text },
      lookups: { labels: { table: 'public.ref_groups', by: 'label', value: 'id' } },
      rows: [
        {
          name: 'group',
          target: 'public.ref_groups',
          id: 'id',
          key: ['workspace_id', 'code'],
          identity: { id: 'group' },
          columns: { workspace_id: '$workspace', code: 'group' },
        },
        {
          name: 'item',
          target: 'public.ref_items',
          key: ['workspace_id', 'sku'],
          columns: {
            workspace_id: '$workspace',
            sku: 'sku',
            group_code: 'code',
            group_id: 'label',
            parent_id: '$group',
          },
        },
      ],
    })
    const upload = await stage(dataset, [
      { sku: 'a', code: 'ours', label: 'Ours', group: 'ours' },
      { sku: 'b', code: 'theirs', label: null, group: 'ours' },
      { sku: 'c', code: null, label: 'Theirs', group: 'only of c' },
      { sku: 'd', code: 'brand new', label: null, group: 'brand new' },
      { sku: 'e', code: 'only of c', label: null, group: 'ours' },
    ])
    const plan = await trial.planned(upload, 'LENIENT', 0)
    expect(plan.totals).toEqual({
      group: { unchanged: 1, insert: 1 },
      item: { insert: 2, skipped: 1, refused: 2 },
    })
    expect((await findings(upload)).map(({ line, rule }) => [line, rule])).toEqual([
      [3, 'reference.unknown'],
      [4, 'plan.refused'],
      // The line that would have created it is refused.
      [6, 'plan.refused'],
    ])
    expect(await refusals(upload)).toEqual([
      [
        'item',
        4,
        expect.stringMatching(/no row there has workspace_id .* and id 2 \(foreign key of_its_tenant\)$/),
      ],
      ['item', 6, expect.stringContaining('code only of c')],
    ])
    await trial.promote(plan)
    expect(await db.owner(`select sku from ref_items order by 1`)).toEqual([{ sku: 'a' }, { sku: 'd' }])
    expect((await trial.undo(upload)).undo_totals).toEqual({ group: { reversed: 1 }, item: { reversed: 2 } })
  })

  it('of which the file fills a part is checked with what the row has already', async () => {
    await db.owner(`
      create table ref_zones (region text, zone integer, primary key (region, zone));
      insert into ref_zones values ('north', 1), ('south', 2);
      create table ref_routes (sku text primary key, region text, zone integer, foreign key (region, zone) references ref_zones);
      insert into ref_routes values ('n', 'north', 1), ('s', 'south', 2), ('none', null, 7)`)
    const dataset = await register(plain('ref_routes', 'public.ref_routes', { zone: number }))
    const upload = await stage(dataset, [
      { sku: 'n', zone: 2 },
      { sku: 's', zone: 2 },
      { sku: 'none', zone: 8 },
      { sku: 'new', zone: 9 },
    ])
    const plan = await trial.planned(upload, 'LENIENT', 0)
    expect(plan.totals).toEqual({ good: { insert: 1, update: 1, unchanged: 1, refused: 1 } })
    expect(await refusals(upload)).toEqual([
      ['good', 2, expect.stringContaining('no row there has region north and zone 2')],
    ])
    await trial.promote(plan)
    await trial.undo(upload)
  })
})

describe('a foreign key that PostgreSQL checks otherwise', () => {
  it('NOT VALID: a row that was wrong before may stay so, and no other becomes it', async () => {
    await db.owner(`
      create table ref_owners (id integer primary key);
      insert into ref_owners values (1);
      create table ref_loose (sku text primary key, owner_id integer, note text);
      insert into ref_loose values ('old', 99, 'a'), ('fine', 1, 'a');
      alter table ref_loose add foreign key (owner_id) references ref_owners not valid`)
    const dataset = await register(plain('ref_loose', 'public.ref_loose', { owner_id: number, note: text }))
    const upload = await stage(dataset, [
      { sku: 'old', owner_id: 99, note: 'b' },
      { sku: 'fine', owner_id: 98, note: 'a' },
      { sku: 'new', owner_id: 97, note: 'a' },
    ])
    const plan = await trial.planned(upload, 'LENIENT', 0)
    expect(plan.totals).toEqual({ good: { update: 1, refused: 2 } })
    await trial.promote(plan)
    expect(await db.owner('select owner_id, note from ref_loose order by sku')).toEqual([
      { owner_id: 1, note: 'a' },
      { owner_id: 99, note: 'b' },
    ])
  })

  it('into a table that we may not read: a note of the plan says so, and the promotion names the key', async () => {
    await superuser(`create schema closed; create table closed.secrets (id integer primary key); insert into closed.secrets values (1);
      create table public.ref_secret (sku text primary key, secret_id integer references closed.secrets);
      alter table public.ref_secret owner to workflow_admin;
      create table public.ref_hidden (id integer primary key); insert into ref_hidden values (1); alter table ref_hidden enable row level security;
      grant select on ref_hidden to workflow_admin;
      create table public.ref_hiding (sku text primary key, secret_id integer references ref_hidden);
      alter table public.ref_hiding owner to workflow_admin`)
    for (const [name, referenced] of [
      ['ref_secret', 'closed.secrets'],
      ['ref_hiding', 'public.ref_hidden'],
    ] as const) {
      const dataset = await register(plain(name, `public.${name}`, { secret_id: number }))
      const upload = await stage(dataset, [
        { sku: 'a', secret_id: 1 },
        { sku: 'b', secret_id: 2 },
      ])
      const plan = await trial.planned(upload)
      expect(plan.refusal).toBeNull()
      const [{ notes }] = (await db.owner<{ notes: { rule: string; message: string }[] }>(
        'select notes from iu_core.ingest_plan where upload_id = $1',
        [upload],
      )) as [{ notes: { rule: string; message: string }[] }]
      expect(notes).toMatchObject([
        {
          rule: 'reference.unchecked',
          message: expect.stringContaining(
            `may not read ${referenced}, so public.${name} (secret_id) is checked by the promotion only`,
          ),
        },
      ])
      const error = await trial.promote(plan).catch(asStagedoorError)
      expect(error).toMatchObject({ code: 'table_refused' })
      expect(JSON.stringify(error)).toContain('violates foreign key constraint')
      expect(await db.owner(`select from ${name}`)).toEqual([])
    }
  })

  it('of and to partitioned tables', async () => {
    await db.owner(`
      create table ref_parted (id integer primary key) partition by range (id);
      create table ref_parted_1 partition of ref_parted for values from (1) to (10);
      create table ref_parted_2 partition of ref_parted for values from (10) to (20);
      insert into ref_parted values (1), (11);
      create table ref_parts (sku text primary key, part integer references ref_parted) partition by hash (sku);
      create table ref_parts_1 partition of ref_parts for values with (modulus 1, remainder 0)`)
    const dataset = await register(plain('ref_parts', 'public.ref_parts', { part: number }))
    const upload = await stage(dataset, [
      { sku: 'a', part: 1 },
      { sku: 'b', part: 11 },
      { sku: 'c', part: 12 },
    ])
    const plan = await trial.planned(upload, 'LENIENT', 0)
    expect(plan.totals).toEqual({ good: { insert: 2, skipped: 1 } })
    const [deleted] = [await db.owner('delete from ref_parted where id = 11 returning id')]
    expect(deleted).toHaveLength(1)
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD606')
  })
})

describe('a plain reference to rows that the same file creates', () => {
  it('is right in any order, and wrong where that line is wrong', async () => {
    await db.owner(`create table ref_terms (sku text primary key, broader text references ref_terms, size smallint);
      insert into ref_terms values ('root')`)
    const dataset = await register(
      plain('ref_terms', 'public.ref_terms', { broader: text, size: { type: 'text' } }),
    )
    const upload = await stage(
      dataset,
      [
        { sku: 'leaf', broader: 'branch', size: null },
        { sku: 'branch', broader: 'root', size: '1' },
        { sku: 'self', broader: 'self', size: null },
        { sku: 'lost', broader: 'wrong', size: null },
        { sku: 'loster', broader: 'lost', size: null },
        { sku: 'wrong', broader: 'root', size: null },
        // Only the plan finds out what its column cannot hold.
        { sku: 'misfit', broader: 'root', size: 'many' },
        { sku: 'of misfit', broader: 'misfit', size: null },
        { sku: 'of that', broader: 'of misfit', size: null },
      ],
      { invalid: [5] },
    )
    const plan = await trial.planned(upload, 'LENIENT', 0)
    expect((await findings(upload)).map(({ line, rule }) => [line, rule])).toEqual([
      [5, 'reference.unknown'],
      [6, 'reference.unknown'],
      [7, 'test.said_so'],
      [8, 'plan.refused'],
      [9, 'plan.refused'],
      [10, 'plan.refused'],
    ])
    expect(plan.totals).toEqual({ good: { insert: 3, skipped: 3, refused: 3 } })
    await trial.promote(plan)
    expect(await db.owner(`select sku, broader from ref_terms order by 1`)).toEqual([
      { sku: 'branch', broader: 'root' },
      { sku: 'leaf', broader: 'branch' },
      { sku: 'root', broader: null },
      { sku: 'self', broader: 'self' },
    ])
    await trial.undo(upload)
    expect(await db.owner(`select sku from ref_terms`)).toEqual([{ sku: 'root' }])
  })

  it('and to a parent that the plan creates, by its code', async () => {
    await db.owner(`
      create table ref_makers (id bigint generated always as identity primary key, code text unique not null);
      create table ref_models (sku text primary key, maker_id bigint references ref_makers, maker_code text references ref_makers (code))`)
    const dataset = await register({
      name: 'ref_models',
      fields: { sku: text, maker: text, code: text },
      rows: [
        {
          name: 'maker',
          target: 'public.ref_makers',
          id: 'id',
          key: ['code'],
          identity: { id: 'maker' },
          columns: { code: 'maker' },
        },
        {
          name: 'model',
          target: 'public.ref_models',
          key: ['sku'],
          columns: { sku: 'sku', maker_id: '$maker', maker_code: 'code' },
        },
      ],
    })
    const upload = await stage(dataset, [
      { sku: 'a', maker: 'new', code: 'new' },
      { sku: 'b', maker: 'other', code: 'new' },
      { sku: 'c', maker: 'only of c', code: 'nobody' },
    ])
    const plan = await trial.planned(upload, 'LENIENT', 0)
    expect(plan.totals).toEqual({ maker: { insert: 2 }, model: { insert: 2, skipped: 1 } })
    await trial.promote(plan)
    await trial.undo(upload)
  })

  it('is checked beside another foreign key that refuses lines of the plan', async () => {
    // Whichever of the keys is checked first, one that refuses a line comes before the one to the parent.
    await db.owner(`
      create table ref_lanes (region text, lane integer, primary key (region, lane));
      insert into ref_lanes values ('north', 1);
      create table ref_carriers (id bigint generated always as identity primary key, code text unique not null);
      create table ref_trips (sku text primary key, region text, lane integer, carrier_id bigint references ref_carriers, code text,
        constraint a_lane foreign key (region, lane) references ref_lanes);
      alter table ref_trips add constraint m_carrier foreign key (code) references ref_carriers (code);
      alter table ref_trips add constraint z_lane foreign key (region, lane) references ref_lanes;
      insert into ref_trips values ('a', 'north', 1), ('b', 'north', 1)`)
    const dataset = await register({
      name: 'ref_trips',
      fields: { sku: text, lane: number, carrier: text, code: text },
      rows: [
        {
          name: 'carrier',
          target: 'public.ref_carriers',
          id: 'id',
          key: ['code'],
          identity: { id: 'carrier' },
          columns: { code: 'carrier' },
        },
        {
          name: 'trip',
          target: 'public.ref_trips',
          key: ['sku'],
          columns: { sku: 'sku', lane: 'lane', carrier_id: '$carrier', code: 'code' },
        },
      ],
    })
    const upload = await stage(dataset, [
      { sku: 'a', lane: 2, carrier: 'first', code: 'first' },
      { sku: 'b', lane: 1, carrier: 'second', code: 'first' },
      { sku: 'c', lane: 1, carrier: 'third', code: 'third' },
    ])
    const plan = await trial.planned(upload, 'LENIENT', 0)
    // The carrier of a refused line is not created, so nobody can refer to it.
    expect(plan.totals).toEqual({ carrier: { insert: 1 }, trip: { insert: 1, refused: 2 } })
    expect(await refusals(upload)).toEqual([
      ['trip', 2, expect.stringContaining('no row there has region north and lane 2')],
      ['trip', 3, expect.stringContaining('no row there has the code first')],
    ])
    await trial.promote(plan)
    await trial.undo(upload)
  })
})

describe('all errors of a line at once', () => {
  it('lists unknown lookups and references beside other errors, but not of a value that is wrong itself', async () => {
    await db.owner(`
      create table ref_brands (id integer primary key, name text unique not null);
      insert into ref_brands values (1, 'Acme');
      create table ref_wares (sku text primary key, brand_id integer references ref_brands, second_id integer references ref_brands, price numeric)`)
    const wares = await register({
      name: 'ref_wares',
      fields: {
        sku: text,
        brand: { ...text, lookup: 'brands', aliases: ['Brand'] },
        second: { ...number, aliases: ['Second'] },
        price: { type: 'money', aliases: ['Price'] },
      },
      lookups: { brands: { table: 'public.ref_brands', by: 'name', value: 'id' } },
      rows: [
        {
          name: 'ware',
          target: 'public.ref_wares',
          key: ['sku'],
          columns: { sku: 'sku', brand_id: 'brand', second_id: 'second', price: 'price' },
        },
      ],
    })
    const { upload_id: upload } = await trial.file(
      'sku,Brand,Second,Price\na,Acne,7,cheap\nb,Acme,1,dear\nc,Acme,x,1\nd,Acme,1,1\n',
      { dataset: wares.name, platform: 'file', clientId: undefined },
    )
    await trial.plan(upload, { onInvalid: 'skip', threshold: 0 })
    const rules = async () =>
      (await findings(upload)).map(({ line, field, rule }) => `${line} ${field} ${rule}`)
    expect(await rules()).toEqual([
      '2 brand lookup.unknown',
      expect.stringMatching(/^2 price number\./),
      '2 second reference.unknown',
      expect.stringMatching(/^3 price number\./),
      expect.stringMatching(/^4 second number\./),
    ])
    const repair = (line: number, values: Record<string, string>) =>
      repairUpload(
        db.pool('stagedoor_worker'),
        backEndActor(db.pool('stagedoor_worker'), trial.operator.userId),
        {
          upload,
          corrections: [{ line, values }],
        },
      )
    // One error less, line by line, as a new plan has it.
    expect(await repair(2, { Price: '5' })).toMatchObject({ replanned: 'lines' })
    const updated = await db.owner('select digest from iu_core.ingest_plan where upload_id = $1', [upload])
    expect(await rules()).toEqual([
      '2 brand lookup.unknown',
      '2 second reference.unknown',
      expect.stringMatching(/^3 price/),
      expect.stringMatching(/^4 second/),
    ])
    const again = await trial.plan(upload, { onInvalid: 'skip', threshold: 0 })
    expect(updated).toEqual([{ digest: again.digest }])
    // What only an invalid line looks up is no part of the plan.
    expect(
      await db.owner('select value from iu_core.ingest_lookup_result where upload_id = $1', [upload]),
    ).toEqual([{ value: 'Acme' }])
  })
})

describe('a refused line', () => {
  const line = (group: string, day: string, more: StagedLine = {}): StagedLine => ({
    group_code: group,
    group_name: group,
    day,
    amount: 1,
    ...more,
  })
  const withMode = (mode: 'insert' | 'update', more: object = {}): Dataset => ({
    ...TRIAL,
    name: `leaf_${mode}${Object.keys(more).join('')}`,
    rows: TRIAL.rows.map((row) => (row.name === 'figure' ? { ...row, mode, ...more } : row)),
  })

  it('plans no parent, and nothing of it becomes an attribute of one', async () => {
    const update = withMode('update')
    await trial.register(update, { approvalRequired: false })
    await trial.promoted([line('kept', '2026-05-01')])
    const upload = await stage(update, [
      // New figures: refused. The parent of the first is new, that of the second has a new name in it.
      line('unheard', '2026-05-01', { amount: 10 }),
      line('kept', '2026-05-02', { group_name: 'renamed by a refused line', amount: 100 }),
      line('kept', '2026-05-01', { amount: 1000 }),
    ])
    const plan = await trial.planned(upload, 'LENIENT', 0)
    expect(plan.totals).toEqual({ group: { unchanged: 1 }, figure: { update: 1, refused: 2 } })
    const [{ control }] = (await db.owner('select control from iu_core.ingest_plan where upload_id = $1', [
      upload,
    ])) as [{ control: { measure: string }[] }]
    expect(control.find(({ measure }) => measure === 'amount')).toMatchObject({
      read: '1110',
      valid: '1000',
      refused: '110',
      written: '1000',
    })
    expect(
      await db.owner(
        `select (select count(*)::int from staging_rows where upload_id = $1 and row_type = 'group') as groups,
                (select count(*)::int from staging_id_resolution where upload_id = $1) as resolved`,
        [upload],
      ),
    ).toEqual([{ groups: 1, resolved: 1 }])
    await trial.promote(plan)
    expect(await db.owner(`select name from trial_groups where code in ('kept', 'unheard')`)).toEqual([
      { name: 'kept' },
    ])
    expect((await trial.undo(upload)).undo_totals).toEqual({ figure: { reversed: 1 } })
  })

  it('of mode insert: a parent with another line is planned from that one', async () => {
    const insert = withMode('insert')
    await trial.register(insert, { approvalRequired: false })
    await trial.promoted([line('mixed', '2026-06-01')])
    const plan = await trial.stagePlanned(
      [
        line('mixed', '2026-06-01', { group_name: 'of the refused' }),
        line('mixed', '2026-06-02', { group_name: 'of the taken' }),
        line('fresh', '2026-06-01'),
      ],
      { dataset: insert },
    )
    expect(plan.totals).toEqual({ group: { update: 1, insert: 1 }, figure: { refused: 1, insert: 2 } })
    expect(plan.refusal).toBe('1 of 3 lines is invalid')
    expect(
      await db.owner(
        `select row_number, after ->> 'name' as name from iu_core.ingest_plan_row where upload_id = $1 and row_type = 'group' and action = 'update'`,
        [plan.upload_id],
      ),
    ).toEqual([{ row_number: 3, name: 'of the taken' }])
  })

  it('to which others were added: they are refused with it, and the control totals say so', async () => {
    const sums: Dataset = {
      ...PRICES,
      name: 'sum_update',
      rows: PRICES.rows.map((row) => ({ ...row, mode: 'update' as const, duplicates: 'sum' as const })),
    }
    await trial.register(sums, { approvalRequired: false })
    const price = (sku: string, value: number) => ({ sku, tier: null, day: '2026-11-01', price: value })
    await trial.promoted([price('known', 1)], { dataset: PRICES })
    const plan = await trial.stagePlanned([price('known', 2), price('new', 3), price('new', 40)], {
      dataset: sums,
    })
    expect(plan.totals).toEqual({ price: { update: 1, refused: 2 } })
    const [{ control }] = (await db.owner('select control from iu_core.ingest_plan where upload_id = $1', [
      plan.upload_id,
    ])) as [{ control: object[] }]
    expect(control).toMatchObject([{ read: '45', valid: '2', refused: '43', written: '2' }])
    expect(plan.refusal).toBe('2 of 3 lines are invalid')
  })
})
