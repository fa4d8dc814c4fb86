/** The step “Match columns” of the upload page: shown where something is uncertain, skipped where nothing is. */
// @module-tag long
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('mapping')

const PRODUCTS = {
  name: 'products',
  title: 'Products',
  fields: {
    sku: { type: 'text', required: true, aliases: ['SKU'], title: 'SKU' },
    name: { type: 'text', title: 'Name', aliases: ['Product name'] },
    price: { type: 'money', title: 'Price', aliases: ['Unit price'] },
    state: {
      type: 'enum',
      title: 'State',
      aliases: ['State'],
      values: { active: ['lieferbar'], retired: [] },
    },
    stock: { type: 'integer', title: 'Stock', aliases: ['Stock'], expected: true },
  },
  rows: [
    {
      name: 'product',
      target: 'public.products',
      key: ['workspace_id', 'sku'],
      columns: {
        workspace_id: '$workspace',
        sku: 'sku',
        name: 'name',
        price: 'price',
        state: 'state',
        stock: 'stock',
      },
    },
  ],
}

const KNOWN =
  'SKU,Product name,Unit price,State,Stock,Colour\nA-1,Boots,12.50,active,4,red\nA-2,Shoes,9.00,lieferbar,1,blue\n'
const STRANGE =
  'Item,Prodct nam,Unit prise,State,Colour\nA-1,Boots,12.50,actve,red\nA-2,Shoes,9.00,kaputt,blue\nA-3,Clogs,7.25,active,green\n'

beforeAll(async () => {
  await real.sql(
    `create table public.products (workspace_id uuid not null, sku text not null, name text, price numeric, state text,
       stock integer, unique (workspace_id, sku))`,
  )
  const path = real.file('products.json', JSON.stringify(PRODUCTS))
  const added = await runCli(['dataset', 'register', path, '--no-approval'], { STAGEDOOR_HOME: real.home })
  expect(added).toMatchObject({ code: 0 })
})

async function choose(page: Page, name: string, text: string): Promise<void> {
  await page.goto(`${real.url}/uploads`)
  await page.getByLabel('Dataset').first().selectOption('products')
  await page.getByLabel('The file to upload').setInputFiles(real.file(name, text))
}

const select = (page: Page, header: string) => page.getByLabel(`Field of the column ${header}`)
const meaning = (page: Page, value: string) =>
  page.getByLabel(`Meaning of ${value} in State`, { exact: true })
const upload = (page: Page) => page.getByRole('button', { name: 'Upload', exact: true })

