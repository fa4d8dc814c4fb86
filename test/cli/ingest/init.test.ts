import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { useCli } from '../../support/database-cli.ts'
import { createWorkspace } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'

const db = useDatabase()
const { home, cli, file } = useCli(db, 'cli-init')

const PRODUCTS_FILE = [
  'Artikelnummer;Bezeichnung;Preis;Warengruppe;Schlagworte;Verpackungsfarbe;Lieferhinweis',
  'A-1;Säge groß;1.234,50 €;Werkzeug;holz, metall;rot;Palette',
  'A-2;Hammer;9,90 €;Werkzeug;metall;blau;',
  'B-1;Rechen;19,90 €;Garten;;grün;',
  'B-2;Spaten;29,00 €;Garden gnomes;;grün;',
]

beforeAll(async () => {
  await createWorkspace(db)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  await db.owner(`
    create table public.categories (id bigint generated always as identity primary key, name text not null unique);
    insert into public.categories (name) values ('Werkzeug'), ('Garten'), ('Büro');
    create table public.products (
      id bigint generated always as identity primary key, sku text not null unique, name text not null, price numeric(10,2),
      tags text[], meta jsonb, category_id bigint references public.categories, updated_at timestamptz default now());
    insert into public.products (sku, name, price, category_id) values ('A-1', 'Säge', 1200, 1), ('A-2', 'Hammer', 9.90, 1);
    grant usage on schema public to workflow_admin;
    grant select, insert, update, delete on public.products, public.categories to workflow_admin`)
})

