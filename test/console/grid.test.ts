/** The grids: a hundred thousand lines, and the keyboard alone. */
// @module-tag long
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeMetaExport } from '../support/exports.ts'
import { until } from '../support/until.ts'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('grid')
/** With the totals row a hundred thousand: the most that a workspace takes unless told. */
const LINES = 99_999
const TURNS = 60
/** Of CPU time a turn of the wheel. It takes about 20 ms alone and 50 ms on a busy machine; drawing all lines would take seconds. */
const MAX_TURN_MS = 250
let large: string
let small: string

beforeAll(async () => {
  const path = real.file('meta-large.csv', '')
  writeMetaExport(path, { lines: LINES })
  large = await real.ingest(path, '--until', 'staged')
  const wrong = real.file('meta-wrong.csv', '')
  writeMetaExport(wrong, {
    lines: 400,
    badLines: { not_a_number: 2, impossible_date: 1, too_many_fields: 1 },
  })
  small = await real.ingest(wrong, '--until', 'planned')
}, 180_000)

describe('a hundred thousand lines', { timeout: 120_000 }, () => {
  test('scroll with a handful of rows drawn, page after page, at little cost', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${large}?tab=rows`)
    await page.getByRole('gridcell', { name: '2', exact: true }).first().waitFor()
    await page.locator('.grid').hover()
    const spent = await mainThreadSeconds(page)
    let drawn = 0
    let turns = 0
    // The wheel stops at the end of what is loaded: on a busy machine it turns again when the next page has come.
    await until('the grid is far down', async () => {
      await page.mouse.wheel(0, 2_000)
      turns += 1
      drawn = Math.max(drawn, await page.locator('.grid-row').count())
      if (turns < TURNS) return false
      return (await page.evaluate<number>(`document.querySelector('.grid').scrollTop`)) > 60_000
    })
    expect(drawn).toBeLessThan(60)
    // CPU time of the page, not the time between frames: another process may have the machine for a moment.
    expect(((await spent()) / turns) * 1_000).toBeLessThan(MAX_TURN_MS)
    await expect.poll(() => seen(page.locator('.filters-aside'))).toMatch(/^\d,\d00 lines loaded so far/)
  })

  test('the end is one jump away', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${large}?tab=rows`)
    await page.locator('.grid-row').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('99999')
    await page.keyboard.press('Enter')
    await expect.poll(() => seen(page.locator('.filters-aside'))).toMatch(/^\d+ lines shown/)
    expect(await seen(page.locator('.grid-row').first())).toContain('99,999')
  })

  test('a page that did not come is asked for again', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${large}?tab=rows`)
    await page.locator('.grid-row').first().waitFor()
    await expect.poll(() => seen(page.locator('.filters-aside'))).toMatch(/^500 lines/)
    await page.route(/\/rows\?.*after=/, (route) => route.fulfill({ contentType: 'text/html', body: '<p>' }))
    const missed = page.waitForResponse(/\/rows\?.*after=/)
    await page.evaluate(`document.querySelector('.grid').scrollTop = 1e9`)
    await missed
    await page.unroute(/\/rows\?.*after=/)
    await expect.poll(() => seen(page.locator('.filters-aside')), { timeout: 15_000 }).toMatch(/^1,000 lines/)
  })

  test('a page at rest rests', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${small}?tab=plan`)
    await page.locator('.grid-row').first().waitFor()
    const chrome = await page.context().newCDPSession(page)
    await chrome.send('Performance.enable')
    const worked = async () => {
      const { metrics } = await chrome.send('Performance.getMetrics')
      return metrics.find(({ name }) => name === 'ScriptDuration')!.value
    }
    const before = await worked()
    await page.evaluate('new Promise((done) => setTimeout(done, 1500))')
    expect((await worked()) - before).toBeLessThan(0.3)
  })
})

