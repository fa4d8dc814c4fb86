/** The list of promotions: who sees which, its filters and pages, and what an undo leaves in it; what a promotion wrote into a row. */
import { beforeAll, expect, it } from 'vitest'
import { useUploads, week } from './uploads-api.ts'

const uploads = useUploads({ approval: true })
const { call } = uploads
const promoted: string[] = []

beforeAll(async () => {
  for (const spend of ['12.50', '13.75', '14.00']) {
    const { upload_id, plan_digest: digest } = await uploads.upload(week('Boots', { spend, days: 2 }))
    const path = `/uploads/${upload_id}`
    await call('POST', `${path}/submit`, 'operator', { digest })
    await call('POST', `${path}/approve`, 'reviewer', { digest, ticked: ['changes'] })
    expect(await call('POST', `${path}/promote`, 'operator', { digest })).toMatchObject({ status: 200 })
    promoted.unshift(upload_id)
  }
  await uploads.db.owner(`update public.workspace_members set display_name = 'Rita' where user_id = $1`, [
    uploads.ads.reviewer.userId,
  ])
  // Planned and not promoted: it is in no list of promotions.
  await uploads.upload(week('Sandals', { days: 1 }))
})

const list = async (query = '', as: Parameters<typeof call>[2] = 'viewer') =>
  (await call('GET', `/promotions${query}`, as)).body
const ids = (body: { promotions: { upload_id: string }[] }) => body.promotions.map((one) => one.upload_id)

it('says what was promoted, by whom, and until when it can be undone, newest first and in pages', async () => {
  const { operator, reviewer, workspace } = uploads.ads
  const all = await list()
  expect(ids(all)).toEqual(promoted)
  expect(all).toMatchObject({ next: null, people: { [reviewer.userId]: 'Rita' } })
  expect(all.promotions[0]).toMatchObject({
    workspace_id: workspace,
    change: 3,
    title: 'week.csv',
    dataset: 'ads',
    file_name: 'week.csv',
    totals: { daily_metric: { update: 1, unchanged: 1 } },
    uploaded_by: operator.userId,
    approvers: [{ reviewer: reviewer.userId, at: expect.any(String) }],
    promoted_by: operator.userId,
    state: 'undoable',
    undone_by: null,
    undo_reason: null,
  })
  expect(Date.parse(all.promotions[0].undo_until)).toBeGreaterThan(Date.now())

  const first = await list('?limit=2')
  expect([ids(first), first.next]).toEqual([promoted.slice(0, 2), promoted[1]])
  const rest = await list(`?limit=2&after=${first.next}`)
  expect([ids(rest), rest.next]).toEqual([promoted.slice(2), null])
})

it('is seen by members alone: not by another workspace, and by an agent only of its own uploads', async () => {
  for (const query of ['', `?workspace_id=${uploads.ads.workspace}`, `?after=${promoted[0]}`])
    expect(await list(query, 'stranger')).toEqual({ promotions: [], people: {}, next: null })
  expect(ids(await list('', 'agent'))).toEqual([])
  expect(ids(await list('', 'reader'))).toEqual(promoted)
  expect((await uploads.api.app.inject({ url: '/api/v1/promotions' })).statusCode).toBe(401)
  expect((await call('GET', '/promotions?state=gone', 'viewer')).status).toBe(400)
})

it('an undo stands in the list with its reason, and the filters find it', async () => {
  const { reviewer } = uploads.ads
  const [newest, middle, oldest] = promoted as [string, string, string]
  const { body: plan } = await call('GET', `/uploads/${newest}/undo`, 'reviewer')
  const reason = 'Wrong week.'
  await call('POST', `/uploads/${newest}/undo`, 'reviewer', { digest: plan.digest, reason })
  await uploads.db.owner(
    `update iu_core.ingest_promotion set undo_until = clock_timestamp() - interval '1 day' where upload_id = $1`,
    [oldest],
  )
  const undone = await list('?state=undone')
  expect(undone.promotions).toMatchObject([
    { upload_id: newest, state: 'undone', undone_by: reviewer.userId, undo_reason: reason },
  ])
  expect(ids(await list('?state=undoable'))).toEqual([middle])
  expect(ids(await list('?state=final'))).toEqual([oldest])
  expect(ids(await list('?dataset=ads'))).toEqual(promoted)
  expect(ids(await list('?dataset=other'))).toEqual([])
  expect(ids(await list(`?person=${reviewer.userId}&state=final`))).toEqual([oldest])
  expect(ids(await list('?person=me', 'operator'))).toEqual(promoted)
  expect(ids(await list('?person=me'))).toEqual([])
})

it('the lineage of a row says what each promotion wrote into it, for as long as its images are kept', async () => {
  const [newest, middle, oldest] = promoted as [string, string, string]
  const { body: ledger } = await call('GET', `/uploads/${newest}/lineage`, 'viewer')
  const { target, target_key, target_id } = ledger.rows.find(
    ({ row_type }: { row_type: string }) => row_type === 'daily_metric',
  )
  const row = target_id === null ? `key=${encodeURIComponent(JSON.stringify(target_key))}` : `id=${target_id}`
  const lineage = async () => (await call('GET', `/lineage?target=${target}&${row}`, 'viewer')).body
  const ask = async () => (await lineage()).entries
  expect((await lineage()).people).toEqual({ [uploads.ads.reviewer.userId]: 'Rita' })
  const spend = (from: unknown, to: unknown) => expect.arrayContaining([{ column: 'spend', from, to }])
  expect(await ask()).toMatchObject([
    {
      upload_id: newest,
      row_type: 'daily_metric',
      written: spend(13.75, 14),
      undone_by: uploads.ads.reviewer.userId,
      undo_reason: 'Wrong week.',
    },
    { upload_id: middle, written: [{ column: 'spend', from: 12.5, to: 13.75 }], undone_by: null },
    { upload_id: oldest, action: 'insert', written: spend(null, 12.5) },
  ])
  // The time to undo the oldest one is over (see above): maintenance deletes what it wrote, and keeps where it came from.
  await uploads.ads.service('select iu_core.fn_ingest_images_drop()')
  expect((await ask())[2]).toMatchObject({ upload_id: oldest, line: 2, written: null })
})
