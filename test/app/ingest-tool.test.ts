import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ingestTool } from '../../src/app/tools/ingest.ts'
import type { ToolContext } from '../../src/executions/tools/tool.ts'
import { createStagedoor, defineDataset, type Stagedoor } from '../../src/index.ts'
import type { Json, JsonObject } from '../../src/kernel/json.ts'
import { contextOf } from '../executions/run-command/command.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('ingest-tool')
const folder = join(home, 'files')
let stagedoor: Stagedoor
let workspace: string
let ada: Member
let reviewer: Member

const dataset = (name: string, platforms: Record<string, { title: string }>) =>
  defineDataset({
    name,
    title: 'Price list',
    version: 1,
    platforms,
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
  mkdirSync(folder)
  await db.owner(`create table public.prices (
    id uuid primary key, workspace_id uuid not null, sku text not null, price numeric(12, 2), unique (workspace_id, sku))`)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  workspace = await createWorkspace(db)
  ada = await createMember(db, workspace, 'operator')
  reviewer = await createMember(db, workspace, 'reviewer')
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
  const file = { file: { title: 'File' } }
  await stagedoor.ingest.datasets.register(dataset('prices', file), { approvalRequired: false })
  await stagedoor.ingest.datasets.register(dataset('reviewed', file), { approvalRequired: true })
  await stagedoor.ingest.datasets.register(dataset('many', { ...file, shop: { title: 'Shop' } }))
})
afterAll(() => stagedoor.close())

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const call = (args: JsonObject, context: Partial<ToolContext> = {}) =>
  ingestTool(stagedoor.ingest, folder)(
    undefined,
    args,
    contextOf({ workspace_id: workspace, started_by: ada.userId, ...context }),
  ) as Promise<Record<string, Json>>
const rows = () => db.owner('select sku, price from public.prices order by sku')

