/** Sign-in by OpenID Connect against a real provider (oidc-provider) on loopback. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import type { Browser as Chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInvitation } from '../../src/access/invitations.ts'
import { setMember } from '../../src/access/members.ts'
import { createOidcProvider, type OidcProvider } from '../../src/access/oidc.ts'
import { OIDC_CALLBACK, ownPath } from '../../src/http/sign-in.ts'
import { readConfig } from '../../src/kernel/config.ts'
import { launchBrowser } from '../console/browser.ts'
import { useApi } from '../support/api.ts'
import { type Browser, createBrowser } from '../support/browser-session.ts'
import { freePort } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
let issuer: Server
let issuerUrl: string
let publicUrl: string
let port: number
let oidc: OidcProvider
let workspace: string

beforeAll(async () => {
  port = await freePort()
  publicUrl = `http://localhost:${port}`
  issuer = createServer((request, response) => provider.callback()(request, response))
  await new Promise<void>((listening) => issuer.listen(0, '127.0.0.1', listening))
  issuerUrl = `http://localhost:${(issuer.address() as AddressInfo).port}`
  const provider = new Provider(issuerUrl, {
    clients: [
      {
        client_id: 'stagedoor',
        client_secret: 'a secret of the client',
        redirect_uris: [publicUrl + OIDC_CALLBACK],
      },
    ],
    cookies: { keys: ['a key for the cookies of the provider'] },
    claims: { openid: ['sub'], profile: ['name'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `${id} of Example` }),
    }),
  })
  oidc = providerAt(issuerUrl)
})
const api = useApi(db, {
  get publicUrl() {
    return publicUrl
  },
  get signIn() {
    return { oidc }
  },
})
beforeAll(async () => {
  workspace = await createWorkspace(db, 'Acme Media')
  await setMember(db.pool(MIGRATOR), { workspaceId: workspace, userId: 'ada', role: 'admin' })
  await api.app.listen({ port, host: '127.0.0.1' })
})
afterAll(async () => {
  issuer.closeAllConnections()
  await new Promise((closed) => issuer.close(closed))
})

function providerAt(url: string): OidcProvider {
  const config = readConfig({
    OIDC_ISSUER: url,
    OIDC_CLIENT_ID: 'stagedoor',
    OIDC_CLIENT_SECRET: 'a secret of the client',
    OIDC_CLIENT_AUTH: 'basic',
    OIDC_NAME: 'Example',
    PUBLIC_URL: publicUrl,
  })
  return createOidcProvider(config, OIDC_CALLBACK)!
}

/** Signs in at the provider's own pages, without a window. Returns the callback with which it sends the browser back. */
async function atProvider(location: string, login: string): Promise<string> {
  const cookies = new Map<string, string>()
  let address = location
  let form: URLSearchParams | undefined
  for (let step = 0; step < 12; step++) {
    if (address.startsWith(publicUrl)) return address.slice(publicUrl.length + '/api/v1'.length)
    const answer = await fetch(address, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { body: form }),
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      cookies.set(name!, value!)
    }
    form = undefined
    const next = answer.headers.get('location')
    if (next !== null) {
      address = new URL(next, address).href
      continue
    }
    const page = await answer.text()
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
    if (prompt === undefined) throw new Error(`The provider answered ${answer.status}: ${page.slice(0, 500)}`)
    form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login, password: 'any' }) })
    address = new URL(/action="([^"]+)"/.exec(page)![1]!, address).href
  }
  throw new Error('The provider sends the browser in circles')
}

/** Up to the provider, and what it answers. */
async function callbackFor(browser: Browser, login: string, returnTo = '/uploads?a=1'): Promise<string> {
  const begun = await browser.send('GET', `/sign-in/oidc?return_to=${encodeURIComponent(returnTo)}`)
  expect(begun.status).toBe(303)
  return atProvider(String(begun.headers.location), login)
}
const sessions = async () =>
  (await db.owner<{ count: number }>('select count(*)::int as count from iu_core.web_session'))[0]!.count

