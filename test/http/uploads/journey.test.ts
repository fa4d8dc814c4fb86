/** The whole story over HTTP: a file with a wrong line, from the upload to the undo. */
import { expect, it } from 'vitest'
import { useUploads, week } from './uploads-api.ts'

const uploads = useUploads({ approval: true })
const { call } = uploads

it('goes from a file with a wrong line to promoted rows and back', async () => {
  const sent = await uploads.send(week('Winter boots', { spend: 'twelve' }), 'operator', {}, 'Week 45.csv')
  expect(sent).toMatchObject({
    status: 202,
    body: { created: true, upload: { status: 'reading', file_name: 'Week 45.csv' } },
  })
  const id = sent.body.upload.upload_id
  const path = `/uploads/${id}`

  const stream = await call('GET', `${path}/progress`, 'operator')
  expect(stream.body).toMatch(/event: done\ndata: \{"status":"planned","error":null\}\n\n$/)
  expect(uploads.spooled()).toEqual([])
  const { userId } = uploads.ads.operator
  await uploads.db.owner(`update public.workspace_members set display_name = 'Olga' where user_id = $1`, [
    userId,
  ])
  const strict = await call('GET', path, 'operator')
  expect(strict.body).toMatchObject({
    status: 'planned',
    invalid_count: 1,
    gate_mode: 'STRICT',
    plan_refusal: expect.stringContaining('lines is invalid'),
    dataset_title: 'Ad platforms',
    client_name: 'Northwind',
    people: { [userId]: 'Olga' },
    may: {
      repair: { allowed: true },
      submit: { allowed: false, why: expect.stringContaining('Correct the lines') },
    },
  })

  const wrong = await call('GET', `${path}/rows?status=invalid`, 'operator')
  expect(wrong.body).toMatchObject({
    next: null,
    rows: [{ row_number: 2, validation_errors: [{ column: 'Amount spent (AUD)', value: 'twelve' }] }],
  })
  const csv = await call('GET', `${path}/problems.csv`, 'operator')
  expect(csv.body).toContain('Winter boots,Retarget,Video,2026-11-01,twelve')

  const lenient = await call('POST', `${path}/plan`, 'operator', { on_invalid: 'skip', threshold: 0.5 })
  expect(lenient.body).toMatchObject({
    plan_refusal: null,
    plan_totals: { daily_metric: { insert: 6, skipped: 1 } },
  })
  const repaired = await call('PATCH', `${path}/rows`, 'operator', {
    rows: [{ line: 2, values: { 'Amount spent (AUD)': '12.50' } }],
  })
  expect(repaired.body).toMatchObject({
    status: 'planned',
    gate_mode: 'LENIENT',
    threshold: '0.5',
    invalid_count: 0,
    plan_totals: { campaign: { insert: 1 }, daily_metric: { insert: 7 } },
  })
  const rows = await call('GET', `${path}/plan/rows?row_type=daily_metric&limit=3`, 'operator')
  expect(rows.body.rows).toHaveLength(3)
  const rest = await call(
    'GET',
    `${path}/plan/rows?row_type=daily_metric&limit=100&after=${rows.body.next}`,
    'operator',
  )
  expect(rest.body).toMatchObject({ next: null, rows: { length: 4 } })
  const { row_number: line } = rest.body.rows[0]
  const one = await call('GET', `${path}/plan/rows?row_type=daily_metric&line=${line}`, 'operator')
  expect(one.body).toMatchObject({ next: null, rows: [{ row_number: line }] })
  const distribution = `${path}/plan/distribution?row_type=daily_metric&column=clicks`
  const { before, after, buckets } = (await call('GET', distribution, 'viewer')).body
  const clicks = [...rows.body.rows, ...rest.body.rows].map((row) => Number(row.after.clicks))
  expect(before).toEqual({ count: 0, sum: null, min: null, median: null, max: null })
  expect([after.count, after.sum, after.min, after.max].map(Number)).toEqual([
    7,
    clicks.reduce((sum, value) => sum + value),
    Math.min(...clicks),
    Math.max(...clicks),
  ])
  expect(buckets.reduce((sum: number, bucket: { after: number }) => sum + bucket.after, 0)).toBe(7)

  const digest = repaired.body.plan_digest
  const submitted = await call('POST', `${path}/submit`, 'operator', { digest })
  expect(submitted.body).toMatchObject({
    review_status: 'pending',
    checklist: [{ item_id: 'changes', ticked_at: null }],
  })
  expect((await call('GET', '/uploads?waiting=true', 'reviewer')).body.uploads).toMatchObject([
    { upload_id: id, reading: null },
  ])
  const approved = await call('POST', `${path}/approve`, 'reviewer', { digest, ticked: ['changes'] })
  expect(approved).toMatchObject({
    status: 200,
    body: { review_status: 'approved', may: { promote: { allowed: true } } },
  })
  const promoted = await call('POST', `${path}/promote`, 'operator', { digest })
  expect(promoted).toMatchObject({
    status: 200,
    body: {
      status: 'promoted',
      approved_by: uploads.ads.reviewer.userId,
      promotion_totals: { daily_metric: { insert: 7 } },
      may: { undo: { allowed: false, why: expect.stringContaining('review') } },
    },
  })

  const ledger = await call('GET', `${path}/lineage?limit=1000`, 'operator')
  expect(ledger.body.rows).toHaveLength(10)
  const campaign = ledger.body.rows.find((row: { row_type: string }) => row.row_type === 'campaign')
  const lineage = await call('GET', `/lineage?target=public.campaigns&id=${campaign.target_id}`, 'operator')
  expect(lineage.body.entries).toMatchObject([
    {
      upload_id: id,
      file_name: 'Week 45.csv',
      line: 2,
      action: 'insert',
      uploaded_by: uploads.ads.operator.userId,
    },
  ])

  const undo = await call('GET', `${path}/undo`, 'reviewer')
  expect(undo.body).toMatchObject({ totals: { daily_metric: { reversed: 7 } }, stays: [] })
  const reason = 'Week 44 again.'
  const undone = await call('POST', `${path}/undo`, 'reviewer', { digest: undo.body.digest, reason })
  expect(undone.body).toMatchObject({
    status: 'undone',
    undone_by: uploads.ads.reviewer.userId,
    undo_reason: reason,
  })
  expect(await uploads.db.owner('select from campaigns')).toEqual([])
  const { body } = await call('GET', `${path}/history`, 'viewer')
  expect(body.history.map(({ what }: { what: string }) => what)).toEqual([
    'uploaded',
    'read',
    'planned',
    'planned',
    'corrected',
    'planned',
    'submitted',
    'reviewed',
    'promoted',
    'undone',
  ])
})

