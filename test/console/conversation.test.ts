/** A change in the browser, by two people: why, who is asked, what is said about which cell, requested changes, the decision. */
import { expect, it } from 'vitest'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('conversation')

const CSV = [
  'Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Amount spent (AUD),Impressions,Link clicks',
  'Winter boots,1201,Retarget,1202,Ad 1,12031,2026-11-09,88.00,2000,31',
  'Winter boots,1201,Retarget,1202,Ad 2,12032,2026-11-09,8.99,2000,31',
].join('\n')

it('is explained, discussed on a cell, sent back, and approved', async () => {
  await real.ingest(real.file('week-45.csv', CSV), '--until', 'planned')
  const operator = await real.signIn('operator')
  await operator.goto(`${real.url}/changes`)
  await operator.getByRole('link', { name: /week-45\.csv #1/ }).click()
  await operator.getByRole('button', { name: 'Edit' }).click()
  await operator.getByLabel('Title').fill('Spend of week 45')
  await operator
    .getByLabel('Why? Markdown.')
    .fill('From the **weekly** export.\n\n<script>alert(1)</script>[x](javascript:alert(2))')
  await operator.getByLabel('Labels, with commas between them').fill('ads, weekly')
  await operator.getByRole('button', { name: 'Save' }).click()
  await operator.getByRole('heading', { name: 'Spend of week 45 #1' }).waitFor()
  await operator.getByText('weekly', { exact: true }).first().waitFor()
  expect(await operator.locator('.change-why script, .change-why a[href^="javascript"]').count()).toBe(0)
  await operator.getByRole('button', { name: 'Submit for review' }).click()
  await operator.getByRole('button', { name: 'Ask for a review…' }).click()
  await operator.getByRole('dialog').getByRole('checkbox', { name: 'Reviewer' }).check()
  await operator.getByRole('dialog').getByRole('button', { name: 'Ask' }).click()
  await operator.getByText('asked', { exact: true }).waitFor()

  // The reviewer finds it by what is asked of them, and comments on a cell.
  const reviewer = await real.signIn('reviewer')
  await reviewer.goto(`${real.url}/changes?show=asked`)
  await reviewer.getByRole('link', { name: /Spend of week 45 #1/ }).click()
  await reviewer.getByRole('button', { name: 'Comment on line 3', exact: true }).click()
  const onRow = reviewer.getByRole('region', { name: /^Comments on line 3/ })
  await onRow.getByLabel('What the comment is about').selectOption('spend')
  await onRow.getByRole('textbox').fill('A decimal point too far to the left? @Operator')
  await onRow.getByRole('button', { name: 'Comment', exact: true }).click()
  await onRow.getByText('A decimal point too far').waitFor()
  await reviewer.getByRole('button', { name: 'Request changes…' }).click()
  await reviewer.getByRole('dialog').getByRole('textbox').fill('Please look at Ad 2.')
  await reviewer.getByRole('dialog').getByRole('button', { name: 'Request changes' }).click()
  await reviewer.getByText('changes requested', { exact: true }).first().waitFor()
  await reviewer.goto(`${real.url}/changes`)
  await reviewer.locator('.chip').getByText('changes requested', { exact: true }).waitFor()

  // The author is told on the page, by name, and on the overview, which leads to the conversation.
  await operator.locator('h1 .chip', { hasText: 'changes requested' }).waitFor()
  expect(await seen(operator.locator('.decision'))).toContain('A reviewer requested changes.')
  await operator.getByText('changes were requested by Reviewer').waitFor()
  await operator.goto(`${real.url}/`)
  await operator.getByRole('region', { name: 'For you' }).locator('li').first().waitFor()
  // It waits for its author now, and for nobody else.
  expect(await operator.getByText(/waits? for another person/).count()).toBe(0)
  await operator
    .getByRole('region', { name: 'For you' })
    .locator('li', { hasText: 'requested changes: Please look at Ad 2.' })
    .getByRole('link', { name: /Spend of week 45 #1/ })
    .click()

  // The author reads both in order, answers, and the thread is resolved.
  await operator.getByRole('tab', { name: /^Conversation/ }).click()
  const thread = operator.getByRole('article', { name: /line 3, spend/ })
  await thread.getByLabel('Reply').fill('It is right: the ad was stopped at noon.')
  await thread.getByRole('button', { name: 'Reply' }).click()
  await thread.getByText('stopped at noon').waitFor()
  await thread.getByRole('button', { name: 'Resolve' }).click()
  await thread.getByText('Resolved', { exact: false }).first().waitFor()
  expect(await seen(operator.locator('.conversation'))).toMatch(
    /opened this change[\s\S]*asked for a review[\s\S]*requested changes/,
  )

  // Approving lifts what the same person asked for.
  await reviewer.goto(`${real.url}/changes/1`)
  // Of the first upload of a source every value is new, which says nothing.
  const risk = reviewer.getByRole('region', { name: 'Is it as usual?' })
  await expect.poll(() => seen(risk)).toMatch(/No upload of this source was promoted before/)
  expect(await seen(risk)).not.toContain('new value')
  const approve = reviewer.getByRole('button', { name: 'Approve and promote' })
  await approve.waitFor()
  for (const item of await reviewer.locator('.decision').getByRole('checkbox').all()) await item.check()
  await approve.click()
  await reviewer.locator('h1 .chip', { hasText: /^promoted$/i }).waitFor()
  await reviewer.getByRole('tab', { name: 'History' }).click()
  await expect
    .poll(() => seen(reviewer.locator('.history li', { hasText: 'Request for changes ended' })))
    .toMatch(/Request for changes ended by you\s+approved since/)
  await reviewer.goto(`${real.url}/changes?status=promoted`)
  await reviewer.getByRole('link', { name: /Spend of week 45 #1/ }).waitFor()
})
