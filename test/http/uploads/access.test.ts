/** Who may do what: another workspace's people nothing, an agent little, a token that reads only that. */
import { beforeAll, describe, expect, it } from 'vitest'
import { createMember } from '../../support/factories.ts'
import { type Person, useUploads, week } from './uploads-api.ts'

const uploads = useUploads({ approval: true })
const { call } = uploads
const DIGEST = 'a'.repeat(64)
let id: string

const routes = (): [method: string, path: string, body?: object][] => [
  ['GET', `/uploads/${id}`],
  ['GET', `/uploads/${id}/progress`],
  ['GET', `/uploads/${id}/rows`],
  ['PATCH', `/uploads/${id}/rows`, { rows: [{ line: 2, values: { 'Ad name': 'Mine' } }] }],
  ['GET', `/uploads/${id}/problems`],
  ['GET', `/uploads/${id}/reading`],
  ['POST', `/uploads/${id}/corrections`],
  ['GET', `/uploads/${id}/problems.csv`],
  ['POST', `/uploads/${id}/plan`, { on_invalid: 'skip' }],
  ['GET', `/uploads/${id}/plan/rows`],
  ['GET', `/uploads/${id}/risk`],
  ['POST', `/uploads/${id}/submit`, { digest: DIGEST }],
  ['POST', `/uploads/${id}/approve`, { digest: DIGEST, ticked: [] }],
  ['POST', `/uploads/${id}/reject`, { reason: 'no' }],
  ['POST', `/uploads/${id}/promote`, { digest: DIGEST }],
  ['GET', `/uploads/${id}/undo`],
  ['POST', `/uploads/${id}/undo`, { digest: DIGEST }],
  ['POST', `/uploads/${id}/retry`],
  ['POST', `/uploads/${id}/discard`],
  ['GET', `/uploads/${id}/lineage`],
  ['GET', `/uploads/${id}/history`],
  ['GET', `/uploads/${id}/checks`],
  ['GET', `/uploads/${id}/plan/since?digest=${DIGEST}`],
]

const ofTheWorkspace = (): [method: string, path: string, body?: object][] => {
  const { workspace } = uploads.ads
  return [
    ['GET', `/datasets?workspace_id=${workspace}`],
    ['GET', `/datasets/ads/clients?workspace_id=${workspace}`],
    ['GET', `/datasets/ads/mapping?workspace_id=${workspace}&platform=meta`],
    [
      'PUT',
      '/datasets/ads/mapping',
      { workspace_id: workspace, platform: 'meta', headers: {}, field_values: {} },
    ],
    ['GET', `/lineage?workspace_id=${workspace}&target=public.campaigns&id=${id}`],
  ]
}

/** Tries them all and prints what came of each. */
async function attempts(as: Person, list: [string, string, object?][]) {
  const answers: { attempt: string; status: number; code: string }[] = []
  for (const [method, path, body] of list) {
    const answer = await call(method, path, as, body)
    const attempt = `${method} ${path.replace(id, ':id').replaceAll(uploads.ads.workspace, ':theirs')}`
    answers.push({ attempt, status: answer.status, code: answer.body?.code ?? '' })
  }
  const lines = answers.map(({ attempt, status, code }) => `  ${status} ${code.padEnd(20)} ${attempt}`)
  console.log([`as ${as}:`, ...lines].join('\n'))
  return answers
}

const everything = () =>
  uploads.db.owner(`select jsonb_agg(to_jsonb(u) order by upload_id) as uploads from iu_core.ingest_upload u`)

beforeAll(async () => {
  id = (await uploads.upload(week('Theirs'))).upload_id
})

