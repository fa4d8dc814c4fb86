import { SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { SECRET, useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
let workspace: string
let operator: Member
let stranger: Member

beforeAll(async () => {
  workspace = await createWorkspace(db, 'Acme Media')
  operator = await createMember(db, workspace, 'operator')
  stranger = await createMember(db, await createWorkspace(db, 'Other'), 'admin')
})

async function emit(workspaceId: string | null, subject: string): Promise<void> {
  await db
    .pool('stagedoor_worker')
    .query(
      `select iu_core.fn_event_emit('staging', 'record_created', p_event_subject_ref => $1, p_workspace_id => $2)`,
      [subject, workspaceId],
    )
}

describe('without a token', () => {
  it.each(['/api/me', '/api/gates', '/api/events'])('%s answers 401 with a remedy', async (url) => {
    const { status, body, headers } = await api.get(url)
    expect(status).toBe(401)
    expect(headers['content-type']).toContain('application/problem+json')
    expect(body).toMatchObject({
      code: 'unauthenticated',
      status: 401,
      hint: expect.stringContaining('stagedoor token'),
    })
  })

  it('a path of the API that does not exist answers 401, too, and so tells nothing', async () => {
    expect((await api.get('/api/nothing')).status).toBe(401)
  })
})

it('an encoded path is the same path: no token, no answer', async () => {
  const token = await api.token(operator)
  for (const url of ['/%61pi/me', '/api/%6de', '//api/me', '/api/../api/me']) {
    expect([url, (await api.app.inject({ url })).statusCode]).not.toEqual([url, 200])
  }
  expect((await api.get('/%61pi/me')).status).toBe(401)
  expect((await api.get('/%61pi/me', token)).status).toBe(200)
})

describe('a bad token is refused', () => {
  const sign = (claims: Record<string, unknown>, secret = SECRET, alg = 'HS256') =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret))
  const soon = () => Math.floor(Date.now() / 1000) + 60

  it.each<[string, () => Promise<string> | string]>([
    ['nonsense', () => 'nonsense'],
    [
      'signed with another secret',
      () => sign({ sub: 'x', exp: soon() }, 'another secret, long enough for HS256'),
    ],
    ['expired', () => sign({ sub: 'x', exp: 1 })],
    ['without expiry', () => sign({ sub: 'x' })],
    ['without subject', () => sign({ exp: soon() })],
    ['naming the owner as its role', () => sign({ sub: 'x', exp: soon(), role: 'workflow_admin' })],
    [
      'naming a role that could inject SQL',
      () => sign({ sub: 'x', exp: soon(), role: 'authenticated"; drop table x' }),
    ],
    ['unsigned', () => `${btoa('{"alg":"none"}')}.${btoa('{"sub":"x","exp":9999999999}')}.`],
    [
      'signed with an algorithm that is not configured',
      () => sign({ sub: 'x', exp: soon() }, SECRET, 'HS512'),
    ],
  ])('%s', async (_name, make) => {
    const { status, body } = await api.get('/api/me', await make())
    expect(status).toBe(401)
    expect(body).toMatchObject({ code: 'token_invalid' })
  })
})

it('a request runs under the caller’s role and claims', async () => {
  const { body } = await api.get('/api/me', await api.token(operator))
  expect(body).toEqual({
    actor: operator.userId,
    name: null,
    role: 'authenticated',
    workspaces: [
      { id: workspace, name: 'Acme Media', role: 'operator', rights: ['read', 'stage', 'operate'] },
    ],
  })
})

it('a quote in a claim stays data', async () => {
  const userId = `o'hara"; reset role; --`
  const { status, body } = await api.get('/api/me', await api.token({ userId, role: 'authenticated' }))
  expect(status).toBe(200)
  expect(body).toMatchObject({ actor: userId, role: 'authenticated', workspaces: [] })
})

it('nobody sees another workspace’s events', async () => {
  await emit(workspace, 'ours')
  await emit(null, 'global')
  const mine = await api.get('/api/events', await api.token(operator))
  const theirs = await api.get('/api/events', await api.token(stranger))
  const subjects = (answer: typeof mine) =>
    (answer.body as { events: { event_subject_ref: string }[] }).events.map(
      (event) => event.event_subject_ref,
    )
  expect(subjects(mine)).toEqual(['ours'])
  expect(subjects(theirs)).toEqual([])
})

it('nothing of one request stays on the connection for the next', async () => {
  const small = db.pool('stagedoor_api')
  await api.get('/api/me', await api.token(operator))
  const { rows } = await small.query(
    `select current_user as role, current_setting('request.jwt.claims', true) as claims`,
  )
  expect(rows[0].role).toBe('stagedoor_api')
  expect(rows[0].claims ?? '').toBe('')
})

it('a read-only token cannot write, whatever the method', async () => {
  const token = await api.token(operator, { readOnly: true })
  expect((await api.get('/api/me', token)).status).toBe(200)
  const reply = await api.app.inject({
    method: 'POST',
    url: '/api/events',
    headers: { authorization: `Bearer ${token}` },
  })
  expect(reply.statusCode).toBe(403)
  await expect(
    db.as({ role: 'service_role', readOnly: true, claims: { sub: 'x' } }, (client) =>
      client.query(`select iu_core.fn_event_emit('system', 'gate_changed')`),
    ),
  ).rejects.toThrow(/read-only transaction/)
})
