/** Registration says what is missing, with the statement that mends it: run, and the dataset can be registered. */
import { describe, expect, it } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { type DatasetProblem, datasetProblems } from '../../src/ingest/datasets/registry.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { PRICES, TRIAL, useTrial } from '../support/ingest-rows.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const trial = useTrial(db)

const problems = (dataset: Dataset): Promise<DatasetProblem[]> =>
  inTransaction(db.pool(MIGRATOR), (client) => datasetProblems(client, dataset))
const over = (table: string, changes: Partial<Dataset['rows'][number]> = {}): Dataset => ({
  ...PRICES,
  name: 'candidate',
  rows: [
    {
      ...PRICES.rows[0]!,
      target: `public.${table}`,
      key: ['workspace_id', 'sku'],
      columns: { workspace_id: '$workspace', sku: 'sku', price: 'price' },
      ...changes,
    },
  ],
})

/** Figures by day whose only way to a workspace is their group. */
function byParent(table: string, group: Partial<Dataset['rows'][number]> = {}): Dataset {
  const [groups, , figures] = TRIAL.rows
  return {
    ...TRIAL,
    name: 'candidate',
    rows: [
      { ...groups!, ...group },
      {
        ...figures!,
        target: `public.${table}`,
        key: ['group_id', 'day'],
        columns: { group_id: '$group', day: 'day' },
      },
    ],
  }
}

async function run(sql: string): Promise<void> {
  const superuser = await db.session('postgres')
  await superuser.query(sql)
  await superuser.end()
}

/** Table as it is, what is said, whether the remedies are statements. */
const CASES: [string, string, Dataset, RegExp][] = [
  ['a missing table', 'select 1', over('none_such'), /public.none_such does not exist/],
  ['a missing table with an id', 'select 1', over('none_such_id', { id: 'id' }), /does not exist/],
  [
    'a missing column',
    'create table lacking (workspace_id uuid not null, sku text not null, unique (workspace_id, sku)); alter table lacking owner to workflow_admin',
    over('lacking'),
    /lacking has no column price/,
  ],
  [
    'a missing unique index',
    'create table loose (workspace_id uuid not null, sku text not null, price numeric); alter table loose owner to workflow_admin',
    over('loose'),
    /loose has no unique index over workspace_id, sku/,
  ],
  [
    'a partial unique index, which does not do',
    'create table partly (workspace_id uuid not null, sku text not null, price numeric); create unique index on partly (workspace_id, sku) where price > 0; alter table partly owner to workflow_admin',
    over('partly'),
    /no unique index/,
  ],
  [
    'a unique index over more columns',
    'create table wider (workspace_id uuid not null, sku text not null, price numeric, unique (workspace_id, sku, price)); alter table wider owner to workflow_admin',
    over('wider'),
    /no unique index/,
  ],
  [
    'a key that can be NULL under an index that takes NULLs for different',
    'create table nullable (workspace_id uuid not null, sku text, price numeric, unique (workspace_id, sku)); alter table nullable owner to workflow_admin',
    over('nullable'),
    /key of public.nullable can be NULL/,
  ],
  [
    'a generated column',
    'create table generated (workspace_id uuid not null, sku text not null, price numeric generated always as (1) stored, unique (workspace_id, sku)); alter table generated owner to workflow_admin',
    over('generated'),
    /generated.price is a generated column/,
  ],
  [
    'an identity column',
    'create table numbered (workspace_id uuid not null, sku text not null, price bigint generated always as identity, unique (workspace_id, sku)); alter table numbered owner to workflow_admin',
    over('numbered'),
    /numbered.price is a generated column/,
  ],
  [
    'missing rights on a table of another owner',
    'create table foreigner (workspace_id uuid not null, sku text not null, price numeric, unique (workspace_id, sku))',
    over('foreigner'),
    /may not (select|insert|update|delete) public.foreigner/,
  ],
  [
    'row security of another owner without a policy for us',
    'create table walled (workspace_id uuid not null, sku text not null, price numeric, unique (workspace_id, sku)); alter table walled enable row level security; grant all on walled to workflow_admin',
    over('walled'),
    /Row security of public.walled/,
  ],
  [
    'forced row security of our own',
    'create table forced (workspace_id uuid not null, sku text not null, price numeric, unique (workspace_id, sku)); alter table forced enable row level security, force row level security, owner to workflow_admin',
    over('forced'),
    /Row security of public.forced/,
  ],
  [
    'an id that is not unique',
    'create table doubled (id uuid, workspace_id uuid not null, sku text not null, price numeric, unique (workspace_id, sku)); alter table doubled owner to workflow_admin',
    over('doubled', { id: 'id' }),
    /doubled.id is not unique/,
  ],
  [
    'a schema that we may not use',
    'create schema closed; create table closed.things (workspace_id uuid not null, sku text not null, price numeric, unique (workspace_id, sku)); grant all on closed.things to workflow_admin',
    { ...over('x'), rows: [{ ...over('x').rows[0]!, target: 'closed.things' }] },
    /may not use the schema/,
  ],
  [
    'a key that says whose row it is by a parent that may be missing',
    'create table strays (id uuid primary key, group_id uuid, day date not null, unique nulls not distinct (group_id, day)); alter table strays owner to workflow_admin',
    byParent('strays'),
    /strays.group_id can be NULL.*rows of different workspaces would share keys/,
  ],
  [
    'a missing table whose rows belong to a parent',
    'select 1',
    byParent('none_such_child'),
    /does not exist/,
  ],
  [
    'a client table without its columns',
    'create table people (id uuid primary key); alter table people owner to workflow_admin',
    {
      ...TRIAL,
      name: 'candidate',
      client: { table: 'public.people', id: 'id', workspace: 'team', name: 'title' },
    },
    /people has no column (team|title)/,
  ],
  [
    'a table of uploads that cannot be told of them',
    'create table told (id uuid primary key); alter table told owner to workflow_admin',
    { ...TRIAL, name: 'candidate', uploads: 'public.told' },
    /told has no column status/,
  ],
]