describe('a member of another workspace', () => {
  it('finds nothing of an upload on any route', async () => {
    const before = await everything()
    const answers = await attempts('stranger', routes())
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
    expect(await everything()).toEqual(before)
  })

  it('is refused everything of the workspace itself', async () => {
    const answers = await attempts('stranger', ofTheWorkspace())
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]))
    expect((await call('GET', '/uploads', 'stranger')).body).toEqual({ uploads: [], people: {}, next: null })
    expect(
      (await call('GET', `/uploads?workspace_id=${uploads.ads.workspace}`, 'stranger')).body.uploads,
    ).toEqual([])
  })

  it('uploads neither there nor for a client of there', async () => {
    const there = await uploads.send(week('X'), 'stranger', { workspace_id: uploads.ads.workspace })
    expect(there).toMatchObject({ status: 403, body: { code: 'not_member' } })
    expect((await uploads.send(week('X'), 'stranger')).body).toMatchObject({ code: 'client_unknown' })
    const theirOwn = await uploads.send(week('Theirs'), 'stranger', { client_id: uploads.other.client })
    expect(theirOwn).toMatchObject({ status: 202, body: { created: true } })
    await uploads.settled(theirOwn.body.upload.upload_id, 'stranger')
    expect(uploads.spooled()).toEqual([])
  })
})

it('nobody without a token gets anything', async () => {
  for (const [method, path] of [...routes(), ...ofTheWorkspace(), ['POST', '/uploads'] as [string, string]]) {
    const reply = await uploads.api.app.inject({ method: method as 'GET', url: `/api/v1${path}` })
    expect([path, reply.statusCode]).toEqual([path, 401])
  }
})

describe('an agent', () => {
  it('does not see what others uploaded', async () => {
    const answers = await attempts('agent', routes())
    // What an agent never does is refused before it is asked about which upload.
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403, 404]))
    expect(answers.filter(({ status }) => status === 403).map(({ attempt }) => attempt)).toEqual([
      'POST /uploads/:id/approve',
      'POST /uploads/:id/reject',
      'POST /uploads/:id/promote',
      'POST /uploads/:id/undo',
    ])
    expect((await call('GET', '/uploads', 'agent')).body.uploads).toEqual([])
    expect((await uploads.send(week('Theirs'), 'agent')).body).toMatchObject({
      status: 409,
      detail: expect.not.stringContaining(id),
    })
    expect(uploads.spooled()).toEqual([])
  })

  it('uploads, repairs, plans and submits its own, and decides nothing', async () => {
    const upload = await uploads.upload(week('Of the agent', { spend: 'x' }), 'agent')
    const path = `/uploads/${upload.upload_id}`
    expect(upload).toMatchObject({
      uploaded_by: uploads.ads.agent.userId,
      planned_by: uploads.ads.agent.userId,
      may: {
        repair: { allowed: true },
        plan: { allowed: true },
        approve: { allowed: false },
        promote: { allowed: false, why: expect.stringContaining('right to operate') },
        undo: { allowed: false },
      },
    })
    const repaired = await call('PATCH', `${path}/rows`, 'agent', {
      rows: [{ line: 2, values: { 'Amount spent (AUD)': '5' } }],
    })
    expect(repaired).toMatchObject({ status: 200, body: { invalid_count: 0, plan_refusal: null } })
    const digest = repaired.body.plan_digest
    expect((await call('POST', `${path}/submit`, 'agent', { digest })).body).toMatchObject({
      review_status: 'pending',
    })
    for (const [what, body] of [
      ['approve', { digest, ticked: ['changes'] }],
      ['reject', { reason: 'no' }],
      ['promote', { digest }],
      ['undo', { digest }],
    ] as const) {
      expect([what, (await call('POST', `${path}/${what}`, 'agent', body)).status]).toEqual([what, 403])
    }
    expect((await call('GET', path, 'agent')).body.review_status).toBe('pending')
    const answers = await attempts('agent', ofTheWorkspace())
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 403, 403])
  })

  it('stays one, even if its subject is a reviewer', async () => {
    const token = await uploads.api.token({ userId: uploads.ads.reviewer.userId, role: 'stagedoor_agent' })
    const { body } = await uploads.api.post(`/api/v1/uploads/${id}/approve`, token, { digest: DIGEST })
    expect(body).toMatchObject({ status: 403, code: 'permission_denied' })
  })
})