describe('the keyboard alone', { timeout: 60_000 }, () => {
  test('finds an upload, corrects a cell, takes another correction back', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads`)
    await page.locator('.upload-table').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('wrong')
    // Behind the filters.
    await expect
      .poll(async () => {
        await page.keyboard.press('Tab')
        return focused(page)
      })
      .toContain('meta-wrong.csv')
    await page.keyboard.press('Enter')
    await page.getByRole('tab', { name: /^Problems/ }).waitFor()

    await tabTo(page, 'Problems 4 invalid')
    await page.keyboard.press('ArrowLeft')
    expect(await page.getByRole('tab', { selected: true }).getAttribute('id')).toBe('tab-conversation')
    await page.keyboard.press('ArrowRight')
    expect(await page.getByRole('tab', { selected: true }).getAttribute('id')).toBe('tab-problems')

    // Tab leads into the grid; the arrows lead through it, from value to value.
    const first = page.getByRole('textbox').first()
    await first.waitFor()
    await tabTo(page, await first.getAttribute('aria-label'))
    const wrong = await first.inputValue()
    await page.keyboard.type('x')
    await page.keyboard.press('Escape')
    expect(await first.inputValue()).toBe(wrong)
    expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid')
    const label = await first.getAttribute('aria-label')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).not.toBe(label)
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => focused(page)).toBe(label)
    await page.keyboard.press('Control+a')
    await page.keyboard.type(label?.startsWith('Day') ? '2026-01-05' : '12.50')
    await page.keyboard.press('Enter')
    await page.getByText('3 lines are still invalid, 4 before').waitFor()
  })

  test('what is being typed stays while the page is read again', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${small}?tab=problems`)
    const cell = page.getByRole('textbox').first()
    await cell.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('12.')
    for (const name of ['again.csv', 'once-more.csv']) {
      // Another upload of the workspace makes every page of uploads read again.
      const read = page.waitForResponse((response) => response.url().endsWith(`/api/v1/uploads/${small}`))
      const path = real.file(name, '')
      writeMetaExport(path, { lines: name.length })
      await real.ingest(path, '--until', 'staged')
      await read
    }
    await page.keyboard.type('50')
    expect(await cell.inputValue()).toBe('12.50')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('INPUT')
    await page.keyboard.press('Escape')
  })

  test('a line whose cells are out of place is put right as a whole', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${small}?tab=problems`)
    await page.getByRole('button', { name: 'Edit line…' }).click()
    await page.getByRole('dialog').getByLabel('Ad name').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Edit line…' }).click()
    await page.getByRole('button', { name: 'Save and check this line' }).click()
    await page.getByText(/checked again: \d lines? (is|are) still invalid/).waitFor()
    expect(await page.getByRole('button', { name: 'Edit line…' }).count()).toBe(0)
  })

  test('the wrong lines are downloaded with what is wrong beside each', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${small}?tab=problems`)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export with reasons' }).click()
    expect((await download).suggestedFilename()).toBe('meta-wrong-problems.csv')
    const text = (await (await download).createReadStream()).setEncoding('utf8')
    let csv = ''
    for await (const piece of text) csv += piece
    expect(csv).toContain('Stagedoor: what is wrong')
  })
})

describe('every page', { timeout: 60_000 }, () => {
  test.each([
    [1440, 'light'],
    [1100, 'dark'],
    [390, 'light'],
  ] as const)('%i pixels wide, %s: nothing stands outside of the window', async (width, colorScheme) => {
    const page = await real.signIn('operator', { viewport: { width, height: 800 }, colorScheme })
    for (const path of ['/uploads', '/changes', `/uploads/${small}`, `/uploads/${small}?tab=rows`]) {
      await page.goto(real.url + path)
      await page.locator('h1').waitFor()
      await page.locator('.grid-row, .upload-table, .empty, .queue').first().waitFor({ state: 'attached' })
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width)
      const dark = await page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`)
      expect(dark, path).toBe(colorScheme === 'dark' ? 'rgb(21, 20, 18)' : 'rgb(251, 250, 248)')
    }
  })

  test('columns that are out of sight are told of; on a phone what is wrong is in sight', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${small}?tab=plan`)
    await page.locator('.grid-frame.has-more:has(.grid)').waitFor()
    await page.evaluate(`document.querySelector('.grid').scrollLeft = 1e6`)
    await page.locator('.grid-frame:not(.has-more):has(.grid)').waitFor()

    const phone = await real.signIn('operator', { viewport: { width: 390, height: 800 } })
    await phone.goto(`${real.url}/uploads/${small}?tab=problems`)
    await phone.locator('.grid-row').first().waitFor()
    const { x, width } = (await phone.locator('.stacked').first().boundingBox())!
    expect(x + width).toBeLessThanOrEqual(390)
    expect(await phone.locator('.grid-frame.has-more:has(.grid)').count()).toBe(0)
  })

  test('controls are named, and the headings leave no level out', async () => {
    const page = await real.signIn('operator')
    for (const path of [
      '/uploads',
      '/changes',
      `/uploads/${small}?tab=problems`,
      `/uploads/${small}?tab=plan`,
    ]) {
      await page.goto(real.url + path)
      await page.locator('.grid-row, .upload-table, .empty').first().waitFor()
      for (const control of await page.locator('main :is(a, button, input, select):visible').all()) {
        expect(
          await control.ariaSnapshot(),
          `${path} ${await control.evaluate('(node) => node.outerHTML')}`,
        ).toMatch(/"\S/)
      }
      const levels = await page.evaluate<number[]>(
        `[...document.querySelectorAll('h1,h2,h3,h4')].map((heading) => Number(heading.tagName[1]))`,
      )
      for (const [index, level] of levels.entries()) {
        expect(level - (levels[index - 1] ?? 0), `${path} heading ${index}`).toBeLessThanOrEqual(1)
      }
    }
  })
})

/** The CPU seconds that the page's main thread has used since this call. */
async function mainThreadSeconds(page: Page): Promise<() => Promise<number>> {
  const chrome = await page.context().newCDPSession(page)
  await chrome.send('Performance.enable', { timeDomain: 'threadTicks' })
  const read = async () => {
    const { metrics } = await chrome.send('Performance.getMetrics')
    const task = metrics.find((metric) => metric.name === 'TaskDuration')
    if (task === undefined) throw new Error('Chromium reports no TaskDuration.')
    return task.value
  }
  const before = await read()
  return async () => (await read()) - before
}

function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    `document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText`,
  )
}

async function tabTo(page: Page, text: string | null): Promise<void> {
  for (let press = 0; press < 40; press += 1) {
    await page.keyboard.press('Tab')
    if ((await focused(page)).trim() === text) return
  }
  throw new Error(`Tab does not lead to ${text}`)
}
