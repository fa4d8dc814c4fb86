/** One's own table in the browser: a price list goes into `public.products`, is repaired, approved, promoted, traced and undone. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { type Role, seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('own-table')
const example = (name: string) => fileURLToPath(new URL(`../../examples/products/${name}`, import.meta.url))
const PRICE_LIST = example('products.xlsx')

beforeAll(async () => {
  await real.sql(readFileSync(example('tables.sql'), 'utf8'))
  const made = await runCli(
    ['init', 'public.products', PRICE_LIST, '--output', join(real.home, 'products.dataset.json'), '--yes'],
    { STAGEDOOR_HOME: real.home },
  )
  expect(made).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Bring the file in\n +stagedoor ingest \S+ --as operator\n/),
  })
})

const products = () =>
  real.sql<{ sku: string }>(
    'select id, sku, name, price, tags, category_id, updated_at from public.products order by id',
  )
const uploadButton = (page: Page) => page.getByRole('button', { name: 'Upload', exact: true })
const datasetOf = (page: Page) => page.getByLabel('Dataset').first()
const fits = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')

async function open(role: Role, path: string, options?: Parameters<typeof real.signIn>[1]): Promise<Page> {
  const page = await real.signIn(role, options)
  await page.goto(`${real.url}${path}`)
  return page
}

function choose(page: Page, name: string, text: string): Promise<void> {
  const file = { name, mimeType: 'text/csv', buffer: Buffer.from(text) }
  return page.getByLabel('The file to upload').setInputFiles(file)
}

async function state(page: Page, word: string): Promise<void> {
  try {
    await expect.poll(() => seen(page.locator('h1 .chip'))).toBe(word)
  } catch (error) {
    const decision = await seen(page.locator('.decision')).catch(String)
    throw new Error(`The page does not say "${word}". Its decision card:\n${decision}`, { cause: error })
  }
}

const sum = (page: Page, word: string, value: string) =>
  expect.poll(() => seen(page.locator(`.sums .is-${word} dd`))).toBe(value)

/** As a spreadsheet does it. */
async function copy(page: Page, block: string): Promise<void> {
  await page.evaluate(
    `(() => { const held = document.createElement('textarea')
              held.value = ${JSON.stringify(block)}
              document.body.append(held)
              held.select()
              document.execCommand('copy')
              held.remove() })()`,
  )
}

describe('the dataset of a file', { tags: 'long' }, () => {
  test('is chosen by its columns, and nobody guesses where they fit none', async () => {
    const page = await open('operator', '/uploads')
    await page.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await expect.poll(() => datasetOf(page).locator('option').count()).toBe(3)
    expect(await datasetOf(page).inputValue()).toBe('')

    await choose(page, 'people.csv', 'Name,Street\nAda,St James Square\n')
    await page.getByText('Which dataset is this file?').waitFor()
    await page.getByText('Its columns fit none of the datasets').waitFor()
    await page.getByText('stagedoor -- init SCHEMA.TABLE people.csv').first().waitFor()
    expect(await datasetOf(page).inputValue()).toBe('')
    expect(await uploadButton(page).isEnabled()).toBe(false)

    // The nearest one is offered; what it lacks is said before anything is sent.
    await page.getByRole('button', { name: 'Products', exact: true }).click()
    await expect.poll(() => datasetOf(page).inputValue()).toBe('products')
    await page.getByText(/^No column for .*sku/).waitFor()

    // What somebody chose stays; that the next file fits another one is said.
    await datasetOf(page).selectOption('ads')
    await page.getByLabel('The file to upload').setInputFiles(PRICE_LIST)
    await page.getByText('The columns fit Products better').waitFor()
    await page.getByRole('button', { name: 'Use Products' }).click()
    await page.getByText('The columns fit Products: 5 of 7 columns are used, and nothing').waitFor()
  })

  test('is that of an export where its headers say so, with its platform', async () => {
    const page = await open('operator', '/uploads')
    await choose(
      page,
      'export.csv',
      'Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Amount spent (AUD),Impressions,Link clicks\nBoots,1,Re,2,Ad,3,2026-11-09,8.00,20,3\n',
    )
    await page.getByText('Ad platforms is chosen by the columns of the file').waitFor()
    expect(
      await page
        .locator('label', { hasText: /^Platform/ })
        .locator('select')
        .inputValue(),
    ).toBe('meta')
  })
})

