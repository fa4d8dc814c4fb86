/** Routines and views follow their files: changed, renamed, removed, with what stands on them. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readSqlFiles } from '../../../../src/kernel/postgres/migrate/files.ts'
import { migrate } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { type BareDatabase, useDatabases } from '../../../support/empty-database.ts'
import { type Edits, editedSql } from './sql-copy.ts'

const createDatabase = useDatabases()
/** Migrated by a version with the files below; every test begins with a clone of it. */
let shop: BareDatabase
let database: BareDatabase

const FILE = 'shop/fn_price.sql'
const PRICE = `create or replace function iu_core.fn_price(p_item text) returns integer
language sql stable set search_path = pg_catalog, pg_temp
as $$ select 1 $$;
grant execute on function iu_core.fn_price(text) to authenticated, service_role;`
const view = (name: string, query: string) =>
  `create or replace view iu_core.${name} with (security_invoker = true) as ${query};
grant select on iu_core.${name} to service_role;`
const VIEWS = {
  'shop/v_a_items.sql': view('v_a_items', `select 'tea'::text as item, 1 as stock, 2 as weight`),
  'shop/v_b_prices.sql': view(
    'v_b_prices',
    'select item, iu_core.fn_price(item) as price from iu_core.v_a_items',
  ),
  'shop/v_c_dear.sql': view(
    'v_c_dear',
    'select b.item, b.price from iu_core.v_b_prices b join iu_core.v_a_items a using (item)',
  ),
}

const apply = (edits: Edits) =>
  migrate({ url: database.url, files: editedSql({ [FILE]: PRICE, ...VIEWS, ...edits }) })
const rows = (sql: string) => database.superuser(sql)
const versions = () => rows(`select oid::regprocedure::text as f from pg_proc where proname = 'fn_price'`)
/** Of a view by its name, of a function by its signature. */
const privileges = (object: string) =>
  rows(`select grantee::regrole::text as role, privilege_type as may
          from ${object.includes('(') ? 'pg_proc' : 'pg_class'} as o,
               aclexplode(${object.includes('(') ? 'proacl' : 'relacl'}) as g
         where o.oid = '${object}'::${object.includes('(') ? 'regprocedure' : 'regclass'}
           and grantee <> 'workflow_admin'::regrole order by 1, 2`)

beforeAll(async () => {
  shop = await createDatabase('migrated')
  await migrate({ url: shop.url, files: editedSql({ [FILE]: PRICE, ...VIEWS }) })
})
beforeEach(async () => {
  database = await createDatabase(shop)
})

it('applies a changed body, and only that routine', async () => {
  const plan = await apply({ [FILE]: PRICE.replace('select 1', 'select 2') })
  expect(plan).toMatchObject({ migrations: [], routines: ['iu_core.fn_price'], removed_routines: [] })
  expect(await rows('select * from iu_core.v_c_dear')).toEqual([{ item: 'tea', price: 2 }])
})

it('applies a changed return type, and remakes the views that stand on it', async () => {
  await apply({ [FILE]: PRICE.replace('integer', 'text').replace('select 1', `select 'cheap'`) })
  expect(await rows('select * from iu_core.v_c_dear')).toEqual([{ item: 'tea', price: 'cheap' }])
  expect(await privileges('iu_core.v_c_dear')).toEqual([{ role: 'service_role', may: 'SELECT' }])
})

it('applies a changed parameter name', async () => {
  await apply({ [FILE]: PRICE.replace('p_item', 'p_thing') })
  expect(await rows(`select iu_core.fn_price(p_thing => 'tea') as price`)).toEqual([{ price: 1 }])
  expect(await versions()).toHaveLength(1)
})