describe('four eyes', () => {
  it('nobody approves what they uploaded or corrected, whoever submitted it', async () => {
    const upload = await uploads.upload(week('Four eyes', { spend: 'x' }))
    const path = `/uploads/${upload.upload_id}`
    const repaired = await call('PATCH', `${path}/rows`, 'reviewer', {
      rows: [{ line: 2, values: { 'Amount spent (AUD)': '5' } }],
    })
    const digest = repaired.body.plan_digest
    await call('POST', `${path}/submit`, 'operator', { digest })
    const theirs = await call('GET', path, 'reviewer')
    expect(theirs.body.may.approve).toEqual({
      allowed: false,
      why: 'You put something into it yourself. Somebody else must decide.',
    })
    const own = await call('POST', `${path}/approve`, 'reviewer', { digest, ticked: ['changes'] })
    expect(own).toMatchObject({ status: 403 })
    expect((await call('POST', `${path}/approve`, 'operator', { digest, ticked: ['changes'] })).status).toBe(
      403,
    )

    const second = await createMember(uploads.db, uploads.ads.workspace, 'reviewer')
    uploads.tokens.viewer = await uploads.api.token(second)
    expect((await call('GET', path, 'viewer')).body.may.approve).toEqual({ allowed: true })
    const unticked = await call('POST', `${path}/approve`, 'viewer', { digest, ticked: [] })
    expect(unticked.body).toMatchObject({ code: 'staging_checklist_open' })
    const stale = await call('POST', `${path}/approve`, 'viewer', { digest: DIGEST, ticked: ['changes'] })
    expect(stale.body).toMatchObject({ status: 409, code: 'plan_stale' })
    const approved = await call('POST', `${path}/approve`, 'viewer', { digest, ticked: ['changes'] })
    expect(approved.body).toMatchObject({ review_status: 'approved', may: { promote: { allowed: true } } })
  })

  it('a rejected plan says why, and can be made again', async () => {
    const upload = await uploads.upload(week('Rejected'))
    const path = `/uploads/${upload.upload_id}`
    await call('POST', `${path}/submit`, 'operator', { digest: upload.plan_digest })
    const rejected = await call('POST', `${path}/reject`, 'reviewer', { reason: 'The wrong week.' })
    expect(rejected.body).toMatchObject({ review_status: 'rejected', review_reason: 'The wrong week.' })
    const again = await call('POST', `${path}/plan`, 'operator', { on_invalid: 'refuse' })
    expect(again.body).toMatchObject({ review_status: 'not_submitted', may: { submit: { allowed: true } } })
  })
})

describe('a token that only reads', () => {
  it('reads everything and changes nothing', async () => {
    const before = await everything()
    const answers = await attempts('reader', [...routes(), ...ofTheWorkspace()])
    for (const { attempt, status } of answers) {
      if (attempt.startsWith('GET'))
        expect([attempt, status < 400 || attempt.endsWith('/undo')]).toEqual([attempt, true])
      else expect([attempt, status]).toEqual([attempt, 403])
    }
    expect((await uploads.send(week('Y'), 'reader')).status).toBe(403)
    expect(await everything()).toEqual(before)
    const { body } = await call('GET', `/uploads/${id}`, 'reader')
    for (const may of Object.values(body.may)) {
      expect(may).toEqual({
        allowed: false,
        why: 'This token can only read. Sign in with one that can write.',
      })
    }
  })
})

it('a viewer neither uploads nor corrects', async () => {
  const viewer = await createMember(uploads.db, uploads.ads.workspace, 'viewer')
  uploads.tokens.viewer = await uploads.api.token(viewer)
  expect((await uploads.send(week('Z'), 'viewer')).status).toBe(403)
  const corrections = { rows: [{ line: 2, values: { 'Ad name': 'Mine' } }] }
  expect((await call('PATCH', `/uploads/${id}/rows`, 'viewer', corrections)).status).toBe(403)
  expect((await call('GET', `/uploads/${id}`, 'viewer')).body.may.repair).toMatchObject({ allowed: false })
})
