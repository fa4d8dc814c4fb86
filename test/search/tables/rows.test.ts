/** Rows of somebody's own table in search: found with their freshness and lineage, by those who may read them now. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SearchHit } from '../../../src/search/hits.ts'
import { reanalyse } from '../../../src/search/outbox.ts'
import { flushOutbox, listDeadLetters, searchStatus } from '../../../src/search/status.ts'
import { listSearchTables, requireSearchTable } from '../../../src/search/tables.ts'
import { useDatabase } from '../../support/database.ts'
import { createKnowledge, type Knowledge } from '../knowledge.ts'
import { useProjecting } from '../projection-workplace.ts'
import { activate, allowSearch, approve, rehearse, settleTables } from './table-life.ts'

const db = useDatabase()
const place = useProjecting(db)
let know: Knowledge
let owner: pg.Client

const keysOf = (hits: readonly SearchHit[]) =>
  hits.map(({ key }) => [key?.region, key?.sku ?? key?.id].filter(Boolean).join('/'))
const find = async (text: string, options = {}) =>
  keysOf((await know.ask(text, { dense: [], ...options })).hits)

beforeAll(async () => {
  know = await createKnowledge(db)
  owner = await db.session('postgres')
  await owner.query(`
    create table products (
      sku text, region text, name text, description text, brand text, price numeric, primary key (region, sku));
    grant select on products to authenticated, stagedoor_reviewer, stagedoor_agent, dot_executor`)
  await owner.query(`
    insert into products values
      ('A-1', 'eu', 'Tent for two', 'A light shelter for the mountains.', 'ACME', 120),
      ('A-2', 'eu', 'Stove', 'Boils water in the wind.', 'Globex', 60.50),
      ('A-1', 'us', 'Tent for four', 'A roomy shelter for a family.', 'ACME', 220)`)
  await allowSearch(owner, 'products')
})

describe('languages', () => {
  it('are found out for each row, where nobody said the language of the table', async () => {
    await owner.query(`
      create table rules (id int primary key, rule text);
      grant select on rules to authenticated;
      insert into rules values (1, 'Jeder hat dreißig Urlaubstage, und das ist nicht wenig.'),
        (2, 'Сотруднику положено двадцать дней отпуска каждый год.'), (3, 'The refunds are paid by the bank.')`)
    await allowSearch(owner, 'rules')
    const code = await activate(db, { source: 'rules', text: ['rule'], workspace_id: know.workspace })
    await settleTables(place)
    expect(await find('Urlaubstag')).toEqual(['1'])
    expect(await find('отпуск')).toEqual(['2'])
    expect(await find('refunding')).toEqual(['3'])
    expect(await find('refunding', { filters: { language: ['de'] } })).toEqual([])
    await db.owner('select iu_core.fn_search_table_remove($1)', [code])
    await settleTables(place)
  })
})

describe('a table', () => {
  it('is not searched before a second person has reviewed and activated it, and then its rows are', async () => {
    const code = await rehearse(db, {
      source: 'public.products',
      text: ['name', 'description'],
      title: 'name',
      filter: ['brand', 'price'],
      workspace_id: know.workspace,
    })
    expect(code).toBe('products')
    expect(await listSearchTables(db.pool('stagedoor_worker'))).toMatchObject([
      { code, source: 'public.products', state: 'dry_run', key_columns: ['region', 'sku'] },
    ])
    await owner.query(`update products set price = 121 where sku = 'A-1' and region = 'eu'`)
    await settleTables(place)
    expect(await find('shelter')).toEqual([])
    await approve(db, code)
    await settleTables(place)
    expect(await requireSearchTable(db.pool('stagedoor_worker'), 'products')).toMatchObject({
      state: 'active',
      scan_state: 'done',
      scanned: '3',
      scan_total: '3',
      reviewed_by: 'second-person',
    })
    const { hits, warnings } = await know.ask('shelter mountains', { dense: [] })
    expect(warnings).toEqual([])
    expect(hits[0]).toMatchObject({
      source: 'row',
      table: 'public.products',
      key: { region: 'eu', sku: 'A-1' },
      columns: { brand: 'ACME', price: '121' },
      title: 'Tent for two',
      snippet: 'A light shelter for the mountains.',
      freshness: 'current',
      warnings: [],
    })
    expect(hits).toHaveLength(2)
  })
})

describe('changes of rows', () => {
  it('are found after the quiet window: edited, inserted, renamed; deleted ones never', async () => {
    await owner.query(
      `update products set description = 'A heavy igloo.' where sku = 'A-1' and region = 'us'`,
    )
    const waiting = await know.ask('roomy shelter family', { dense: [] })
    expect(waiting.hits[0]).toMatchObject({
      key: { region: 'us' },
      freshness: 'pending',
      snippet: 'A heavy igloo.',
    })
    await settleTables(place)
    expect(await find('igloo')).toEqual(['us/A-1'])
    expect(await find('roomy')).toEqual([])
    await owner.query(`delete from products where sku = 'A-2'`)
    expect(await find('stove')).toEqual([])
    await owner.query(`insert into products values ('A-9', 'eu', 'Kayak', 'For rivers.', 'ACME', 900)`)
    await owner.query(`update products set sku = 'A-10' where sku = 'A-9'`)
    await settleTables(place)
    expect(await find('kayak')).toEqual(['eu/A-10'])
    expect(
      await db.owner(
        `select from iu_core.search_chunk c join iu_core.search_row r using (row_id) where r.key = '{eu,A-2}'`,
      ),
    ).toEqual([])
  })
  it('of columns that search does not read enqueue nothing', async () => {
    await owner.query(`alter table products add column stock int`)
    await owner.query(`update products set stock = 5`)
    expect(await db.owner('select from iu_core.search_row_change')).toEqual([])
  })
  it('wait for the quiet window, and a flush ends it', async () => {
    await owner.query(`update products set description = 'For wild rivers.' where sku = 'A-10'`)
    const worker = db.pool('stagedoor_worker')
    await worker.query('select iu_core.fn_search_rows_collect()')
    const [row] = await db.owner<{ due: boolean; operation: string }>(
      `select earliest_run_at <= now() as due, operation from iu_core.vector_outbox where status = 'pending'`,
    )
    expect(row).toEqual({ due: false, operation: 'upsert' })
    expect(await flushOutbox(worker, { workspace: know.workspace })).toBe(1)
    await settleTables(place)
    expect(await find('wild')).toEqual(['eu/A-10'])
  })
  it('a truncated table has no row left in search', async () => {
    await owner.query(`create table brands (id int primary key, about text); grant select on brands to authenticated;
      insert into brands select n, 'brand number ' || n from generate_series(1, 30) n`)
    await allowSearch(owner, 'brands')
    await activate(db, { source: 'brands', text: ['about'], workspace_id: know.workspace })
    await settleTables(place)
    expect(await find('brand', { limit: 100 })).toHaveLength(30)
    await owner.query('truncate brands')
    expect(await find('brand', { limit: 100 })).toEqual([])
    await settleTables(place)
    expect(
      await db.owner(
        `select from iu_core.search_chunk c join iu_core.search_row r using (row_id) join iu_core.search_table t using (table_id) where t.code = 'brands'`,
      ),
    ).toEqual([])
  })
})

describe('filters', () => {
  it('narrow by the values of projected columns, and by table', async () => {
    expect(await find('tent', { filters: { columns: { brand: 'ACME' } } })).toHaveLength(2)
    expect(await find('tent', { filters: { columns: { brand: ['Globex', 'Initech'] } } })).toEqual([])
    expect(await find('tent', { filters: { columns: { brand: 'ACME', price: '121' } } })).toEqual(['eu/A-1'])
    expect(await find('tent', { filters: { table: 'products' } })).toHaveLength(2)
    expect(await find('tent', { filters: { source: 'unit' } })).toEqual([])
    expect(await find('tent', { filters: { source: 'row' } })).toHaveLength(2)
  })
  it('are counted by the values of those columns', async () => {
    const { facets } = await know.ask('tent', { dense: [], facets: true })
    const brands = facets!.filter(({ column }) => column === 'brand')
    expect(brands).toEqual([{ filter: 'column', column: 'brand', value: 'ACME', count: 2 }])
  })
  it('on a column that no table projects is an error that lists the columns', async () => {
    await expect(know.ask('tent', { filters: { columns: { colour: 'red' } } })).rejects.toMatchObject({
      message: 'There is no filter column colour; there are brand, price',
    })
    await expect(know.ask('tent', { filters: { table: 'nowhere' } })).rejects.toMatchObject({
      message: 'There is no table nowhere in search',
    })
  })
})

describe('status', () => {
  it('counts rows, tables and dead letters', async () => {
    const status = await searchStatus(db.pool('stagedoor_worker'))
    expect(status.chunks).toMatchObject({ rows: 3 })
    expect(status.tables).toEqual({ active: 2, scanning: 0, stopped: [], changes: 0 })
    expect(await listDeadLetters(db.pool('stagedoor_worker'), { workspace: know.workspace })).toEqual([])
  })
})

describe('rows whose words an older version analysed', () => {
  it('are read in their table and analysed again', async () => {
    const worker = db.pool('stagedoor_worker')
    await db.owner('update iu_core.search_chunk set analysis = 0 where row_id is not null')
    for (let after: number | undefined = 0; after !== undefined; ) after = await reanalyse(place.pool, after)
    expect((await searchStatus(worker)).chunks.to_analyse).toBe(3)
    await settleTables(place)
    expect((await searchStatus(worker)).chunks.to_analyse).toBe(0)
    expect(await find('igloo')).toEqual(['us/A-1'])
  })
})