describe('match columns', () => {
  test('a file whose columns are all known skips the step, says so, and offers to change it', async () => {
    const page = await real.signIn('operator')
    await choose(page, 'known.csv', KNOWN)
    await page.getByText('All columns matched').waitFor()
    expect(await seen(page.locator('.match-line', { hasText: 'All columns matched' }))).toContain(
      '5 columns used, 1 not used',
    )
    expect(await page.getByRole('heading', { name: 'Match columns' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.getByRole('heading', { name: 'Match columns' }).waitFor()
    expect(await select(page, 'SKU').inputValue()).toBe('sku')
    expect(await select(page, 'Colour').inputValue()).toBe('')
    await select(page, 'Stock').selectOption('')
    await page.getByText('No column for Stock.').waitFor()
    await page.getByLabel('The file really has no Stock').check()
    // For this file only.
    await page.getByLabel('Remember for the next file from this source').uncheck()
    await upload(page).click()
    await page.waitForURL(/\/uploads\/[0-9a-f-]{36}/)
    expect(await real.sql('select from iu_core.ingest_mapping')).toEqual([])
  })

  test('what is uncertain is asked with examples; the answers are used for the file and remembered', async () => {
    const page = await real.signIn('operator')
    await choose(page, 'strange.csv', STRANGE)
    await page.getByRole('heading', { name: 'Match columns' }).waitFor()
    const row = page.getByRole('row').filter({ hasText: 'Unit prise' })
    expect(await seen(row)).toMatch(/12\.50[\s\S]*9\.00/)
    expect(await select(page, 'Unit prise').inputValue()).toBe('price')

    // Twice the same field is refused before anything is sent.
    await select(page, 'Colour').selectOption('price')
    await page.getByText('Price: more than one column is chosen.').waitFor()
    expect(await upload(page).isEnabled()).toBe(false)
    await select(page, 'Colour').selectOption('')
    await select(page, 'Item').selectOption('sku')
    await page.getByLabel('The file really has no Stock').check()
    // A guess is offered, and counts only once somebody takes it.
    expect(await meaning(page, 'actve').inputValue()).toBe('undecided')
    await page.getByText('2 values are undecided: 2 lines will be invalid.').waitFor()
    await page.getByRole('button', { name: 'Use active as the meaning of actve in State' }).click()
    expect(await meaning(page, 'actve').inputValue()).toBe('=active')
    await page.getByText('1 value is undecided: 1 line will be invalid.').waitFor()
    await meaning(page, 'kaputt').selectOption('retired')
    await page.getByText('all decided').waitFor()
    await upload(page).click()
    await page.waitForURL(/\/uploads\/[0-9a-f-]{36}/)
    const id = page.url().split('/').at(-1)!
    await page
      .getByText(/Ready to promote|planned/i)
      .first()
      .waitFor()
    const rows = await real.sql<{ values: object }>(
      `select normalized_payload as values from public.staging_rows where upload_id = $1 order by row_number`,
      [id],
    )
    expect(rows.map(({ values }) => values)).toMatchObject([
      { sku: 'A-1', name: 'Boots', state: 'active' },
      { sku: 'A-2', name: 'Shoes', state: 'retired' },
      { sku: 'A-3', name: 'Clogs', state: 'active' },
    ])

    // The next file of this source needs no answer but what it lacks.
    await choose(
      page,
      'next.csv',
      STRANGE.replaceAll('A-', 'B-')
        .replace(/Colour/, 'Stock')
        .replace(/red|blue|green/g, '5'),
    )
    await page.getByText('All columns matched').waitFor()
  })

  test('the export of the README: columns without a field are said not to be used, and its totals agree once it is corrected', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads`)
    await page.getByLabel('Dataset').first().selectOption('ads')
    await page.getByLabel('The file to upload').setInputFiles('examples/ads/meta-week-45.csv')
    await page.getByText('2 columns are not certain. Choose a field where one fits.').waitFor()
    await page.getByText('A column without a field is not used.').waitFor()
    expect(await select(page, 'Result type').inputValue()).toBe('')
    await upload(page).click()
    await page.getByText('An invalid line may be the cause.').waitFor()

    // The totals row agrees with the lines once they are corrected.
    await page.getByLabel('Ad ID, line 16').fill('120253400000060001')
    await page.getByLabel('Day, line 32').fill('2026-11-05')
    await page.getByLabel('Impressions, line 49').fill('7124')
    await page.getByRole('button', { name: 'Save 3 repairs' }).last().click()
    await page.getByText('no invalid lines left, 3 before').waitFor()
    await expect.poll(() => page.getByText('own totals disagree').count()).toBe(0)
  })

  test('a value that nobody decided on stays as it is: its lines are invalid, and nothing is remembered of it', async () => {
    const page = await real.signIn('operator')
    await choose(page, 'undecided.csv', KNOWN.replaceAll('A-', 'C-').replace('lieferbar', 'activ'))
    await page.getByText('1 value is undecided: 1 line will be invalid. You can repair it').waitFor()
    await upload(page).click()
    await page.waitForURL(/\/uploads\/[0-9a-f-]{36}/)
    await page.getByText('Can’t promote: 1 of 2 lines is invalid.').waitFor()
    const [remembered] = await real.sql<{ field_values: object }>(
      'select field_values from iu_core.ingest_mapping',
    )
    expect(JSON.stringify(remembered)).not.toContain('activ"')
  })

  test('it works by keyboard, on a narrow screen and in the dark', async () => {
    const page = await real.signIn('operator', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
    const text = STRANGE.replace('Item', 'Thing').replace('Unit prise', 'Unit prices net')
    await choose(page, 'narrow.csv', text)
    await page.getByRole('heading', { name: 'Match columns' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Match columns')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
      'Field of the column Thing',
    )
    await page.keyboard.press('S')
    await expect.poll(() => select(page, 'Thing').inputValue()).toBe('sku')
    expect(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    ).toBe(true)
  })

  test('a file that cannot be read says why, and nothing is uploaded by itself', async () => {
    const page = await real.signIn('operator')
    await choose(page, 'report.csv', '%PDF-1.7\n')
    await page.getByRole('alert').filter({ hasText: 'PDF' }).waitFor()
    expect(page.url()).toMatch(/\/uploads$/)
    real.forgive(/status of 422/)
  })
})
