import { SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { createSignInCode } from '../../src/access/sign-in-codes.ts'
import { SECRET, useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'

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
  it.each(['/api/v1/me', '/api/v1/gates', '/api/v1/events'])('%s answers 401 with a remedy', async (url) => {
    const { status, body, headers } = await api.get(url)
    expect(status).toBe(401)
    expect(headers['content-type']).toContain('application/problem+json')
    expect(body).toMatchObject({
      code: 'unauthenticated',
      status: 401,
      hint: expect.stringContaining('stagedoor token'),
    })
  })

  it('a path of the API that does not exist answers 401, too, and so reveals nothing', async () => {
    expect((await api.get('/api/v1/nothing')).status).toBe(401)
  })
})

it('an encoded path is the same path: no token, no answer', async () => {
  const token = await api.token(operator)
  for (const url of ['/%61pi/v1/me', '/api/v1/%6de', '//api/v1/me', '/api/../api/v1/me']) {
    expect([url, (await api.app.inject({ url })).statusCode]).not.toEqual([url, 200])
  }
  expect((await api.get('/%61pi/v1/me')).status).toBe(401)
  expect((await api.get('/%61pi/v1/me', token)).status).toBe(200)
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
    ['with its role in a list', () => sign({ sub: 'x', exp: soon(), role: ['service_role'] })],
    ['with its role in an object', () => sign({ sub: 'x', exp: soon(), role: { toString: 'service_role' } })],
    ['with no role but null', () => sign({ sub: 'x', exp: soon(), role: null })],
    ['with read_only as a text', () => sign({ sub: 'x', exp: soon(), read_only: 'true' })],
    ['with read_only as a number', () => sign({ sub: 'x', exp: soon(), read_only: 1 })],
    ['with its executor in a list', () => sign({ sub: 'x', exp: soon(), executor: ['DOT'] })],
    ['with its subject in a list', () => sign({ sub: ['a'], exp: soon() })],
    ['with its subject as a number', () => sign({ sub: 7, exp: soon() })],
    ['with an empty subject', () => sign({ sub: '', exp: soon() })],
    ['with NUL in its subject', () => sign({ sub: 'a\0b', exp: soon() })],
    ['with a line break in its subject', () => sign({ sub: 'a\nb', exp: soon() })],
    ['with half a surrogate in its subject', () => sign({ sub: 'a\ud800', exp: soon() })],
    ['with a subject of 256 characters', () => sign({ sub: 'x'.repeat(256), exp: soon() })],
    ['with NUL in another claim', () => sign({ sub: 'x', exp: soon(), profile: { names: ['a\0'] } })],
    ['unsigned', () => `${btoa('{"alg":"none"}')}.${btoa('{"sub":"x","exp":9999999999}')}.`],
    [
      'signed with an algorithm that is not configured',
      () => sign({ sub: 'x', exp: soon() }, SECRET, 'HS512'),
    ],
  ])('%s', async (_name, make) => {
    const { status, body } = await api.get('/api/v1/me', await make())
    expect(status).toBe(401)
    expect(body).toMatchObject({ code: 'token_invalid' })
  })

  it('cut short or damaged says so, in no words of a library', async () => {
    const whole = await sign({ sub: 'x', exp: soon() })
    for (const damaged of [whole.slice(0, whole.lastIndexOf('.')), `${whole}!!`]) {
      const { status, body } = await api.get('/api/v1/me', damaged)
      expect(status).toBe(401)
      expect(body).toMatchObject({
        detail: 'The token is not valid: it is damaged or incomplete',
      })
    }
  })
})

