/** The pull-request page: comments that begin in the diff, policies of several rules, and what the page says first. */
// @module-tag long
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { until } from '../support/until.ts'
import { seen, useRealConsole } from './real-console.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const real = useRealConsole('review-page')
const HEADER =
  'Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Amount spent (AUD),Impressions,Link clicks'
/** More than anybody draws at once. */
const LINES = 1_500

const csv = (lines: number, spend: (at: number) => string) =>
  [
    HEADER,
    ...Array.from({ length: lines }, (_, at) =>
      ['Boots', 1201, 'Retarget', 1202, `Ad ${at}`, 20_000 + at, '2026-11-09', spend(at), 2000, 31].join(','),
    ),
  ].join('\n')

let change: number

beforeAll(async () => {
  const first = await real.ingest(
    real.file(
      'first.csv',
      csv(LINES, () => '10.00'),
    ),
    '--until',
    'planned',
  )
  await decide(first)
  const second = await real.ingest(
    real.file(
      'second.csv',
      csv(LINES, (at) => (at === 0 ? '99.00' : '11.00')),
    ),
    '--until',
    'planned',
  )
  const [row] = await real.sql<{ number: number }>(
    'select number from iu_core.change where subject_id = $1',
    [second],
  )
  change = row!.number
  await cli('upload', 'submit', second, '--as', 'operator')
}, 120_000)

const cli = (...argv: string[]) => runCli(argv, { STAGEDOOR_HOME: real.home })

async function decide(id: string): Promise<void> {
  await cli('upload', 'submit', id, '--as', 'operator')
  const { stdout } = await cli('upload', 'show', id, '--json')
  const { plan_digest: digest } = JSON.parse(stdout) as { plan_digest: string }
  const approve = ['upload', 'approve', id, '--as', 'reviewer', '--digest', digest, '--tick', 'changes']
  expect(await cli(...approve)).toMatchObject({ code: 0 })
  expect(await cli('upload', 'promote', id, '--as', 'operator')).toMatchObject({ code: 0 })
}

async function open(
  who: 'operator' | 'reviewer',
  more = '',
  size = { width: 1440, height: 900 },
): Promise<Page> {
  const page = await real.signIn(who, { viewport: size })
  await page.goto(`${real.url}/changes/${change}?tab=plan&table=daily_metric&show=update${more}`)
  await page.locator('.grid-row').first().waitFor()
  return page
}

async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const violations = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}

const active = (page: Page) =>
  page.evaluate<string>('document.activeElement.getAttribute("aria-label") ?? ""')

