/** Mode snapshot: rows that the file lacks are deleted, with what depends on them, and undo brings all of it back. */
import type pg from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Dataset, RowType } from '../../src/ingest/datasets/dataset.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { type Planned, PRICES, type StagedLine, TRIAL, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const trial = useTrial(db)

const TABLES = `
  create table shop_items (
    id bigint generated always as identity primary key, workspace_id uuid not null, sku text not null, region text, price numeric(10, 2),
    doubled numeric generated always as (price * 2) stored, parent text, updated timestamptz not null default '2026-01-01',
    unique (workspace_id, sku));
  create table shop_notes (id serial primary key, item_id bigint references shop_items (id) on delete cascade, text text);
  create table shop_marks (note_id integer references shop_notes (id) on delete cascade, mark text);
  create table shop_views (id serial primary key, item_id bigint references shop_items (id) on delete set null, at date);
  create table shop_sales (item_id bigint not null references shop_items (id))`
const SHOP_TABLES = ['shop_items', 'shop_notes', 'shop_marks', 'shop_views', 'shop_sales']

const items = (name: string, more: Partial<RowType> = {}): Dataset => ({
  name,
  title: 'Items',
  version: 1,
  platforms: { shop: { title: 'Shop' } },
  fields: {
    sku: { type: 'id', aliases: { any: ['SKU'] } },
    region: { type: 'text', aliases: { any: ['Region'] } },
    price: { type: 'money', aliases: { any: ['Price'] } },
  },
  rows: [
    {
      name: 'item',
      target: 'public.shop_items',
      key: ['workspace_id', 'sku'],
      requires: ['sku'],
      columns: { workspace_id: '$workspace', sku: 'sku', region: 'region', price: 'price' },
      mode: 'snapshot',
      snapshot: { maxDeleted: 1 },
      ...more,
    },
  ],
})
const ITEMS = items('items')
const FUSED = items('items_fused', { snapshot: {} })
const REGIONS = items('items_regions', { snapshot: { scope: ['region'], maxDeleted: 1 } })
const SET_PRICES: Dataset = {
  ...PRICES,
  name: 'prices_snapshot',
  rows: PRICES.rows.map((row) => ({ ...row, mode: 'snapshot', snapshot: { maxDeleted: 1 } })),
}
const FIGURES: Dataset = {
  ...TRIAL,
  name: 'figures_snapshot',
  rows: TRIAL.rows.map((row) =>
    row.name === 'figure' ? { ...row, mode: 'snapshot', snapshot: { maxDeleted: 1 } } : row,
  ),
}
let elsewhere: string

beforeAll(async () => {
  await db.owner(TABLES)
  for (const dataset of [ITEMS, FUSED, REGIONS, SET_PRICES, FIGURES])
    await trial.register(dataset, { approvalRequired: false })
  elsewhere = await createWorkspace(db, 'Elsewhere')
})
beforeEach(async () => {
  await db.owner(`truncate ${SHOP_TABLES.join(', ')} restart identity`)
})

const line = (sku: string, price = 1, region = 'north'): StagedLine => ({ sku, region, price })
const seed = (skus: readonly string[], region = 'north', workspace = trial.workspace) =>
  db.owner(
    `insert into shop_items (workspace_id, sku, region, price) select $1, s, $3, 1 from unnest($2::text[]) s`,
    [workspace, skus, region],
  )
const letters = (count: number) =>
  Array.from({ length: count }, (_, n) => `item-${String(n).padStart(2, '0')}`)
const skus = async (workspace = trial.workspace) =>
  (
    await db.owner<{ sku: string }>('select sku from shop_items where workspace_id = $1 order by sku', [
      workspace,
    ])
  ).map(({ sku }) => sku)
const idOf = (sku: string) =>
  `(select id from shop_items where sku = '${sku}' and workspace_id = '${trial.workspace}')`
const planned = (lines: readonly StagedLine[], dataset = ITEMS, mode: 'STRICT' | 'LENIENT' = 'STRICT') =>
  trial.stagePlanned(lines, { dataset, fields: ['sku', 'region', 'price'] }, mode)
const deletes = (upload: string) =>
  db.owner<{ sku: string; row_number: number; dependents: unknown; before: Record<string, unknown> }>(
    `select target_key ->> 'sku' as sku, row_number, dependents, before from iu_core.ingest_plan_row
      where upload_id = $1 and action = 'delete' order by row_number`,
    [upload],
  )
const confirm = (upload: string, share: number) =>
  trial.service('select iu_core.fn_ingest_set_max_deleted($1, $2)', [upload, share])

const allowShort = (upload: string, allowed: boolean | null = true) =>
  trial.service('select iu_core.fn_ingest_allow_short_file($1, $2)', [upload, allowed])
const snapshotOf = async (upload: string) =>
  (
    await db.owner<{ snapshot: Record<string, unknown> }>(
      'select snapshot from iu_core.ingest_plan where upload_id = $1',
      [upload],
    )
  )[0]!.snapshot