describe('a file', () => {
  it('is read and planned in the name of whoever started it, and the same file continues from its status', async () => {
    write('prices.csv', 'SKU,Price\nA,1\nB,2\n')
    const args = { file: 'prices.csv', dataset: 'prices' }
    const planned = await call(args)
    expect(planned).toMatchObject({
      status: 'planned',
      created: true,
      counts: { lines: 2, valid: 2, invalid: 0 },
      plan: { price: { insert: 2 } },
      approval_required: false,
    })
    expect(await stagedoor.ingest.get(planned.upload_id as string)).toMatchObject({
      workspace_id: workspace,
      uploaded_by: ada.userId,
    })
    expect(await rows()).toEqual([])
    const promoted = await call({ ...args, until: 'promoted' })
    expect(promoted).toMatchObject({ status: 'promoted', created: false, upload_id: planned.upload_id })
    expect(await rows()).toHaveLength(2)
    expect(await call({ ...args, until: 'promoted' })).toMatchObject({ status: 'promoted', created: false })
  })

  it('with lines that are wrong is not promoted, unless they may be skipped', async () => {
    write('bad.csv', `SKU,Price\nC,x\n${Array.from({ length: 20 }, (_, n) => `D${n},1`).join('\n')}\n`)
    const args = { file: 'bad.csv', dataset: 'prices', until: 'promoted' }
    const [before] = await stagedoor.ingest.list({ limit: 1 })
    await expect(call(args)).rejects.toMatchObject({ code: 'plan_refused', retryable: false })
    const [refused] = await stagedoor.ingest.list({ limit: 1 })
    expect(refused!.upload_id).not.toBe(before?.upload_id)
    await expect(call(args)).rejects.toThrow(`stagedoor upload problems ${refused!.upload_id}`)
    write('bad2.csv', `SKU,Price\nE,x\n${Array.from({ length: 20 }, (_, n) => `F${n},1`).join('\n')}\n`)
    expect(await call({ ...args, file: 'bad2.csv', on_invalid: 'skip' })).toMatchObject({
      status: 'promoted',
      counts: { valid: 20, invalid: 1 },
    })
  })

  it('whose plan needs an approval waits for it: submitted, approved by a person, promoted', async () => {
    write('reviewed.csv', 'SKU,Price\nZ,9\n')
    const args = { file: 'reviewed.csv', dataset: 'reviewed' }
    const submitted = await call({ ...args, until: 'submitted' })
    expect(submitted).toMatchObject({
      status: 'planned',
      approval_required: true,
      review_record_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    await expect(call({ ...args, until: 'promoted' })).rejects.toThrow('a step that waits for the approval')
    const upload = await stagedoor.ingest.get(submitted.upload_id as string)
    await db.as(reviewer, (client) =>
      client.query(`select iu_core.fn_ingest_approve($1, $2, array['changes'])`, [
        submitted.upload_id,
        upload!.plan_digest,
      ]),
    )
    expect(await call({ ...args, until: 'promoted' })).toMatchObject({ status: 'promoted' })
    expect(await db.owner(`select price from public.prices where sku = 'Z'`)).toEqual([{ price: '9.00' }])
  })
})

describe('its client', () => {
  const sales = defineDataset({
    name: 'sales',
    title: 'Sales',
    version: 1,
    platforms: { file: { title: 'File' } },
    client: { table: 'public.shops', id: 'id', name: 'title', workspace: 'workspace_id' },
    fields: { sku: { type: 'id', aliases: { any: ['SKU'] }, required: true } },
    rows: [
      {
        name: 'sale',
        target: 'public.sales',
        id: 'id',
        key: ['shop_id', 'sku'],
        requires: ['sku'],
        columns: { shop_id: '$client', sku: 'sku' },
      },
    ],
  })
  const northwind = '00000000-0000-4000-8000-000000000001'
  const add = (id: string, title: string) =>
    db.owner('insert into public.shops values ($1, $2, $3)', [id, workspace, title])
  beforeAll(async () => {
    await db.owner(`create table public.shops (id uuid primary key, workspace_id uuid not null, title text not null);
      create table public.sales (id uuid primary key, shop_id uuid not null, sku text not null, unique (shop_id, sku));
      grant select on public.shops to service_role`)
    await stagedoor.ingest.datasets.register(sales, { approvalRequired: false })
    write('sales.csv', 'SKU\nA\n')
  })

  it('may be left out where there is one, and is given by its name or id', async () => {
    const args = { file: 'sales.csv', dataset: 'sales' }
    await add(northwind, 'Northwind')
    const { upload_id } = await call(args)
    expect(await stagedoor.ingest.get(upload_id as string)).toMatchObject({ client_id: northwind })
    await add('00000000-0000-4000-8000-000000000002', 'Southwind')
    expect(await call({ ...args, client: 'Northwind' })).toMatchObject({ upload_id, created: false })
    expect(await call({ ...args, client: northwind })).toMatchObject({ upload_id })
    await expect(call(args)).rejects.toThrow('name one: Northwind, Southwind')
    await expect(call({ ...args, client: 'Nobody' })).rejects.toThrow('no client Nobody; it has Northwind')
    await expect(call({ file: 'prices.csv', dataset: 'prices', client: 'Northwind' })).rejects.toThrow(
      'has no clients',
    )
  })
})

describe('refused is', () => {
  it.each([
    ['a file outside the folder', { file: '../x.csv', dataset: 'prices' }, 'is not a path below'],
    ['an unknown dataset', { file: 'prices.csv', dataset: 'nothing' }, 'There is no dataset nothing'],
    [
      'a platform left out where there are several',
      { file: 'prices.csv', dataset: 'many' },
      'name one: file, shop',
    ],
    [
      'another end',
      { file: 'prices.csv', dataset: 'prices', until: 'approved' },
      'must be one of staged, planned',
    ],
    [
      'a share over 1',
      { file: 'prices.csv', dataset: 'prices', threshold: 2 },
      'must be a share from 0 to 1',
    ],
  ])('%s', async (_, args, message) => {
    await expect(call(args)).rejects.toThrow(message)
  })

  it('another workspace than the execution’s, and none', async () => {
    const args = { file: 'prices.csv', dataset: 'prices' }
    const other = await createWorkspace(db, 'Other')
    await expect(call({ ...args, workspace_id: other })).rejects.toThrow('the workspace of this execution')
    await expect(call(args, { workspace_id: null })).rejects.toThrow('start it with --workspace')
  })
})
