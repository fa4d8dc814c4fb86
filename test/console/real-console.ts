/** The console of a real server, with two people who can sign in. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { freePort, type RunningCli, runCli, startCli } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { launchBrowser } from './browser.ts'

export type Role = 'operator' | 'reviewer'

export interface RealConsole {
  readonly home: string
  readonly url: string
  /** For what a program of this person would ask the API. */
  token(role: Role): string
  /** A page of its own for this person; what the browser complains of fails the test. */
  signIn(role: Role, options?: BrowserContextOptions): Promise<Page>
  /** A file that can be chosen. */
  file(name: string, text: string): string
  /** The id of a file that the operator brought in on the command line. */
  ingest(path: string, ...args: string[]): Promise<string>
  sql<R extends object>(text: string, values?: unknown[]): Promise<R[]>
  /** What the browser says of a refusal that the test is about. */
  forgive(complaint: RegExp): void
}

/** A page asked whether a plan still holds, and before the server looked somebody had promoted it: then there is no plan any more. */
const OVERTAKEN = /status of 409 .*\/plan\/(stale|check)(\?.*)?$/
/** A server that just started on a busy machine may not be ready for a moment; the page shows it, and goes on. */
const NOT_READY = /status of 503 .*\/api\/ready$/

export function useRealConsole(name: string): RealConsole {
  const home = temporaryHome(name)
  const files = temporaryHome(`${name}-files`)
  const complaints: string[] = []
  let server: RunningCli
  let browser: Browser
  let origin: string
  const tokens = new Map<string, string>()
  const pages: Page[] = []

  beforeAll(async () => {
    server = startCli(['start'], { STAGEDOOR_HOME: home, PORT: String(await freePort()) })
    browser = await launchBrowser()
    await server.says(/Ctrl-C stops everything/)
    for (const [, role, link] of server.output().matchAll(/Sign in as (\w+).*\n\s*(\S+)/g)) {
      origin = new URL(link!).origin
      tokens.set(role!, await exchange(new URL(link!)))
    }
  })
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close()
    expect(
      complaints.splice(0).filter((complaint) => !OVERTAKEN.test(complaint) && !NOT_READY.test(complaint)),
    ).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await server?.end()
  })

  return {
    home,
    get url() {
      return origin
    },
    token: (role) => tokens.get(role)!,
    async signIn(role, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
      // As long as expect.poll waits: on a busy machine 30 seconds are not enough.
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      pages.push(page)
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type()))
          complaints.push(`${message.text()} ${message.location().url}`)
      })
      page.on('pageerror', (error) => complaints.push(String(error)))
      // The context has the cookie that the answer sets: this person is signed in in every page of it.
      const signedIn = await context.request.post(`${origin}/api/v1/sign-in`, {
        data: { token: tokens.get(role) },
      })
      if (!signedIn.ok()) throw new Error(`The token is refused: ${await signedIn.text()}`)
      await page.goto(origin)
      await page.getByRole('heading', { name: 'How data flows' }).waitFor()
      return page
    },
    file(fileName, text) {
      const path = join(files, fileName)
      writeFileSync(path, text)
      return path
    },
    async ingest(path, ...args) {
      const { stdout, stderr } = await runCli(
        ['ingest', path, '--dataset', 'ads', '--platform', 'meta', '--as', 'operator', '--json', ...args],
        { STAGEDOOR_HOME: home },
      )
      const id = /"upload_id":\s*"([^"]+)"/.exec(stdout)?.[1]
      if (id === undefined) throw new Error(`It was not ingested:\n${stdout}\n${stderr}`)
      return id
    },
    forgive(complaint) {
      for (const [at, text] of [...complaints.entries()].reverse())
        if (complaint.test(text)) complaints.splice(at, 1)
    },
    async sql<R extends object>(text: string, values: unknown[] = []) {
      const { stdout } = await runCli(['login', '--json'], { STAGEDOOR_HOME: home })
      const client = new pg.Client(JSON.parse(stdout).database_direct_url)
      await client.connect()
      try {
        // The owner of the tables, as any tool of the user's own would be.
        await client.query('set role workflow_admin')
        return (await client.query(text, values)).rows as R[]
      } finally {
        await client.end()
      }
    },
  }
}

/** A sign-in link is good once; whoever opens several windows keeps the token that it gave. */
async function exchange(link: URL): Promise<string> {
  const answer = await fetch(`${link.origin}/api/v1/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: link.hash.replace(/^#code=/, ''), as: 'token' }),
  })
  if (!answer.ok) throw new Error(`The sign-in link is refused: ${await answer.text()}`)
  return ((await answer.json()) as { token: string }).token
}

export function seen(element: Locator): Promise<string> {
  // innerText: what a person sees, not what is in the tree
  return element.innerText()
}