describe('the plan', () => {
  it('deletes the rows of the tenant that the file lacks, each with its image, and no row of others', async () => {
    await seed(['a', 'b', 'c'])
    await seed(['a', 'z'], 'north', elsewhere)
    const plan = await planned([line('a', 2), line('d')])
    expect(plan.totals).toEqual({ item: { insert: 1, update: 1, delete: 2 } })
    expect(plan.refusal).toBeNull()
    const rows = await deletes(plan.upload_id)
    expect(rows.map(({ sku, row_number }) => [sku, row_number])).toEqual([
      ['b', -2],
      ['c', -1],
    ])
    expect(rows[0]!.before).toMatchObject({ sku: 'b', price: 1, region: 'north' })
    expect(await skus()).toEqual(['a', 'b', 'c'])
  })

  it('speaks only of rows that agree with a line in the columns of the scope', async () => {
    await seed(['a', 'b'])
    await seed(['s'], 'south')
    const plan = await planned([line('a')], REGIONS)
    expect((await deletes(plan.upload_id)).map(({ sku }) => sku)).toEqual(['b'])
  })

  it('follows the parents in the key to the tenant, and leaves rows that the file cannot have', async () => {
    const figure = {
      group_code: 'g1',
      group_name: 'G',
      item_code: 'i1',
      item_name: 'I',
      day: '2026-11-01',
      amount: 1,
    }
    await trial.promoted([figure, { ...figure, day: '2026-11-02' }])
    await trial.promoted([{ group_code: 'g1', group_name: 'G', day: '2026-11-03', amount: 5 }])
    const { item_code: _, item_name: __, ...bare } = figure
    const plan = await trial.stagePlanned([{ ...bare, day: '2026-11-01' }], { dataset: FIGURES })
    expect(plan.totals).toMatchObject({ figure: { insert: 1, delete: 1 } })
    expect(
      await db.owner(
        `select before ->> 'day' as day from iu_core.ingest_plan_row where upload_id = $1 and action = 'delete'`,
        [plan.upload_id],
      ),
    ).toEqual([{ day: '2026-11-03' }])
  })

  it('counts the rows to delete in the control totals and shows what was decided', async () => {
    await seed(['a', 'b'])
    const plan = await planned([line('a', 5)])
    const [row] = await db.owner<{ control: unknown[]; snapshot: unknown }>(
      'select control, snapshot from iu_core.ingest_plan where upload_id = $1',
      [plan.upload_id],
    )
    expect(row!.control[0]).toMatchObject({ before: '2', after: '5', difference: '3' })
    expect(row!.snapshot).toMatchObject({
      row_type: 'item',
      scope: [],
      in_scope: 2,
      deleted: 1,
      max_deleted: 1,
      confirmed: false,
      dependents: [],
    })
  })
})

describe('the fuse', () => {
  it('refuses to delete more than a tenth, says the numbers, and takes an explicit confirmation that is part of the digest', async () => {
    await seed(letters(20))
    const upload = await trial.stage(
      letters(17).map((sku) => line(sku)),
      { dataset: FUSED },
    )
    const plan = await trial.planned(upload)
    expect(plan.refusal).toBe(
      '3 of 20 rows of public.shop_items in its scope would be deleted because the file lacks them (15 %), and at most 10 % may be: if the file is complete, plan it with --max-deleted 0.15, or raise maxDeleted in the dataset',
    )
    expect(plan.totals).toMatchObject({ item: { delete: 3 } })
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD607')
    await confirm(upload, 0.15)
    const again = await trial.planned(upload)
    expect(again.refusal).toBeNull()
    expect(again.digest).not.toBe(plan.digest)
    expect(
      await db.owner(
        `select snapshot ->> 'confirmed' as confirmed, snapshot ->> 'max_deleted' as share from iu_core.ingest_plan where upload_id = $1`,
        [upload],
      ),
    ).toEqual([{ confirmed: 'true', share: '0.15' }])
    await trial.promote(again)
    expect(await skus()).toEqual(letters(17))
  })

  it('lets a tenth go', async () => {
    await seed(letters(20))
    expect(
      (
        await planned(
          letters(18).map((sku) => line(sku)),
          FUSED,
        )
      ).refusal,
    ).toBeNull()
  })

  it('refuses a file without lines', async () => {
    await seed(['a'])
    expect((await planned([])).refusal).toBe('no line is valid')
    expect(await skus()).toEqual(['a'])
  })

  it('refuses a file of fewer than half of the lines that the last ones had', async () => {
    const name = 'items_lines'
    const dataset = items(name)
    await trial.register(dataset, { approvalRequired: false })
    for (const count of [9, 10, 11])
      await trial.promote(
        await planned(
          letters(count).map((sku) => line(sku)),
          dataset,
        ),
      )
    const upload = await trial.stage(
      letters(4).map((sku) => line(sku)),
      { dataset },
    )
    expect((await trial.planned(upload)).refusal).toBe(
      'the file has 4 lines, and the last ones had 10 (median): if it is complete, plan it with --allow-short-file',
    )
    await allowShort(upload)
    expect((await trial.planned(upload)).refusal).toBeNull()
    expect(await snapshotOf(upload)).toMatchObject({ short_file_allowed: true, too_short: false })
    await allowShort(upload, false)
    expect(await snapshotOf((await trial.planned(upload)).upload_id)).toMatchObject({ too_short: true })
    expect(
      (
        await planned(
          letters(5).map((sku) => line(sku)),
          dataset,
        )
      ).refusal,
    ).toBeNull()
  })

  it('has two limits, each allowed by itself, and its refusal names the one that is missing', async () => {
    const dataset = items('items_two_limits', { snapshot: {} })
    await trial.register(dataset, { approvalRequired: false })
    const lines = letters(20).map((sku) => line(sku))
    await trial.promote(await planned(lines, dataset))
    const upload = await trial.stage(lines.slice(0, 9), { dataset })
    const refusal = async () => (await trial.planned(upload)).refusal
    const deletes = /11 of 20 rows .* plan it with --max-deleted 0.55/
    const short = /the file has 9 lines, and the last ones had 20 \(median\): .* --allow-short-file/
    expect(await refusal()).toMatch(new RegExp(`${deletes.source}.*; ${short.source}$`))
    expect(await snapshotOf(upload)).toMatchObject({ needed_max_deleted: 0.55, too_short: true })
    await confirm(upload, 0.55)
    expect(await refusal()).toMatch(new RegExp(`^${short.source}$`))
    expect(await snapshotOf(upload)).toMatchObject({ needed_max_deleted: null, too_short: true })
    await confirm(upload, 0.1)
    await allowShort(upload)
    expect(await refusal()).toMatch(new RegExp(`^${deletes.source}`))
    expect(await refusal()).not.toMatch(/short/)
    await confirm(upload, 0.6)
    expect(await refusal()).toBeNull()
  })

  it('takes a share from 0 to 1, and counts whoever gives it among those who changed the upload', async () => {
    const upload = await trial.stage([line('a')], { dataset: FUSED })
    expect(await sqlstateOf(confirm(upload, 1.5))).toBe('SD001')
    await trial.service('select iu_core.fn_ingest_set_max_deleted($1, 0.5, $2)', [
      upload,
      trial.reviewer.userId,
    ])
    const [row] = await db.owner<{ changed_by: string[] }>(
      'select changed_by from iu_core.ingest_upload where upload_id = $1',
      [upload],
    )
    expect(row!.changed_by).toContain(trial.reviewer.userId)
    expect(await sqlstateOf(allowShort(upload, null))).toBe('SD001')
    await trial.service('select iu_core.fn_ingest_allow_short_file($1, true, $2)', [upload, 'somebody'])
    const [later] = await db.owner<{ changed_by: string[] }>(
      'select changed_by from iu_core.ingest_upload where upload_id = $1',
      [upload],
    )
    expect(later!.changed_by).toContain('somebody')
  })
})

