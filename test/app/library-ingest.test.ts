/** The library's way of an upload: a stream of records with a cursor, a rule in TypeScript, everything up to the undo. */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createStagedoor, defineDataset, type Stagedoor } from '../../src/index.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('library-ingest')
let stagedoor: Stagedoor
let workspace: string

const prices = defineDataset({
  name: 'prices',
  title: 'Price list',
  version: 1,
  platforms: { file: { title: 'File' } },
  fields: {
    sku: { type: 'id', aliases: { any: ['SKU'] }, required: true },
    price: { type: 'money', aliases: { any: ['Price'] }, required: true, min: 0 },
  },
  rows: [
    {
      name: 'price',
      target: 'public.prices',
      id: 'id',
      key: ['workspace_id', 'sku'],
      requires: ['sku', 'price'],
      columns: { workspace_id: '$workspace', sku: 'sku', price: 'price' },
    },
  ],
})

beforeAll(async () => {
  await db.owner(`create table public.prices (
    id uuid primary key, workspace_id uuid not null, sku text not null, price numeric(12, 2), unique (workspace_id, sku))`)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  workspace = await createWorkspace(db)
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
  await stagedoor.ingest.datasets.register(prices, { approvalRequired: false })
})
afterAll(() => stagedoor.close())
afterEach(() => db.owner('delete from public.prices'))

const options = () => ({ dataset: 'prices', platform: 'file', workspaceId: workspace })

async function* pull(...records: object[]) {
  yield* records
}

it('takes a stream of records, and its cursor is committed with the promotion', async () => {
  const cursor = { name: 'since', value: { page: 2 } }
  const where = { ...options(), name: 'since' }
  const planned = await stagedoor.ingest.run(
    { records: pull({ sku: 9007199254740993n, price: '12.50' }, { sku: 'B-2', price: 3 }) },
    { ...options(), cursor, until: 'planned' },
  )
  expect(planned.upload.plan_totals).toEqual({ price: { insert: 2 } })
  expect(await stagedoor.ingest.cursor(where)).toBeUndefined()

  const { upload_id, plan_digest } = planned.upload
  await stagedoor.ingest.promote(upload_id, plan_digest!)
  expect(await stagedoor.ingest.cursor(where)).toEqual({ page: 2 })
  expect(await db.owner('select sku, price from public.prices order by sku')).toEqual([
    { sku: '9007199254740993', price: '12.50' },
    { sku: 'B-2', price: '3.00' },
  ])
  const [row] = await stagedoor.ingest.lineage(upload_id)
  expect(await stagedoor.ingest.lineageOf(workspace, 'public.prices', { id: row!.target_id! })).toMatchObject(
    [{ upload_id, line: 1, action: 'insert', file_name: 'records.jsonl' }],
  )
  expect(await stagedoor.ingest.undo(upload_id)).toMatchObject({ undo_totals: { price: { reversed: 2 } } })
  expect(await db.owner('select from public.prices')).toEqual([])
})

it('runs a rule in TypeScript over a file and over a repair alike, and says that it is slower', async () => {
  const dataset = {
    ...prices,
    name: 'checked_prices',
    check: (record: Record<string, unknown>) =>
      record.price === 13
        ? [
            {
              line: 0,
              column: 'Price',
              field: 'price',
              value: '13',
              rule: 'price.unlucky',
              message: 'Not 13.',
              suggestion: 'Take 12.',
            },
          ]
        : [],
  }
  await stagedoor.ingest.datasets.register(dataset, { approvalRequired: false })
  const { upload } = await stagedoor.ingest.run(
    { records: pull({ sku: 'A', price: 13 }, { sku: 'B', price: 1 }) },
    { ...options(), dataset: 'checked_prices', until: 'planned' },
  )
  expect(upload).toMatchObject({
    valid_count: 1,
    invalid_count: 1,
    plan_refusal: expect.stringContaining('is invalid'),
  })
  expect(upload.notes.map(({ rule }) => rule)).toContain('dataset.custom_rule')
  const { upload: still } = await stagedoor.ingest.repair(
    upload.upload_id,
    [{ line: 1, values: { price: '13.00' } }],
    'ann',
  )
  expect(still).toMatchObject({ invalid_count: 1 })
  const { upload: mended, replanned } = await stagedoor.ingest.repair(
    upload.upload_id,
    [{ line: 1, values: { price: '12' } }],
    'ann',
  )
  expect(mended).toMatchObject({
    status: 'planned',
    plan_refusal: null,
    valid_count: 2,
    invalid_count: 0,
    changed_by: expect.arrayContaining(['ann']),
  })
  expect(replanned).not.toBeNull()
  const edits = [{ column: 'price', from: '12', to: '11' }]
  expect(await stagedoor.ingest.repair(upload.upload_id, { edits }, 'ann', { dryRun: true })).toMatchObject({
    lines: 1,
    cells: 1,
    dry_run: true,
    replanned: null,
    upload: { plan_digest: mended.plan_digest },
  })
})

it('gets an error about a table that does not fit, with the statement that repairs it', async () => {
  await db.owner(
    'create table public.loose (id uuid primary key, workspace_id uuid not null, sku text not null, price numeric)',
  )
  const loose = { ...prices, name: 'loose', rows: [{ ...prices.rows[0]!, target: 'public.loose' }] }
  const [problem] = await stagedoor.ingest.datasets.check(loose)
  expect(problem).toEqual({
    problem: 'public.loose has no unique index over workspace_id, sku',
    remedy: expect.stringMatching(/^create unique index on (public\.)?loose \(workspace_id, sku\)/),
  })
  await expect(stagedoor.ingest.datasets.register(loose)).rejects.toMatchObject({ code: 'dataset_invalid' })
  await db.owner(problem!.remedy!)
  expect(await stagedoor.ingest.datasets.check(loose)).toEqual([])
})

it('refuses a declaration that cannot be used, also one that was not made by defineDataset', async () => {
  const { register, check } = stagedoor.ingest.datasets
  const lookahead = {
    ...prices,
    fields: { ...prices.fields, sku: { ...prices.fields.sku!, pattern: '(?=x)' } },
  }
  const contradictory = { ...prices, rows: [{ ...prices.rows[0]!, key: ['elsewhere'] }] }
  for (const [dataset, said] of [
    [lookahead, /fields\.sku\.pattern: not a regular expression of RE2/],
    [contradictory, /rows\.0\.key: elsewhere is not among its columns/],
  ] as const) {
    await expect(register(dataset)).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringMatching(said),
    })
    expect(await check(dataset)).toEqual([{ problem: expect.stringMatching(said), remedy: null }])
  }
})

it('keeps what does not fit into memory in its home, and closes what read the files with itself', async () => {
  const { queryDuck, runDuck } = await import('../../src/ingest/duckdb.ts')
  const own = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
  // What an earlier test opened is closed first: the folder is settled when it is opened.
  await stagedoor.close()
  await own.ingest.run({ records: pull({ sku: 'C-1', price: 1 }) }, { ...options(), until: 'planned' })
  await runDuck('CREATE TABLE kept AS SELECT 1 AS one')
  const [setting] = await queryDuck<{ folder: string }>("SELECT current_setting('temp_directory') AS folder")
  expect(setting!.folder.startsWith(join(home, 'spool', 'duckdb-'))).toBe(true)
  await own.close()
  await expect(queryDuck('FROM kept')).rejects.toThrow(/kept/)
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
})