it('recognises the same bytes, and the corrected file is a new upload', async () => {
  const first = await uploads.upload(week('Summer hats'))
  const again = await uploads.send(week('Summer hats'), 'reviewer', {}, 'other name.csv')
  expect(again).toMatchObject({
    status: 200,
    body: { created: false, upload: { upload_id: first.upload_id, file_name: 'week.csv' } },
  })
  expect(uploads.spooled()).toEqual([])
  const corrected = await uploads.send(week('Summer hats', { spend: '13.00' }), 'operator')
  expect(corrected).toMatchObject({ status: 202, body: { created: true } })
  await uploads.settled(corrected.body.upload.upload_id)
  expect((await call('POST', `/uploads/${first.upload_id}/discard`, 'operator')).body).toMatchObject({
    status: 'discarded',
  })
  const second = await uploads.send(week('Summer hats'), 'operator')
  expect(second).toMatchObject({ status: 202, body: { created: true } })
  await uploads.settled(second.body.upload.upload_id)
})

it('promotes nothing that nobody has approved', async () => {
  const upload = await uploads.upload(week('Spring coats'))
  const digest = upload.plan_digest
  const early = await call('POST', `/uploads/${upload.upload_id}/promote`, 'operator', { digest })
  expect(early.body).toMatchObject({ status: 409, code: 'approval_missing' })
  expect(upload.may.promote).toMatchObject({
    allowed: false,
    why: expect.stringContaining('Submit it first'),
  })
})