describe('lines that are not taken', () => {
  /** As the reader says it: an error of a field. */
  const spoil = (upload: string, row: number, field: string | null) =>
    db.owner(
      `update public.staging_rows set validation_errors = jsonb_build_array(jsonb_build_object('rule', 'x', 'field', $3::text, 'message', 'Wrong.'))
        where upload_id = $1 and row_number = $2`,
      [upload, row, field],
    )
  const spoiled = async (field: string | null, row = line('b')) => {
    await seed(letters(20).concat('b', 'c'))
    const upload = await trial.stage([...letters(20).map((sku) => line(sku)), row], {
      dataset: ITEMS,
      invalid: [20],
    })
    await spoil(upload, 22, field)
    return trial.planned(upload, 'LENIENT')
  }

  it('keep their row where their key could be read', async () => {
    const plan = await spoiled('price')
    expect(plan.refusal).toBeNull()
    expect((await deletes(plan.upload_id)).map(({ sku }) => sku)).toEqual(['c'])
  })

  it.each([
    ['the key', 'sku'],
    ['the whole line', null],
  ])('refuse the plan where an error is about %s', async (_, field) => {
    const plan = await spoiled(field)
    expect(plan.refusal).toBe(
      'the key of 1 line is not known, so it may be any row that the file would then lack: correct it, or take it out of the file (line 22)',
    )
    expect(plan.totals).not.toHaveProperty('item.delete')
  })

  it('refuse the plan where their key is empty', async () => {
    expect((await spoiled('price', { sku: null, region: 'north', price: 1 })).refusal).toMatch(/is not known/)
  })

  it('keep their row where somebody left them out', async () => {
    await seed(['a', 'b', 'c'])
    const upload = await trial.stage([line('a'), line('b')], { dataset: ITEMS, skipped: [1] })
    const plan = await trial.planned(upload)
    expect((await deletes(plan.upload_id)).map(({ sku }) => sku)).toEqual(['c'])
  })
})