describe('a comment begins in the diff', () => {
  it('on a cell under the pointer, with a member who is offered, and is counted on the row', async () => {
    const page = await open('reviewer')
    const cell = page.locator('.grid-row[data-index="0"]').getByRole('gridcell').filter({ hasText: '99.00' })
    expect(await page.getByRole('button', { name: 'Comment on line 2, spend' }).count()).toBe(0)
    // A row that is drawn again while the page reads has lost the pointer until it moves.
    await until('the comment is begun', async () => {
      await cell.hover()
      return page
        .getByRole('button', { name: 'Comment on line 2, spend' })
        .click({ timeout: 2_000 })
        .then(() => true)
        .catch(() => false)
    })
    await expect.poll(() => active(page)).toBe('Comment on line 2, spend')
    await page.keyboard.type('Nine times as much? @ope')
    const option = page.getByRole('option', { name: /^Operator/ })
    await option.waitFor()
    expect(await findings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.keyboard.type('please look')
    const region = page.getByRole('region', { name: 'Comments on line 2' })
    expect(await region.getByRole('textbox').inputValue()).toBe('Nine times as much? @Operator please look')
    await region.getByRole('button', { name: 'Comment', exact: true }).click()
    await region.getByText('Nine times as much?').waitFor()
    await page.getByText('Your comment on line 2, spend is sent.').waitFor()
    const [row] = await real.sql<{ line: number; column_name: string; told: number }>(
      'select line, column_name, cardinality(mentions) as told from iu_core.change_comment',
    )
    expect(row).toEqual({ line: 2, column_name: 'spend', told: 1 })
    // Escape closes it; what is left is a count on the row and on the cell, which opens it again in place.
    await page.keyboard.press('Escape')
    await region.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: '1 comment on line 2', exact: true }).waitFor()
    await page.getByRole('button', { name: '1 comment on line 2, spend' }).click()
    await region.getByLabel('Reply').waitFor()
    expect(await findings(page)).toEqual([])
  })

  it('with the key c on the cell that has the focus, side by side as well, and g c still goes to Changes', async () => {
    const page = await open('operator', '&layout=split')
    const cells = page.locator('.grid-row[data-index="1"]').getByRole('gridcell')
    await cells.filter({ hasText: '11.00' }).first().click()
    await page.keyboard.press('c')
    await expect.poll(() => active(page)).toBe('Comment on line 3, spend')
    await page.keyboard.press('Escape')
    // The focus is back on the cell, and the arrows move on.
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('c')
    await expect.poll(() => active(page)).toBe('Comment on line 4, spend')
    // Inside of a text the keys are the text's.
    await page.keyboard.type('cc')
    await page.keyboard.press('ArrowUp')
    expect(
      await page.getByRole('region', { name: 'Comments on line 4' }).getByRole('textbox').inputValue(),
    ).toBe('cc')
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await page.getByRole('heading', { level: 1, name: 'Changes' }).waitFor()
  })

  it('on a phone from the row and from a value, with nothing cut off', async () => {
    const page = await open('operator', '', { width: 390, height: 844 })
    await page.getByRole('button', { name: 'Comment on line 3', exact: true }).click()
    const region = page.getByRole('region', { name: 'Comments on line 3' })
    await region.getByRole('textbox').fill('From a phone')
    await region.getByLabel('What the comment is about').selectOption('spend')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    const box = await region.boundingBox()
    expect(box!.x + box!.width).toBeLessThanOrEqual(390)
    await region.getByRole('button', { name: 'Comment', exact: true }).click()
    await region.getByText('From a phone').waitFor()
    await page.getByRole('button', { name: '1 comment on line 3, spend' }).waitFor()
    await page.getByRole('button', { name: 'Comment on line 4, spend' }).waitFor()
    expect(await findings(page)).toEqual([])
  })

  it('far down among many rows, of which a handful are drawn; what was typed is there when one comes back', async () => {
    const page = await open('operator')
    await page.locator('.grid').hover()
    const scroll = (to: number) => page.evaluate(`document.querySelector('.grid').scrollTop = ${to}`)
    await expect
      .poll(async () => {
        await scroll(1e9)
        return page.locator(`.grid-row[data-index="${LINES - 1}"]`).count()
      })
      .toBe(1)
    await page.getByRole('button', { name: `Comment on line ${LINES}`, exact: true }).click()
    const region = page.getByRole('region', { name: `Comments on line ${LINES}` })
    await region.getByRole('textbox').fill('A draft')
    expect(await page.locator('.grid-row').count()).toBeLessThan(60)
    await scroll(0)
    await region.waitFor({ state: 'detached' })
    await scroll(1e9)
    await expect.poll(() => region.getByRole('textbox').inputValue()).toBe('A draft')
    // Rows below an open one stand below it, and close up again.
    const heights = () =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('.grid-row')].map((row) => row.getBoundingClientRect()).sort((a, b) => a.top - b.top)
           .slice(1).map((box, at, all) => at === 0 ? 0 : Math.abs(Math.round(box.top - all[at - 1].bottom)))`,
      )
    expect(await heights()).toEqual((await heights()).map(() => 0))
    await page.getByRole('button', { name: `Close the comments on line ${LINES}` }).click()
    await expect.poll(async () => (await heights()).every((gap) => gap === 0)).toBe(true)
  })
})

it('says first what it is, why, and what is unusual; what passed is folded', async () => {
  await cli(
    'change',
    'edit',
    `#${change}`,
    '--title',
    'Spend of week 45',
    '--description',
    'From the *weekly* export.',
  )
  const page = await open('reviewer')
  const heading = page.getByRole('heading', { level: 1 })
  expect(await seen(heading)).toMatch(new RegExp(`^Spend of week 45\\s+#${change}\\s+awaiting review$`))
  expect(await page.title()).toBe(`Spend of week 45 #${change} · Stagedoor`)
  expect(await seen(page.locator('.page-head'))).toMatch(
    /second\.csv → [\s\S]*uploaded by Operator[\s\S]*From the weekly export\./,
  )
  const checks = page.getByRole('region', { name: 'Checks' })
  await checks.getByText(/^\d+ checks passed$/).waitFor()
  expect(await checks.getByText('Control totals').isVisible()).toBe(false)
  const risk = page.getByRole('region', { name: 'Is it as usual?' })
  await expect.poll(() => seen(risk)).toMatch(/Only 1 upload of this source was promoted before/)
  await page.getByRole('button', { name: `Approve and promote ${LINES.toLocaleString('en')} rows` }).waitFor()
})

