/** Sessions of the console: cookie, forged requests, fixation, expiry, sign-out. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { createSignInCode } from '../../src/access/sign-in-codes.ts'
import { useApi } from '../support/api.ts'
import { type Browser, createBrowser } from '../support/browser-session.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const api = useApi(db)
/** The same database with answers that are kept, as a second process has them. */
const caching = useApi(db, {
  signIn: { credentialCacheMs: 60_000 },
  publicUrl: 'https://stagedoor.example.com',
})
/** Behind a proxy in a network of its own. */
const proxied = useApi(db, { trustProxy: ['10.0.0.0/8'], rateLimit: 5 })
let operator: Member
let admin: Member

beforeAll(async () => {
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  const workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  admin = await createMember(db, workspace, 'admin')
})

async function signedIn(who: Member = operator, on = api): Promise<Browser> {
  const browser = createBrowser(on.app)
  const code = await createSignInCode(db.pool(MIGRATOR), { subject: who.userId, role: who.role })
  const { status } = await browser.send('POST', '/sign-in', { code })
  expect(status).toBe(200)
  return browser
}

/** A change that needs no right: it is refused for its body, not for the session. */
const change = (browser: Browser, headers: Record<string, string>) =>
  browser.send('POST', '/staging', {}, { 'x-stagedoor-csrf': '', ...headers })

it('a link signs in with a cookie that scripts cannot read, and the token is nowhere', async () => {
  const browser = await signedIn()
  expect(browser.setCookie).toMatch(/^stagedoor_session=[\w-]{43}; .*Path=\/; HttpOnly; SameSite=Lax$/)
  expect(browser.setCookie).not.toContain('Secure')
  expect((await signedIn(operator, caching)).setCookie).toMatch(
    /^__Host-stagedoor_session=[\w-]{43}; .*Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  )
  const me = await browser.send('GET', '/me')
  expect(me).toMatchObject({ status: 200, body: { actor: operator.userId, role: 'authenticated' } })
  const { body } = await browser.send('GET', '/session')
  expect(body).toMatchObject({ session: { provider: 'link', csrf: expect.stringMatching(/^[\w-]{43}$/) } })
  const kept = JSON.stringify(await db.owner('select * from iu_core.web_session'))
  expect(kept).not.toContain(browser.cookie)
  expect(kept).not.toContain(body.session.csrf)
  expect((await createBrowser(api.app).send('GET', '/session')).body).toMatchObject({ session: null })
})

it('a token is exchanged for a session that ends with it, and one of a program for none', async () => {
  const browser = createBrowser(api.app)
  const token = await api.token(operator, { expiresIn: '2m', readOnly: true })
  const { body } = await browser.send('POST', '/sign-in', { token })
  expect(new Date(body.session.expires_at).getTime()).toBeLessThan(Date.now() + 121_000)
  expect((await browser.send('POST', '/staging', {})).body).toMatchObject({
    detail: expect.stringContaining('only read'),
  })
  expect((await browser.send('DELETE', '/session')).status).toBe(204)
  const service = await api.token({ userId: 'job', role: 'service_role' })
  expect((await browser.send('POST', '/sign-in', { token: service })).status).toBe(403)
})

describe('the cookie', () => {
  it('of an earlier version works until its session expires, and goes with the sign-out', async () => {
    const { cookie } = await signedIn(operator, caching)
    const old = createBrowser(caching.app, cookie)
    expect((await old.send('GET', '/me')).body).toMatchObject({ actor: operator.userId })
    const { headers } = await old.send('DELETE', '/session')
    expect(String(headers['set-cookie'])).toMatch(/stagedoor_session=;.*,stagedoor_session=;/)
    expect(old.cookie).toBe('')
  })

  it('has the port in its name over http, so that two installations on one host do not share it', async () => {
    const [one, other] = ['localhost:4001', 'localhost:4002']
    const code = await createSignInCode(db.pool(MIGRATOR), { subject: operator.userId, role: operator.role })
    const browser = createBrowser(api.app)
    await browser.send('POST', '/sign-in', { code }, { host: one })
    expect(browser.setCookie).toMatch(/^stagedoor_session_4001=/)
    expect((await browser.send('GET', '/me', undefined, { host: one })).status).toBe(200)
    expect((await browser.send('GET', '/me', undefined, { host: other })).body).toMatchObject({
      code: 'unauthenticated',
    })
    // What is asked there ends nothing here.
    expect((await browser.send('GET', '/session', undefined, { host: other })).headers['set-cookie']).toBe(
      undefined,
    )
  })

  it('is Secure, and callers are told apart, behind a proxy that is trusted, and only there', async () => {
    const forwarded = {
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-host': 'door.example.com',
    }
    const signIn = async (on: typeof api, remoteAddress: string) => {
      const code = await createSignInCode(db.pool(MIGRATOR), { subject: admin.userId, role: admin.role })
      const { headers } = await on.app.inject({
        method: 'POST',
        url: '/api/v1/sign-in',
        payload: { code },
        headers: forwarded,
        remoteAddress,
      })
      return String(headers['set-cookie'])
    }
    expect(await signIn(api, '10.1.2.3')).toMatch(/^stagedoor_session=.*HttpOnly; SameSite/)
    expect(await signIn(proxied, '192.0.2.1')).toMatch(/^stagedoor_session=.*HttpOnly; SameSite/)
    expect(await signIn(proxied, '10.1.2.3')).toMatch(/^__Host-stagedoor_session=.*Secure/)
    // Whoever guesses is limited by their own address, and not by that of the proxy or one that they made up.
    let last = 0
    const guess = async (client: string, remoteAddress = '10.1.2.3') =>
      (
        await proxied.app.inject({
          method: 'POST',
          url: '/api/v1/sign-in',
          payload: { code: 'x'.repeat(43) },
          headers: { 'x-forwarded-for': client },
          remoteAddress,
        })
      ).statusCode
    for (let guesses = 0; guesses < 6; guesses++) last = await guess('203.0.113.1')
    expect(last).toBe(429)
    expect(await guess('9.9.9.9, 203.0.113.1')).toBe(429)
    expect(await guess('203.0.113.2')).toBe(401)
    for (let guesses = 0; guesses < 6; guesses++) last = await guess('203.0.113.3', '192.0.2.9')
    expect(last).toBe(429)
    expect(await guess('203.0.113.4', '192.0.2.9')).toBe(429)
  })
})