it.each([
  ['an added parameter', 'p_item text, p_day date', 'text, date'],
  ['an added parameter with a default', 'p_item text, p_day date default null', 'text, date'],
])('leaves no second version beside %s', async (_, parameters, types) => {
  const edited = PRICE.replace('p_item text', parameters).replace('fn_price(text)', `fn_price(${types})`)
  const prices = parameters.includes('default')
    ? {}
    : {
        'shop/v_b_prices.sql': view(
          'v_b_prices',
          'select item, iu_core.fn_price(item, null) as price from iu_core.v_a_items',
        ),
      }
  await apply({ [FILE]: edited, ...prices })
  expect(await versions()).toEqual([{ f: 'iu_core.fn_price(text,date)' }])
  expect(await rows('select * from iu_core.v_c_dear')).toEqual([{ item: 'tea', price: 1 }])
})

it('applies a removed parameter', async () => {
  await apply({
    [FILE]: PRICE.replace('p_item text', '').replace('fn_price(text)', 'fn_price()'),
    'shop/v_b_prices.sql': view(
      'v_b_prices',
      'select item, iu_core.fn_price() as price from iu_core.v_a_items',
    ),
  })
  expect(await versions()).toEqual([{ f: 'iu_core.fn_price()' }])
  expect(await rows('select * from iu_core.v_c_dear')).toEqual([{ item: 'tea', price: 1 }])
})

it('drops a column of a view, and remakes the views on views that stand on it', async () => {
  await apply({ 'shop/v_a_items.sql': view('v_a_items', `select 'tea'::text as item, 2 as weight`) })
  expect(await rows('select * from iu_core.v_a_items')).toEqual([{ item: 'tea', weight: 2 }])
  expect(await rows('select * from iu_core.v_c_dear')).toEqual([{ item: 'tea', price: 1 }])
})

it.each([
  ['a view on a function', { [FILE]: PRICE.replace('integer', 'bigint') }, "fn_price('tea') as p"],
  [
    'a view on a view',
    { 'shop/v_a_items.sql': view('v_a_items', `select 'tea'::text as item`) },
    '* from iu_core.v_a_items',
  ],
])('refuses to drop what somebody else’s object uses: %s', async (_, edits, query) => {
  const selected = query.startsWith('fn_') ? `iu_core.${query}` : query
  await rows(`create view public.their_report as select ${selected}`)
  await expect(apply(edits)).rejects.toMatchObject({
    code: 'foreign_object',
    message: expect.stringContaining('public.their_report'),
    hint: expect.stringContaining('Drop it, migrate, and create it again'),
  })
  expect(await rows('select * from iu_core.v_c_dear')).toEqual([{ item: 'tea', price: 1 }])
  // As the hint says.
  await rows('drop view public.their_report')
  await apply(edits)
})

it('refuses to drop a function behind somebody else’s column, and names it', async () => {
  await rows(`create table public.their_items (item text, price int default iu_core.fn_price('tea'))`)
  await expect(apply({ [FILE]: PRICE.replace('integer', 'bigint') })).rejects.toMatchObject({
    code: 'foreign_object',
    message: expect.stringContaining('their_items'),
  })
})

it('drops the function and the views whose files were removed, whatever stands on what', async () => {
  const plan = await apply({
    [FILE]: null,
    ...Object.fromEntries(Object.keys(VIEWS).map((file) => [file, null])),
  })
  expect(plan.removed_routines).toHaveLength(4)
  expect(await versions()).toEqual([])
  expect(
    await rows(`select relname from pg_class where relname in ('v_a_items', 'v_b_prices', 'v_c_dear')`),
  ).toEqual([])
  expect(await rows(`select from iu_core.schema_routine where file like 'shop/%'`)).toEqual([])
})

it('drops a trigger function with its trigger', async () => {
  const files = {
    'shop/fn_watch.sql': `create or replace function iu_core.fn_watch() returns trigger language plpgsql
      as 'begin return null; end';
      create or replace trigger watched after insert on iu_core.dot_config for each row execute function iu_core.fn_watch();`,
  }
  await apply(files)
  expect(await rows(`select tgname from pg_trigger where tgname = 'watched'`)).toHaveLength(1)
  await apply({})
  expect(await rows(`select tgname from pg_trigger where tgname = 'watched'`)).toEqual([])
})

