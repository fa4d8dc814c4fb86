/** What stands between a file and a decision: plans that went stale, corrections in hand, records of other kinds. */
// @module-tag long
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { until } from '../support/until.ts'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('decisions')

const HEADER =
  'Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Amount spent (AUD),Impressions,Link clicks'
const line = (ad: number, day: string, spend: string, clicks = 31) =>
  `Winter boots,1201,Retarget,1202,Ad ${ad},1203${ad},${day},${spend},2000,${clicks}`
const csv = (...lines: string[]) => [HEADER, ...lines].join('\n')

/** Two invalid lines; one of them, and one that is valid, have a warning, too: more clicks than impressions. */
const WRONG = csv(
  line(1, '2026-11-12', '5.00'),
  line(2, '2026-11-12', '5.00', 4000),
  line(3, '2026-02-30', 'lots'),
  line(4, '2026-11-12', 'much', 4000),
)

const cli = (...args: string[]) => runCli(args, { STAGEDOOR_HOME: real.home })

describe('a plan that production has overtaken', () => {
  let id: string

  beforeAll(async () => {
    const first = await real.ingest(
      real.file('first.csv', csv(line(1, '2026-11-09', '88.00'))),
      '--until',
      'planned',
    )
    await approve(first, 'Approve and promote')
    id = await real.ingest(real.file('second.csv', csv(line(1, '2026-11-09', '99.50'))), '--until', 'planned')
    await approve(id, 'Approve only')
  })

  test('a refused promotion shows base, mine and theirs, and one click plans again and asks the reviewers', async () => {
    const page = await real.signIn('operator')
    const asked = page.waitForResponse(/\/plan\/check$/)
    await page.goto(`${real.url}/uploads/${id}`)
    await asked
    // Somebody changes the row while the page is open.
    await real.sql('update public.daily_metrics set spend = 1.23 where spend = 88.00')
    await page.getByRole('button', { name: /^Promote / }).click()
    await staleIsShown(page)

    // The page still knows it after a reload.
    await page.reload()
    await staleIsShown(page)
    expect(await page.getByRole('button', { name: /^Promote / }).count()).toBe(0)
    // Who tried it, when and why is kept, here and for the command line.
    const notice = page.locator('.note', { hasText: 'Promotion failed' })
    await notice.getByText('plans it again').waitFor()
    expect((await cli('upload', 'show', id)).stdout).toMatch(/Promote\s+failed .+ ago, by \w+/)
    expect((await cli('upload', 'list')).stdout).toMatch(/promotion failed\s+outdated\s+second.csv/)
    await page.goto(`${real.url}/uploads`)
    await page
      .getByRole('row', { name: /second\.csv/ })
      .getByText('promotion failed')
      .waitFor()
    await page.goto(`${real.url}/uploads/${id}`)

    await page.getByRole('button', { name: 'Plan again and submit for review' }).click()
    // Nothing is planned before somebody says whose value counts.
    const question = page.getByRole('dialog', { name: 'Whose values count?' })
    await expect
      .poll(() => seen(question.locator('tbody')))
      .toMatch(/line 2[\s\S]*spend\s+88\s+1\.23\s+99\.50/)
    await question.getByRole('button', { name: 'Cancel' }).click()
    await state(page, 'plan is outdated')
    await page.getByRole('button', { name: 'Plan again and submit for review' }).click()
    await question.getByRole('button', { name: 'Use mine' }).click()
    await state(page, 'awaiting review')
    await page.getByText(/The file’s values count in 1 cell of 1 row.*Chosen by you/).waitFor()
    await expect.poll(() => notice.count()).toBe(0)
    await page.getByRole('tab', { name: 'History' }).click()
    await page.locator('.history li', { hasText: 'Promotion failed' }).waitFor()
    await page.locator('.history li', { hasText: 'Review asked for again' }).waitFor()
    // One click is one line of the timeline.
    await page.getByRole('tab', { name: /^Conversation/ }).click()
    await page
      .locator('.entry', { hasText: /made the plan \w{8} and submitted it for review again/ })
      .waitFor()
    expect(await page.locator('.entry', { hasText: /draft|asked for/ }).count()).toBe(0)
    await page.getByRole('tab', { name: 'History' }).click()
    expect(
      await seen(page.locator('.history li', { hasText: 'Conflicts: the file’s values count' })),
    ).toContain('1 value in 1 row')
    expect(await seen(page.locator('.history li', { hasText: 'Approval ended' }))).toMatch(
      /by you[\s\S]*of Reviewer[\s\S]*the plan changed · 0 rows as approved, 1 different/,
    )
    // The refusal itself, which the browser mentions.
    real.forgive(/409/)
  })

  test('the reviewer sees what changed since their approval, decides, and undoes it when the operator asks', async () => {
    const reviewer = await real.signIn('reviewer')
    await reviewer.goto(`${real.url}/uploads/${id}`)
    expect(await seen(reviewer.locator('.since-note'))).toMatch(
      /Since your approval of the plan .+: 0 rows the same, 1 different\./,
    )
    expect(await seen(reviewer.getByLabel('Action').locator('option:checked'))).toBe(
      'changed since your approval (1)',
    )
    await expect.poll(() => seen(reviewer.locator('.grid-row del'))).toBe('1.23')
    await expect.poll(() => seen(reviewer.locator('.grid-row ins'))).toBe('99.50')
    const checks = reviewer.getByRole('region', { name: 'Checks' })
    // What passed is folded.
    await checks.getByText(/^\d+ checks passed$/).click()
    expect(await seen(checks)).toMatch(/Lookups in other tables [\d.]+ m?s\s*passed[\s\S]*Planned in \d+/)
    await approve(id, 'Approve and promote')

    const operator = await real.signIn('operator')
    await operator.goto(`${real.url}/uploads/${id}`)
    await state(operator, 'promoted')
    await operator
      .getByText(/An undo needs the right to review in this workspace, which .*Reviewer.* ha(s|ve)/)
      .first()
      .waitFor()
    await operator.getByRole('button', { name: 'Ask for an undo…' }).click()
    const dialog = operator.getByRole('dialog')
    await dialog.getByText('reverted').waitFor()
    await dialog.getByRole('textbox').fill('The spend was right before.')
    await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
    await operator.getByRole('tab', { name: /^Conversation/ }).click()
    await operator.getByRole('article').getByText('The spend was right before.').waitFor()

    // It waits for whoever may undo, with the reason, and leads to the comment.
    await reviewer.goto(`${real.url}/`)
    const forYou = reviewer.getByRole('region', { name: 'For you' })
    await forYou
      .locator('li', { hasText: 'asks for an undo: The spend was right before.' })
      .getByRole('link')
      .click()
    await reviewer.locator('.comment.is-wanted', { hasText: 'The spend was right before.' }).waitFor()
    await reviewer.getByRole('region', { name: 'Request to undo' }).waitFor()
    await reviewer.goto(`${real.url}/uploads/${id}?tab=history`)
    await reviewer.getByRole('button', { name: 'Undo…' }).click()
    await reviewer.getByRole('dialog').getByRole('textbox').fill('As asked.')
    await reviewer
      .getByRole('dialog')
      .getByRole('button', { name: /^Undo \d+ row/ })
      .click()
    await state(reviewer, 'undone')
    await expect
      .poll(() => seen(reviewer.locator('.history li', { hasText: 'Undone' })))
      .toMatch(/1 row reverted[\s\S]*As asked\./)
    expect(await real.sql('select trim_scale(spend)::text as spend from public.daily_metrics')).toEqual([
      { spend: '1.23' },
    ])
  })
})