describe('a change that the cookie authenticates', () => {
  it('needs the token of this very session', async () => {
    const [browser, other] = [await signedIn(), await signedIn(admin)]
    const refused = { status: 403, body: { code: 'csrf_failed' } }
    const without = await browser.send('POST', '/staging', {}, { 'x-stagedoor-csrf': undefined })
    expect(without).toMatchObject(refused)
    expect(await change(browser, { 'x-stagedoor-csrf': 'wrong' })).toMatchObject(refused)
    expect(await change(browser, { 'x-stagedoor-csrf': await other.csrf() })).toMatchObject(refused)
    expect(await change(browser, { 'x-stagedoor-csrf': await browser.csrf() })).toMatchObject({
      status: 400,
      body: { code: 'request_invalid' },
    })
    for (const method of ['PUT', 'PATCH', 'DELETE'] as const)
      expect(await browser.send(method, '/nothing', {}, { 'x-stagedoor-csrf': 'wrong' })).toMatchObject(
        refused,
      )
  })

  it('comes from a page of ours, if it says from where it comes', async () => {
    const browser = await signedIn()
    const csrf = await browser.csrf()
    const from = (origin: string) => change(browser, { 'x-stagedoor-csrf': csrf, origin })
    for (const origin of ['https://evil.example', 'null', 'http://localhost:81'])
      expect(await from(origin)).toMatchObject({ status: 403, body: { code: 'csrf_failed' } })
    expect((await from('http://localhost:80')).status).toBe(400)
    // Nor can another site sign somebody in as somebody else.
    const code = await createSignInCode(db.pool(MIGRATOR), { subject: admin.userId, role: admin.role })
    const planted = await browser.send('POST', '/sign-in', { code }, { origin: 'https://evil.example' })
    expect(planted).toMatchObject({ status: 403, body: { code: 'csrf_failed' } })
  })

  it('needs none of it with a token, which has precedence over a cookie', async () => {
    const browser = await signedIn()
    const headers = {
      authorization: `Bearer ${await api.token(admin)}`,
      origin: 'https://evil.example',
      'x-stagedoor-csrf': undefined,
    }
    expect((await browser.send('POST', '/staging', {}, headers)).body).toMatchObject({
      code: 'request_invalid',
    })
    expect((await browser.send('GET', '/me', undefined, headers)).body).toMatchObject({ actor: admin.userId })
    // A token that is refused is not replaced by the cookie.
    const bad = await browser.send('GET', '/me', undefined, { authorization: 'Bearer x.y.z' })
    expect(bad.status).toBe(401)
  })
})

it('an id that was planted in the browser, or was there before, is not the id after the sign-in', async () => {
  const planted = createBrowser(api.app, 'x'.repeat(43))
  expect((await planted.send('GET', '/me')).body).toMatchObject({ code: 'session_invalid' })
  const first = await signedIn()
  const before = first.cookie
  const code = await createSignInCode(db.pool(MIGRATOR), { subject: admin.userId, role: admin.role })
  await first.send('POST', '/sign-in', { code })
  expect(first.cookie).not.toBe(before)
  expect((await createBrowser(api.app, before).send('GET', '/me')).status).toBe(401)
  expect((await first.send('GET', '/me')).body).toMatchObject({ actor: admin.userId })
})

