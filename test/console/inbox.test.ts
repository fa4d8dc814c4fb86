/** For you, by two people in two contexts: what is asked of a person arrives by itself, leads to the very comment, and leaves when it is done. */
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('inbox')

const CSV = [
  'Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Amount spent (AUD),Impressions,Link clicks',
  'Winter boots,1201,Retarget,1202,Ad 1,12031,2026-11-09,88.00,2000,31',
].join('\n')

const cli = async (...args: string[]) => {
  const done = await runCli(args, { STAGEDOOR_HOME: real.home })
  expect(done).toMatchObject({ code: 0 })
  return done
}
const count = (page: Page) => seen(page.locator('.top-count'))
const line = (page: Page, text: string | RegExp) => page.locator('#for-you li', { hasText: text })

it('a review, a mention, an answer and an outcome reach those whom they concern', async () => {
  const id = await real.ingest(real.file('week-45.csv', CSV), '--until', 'planned')
  const operator = await real.signIn('operator')
  const reviewer = await real.signIn('reviewer')
  // The reviewer looks at the overview all the time: nothing is loaded again by hand.
  await reviewer.goto(`${real.url}/`)
  await reviewer.getByText('Nothing is asked of you.').waitFor()
  expect(await count(reviewer)).toBe('0')

  await operator.goto(`${real.url}/uploads/${id}?tab=conversation`)
  await operator.getByRole('button', { name: 'Submit for review' }).click()
  await operator.getByRole('button', { name: 'Ask for a review…' }).click()
  await operator.getByRole('dialog').getByRole('checkbox', { name: 'Reviewer' }).check()
  await operator.getByRole('dialog').getByRole('button', { name: 'Ask' }).click()
  await line(reviewer, 'asks for your review').waitFor()
  // What is asked by name is not open work for anybody a second time.
  await expect.poll(() => seen(reviewer.locator('#needs'))).not.toContain('week-45.csv')
  await operator.getByLabel('Comment').fill('@Reviewer <b>look</b> at Ad 1')
  await operator.getByRole('button', { name: 'Comment', exact: true }).click()
  await line(reviewer, 'mentioned you: @Reviewer <b>look</b> at Ad 1').waitFor()
  await expect.poll(() => count(reviewer)).toBe('2')

  // The mention leads to the very comment and is read with it; what is to be done stays.
  await line(reviewer, 'mentioned you').getByRole('link').click()
  await reviewer.locator('.comment.is-wanted', { hasText: '@Reviewer' }).waitFor()
  await expect.poll(() => count(reviewer)).toBe('1')
  await reviewer.goto(`${real.url}/inbox`)
  await reviewer.getByRole('heading', { name: 'For you' }).waitFor()
  expect(
    await reviewer
      .locator('#to-do')
      .getByRole('button', { name: /Mark as read/ })
      .count(),
  ).toBe(0)
  await reviewer.getByText('There is no news that you have not read.').waitFor()
  await expect.poll(() => count(reviewer)).toBe('1')
  await reviewer.getByRole('button', { name: 'Show what I have read' }).click()
  await reviewer.locator('#news li', { hasText: 'mentioned you' }).waitFor()

  // Done in one context, it leaves; the author hears of it.
  await reviewer.goto(`${real.url}/uploads/${id}?tab=conversation`)
  await reviewer.getByLabel('Reply').first().fill('It is right.')
  await reviewer.getByRole('button', { name: 'Reply' }).first().click()
  await operator.goto(`${real.url}/`)
  await line(operator, 'wrote: It is right.').waitFor()
  await reviewer.goto(`${real.url}/uploads/${id}`)
  await reviewer.getByRole('button', { name: 'Approve only' }).waitFor()
  for (const box of await reviewer.locator('.decision input[type="checkbox"]').all()) await box.check()
  await reviewer.getByRole('button', { name: 'Approve only' }).click()
  await line(operator, 'approved it').waitFor()
  await reviewer.goto(`${real.url}/`)
  await reviewer.getByText('Nothing is asked of you.').waitFor()
  await expect.poll(() => count(reviewer)).toBe('0')

  // One line is marked by itself.
  await line(operator, 'approved it')
    .getByRole('button', { name: /^Mark as read/ })
    .click()
  await line(operator, 'approved it').waitFor({ state: 'detached' })
  await line(operator, 'wrote: It is right.').waitFor()
})

it('what the policy asks of a group arrives by itself, and the page says when the plan was compared with production', async () => {
  const reviewer = await real.signIn('reviewer')
  await reviewer.goto(`${real.url}/`)
  await reviewer.getByText('Nothing is asked of you.').waitFor()
  const { stdout } = await cli('member', 'list', '--json')
  const { user_id } = JSON.parse(stdout).find((one: { role: string }) => one.role === 'reviewer')
  await cli('group', 'add', 'Finance', user_id)
  const policy = real.file('finance.yaml', 'base: { approvals: 1, groups: [Finance] }')
  await cli('policy', 'set', policy)
  const id = await real.ingest(real.file('week-46.csv', CSV.replace('11-09', '11-16')), '--until', 'planned')
  const operator = await real.signIn('operator')
  await operator.goto(`${real.url}/uploads/${id}`)
  await operator.getByText(/Compared with production .*: no row differs\./).waitFor()
  await operator.getByRole('button', { name: 'Submit for review' }).click()
  await line(reviewer, 'submitted it; the review policy asks for an approval by Finance').waitFor()
  await expect.poll(() => count(reviewer)).toBe('1')
  // A policy that asks no longer takes it away again.
  await cli('policy', 'remove')
  await reviewer.getByText('Nothing is asked of you.').waitFor()
})
