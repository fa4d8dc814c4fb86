/** Planning again over HTTP when production has moved on: what is asked, who may answer what, and what lists say. */
import { expect, it } from 'vitest'
import { type Person, useUploads, week } from './uploads-api.ts'

const uploads = useUploads()
const { call } = uploads

/** Three days are in production; a file changes the first one, and so does somebody else. */
async function moved(campaign: string, as: Person = 'operator') {
  const first = await uploads.upload(week(campaign, { days: 3 }))
  const promoted = await call('POST', `/uploads/${first.upload_id}/promote`, 'operator', {
    digest: first.plan_digest,
  })
  expect(promoted.status).toBe(200)
  const { upload_id } = await uploads.upload(week(campaign, { days: 3, spend: '20.00' }), as)
  await uploads.db.owner(
    `update daily_metrics set spend = 15 from campaigns c where c.id = campaign_id and c.name = $1 and date = '2026-11-01'`,
    [campaign],
  )
  return `/uploads/${upload_id}`
}
const CELL = { column: 'spend', base: 12.5, theirs: 15, mine: 20 }
const spendOf = async (campaign: string) =>
  (
    await uploads.db.owner<{ spend: string }>(
      `select trim_scale(m.spend)::text as spend from daily_metrics m join campaigns c on c.id = m.campaign_id
        where c.name = $1 order by m.date limit 1`,
      [campaign],
    )
  )[0]!.spend

it('is refused with what is in conflict, and an answer to what was listed plans it', async () => {
  const path = await moved('Asked')
  const before = (await call('GET', path, 'operator')).body
  const refused = await call('POST', `${path}/plan`, 'operator', {})
  expect(refused).toMatchObject({
    status: 409,
    body: {
      code: 'plan_conflicts',
      details: {
        cells: 1,
        rows: 1,
        columns: [{ table: 'public.daily_metrics', column: 'spend', kind: 'changed', cells: 1 }],
      },
    },
  })
  const { status, body: asked } = await call('GET', `${path}/plan/conflicts`, 'operator')
  expect([status, asked.total, asked.cells, asked.next]).toEqual([200, 1, 1, null])
  expect(asked.items).toMatchObject([{ line: 2, kind: 'changed', cells: [CELL] }])
  // Neither has changed the plan.
  expect((await call('GET', path, 'operator')).body).toMatchObject({ plan_digest: before.plan_digest })

  const answer = { on_conflict: 'use_mine', conflicts_digest: asked.digest }
  const other = await call('POST', `${path}/plan`, 'operator', {
    ...answer,
    conflicts_digest: 'f'.repeat(64),
  })
  expect(other).toMatchObject({ status: 409, body: { code: 'plan_conflicts' } })
  const planned = await call('POST', `${path}/plan`, 'operator', answer)
  expect(planned).toMatchObject({
    status: 200,
    body: {
      outdated: null,
      conflict_answers: [{ answer: 'use_mine', cells: 1, answered_by: uploads.ads.operator.userId }],
    },
  })
  const { body: history } = await call('GET', `${path}/history`, 'viewer')
  expect(history.history.map(({ what }: { what: string }) => what)).toContain('conflicts_answered')
  await call('POST', `${path}/promote`, 'operator', { digest: planned.body.plan_digest })
  expect(await spendOf('Asked')).toBe('20')
})

it('an agent keeps what others changed, and may not say that the file counts', async () => {
  const path = await moved('Agent', 'agent')
  expect((await call('GET', `${path}/plan/conflicts`, 'agent')).body).toMatchObject({ total: 1 })
  const mine = await call('POST', `${path}/plan`, 'agent', { on_conflict: 'use_mine' })
  expect(mine).toMatchObject({ status: 403, body: { code: 'right_missing' } })
  const kept = await call('POST', `${path}/plan`, 'agent', { on_conflict: 'keep_theirs' })
  expect(kept).toMatchObject({
    status: 200,
    body: {
      conflict_answers: [{ answer: 'keep_theirs', cells: 1 }],
      plan_totals: { daily_metric: { unchanged: 3 } },
    },
  })
  expect(await spendOf('Agent')).toBe('15')
})

it('is neither asked nor answered by whoever may not stage, and other answers are not taken', async () => {
  const path = await moved('Refused')
  const question = { status: 403, body: { code: 'permission_denied' } }
  expect(await call('GET', `${path}/plan/conflicts`, 'reader')).toMatchObject(question)
  expect((await call('GET', `${path}/plan/conflicts`, 'viewer')).status).toBe(403)
  expect((await call('POST', `${path}/plan`, 'viewer', { on_conflict: 'keep_theirs' })).status).toBe(403)
  expect((await call('GET', `${path}/plan/conflicts`, 'stranger')).status).toBe(404)
  for (const on_conflict of ['list', 'mine', ''])
    expect((await call('POST', `${path}/plan`, 'operator', { on_conflict })).status).toBe(400)
})

it('lists say which plans are outdated, once a promotion has written their rows', async () => {
  const campaign = 'Listed'
  const first = await uploads.upload(week(campaign, { days: 1 }))
  await call('POST', `/uploads/${first.upload_id}/promote`, 'operator', { digest: first.plan_digest })
  const open = await uploads.upload(week(campaign, { days: 1, spend: '2.00' }))
  const other = await uploads.upload(week(campaign, { days: 1, spend: '3.00' }))
  await call('POST', `/uploads/${other.upload_id}/promote`, 'operator', { digest: other.plan_digest })
  const { body } = await call('GET', '/uploads?problem=outdated&limit=100', 'viewer')
  const listed = body.uploads.find(({ upload_id }: { upload_id: string }) => upload_id === open.upload_id)
  expect(listed).toMatchObject({ outdated: 'outdated' })
})
