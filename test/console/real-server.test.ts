import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort, type RunningCli, runCli, startCli } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { launchBrowser } from './browser.ts'

const home = temporaryHome('console')
let server: RunningCli
let browser: Browser

beforeAll(async () => {
  server = startCli(['start'], { STAGEDOOR_HOME: home, PORT: String(await freePort()) })
  browser = await launchBrowser()
  await server.says(/Ctrl-C stops everything/)
})
afterAll(async () => {
  await browser.close()
  await server.end()
})

it('the sign-in link that start prints leads to the overview, live and without a console error', async () => {
  const [, link] = await server.says(/Sign in as operator.*\n\s*(\S+)/)
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(link!)
  await page.getByRole('heading', { name: 'How data flows' }).waitFor()
  expect(page.url()).not.toContain('token')
  await page.getByText('Gate changed').first().waitFor()

  // What somebody does on the command line shows without a reload.
  const rows = await page.getByText('Gate changed').count()
  await runCli(['gate', 'close', 'queue.consumer_dispatch.enabled'], { STAGEDOOR_HOME: home })
  await expect.poll(() => page.getByText('Gate changed').count()).toBe(rows + 1)

  await page.goto(`${new URL(link!).origin}/api/v1/docs`)
  await page.getByText('Is the process alive?').first().waitFor()
  expect(errors).toEqual([])
})