describe('rows that depend on a row to delete', () => {
  const children = async () => {
    await seed(['a', 'b', 'c'])
    await db.owner(`
      insert into shop_notes (item_id, text) values (${idOf('a')}, 'stays'), (${idOf('b')}, 'one'), (${idOf('b')}, 'two');
      insert into shop_marks select id, 'm' from shop_notes where text in ('one', 'stays');
      insert into shop_views (item_id, at) values (${idOf('b')}, '2026-11-01'), (${idOf('a')}, '2026-11-02')`)
  }

  it('are shown by table and effect, through chains of foreign keys', async () => {
    await children()
    const plan = await planned([line('a')])
    expect((await deletes(plan.upload_id)).map(({ sku, dependents }) => [sku, dependents])).toEqual([
      [
        'b',
        [
          { table: 'public.shop_marks', effect: 'delete', rows: 1 },
          { table: 'public.shop_notes', effect: 'delete', rows: 2 },
          { table: 'public.shop_views', effect: 'set null', rows: 1 },
        ],
      ],
      ['c', null],
    ])
  })

  it('go with it, and undo brings every one back, ids and generated columns included', async () => {
    await children()
    const before = await trial.image(SHOP_TABLES)
    const plan = await planned([line('a', 3), line('d')])
    expect(plan.totals).toEqual({ item: { update: 1, insert: 1, delete: 2 } })
    const promotion = await trial.promote(plan)
    expect(promotion.totals).toEqual(plan.totals)
    expect(await skus()).toEqual(['a', 'd'])
    expect(await db.owner('select text from shop_notes')).toEqual([{ text: 'stays' }])
    expect(await db.owner('select count(*)::int as marks from shop_marks')).toEqual([{ marks: 1 }])
    expect(await db.owner(`select item_id from shop_views where at = '2026-11-01'`)).toEqual([
      { item_id: null },
    ])
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({
      item: { reversed: 4 },
      'public.shop_marks': { reversed: 1 },
      'public.shop_notes': { reversed: 2 },
      'public.shop_views': { reversed: 1 },
    })
    expect(await trial.image(SHOP_TABLES)).toEqual(before)
  })

  it('forbid it where their foreign key does, with the table and the number', async () => {
    await seed(['a', 'b'])
    await db.owner(`insert into shop_sales values (${idOf('b')}), (${idOf('b')})`)
    const plan = await planned([line('a')])
    expect(plan.refusal).toBe(
      '2 rows of public.shop_sales refer to rows that would be deleted, and the foreign key forbids that: --on-invalid skip leaves those rows as they are',
    )
    expect((await deletes(plan.upload_id))[0]!.dependents).toEqual([
      { table: 'public.shop_sales', effect: 'restrict', rows: 2 },
    ])
  })

  it('keep it where wrong lines are left out: the others go, and the plan says which stay and why', async () => {
    await seed(['a', 'b', 'c'])
    await db.owner(
      `insert into shop_sales values (${idOf('b')}); insert into shop_notes (item_id) values (${idOf('b')}), (${idOf('c')})`,
    )
    const plan = await planned([line('a')], ITEMS, 'LENIENT')
    expect(plan.refusal).toBeNull()
    expect(plan.totals).toEqual({ item: { unchanged: 1, delete: 1, skipped: 1 } })
    expect(
      await db.owner(
        `select row_number, reason, before ->> 'sku' as sku from iu_core.ingest_plan_row where upload_id = $1 and action = 'skipped'`,
        [plan.upload_id],
      ),
    ).toEqual([{ row_number: -2, reason: '1 row of public.shop_sales refers to it', sku: 'b' }])
    const before = await trial.image(SHOP_TABLES)
    await trial.promote(plan)
    expect(await skus()).toEqual(['a', 'b'])
    expect(await db.owner('select count(*)::int as notes from shop_notes')).toEqual([{ notes: 1 }])
    await trial.undo(plan.upload_id)
    expect(await trial.image(SHOP_TABLES)).toEqual(before)
  })

  it('forbid it where Stagedoor may not look', async () => {
    const superuser = await db.session('postgres')
    await superuser.query('create table hidden (item_id bigint references shop_items (id) on delete cascade)')
    await seed(['a', 'b'])
    expect((await planned([line('a')])).refusal).toMatch(
      /rows of public.hidden may depend .* grant select, insert, update on public.hidden to workflow_admin/,
    )
    await superuser.query('drop table hidden')
    await superuser.end()
  })

  it('forbid it where the file has them and lacks what they refer to', async () => {
    await db.owner(
      `create table tree (workspace_id uuid not null, sku text not null unique, parent text references tree (sku) on delete cascade, unique (workspace_id, sku))`,
    )
    const dataset = items('tree', {
      target: 'public.tree',
      columns: { workspace_id: '$workspace', sku: 'sku', parent: 'region' },
    })
    await trial.register(dataset, { approvalRequired: false })
    await db.owner(`insert into tree values ($1, 'root', null), ($1, 'leaf', 'root'), ($1, 'twig', 'leaf')`, [
      trial.workspace,
    ])
    const has = (sku: string, region: string | null) => ({ sku, region })
    expect((await trial.stagePlanned([has('leaf', 'root'), has('twig', 'leaf')], { dataset })).refusal).toBe(
      '2 rows of public.tree that the file has refer to rows that it lacks, and would be deleted or changed with them',
    )
    const before = await trial.image(['tree'])
    const plan = await trial.stagePlanned([has('root', null)], { dataset })
    expect(plan.refusal).toBeNull()
    await trial.promote(plan)
    expect(await db.owner('select sku from tree')).toEqual([{ sku: 'root' }])
    await trial.undo(plan.upload_id)
    expect(await trial.image(['tree'])).toEqual(before)
  })
})

