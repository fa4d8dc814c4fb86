/** Many cells corrected in one request, and what the answer says of the plan. */
import { afterAll, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { useUploads } from './uploads-api.ts'

const uploads = useUploads()
afterAll(closeDuck)

const FILE = `Campaign ID,Campaign name,Day,Impressions,Amount spent (AUD)
1201,Always on,2026-11-09,40,oops
1201,Always on,2026-11-10,41,oops
1202,Autumn,2026-11-10,,3.50
`
const SPEND = 'Amount spent (AUD)'

it('corrects cells of a column in all lines, says first how many, and brings the plan up to date', async () => {
  const { upload_id: id, plan_digest } = await uploads.upload(FILE)
  const path = `/uploads/${id}/rows`
  const edits = [{ column: SPEND, from: 'oops', to: '2' }]
  const dry = await uploads.call('PATCH', path, 'operator', { edits, dry_run: true })
  expect(dry).toMatchObject({
    status: 200,
    body: {
      plan_digest,
      invalid_count: 2,
      repair: { lines: 2, cells: 2, dry_run: true, replanned: null, reason: null },
    },
  })
  const done = await uploads.call('PATCH', path, 'operator', { edits })
  expect(done).toMatchObject({
    status: 200,
    body: {
      status: 'planned',
      invalid_count: 0,
      plan_refusal: null,
      plan_totals: { campaign: { insert: 2 }, daily_metric: { insert: 3 } },
      repair: { lines: 2, cells: 2, dry_run: false, replanned: 'lines', reason: null },
    },
  })
  expect(done.body.plan_digest).not.toBe(plan_digest)
  const one = await uploads.call('PATCH', path, 'operator', {
    edits: [{ column: SPEND, to: '5', lines: [2, 2] }],
  })
  expect(one.body.repair).toMatchObject({ lines: 1, cells: 1, replanned: 'lines' })
  const filled = await uploads.call('PATCH', path, 'operator', {
    edits: [{ column: 'Impressions', from: null, to: '7' }],
  })
  expect(filled.body.repair).toMatchObject({ lines: 1, cells: 1 })
})

it('refuses rows together with edits, neither of them, and a person who may not stage', async () => {
  const { upload_id: id } = await uploads.upload(FILE.replaceAll('Autumn', 'Winter'))
  const path = `/uploads/${id}/rows`
  const edits = [{ column: SPEND, from: 'oops', to: '2' }]
  expect((await uploads.call('PATCH', path, 'operator', {})).status).toBe(400)
  expect((await uploads.call('PATCH', path, 'operator', { edits, rows: [{ line: 2 }] })).status).toBe(400)
  expect((await uploads.call('PATCH', path, 'viewer', { edits })).status).toBe(403)
})