describe('one’s own table', () => {
  test('a price list is dropped, matched, planned, repaired by a pasted block, approved, promoted, traced and undone', async () => {
    const before = await products()
    const operator = await open('operator', '/uploads')
    await operator.getByRole('button', { name: 'Choose a file…' }).waitFor()
    await drop(operator, 'products.xlsx', readFileSync(PRICE_LIST))
    await expect.poll(() => datasetOf(operator).inputValue()).toBe('products')

    // A guess is offered and not taken: without a decision the line is invalid, and that is said.
    await operator.getByRole('heading', { name: 'Match columns' }).waitFor()
    const meaning = operator.getByLabel('Meaning of Gartn in category', { exact: true })
    expect(await meaning.inputValue()).toBe('undecided')
    await operator.getByText('1 undecided', { exact: true }).waitFor()
    await operator.getByRole('button', { name: /^Use Garten/ }).click()
    expect(await meaning.inputValue()).toBe('=Garten')
    await operator.getByText('all decided').waitFor()
    await meaning.selectOption('undecided')
    await operator.getByText('1 value is undecided: 1 line will be invalid.').waitFor()
    await uploadButton(operator).click()
    await operator.waitForURL(/\/uploads\/[0-9a-f-]{36}/)
    const path = new URL(operator.url()).pathname
    await state(operator, 'invalid lines')
    await operator.getByText('Can’t promote: 2 of 223 lines are invalid.').waitFor()
    expect(await products()).toEqual(before)
    expect(await real.sql('select from iu_core.ingest_mapping')).toEqual([])

    await operator.getByRole('tab', { name: 'Plan' }).click()
    await sum(operator, 'update', '212')
    await sum(operator, 'insert', '9')
    await sum(operator, 'refused', '2')
    // The row is called by its key, the category by its name.
    const row = (sku: string) => operator.getByRole('row').filter({ hasText: sku })
    await operator.getByRole('columnheader', { name: 'sku', exact: true }).waitFor()
    await row('P-0005').waitFor()
    expect(await seen(row('P-0005'))).toMatch(
      /P-0005\s+Ordner 5[\s\S]*21\.85[\s\S]*22\.94[\s\S]*Textilien\s+id 6/,
    )

    // A block of a spreadsheet, over the first cell that is wrong.
    await operator.getByRole('tab', { name: /^Rows/ }).click()
    await operator.getByLabel('From line').fill('214')
    await operator.getByLabel('From line').press('Enter')
    const wrong = operator.getByRole('gridcell', { name: /^auf Anfrage/ })
    await wrong.waitFor()
    await copy(operator, '99,00 €\tshop,store\tGarten\tR14-3\tneu\tzu viel\n123,45 €\tshop,web\tGarten\n')
    await wrong.focus()
    await operator.keyboard.press('Control+V')
    const dialog = operator.getByRole('dialog', { name: 'Paste a block of cells' })
    await dialog.getByText('4 cells in 2 lines change.').waitFor()
    await dialog.getByText('4 cells have this text already.', { exact: false }).waitFor()
    await dialog.getByText('1 cell to the right of the last column: zu viel').waitFor()
    await dialog.getByRole('button', { name: 'Change 4 cells' }).click()
    await operator.locator('.filters').getByRole('button', { name: 'Save 4 repairs' }).click()
    await operator.getByText('2 lines were checked again: no invalid lines left, 2 before.').waitFor()
    await operator.getByRole('gridcell', { name: '99,00 €' }).waitFor()
    await state(operator, 'ready to submit')

    // Old and new category by name, with the ids as a detail.
    await operator.getByRole('tab', { name: 'Plan' }).click()
    await sum(operator, 'update', '214')
    await operator.getByLabel('Changed column').selectOption('category_id')
    await row('P-0213').waitFor()
    expect(await seen(row('P-0213').locator('del').last())).toBe('Textilien')
    expect(await seen(row('P-0213').locator('ins').last())).toBe('Garten')
    await row('P-0213').getByText('id 6 → 3').waitFor()
    // Side by side, the figures of a column before and after, and a link to the very row.
    await operator.getByLabel('Layout').selectOption('split')
    await operator.getByRole('columnheader', { name: 'category_id, new' }).waitFor()
    await operator.getByLabel('Changed column').selectOption('price')
    await operator.getByText(/Rows by price\. Before: .* median .* After: /).waitFor()
    await operator.getByLabel('Viewed').check()
    const link = row('P-0005').getByRole('link')
    const line = await link.innerText()
    await link.click()
    await operator.getByText(`Only line ${line} is shown.`).waitFor()
    await operator.reload()
    await row('P-0005').waitFor()
    expect(await operator.getByRole('grid').getByRole('row').count()).toBe(2)
    expect(await operator.getByLabel('Viewed').isChecked()).toBe(true)
    await operator.getByRole('button', { name: 'Show all rows' }).click()
    await row('P-0006').waitFor()
    await operator.getByRole('button', { name: 'Submit for review' }).click()
    await state(operator, 'awaiting review')

    const reviewer = await open('reviewer', path)
    const approve = reviewer.getByRole('button', { name: 'Approve and promote' })
    await approve.waitFor()
    for (const item of await reviewer.locator('.decision').getByRole('checkbox').all()) await item.check()
    await approve.click()
    await state(reviewer, 'promoted')
    expect(await products()).toHaveLength(309)

    await reviewer.getByRole('tab', { name: 'Lineage' }).click()
    const origin = reviewer.getByRole('form', { name: 'Where a row comes from' })
    await origin.getByLabel('sku').fill('P-0213')
    await origin.getByLabel('sku').press('Enter')
    const said = reviewer.locator('.row-origin')
    await said.getByText('by line 214 of', { exact: false }).waitFor()
    await expect.poll(() => seen(said)).toMatch(/Operator[\s\S]*Preis: auf Anfrage[\s\S]*→ 99,00 €/)
    await origin.getByLabel('sku').fill('P-0300')
    await origin.getByRole('button', { name: 'Find' }).click()
    await reviewer.getByText('No file wrote P-0300.').waitFor()

    await reviewer.getByRole('button', { name: 'Undo…' }).click()
    await reviewer.getByRole('dialog').getByRole('textbox').fill('Prices of another season.')
    await reviewer
      .getByRole('dialog')
      .getByRole('button', { name: /^Undo 223 rows/ })
      .click()
    await state(reviewer, 'undone')
    expect(await products()).toEqual(before)
  })

  test('on a phone in the dark everything is in reach, and a column is filled from the grid', {
    tags: 'long',
  }, async () => {
    const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
    const page = await open('operator', '/uploads', phone)
    const text =
      'Artikelnummer,Bezeichnung,Preis,Kategorie\nP-0001,Zelt,"8,00 €",\nP-0002,Messer,"9,00 €",\nP-0003,Schaufel,x,Garten\n'
    await choose(page, 'short.csv', text)
    await page.getByText('Products is chosen by the columns of the file').waitFor()
    expect(await fits(page)).toBe(true)
    await uploadButton(page).click()
    await page.waitForURL(/\/uploads\/[0-9a-f-]{36}/)
    await state(page, 'invalid lines')
    expect(await fits(page)).toBe(true)

    // A block that is pasted into one cell of the problems is not squeezed into it.
    const cell = page.getByRole('textbox', { name: 'Preis, line 4' })
    await copy(page, '7,00 €\tKüche\n8,00 €')
    await cell.focus()
    await page.keyboard.press('Control+V')
    const paste = page.getByRole('dialog', { name: 'Paste a block of cells' })
    await paste.getByText('2 cells in 1 line change.').waitFor()
    await paste.getByText('1 cell below the last line: 8,00 €').waitFor()
    expect(await fits(page)).toBe(true)
    await paste.getByRole('button', { name: /^Change 2 cells/ }).click()
    await page.locator('.filters').getByRole('button', { name: 'Save 2 repairs' }).click()
    await state(page, 'ready to submit')

    await page.getByRole('tab', { name: /^Rows/ }).click()
    await page.locator('.grid-row').first().waitFor()
    await page.getByRole('button', { name: 'Find and replace…' }).click()
    const fill = page.getByRole('dialog', { name: 'Find and replace' })
    await fill.getByLabel('Column').selectOption('Kategorie')
    await fill.getByLabel('Which cells').selectOption('empty')
    await fill.getByLabel('Fill with').fill('Garten')
    await fill.getByText('2 cells in 2 lines change.').waitFor()
    await fill.getByRole('button', { name: 'Change 2 cells' }).click()
    await page.locator('.filters').getByRole('button', { name: 'Save 2 repairs' }).click()
    await page.getByText('2 lines were checked again').waitFor()

    // Over what cannot be changed nothing is pasted, and that is said.
    await page.getByRole('gridcell', { name: '2', exact: true }).focus()
    await copy(page, '2\tvalid\tP-0001')
    await page.getByRole('gridcell', { name: '2', exact: true }).focus()
    await page.keyboard.press('Control+V')
    await paste.getByText('No cell changes.').waitFor()
    await paste.getByText('1 cell in the column Check, which cannot be changed: valid').waitFor()
    expect(await paste.getByRole('button', { name: /^Change 0/ }).isEnabled()).toBe(false)
    await page.keyboard.press('Escape')

    await page.getByRole('tab', { name: 'Plan' }).click()
    await page.getByText('P-0001').first().waitFor()
    expect(await fits(page)).toBe(true)
  })
})

/** As the browser does it when a file is let go over the page. */
async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => { const held = new DataTransfer()
              const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (c) => c.charCodeAt(0))
              held.items.add(new File([bytes], ${JSON.stringify(name)}))
              return held })()`,
  )
  await page.dispatchEvent('main', 'dragover', { dataTransfer: transfer })
  await page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
}
