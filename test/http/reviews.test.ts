/** Review policies, groups, reviews and risk over HTTP: who may do what, and what the answers say. */
import { beforeAll, expect, it } from 'vitest'
import { createMember, type Member } from '../support/factories.ts'
import { useUploads, week } from './uploads/uploads-api.ts'

const uploads = useUploads({ approval: true })
const { call } = uploads
let admin: Member
let second: Member

beforeAll(async () => {
  admin = await createMember(uploads.db, uploads.ads.workspace, 'admin')
  second = await createMember(uploads.db, uploads.ads.workspace, 'reviewer')
  Object.assign(uploads.tokens, {
    admin: await uploads.api.token(admin),
    second: await uploads.api.token(second),
  })
})

const as = (who: string) => who as 'operator'
const policy = (rules: object, who = 'admin') =>
  call('PUT', '/review-policies', as(who), {
    workspace_id: uploads.ads.workspace,
    dataset: 'ads',
    rules,
    reason: 'a test',
  })

async function submitted(campaign: string) {
  const upload = await uploads.upload(week(campaign))
  await call('POST', `/uploads/${upload.upload_id}/submit`, 'operator', { digest: upload.plan_digest })
  return (await call('GET', `/uploads/${upload.upload_id}`, 'operator')).body
}
const ticked = ['changes']

it('asks for a group, says what is missing, and promotes with the last approval', async () => {
  for (const who of ['operator', 'reviewer', 'viewer', 'agent', 'reader', 'stranger']) {
    const group = `/groups/Mine?workspace_id=${uploads.ads.workspace}`
    expect([who, (await policy({ base: { approvals: 0 } }, who)).status]).toEqual([who, 403])
    expect([who, (await call('PUT', group, as(who))).status]).toEqual([who, 403])
  }
  expect((await call('GET', '/groups', as('admin'))).body.groups).toEqual([])
  expect((await call('PUT', `/groups/Finance/members/${second.userId}`, as('admin'))).body).toMatchObject({
    group_name: 'Finance',
    members: [second.userId],
  })
  expect(
    (await policy({ base: { approvals: 2 }, raise: [{ when: { rows_over: -1 }, approvals: 3 }] })).status,
  ).toBe(400)
  expect(
    (
      await policy({
        base: { approvals: 1 },
        raise: [{ name: 'any row', when: { rows_over: 0 }, approvals: 2, groups: ['Finance'] }],
      })
    ).body,
  ).toMatchObject({ dataset: 'ads', kind: null, revision: 1, set_by: admin.userId })

  const upload = await submitted('Autumn')
  const { upload_id: id, plan_digest: digest, change } = upload
  expect(upload.review).toMatchObject({
    approvals: 2,
    groups: ['Finance'],
    rules: [{ name: 'any row' }],
    met: false,
  })
  const review = (who: string, body: object) => call('POST', `/changes/${change}/review`, as(who), body)
  for (const who of ['operator', 'viewer', 'agent', 'stranger', 'reader'])
    expect([who, (await review(who, { verdict: 'approve', digest, ticked })).status]).toEqual([
      who,
      expect.toBeOneOf([403, 404]),
    ])
  const first = await call('POST', `/uploads/${id}/approve`, 'reviewer', { digest, ticked })
  expect(first).toMatchObject({
    status: 200,
    body: { review_status: 'pending', review: { summary: '1 of 2 approvals; still needed: group Finance' } },
  })
  expect(first.body.may.approve).toMatchObject({
    allowed: false,
    why: expect.stringContaining('You have approved it'),
  })
  expect(await review('reviewer', { verdict: 'approve', digest, ticked })).toMatchObject({
    status: 409,
    body: { code: 'review_repeated' },
  })
  expect(await call('POST', `/uploads/${id}/promote`, 'operator', { digest })).toMatchObject({
    status: 409,
    body: { code: 'review_incomplete', detail: expect.stringContaining('still needed: group Finance') },
  })
  expect(await review('second', { verdict: 'request_changes', digest, body: 'Why so many?' })).toMatchObject({
    status: 200,
    body: { met: false, blocked_by: [{ reviewer: second.userId }] },
  })
  expect((await call('GET', `/changes/${change}`, 'operator')).body.status).toBe('changes_requested')
  expect(await review('second', { verdict: 'approve', digest: 'a'.repeat(64), ticked })).toMatchObject({
    status: 409,
  })
  expect((await review('second', { verdict: 'approve', digest, ticked })).body).toMatchObject({
    met: true,
    counted: 2,
  })

  await call('DELETE', `/groups/Finance/members/${second.userId}`, as('admin'))
  expect(await call('POST', `/uploads/${id}/promote`, 'operator', { digest })).toMatchObject({
    body: { code: 'review_incomplete' },
  })
  await call('PUT', `/groups/Finance/members/${second.userId}`, as('admin'))
  expect((await call('GET', `/changes/${change}/reviews`, 'viewer')).body).toMatchObject({
    standing: { met: true, policy: { dataset: 'ads' } },
    reviews: [
      { verdict: 'approve', requirement: { approvals: 2, rules: [{ name: 'any row' }] } },
      { verdict: 'request_changes', dismissed_reason: 'approved since' },
      { verdict: 'approve', reviewer: second.userId },
    ],
  })
  expect((await call('POST', `/uploads/${id}/promote`, 'operator', { digest })).body.status).toBe('promoted')
})

