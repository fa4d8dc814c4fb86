/** A file from the drop to production and back, by two people in two browsers. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('upload-story')

const HEADER =
  'Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Amount spent (AUD),Impressions,Link clicks'
const line = (ad: number, day: string, spend: string) =>
  `Winter boots,1201,Retarget,1202,Ad ${ad},1203${ad},${day},${spend},2000,31`
const WEEK_45 = [HEADER, ...[1, 2, 3, 4].map((ad) => line(ad, '2026-11-09', '88.00'))].join('\n')
/** The same four and thirty new ones, three of which are wrong. */
const WEEK_46 = [
  HEADER,
  ...[1, 2, 3, 4].map((ad) => line(ad, '2026-11-09', ad === 1 ? '88.00' : '99.50')),
  ...Array.from({ length: 27 }, (_, ad) => line(ad + 5, '2026-11-10', '10.25')),
  line(40, '2026-02-30', '1.00'),
  line(41, '2026-11-10', '12.a0'),
  line(42, '2026-11-10', 'lots'),
].join('\n')

describe('the story of an upload', () => {
  test('an empty list teaches which file to take, what will happen, and the command', async () => {
    const page = await real.signIn('operator')
    await page
      .getByRole('navigation', { name: 'Navigation' })
      .getByRole('link', { name: 'Uploads', exact: true })
      .click()
    await page.getByText('No uploads yet.').waitFor()
    await page.getByText('Take an export').waitFor()
    await page.getByText('stagedoor -- ingest').first().waitFor()
    await expect.poll(() => page.getByLabel('Dataset').first().inputValue()).toBe('ads')
    await expect.poll(() => seen(page.getByLabel('Client').locator('option:checked'))).toBe('Northwind')
    expect(await page.getByRole('button', { name: 'Upload', exact: true }).isEnabled()).toBe(false)
    // Of an empty file nothing is asked.
    await drop(page, 'nothing.csv', '')
    await page.getByRole('alert').getByText('nothing.csv is empty.').waitFor()
    expect(await page.getByText('Which dataset').count()).toBe(0)
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
  })

  test('dropped, corrected in part, approved and promoted by a second person, traced and undone', async () => {
    await promoteFirstWeek()
    const operator = await real.signIn('operator')
    await operator.goto(`${real.url}/uploads`)
    await operator.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await drop(operator, 'meta-week-46.csv', WEEK_46)
    await operator.getByText('meta-week-46.csv').waitFor()
    await operator.getByRole('button', { name: 'Upload', exact: true }).click()
    await operator.waitForURL(/\/uploads\/[0-9a-f-]{36}/)

    // Three lines are wrong, and that is what is shown first.
    await state(operator, 'invalid lines')
    await operator.getByText('Can’t promote: 3 of 34 lines are invalid.').waitFor()
    const cell = (name: RegExp) => operator.getByRole('textbox', { name })
    const read = operator.locator('.steps li').first()
    const took = await seen(read)
    expect(took).toMatch(/Read[\s\S]*\d m?s/)
    await cell(/^Day, line 33/).fill('2026-11-10')
    await cell(/^Day, line 33/).press('Enter')
    await operator.getByText('Line 33 was checked again: 2 lines are still invalid, 3 before.').waitFor()
    await operator.getByText('Repaired: the line is valid now.').waitFor()
    expect(await seen(read)).toBe(took)
    await cell(/^Amount spent \(AUD\), line 34/).fill('12.40')
    await cell(/^Amount spent \(AUD\), line 34/).press('Enter')
    await operator.getByText('Line 34 was checked again: 1 line is still invalid, 2 before.').waitFor()

    // What is still wrong is wrong with words, not only with colour.
    await cell(/^Amount spent \(AUD\), line 35/).fill('plenty')
    await cell(/^Amount spent \(AUD\), line 35/).press('Enter')
    await operator.getByText('1 line is still invalid, as before').waitFor()

    await operator.getByRole('radio', { name: /Skip invalid lines/ }).check()
    await state(operator, 'ready to submit')
    await operator.getByText('1 invalid line is skipped.').waitFor()
    await operator.getByRole('tab', { name: 'Plan' }).click()
    await sum(operator, 'update', '3')
    const updated = operator.getByRole('row').filter({ hasText: 'Ad 2' })
    expect(await seen(updated.locator('del'))).toBe('88.00')
    expect(await seen(updated.locator('ins'))).toBe('99.50')
    await operator.getByRole('button', { name: 'Submit for review' }).click()
    await state(operator, 'awaiting review')
    await operator.getByText('Waiting for a reviewer.').waitFor()
    await operator.getByText('There is nothing for you to do until then.').waitFor()
    expect(await operator.getByRole('button', { name: 'Approve and promote' }).count()).toBe(0)

    const reviewer = await real.signIn('reviewer')
    await reviewer
      .getByRole('navigation', { name: 'Navigation' })
      .getByRole('link', { name: /^Changes/ })
      .click()
    await reviewer
      .locator('#waiting-uploads')
      .getByRole('link', { name: /meta-week-46\.csv/ })
      .click()
    await reviewer.getByText('uploaded by Operator').waitFor()
    const approve = reviewer.getByRole('button', { name: 'Approve and promote' })
    await approve.waitFor()
    expect(await approve.isEnabled()).toBe(false)
    for (const item of await reviewer.locator('.decision').getByRole('checkbox').all()) await item.check()
    await approve.click()
    await state(reviewer, 'promoted')
    expect(await seen(reviewer.getByRole('tab', { name: /^Problems/ }))).toBe('Problems 1 skipped')
    expect(await reviewer.locator('.tabs .is-wrong').count()).toBe(0)
    await reviewer.getByText(/rows in \d tables were written\. It can be undone until/).waitFor()

    await reviewer.getByRole('tab', { name: 'Lineage' }).click()
    await reviewer.getByRole('gridcell', { name: 'public.ads' }).first().waitFor()
    await reviewer.getByRole('tab', { name: 'History' }).click()
    await reviewer.getByText('Promoted').first().waitFor()
    // Which line, which column, from what to what, by whom.
    expect(await seen(reviewer.locator('.history li', { hasText: 'Line 33 corrected' }))).toMatch(
      /by Operator\s+Day: 2026-02-30[\s\S]*2026-11-10/,
    )
    expect(await seen(reviewer.locator('.history li', { hasText: 'Promoted' }))).toMatch(/\d+ new, 3 changed/)

    const dialog = reviewer.getByRole('dialog')
    await reviewer.getByRole('button', { name: 'Undo…' }).click()
    await dialog.getByRole('button', { name: /^Undo \d+ rows/ }).waitFor()
    await dialog.getByText('No job and no playbook has run because of this promotion.').waitFor()
    expect(await dialog.getByRole('button', { name: /^Undo \d+ rows/ }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('Wrong week.')
    expect(await dialog.getByText('cannot be undone later').count()).toBe(0)
    // Somebody edits a row by hand: undoing must not take that away, and the preview is another one.
    await real.sql(`update public.daily_metrics set clicks = 777 where date = '2026-11-10' and ad_id =
                      (select id from public.ads where external_id = '12035')`)
    await dialog.getByRole('button', { name: /^Undo \d+ rows/ }).click()
    await reviewer.getByText(/rows have changed since\. Look at the new preview/).waitFor()
    real.forgive(/status of 409 .*\/undo$/)
    await reviewer.getByRole('button', { name: 'Undo…' }).click()
    await dialog.getByText('What stays, and why').waitFor()
    await dialog.getByText('rows that are kept now cannot be undone later').waitFor()
    expect(await dialog.getByText('undo that upload first').count()).toBe(0)
    await dialog.locator('.stays b').filter({ hasText: 'skipped' }).first().waitFor()
    await dialog.getByRole('textbox').fill('Wrong week.')
    await dialog.getByRole('button', { name: /^Undo \d+ rows/ }).click()
    await state(reviewer, 'undone')
    await reviewer.getByText(/stayed as/).waitFor()
    await reviewer.getByText('Wrong week.').first().waitFor()
    expect(await real.sql(`select clicks::int from public.daily_metrics where date = '2026-11-10'`)).toEqual([
      { clicks: 777 },
    ])
    // What is undone is not said to be there, nor to be undoable.
    await reviewer.getByText(/^Undone: \d+ rows reverted\./).waitFor()
    const facts = await seen(reviewer.locator('.decision-facts'))
    expect(facts).toMatch(/Had written[\s\S]*Reverted\s*\d+ rows[\s\S]*Undone/)
    expect(facts).not.toMatch(/until|Wrote|Will write/)
    // The operator's page follows without a reload.
    await state(operator, 'undone')
  })

  test('no button is shown before what stands above it is known: it would move away under the pointer', async () => {
    const id = await real.ingest(
      real.file('meta-still.csv', WEEK_45.replaceAll('88.00', '66.00')),
      '--until',
      'planned',
    )
    const page = await real.signIn('operator')
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(/\/api\/v1\/datasets\?/, async (route) => {
      await answered
      await route.continue()
    })
    await page.goto(`${real.url}/uploads/${id}`)
    await page.locator('.decision').getByText('Loading…').waitFor()
    expect(await page.getByRole('button', { name: 'Submit for review' }).count()).toBe(0)
    answer()
    await page.getByText(/It can be undone until/).waitFor()
    await page.getByRole('button', { name: 'Submit for review' }).waitFor()
  })

  test('a rejection says why, and the uploader reads it', async () => {
    const id = await real.ingest(
      real.file('meta-reject.csv', WEEK_45.replaceAll('88.00', '77.00')),
      '--until',
      'planned',
    )
    const operator = await real.signIn('operator')
    await operator.goto(`${real.url}/uploads/${id}`)
    await operator.getByRole('button', { name: 'Submit for review' }).click()
    await state(operator, 'awaiting review')
    const reviewer = await real.signIn('reviewer')
    await reviewer.goto(`${real.url}/uploads/${id}`)
    await reviewer.getByRole('button', { name: 'Reject with a reason…' }).click()
    const dialog = reviewer.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Reject' }).isEnabled()).toBe(false)
    await dialog.getByRole('textbox').fill('The currency is not ours')
    await dialog.getByRole('button', { name: 'Reject' }).click()
    await state(reviewer, 'rejected')
    await operator.getByText('Rejected: “The currency is not ours”').waitFor()
    await operator.getByText('A reviewer rejected this plan.').waitFor()
    await operator.getByRole('button', { name: 'Submit for review again' }).waitFor()

    await operator.getByRole('button', { name: 'Discard…' }).click()
    await operator.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await state(operator, 'discarded')
  })

  test('the same bytes are recognised, and what is no table says what to do instead', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads`)
    const choose = (path: string) => page.getByLabel('The file to upload').setInputFiles(path)
    await choose(real.file('again.csv', WEEK_45))
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByText('This file was already uploaded.').waitFor()

    await choose(real.file('report.csv', '%PDF-1.7\n'))
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await state(page, 'not readable')
    await page.getByRole('heading', { name: 'The file could not be read' }).waitFor()
    // Its columns were asked for before.
    real.forgive(/status of 422 .*\/(mapping\/preview|datasets\/match)$/)
  })

  test('a file for something else is said not to fit, with what it has, and can be discarded', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads`)
    await page
      .getByLabel('The file to upload')
      .setInputFiles(real.file('people.csv', 'Name,Street\nAda,St James Square\n'))
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await state(page, 'does not fit')
    await page.getByRole('heading', { name: 'The file does not fit the dataset' }).waitFor()
    await page.getByText('The file has “Name”, “Street”.').waitFor()
    await page.getByText('stagedoor dataset map ads --platform meta --set').waitFor()
    await page.getByRole('button', { name: 'Discard…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await state(page, 'discarded')
  })

  test('the share of valid lines is asked for, and stays when it is planned again', async () => {
    const wrong = [HEADER, line(1, '2026-11-12', '5.00'), line(2, '2026-11-12', 'lots')].join('\n')
    const id = await real.ingest(real.file('half.csv', wrong), '--until', 'planned')
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${id}`)
    await page.getByRole('radio', { name: /Skip invalid lines/ }).check()
    await page.getByText('only 1 of 2 lines are valid, and the threshold is 90 %').waitFor()
    const share = page.getByRole('textbox', { name: 'Share of valid lines in percent' })
    await share.fill('50')
    await share.press('Enter')
    await state(page, 'ready to submit')
    await page.getByRole('radio', { name: /Reject the whole file/ }).check()
    await state(page, 'invalid lines')
    await page.getByRole('radio', { name: /Skip invalid lines.*if 50 % are valid/ }).check()
    await state(page, 'ready to submit')
    expect(await share.inputValue()).toBe('50')
  })

  test('the overview counts what is held and what was promoted', async () => {
    const page = await real.signIn('operator')
    const room = (name: string) => page.locator(`.room[aria-label="${name}"]`)
    await expect.poll(() => seen(room('Promotions'))).toMatch(/[1-9]\d* promoted in 24 h/)
    await expect.poll(() => seen(room('Promotions'))).toMatch(/[1-9]\d* can be undone/)
    await expect.poll(() => seen(room('Uploads'))).toMatch(/[1-9]\d* not promoted/)
    await room('Uploads')
      .getByRole('link', { name: /not promoted/ })
      .click()
    await expect.poll(() => page.url()).toContain('/uploads?status=open')
    expect(await seen(page.locator('body'))).not.toMatch(/not built/i)
  })
})

async function promoteFirstWeek(): Promise<void> {
  const id = await real.ingest(real.file('meta-week-45.csv', WEEK_45), '--until', 'planned')
  const operator = await real.signIn('operator')
  await operator.goto(`${real.url}/uploads/${id}`)
  await operator.getByRole('button', { name: 'Submit for review' }).click()
  await state(operator, 'awaiting review')
  const reviewer = await real.signIn('reviewer')
  await reviewer.goto(`${real.url}/uploads/${id}`)
  await reviewer.locator('.decision').getByRole('checkbox').first().check()
  await reviewer.getByRole('button', { name: 'Approve only' }).click()
  await state(reviewer, 'approved')
  await operator.getByRole('button', { name: /^Promote / }).click()
  await state(operator, 'promoted')
}

/** If it does not come, the error says what the page shows instead: a refusal, or what is under way. */
async function state(page: Page, word: string): Promise<void> {
  try {
    await expect.poll(() => seen(page.locator('h1 .chip'))).toBe(word)
  } catch (error) {
    const decision = await seen(page.locator('.decision')).catch(String)
    throw new Error(`The page does not say "${word}". Its decision card:\n${decision}`, { cause: error })
  }
}

async function sum(page: Page, word: string, value: string): Promise<void> {
  await expect.poll(() => seen(page.locator(`.sums .is-${word} dd`))).toBe(value)
}

/** As the browser does it when a file is let go over the page. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => { const held = new DataTransfer()
              held.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: 'text/csv' }))
              return held })()`,
  )
  await page.dispatchEvent('main', 'dragover', { dataTransfer: transfer })
  await page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
}