describe('in a real browser', () => {
  let chromium: Chromium
  beforeAll(async () => {
    chromium = await launchBrowser()
  })
  afterAll(() => chromium.close())

  it('a member signs in at the provider and is back on the page that was asked for', async () => {
    const page = await chromium.newPage()
    await page.goto(`${publicUrl}/settings/members`)
    await page.getByRole('link', { name: 'Sign in with Example' }).click()
    await page.getByPlaceholder('Enter any login').fill('ada')
    await page.getByPlaceholder('and password').fill('any')
    await page.getByRole('button', { name: 'Sign-in' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/settings/members')
    // A change: an invitation, and a token that is shown once.
    await page.getByLabel('Name or e-mail address').fill('grace@example.com')
    await page.getByRole('button', { name: 'Create an invitation link' }).click()
    expect(await page.locator('.settings-secret code').innerText()).toContain(`${publicUrl}/#invitation=`)
    await page.goto(`${publicUrl}/settings/tokens`)
    await page.getByLabel('Name of the program').fill('nightly export')
    await page.getByRole('button', { name: 'Create a token' }).click()
    const secret = await page.locator('.settings-secret .command code').innerText()
    const answer = await fetch(`${publicUrl}/api/v1/me`, { headers: { authorization: `Bearer ${secret}` } })
    expect(await answer.json()).toMatchObject({ name: 'nightly export' })
    await page.getByRole('button', { name: 'Revoke nightly export' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('revoked', { exact: true }).waitFor()
    // Somebody whom the provider knows and Stagedoor does not, in a browser of their own.
    const other = await (await chromium.newContext()).newPage()
    await other.goto(publicUrl)
    await other.getByRole('link', { name: 'Sign in with Example' }).click()
    await other.getByPlaceholder('Enter any login').fill('mallory')
    await other.getByPlaceholder('and password').fill('any')
    await other.getByRole('button', { name: 'Sign-in' }).click()
    await other.getByRole('button', { name: 'Continue' }).click()
    await other.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    expect(await other.locator('#subject').innerText()).toBe('mallory')
  })
})

it('a sign-in leads back to a path of ours and nowhere else', async () => {
  const browser = createBrowser(api.app)
  const back = await browser.send('GET', await callbackFor(browser, 'ada'))
  expect([back.status, back.headers.location]).toEqual([303, '/uploads?a=1'])
  expect((await browser.send('GET', '/me')).body).toMatchObject({ actor: 'ada' })
  expect((await browser.send('GET', '/session')).body).toMatchObject({
    session: { provider: 'oidc' },
    sign_in: { oidc: { name: 'Example' }, link_invitations: false },
  })
  for (const other of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/a\n/b',
    '/api/v1/me',
    'uploads',
    '',
  ])
    expect([other, ownPath(other)]).toEqual([other, '/'])
})

it('two tabs that sign in at once both come back', async () => {
  const browser = createBrowser(api.app)
  const [one, two] = [await callbackFor(browser, 'ada', '/one'), await callbackFor(browser, 'ada', '/two')]
  expect((await browser.send('GET', one)).headers.location).toBe('/one')
  expect((await browser.send('GET', two)).headers.location).toBe('/two')
})

describe('nobody is signed in', () => {
  const refused = async (browser: Browser, path: string, status: number, words: RegExp) => {
    const before = await sessions()
    const answer = await browser.send('GET', path)
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(answer.text).toMatch(words)
    expect(await sessions()).toBe(before)
    expect(browser.cookie).toBe('')
  }

  it('with a callback that was used, of another browser, of another state or too late', async () => {
    const browser = createBrowser(api.app)
    const callback = await callbackFor(browser, 'ada')
    await refused(createBrowser(api.app), callback, 400, /began no such sign-in/)
    await refused(browser, callback.replace(/state=[^&]+/, 'state=x'), 400, /began no such sign-in/)
    expect((await browser.send('GET', callback)).status).toBe(303)
    await browser.send('DELETE', '/session')
    await refused(browser, callback, 400, /began no such sign-in/)
    const late = await callbackFor(browser, 'ada')
    await db.owner('update iu_core.sign_in_flow set expires_at = clock_timestamp()')
    await refused(browser, late, 400, /took longer than ten minutes/)
  })

  it('with a code or an ID token of another sign-in', async () => {
    const browser = createBrowser(api.app)
    const [first, second] = [await callbackFor(browser, 'ada'), await callbackFor(browser, 'ada')]
    const code = /code=[^&]+/.exec(first)![0]
    // The code of the first with the state of the second: its PKCE verifier does not fit.
    await refused(browser, second.replace(/code=[^&]+/, code), 400, /did not accept the code/)
    const third = await callbackFor(browser, 'ada')
    await db.owner(`update iu_core.sign_in_flow set nonce = 'another'`)
    await refused(browser, third, 400, /not for this sign-in \(nonce/)
  })

  it('when the person cancels, and what the address says is not shown', async () => {
    const browser = createBrowser(api.app)
    const { headers } = await browser.send('GET', '/sign-in/oidc')
    const state = new URL(String(headers.location)).searchParams.get('state')
    const words = encodeURIComponent('<b>call 555</b>')
    const path = `/sign-in/oidc/callback?error=access_denied&error_description=${words}&state=${state}&iss=${encodeURIComponent(issuerUrl)}`
    await refused(browser, path, 400, /cancelled, or the identity provider denied/)
  })

  it('who is no member; their id is shown as text', async () => {
    const browser = createBrowser(api.app)
    await refused(
      browser,
      await callbackFor(browser, 'eve<b>'),
      403,
      /not a member of any workspace.*eve&lt;b&gt;/s,
    )
  })

  it('while the provider does not answer', async () => {
    const before = oidc
    const gone = providerAt(`http://localhost:${await freePort()}`)
    const down = createBrowser(api.app)
    Object.assign(oidc, { begin: gone.begin })
    try {
      await refused(down, '/sign-in/oidc', 503, /does not answer/)
    } finally {
      Object.assign(oidc, { begin: providerAt(issuerUrl).begin })
    }
    expect(before).toBe(oidc)
  })
})

it('an invitation makes whoever signs in a member, once, with the name that the provider gives', async () => {
  const { code } = await createInvitation(db.pool(MIGRATOR), {
    workspaceId: workspace,
    invitee: 'Grace',
    role: 'reviewer',
    days: 1,
  })
  const accept = async (login: string) => {
    const browser = createBrowser(api.app)
    const { body } = await browser.send('POST', '/sign-in/oidc', { invitation: code, return_to: '/' })
    return { browser, answer: await browser.send('GET', await atProvider(body.location, login)) }
  }
  // The link alone is not enough where there is a provider.
  const alone = await createBrowser(api.app).send('POST', '/sign-in', { invitation: code })
  expect(alone.body).toMatchObject({ code: 'permission_denied' })
  const { browser, answer } = await accept('grace')
  expect(answer.status).toBe(303)
  expect((await browser.send('GET', '/me')).body).toMatchObject({
    actor: 'grace',
    name: 'grace of Example',
    workspaces: [{ role: 'reviewer' }],
  })
  const second = await accept('heidi')
  expect(second.answer.status).toBe(409)
  expect(second.answer.text).toContain('was accepted already')
  expect((await second.browser.send('GET', '/me')).status).toBe(401)
})