it('lets an administrator dismiss a review, and keeps who changed which policy', async () => {
  await policy({ base: { approvals: 1 } })
  const { plan_digest: digest, change } = await submitted('Winter')
  const review = (who: string, body: object) => call('POST', `/changes/${change}/review`, as(who), body)
  await review('reviewer', { verdict: 'approve', digest, ticked })
  const { blocked_by } = (await review('second', { verdict: 'request_changes', digest, body: 'No.' })).body
  const dismiss = (who: string) =>
    call('POST', `/changes/${change}/reviews/${blocked_by[0].review_id}/dismiss`, as(who), {
      reason: 'on holiday',
    })
  expect((await dismiss('reviewer')).status).toBe(403)
  expect((await dismiss('admin')).body).toMatchObject({ met: true })
  expect((await dismiss('admin')).status).toBe(409)
  const { entries } = (await call('GET', '/review-policies/history', as('admin'))).body
  expect(entries[0]).toMatchObject({
    what: 'policy',
    actor: admin.userId,
    reason: 'a test',
    old_row: { revision: 1 },
    new_row: { revision: 2 },
  })
  expect((await call('DELETE', '/review-policies?dataset=ads', as('second'))).status).toBe(403)
  expect((await call('DELETE', '/review-policies?dataset=ads', as('admin'))).status).toBe(204)
  expect((await call('DELETE', '/review-policies?dataset=ads', as('admin'))).body.code).toBe(
    'review_policy_not_found',
  )
  expect((await call('GET', '/review-policies', 'viewer')).body.policies).toEqual([])
})

it('answers the risk of a plan, and its filters list the rows', async () => {
  const upload = await uploads.upload(week('Spring'))
  const risk = (await call('GET', `/uploads/${upload.upload_id}/risk`, 'viewer')).body
  expect(risk).toMatchObject({
    upload_id: upload.upload_id,
    plan_digest: upload.plan_digest,
    not_computed: [],
  })
  // A token that can only read gets the same, and nothing is stored for it.
  const other = await uploads.upload(week('Summer'))
  expect((await call('GET', `/uploads/${other.upload_id}/risk`, 'reader')).status).toBe(200)
  const filtered = risk.facts.filter((fact: { filter: object | null }) => fact.filter !== null)
  expect(filtered.length).toBeGreaterThan(5)
  for (const { fact, value, filter } of filtered) {
    const query = new URLSearchParams(filter as Record<string, string>)
    const rows = await call('GET', `/uploads/${upload.upload_id}/plan/rows?${query}`, 'viewer')
    expect([fact, rows.status]).toEqual([fact, 200])
    if (/^rows_/.test(fact)) expect([fact, rows.body.rows.length]).toEqual([fact, value])
    if (fact === 'max') expect(rows.body.rows.length).toBeGreaterThan(0)
    if (fact === 'empty') expect(rows.body.rows.length > 0).toBe(value > 0)
  }
})

it('refuses the approval of whoever uploaded it, and is not content with one from before a stricter policy', async () => {
  const { upload_id: id, plan_digest: digest, change } = await submitted('Own')
  const { actor } = (await call('GET', '/me', 'operator')).body
  const role = (name: string) =>
    call('PUT', `/members/${actor}`, as('admin'), { workspace_id: uploads.ads.workspace, role: name })
  await role('reviewer')
  for (const [path, body] of [
    [`/changes/${change}/review`, { verdict: 'approve', digest, ticked }],
    [`/uploads/${id}/approve`, { digest, ticked }],
  ] as const)
    expect((await call('POST', path, 'operator', body)).body).toMatchObject({ code: 'staging_own_record' })
  await role('operator')
  await policy({ base: { approvals: 1 } })
  await call('POST', `/uploads/${id}/approve`, 'reviewer', { digest, ticked })
  await policy({ base: { approvals: 2 } })
  expect((await call('POST', `/uploads/${id}/promote`, 'operator', { digest })).body.code).toBe(
    'review_incomplete',
  )
  await call('DELETE', '/review-policies?dataset=ads', as('admin'))
})
