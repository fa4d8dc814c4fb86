/** Executions and playbooks in the browser: started by a form, followed, controlled, run again; checked, compared. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('executions')

const WEEKLY = `name: weekly
description: Divides, and reports what failed
args: { numbers: [1, 2, 4], top: 100, dry_run: false }
steps:
  - { step: begin, tool: sql, args: { query: "select 'begun' as said" }, next: divide }
  - step: divide
    loop: { in: "\${args.numbers}", as: number, mode: fanout, allow_partial: true }
    tool: sql
    args: { query: "select $1::int / $2::int as share", params: ["\${args.top}", "\${number}"] }
    next:
      - { when: "steps.divide.fanin.failed > 0", step: repair }
      - report
  - { step: repair, tool: sql, args: { query: "select 'repaired' as said" }, next: report }
  - { step: report, tool: sql, args: { query: "select 'reported' as said" } }
output: { said: "\${steps.report.result.rows[0].said}" }
`
const SLOW = `name: slow
steps:
  - { step: rest, wait: { for: 2h }, next: report }
  - { step: report, tool: sql, args: { query: "select 1 as n" } }
`
/** A chain of 200 steps. */
const LONG = `name: long
steps:
${Array.from({ length: 200 }, (_, at) => `  - { step: s${at}, tool: sql, args: { query: "select 1 as n" }${at < 199 ? `, next: s${at + 1}` : ''} }`).join('\n')}
`

beforeAll(async () => {
  const texts = [WEEKLY.replace('top: 100', 'top: 10'), WEEKLY, SLOW, LONG]
  for (const [index, text] of texts.entries()) {
    const path = real.file(`playbook-${index}.yaml`, text)
    const made = await runCli(['playbook', 'register', path, '--open-to-members'], {
      STAGEDOOR_HOME: real.home,
    })
    expect(made).toMatchObject({ code: 0 })
  }
})

const chip = (page: Page) => page.locator('.detail-head > .chip')
const says = (page: Page, word: RegExp) => expect.poll(() => seen(chip(page))).toMatch(word)
const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

test('a playbook is started by its form; a failed item leads to its error; it is run again from a step', async () => {
  const page = await real.signIn('operator')
  await page.goto(`${real.url}/playbooks`)
  await page.getByRole('link', { name: 'weekly', exact: true }).click()
  await page.locator('.graph-step', { hasText: 'divide' }).waitFor()
  await button(page, 'Start…').click()

  // What is wrong is said at its field, before anything is sent.
  await dialog(page).getByLabel('numbers').fill('[5, 0,')
  await dialog(page).getByLabel('top').fill('many')
  await button(page, 'Start weekly').click()
  await dialog(page).getByText('This is not valid JSON.').waitFor()
  await dialog(page).getByText('“many” is not a number.').waitFor()
  await dialog(page).getByLabel('numbers').fill('[5, 0, 20]')
  await dialog(page).getByLabel('top').fill('60')
  await button(page, 'Start weekly').click()

  await says(page, /^completed/)
  const first = page.url()
  await page.locator('.graph-step.is-held', { hasText: '2 of 3, 1 failed' }).waitFor()
  await page.locator('.graph-step.is-ok', { hasText: 'repair' }).waitFor()
  await expect.poll(() => page.locator('.lane').count()).toBe(1)
  await expect.poll(() => seen(page.locator('.lane-sum'))).toMatch(/5 done, 1 attempt failed/)
  await button(page, 'List').click()
  expect(await seen(page.locator('.step-list'))).toMatch(
    /divide[\s\S]*partly done[\s\S]*1 failed[\s\S]*repair if steps.divide.fanin.failed > 0 \(taken\)/,
  )

  await page.getByRole('tab', { name: 'Items 1 failed' }).click()
  const rows = page.getByRole('table', { name: 'Items' }).locator('tbody tr')
  await expect.poll(() => rows.count()).toBe(1)
  expect(await seen(rows)).toMatch(/failed[\s\S]*division by zero/)
  await button(page, '1 of the loop: details').click()
  expect(await seen(dialog(page))).toMatch(/Error\s+division by zero[\s\S]*Attempts\s+1/)
  await dialog(page).getByRole('link', { name: 'Show in the history' }).click()
  await page.getByRole('table', { name: 'History' }).getByText('loop.shard.failed').waitFor()
  await page.getByRole('tab', { name: 'Results' }).click()
  await page.getByRole('region', { name: 'Result', exact: true }).getByText('reported').waitFor()

  await button(page, 'Run again from a step…').click()
  await dialog(page).getByText('May run again: divide, repair, report. A loop runs').waitFor()
  await dialog(page).getByText('Taken over from this execution: the results of begin.').waitFor()
  await button(page, 'Run again from divide').click()
  await expect.poll(() => page.url()).not.toContain(first.split('/').at(-1)!.slice(0, 18))
  await says(page, /^completed/)
  await page.getByText('from divide').waitFor()
  await page.locator('.graph-step', { hasText: 'begin' }).getByText('not run again').waitFor()
  // Where it would be too small from left to right, it is drawn from top to bottom.
  const box = (step: string) => page.locator('.graph-step', { hasText: step }).boundingBox()
  await expect.poll(async () => (await box('begin'))?.width ?? 0).toBeGreaterThan(125)
  expect((await box('divide'))!.y).toBeGreaterThan((await box('begin'))!.y + 60)
  // Items that were done show beside the failed one.
  await expect.poll(() => page.locator('.lane-track .is-ok, .lane-track .is-bad').count()).toBeGreaterThan(1)
  await expect.poll(() => seen(page.locator('.lane-sum'))).toMatch(/4 done, 1 attempt failed/)

  // The list counts and filters, and the address keeps the view.
  await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Executions' }).click()
  await button(page, '2 with failed items').click()
  await expect.poll(() => page.url()).toContain('failed=yes')
  await expect.poll(() => page.getByRole('table', { name: 'Executions' }).locator('tbody tr').count()).toBe(2)
})