describe('profile', () => {
  it('shows what is in a file without a database', async () => {
    const path = file('profile.csv', PRODUCTS_FILE)
    const shown = await runCli(['profile', path], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
    expect(shown).toMatchObject({ code: 0 })
    expect(shown.stdout).toMatch(/4 lines, 7 columns/)
    expect(shown.stdout).toMatch(/Preis +money .* 9\.90 +1234\.50/)
    expect(shown.stdout).toContain('Likely keys: Artikelnummer')
    const { stdout } = await runCli(['profile', path, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ lines: 4, decimal: 'comma', delimiter: ';' })
  })

  it('says which file is not there', async () => {
    expect(await runCli(['profile', join(home, 'none.csv')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no file'),
    })
  })
})

describe('init', () => {
  it('proposes, writes and registers a dataset, plans the file and writes nothing to the table', async () => {
    const path = file('products.csv', PRODUCTS_FILE)
    const output = join(home, 'products.dataset.json')
    const before = await db.owner('select * from public.products order by id')
    const { code, stdout, stderr } = await cli('init', 'public.products', path, '--output', output, '--yes')
    expect({ code, stderr, stdout }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/Artikelnummer +→ +sku/)
    expect(stdout).toMatch(/Warengruppe +→ +category_id +looked up/)
    expect(stdout).toMatch(/left to the database +id \(identity \(always\)\)/)
    expect(stdout).toMatch(/not used +Verpackungsfarbe, Lieferhinweis/)
    expect(stdout).toContain('Nothing was written to your table public.products')
    expect(await db.owner('select * from public.products order by id')).toEqual(before)

    const declared = JSON.parse(readFileSync(output, 'utf8'))
    expect(declared).toMatchObject({
      name: 'products',
      fields: {
        sku: { type: 'text', required: true, aliases: ['Artikelnummer'] },
        price: { type: 'money', scale: 2, precision: 10 },
        tags: { type: 'array', separator: ',' },
        category_id: { type: 'text', lookup: 'categories' },
      },
      lookups: { categories: { table: 'public.categories', by: 'name', value: 'id' } },
      rows: [{ name: 'product', target: 'public.products', key: ['sku'] }],
    })
    expect(existsSync(join(home, declared.$schema))).toBe(true)
  })

  it('lets the next files come without the name of a dataset', async () => {
    const path = file('next.csv', PRODUCTS_FILE.slice(0, 3))
    const ingested = await cli('ingest', path, '--until', 'planned', '--json')
    expect({ ...ingested, stdout: ingested.stdout.slice(0, 400) }).toMatchObject({ code: 0 })
    expect(JSON.parse(ingested.stdout).upload).toMatchObject({ dataset: 'products', invalid_count: 0 })
  })

  it('names an option for each uncertain column, and takes the answers', async () => {
    await db.owner(`create table public.shipments (code text primary key, sent_on date, received_on date, weight numeric);
      grant select, insert, update, delete on public.shipments to workflow_admin`)
    const path = file('shipments.csv', ['Code,Date,Weight', 'S1,2026-01-31,2.5', 'S2,2026-02-01,3'])
    const output = join(home, 'shipments.dataset.json')
    const args = ['init', 'public.shipments', path, '--output', output, '--no-register', '--json']
    const open = JSON.parse((await cli(...args)).stdout)
    expect(open.questions).toEqual([
      expect.objectContaining({ about: 'column', header: 'Date', choices: ['sent_on', 'received_on'] }),
    ])
    expect(Object.keys(open.dataset.fields)).toEqual(['code', 'weight'])
    const answered = JSON.parse((await cli(...args, '--set', 'Date=received_on')).stdout)
    expect(answered.questions).toEqual([])
    expect(answered.dataset.rows[0].columns).toMatchObject({ received_on: 'received_on' })
    const wrong = await cli(...args, '--set', 'Date=arrived')
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('code, sent_on, received_on, weight'),
    })
  })

  it('can be run again with the same outcome', async () => {
    const output = join(home, 'products.dataset.json')
    const path = join(home, 'products.csv')
    expect(await cli('init', 'public.products', path, '--output', output, '--yes')).toMatchObject({ code: 0 })
  })

  it('replaces a dataset of the same name, which may write another table, only with --force', async () => {
    await db
      .pool('postgres')
      .query(`create schema other; grant usage on schema other to workflow_admin, ${MIGRATOR};
      create table other.shipments (code text primary key, weight numeric);
      grant select, insert, update, delete on other.shipments to workflow_admin, ${MIGRATOR}`)
    const path = file('shipments.csv', ['Code,Weight', 'S1,2.5', 'S2,3'])
    const target = async () => {
      const rows = await db.owner<{ target: string }>(
        `select definition #>> '{rows,0,target}' as target from iu_core.ingest_dataset where dataset = 'shipments'`,
      )
      return rows[0]?.target
    }
    const init = (table: string, output: string, ...flags: string[]) =>
      cli('init', table, path, '--output', join(home, output), ...flags)
    expect(await init('public.shipments', 'own.json')).toMatchObject({ code: 0 })
    const refused = await init('other.shipments', 'other.json')
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/dataset shipments already, which writes public\.shipments[\s\S]*--name/),
    })
    expect(existsSync(join(home, 'other.json'))).toBe(false)
    expect(await target()).toBe('public.shipments')
    expect(await init('other.shipments', 'other.json', '--force')).toMatchObject({ code: 0 })
    expect(await target()).toBe('other.shipments')
  })

  it('prints everything that is missing as one script', async () => {
    const owner = db.pool('postgres')
    await owner.query('create schema shop; create table shop.items (sku text primary key, name text)')
    const path = file('items.csv', ['sku,name', 'A,Saw', 'B,Axe'])
    const output = join(home, 'items.dataset.json')
    const { code, stdout } = await cli('init', 'shop.items', path, '--output', output)
    expect({ code, stdout }).toMatchObject({ code: 2 })
    expect(stdout).toMatch(/As one script\n +begin;\n[\s\S]*grant usage on schema shop to workflow_admin;/)
    await owner.query(stdout.slice(stdout.indexOf('begin;'), stdout.indexOf('commit;') + 7))
    expect(await cli('dataset', 'register', output)).toMatchObject({ code: 0 })
  })

  it('refuses a view and a table without a unique key, with the statement that helps', async () => {
    await db.owner(
      `create view public.cheap as select * from public.products; create table public.notes (code text, body text)`,
    )
    const path = file('notes.csv', ['code,body', 'A,one', 'B,two'])
    expect(await cli('init', 'public.cheap', path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is a view'),
    })
    expect(await cli('init', 'public.notes', path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('create unique index on public.notes ("code")'),
    })
    expect(await cli('init', 'public.nothing', path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('public.products'),
    })
  })
})

