/** A repair of few lines where values are looked up in another table. */
import { afterAll, beforeEach, expect, it } from 'vitest'
import { completeDataset } from '../../src/ingest/datasets/dataset.ts'
import { requireDataset } from '../../src/ingest/datasets/registry.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { backEndActor } from '../../src/ingest/pipeline.ts'
import { repairLines, repairUpload } from '../../src/ingest/repair.ts'
import { requireUpload } from '../../src/ingest/uploads.ts'
import type { Queryable } from '../../src/kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db)
afterAll(closeDuck)

const GOODS = completeDataset({
  name: 'goods',
  fields: {
    sku: { type: 'text', aliases: ['SKU'] },
    price: { type: 'money', aliases: ['Price'] },
    kind: { type: 'text', aliases: ['Kind'], lookup: 'kinds' },
  },
  lookups: { kinds: { table: 'public.kinds', by: 'name', value: 'id' } },
  rows: [
    {
      name: 'good',
      target: 'public.goods',
      key: ['sku'],
      columns: { sku: 'sku', price: 'price', kind_id: 'kind' },
    },
  ],
})

beforeEach(async () => {
  await db.owner(`
    drop table if exists public.goods, public.kinds;
    create table public.kinds (id integer primary key, name text not null unique);
    insert into public.kinds values (1, 'tool'), (2, 'toy');
    create table public.goods (
      id bigint generated always as identity primary key, sku text not null unique, price numeric, kind_id integer references public.kinds);
    insert into public.goods (sku, price, kind_id) values ('a', 1, 1), ('b', 2, 2)`)
  await trial.register(GOODS, { approvalRequired: false })
})

let files = 0
const plannedFile = async (mode: 'refuse' | 'skip') => {
  const lines = ['a,5,tool', 'b,2,toy', 'c,7,toys', 'd,8,tool', 'e,9,toy']
  const upload = await trial.file(
    `SKU,Price,Kind,Run\n${lines.map((line) => `${line},${++files}`).join('\n')}\n`,
    {
      dataset: 'goods',
      platform: 'file',
      clientId: undefined,
    },
  )
  await trial.plan(upload.upload_id, { onInvalid: mode, threshold: 0 })
  return upload.upload_id
}
const repair = (upload: string, line: number, values: Record<string, string>) =>
  repairUpload(
    db.pool('stagedoor_worker'),
    backEndActor(db.pool('stagedoor_worker'), trial.operator.userId),
    { upload, corrections: [{ line, values }] },
  )
const planOf = async (upload: string) => {
  const [plan] = await db.owner(
    'select digest, totals, control, refusal, notes from iu_core.ingest_plan where upload_id = $1',
    [upload],
  )
  return plan
}

it.each([
  ['an unknown value by a known one', 4, { Kind: 'toy' }],
  ['a known value by another', 2, { Kind: 'toy' }],
  ['a known value by an unknown one', 5, { Kind: 'tools' }],
  ['a figure', 6, { Price: '11' }],
])('replaces %s: the same plan that planning everything again makes', async (_, line, values) => {
  for (const mode of ['refuse', 'skip'] as const) {
    const upload = await plannedFile(mode)
    expect(await repair(upload, line, values)).toMatchObject({ replanned: 'lines' })
    const updated = await planOf(upload)
    await trial.plan(upload, { onInvalid: mode, threshold: 0 })
    expect(updated).toEqual(await planOf(upload))
  }
})

it.each([
  ['has the value by now', `insert into public.kinds values (3, 'toys')`, 4, { Price: '3' }],
  [
    'has another row for it',
    `update public.kinds set name = case id when 1 then 'toy' else 'tool' end`,
    5,
    { Price: '3' },
  ],
])('plans everything again where the table %s', async (_, change, line, values) => {
  const upload = await plannedFile('skip')
  // Unique at the end of the statement.
  await db.owner('alter table public.kinds drop constraint kinds_name_key')
  await db.owner(change)
  await db.owner('alter table public.kinds add constraint kinds_name_key unique (name)')
  expect(await repair(upload, line, values)).toMatchObject({
    replanned: 'whole',
    reason: expect.stringContaining('has changed since the plan was made'),
  })
  const updated = await planOf(upload)
  await trial.plan(upload, { onInvalid: 'skip', threshold: 0 })
  expect(updated).toEqual(await planOf(upload))
})

it('reads the corrected lines and their blocks, not the whole upload', async () => {
  // Statistics that the server takes by itself, of a table that is being filled, would make the plans a matter of chance.
  for (const table of ['iu_core.ingest_staged_row', 'iu_core.ingest_plan_row'])
    await db.owner(`alter table ${table} set (autovacuum_enabled = false)`)
  const lines = Array.from({ length: 6000 }, (_, n) => `s${n},${n % 90},${n % 2 ? 'tool' : 'toy'},${++files}`)
  const upload = await trial.file(`SKU,Price,Kind,Run\n${lines.join('\n')}\n`, {
    dataset: 'goods',
    platform: 'file',
    clientId: undefined,
  })
  await trial.plan(upload.upload_id, { onInvalid: 'skip', threshold: 0 })
  for (const table of ['iu_core.ingest_staged_row', 'iu_core.ingest_plan_row'])
    await db.owner(`analyze ${table}`)
  const corrections = [
    { line: 3000, values: { Price: '11' } },
    { line: 3001, values: { Kind: 'tools' } },
  ]
  // More often than PostgreSQL plans a statement for its parameters, in one session.
  const read = await inTransaction(
    db.pool('stagedoor_worker'),
    async (client) => {
      // Of a small table the planner may read everything because that is cheaper; what counts is that the index can serve.
      await client.query('set local enable_seqscan = off')
      const dataset = await requireDataset(client, 'goods', 'file')
      const found = await requireUpload(client, upload.upload_id)
      const repairedBy = trial.operator.userId
      const counts: Record<string, number>[] = []
      for (let n = 0; n < 8; n++) {
        const before = await rowsRead(client)
        expect(
          await repairLines(client, { upload: found, dataset, corrections, repairedBy, replan: true }),
        ).toMatchObject({ replanned: 'lines' })
        const after = await rowsRead(client)
        counts.push(
          Object.fromEntries(Object.keys(after).map((table) => [table, after[table]! - before[table]!])),
        )
      }
      return counts
    },
    SERVICE_ROLE,
  )
  for (const counts of read) {
    expect(counts.ingest_staged_row).toBeLessThan(100)
    // One block of 1,024 rows.
    expect(counts.ingest_plan_row).toBeLessThan(1200)
  }
  const updated = await planOf(upload.upload_id)
  await trial.plan(upload.upload_id, { onInvalid: 'skip', threshold: 0 })
  expect(updated).toEqual(await planOf(upload.upload_id))
})

/** Rows that this transaction has read so far, by table. */
async function rowsRead(client: Queryable): Promise<Record<string, number>> {
  const { rows } = await client.query<{ relname: string; read: string }>(
    `select relname, seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
      where relname in ('ingest_staged_row', 'ingest_plan_row')`,
  )
  return Object.fromEntries(rows.map(({ relname, read }) => [relname, Number(read)]))
}