async function staleIsShown(page: Page): Promise<void> {
  await state(page, 'plan is outdated')
  await page.getByRole('heading', { name: '1 row changed since the plan was made' }).waitFor()
  expect(await seen(page.locator('.stale-kinds'))).toMatch(
    /1 changed in a cell that your file changes, too: a conflict/,
  )
  expect(await seen(page.getByLabel('Action').locator('option:checked'))).toBe('conflicts (1)')
  await expect
    .poll(() => seen(page.locator('.grid-row')))
    .toMatch(/Ad 1[\s\S]*same cell[\s\S]*base\s+88\.00\s+mine\s+99\.50\s+theirs\s+1\.23/)
  await page.getByText('Production has changed since this plan was made: 1 row.').waitFor()
  expect(await page.getByRole('button', { name: 'Plan again and submit for review' }).isEnabled()).toBe(true)
}

describe('corrections', () => {
  let id: string

  beforeAll(async () => {
    id = await real.ingest(real.file('wrong.csv', WRONG), '--until', 'planned')
  })

  test('the primary button leads to the first invalid cell, from wherever one is', async () => {
    const page = await real.signIn('operator', { viewport: { width: 390, height: 700 } })
    await page.goto(`${real.url}/uploads/${id}?tab=rows`)
    for (const _time of [1, 2]) {
      await page.getByRole('button', { name: 'Repair 2 invalid lines' }).click()
      await expect
        .poll(() => page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`))
        .toMatch(/, line 4$/)
      const top = () =>
        page.evaluate<number>('Math.round(document.activeElement.getBoundingClientRect().top)')
      await expect.poll(top).toSatisfy((pixels: number) => pixels >= 0 && pixels < 700)
    }
  })

  test('invalid lines only are invalid lines only: no warning, not even of such a line', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${id}?tab=problems`)
    await page.locator('.grid-row').first().waitFor()
    expect(await page.locator('.grid-row .is-doubtful').count()).toBe(0)
    const invalid = await page.locator('.grid-row').count()
    await page.getByLabel('Which problems').selectOption('with warnings')
    await page.locator('.grid-row .is-doubtful').first().waitFor()
    expect(await page.locator('.grid-row').count()).toBeGreaterThan(invalid)
  })

  test('what was typed survives another tab and another page, and is saved together', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${id}?tab=problems`)
    const day = page.getByRole('textbox', { name: /^Day, line 4/ })
    const spend = page.getByRole('textbox', { name: /^Amount spent \(AUD\), line 4/ })
    await day.fill('2026-11-13')
    await spend.fill('7.50')
    await page.getByRole('tab', { name: 'Rows' }).click()
    expect(await seen(page.getByRole('tab', { name: /^Problems/ }))).toContain('2 unsaved')
    await page.getByRole('tab', { name: /^Problems/ }).click()
    expect(await day.inputValue()).toBe('2026-11-13')
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'How data flows' }).waitFor()
    await page.goBack()
    expect(await spend.inputValue()).toBe('7.50')

    // Leaving the console for good would lose them: the browser asks.
    const asked = page.waitForEvent('dialog')
    const leaving = page.reload({ timeout: 2000 }).catch(() => undefined)
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()
    await leaving

    await page.locator('.filters').getByRole('button', { name: 'Save 2 repairs' }).click()
    await page.getByText('Line 4 was checked again: 1 line is still invalid, 2 before.').waitFor()
    expect(await seen(page.getByRole('tab', { name: /^Problems/ }))).not.toContain('unsaved')
    await page.reload()
    await day.waitFor({ state: 'detached' })
  })

  test('the primary button saves what was typed, also from another tab, and then leads to what is left', async () => {
    const file = real.file('wrong-again.csv', WRONG.replace(/,Ad (\d)/g, ',Advert $1'))
    const again = await real.ingest(file, '--until', 'planned')
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${again}?tab=problems`)
    const decision = page.locator('.decision')
    await decision.getByRole('button', { name: 'Repair 2 invalid lines' }).waitFor()
    await page.getByRole('textbox', { name: /^Day, line 4/ }).fill('2026-11-13')
    await page.getByRole('textbox', { name: /^Amount spent \(AUD\), line 4/ }).fill('7.50')
    const save = decision.getByRole('button', { name: 'Save 2 repairs' })
    await save.waitFor()
    expect(await decision.getByRole('button', { name: /^Correct/ }).count()).toBe(0)
    await page.getByRole('tab', { name: 'Rows' }).click()
    await save.click()
    await page.getByText('Line 4 was checked again: 1 line is still invalid, 2 before.').waitFor()
    await decision.getByRole('button', { name: 'Repair 1 invalid line' }).waitFor()

    // What is typed later is not saved by coming back.
    const left = page.getByRole('textbox', { name: /^Amount spent \(AUD\), line 5/ })
    await left.fill('8.50')
    await page.getByRole('tab', { name: 'Rows' }).click()
    await page.getByRole('tab', { name: /^Problems/ }).click()
    expect(await left.inputValue()).toBe('8.50')
    await decision.getByRole('button', { name: 'Save 1 repair' }).click()
    await decision.getByRole('button', { name: 'Submit for review' }).waitFor()
  })

  test('a dialog gives the focus back to the button that opened it', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/${id}`)
    const button = page.getByRole('button', { name: 'Discard…' })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate<string>('document.activeElement.innerText')).toBe('Discard…')
    await button.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate<string>('document.activeElement.innerText')).toBe('Discard…')
  })
})

describe('what takes long', () => {
  test('a promotion says how many rows it writes and counts while it runs', async () => {
    const id = await real.ingest(
      real.file('slow.csv', csv(line(7, '2026-11-20', '3.00'))),
      '--until',
      'planned',
    )
    await approve(id, 'Approve only')
    const page = await real.signIn('operator')
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(/\/promote$/, async (route) => {
      await answered
      await route.continue()
    })
    await page.goto(`${real.url}/uploads/${id}`)
    await page.getByRole('button', { name: /^Promote / }).click()
    await expect.poll(() => seen(page.locator('.doing'))).toMatch(/^Promoting \d+ rows?/)
    await page.getByText(/^\d+ s\. You can leave this page/).waitFor()
    answer()
    await state(page, 'promoted')
  })
})

describe('records of other kinds', () => {
  test('a marking is read piece by piece and approved in the browser, by its digest and by somebody else', async () => {
    const path = real.file('handbook.md', '# Handbook\n\n## Travel\n\nBook two weeks ahead.\n')
    const { stdout, stderr } = await cli('mark', path, '--as', 'operator', '--json')
    const id = /"staging_record_id":\s*"([^"]+)"/.exec(stdout)?.[1]
    expect(id, stdout + stderr).toBeDefined()

    const operator = await real.signIn('operator')
    await operator.goto(`${real.url}/records/${id}`)
    await operator.getByText('Waiting for a reviewer.').waitFor()
    expect(await operator.getByRole('button', { name: 'Approve' }).isEnabled()).toBe(false)

    const reviewer = await real.signIn('reviewer')
    await reviewer
      .getByRole('navigation', { name: 'Navigation' })
      .getByRole('link', { name: /^Changes/ })
      .click()
    await reviewer
      .getByRole('link', { name: /Handbook/ })
      .first()
      .click()
    await expect
      .poll(() => seen(reviewer.locator('main')))
      .toMatch(/new unit\s*Travel[\s\S]*Book two weeks ahead\./)
    const sent = reviewer.waitForRequest(/\/approve$/)
    await reviewer.getByRole('button', { name: 'Approve' }).click()
    await state(reviewer, 'approved')
    await state(operator, 'approved')
    const [record] = await real.sql<{ lifecycle_status: string; content_hash: string }>(
      'select lifecycle_status, content_hash from iu_core.iu_staging_record where staging_record_id = $1',
      [id],
    )
    expect(record?.lifecycle_status).toBe('approved')
    expect((await sent).postDataJSON()).toEqual({ digest: record?.content_hash })
  })

  test('a checklist is ticked before a package can be approved, and a rejection needs a reason', async () => {
    const [approved, rejected] = await Promise.all(
      ['Commentary on week 45', 'Commentary on week 46'].map(stage),
    )
    const page = await real.signIn('reviewer')
    await page.goto(`${real.url}/changes`)
    await page.getByRole('link', { name: 'Commentary on week 45' }).first().click()
    await page.getByText('12345678901234567890', { exact: true }).waitFor()
    await page.getByText('Spend rose because').waitFor()
    const approve = page.getByRole('button', { name: 'Approve' })
    expect(await approve.isEnabled()).toBe(false)
    await page.getByRole('checkbox', { name: /The sums agree/ }).check()
    await expect.poll(() => approve.isEnabled()).toBe(true)
    await approve.click()
    await state(page, 'approved')

    await page.goto(`${real.url}/records/${rejected}`)
    await page.getByRole('button', { name: 'Reject with a reason…' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Reject' }).isEnabled()).toBe(false)
    await dialog.getByRole('textbox').fill('The sums do not agree')
    await dialog.getByRole('button', { name: 'Reject' }).click()
    await state(page, 'rejected')
    await page.getByText('Rejected: “The sums do not agree”').waitFor()
    await page
      .getByRole('navigation', { name: 'Navigation' })
      .getByRole('link', { name: /^Changes/ })
      .click()
    await page.getByRole('heading', { name: 'Uploads awaiting review' }).waitFor()
    const waiting = page.locator('#waiting-uploads, #waiting-records')
    const left = waiting.getByRole('link', { name: /^Commentary on week/ })
    await expect.poll(() => left.count()).toBe(0)
    expect(approved).not.toBe(rejected)
  })

  test('an address of nothing says so in words for a browser', async () => {
    const page = await real.signIn('operator')
    await page.goto(`${real.url}/uploads/0190b5a2-7c1e-7a33-8f0e-3a1d5b7c9e11`)
    await page.getByRole('heading', { name: 'There is no such upload' }).waitFor()
    expect(await seen(page.locator('main'))).not.toContain('stagedoor upload list')
    await page.getByRole('link', { name: 'Go to all uploads' }).click()
    await page.getByRole('heading', { name: 'Uploads', level: 1 }).waitFor()
    real.forgive(/404/)
  })

  async function stage(purpose: string): Promise<string> {
    const [workspace] = await real.sql<{ id: string }>('select id from public.workspaces limit 1')
    const parts = [
      { part_name: 'manifest', payload_kind: 'json', payload_json: { big: 'BIG' } },
      { part_name: 'commentary', payload_kind: 'text', payload_text: 'Spend rose because of winter.' },
      {
        part_name: 'checklist',
        payload_kind: 'json',
        payload_json: [{ id: 'sums', text: 'The sums agree' }],
      },
    ]
    const request = {
      workspace_id: workspace!.id,
      staging_kind: 'review_package',
      payload_type: 'review_bundle',
      purpose,
      parts,
    }
    const answer = await fetch(`${real.url}/api/v1/staging`, {
      method: 'POST',
      headers: { authorization: `Bearer ${real.token('operator')}`, 'content-type': 'application/json' },
      body: JSON.stringify(request).replace('"BIG"', '12345678901234567890'),
    })
    expect(answer.status).toBe(201)
    return ((await answer.json()) as { staging_record_id: string }).staging_record_id
  }
})

describe('on a phone', () => {
  test('what changes is in sight, and the decision stands below it', async () => {
    const id = await real.ingest(
      real.file('phone.csv', csv(line(1, '2026-11-09', '55.00'))),
      '--until',
      'planned',
    )
    const page = await real.signIn('operator', { viewport: { width: 390, height: 844 } })
    await page.goto(`${real.url}/uploads/${id}`)
    const change = (await page.locator('.grid-row ins').first().boundingBox())!
    expect(change.x + change.width).toBeLessThanOrEqual(390)
    const decision = (await page.locator('.decision').boundingBox())!
    expect(decision.y).toBeGreaterThan(change.y)
  })

  test('a new row shows every column, and control totals say that there is more to the right', async () => {
    const head = `${HEADER},Reach,Frequency,Purchases,Purchases conversion value`
    const row = `${line(77, '2026-11-21', '5.25')},1500,1.33,4,80.75`
    const total = ',,,,,,,5.25,2000,31,1500,,4,80.75'
    const id = await real.ingest(
      real.file('columns.csv', [head, row, total].join('\n')),
      '--until',
      'planned',
    )
    const page = await real.signIn('operator', { viewport: { width: 390, height: 844 } })
    await page.goto(`${real.url}/uploads/${id}`)
    const cell = page.locator('.grid-row .stacked').first()
    for (const value of ['5.25', '2,000', '31', '1,500', '80.75'])
      await expect.poll(() => seen(cell)).toContain(value)
    const control = page.getByRole('region', { name: 'Control totals' })
    expect(await control.locator('.is-lost').count()).toBe(0)
    expect(await seen(control)).toMatch(/Totals lines, not counted: .*Impressions 2,000; .*Spend AUD 5\.25/)
    await control.locator('.has-more').waitFor()
    await page.evaluate(`document.querySelector('.control-scroller').scrollLeft = 10_000`)
    await control.locator('.has-more').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  })
})

async function approve(id: string, how: 'Approve only' | 'Approve and promote'): Promise<void> {
  const operator = await real.signIn('operator')
  await operator.goto(`${real.url}/uploads/${id}`)
  const submit = operator.getByRole('button', { name: /^(Submit for review|Submit for review again)$/ })
  await submit.or(operator.getByText('Waiting for a reviewer.')).first().waitFor()
  if (await submit.isVisible()) await submit.click()
  await state(operator, 'awaiting review')
  const reviewer = await real.signIn('reviewer')
  await reviewer.goto(`${real.url}/uploads/${id}`)
  await reviewer.locator('.decision').getByRole('checkbox').first().check()
  await reviewer.getByRole('button', { name: how }).click()
  await state(reviewer, how === 'Approve only' ? 'approved' : 'promoted')
}

async function state(page: Page, word: string): Promise<void> {
  const chip = page.locator('h1 .chip')
  // Also before the tests, where expect.poll is not to be had.
  await until(`the state ${word}`, async () => (await chip.allInnerTexts())[0] === word)
}