describe('triggers that other files put on a function', () => {
  const WATCH = 'shop/fn_watch.sql'
  const USER = 'shop/fn_another.sql'
  const watch = (name = 'fn_watch', returns = 'trigger') =>
    `create or replace function iu_core.${name}() returns ${returns} language plpgsql as 'begin return null; end';`
  const USES = `create or replace function iu_core.fn_another() returns integer language sql as 'select 1';
    create or replace trigger watched after insert on iu_core.dot_config
      for each row execute function iu_core.fn_watch();`
  const triggers = () =>
    rows(`select tgname, tgfoid::regprocedure::text as calls from pg_trigger where tgname = 'watched'`)
  const WATCHED = [{ tgname: 'watched', calls: 'iu_core.fn_watch()' }]

  // fn_another comes first in the order of the files, and its trigger wants fn_watch.
  beforeEach(() => apply({ [WATCH]: watch(), [USER]: USES }))

  it('are made after it, whatever the order of the files', async () => {
    expect(await triggers()).toEqual(WATCHED)
  })

  it('stay when its file changes or moves', async () => {
    await apply({ [WATCH]: watch().replace('return null', 'return new'), [USER]: USES })
    expect(await triggers()).toEqual(WATCHED)
    const changed = watch().replace('return null', 'return old')
    const plan = await apply({ [WATCH]: null, 'zoo/fn_watch.sql': changed, [USER]: USES })
    expect(plan).toMatchObject({ routines: ['iu_core.fn_watch'], removed_routines: [] })
    expect(await triggers()).toEqual(WATCHED)
    expect(await rows(`select file from iu_core.schema_routine where object_name = 'fn_watch'`)).toEqual([
      { file: 'zoo/fn_watch.sql' },
    ])
  })

  it('are made again when it was dropped behind our back, and they with it', async () => {
    await rows('drop function iu_core.fn_watch() cascade')
    expect(await triggers()).toEqual([])
    await apply({ [WATCH]: watch(), [USER]: USES })
    expect(await triggers()).toEqual(WATCHED)
  })

  it('are made again when it must be dropped to be changed', async () => {
    // To something that is no trigger, and back.
    await apply({
      [WATCH]: watch('fn_watch', 'integer'),
      [USER]: USES.replace(/create or replace trigger[^;]*;/, ''),
    })
    expect(await triggers()).toEqual([])
    await apply({ [WATCH]: watch(), [USER]: USES })
    expect(await triggers()).toEqual(WATCHED)
  })

  it('are left alone where they stand on somebody else’s table', async () => {
    await rows(`create table public.theirs (id int);
      create trigger guard before insert on public.theirs for each row execute function iu_core.fn_watch()`)
    await expect(apply({ [WATCH]: null, [USER]: null })).rejects.toMatchObject({
      code: 'foreign_object',
      message: expect.stringContaining('guard on public.theirs'),
    })
  })
})

it('keeps the guards of every table that only grows when the file of their function moves or it is dropped', async () => {
  const guards = () =>
    rows(`select tgname, tgrelid::regclass::text as on, tgenabled::text from pg_trigger
           where tgfoid = 'iu_core.fn_refuse_change()'::regprocedure order by 1, 2`)
  const before = await guards()
  expect(before.length).toBeGreaterThan(8)
  const { file, sql } = readSqlFiles().routines.find(({ name }) => name === 'fn_refuse_change')!
  await apply({ [file]: null, 'zoo/fn_refuse_change.sql': `${sql}\nselect 1;\n` })
  expect(await guards()).toEqual(before)
  await rows('drop function iu_core.fn_refuse_change() cascade')
  await apply({ [file]: null, 'zoo/fn_refuse_change.sql': sql })
  expect(await guards()).toEqual(before)
})

