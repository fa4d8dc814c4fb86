/** The repair grid on a file of 5,000 lines: edit, fill, paste, replace, undo, save all, and a corrected file. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('repair-grid')
const LINES = 5_000
const SPEND = 'Amount spent (AUD)'
/** Every hundredth amount has a unit in it; two days do not exist. */
const FILE = [
  `Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,${SPEND},Impressions,Link clicks`,
  ...Array.from({ length: LINES }, (_, at) =>
    [
      ...['Winter boots', '1201', 'Retarget', '1202', `Ad ${at}`, `1203${at}`],
      at === 7 || at === 9 ? '2026-02-30' : '2026-11-09',
      at % 100 === 0 ? `${at + 1} pcs` : '88.00',
      ...['2000', '31'],
    ].join(','),
  ),
].join('\n')

describe('the repair grid', () => {
  test('cells are edited, filled, pasted and replaced; each is one step of undo; all is saved at once', async () => {
    const id = await real.ingest(real.file('big.csv', FILE), '--until', 'planned')
    const page = await real.signIn('operator')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${real.url}/uploads/${id}?tab=rows`)
    const cell = (line: number, column: number) =>
      page.locator(`[data-row="${line - 2}"][data-column="${column}"]`)
    const bar = page.locator('.edit-bar')
    await cell(2, 9).waitFor()

    // Keyboard: typing replaces, Enter goes down, Escape leaves the cell as it was.
    await cell(2, 6).click()
    await page.keyboard.type('First')
    await page.keyboard.press('Enter')
    await bar.getByText('1 unsaved edit', { exact: true }).waitFor()
    await page.keyboard.press('F2')
    await page.keyboard.type('never')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate(`document.activeElement.dataset.row`)).toBe('1')

    // A block is filled down from its first line.
    await cell(2, 6).click()
    for (const _ of [1, 2]) await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Control+d')
    await bar.getByText('3 unsaved edits').waitFor()
    expect(await seen(cell(4, 6))).toContain('First')

    // A copied block is pasted from the active cell on; what does not fit is told first.
    await page.evaluate(`navigator.clipboard.writeText('2026-11-10\\t1.00\\n2026-11-11\\t2.00')`)
    await cell(2, 8).click()
    await page.keyboard.press('Control+v')
    const paste = page.getByRole('dialog', { name: 'Paste a block of cells' })
    await paste.getByText('4 cells in 2 lines change.').waitFor()
    await paste.getByRole('button', { name: 'Change 4 cells' }).click()
    await bar.getByText('7 unsaved edits').waitFor()

    // Undo takes back steps, not cells; redo brings them back; edits survive paging and live data.
    await page.keyboard.press('Control+z')
    await bar.getByText('3 unsaved edits').waitFor()
    await page.keyboard.press('Control+z')
    await bar.getByText('1 unsaved edit', { exact: true }).waitFor()
    await page.keyboard.press('Control+Shift+Z')
    await bar.getByText('3 unsaved edits').waitFor()
    await page.evaluate(`document.querySelector('.grid').scrollTop = 1e9`)
    await expect.poll(() => seen(page.locator('.filters-aside').first())).toMatch(/1,000 lines loaded/)

    // Find and replace: all lines that the filter shows, also those that no page has brought.
    await page.getByLabel('Column with a problem').selectOption(SPEND)
    await expect.poll(() => seen(page.locator('.filters-aside').first())).toBe('50 lines shown')
    await page.getByRole('button', { name: 'Find and replace…' }).click()
    const replace = page.getByRole('dialog', { name: 'Find and replace' })
    await replace.getByLabel('Column').selectOption(SPEND)
    await replace.getByLabel('Which cells').selectOption('part')
    await replace.getByLabel('Find').fill(' pcs')
    await replace.getByText('50 cells in 50 lines change.').waitFor()
    await replace.getByRole('button', { name: 'Change 50 cells' }).click()
    await bar.getByText('53 unsaved edits').waitFor()

    // Somebody else corrects one of these cells meanwhile: nothing is saved, and the very cell is named.
    const answer = await fetch(`${real.url}/api/v1/uploads/${id}/rows`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${real.token('reviewer')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ rows: [{ line: 102, values: { [SPEND]: '4711' } }] }),
    })
    expect(answer.status).toBe(200)
    await bar.getByRole('button', { name: 'Save 53 repairs' }).click()
    const refused = page.getByRole('alert').filter({ hasText: 'Nothing was saved' })
    await refused.getByText(`Somebody changed ${SPEND} of line 102 meanwhile`).waitFor()
    real.forgive(/status of 409/)
    await refused.getByRole('button', { name: /^Take theirs, line 102/ }).click()
    await bar.getByRole('button', { name: 'Save 52 repairs' }).click()
    await page.locator('p.note', { hasText: '51 lines were checked again' }).waitFor()
    await bar.getByText('Everything is saved').waitFor()
    await page.getByLabel('Column with a problem').selectOption('')
    await expect.poll(() => cell(4, 6).count()).toBe(1)
    await expect.poll(() => seen(cell(4, 6))).toBe('First')

    // A save can be undone, too: as edits that are saved again.
    await bar.getByRole('button', { name: /^Undo dropping/ }).click()
    await bar.getByText('1 unsaved edit', { exact: true }).waitFor()
    await bar.getByRole('button', { name: 'Discard' }).click()
    await bar.getByText('Everything is saved').waitFor()

    // The lines that are left are corrected in a spreadsheet.
    await page.getByLabel('Which lines').selectOption('invalid')
    await page.getByRole('button', { name: 'Correct in a spreadsheet…' }).click()
    const corrections = page.getByRole('dialog', { name: 'Correct lines in a spreadsheet' })
    const download = page.waitForEvent('download')
    await corrections.getByRole('button', { name: 'Download lines' }).click()
    const text = readFileSync(await (await download).path(), 'utf8')
    await corrections.getByLabel('Corrected file').setInputFiles({
      name: 'corrected.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(text.replaceAll('2026-02-30', '2026-11-12')),
    })
    await corrections.getByText('2 cells in 2 lines change.').waitFor()
    await corrections.getByRole('button', { name: 'Change 2 cells' }).click()
    await bar.getByText('2 unsaved edits').waitFor()
    await page.keyboard.press('Control+s')
    await page.locator('p.note', { hasText: '2 lines were checked again: no invalid lines left' }).waitFor()

    // On a phone the same tools are in reach, and a second tap opens a cell.
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByLabel('Which lines').selectOption('')
    await expect.poll(() => seen(page.locator('.filters-aside').first())).toMatch(/^500 lines loaded/)
    await cell(3, 2).click()
    await cell(3, 2).click()
    await page.getByRole('textbox', { name: 'Campaign name, line 3' }).fill('Summer boots')
    await page.keyboard.press('Enter')
    await bar.getByText('1 unsaved edit', { exact: true }).waitFor()
    expect(await fits(page)).toBe(true)
    await bar.getByRole('button', { name: 'Discard' }).click()
  })

  test('a dropped file whose encoding and dates are open is asked about, and the reviewer sees the answers', async () => {
    const page = await real.signIn('operator', { viewport: { width: 390, height: 844 } })
    await page.goto(`${real.url}/uploads`)
    const text = [
      `Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,${SPEND},Impressions,Link clicks`,
      'Café,1201,Retarget,1202,Ad 1,12031,03/04/2026,8.50,2000,31',
    ].join('\n')
    await page.getByLabel('The file to upload').setInputFiles({
      name: 'meta-cafe.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(text, 'latin1'),
    })
    const encoding = page.getByRole('group', { name: 'Encoding' })
    await encoding.getByText('Café').first().waitFor()
    await encoding.getByRole('radio').first().check()
    const dates = page.getByRole('group', { name: 'Order of dates' })
    await dates.getByText('03/04/2026 is 3 April 2026').waitFor()
    await dates.getByText('Without a choice 1 line is invalid: nothing is guessed.').waitFor()
    await dates.getByRole('radio', { name: /^Day first/ }).check()
    await page.getByText('dates with day first: 31/12/2026 (chosen)').waitFor()
    await page.getByRole('button', { name: 'How it is read…' }).click()
    await page.getByRole('region', { name: 'First lines as they are read' }).getByText('Café').waitFor()
    expect(await fits(page)).toBe(true)
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.waitForURL(/\/uploads\/[0-9a-f-]{36}/)
    // Without an encoding the file cannot be read; on a busy machine that answer comes after the question about it.
    real.forgive(/status of 4\d\d/)

    const reviewer = await real.signIn('reviewer')
    await reviewer.goto(page.url())
    const card = reviewer.getByRole('region', { name: 'How the file was read' })
    await card.getByText('2 options chosen').waitFor()
    await card.locator('summary').click()
    await card
      .getByRole('row', { name: /^Order of dates day first: 31\/12\/2026 chosen for this file/ })
      .waitFor()
    await card.getByRole('row', { name: /^Amount spent \(AUD\) Spend/ }).waitFor()
  })
})

function fits(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth <= innerWidth')
}
