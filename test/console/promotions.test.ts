/** A file that is promoted stands in the list of promotions; the way from it to a row of production and back; and its undo with a reason. */
import { expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { type Role, seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('promotions')

const HEADER =
  'Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Amount spent (AUD),Impressions,Link clicks'
const weekOf = (spend: string) =>
  [
    HEADER,
    ...[1, 2].map((ad) => `Boots,1201,Retarget,1202,Ad ${ad},1203${ad},2026-11-09,${spend},2000,31`),
  ].join('\n')

async function cli(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, { STAGEDOOR_HOME: real.home })
  expect([code, stderr]).toEqual([0, expect.any(String)])
  return stdout
}

async function act(role: Role, id: string, deed: string, body: object): Promise<void> {
  const answer = await fetch(`${real.url}/api/v1/uploads/${id}/${deed}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${real.token(role)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([deed, answer.status]).toEqual([deed, 200])
}

/** Submitted and promoted by one, approved by another, as programs of theirs would do it. */
async function promote(name: string, spend: string): Promise<string> {
  const id = await real.ingest(real.file(name, weekOf(spend)), '--until', 'planned')
  const [plan] = await real.sql<{ digest: string }>(
    'select digest from iu_core.ingest_plan where upload_id = $1',
    [id],
  )
  const { digest } = plan!
  await act('operator', id, 'submit', { digest })
  await act('reviewer', id, 'approve', { digest, ticked: ['changes'] })
  await act('operator', id, 'promote', { digest })
  return id
}

test('a promotion leads to its rows, a row to its promotions, and an undo says who and why', async () => {
  const page = await real.signIn('reviewer')
  await page
    .getByRole('navigation', { name: 'Navigation' })
    .getByRole('link', { name: 'Promotions', exact: true })
    .click()
  await page.getByText('Nothing was promoted yet.').waitFor()

  const first = await promote('meta-week-45.csv', '88.00')
  const second = await promote('meta-week-45-corrected.csv', '99.50')
  // The page that is open follows.
  const line = (name: string) => page.getByRole('row').filter({ hasText: name })
  const corrected = line('meta-week-45-corrected.csv #2')
  await corrected.waitFor()
  expect(await page.locator('tbody tr').count()).toBe(2)
  expect(await seen(page.locator('tbody tr').first())).toMatch(/corrected[\s\S]*ads \/ meta[\s\S]*2 changed/)
  expect(await seen(corrected)).toMatch(/you[\s\S]*Operator[\s\S]*until \S+/)

  // Down to a row that it wrote, and to where that row comes from.
  await corrected.getByRole('link', { name: '2 changed' }).click()
  await page.waitForURL(`**/uploads/${second}?tab=lineage`)
  const written = page.getByRole('row').filter({ hasText: 'public.daily_metrics' })
  await expect.poll(() => seen(written.first())).toMatch(/^\D*2\s+Ad 1\s+2026-11-09 · Boots \/ Retarget/)
  await page.getByRole('gridcell').getByRole('link').first().click()
  await page.getByRole('heading', { level: 1, name: 'Where a row comes from' }).waitFor()
  const writers = page.locator('.row-origin li')
  await expect.poll(() => writers.count()).toBe(2)
  expect(await seen(writers.nth(0))).toMatch(
    /^Ad 1 \(2026-11-09 · Boots \/ Retarget\) changed by line 2 of meta-week-45-corrected\.csv, uploaded by Operator, approved by you [^,]+, promoted by Operator [\s\S]*spend 88[\s\S]*→ 99\.50/,
  )
  expect(await seen(writers.nth(1))).toMatch(/new by line 2 of meta-week-45\.csv[\s\S]*spend 88/)
  expect(await seen(writers.nth(1))).not.toMatch(/ad_id|…/)

  // The address names the row: it shows the same when it is opened again, and its form asks for others.
  const permalink = page.url()
  expect(new URL(permalink).searchParams.get('table')).toBe('public.daily_metrics')
  await page.reload()
  await expect.poll(() => writers.count()).toBe(2)

  // Up again, to the row of the plan that was approved.
  await writers.nth(1).getByRole('link', { name: 'meta-week-45.csv' }).click()
  await page.waitForURL(`**/uploads/${first}?tab=plan&table=daily_metric&show=all&line=2`)
  await page.getByText('Only line 2 is shown.').waitFor()

  // By its key, typed in.
  await page.goto(`${real.url}/rows?table=public.campaigns`)
  const form = page.getByRole('form', { name: 'Where a row comes from' })
  await expect.poll(() => form.getByLabel('Table').inputValue()).toBe('public.campaigns')
  const [campaign] = await real.sql<Record<string, string>>('select * from public.campaigns')
  for (const input of await form.getByRole('textbox').all())
    await input.fill(String(campaign![(await input.getAttribute('name'))!]))
  await form.getByRole('button', { name: 'Find' }).click()
  await expect.poll(() => writers.count()).toBe(1)
  expect(await seen(writers)).toMatch(/new by line 2 of meta-week-45\.csv/)
  expect(JSON.parse(new URL(page.url()).searchParams.get('key')!)).toMatchObject({ external_id: '1201' })

  await page.goto(`${real.url}/uploads/${second}`)
  await page.getByRole('button', { name: 'Undo…' }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('Wrong <b>week</b>.')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Undo 2 rows/ })
    .click()
  await page.getByText(/^Undone: 2 rows reverted\./).waitFor()

  // Events name what they are about.
  await page.goto(`${real.url}/events`)
  const event = (text: string) => page.getByRole('row').filter({ hasText: text }).first()
  await expect
    .poll(() => seen(event('Change opened')))
    .toMatch(/meta-week-45-corrected\.csv #2\s+status draft/)
  await expect.poll(() => seen(event('Promotion undone'))).toMatch(/meta-week-45-corrected\.csv\s/)

  await page.goto(`${real.url}/promotions?state=undone`)
  await expect.poll(() => seen(corrected)).toMatch(/undone by you[\s\S]*Wrong <b>week<\/b>\./)
  expect(await page.locator('tbody tr').count()).toBe(1)
  await page.getByLabel('Undo').selectOption('undoable')
  await line('meta-week-45.csv #1').waitFor()
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
  expect(page.url()).toContain('state=undoable')
  await page.goto(permalink)
  await expect
    .poll(() => seen(writers.nth(0)))
    .toMatch(/undone by you .*\(this row: reverted\): Wrong <b>week/)

  const listed = JSON.parse(await cli('promotion', 'list', '--json')) as object[]
  expect(listed).toMatchObject([
    { upload_id: second, change: 2, state: 'undone', undo_reason: 'Wrong <b>week</b>.' },
    { upload_id: first, change: 1, state: 'undoable' },
  ])
  expect(await cli('promotion', 'list', '--state', 'undone')).toMatch(/#2 .*2 changed.*Reviewer.*Operator/)
  const row = new URL(permalink).searchParams.get('id')!
  expect(await cli('upload', 'lineage', first)).toMatch(
    /2 +public\.daily_metrics +Boots \/ Retarget \/ Ad 1 \/ 2026-11-09 +[0-9a-f-]{36} +new/,
  )
  expect(await cli('lineage', 'public.daily_metrics', '--id', row)).toMatch(
    /corrected[\s\S]*spend: 88 → 99\.5\n/,
  )
})