describe('a session ends', () => {
  const moved = (browser: Browser, set: string) =>
    db.owner(`update iu_core.web_session set ${set} where id_hash = encode(sha256($1::bytea), 'hex')`, [
      browser.cookie,
    ])

  it('when it is too old, however active it is', async () => {
    const browser = await signedIn()
    await moved(browser, `expires_at = clock_timestamp() + interval '1 hour'`)
    expect((await browser.send('GET', '/me')).status).toBe(200)
    await moved(browser, `expires_at = clock_timestamp()`)
    expect(await browser.send('GET', '/me')).toMatchObject({ status: 401, body: { code: 'session_invalid' } })
    expect((await browser.send('GET', '/session')).body.session).toBeNull()
  })

  it('when it was idle for too long; a use is written once a minute', async () => {
    const browser = await signedIn()
    const seenAt = async () =>
      (await moved(browser, 'user_agent = user_agent')) &&
      String(
        (
          await db.owner<{ at: Date }>(
            `select last_seen_at as at from iu_core.web_session where id_hash = encode(sha256($1::bytea), 'hex')`,
            [browser.cookie],
          )
        )[0]!.at.getTime(),
      )
    const first = await seenAt()
    await browser.send('GET', '/me')
    expect(await seenAt()).toBe(first)
    await moved(browser, `last_seen_at = clock_timestamp() - interval '11 hours'`)
    const idle = await seenAt()
    expect((await browser.send('GET', '/me')).status).toBe(200)
    expect(await seenAt()).not.toBe(idle)
    await moved(browser, `last_seen_at = clock_timestamp() - interval '12 hours'`)
    expect((await browser.send('GET', '/me')).status).toBe(401)
  })

  it('with a sign-out, here or everywhere, at once also where answers are kept', async () => {
    const person = await createMember(db, await createWorkspace(db, 'Own'), 'viewer')
    const [one, two, three] = [
      await signedIn(person, caching),
      await signedIn(person, caching),
      await signedIn(person, caching),
    ]
    const stranger = await signedIn(admin, caching)
    const { body } = await one.send('GET', '/sessions')
    expect(body.sessions.map(({ current }: { current: boolean }) => current).sort()).toEqual([
      false,
      false,
      true,
    ])
    expect((await two.send('GET', '/me')).status).toBe(200)
    expect((await two.send('DELETE', '/session', undefined, { 'x-stagedoor-csrf': undefined })).status).toBe(
      403,
    )
    expect((await two.send('DELETE', '/session')).status).toBe(204)
    expect((await two.send('GET', '/me')).status).toBe(401)
    // Of others nobody ends one.
    const theirs = body.sessions.find(({ current }: { current: boolean }) => current).session_id
    expect((await stranger.send('DELETE', `/sessions/${theirs}`)).status).toBe(404)
    expect((await three.send('GET', '/me')).status).toBe(200)
    expect((await one.send('DELETE', '/sessions')).body).toEqual({ ended: 2 })
    for (const browser of [one, three]) expect((await browser.send('GET', '/me')).status).toBe(401)
    expect((await stranger.send('GET', '/me')).status).toBe(200)
  })

  it('as the twentieth before the newest, and the maintenance deletes what ended', async () => {
    const person = await createMember(db, await createWorkspace(db, 'Many'), 'viewer')
    const first = await signedIn(person)
    for (let n = 0; n < 20; n++) await signedIn(person)
    expect((await first.send('GET', '/me')).status).toBe(401)
    await db.pool('stagedoor_worker').query('select iu_core.fn_access_cleanup()')
    const [row] = await db.owner<{ live: number }>(
      'select count(*)::int as live from iu_core.web_session where subject = $1',
      [person.userId],
    )
    expect(row!.live).toBe(20)
  })
})

it('server-sent events come with the cookie alone', async () => {
  const browser = await signedIn()
  const { status, body } = await browser.send('GET', `/uploads/${randomUUID()}/progress`)
  expect(status).toBe(404)
  expect(body.code).toBe('upload_not_found')
})

it('nobody but the server reads or calls anything of it in the database', async () => {
  const statements = [
    'select from iu_core.web_session',
    'select from iu_core.sign_in_flow',
    'select from iu_core.machine_token',
    'select from iu_core.invitation',
    `select iu_core.fn_session_create('${'a'.repeat(64)}', 'ada', 'authenticated', 'link', '', '1 h', '1 h')`,
    `select iu_core.fn_session_check('${'a'.repeat(64)}')`,
    `select iu_core.fn_session_list('ada')`,
    `select iu_core.fn_session_revoke('ada')`,
    `select iu_core.fn_machine_token_check('${'a'.repeat(64)}')`,
    `select iu_core.fn_invitation_accept('${'a'.repeat(64)}', 'ada')`,
    `select iu_core.fn_invitation_show('${'a'.repeat(64)}')`,
    `select iu_core.fn_sign_in_flow_take('a', 'b')`,
    `select iu_core.fn_member_write('${randomUUID()}', 'ada', 'admin', null)`,
    `select iu_core.fn_access_cleanup()`,
  ]
  for (const role of ['authenticated', 'stagedoor_reviewer', 'stagedoor_agent', 'stagedoor_executor', 'anon'])
    for (const sql of statements) {
      const tried = db.as({ role, claims: { sub: admin.userId } }, (client) => client.query(sql))
      expect([role, sql, await sqlstateOf(tried)]).toEqual([role, sql, '42501'])
    }
  // Not even the server reads the rows: it calls functions.
  const read = db.as({ role: 'service_role' }, (client) => client.query('select from iu_core.web_session'))
  expect(await sqlstateOf(read)).toBe('42501')
})