describe('ingest without the name of a dataset', () => {
  const planned = (...args: string[]) => cli('ingest', ...args, '--until', 'planned', '--json')

  it('finds it by what is set for the file, and by what is remembered', async () => {
    const path = file('tabs.txt', ['Xyz\tWeight', 'S8\t1.5'])
    expect(await planned(path, '--delimiter', 'tab')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('fit none of the datasets'),
    })
    const set = await planned(path, '--delimiter', 'tab', '--set', 'Xyz=code')
    expect(JSON.parse(set.stdout).upload).toMatchObject({ dataset: 'shipments', line_count: 1 })
    expect(await cli('dataset', 'map', 'shipments', '--set', 'Xyz=code')).toMatchObject({ code: 0 })
    const next = file('next-tabs.txt', ['Xyz\tWeight', 'S9\t1.5'])
    const remembered = await planned(next, '--delimiter', 'tab')
    expect(JSON.parse(remembered.stdout).upload).toMatchObject({ dataset: 'shipments' })
  })
})

describe('dataset diff and export', () => {
  it('compare a declaration with the registered one and with its tables, and give it back short', async () => {
    const path = join(home, 'products.dataset.json')
    const exported = await cli('dataset', 'export', 'products')
    const { $schema: _, $init: _init, ...declared } = JSON.parse(readFileSync(path, 'utf8'))
    const { $schema: _schema, ...short } = JSON.parse(exported.stdout)
    expect(short).toEqual({ ...declared, ...(short.title === undefined && { title: undefined }) })
    await db.owner(
      'alter table public.products add column weight numeric; alter table public.products drop column tags cascade',
    )
    declared.fields.price.type = 'decimal'
    writeFileSync(path, JSON.stringify(declared))
    const { stdout } = await cli('dataset', 'diff', path, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      registered: [{ path: 'fields.price.type', change: 'changed', before: 'money', after: 'decimal' }],
      tables: expect.arrayContaining([
        expect.objectContaining({ column: 'tags', change: 'not in the table' }),
        expect.objectContaining({ column: 'weight', change: 'not declared' }),
      ]),
    })
  })

  it('check names what a registered dataset lacks, with the script', async () => {
    const { code, stdout } = await cli('dataset', 'check', 'products', '--json')
    expect(code).toBe(2)
    expect(JSON.parse(stdout).script).toContain('add column tags')
  })
})

describe('init with a long file', () => {
  it('plans the first lines of a long file, and says so', async () => {
    await db.owner(`create table public.readings (id bigint primary key, value numeric);
      grant select, insert, update, delete on public.readings to workflow_admin`)
    const lines = Array.from({ length: 100_001 }, (_, index) => `${index + 1},"${index % 90}\n"`)
    const path = file('readings.csv', ['id,value', ...lines])
    const args = ['init', 'public.readings', path, '--output', join(home, 'readings.dataset.json'), '--yes']
    const { code, stdout, stderr } = await cli(...args)
    expect({ code, stderr, stdout }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/Types and examples are from [0-9,]+ lines, .* found in all 100,001/)
    expect(stdout).toContain('The plan is of the first 10,000 of 100,001 lines')
    expect(stdout).toContain(`stagedoor ingest ${path} --dry-run`)
    const { upload, planned_lines } = JSON.parse((await cli(...args, '--force', '--json')).stdout)
    expect(planned_lines).toBe(10_000)
    expect(upload).toMatchObject({
      file_name: 'readings.csv (first 10,000 of 100,001 lines)',
      line_count: 10_000,
      invalid_count: 0,
      run_mode: 'FULL_DRY_RUN',
    })
  })
})
