/** The documentation in the console: contents, pages, links between them, search. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('docs')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const VIEWS = [
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'dark', width: 390 },
] as const

/** What axe finds, and whether the page is wider than its window. */
async function findings(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const { colorScheme, width } of VIEWS) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    // Through the debugger: the page's own policy forbids scripts of others.
    await page.evaluate(AXE)
    const problems = await page.evaluate<string[]>(`(async () => {
      const { violations } = await axe.run()
      const wide = document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : []
      return [...violations.map(({ id, nodes }) => id + ': ' + nodes[0]?.html.slice(0, 200)), ...wide]
    })()`)
    found.push(...problems.map((problem) => `${colorScheme} ${width}: ${problem}`))
  }
  return found
}

test('pages are found by contents, links and words, and shown with addresses, pictures and code to copy', async () => {
  const page = await real.signIn('operator', { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByRole('link', { name: 'Docs', exact: true }).click()
  await page.getByRole('heading', { name: 'Start here' }).waitFor()
  expect(await findings(page)).toEqual([])

  await page.getByRole('link', { name: 'Tutorial', exact: true }).click()
  await page.waitForURL('**/docs/tutorial')
  await page.getByRole('heading', { name: 'In the browser' }).waitFor()
  const picture = page.getByRole('img', { name: /three wrong lines/ })
  await picture.scrollIntoViewIfNeeded()
  const width = () => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)
  await expect.poll(width).toBeGreaterThan(300)
  expect(await findings(page)).toEqual([])

  // The first block of code, as it is typed.
  await page.locator('.docs-code').first().hover()
  await page.getByRole('button', { name: 'Copy this code' }).first().click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm start')

  // A link of one guide to a heading of another, without a reload.
  await page.goto(`${real.url}/docs/concepts`)
  await page.evaluate(`globalThis.loaded = 'once'`)
  await page.getByRole('link', { name: 'The plan', exact: true }).click()
  await page.waitForURL('**/docs/ingest#the-plan')
  const heading = page.locator('h2#the-plan')
  await expect
    .poll(async () => (await heading.boundingBox())?.y ?? -1)
    .toSatisfy((y: number) => y > 0 && y < 400)
  expect(await page.evaluate('globalThis.loaded')).toBe('once')

  await page.keyboard.press('/')
  await page.keyboard.type('undo of a promo')
  const hits = page.getByRole('region', { name: 'Hits' })
  const hit = hits
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: 'Undo', exact: true }) })
  await hit.first().waitFor()
  expect((await hit.first().locator('mark').allInnerTexts()).join(' ').toLowerCase()).toContain('undo')
  await expect.poll(() => page.url()).toContain('q=undo+of+a+promo')
  expect(await findings(page)).toEqual([])
  await hit.first().getByRole('link', { name: 'Undo', exact: true }).click()
  await page.locator('h2#undo').waitFor()
  expect(page.url()).toMatch(/\/docs\/ingest#undo$/)

  await page.keyboard.press('/')
  await page.keyboard.type('xyzzyplugh')
  await page.getByText('Nothing in the docs has these words.').waitFor()
  expect(await seen(page.locator('main'))).toContain('No hits')
  await page.keyboard.press('Escape')
  await page.locator('h2#undo').waitFor()
})
