/** Units and search in the browser, on a real server: a person writes, compares, cuts, enacts and finds. */
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { type Role, seen, useRealConsole } from './real-console.ts'

const stagedoor = useRealConsole('units-search')

/** Whatever of it ran would leave a mark on the page, or lead away from it. */
const HOSTILE = [
  '# <img src=x onerror="window.ran = 1"> Leave',
  '',
  '<script>window.ran = 2</script>',
  '',
  'Every employee has 28 days. [A link](javascript:window.ran=3) and <a href="javascript:window.ran=4">another</a>.',
  '',
  '![picture](https://example.com/spy.png)',
].join('\n')

async function call<T>(role: Role, method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${stagedoor.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${stagedoor.token(role)}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return JSON.parse(text) as T
}

/** What a stored script could have done. */
async function expectHarmless(page: Page): Promise<void> {
  const found = await page.evaluate(`({
    ran: window.ran ?? 0,
    scripts: document.querySelectorAll('main script, main img, main iframe').length,
    links: [...document.querySelectorAll('main a')].filter((link) =>
      (link.getAttribute('href') ?? '').includes('javascript')).length,
  })`)
  expect(found).toEqual({ ran: 0, scripts: 0, links: 0 })
}

it('a unit is written, edited and compared; what its text tries to run does nothing', async () => {
  const page = await stagedoor.signIn('operator')
  await page.goto(`${stagedoor.url}/units`)
  await page.getByRole('button', { name: 'Write a unit…' }).click()
  await page.getByLabel(/^Address/).fill('handbook/leave')
  await page.getByLabel(/^Text/).fill(HOSTILE)
  await page.getByRole('button', { name: 'Create the draft' }).click()
  const title = page.getByRole('heading', { level: 1, name: /<img src=x onerror/ })
  await title.waitFor()
  await page.getByText('Every employee has 28 days.').waitFor()
  await expectHarmless(page)

  await page.getByRole('button', { name: 'Edit the text…' }).click()
  await page.getByLabel('Text (Markdown)').fill(HOSTILE.replace('28 days', '30 days'))
  await page.getByLabel(/^Why/).fill('agreed on Monday')
  await page.getByRole('button', { name: 'Save as version 2' }).click()
  await page.getByText('Every employee has 30 days.').waitFor()

  await page.getByRole('tab', { name: 'Versions' }).click()
  const difference = page.getByRole('region', { name: 'Difference' })
  await expect.poll(() => difference.locator('del mark').allInnerTexts()).toEqual(['28'])
  expect(await difference.locator('ins mark').allInnerTexts()).toEqual(['30'])
  await page.getByText('agreed on Monday').waitFor()
  await expectHarmless(page)
  // The view has an address of its own.
  await page.getByLabel('From').selectOption('2')
  await page.getByText('Versions 2 and 2 have the same text.').waitFor()
  expect(page.url()).toContain('from=2')

  // An edit of somebody else in between is refused, not overwritten.
  const id = page.url().match(/units\/([0-9a-f-]+)/)![1]!
  await page.getByRole('button', { name: 'Edit the text…' }).click()
  await call('operator', 'PATCH', `/units/${id}`, { expected_version: 2, body: 'Quicker.', title: 'Leave' })
  await page.getByText('Somebody saved version 3 while you wrote').waitFor()
  await page.getByRole('button', { name: 'Save as version 3' }).click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  stagedoor.forgive(/status of 409/)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await call('operator', 'PATCH', `/units/${id}`, {
    expected_version: 3,
    body: HOSTILE,
    title: HOSTILE.split('\n')[0]!,
  })

  // The list finds it by a part of its title, and shows that title as text.
  await page.goto(`${stagedoor.url}/units?text=onerror`)
  await page.getByRole('link', { name: /<img src=x onerror/ }).waitFor()
  // An address may name the branch alone.
  await page.goto(`${stagedoor.url}/units?under=handbook`)
  await page.getByRole('link', { name: /<img src=x onerror/ }).waitFor()
  await page.goto(`${stagedoor.url}/units?under=other`)
  await page.getByText('No unit matches these filters.').waitFor()
  await expectHarmless(page)
  await page.goto(`${stagedoor.url}/units?text=nowhere`)
  await page.getByText('No unit matches these filters.').waitFor()
})

it('a unit is split at its headings, its parts are merged again, and the result is moved into another', async () => {
  const draft = (canonical_address: string, body: string) =>
    call<{ unit_id: string }>('operator', 'POST', '/units', { canonical_address, body })
  const text = '## Annual leave\n\n28 days.\n\n## Sick leave\n\nA note on the third day.\n'
  const { unit_id } = await draft('rules/leave', text)
  await draft('rules/all', '# All rules')

  const page = await stagedoor.signIn('reviewer')
  const dialog = page.getByRole('dialog')
  await page.goto(`${stagedoor.url}/units/${unit_id}`)
  await page.getByRole('button', { name: 'Split…' }).click()
  expect(await page.getByLabel('Text of part 2').inputValue()).toContain('third day')
  await page.getByLabel('Text of part 2').fill('## Sick leave')
  await dialog.getByText('something is left out').waitFor()
  await page.getByLabel('Text of part 2').fill('## Sick leave\n\nA note on the third day.')
  await dialog.getByText(/^The parts hold all \d+ characters/).waitFor()
  await page.getByLabel('Address of part 1').fill('rules/annual')
  await dialog.getByRole('button', { name: 'Retire it and create 2 units' }).click()
  await page.getByRole('heading', { level: 1, name: 'Annual leave' }).waitFor()

  await page.getByRole('button', { name: 'Merge…' }).click()
  await page.getByLabel('Find the next one').fill('sick')
  await page.getByRole('combobox', { name: /^Add/ }).selectOption({ label: 'Sick leave · rules/leave-2' })
  await page.getByLabel('Address of the new unit').fill('rules/time-off')
  await dialog.getByRole('button', { name: 'Retire 2 units and create one' }).click()
  await page.getByText('rules/time-off', { exact: true }).first().waitFor()
  expect(await seen(page.getByRole('region', { name: 'Text', exact: true }))).toContain('third day')

  await page.getByRole('button', { name: 'Move…' }).click()
  await dialog.getByText('It is in no other unit now.').waitFor()
  await page.getByRole('combobox', { name: /^Into/ }).selectOption({ label: 'All rules · rules/all' })
  await dialog.getByRole('button', { name: 'Move it', exact: true }).click()
  await page.getByRole('link', { name: 'All rules' }).waitFor()
  const { units } = await call<{ units: { canonical_address: string; lifecycle_status: string }[] }>(
    'reviewer',
    'GET',
    '/units?text=rules/&limit=10',
  )
  expect(Object.fromEntries(units.map((one) => [one.canonical_address, one.lifecycle_status]))).toEqual({
    'rules/all': 'draft',
    'rules/annual': 'retired',
    'rules/leave': 'retired',
    'rules/leave-2': 'retired',
    'rules/time-off': 'draft',
  })
})

it('a document is cut: the proposal is read beside its text, approved by another person, and leads to its units', async () => {
  const { staging_record_id: record, digest } = await call<{ staging_record_id: string; digest: string }>(
    'operator',
    'POST',
    '/marks',
    {
      source_ref: 'travel.md',
      text: '# Travel\n\nTrains before planes.\n\n## Hotels\n\nThe company pays for two stars.\n',
    },
  )
  const page = await stagedoor.signIn('operator')
  await page.goto(`${stagedoor.url}/marks/${record}`)
  await page.getByRole('heading', { name: 'Cut of Travel' }).waitFor()
  const pieces = page.getByRole('region', { name: 'Pieces' })
  await pieces.getByRole('button', { name: /Hotels/ }).click()
  await expect.poll(() => seen(page.locator('.marking-segment.is-chosen'))).toContain('two stars')
  expect(await seen(page.getByRole('region', { name: 'Summary' }))).toContain('will be created')

  await call('reviewer', 'POST', `/staging/${record}/approve`, { digest })
  await page.getByRole('button', { name: 'Cut it into units…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cut', exact: true }).click()
  // Once it is cut, its pieces are not compared with the units of today.
  const units = page.getByRole('link', { name: 'See the units' })
  await units.waitFor()
  await expect.poll(() => seen(page.getByRole('region', { name: 'Summary' }))).not.toMatch(/The cut/)
  expect(await seen(pieces)).not.toContain('unchanged')
  await units.click()
  await page.getByRole('link', { name: 'Hotels' }).click()
  await page.getByRole('heading', { level: 1, name: 'Hotels' }).waitFor()
  await page.getByRole('tab', { name: 'Where it comes from' }).click()
  await page.getByText('The unit says what the document says.').waitFor()
  await page.getByRole('link', { name: 'the marking beside its text' }).waitFor()
  // Above it stands the heading that it was under.
  await page.locator('.unit-path').getByRole('link', { name: 'Travel' }).waitFor()

  await page.getByRole('tab', { name: /^Edges/ }).click()
  await page.getByRole('button', { name: 'Add an edge…' }).click()
  await page.getByLabel(/^To:/).fill('handbook/leave')
  await page.getByRole('button', { name: 'Add the edge' }).click()
  await page
    .getByRole('list', { name: 'Edges as a list' })
    .getByRole('link', { name: 'handbook/leave' })
    .waitFor()
  await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(1)

  await page.goto(`${stagedoor.url}/marks/${record}`)
  await page.getByRole('link', { name: 'See the units' }).click()
  await page.getByRole('link', { name: 'Travel' }).first().waitFor()
  await page.goto(`${stagedoor.url}/records/${record}`)
  await page.getByRole('heading', { name: 'Pieces of the cut' }).waitFor()
  await page.locator('summary', { hasText: 'Hotels' }).waitFor()
  expect(await page.locator('summary', { hasText: 'unchanged' }).count()).toBe(0)
})

it('a reviewer enacts what was read; from then on its text does not change', async () => {
  const { unit_id } = await call<{ unit_id: string }>('operator', 'POST', '/units', {
    canonical_address: 'handbook/remote',
    body: '# Remote work\n\nTwo days a week.',
  })
  const page = await stagedoor.signIn('reviewer')
  await page.goto(`${stagedoor.url}/units/${unit_id}`)
  await page.getByRole('button', { name: 'Enact…' }).click()
  await page.getByText('nobody changes its text from then on', { exact: false }).waitFor()
  await page.getByLabel('Reference of the approval').fill('APR-1')
  await page.getByRole('button', { name: 'Enact version 1' }).click()
  await page.locator('.detail-head').getByText('in force').waitFor()
  expect(await page.getByRole('button', { name: 'Edit the text…' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Supersede…' }).waitFor()
  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByText('draft → in force').waitFor()
  await page.getByText('APR-1').first().waitFor()
})

it('search finds a text at once and says how fresh it is, by keyboard alone; without a hit it helps', async () => {
  const { units } = await call<{ units: { unit_id: string; version_no: number }[] }>(
    'operator',
    'GET',
    '/units?address=handbook/leave',
  )
  await call('operator', 'PATCH', `/units/${units[0]!.unit_id}`, {
    expected_version: units[0]!.version_no,
    body: HOSTILE.replace('28 days', '31 days'),
  })
  // The quiet time after an edit ends when the page asks for it, however long that takes here.
  await stagedoor.sql(
    `update iu_core.vector_outbox set earliest_run_at = clock_timestamp() + interval '1 hour' where status = 'pending'`,
  )
  const page = await stagedoor.signIn('operator')
  await page.goto(`${stagedoor.url}/search`)
  await page.getByRole('heading', { name: 'Search', exact: true }).waitFor()
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('employee')
  const hits = page.getByRole('list', { name: 'Hits' })
  await hits.locator('.chip', { hasText: 'being indexed' }).waitFor()
  expect(await hits.locator('.hit-snippet mark').allInnerTexts()).toContain('employee')
  await expect.poll(() => seen(page.locator('.freshness'))).toMatch(/1 hit in .*by words.*waiting/s)
  expect(page.url()).toContain('q=employee')
  await hits.getByText('Why this hit').click()
  await hits.getByText('place 1', { exact: false }).waitFor()
  await expectHarmless(page)

  // What waits is indexed on request, and the page says so by itself.
  await page.getByRole('button', { name: 'Index them now…' }).click()
  await page.getByRole('button', { name: 'Index now', exact: true }).click()
  await hits.locator('.chip', { hasText: /^indexed$/ }).waitFor()
  await page.locator('.freshness').getByText('all units and documents are in search').waitFor()

  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('/')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: /<img src=x onerror/ }).waitFor()

  // A misspelt word is corrected; asked for as it is, it finds nothing. A filter that excludes.
  await page.goto(`${stagedoor.url}/search?q=emploiee`)
  await page.getByText('Showing results for').waitFor()
  await hits.getByRole('link').first().waitFor()
  await page.getByRole('button', { name: 'emploiee', exact: true }).click()
  await page.getByRole('button', { name: 'employee', exact: true }).click()
  await hits.getByRole('link').first().waitFor()
  await page.goto(`${stagedoor.url}/search?q=employee&status=enacted`)
  await page.getByText('Without the filters (status enacted) there is one hit.').waitFor()
  await page.getByRole('button', { name: 'Search without filters' }).click()
  await hits.getByRole('link').first().waitFor()
  expect(page.url()).not.toContain('status')
})

it('search suggests while somebody types, filters by counts, folds copies, and shows more', async () => {
  const words = 'alpha beta gamma delta epsilon zeta eta theta iota kappa'
  const write = (address: string, body: string, kind = 'note') =>
    call('operator', 'POST', '/units', { canonical_address: address, unit_kind: kind, body })
  for (let n = 1; n <= 24; n++) await write(`zoo/capybara-${n}`, `Capybara number${n} bathes in pond${n}.`)
  for (const n of [1, 2, 3]) await write(`zoo/copy-${n}`, `The capybara rule: ${words}.`, 'section')
  // Completions are of words that are indexed.
  await stagedoor.sql(`update iu_core.vector_outbox set earliest_run_at = now() where status = 'pending'`)
  await expect
    .poll(async () => (await call<{ pending: number }>('operator', 'GET', '/search/waiting')).pending, {
      timeout: 60_000,
    })
    .toBe(0)
  const page = await stagedoor.signIn('operator')
  await page.goto(`${stagedoor.url}/search`)
  await page.getByRole('searchbox', { name: /^Search in/ }).fill('capyb')
  const suggestions = page.getByRole('list', { name: 'Suggestions' })
  await suggestions.getByRole('button', { name: 'capybara' }).click()
  const hits = page.getByRole('list', { name: 'Hits' })
  await expect.poll(() => hits.locator('> li').count()).toBe(20)
  await page.getByRole('button', { name: 'More results' }).click()
  await expect.poll(() => hits.locator('> li').count()).toBeGreaterThan(20)

  const counts = page.getByRole('region', { name: 'Hits by filter' })
  await counts.getByRole('button', { name: 'section 3' }).click()
  await expect.poll(() => hits.locator('> li').count()).toBe(1)
  await hits.getByText('+2 like this').click()
  expect(await hits.locator('.hit-similar a').count()).toBe(2)
  expect(page.url()).toContain('kind=section')
  await counts.getByRole('button', { name: 'section 3' }).click()
  await page.getByLabel('Order').selectOption('address')
  await expect.poll(() => hits.getByRole('link').first().getAttribute('href')).toMatch(/units/)
  await expect.poll(() => seen(hits.locator('.hit-place').first())).toContain('zoo/capybara-1 ')
})

it('what could not be indexed is listed with its reason, and only who administers tries it again', async () => {
  await stagedoor.sql(
    `update iu_core.vector_outbox o set status = 'dead_letter', retry_count = 3, last_error = 'the embedder answered 400'
       from iu_core.information_unit u where u.unit_id = o.unit_id and u.canonical_address = 'handbook/leave'`,
  )
  const page = await stagedoor.signIn('operator')
  await page.goto(`${stagedoor.url}/search`)
  const dead = page.getByRole('region', { name: 'Dead letters' })
  await dead.getByText('the embedder answered 400').waitFor()
  expect(await dead.getByRole('button', { name: /again/ }).isDisabled()).toBe(true)
  await dead.getByText('You do not have the right to administer').waitFor()

  await stagedoor.sql(`update public.workspace_members set role = 'admin' where role = 'operator'`)
  await page.reload()
  await dead.getByRole('button', { name: 'Try all 1 again…' }).click()
  await page.getByRole('button', { name: 'Try 1 text again' }).click()
  await dead.getByText('Nothing failed.').waitFor()
})