describe.each(CASES)('%s', (_, before, dataset, said) => {
  it('is named, with statements that repair it', async () => {
    await run(before)
    const found = await problems(dataset)
    expect(found.map(({ problem }) => problem).join('; ')).toMatch(said)
    const refused = await trial.register(dataset).catch(asStagedoorError)
    expect(refused).toMatchObject({
      code: 'dataset_invalid',
      details: { statements: found.map(({ remedy }) => remedy) },
    })
    expect(await db.owner(`select from iu_core.ingest_dataset where dataset = 'candidate'`)).toEqual([])
    for (const { remedy } of found) {
      // Tables that are made are Stagedoor's own; rights are given by whoever owns the table.
      if (/^create table/.test(remedy!)) await db.owner(remedy!)
      else await run(remedy!)
    }
    expect(await problems(dataset)).toEqual([])
    await trial.register(dataset)
    await db.owner(`delete from iu_core.ingest_dataset where dataset = 'candidate'`)
  })
})

describe('what no statement repairs is explained in words', () => {
  it.each([
    [
      'a key that does not say whose row it is',
      over('trial_prices', {
        key: ['sku', 'tier', 'day'],
        columns: { workspace_id: '$workspace', sku: 'sku', tier: 'tier', day: 'day' },
      }),
      /rows of different workspaces would share keys/,
    ],
    [
      'a parent that no line can be told to belong to',
      byParent('trial_figures', {
        identity: undefined as never,
        columns: { client_id: '$client', code: 'group_code' },
      }),
      /nor a parent with an identity: rows of different workspaces would share keys/,
    ],
    [
      'a key column that nothing fills',
      over('trial_prices', {
        key: ['workspace_id', 'sku', 'tier', 'day'],
        columns: { workspace_id: '$workspace', sku: 'sku', tier: 'tier' },
      }),
      /day of public.trial_prices is filled from nothing/,
    ],
    [
      'a parent without an id',
      {
        ...TRIAL,
        rows: TRIAL.rows.map(({ id, ...row }) => (row.name === 'item' ? row : { ...row, id: id! })),
      },
      /item_id is the id of item, which has no id column/,
    ],
    [
      'a view',
      { ...over('x'), rows: [{ ...over('x').rows[0]!, target: 'iu_core.v_ingest_upload' }] },
      /is not a table but a view/,
    ],
    [
      'an id that nothing fills',
      over('trial_prices', { id: 'note' }),
      /neither a uuid nor numbered by a sequence/,
    ],
  ] as [string, Dataset, RegExp][])('%s', async (_, dataset, said) => {
    expect((await problems(dataset)).map(({ problem }) => problem).join('; ')).toMatch(said)
  })
})

it('keeps every registration in the audit, and how the dataset was set before', async () => {
  await trial.register(PRICES, { approvalRequired: true, undoWindow: '3 days' })
  await trial.register({ ...PRICES, version: 2 })
  expect(
    await db.owner(
      `select version, approval_required, undo_window::text from iu_core.ingest_dataset where dataset = 'prices'`,
    ),
  ).toEqual([{ version: 2, approval_required: true, undo_window: '3 days' }])
  expect(await db.owner(`select from iu_core.ingest_dataset_audit where dataset = 'prices'`)).toHaveLength(3)
})
