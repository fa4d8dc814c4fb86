import { beforeAll, expect, it } from 'vitest'
import { openIssue } from '../../../src/events/issues.ts'
import { newWebhookSecret } from '../../../src/jobs/webhooks.ts'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { serviceToken } from './executors-api.ts'

const db = useDatabase()
const api = useApi(db, { webhookHosts: ['chat.example.com', '127.0.0.1:9999'] })
let workspace: string
let admin: Member
let operator: Member
let viewer: Member
let stranger: Member

beforeAll(async () => {
  workspace = await createWorkspace(db)
  admin = await createMember(db, workspace, 'admin')
  operator = await createMember(db, workspace, 'operator')
  viewer = await createMember(db, workspace, 'viewer')
  stranger = await createMember(db, await createWorkspace(db, 'Other'), 'admin')
})

async function send(method: 'PUT' | 'DELETE', url: string, token: string, payload?: object) {
  const reply = await api.app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${token}` },
    ...(payload && { payload }),
  })
  return { status: reply.statusCode, body: reply.body === '' ? null : reply.json() }
}

it('issues are listed in pages for their workspace and resolved once, by those who may operate', async () => {
  const issue = (subject: string) =>
    openIssue(db.pool('stagedoor_worker'), {
      code: 'loop',
      severity: 'error',
      subject,
      title: `It loops: ${subject}`,
      workspace,
    })
  const [first, second] = [await issue('a'), await issue('b')]
  const token = await api.token(operator)
  const page = (await api.get('/api/v1/issues?limit=1', token)).body as { issues: unknown[]; next: string }
  expect(page).toMatchObject({ issues: [{ issue_id: second, occurrences: '1' }], next: second })
  expect((await api.get(`/api/v1/issues?limit=1&after=${page.next}`, token)).body).toMatchObject({
    issues: [{ issue_id: first }],
    next: null,
  })
  expect((await api.get('/api/v1/issues', await api.token(stranger))).body).toEqual({
    issues: [],
    next: null,
  })
  expect((await api.post(`/api/v1/issues/${first}/resolve`, await api.token(viewer))).status).toBe(403)
  expect((await api.post(`/api/v1/issues/${first}/resolve`, await api.token(stranger))).status).toBe(404)
  expect(
    (await api.post(`/api/v1/issues/${first}/resolve`, token, { resolution: 'cut the loop' })).body,
  ).toMatchObject({
    resolved_by: operator.userId,
    resolution: 'cut the loop',
  })
  expect((await api.post(`/api/v1/issues/${first}/resolve`, token)).status).toBe(409)
  expect((await api.get('/api/v1/issues', token)).body).toMatchObject({ issues: [{ issue_id: second }] })
  expect((await api.get('/api/v1/issues?resolved=true', token)).body).toMatchObject({ issues: [{}, {}] })
})

it('schedules are seen by everybody and set by the back end', async () => {
  const service = await serviceToken()
  const nightly = { cron: '0 6 * * 1-5', time_zone: 'Europe/Berlin', job_kind: 'send_report' }
  expect((await send('PUT', '/api/v1/schedules/nightly', await api.token(admin), nightly)).status).toBe(403)
  expect(await send('PUT', '/api/v1/schedules/nightly', service, nightly)).toMatchObject({
    status: 200,
    body: { schedule: 'nightly', enabled: true },
  })
  const { schedules } = (await api.get('/api/v1/schedules', await api.token(viewer))).body as {
    schedules: { schedule: string; next_at: string }[]
  }
  const next = schedules.find(({ schedule }) => schedule === 'nightly')!.next_at
  expect(new Date(next).getTime()).toBeGreaterThan(Date.now())
  expect(
    await send('PUT', '/api/v1/schedules/nightly', service, { ...nightly, cron: 'every day' }),
  ).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('every day') },
  })
  expect((await send('DELETE', '/api/v1/schedules/nightly', service)).status).toBe(204)
  expect((await send('DELETE', '/api/v1/schedules/nightly', service)).status).toBe(404)
})

it('webhook targets are kept by administrators of their workspace, and the secret never comes back', async () => {
  const secret = newWebhookSecret()
  const target = {
    url: 'https://chat.example.com/hooks/1',
    purpose: 'review',
    secret,
    workspace_id: workspace,
  }
  const token = await api.token(admin)
  for (const member of [operator, viewer, stranger]) {
    expect((await send('PUT', '/api/v1/webhooks/chat', await api.token(member), target)).status).toBe(403)
  }
  expect((await send('PUT', '/api/v1/webhooks/chat', token, target)).status).toBe(204)
  for (const url of [
    'http://127.0.0.1/hooks',
    'http://127.0.0.1:8080/hooks',
    'https://10.0.0.1/hooks',
    'http://chat.example.com/hooks',
    'https://elsewhere.example.com/hooks',
    'https://[::1]/hooks',
  ]) {
    expect(await send('PUT', '/api/v1/webhooks/chat', token, { ...target, url }), url).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('Nothing would be sent there') },
    })
  }
  const list = (await api.get(`/api/v1/webhooks?workspace_id=${workspace}`, token)).body
  expect(list).toMatchObject({
    targets: [{ target_code: 'chat', url: target.url, enabled: true, registered_by: admin.userId }],
  })
  expect(JSON.stringify(list)).not.toContain(secret)
  expect(
    (await api.get(`/api/v1/webhooks?workspace_id=${workspace}`, await api.token(operator))).status,
  ).toBe(403)
  expect((await api.get('/api/v1/webhooks', token)).status).toBe(403)
  expect((await send('PUT', '/api/v1/webhooks/chat', token, { enabled: false })).status).toBe(204)
  expect((await send('DELETE', '/api/v1/webhooks/chat', await api.token(stranger))).status).toBe(404)
  expect((await send('DELETE', '/api/v1/webhooks/chat', token)).status).toBe(204)
  expect((await send('DELETE', '/api/v1/webhooks/chat', await serviceToken())).status).toBe(404)
})