describe('a foreign key that changes the key of the rows that refer', () => {
  const tables = (ddl: string) => db.owner(ddl)
  const LINES = 'create table shop_lines (item_id bigint %s references shop_items (id) on delete set default'
  const create = (byDefault: string, more: string) =>
    tables(`${LINES.replace('%s', byDefault)}, place integer not null, meta jsonb, ${more})`)
  afterEach(() => db.owner('drop table if exists shop_line_notes, shop_lines'))
  /** Rows a (which stays), b and c, with lines of b and c; a is what lines get by default. */
  async function lines(
    sql = `(${idOf('b')}, 1, 'null'), (${idOf('b')}, 2, null), (${idOf('c')}, 3, '{"a": 1}')`,
  ) {
    await seed(['a', 'b', 'c'])
    await db.owner(`insert into shop_lines (item_id, place, meta) values ${sql}`)
  }
  const all = ['shop_items', 'shop_lines']

  it('is undone bit by bit: rows are found by the key that they got', async () => {
    await create('not null default 1', 'primary key (item_id, place)')
    await lines()
    const before = await trial.image(all)
    const plan = await planned([line('a', 4)])
    expect(plan.refusal).toBeNull()
    await trial.promote(plan)
    expect(await db.owner('select item_id::int, place from shop_lines order by place')).toEqual(
      [1, 2, 3].map((place) => ({ item_id: 1, place })),
    )
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({
      item: { reversed: 3 },
      'public.shop_lines': { reversed: 3 },
    })
    expect(await trial.image(all)).toEqual(before)
  })

  it('is undone where two foreign keys change one row, and where another key does not change', async () => {
    await create(
      'not null default 1',
      'other bigint not null default 1 references shop_items (id) on delete set default, primary key (item_id, other, place)',
    )
    await lines()
    await db.owner(`update shop_lines set other = ${idOf('c')} where place < 3`)
    const before = await trial.image(all)
    const plan = await planned([line('a')])
    await trial.promote(plan)
    expect(await db.owner('select distinct item_id::int, other::int from shop_lines')).toEqual([
      { item_id: 1, other: 1 },
    ])
    await trial.undo(plan.upload_id)
    expect(await trial.image(all)).toEqual(before)

    await db.owner(
      `alter table shop_lines add column code uuid not null default gen_random_uuid(), add unique (code); alter table shop_lines alter column item_id set default floor(1 + random())`,
    )
    const coded = await trial.image(all)
    const again = await planned([line('a', 2)])
    expect(again.refusal).toBeNull()
    expect(await sqlstateOf(trial.promote(again))).toBe('not refused')
    await trial.undo(again.upload_id)
    expect(await trial.image(all)).toEqual(coded)
  })

  it.each([
    ['is random', '', 'nullif(floor(1 + random()), 2)'],
    [
      'comes from a function of the user',
      `create function public.shop_default() returns bigint immutable language sql return 1`,
      'public.shop_default()',
    ],
    ['cannot be computed', '', `('1'::text || 'x')::bigint`],
  ])('refuses the plan where the key that they get %s', async (_, before, expression) => {
    if (before !== '') await db.owner(before)
    await create(`not null default ${expression}`, 'primary key (item_id, place)')
    await lines()
    expect((await planned([line('a')])).refusal).toBe(
      '3 rows of public.shop_lines refer to rows that would be deleted, and an undo could not find them again: their key has item_id, which is set then (on delete set default) to a value that is not known before. Give public.shop_lines another unique key, or item_id a constant default',
    )
  })

  it('refuses the plan where other rows refer to that key, whatever their foreign key does', async () => {
    await create('not null default 1', 'primary key (item_id, place)')
    await lines()
    await db.owner(
      `create table shop_line_notes (item_id bigint, place integer, foreign key (item_id, place) references shop_lines on update cascade);
       insert into shop_line_notes values (${idOf('b')}, 2)`,
    )
    expect((await planned([line('a')])).refusal).toMatch(
      /^rows of public.shop_line_notes refer to rows of public.shop_lines by item_id, place, .* delete the rows of public.shop_line_notes or let them refer to other rows/,
    )
    await db.owner('delete from shop_line_notes')
    expect((await planned([line('a')])).refusal).toBeNull()
  })

  it('forbids the delete where it would set NULL in a column that is NOT NULL', async () => {
    await db.owner(
      `create table shop_lines (item_id bigint not null references shop_items (id) on delete set null, place integer, meta jsonb, primary key (item_id, place))`,
    )
    await lines()
    const plan = await planned([line('a')])
    expect(plan.refusal).toMatch(
      /^3 rows of public.shop_lines refer to rows that would be deleted, and the foreign key forbids that/,
    )
    expect((await planned([line('a')], ITEMS, 'LENIENT')).totals).toEqual({
      item: { unchanged: 1, skipped: 2 },
    })
  })

  it('fails as a whole where a trigger gives them yet another key', async () => {
    await create('not null default 1', 'primary key (item_id, place)')
    await lines()
    await db.owner(`
      create or replace function public.renumber() returns trigger language plpgsql as $$ begin new.place := new.place + 100; return new; end $$;
      create trigger renumber before update on shop_lines for each row execute function renumber()`)
    await expect(trial.promote(await planned([line('a')]))).rejects.toThrow(
      'A trigger of public.shop_lines changed the key of a row that refers to a deleted one',
    )
    expect(await skus()).toEqual(['a', 'b', 'c'])
  })

  it('keeps a row whose old key somebody has used again', async () => {
    await create('not null default 1', 'primary key (item_id, place)')
    await lines()
    const plan = await planned([line('a')])
    const b = (await db.owner<{ id: string }>(`select ${idOf('b')}::text as id`))[0]!.id
    await trial.promote(plan)
    await db.owner(
      `insert into shop_items (id, workspace_id, sku) overriding system value values (${b}, '${trial.workspace}', 'b');
       insert into shop_lines values (${b}, 1, '{}')`,
    )
    const undone = await trial.undo(plan.upload_id)
    expect(undone.undo_totals).toEqual({
      item: { reversed: 1, kept: 1 },
      'public.shop_lines': { reversed: 2, kept: 1 },
    })
  })
})

it('brings back what JSON does not hold exactly, in deleted rows, in their dependents and in changed rows', async () => {
  const columns = `as_text json, nothing jsonb, bounds text[], zero double precision, nested jsonb[], "per cent %s" json`
  await db.owner(`
    create table exactly (workspace_id uuid not null, sku text not null, note text, ${columns}, primary key (workspace_id, sku));
    create table exactly_cut (workspace_id uuid, sku text, ${columns}, foreign key (workspace_id, sku) references exactly on delete cascade);
    create table exactly_set (id serial primary key, workspace_id uuid, sku text, ${columns},
                              foreign key (workspace_id, sku) references exactly on delete set null (sku))`)
  const dataset = items('exactly', {
    target: 'public.exactly',
    columns: { workspace_id: '$workspace', sku: 'sku', note: 'region' },
  })
  await trial.register(dataset, { approvalRequired: false })
  const values = `'{"b":1,  "a":2, "a":3}', 'null', '[2:3]={a,NULL}', '-0', array['null', null]::jsonb[], ' null'`
  const nulls = `null, null, null, null, null, null`
  const plain = `'{}', '{"x": null}', '{a}', '0', '{}', '[]'`
  for (const [sku, row] of Object.entries({ b: values, c: nulls, d: plain }))
    await db.owner(`
      insert into exactly values ('${trial.workspace}', '${sku}', 'n', ${row});
      insert into exactly_cut values ('${trial.workspace}', '${sku}', ${row});
      insert into exactly_set (workspace_id, sku, as_text, nothing, bounds, zero, nested, "per cent %s") values ('${trial.workspace}', '${sku}', ${row})`)
  await db.owner(`insert into exactly values ('${trial.workspace}', 'a', 'old', ${values})`)
  // A trigger that changes what no file writes: only the image has what was there.
  await db.owner(`
    create function public.overwrite() returns trigger language plpgsql as $$
    begin
      if new.note = 'new' then new.nothing := '1'; new.as_text := '[]'; new.bounds := '{x}'; new.zero := 7; end if;
      return new;
    end $$;
    create trigger overwrite before update on exactly for each row execute function overwrite()`)
  const tables = ['exactly', 'exactly_cut', 'exactly_set']
  const before = await trial.image(tables)
  const plan = await trial.stagePlanned([{ sku: 'a', region: 'new' }], { dataset })
  expect([plan.refusal, plan.totals]).toEqual([null, { item: { update: 1, delete: 3 } }])
  await trial.promote(plan)
  expect(await trial.image(['exactly_cut'])).toEqual({ exactly_cut: [] })
  await trial.undo(plan.upload_id)
  expect(await trial.image(tables)).toEqual(before)
  // Where the JSON of the image says it all, nothing more is stored.
  expect(
    await db.owner(
      `select before ->> 'sku' as sku from iu_core.ingest_ledger where upload_id = $1 and exact is not null and not exact ? 'nothing'`,
      [plan.upload_id],
    ),
  ).toEqual([{ sku: 'd' }])
})