describe('a policy', () => {
  async function admin(): Promise<Page> {
    const page = await real.signIn('operator')
    const { stdout } = await cli('token', '--as', 'admin', '--json')
    const { token } = JSON.parse(stdout) as { token: string }
    const answer = await page.context().request.post(`${real.url}/api/v1/sign-in`, { data: { token } })
    expect(answer.ok()).toBe(true)
    await page.goto(`${real.url}/settings/policies`)
    return page
  }
  const rules = async () =>
    (
      await real.sql<{ rules: { raise?: { name?: string }[] }; revision: number }>(
        'select rules, revision from iu_core.review_policy',
      )
    )[0]

  it('has rules that are added, ordered, corrected in words, previewed and removed; nobody overwrites another', async () => {
    const page = await admin()
    await page.getByRole('button', { name: 'Add a policy' }).click()
    const form = page.locator('#policy-form')
    await form.getByLabel('Dataset').selectOption('ads')
    const rule = (number: number) => form.getByRole('group', { name: `Rule ${number}` })
    for (const [at, name] of ['large', 'money', 'late'].entries()) {
      await form.getByRole('button', { name: 'Add a rule' }).click()
      await rule(at + 1)
        .getByLabel(/^Name/)
        .fill(name)
    }
    await rule(2).getByLabel('Many rows are written or deleted').uncheck()
    await rule(2).getByLabel('A column of numbers changes').check()
    await rule(3).getByLabel('Many rows are written or deleted').uncheck()
    await form.getByRole('button', { name: 'Add the policy' }).click()
    const problems = form.getByRole('alert')
    expect(await seen(problems)).toMatch(
      /3 things are to be corrected[\s\S]*Rule 2: Say of which column the amount is\.[\s\S]*Rule 2: Say over which amount[\s\S]*Rule 3: It has no condition/,
    )
    expect(await rules()).toBeUndefined()
    await rule(2)
      .getByRole('combobox', { name: /^Column of numbers/ })
      .selectOption('spend')
    await rule(2).getByLabel('Differences over').fill('1000')
    await rule(2).getByLabel('Approvals in all').fill('3')
    await rule(3).getByLabel('outside working hours').check()
    await rule(3).getByLabel('First upload', { exact: false }).check()
    await rule(1).getByLabel('Rows over').fill('1400')
    await rule(3).getByRole('button', { name: 'Move up' }).click()
    await rule(2).getByRole('button', { name: 'Move up' }).click()
    expect(await findings(page)).toEqual([])

    await form.getByRole('button', { name: 'Preview on the last 20 changes' }).click()
    const preview = form.getByRole('region', { name: 'Preview' })
    await preview.getByText('On your last 2 changes, 2 would have needed something else').waitFor()
    expect(await seen(preview)).toMatch(
      /3 approvals[\s\S]*large: \d+ rows are written or deleted, more than 1400[\s\S]*money: spend changes by/,
    )
    expect(await rules()).toBeUndefined()
    await form.getByRole('button', { name: 'Add the policy' }).click()
    await form.waitFor({ state: 'detached' })
    expect((await rules())!.rules.raise!.map(({ name }) => name)).toEqual(['late', 'large', 'money'])

    // Somebody else saves while it is being edited.
    await page.getByRole('button', { name: /^Edit/ }).click()
    const { revision } = (await rules())!
    const theirs = real.file('theirs.json', JSON.stringify({ base: { approvals: 4 } }))
    expect(await cli('policy', 'set', theirs, '--dataset', 'ads', '--as', 'admin')).toMatchObject({ code: 0 })
    await rule(1).getByRole('button', { name: 'Remove' }).click()
    await form.getByRole('button', { name: 'Save the policy' }).click()
    await form
      .getByText(`saved revision ${revision + 1} of this policy meanwhile. Nothing was overwritten.`)
      .waitFor()
    real.forgive(/status of 409 .*\/review-policies$/)
    expect(await seen(form.getByRole('alert'))).toContain('A change needs 4 approvals.')
    expect(await rules()).toMatchObject({ revision: revision + 1, rules: { base: { approvals: 4 } } })
    await form.getByRole('button', { name: `Keep mine, to replace revision ${revision + 1}` }).click()
    await form.getByRole('button', { name: 'Save the policy' }).click()
    await form.waitFor({ state: 'detached' })
    expect((await rules())!.rules.raise!.map(({ name }) => name)).toEqual(['large', 'money'])
  })

  it('that needs several approvals names the button by what it does, and counts in the heading', async () => {
    const page = await open('reviewer')
    await expect.poll(() => seen(page.locator('h1 .chip'))).toBe('awaiting review · 0 of 3')
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await page.getByText('2 more approvals are needed after yours before it can be promoted.').waitFor()
    expect(await page.getByRole('button', { name: /Approve and promote/ }).count()).toBe(0)
  })
})
