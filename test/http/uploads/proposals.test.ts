/** Pull requests for SQL over the API: who may propose, what the answer has, and the way to the table and back. */
import { beforeAll, expect, it } from 'vitest'
import { openToStatements } from '../../support/proposals.ts'
import { useUploads } from './uploads-api.ts'

const uploads = useUploads({ approval: true })
const { call, db } = uploads
const PRICES = 'select price::text from public.wares order by id'

beforeAll(async () => {
  await db
    .pool('postgres')
    .query(`create table public.wares (id integer primary key, brand text, price numeric);
    insert into public.wares values (1, 'X', 10), (2, 'X', 20), (3, 'Y', 9007199254740993);
    grant select, insert, update, delete on public.wares to workflow_admin`)
  await openToStatements(db, uploads.ads.workspace, 'public.wares')
})

it('is proposed by an agent, approved by a person, promoted, traced and undone', async () => {
  const statement = "update wares set price = price + 1 where brand in ('X', 'Y')"
  const proposed = await call('POST', '/proposals', 'agent', { statement, submit: true, key: 'k' })
  expect(proposed).toMatchObject({
    status: 201,
    body: {
      created: true,
      upload: {
        status: 'planned',
        review_status: 'pending',
        plan_totals: { wares: { update: 3 } },
        proposal: { statement, operation: 'update', target: 'public.wares' },
      },
    },
  })
  const { upload_id: id, plan_digest: digest } = proposed.body.upload
  expect((await call('POST', '/proposals', 'agent', { statement, key: 'k' })).body).toMatchObject({
    created: false,
    upload: { upload_id: id },
  })
  const rows = await call('GET', `/uploads/${id}/plan/rows`, 'reviewer')
  expect(rows.body.items ?? rows.body.rows).toMatchObject([
    { before: { price: 10 }, after: { price: 11 } },
    { before: { price: 20 }, after: { price: 21 } },
    { after: { price: '9007199254740994' } },
  ])
  for (const [path, body] of [
    ['approve', { digest, ticked: ['changes'] }],
    ['promote', { digest }],
  ] as const)
    expect((await call('POST', `/uploads/${id}/${path}`, 'agent', body)).status, path).toBe(403)
  expect(
    (await call('POST', `/uploads/${id}/approve`, 'reviewer', { digest, ticked: ['changes'] })).status,
  ).toBe(200)
  expect((await call('POST', `/uploads/${id}/promote`, 'operator', { digest })).status).toBe(200)
  expect((await db.pool('postgres').query(PRICES)).rows.map(({ price }) => price)).toEqual([
    '11',
    '21',
    '9007199254740994',
  ])
  const key = encodeURIComponent('{"id":1}')
  const lineage = await call('GET', `/lineage?target=public.wares&key=${key}`, 'operator')
  expect(lineage.body.entries).toMatchObject([{ statement, upload_id: id, approvers: [{}] }])
  const undo = await call('GET', `/uploads/${id}/undo`, 'reviewer')
  expect((await call('POST', `/uploads/${id}/undo`, 'reviewer', { digest: undo.body.digest })).status).toBe(
    200,
  )
  expect((await db.pool('postgres').query(PRICES)).rows.map(({ price }) => price)).toEqual([
    '10',
    '20',
    '9007199254740993',
  ])
})

it('is listed with its table, and refused to whoever may not stage or belongs elsewhere', async () => {
  const tables = await call('GET', '/proposals/tables', 'viewer')
  expect(tables.body.tables).toMatchObject([
    {
      target: 'public.wares',
      operations: ['insert', 'update', 'delete'],
      key: ['id'],
      not_ready: null,
      closed_at: null,
    },
  ])
  const datasets = await call('GET', '/datasets', 'operator')
  expect(
    datasets.body.datasets.filter(({ takes }: { takes: string }) => takes === 'statements'),
  ).toMatchObject([{ dataset: 'sql_public_wares' }])
  const statement = 'delete from wares'
  const body = { statement, workspace_id: uploads.ads.workspace }
  for (const [who, code] of [
    ['viewer', 'right_missing'],
    ['stranger', 'not_member'],
  ] as const)
    expect(await call('POST', '/proposals', who, body), who).toMatchObject({ status: 403, body: { code } })
  expect((await call('POST', '/proposals', 'operator', {})).status).toBe(400)
  expect(await call('POST', '/proposals', 'operator', { statement: 'drop table wares' })).toMatchObject({
    status: 422,
    body: { code: 'proposal_refused' },
  })
  const file = await uploads.send('id\n1\n', 'operator', {
    dataset: 'sql_public_wares',
    platform: 'sql',
    client_id: '',
  })
  expect(file.status).toBeGreaterThanOrEqual(400)
  expect((await db.pool('postgres').query('select count(*)::int as n from wares')).rows).toEqual([{ n: 3 }])
})

it('that is outdated is proposed again, and the earlier one is discarded', async () => {
  const first = await call('POST', '/proposals', 'operator', {
    statement: 'update wares set price = price * 2 where id = 1',
  })
  await db.pool('postgres').query('update wares set price = 5 where id = 1')
  const { upload_id: id } = first.body.upload
  const stale = await call('GET', `/uploads/${id}/plan/stale`, 'operator')
  expect(stale.body.items ?? stale.body.rows).toMatchObject([{ conflict: 'same_cell' }])
  expect(await call('POST', `/uploads/${id}/plan`, 'operator', {})).toMatchObject({
    status: 409,
    body: { code: 'upload_fixed' },
  })
  const again = await call('POST', '/proposals', 'operator', { again: id })
  expect(again).toMatchObject({ status: 201, body: { upload: { plan_totals: { wares: { update: 1 } } } } })
  expect((await call('GET', `/uploads/${id}`, 'operator')).body.status).toBe('discarded')
})