describe('chapters', () => {
  /** Rows of the catalogue that a replacement would have written again. */
  const catalogue = () =>
    rows(`select p.oid::regprocedure::text as object, p.oid::text, p.xmin::text from pg_proc p
            join pg_namespace n on n.oid = p.pronamespace where n.nspname in ('iu_core', 'noetl', 'public')
          union all
          select c.oid::regclass::text, c.oid::text, r.xmin::text from pg_class c
            join pg_rewrite r on r.ev_class = c.oid
            join pg_namespace n on n.oid = c.relnamespace where n.nspname in ('iu_core', 'noetl', 'public')
          order by 1`)
  const files = () => rows('select distinct file from iu_core.schema_routine order by 1')

  it('re-create nothing of a database whose routines stood in one file each', async () => {
    const { routines } = readSqlFiles()
    const before = await catalogue()
    // As the version before chapters left it: another file for every routine, and the file as the key.
    await rows(`update iu_core.schema_routine set file = 'routines/' || schema_name || '.' || object_name || '.sql';
                alter table iu_core.schema_routine drop constraint schema_routine_pkey, add primary key (file),
                  add constraint schema_routine_one_file_each unique (kind, schema_name, object_name);
                delete from iu_core.schema_migration where name = '0024_routines_in_chapters'`)
    const plan = await apply({})
    expect(plan).toMatchObject({
      migrations: ['0024_routines_in_chapters'],
      routines: [],
      removed_routines: [],
    })
    expect(await catalogue()).toEqual(before)
    expect((await files()).length).toBeLessThan(routines.length / 4)
  })

  it('hold several routines; one that changes is applied alone', async () => {
    const chapter = [PRICE, ...Object.values(VIEWS)].join('\n\n')
    const none = Object.fromEntries([FILE, ...Object.keys(VIEWS)].map((file) => [file, null]))
    const before = await catalogue()
    expect(await apply({ ...none, 'shop/prices.sql': chapter })).toMatchObject({ routines: [] })
    expect(await catalogue()).toEqual(before)
    const plan = await apply({ ...none, 'shop/prices.sql': chapter.replace('select 1', 'select 3') })
    expect(plan).toMatchObject({ routines: ['iu_core.fn_price'], removed_routines: [] })
    expect(await rows('select * from iu_core.v_c_dear')).toEqual([{ item: 'tea', price: 3 }])
  })

  it('follow a routine to another room, and record where it stands', async () => {
    await apply({ [FILE]: null, 'market/prices.sql': PRICE.replace('select 1', 'select 4') })
    expect(await versions()).toHaveLength(1)
    expect(await rows('select * from iu_core.v_c_dear')).toEqual([{ item: 'tea', price: 4 }])
    expect(await rows(`select file from iu_core.schema_routine where object_name = 'fn_price'`)).toEqual([
      { file: 'market/prices.sql' },
    ])
  })
})

it('takes back a grant that left the file', async () => {
  expect(await privileges('iu_core.fn_price(text)')).toEqual([
    { role: 'authenticated', may: 'EXECUTE' },
    { role: 'service_role', may: 'EXECUTE' },
  ])
  await apply({
    [FILE]: PRICE.replace('to authenticated, service_role', 'to service_role'),
    'shop/v_a_items.sql': VIEWS['shop/v_a_items.sql'].replace('to service_role', 'to dot_executor'),
  })
  expect(await privileges('iu_core.fn_price(text)')).toEqual([{ role: 'service_role', may: 'EXECUTE' }])
  expect(await privileges('iu_core.v_a_items')).toEqual([{ role: 'dot_executor', may: 'SELECT' }])
})

it('makes every routine the owner’s and closes it to PUBLIC, though the file does not say so', async () => {
  expect(
    await rows(
      `select proowner::regrole::text as owner, has_function_privilege('anon', oid, 'execute') as public
         from pg_proc where proname = 'fn_price'`,
    ),
  ).toEqual([{ owner: 'workflow_admin', public: false }])
})
