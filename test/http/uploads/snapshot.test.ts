/** A snapshot over the API: rows to delete are listed, allowed by a person, approved by another, and brought back. */
import { beforeAll, expect, it } from 'vitest'
import type { Dataset } from '../../../src/ingest/datasets/dataset.ts'
import { useUploads } from './uploads-api.ts'

const uploads = useUploads()
const { db, call } = uploads

const STOCK: Dataset = {
  name: 'stock',
  title: 'Stock',
  version: 1,
  platforms: { file: { title: 'File' } },
  fields: {
    sku: { type: 'id', aliases: { any: ['SKU'] } },
    price: { type: 'money', aliases: { any: ['Price'] } },
  },
  rows: [
    {
      name: 'item',
      target: 'public.stock',
      key: ['workspace_id', 'sku'],
      requires: ['sku'],
      columns: { workspace_id: '$workspace', sku: 'sku', price: 'price' },
      mode: 'snapshot',
    },
  ],
}

beforeAll(async () => {
  await db.owner(`
    create table stock (workspace_id uuid not null, sku text not null, price numeric(10, 2), primary key (workspace_id, sku));
    create table shelves (workspace_id uuid, sku text, foreign key (workspace_id, sku) references stock on delete cascade)`)
  await uploads.ads.register(STOCK, { approvalRequired: true })
  await db.owner(`insert into stock select $1, 'sku-' || n, 1 from generate_series(1, 10) n`, [
    uploads.ads.workspace,
  ])
  await db.owner(`insert into shelves select workspace_id, sku from stock where sku = 'sku-9'`)
})

const rowsOf = async (id: string, query: string) =>
  (await call('GET', `/uploads/${id}/plan/rows?${query}`, 'operator')).body

it('lists what the file lacks page by page, is refused until a person allows it, and undo brings it back', async () => {
  const file = ['SKU,Price', ...Array.from({ length: 8 }, (_, n) => `sku-${n + 1},1.00`)].join('\n')
  const upload = await uploads.upload(file, 'operator', {
    dataset: 'stock',
    platform: 'file',
    client_id: uploads.ads.workspace,
  })
  const { upload_id: id } = upload
  expect(upload).toMatchObject({
    status: 'planned',
    plan_totals: { item: { unchanged: 8, delete: 2 } },
    plan_refusal: expect.stringMatching(/^2 of 10 rows of public.stock .* --max-deleted 0.2/),
    plan_snapshot: {
      in_scope: 10,
      deleted: 2,
      max_deleted: 0.1,
      needed_max_deleted: 0.2,
      too_short: false,
      confirmed: false,
      dependents: [{ table: 'public.shelves', effect: 'delete', rows: 1 }],
    },
  })

  const first = await rowsOf(id, 'action=delete&limit=1')
  expect(first.rows).toMatchObject([
    { action: 'delete', row_number: -2, before: { sku: 'sku-10', price: 1 }, after: null, dependents: null },
  ])
  const second = await rowsOf(id, `action=delete&limit=1&after=${first.next}`)
  expect(second.rows).toMatchObject([
    {
      row_number: -1,
      before: { sku: 'sku-9' },
      dependents: [{ table: 'public.shelves', effect: 'delete', rows: 1 }],
    },
  ])
  expect((await rowsOf(id, 'limit=3')).rows).toHaveLength(3)

  expect((await call('POST', `/uploads/${id}/plan`, 'operator', { max_deleted: 2 })).status).toBe(400)
  // One limit is not the other.
  const { body: short } = await call('POST', `/uploads/${id}/plan`, 'operator', { allow_short_file: true })
  expect(short).toMatchObject({
    plan_refusal: expect.stringMatching(/--max-deleted 0.2/),
    plan_snapshot: { short_file_allowed: true, confirmed: false },
  })
  const { body: allowed } = await call('POST', `/uploads/${id}/plan`, 'operator', { max_deleted: 0.2 })
  expect(allowed).toMatchObject({
    plan_refusal: null,
    plan_snapshot: { confirmed: true, max_deleted: 0.2, needed_max_deleted: null, short_file_allowed: true },
  })
  const digest = allowed.plan_digest
  const { body: submitted } = await call('POST', `/uploads/${id}/submit`, 'operator', { digest })
  expect(submitted.checklist).toMatchObject([
    { item_id: 'changes' },
    { item_id: 'deleted', text: '2 rows may be deleted', required: true },
  ])
  expect(
    (await call('POST', `/uploads/${id}/approve`, 'reviewer', { digest, ticked: ['changes'] })).body.detail,
  ).toMatch(/open items: deleted/)
  await call('POST', `/uploads/${id}/approve`, 'reviewer', { digest, ticked: ['changes', 'deleted'] })
  const { body: promoted } = await call('POST', `/uploads/${id}/promote`, 'operator', { digest })
  expect(promoted).toMatchObject({ status: 'promoted', promotion_totals: { item: { delete: 2 } } })
  expect(await db.owner('select from shelves')).toEqual([])

  const { body: lineage } = await call('GET', `/uploads/${id}/lineage?limit=1`, 'operator')
  expect(lineage.rows).toMatchObject([{ action: 'delete', target_key: { sku: 'sku-10' } }])
  const next = await call('GET', `/uploads/${id}/lineage?limit=1&after=${lineage.next}`, 'operator')
  expect(next.body.rows).toMatchObject([{ action: 'delete', target_key: { sku: 'sku-9' } }])

  const { body: undo } = await call('GET', `/uploads/${id}/undo`, 'reviewer')
  expect(undo.totals).toEqual({ item: { reversed: 2 }, 'public.shelves': { reversed: 1 } })
  const { body: undone } = await call('POST', `/uploads/${id}/undo`, 'reviewer', { digest: undo.digest })
  expect(undone).toMatchObject({ status: 'undone' })
  expect(await db.owner(`select sku from shelves`)).toEqual([{ sku: 'sku-9' }])
  expect(await db.owner('select from stock')).toHaveLength(10)
})