describe('promotion', () => {
  it('is refused where a row to delete has changed since the plan, and that row is listed', async () => {
    await seed(['a', 'b'])
    const plan = await planned([line('a')])
    await db.owner(`update shop_items set price = 9 where sku = 'b'`)
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD606')
    expect(
      await trial.service(
        `select action, line, key ->> 'sku' as sku, now ->> 'price' as price from iu_core.fn_ingest_plan_stale($1)`,
        [plan.upload_id],
      ),
    ).toEqual([{ action: 'delete', line: -1, sku: 'b', price: '9.00' }])
    expect(await skus()).toEqual(['a', 'b'])
  })

  it('is refused where a child was added, changed or removed since the plan', async () => {
    await seed(['a', 'b'])
    await db.owner(`insert into shop_notes (item_id, text) values (${idOf('b')}, 'one')`)
    for (const write of [
      `insert into shop_notes (item_id, text) values (${idOf('b')}, 'two')`,
      `update shop_notes set text = 'changed' where text = 'one'`,
      `insert into shop_views (item_id) values (${idOf('b')})`,
      `delete from shop_notes where text = 'changed'`,
      `insert into shop_sales values (${idOf('b')})`,
    ]) {
      const plan = await planned([line('a')])
      expect(plan.refusal).toBeNull()
      await db.owner(write)
      await expect(trial.promote(plan)).rejects.toThrow(
        'Rows that depend on 1 row to delete from public.shop_items changed since the plan was made',
      )
      expect(
        await trial.service('select line from iu_core.fn_ingest_plan_stale($1)', [plan.upload_id]),
      ).toEqual([{ line: -1 }])
    }
  })

  it('leaves rows that somebody inserted into the scope after the plan', async () => {
    await seed(['a', 'b'])
    const plan = await planned([line('a')])
    await seed(['later'])
    await trial.promote(plan)
    expect(await skus()).toEqual(['a', 'later'])
  })

  it('fails as a whole where a trigger keeps a row', async () => {
    await seed(['a', 'b', 'c'])
    await db.owner(`
      create function public.keep_b() returns trigger language plpgsql as $$ begin return case when old.sku = 'b' then null else old end; end $$;
      create trigger keep_b before delete on shop_items for each row execute function keep_b()`)
    const plan = await planned([line('a', 2)])
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD611')
    expect(await skus()).toEqual(['a', 'b', 'c'])
    await db.owner('drop trigger keep_b on shop_items')
  })

  it('has what it deleted in the ledger, in lineage and in the event', async () => {
    await seed(['a', 'traced'])
    const plan = await planned([line('a')])
    await trial.promote(plan)
    expect(
      await trial.service(
        `select action, target_key ->> 'sku' as sku from iu_core.fn_ingest_lineage($1, 'public.shop_items', null, $2)`,
        [trial.workspace, JSON.stringify({ sku: 'traced' })],
      ),
    ).toEqual([{ action: 'delete', sku: 'traced' }])
    const [event] = await db.owner<{ totals: unknown; rows: number }>(
      `select safe_payload -> 'totals' as totals, (safe_payload ->> 'rows')::int as rows from iu_core.event_outbox
        where event_type = 'ingestion_complete' and event_subject_ref = $1`,
      [plan.upload_id],
    )
    expect(event).toEqual({ totals: { item: { unchanged: 1, delete: 1 } }, rows: 1 })
  })
})

describe('two sessions', () => {
  const asService = async (): Promise<pg.Client> => {
    const session = await db.session('stagedoor_worker')
    await session.query('set role service_role')
    return session
  }
  const promoteIn = (session: pg.Client, plan: Planned) =>
    session.query('select iu_core.fn_ingest_promote($1, $2)', [plan.upload_id, plan.digest])

  it('a child that is inserted while promotion waits for it is seen: the plan is stale', async () => {
    await seed(['a', 'b'])
    const plan = await planned([line('a')])
    const [application, promoter] = [await db.session('postgres'), await asService()]
    await application.query('begin')
    await application.query(
      `insert into shop_notes (item_id, text) values (${idOf('b')}, 'at the last moment')`,
    )
    const promoting = sqlstateOf(promoteIn(promoter, plan))
    await untilWaiting(db, promoter)
    await application.query('commit')
    expect(await promoting).toBe('SD606')
    expect(await skus()).toEqual(['a', 'b'])
    await Promise.all([application.end(), promoter.end()])
  })

  it('a child that is inserted after promotion locked its row waits, and is refused by the foreign key', async () => {
    await seed(['a', 'b'])
    const plan = await planned([line('a')])
    const [application, promoter] = [await db.session('postgres'), await asService()]
    const { rows } = await application.query(`select ${idOf('b')} as id`)
    await promoter.query('begin')
    await promoteIn(promoter, plan)
    const inserting = sqlstateOf(
      application.query('insert into shop_notes (item_id) values ($1)', [rows[0].id]),
    )
    await untilWaiting(db, application)
    await promoter.query('commit')
    expect(await inserting).toBe('23503')
    expect(await skus()).toEqual(['a'])
    await Promise.all([application.end(), promoter.end()])
  })
})

