/** For you, by two people in two contexts: what is asked of a person arrives by itself, leads to the very comment, and leaves when it is done. */
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('inbox')

const CSV = [
  'Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Amount spent (AUD),Impressions,Link clicks',
  'Winter boots,1201,Retarget,1202,Ad 1,12031,2026-11-09,88.00,2000,31',
].join('\n')

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

  // The mention leads to the very comment; read news goes, and what is to be done stays.
  await line(reviewer, 'mentioned you').getByRole('link').click()
  await reviewer.locator('.comment.is-wanted', { hasText: '@Reviewer' }).waitFor()
  await reviewer.goto(`${real.url}/inbox`)
  await reviewer.getByRole('heading', { name: 'For you' }).waitFor()
  expect(
    await reviewer
      .locator('#to-do')
      .getByRole('button', { name: /Mark as read/ })
      .count(),
  ).toBe(0)
  await reviewer.getByRole('button', { name: 'Mark all as read' }).click()
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