test('what waits says for what, and is paused, resumed and cancelled; a reviewer only looks', async () => {
  const page = await real.signIn('operator')
  await page.goto(`${real.url}/executions`)
  await button(page, 'Start a playbook…').click()
  await dialog(page).getByLabel('Playbook').selectOption('slow')
  await dialog(page).getByText('This playbook takes no arguments.').waitFor()
  await button(page, 'Start slow').click()
  await says(page, /^running/)
  await page.locator('#waits').getByText('Waits until').waitFor()
  const { pathname } = new URL(page.url())

  await button(page, 'Pause…').click()
  await dialog(page).getByText('Nothing else begins until it is resumed.').waitFor()
  await button(page, 'Pause').last().click()
  await says(page, /^paused/)
  await button(page, 'Resume…').click()
  await dialog(page).getByRole('button', { name: 'Resume' }).click()
  await says(page, /^running/)

  const reviewer = await real.signIn('reviewer', { viewport: { width: 390, height: 800 } })
  await reviewer.goto(`${real.url}${pathname}`)
  await says(reviewer, /^running/)
  await reviewer.locator('.step-list').getByText('waiting', { exact: true }).waitFor()
  expect(await reviewer.locator('.graph-canvas').count()).toBe(0)
  expect(
    await reviewer.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
  ).toBe(true)

  await button(page, 'Cancel…').click()
  await dialog(page).getByRole('button', { name: 'Go back' }).waitFor()
  await dialog(page).getByLabel('Reason (optional)').fill('not needed any more')
  await button(page, 'Cancel the execution').click()
  await says(page, /^cancelled/)
  // The other window learns of it by itself.
  await says(reviewer, /^cancelled/)
})

test('versions of a playbook are compared, and a text is checked before it is registered', async () => {
  const page = await real.signIn('operator')
  await page.goto(`${real.url}/playbooks/weekly?tab=versions`)
  const diff = page.getByRole('table', { name: 'Changed lines' })
  await expect.poll(() => seen(diff.locator('.is-removed'))).toContain('top: 10,')
  expect(await seen(diff.locator('.is-added'))).toContain('top: 100,')
  await page.getByRole('tab', { name: 'Text and check' }).click()
  await page.getByText('no problems').waitFor()

  await button(page, 'New version…').click()
  const text = dialog(page).getByRole('textbox')
  await text.fill(WEEKLY.replace('next: divide', 'next: divid'))
  await button(page, 'Check').click()
  await dialog(page).getByText('It would be refused: 1 error').waitFor()
  expect(await seen(dialog(page).locator('.problem-list'))).toMatch(/Line 5: there is no step divid/)
  await text.fill(WEEKLY.replace('top: 100', 'top: 99'))
  await button(page, 'Check').click()
  await dialog(page).getByText('It can be registered').waitFor()
  await dialog(page).getByText('stagedoor playbook register playbook.yaml').first().waitFor()
})

test('a graph of 200 steps begins where it can be read, and draws only what is in sight', async () => {
  const page = await real.signIn('operator')
  await page.goto(`${real.url}/playbooks/long`)
  const first = page.locator('.graph-step').filter({ has: page.getByText('s0', { exact: true }) })
  await expect.poll(async () => (await first.boundingBox())?.width ?? 0).toBeGreaterThan(100)
  await expect.poll(() => page.locator('.graph-step').count()).toBeLessThan(40)
  await button(page, 'List').click()
  expect(await page.locator('.step-list > li').count()).toBe(200)
})