describe('tables of other shapes', () => {
  it('whose columns are called like our aliases, or in ways that need quotes', async () => {
    const names = [
      't',
      'f',
      'g',
      'b',
      'd',
      'r',
      'x',
      'n',
      'position',
      'place',
      'root',
      'before',
      'c1',
      'k1',
      's1',
      '%s',
      'qu"ote',
      "it's",
      'select',
    ]
    const columns = names.map((name) => `"${name.replaceAll('"', '""')}" text default 'v'`).join(', ')
    await db.owner(`
      create table "Odd %s" (workspace_id uuid not null, "ctid?" text not null, "row" text, ${columns}, unique (workspace_id, "ctid?"), unique ("ctid?"));
      create table "Odd ""child" ("k 1" text primary key, "f" text references "Odd %s" ("ctid?") on delete cascade, ${columns.replace('"f" text', '"f2" text')});
      create table "Odd 'views" ("t" text primary key, "%1$s" text references "Odd %s" ("ctid?") on delete set null, ${columns.replace('"t" text', '"t2" text')});
      insert into "Odd %s" (workspace_id, "ctid?", "row") values ('${trial.workspace}', 'a', 'x'), ('${trial.workspace}', 'b', 'x');
      insert into "Odd ""child" ("k 1", "f") values ('1', 'b'), ('2', 'a');
      insert into "Odd 'views" ("t", "%1$s") values ('1', 'b'), ('2', 'a')`)
    const odd = items('odd', {
      target: 'public."Odd %s"',
      key: ['workspace_id', 'ctid?'],
      columns: { workspace_id: '$workspace', 'ctid?': 'sku', row: 'region' },
      snapshot: { maxDeleted: 1, scope: ['row'] },
    })
    await trial.register(odd, { approvalRequired: false })
    const views = `public."Odd 'views"`
    const count = () =>
      db.owner(
        `select (select count(*)::int from "Odd %s") as rows, (select count(*)::int from "Odd ""child") as children, (select count(*)::int from "Odd 'views" where "%1$s" is null) as unlinked`,
      )
    const plan = await trial.promoted([{ sku: 'a', region: 'x' }], { dataset: odd })
    expect(plan.totals).toEqual({ item: { unchanged: 1, delete: 1 } })
    expect(await count()).toEqual([{ rows: 1, children: 1, unlinked: 1 }])
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({
      item: { reversed: 1 },
      'public."Odd ""child"': { reversed: 1 },
      [views]: { reversed: 1 },
    })
    expect(await count()).toEqual([{ rows: 2, children: 2, unlinked: 0 }])
  })

  it('that are partitioned, with partitioned rows that depend on them', async () => {
    await db.owner(`
      create table pieces (workspace_id uuid not null, sku text not null, region text not null, primary key (workspace_id, sku, region)) partition by list (region);
      create table pieces_north partition of pieces for values in ('north');
      create table pieces_south partition of pieces default;
      create table piece_days (workspace_id uuid, sku text, region text, day date, foreign key (workspace_id, sku, region) references pieces on delete cascade) partition by range (day);
      create table piece_days_2026 partition of piece_days for values from ('2026-01-01') to ('2027-01-01');
      insert into pieces select '${trial.workspace}', s, r from unnest(array['a', 'b']) s, unnest(array['north', 'south']) r;
      insert into piece_days select workspace_id, sku, region, '2026-11-01' from pieces`)
    const dataset = items('pieces', {
      target: 'public.pieces',
      key: ['workspace_id', 'sku', 'region'],
      requires: ['sku', 'region'],
      columns: { workspace_id: '$workspace', sku: 'sku', region: 'region' },
    })
    await trial.register(dataset, { approvalRequired: false })
    const before = await trial.image(['pieces', 'piece_days'])
    const plan = await trial.promoted(
      [
        { sku: 'a', region: 'north' },
        { sku: 'b', region: 'south' },
      ],
      { dataset },
    )
    expect(plan.totals).toEqual({ item: { unchanged: 2, delete: 2 } })
    expect(await db.owner('select sku, region from piece_days order by 1')).toEqual([
      { sku: 'a', region: 'north' },
      { sku: 'b', region: 'south' },
    ])
    await trial.undo(plan.upload_id)
    expect(await trial.image(['pieces', 'piece_days'])).toEqual(before)
  })

  it('with a trigger that counts rows in their parent', async () => {
    await db.owner(`
      alter table trial_groups add column figures integer not null default 0;
      create function public.count_figures() returns trigger language plpgsql as $$
      begin
        update trial_groups g set figures = (select count(*) from trial_figures f where f.group_id = g.id) where g.id = coalesce(new.group_id, old.group_id);
        return null;
      end $$;
      create trigger count_figures after insert or update or delete on trial_figures for each row execute function count_figures();
      update trial_groups g set figures = (select count(*) from trial_figures f where f.group_id = g.id)`)
    const figure = (day: number, name = 'Counted') => ({
      group_code: 'counted',
      group_name: name,
      day: `2026-10-0${day}`,
      amount: 1,
    })
    await trial.promoted([figure(1), figure(2), figure(3)])
    const before = await trial.image(['trial_groups', 'trial_figures'])
    const plan = await trial.promoted([figure(1, 'Renamed'), figure(4, 'Renamed')], { dataset: FIGURES })
    expect(plan.totals).toMatchObject({ group: { update: 1 }, figure: { insert: 1, unchanged: 1 } })
    await trial.undo(plan.upload_id)
    expect(await trial.image(['trial_groups', 'trial_figures'])).toEqual(before)
    await db.owner(
      'drop trigger count_figures on trial_figures; alter table trial_groups drop column figures',
    )
  })
})

