/** A parent in the same file that a line may lack: the row gets NULL where it would refer to it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { completeDataset, type Dataset, type DatasetDeclaration } from '../../src/ingest/datasets/dataset.ts'
import { checkDataset } from '../../src/ingest/datasets/declare.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { backEndActor } from '../../src/ingest/pipeline.ts'
import { repairUpload } from '../../src/ingest/repair.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import { useDatabase } from '../support/database.ts'
import { useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db)
afterAll(closeDuck)

const orders = (name: string, id: string, key: string[] = ['number']): DatasetDeclaration => ({
  name,
  fields: {
    number: { type: 'id', aliases: ['Order'] },
    total: { type: 'money', aliases: ['Total'] },
    agent: { type: 'id', aliases: ['Agent'] },
    agent_name: { type: 'text', aliases: ['Agent name'] },
  },
  rows: [
    {
      name: 'agent',
      target: `public.${name}_agents`,
      id,
      key: ['code'],
      identity: { id: 'agent' },
      optional: true,
      columns: { code: 'agent', name: 'agent_name' },
    },
    {
      name: 'order',
      target: `public.${name}`,
      key,
      columns: { number: 'number', total: 'total', agent_id: '$agent' },
    },
  ],
})
const create = (name: string, id: string, unique: string) => `
  create table ${name}_agents (id ${id} primary key, code text unique not null, name text);
  create table ${name} (number text not null, total numeric, agent_id ${id.startsWith('uuid') ? 'uuid' : 'bigint'} references ${name}_agents, ${unique})`

let sold: Dataset
let keyed: Dataset
beforeAll(async () => {
  await db.owner(create('sold', 'uuid default gen_random_uuid()', 'unique (number)'))
  await db.owner(
    create('keyed', 'bigint generated always as identity', 'unique nulls not distinct (agent_id, number)'),
  )
  sold = completeDataset(orders('sold', 'id'))
  keyed = completeDataset(orders('keyed', 'id', ['agent_id', 'number']))
  for (const dataset of [sold, keyed])
    await trial.register(dataset, { approvalRequired: false, workspaceId: trial.workspace })
})

let files = 0
const staged = async (dataset: Dataset, lines: string[]) =>
  (
    await trial.file(`Order,Total,Agent,Agent name\n${lines.map((line) => `${line}\n`).join('')}`, {
      name: `${++files}.csv`,
      dataset: dataset.name,
      platform: 'file',
      clientId: undefined,
    })
  ).upload_id
const planOf = async (upload: string) => {
  const [plan] = await db.owner<{ digest: string; totals: object; refusal: string | null }>(
    'select digest, totals, control, refusal from iu_core.ingest_plan where upload_id = $1',
    [upload],
  )
  return plan!
}
const promote = (upload: string, digest: string) =>
  trial.service('select iu_core.fn_ingest_promote($1, $2)', [upload, digest])
const written = (table: string) =>
  db.owner(
    `select o.number, a.code as agent, a.name from ${table} o left join ${table}_agents a on a.id = o.agent_id order by 1, 2`,
  )

it('a line without it is planned, promoted with NULL, traced and undone', async () => {
  await db.owner(`insert into sold_agents (code, name) values ('a1', 'Ann');
    insert into sold (number, total, agent_id) select 'old', 1, id from sold_agents`)
  const before = await trial.image(['sold', 'sold_agents'])
  const upload = await staged(sold, ['1,10,a1,Ann', '2,20,,', '3,30,b2,Bob', 'old,1,,', '4,40,,Carl'])
  const strict = await trial.plan(upload)
  expect(strict.refusal).toBe('1 of 5 lines is invalid')
  const [wrong] = await db.owner<{ errors: object[] }>(
    `select validation_errors as errors from staging_rows where upload_id = $1 and validation_status = 'invalid'`,
    [upload],
  )
  expect(wrong!.errors).toMatchObject([
    { line: 6, field: 'agent', rule: 'required.missing', message: 'agent is empty, but agent name is not.' },
  ])
  const plan = await trial.plan(upload, { onInvalid: 'skip', threshold: 0 })
  expect(plan.totals).toEqual({
    agent: { unchanged: 1, insert: 1 },
    order: { insert: 3, update: 1, skipped: 1 },
  })
  await promote(upload, plan.digest)
  expect(await written('sold')).toEqual([
    { number: '1', agent: 'a1', name: 'Ann' },
    { number: '2', agent: null, name: null },
    { number: '3', agent: 'b2', name: 'Bob' },
    { number: 'old', agent: null, name: null },
  ])
  const lineage = await trial.service<{ upload_id: string; line: number }>(
    'select * from iu_core.fn_ingest_lineage($1, $2, null, $3)',
    [trial.workspace, 'public.sold', JSON.stringify({ number: '2' })],
  )
  expect(lineage.map(({ upload_id, line }) => [upload_id, line])).toEqual([[upload, 3]])
  await trial.undo(upload)
  expect(await trial.image(['sold', 'sold_agents'])).toEqual(before)
})

it.each([
  ['loses its parent', 2, { Agent: '', 'Agent name': '' }],
  ['gets another parent', 4, { Agent: 'c3', 'Agent name': 'Cleo' }],
  ['gets a parent', 3, { Agent: 'b2', 'Agent name': 'Bob' }],
])('a repaired line that %s is planned as the whole file would be', async (_, line, values) => {
  const upload = await staged(sold, ['r1,10,r1,Rae', 'r2,20,,', 'r3,30,b2,Bob'])
  await trial.plan(upload)
  const repaired = await repairUpload(
    db.pool('stagedoor_worker'),
    backEndActor(db.pool('stagedoor_worker'), trial.operator.userId),
    { upload, corrections: [{ line, values }] },
  )
  expect(repaired).toMatchObject({ replanned: 'lines' })
  const updated = await planOf(upload)
  const actions = () =>
    db.owner(
      'select row_type, row_number, action from iu_core.ingest_plan_row where upload_id = $1 order by type_order, row_number',
      [upload],
    )
  const rows = await actions()
  await trial.plan(upload)
  // (New parents get new ids, so the digests differ.)
  expect({ ...updated, digest: '' }).toEqual({ ...(await planOf(upload)), digest: '' })
  expect(rows).toEqual(await actions())
})

it('it may be a part of the key, where the index takes NULLs for equal', async () => {
  const first = await staged(keyed, ['1,10,a1,Ann', '1,20,,', '2,30,,'])
  const plan = await trial.plan(first)
  expect(plan.totals).toEqual({ agent: { insert: 1 }, order: { insert: 3 } })
  await promote(first, plan.digest)
  const before = await trial.image(['keyed', 'keyed_agents'])
  const second = await staged(keyed, ['1,10,a1,Ann', '1,21,,', '3,30,,'])
  const again = await trial.plan(second)
  expect(again.totals).toEqual({ agent: { unchanged: 1 }, order: { unchanged: 1, update: 1, insert: 1 } })
  await promote(second, again.digest)
  await trial.undo(second)
  expect(await trial.image(['keyed', 'keyed_agents'])).toEqual(before)
})

it('a row of the file under it in one line and without it in another is ambiguous', async () => {
  await db.owner(`
    create table maybe_regions (id bigint generated always as identity primary key, code text unique not null);
    create table maybe_shops (id bigint generated always as identity primary key, code text unique not null, region_id bigint references maybe_regions);
    create table maybe_sales (number text primary key, shop_id bigint not null references maybe_shops)`)
  const dataset = completeDataset({
    name: 'maybe',
    fields: { number: { type: 'id' }, shop: { type: 'id' }, region: { type: 'id' } },
    rows: [
      {
        name: 'region',
        target: 'public.maybe_regions',
        id: 'id',
        key: ['code'],
        identity: { id: 'region' },
        optional: true,
        columns: { code: 'region' },
      },
      {
        name: 'shop',
        target: 'public.maybe_shops',
        id: 'id',
        key: ['code'],
        identity: { id: 'shop' },
        columns: { code: 'shop', region_id: '$region' },
      },
      {
        name: 'sale',
        target: 'public.maybe_sales',
        key: ['number'],
        columns: { number: 'number', shop_id: '$shop' },
      },
    ],
  })
  await trial.register(dataset, { approvalRequired: false, workspaceId: trial.workspace })
  const plan = await trial.stagePlanned(
    [
      { number: '1', shop: 'without', region: null },
      { number: '2', shop: 'torn', region: null },
      { number: '3', shop: 'torn', region: 'north' },
      { number: '4', shop: 'with', region: 'south' },
    ],
    { dataset },
    'LENIENT',
  )
  // Nor is a region planned that only refused lines name.
  expect(plan.totals).toEqual({
    region: { insert: 1 },
    shop: { insert: 2, refused: 1 },
    sale: { insert: 2, refused: 2 },
  })
})

it('needs a column that can be NULL, and an identity; without it every line must name its parent', async () => {
  await db.owner(create('strict_sold', 'bigint generated always as identity', 'unique (number)'))
  await db.owner('alter table strict_sold alter agent_id set not null')
  const declared = orders('strict_sold', 'id')
  const options = { approvalRequired: false, workspaceId: trial.workspace }
  const error = await trial.register(completeDataset(declared), options).catch(asStagedoorError)
  expect((error as unknown as { details: { reason: string; statements: string[] } }).details).toMatchObject({
    reason:
      'public.strict_sold.agent_id is NOT NULL, and the dataset says that a line may have no agent ("optional")',
    statements: ['alter table public.strict_sold alter column agent_id drop not null;'],
  })
  declared.rows[1]!.optional = true
  expect(checkDataset(declared)).toEqual([
    'rows.1.optional: it is for a parent with an identity; the last row type is the line itself',
  ])
  delete declared.rows[1]!.optional
  delete declared.rows[0]!.optional
  await trial.register(completeDataset(declared), options)
  const upload = await staged(completeDataset(declared), ['1,10,,'])
  expect((await trial.plan(upload)).refusal).toBe('no line is valid')
})