it('a subject with control characters is 401 everywhere, whether a row is there or not', async () => {
  const token = await new SignJWT({
    sub: 'a\0',
    role: 'service_role',
    exp: Math.floor(Date.now() / 1000) + 60,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(SECRET))
  for (const url of [
    '/api/v1/me',
    '/api/v1/metrics',
    '/api/v1/staging',
    `/api/v1/staging/${workspace}`,
    '/api/v1/nothing',
  ])
    expect([url, (await api.get(url, token)).status]).toEqual([url, 401])
})

it('the database refuses such a subject, too', async () => {
  for (const sub of [['a'], { a: 1 }, 7, '', 'a\nb', 'x'.repeat(256)]) {
    const asked = db.as({ role: 'authenticated', claims: { sub } }, (client) =>
      client.query('select iu_core.fn_actor()'),
    )
    await expect(asked, JSON.stringify(sub)).rejects.toMatchObject({ code: 'token_invalid' })
  }
})

it('a request runs under the caller’s role and claims', async () => {
  const { body } = await api.get('/api/v1/me', await api.token(operator))
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
  const { status, body } = await api.get('/api/v1/me', await api.token({ userId, role: 'authenticated' }))
  expect(status).toBe(200)
  expect(body).toMatchObject({ actor: userId, role: 'authenticated', workspaces: [] })
})

it('nobody sees another workspace’s events', async () => {
  await emit(workspace, 'ours')
  await emit(null, 'global')
  const mine = await api.get('/api/v1/events', await api.token(operator))
  const theirs = await api.get('/api/v1/events', await api.token(stranger))
  const subjects = (answer: typeof mine) =>
    (answer.body as { events: { event_subject_ref: string }[] }).events.map(
      (event) => event.event_subject_ref,
    )
  expect(subjects(mine)).toEqual(['ours'])
  expect(subjects(theirs)).toEqual([])
})

it('nothing of one request stays on the connection for the next', async () => {
  const small = db.pool('stagedoor_api')
  await api.get('/api/v1/me', await api.token(operator))
  const { rows } = await small.query(
    `select current_user as role, current_setting('request.jwt.claims', true) as claims`,
  )
  expect(rows[0].role).toBe('stagedoor_api')
  expect(rows[0].claims ?? '').toBe('')
})

it('a read-only token cannot write, whatever the method', async () => {
  const token = await api.token(operator, { readOnly: true })
  expect((await api.get('/api/v1/me', token)).status).toBe(200)
  const reply = await api.app.inject({
    method: 'POST',
    url: '/api/v1/events',
    headers: { authorization: `Bearer ${token}` },
  })
  expect(reply.statusCode).toBe(403)
  await expect(
    db.as({ role: 'service_role', readOnly: true, claims: { sub: 'x' } }, (client) =>
      client.query(`select iu_core.fn_event_emit('system', 'gate_changed')`),
    ),
  ).rejects.toThrow(/read-only transaction/)
})

describe('the code of a sign-in link', () => {
  const exchange = async (code: string) => {
    const reply = await api.app.inject({
      method: 'POST',
      url: '/api/v1/sign-in',
      payload: { code, as: 'token' },
    })
    return { status: reply.statusCode, body: reply.json() as { token: string } }
  }
  const who = () => ({ subject: operator.userId, role: operator.role })

  it('is exchanged for a token once, also by two at the same moment', async () => {
    const code = await createSignInCode(db.pool(MIGRATOR), who())
    const answers = await Promise.all([exchange(code), exchange(code), exchange(code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    const { token } = answers.find(({ status }) => status === 200)!.body
    expect((await api.get('/api/v1/me', token)).body).toMatchObject({ actor: operator.userId })
    expect((await exchange(code)).status).toBe(401)
  })

  it('is not kept, and not good after its time', async () => {
    const code = await createSignInCode(db.pool(MIGRATOR), who())
    expect(JSON.stringify(await db.owner('select * from iu_core.sign_in_code'))).not.toContain(code)
    await db.owner(`update iu_core.sign_in_code set expires_at = clock_timestamp() - interval '1 second'`)
    expect((await exchange(code)).status).toBe(401)
  })

  it('is for people only', async () => {
    await expect(
      createSignInCode(db.pool(MIGRATOR), { subject: 'x', role: 'service_role' }),
    ).rejects.toMatchObject({ code: 'SD001' })
  })
})