describe('undo', () => {
  it('keeps away a row whose key somebody used again, and restores the others', async () => {
    await seed(['a', 'b', 'c'])
    await db.owner(`insert into shop_notes (item_id, text) values (${idOf('b')}, 'of b')`)
    const plan = await planned([line('a')])
    await trial.promote(plan)
    await seed(['b'], 'south')
    const [seen] = await trial.service<{ totals: unknown; stays: unknown }>(
      'select totals, stays from iu_core.fn_ingest_undo_plan($1)',
      [plan.upload_id],
    )
    const totals = { item: { reversed: 1, kept: 1 }, 'public.shop_notes': { refused: 1 } }
    expect(seen!.totals).toEqual(totals)
    expect(seen!.stays).toMatchObject([
      {
        row_type: 'public.shop_notes',
        outcome: 'refused',
        reason: 'the row of public.shop_items that it refers to no longer exists',
      },
      {
        row_type: 'item',
        line: -2,
        outcome: 'kept',
        reason: 'another row with the same workspace_id, sku was inserted since',
      },
    ])
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual(totals)
    expect(await db.owner('select sku, region from shop_items order by sku')).toEqual([
      { sku: 'a', region: 'north' },
      { sku: 'b', region: 'south' },
      { sku: 'c', region: 'north' },
    ])
  })

  it('refuses a row whose parent has gone', async () => {
    await trial.promoted([{ group_code: 'gone', group_name: 'Gone', day: '2026-11-01', amount: 1 }])
    const plan = await trial.promoted(
      [{ group_code: 'kept', group_name: 'Kept', day: '2026-11-01', amount: 1 }],
      { dataset: FIGURES },
    )
    await db.owner(`delete from trial_groups where code = 'gone'`)
    const [seen] = await trial.service<{ totals: Record<string, unknown>; stays: { reason: string }[] }>(
      'select totals, stays from iu_core.fn_ingest_undo_plan($1)',
      [plan.upload_id],
    )
    expect(seen!.stays.map(({ reason }) => reason)).toContain(
      'the row of public.trial_groups that it refers to no longer exists',
    )
    await trial.undo(plan.upload_id)
    expect(await db.owner(`select from trial_groups where code in ('gone', 'kept')`)).toEqual([])
  })

  it('leaves a row that somebody changed after its reference was taken', async () => {
    await seed(['a', 'b'])
    await db.owner(
      `insert into shop_views (item_id, at) values (${idOf('b')}, '2026-11-01'), (${idOf('b')}, '2026-11-02')`,
    )
    const plan = await planned([line('a')])
    await trial.promote(plan)
    await db.owner(`update shop_views set item_id = ${idOf('a')} where at = '2026-11-01'`)
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({
      item: { reversed: 1 },
      'public.shop_views': { reversed: 1, kept: 1 },
    })
    expect(
      await db.owner('select i.sku from shop_views v join shop_items i on i.id = v.item_id order by v.at'),
    ).toEqual([{ sku: 'a' }, { sku: 'b' }])
  })

  it('restores rows that are known by a key with NULLs', async () => {
    const price = (sku: string, tier: string | null) => ({ sku, tier, day: '2026-11-01', price: 1 })
    await trial.promoted([price('x', null), price('x', 'gold'), price('y', null)], { dataset: PRICES })
    const before = await trial.image(['trial_prices'])
    const plan = await trial.promoted([price('x', 'gold')], { dataset: SET_PRICES })
    expect(plan.totals).toEqual({ price: { unchanged: 1, delete: 2 } })
    await trial.undo(plan.upload_id)
    expect(await trial.image(['trial_prices'])).toEqual(before)
  })

  it('is no longer possible when the images were dropped, those of dependents included', async () => {
    await seed(['a', 'b'])
    await db.owner(`insert into shop_notes (item_id, text) values (${idOf('b')}, 'of b')`)
    const plan = await planned([line('a')])
    await trial.promote(plan)
    await db.owner(`update iu_core.ingest_promotion set undo_until = now() where upload_id = $1`, [
      plan.upload_id,
    ])
    while (
      (
        await trial.service<{ dropped: string | null }>('select iu_core.fn_ingest_images_drop() as dropped')
      )[0]!.dropped !== null
    );
    expect(
      await db.owner('select before, target from iu_core.ingest_dependent where upload_id = $1', [
        plan.upload_id,
      ]),
    ).toEqual([{ before: null, target: 'public.shop_notes' }])
  })
})

it('a line whose key is computed from a wrong cell refuses the plan: it may be any row', async () => {
  const dataset: Dataset = {
    ...items('items_computed'),
    fields: {
      brand: { type: 'text', aliases: { any: ['Brand'] }, pattern: '[a-z]+' },
      code: { type: 'text', aliases: { any: ['Code'] } },
      sku: { type: 'text', aliases: {}, compute: `brand == null ? code : brand + '-' + code` },
      region: { type: 'text', aliases: { any: ['Region'] } },
      price: { type: 'money', aliases: { any: ['Price'] } },
    },
    rows: items('items_computed').rows.map((row) => ({ ...row, requires: ['code'] })),
  }
  await trial.register(dataset, { approvalRequired: false })
  await seed(['saw-1', 'axe-2'])
  const upload = await trial.file('Brand,Code,Region,Price\nsaw,1,north,2\nAXE!,2,north,3\n', {
    dataset: 'items_computed',
    platform: 'shop',
    clientId: undefined,
  })
  const plan = await trial.plan(upload.upload_id, { onInvalid: 'skip', threshold: 0 })
  expect(plan.refusal).toMatch(/^the key of 1 line is not known/)
})