it('names the rows that changed since the plan was made', async () => {
  const fresh = useful(await uploads.send(week('Stale boots'), 'operator', {}, 'stale.csv'))
  await call('GET', `/uploads/${fresh}/progress`, 'operator')
  const none = await call('GET', `/uploads/${fresh}/plan/stale`, 'reviewer')
  expect(none).toMatchObject({ status: 200, body: { items: [], total: 0 } })
  const check = () => call('GET', `/uploads/${fresh}/plan/check`, 'viewer')
  expect(await check()).toMatchObject({
    status: 200,
    body: { checked_at: expect.stringMatching(/^2/), rows_differ: 0, counts: {} },
  })
  await uploads.db.owner(
    `insert into public.campaigns (client_id, platform, external_id, name)
     select u.client_id, u.platform, r.external_id, 'somebody else wrote it'
       from iu_core.ingest_upload u join public.staging_id_resolution r using (upload_id)
      where u.upload_id = $1 and r.entity_type = 'campaign'`,
    [fresh],
  )
  const stale = await call('GET', `/uploads/${fresh}/plan/stale`, 'reviewer')
  expect(stale).toMatchObject({
    status: 200,
    body: {
      total: 1,
      items: [
        {
          target_table: 'public.campaigns',
          line: 2,
          action: 'insert',
          before: null,
          planned: { name: 'Stale boots' },
          now: { name: 'somebody else wrote it' },
          conflict: 'created',
          theirs: expect.arrayContaining(['name']),
          row_key: expect.any(Array),
        },
      ],
      counts: { created: 1 },
      next: null,
    },
  })
  expect(await check()).toMatchObject({ status: 200, body: { rows_differ: 1, counts: { created: 1 } } })
  expect(await call('GET', `/uploads/${fresh}/plan/check`, 'reader')).toMatchObject({ status: 403 })
  for (const what of ['stale', 'check'])
    expect(await call('GET', `/uploads/${fresh}/plan/${what}`, 'stranger')).toMatchObject({ status: 404 })
})

it('plans again and asks in one call, and tells which checks took how long and what happened', async () => {
  const fresh = useful(await uploads.send(week('Asked boots'), 'operator', {}, 'asked.csv'))
  await call('GET', `/uploads/${fresh}/progress`, 'operator')
  const asked = await call('POST', `/uploads/${fresh}/plan`, 'operator', { submit: true })
  expect(asked).toMatchObject({ status: 200, body: { review_status: 'pending' } })
  const { body: checks } = await call('GET', `/uploads/${fresh}/checks`, 'viewer')
  const of = (check: string) => checks.checks.find((one: { check: string }) => one.check === check)
  expect(of('compare')).toMatchObject({ result: 'passed', ms: expect.any(Number) })
  expect(of('types')).toMatchObject({ result: 'passed', invalid: 0, ms: null })
  expect(checks.plan_ms).toBeGreaterThanOrEqual(0)
  const again = await call('POST', `/uploads/${fresh}/plan`, 'operator', { submit: true })
  expect(again.body.review_status).toBe('pending')
  await call('POST', `/uploads/${fresh}/reject`, 'reviewer', { reason: 'The week is not over.' })
  const { body } = await call('GET', `/uploads/${fresh}/history`, 'viewer')
  const what = body.history.map((entry: { what: string }) => entry.what)
  expect(what).toEqual(expect.arrayContaining(['uploaded', 'read', 'planned', 'submitted', 'asked_again']))
  expect(body.history.at(-1)).toMatchObject({ what: 'rejected', text: 'The week is not over.' })
  const first = await call('GET', `/uploads/${fresh}/history?limit=2`, 'viewer')
  const rest = await call(
    'GET',
    `/uploads/${fresh}/history?after=${encodeURIComponent(first.body.next)}`,
    'viewer',
  )
  expect([...first.body.history, ...rest.body.history]).toEqual(body.history)
})

function useful({ body }: { body: { upload: { upload_id: string } } }): string {
  return body.upload.upload_id
}
