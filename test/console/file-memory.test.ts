/** A file's own totals among the checks, and options of a file that are remembered for the next one. */
// @module-tag long
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('file-memory')

const SALES = {
  name: 'sales',
  title: 'Sales',
  fields: {
    day: { type: 'date', aliases: ['Day'] },
    channel: { type: 'text', aliases: ['Channel'] },
    orders: { type: 'integer', title: 'Orders', aliases: ['Orders'] },
  },
  rows: [
    {
      name: 'sale',
      target: 'public.sales',
      key: ['workspace_id', 'day', 'channel'],
      columns: { workspace_id: '$workspace', day: 'day', channel: 'channel', orders: 'orders' },
    },
  ],
}

beforeAll(async () => {
  await real.sql(
    `create table public.sales (workspace_id uuid not null, day date not null, channel text not null, orders integer,
       unique (workspace_id, day, channel))`,
  )
  const path = real.file('sales.json', JSON.stringify(SALES))
  expect(
    await runCli(['dataset', 'register', path, '--no-approval'], { STAGEDOOR_HOME: real.home }),
  ).toMatchObject({ code: 0 })
})

async function choose(page: Page, name: string, text: string): Promise<void> {
  await page.goto(`${real.url}/uploads`)
  await page.getByLabel('Dataset').first().selectOption('sales')
  await page.getByLabel('The file to upload').setInputFiles(real.file(name, text))
}

const upload = (page: Page) => page.getByRole('button', { name: 'Upload', exact: true })
const order = (page: Page) => page.getByRole('group', { name: 'Order of dates' })

test('a total that disagrees is seen among the checks, and the order of dates is remembered, shown and forgotten', async () => {
  const page = await real.signIn('operator')
  await choose(page, 'one.csv', 'Day,Channel,Orders\n03/04/2026,Ads,1\n03/04/2026,Shop,2\nTotal,,4\n')
  await order(page).getByText('Day first').click()
  expect(await page.getByLabel('Read my next files with these columns the same way').isChecked()).toBe(true)
  await upload(page).click()
  const checks = page.getByRole('region', { name: 'Checks' })
  await checks.getByText('File’s own totals').waitFor()
  const text = await seen(checks)
  expect(text).toMatch(/File’s own totals( [\d.]+ m?s)?\s*1 warning/)
  expect(text).toMatch(
    /Line 4 “Total”\s*compared with all lines \(2\)\s*Orders\s*the file says 4, its lines add up to 3, difference \+1/,
  )
  expect(text).toContain('Compared: Orders.')

  await choose(page, 'two.csv', 'Day,Channel,Orders\n05/04/2026,Ads,1\n')
  const note = page.getByRole('note', { name: 'Remembered options' })
  await note.waitFor()
  expect(await seen(note)).toMatch(/Remembered from #\d+: order of dates\./)
  expect(await order(page).count()).toBe(0)
  await note.getByRole('button', { name: 'Forget remembered options' }).click()
  await order(page).waitFor()
  expect(await note.count()).toBe(0)
})
