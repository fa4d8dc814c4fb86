/**
 * Every page of the console on a real server: its heading, no finding of axe, nothing outside of the window, no error in the browser's
 * console. A new page is one line in PAGES, or the test fails. With SCREENSHOTS=folder every page is taken in light and dark, wide and
 * narrow, as the workflow of CI does for its artifacts; SCREENSHOTS=1 is test-results/console.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { until } from '../support/until.ts'
import { type Role, useRealConsole } from './real-console.ts'

const stagedoor = useRealConsole('rooms')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const FOLDER = process.env.SCREENSHOTS === '1' ? 'test-results/console' : process.env.SCREENSHOTS

/** What the pages of single things are opened with; filled before the tests. */
const ids = { record: '', event: '', upload: '', execution: '', job: '', unit: '', marking: '', document: '' }

/** Path, and the heading that shows that the page is there with its content. */
const PAGES: readonly (readonly [path: string | (() => string), heading: string | RegExp])[] = [
  ['/', 'How data flows'],
  ['/inbox', 'For you'],
  ['/changes', 'Changes'],
  ['/changes/1', /Commentary on week 45/],
  ['/uploads', 'Uploads'],
  [() => `/uploads/${ids.upload}`, /week\.csv/],
  ['/records', 'Records'],
  [() => `/records/${ids.record}`, /Commentary on week 45/],
  ['/units', 'Units'],
  [() => `/units/${ids.unit}`, 'Hotels'],
  [() => `/units/${ids.unit}?tab=versions`, 'Hotels'],
  [() => `/units/${ids.unit}?tab=edges`, 'Hotels'],
  [() => `/marks/${ids.marking}`, 'Cut of Travel'],
  [() => `/documents/${ids.document}`, 'Travel'],
  ['/search?q=hotel+stars', 'Search'],
  ['/search?q=hotles&kind=table', 'Search'],
  ['/promotions', 'Promotions'],
  ['/rows?table=public.ads', 'Where a row comes from'],
  ['/events', 'Events'],
  [() => `/events/${ids.event}`, 'Record created'],
  ['/consumers', 'Consumers'],
  ['/consumers/mail_on_record', 'mail_on_record'],
  ['/routes', 'Routes'],
  ['/routes/orders_created', 'orders_created'],
  ['/executions', 'Executions'],
  [() => `/executions/${ids.execution}`, /^greeting · run/],
  [() => `/executions/${ids.execution}?tab=items`, /^greeting · run/],
  [() => `/executions/${ids.execution}?tab=result`, /^greeting · run/],
  [() => `/executions/${ids.execution}?tab=history`, /^greeting · run/],
  ['/playbooks', 'Playbooks'],
  ['/playbooks/greeting', 'greeting'],
  ['/playbooks/greeting?tab=text', 'greeting'],
  ['/playbooks/greeting?tab=versions', 'greeting'],
  ['/jobs', 'Jobs'],
  [() => `/jobs/${ids.job}`, 'send_mail'],
  ['/dead-letters', 'Dead letters'],
  ['/schedules', 'Schedules'],
  ['/health', 'Health'],
  ['/settings/members', 'Settings'],
  ['/settings/tokens', 'Settings'],
  ['/settings/sessions', 'Settings'],
  ['/settings/datasets?dataset=ads', 'Settings'],
  ['/settings/policies', 'Settings'],
  ['/settings/webhooks', 'Settings'],
  ['/settings/search', 'Settings'],
  ['/settings/limits', 'Settings'],
  ['/docs', 'Docs'],
  ['/docs/tutorial', /Tutorial/],
]

/** They show or lead to one of the others. */
const REDIRECTS = ['/review', '/review/:id', '/settings']

/** Together they show both widths and both schemes. */
const VARIANTS = [
  { scheme: 'light', width: 1440 },
  { scheme: 'dark', width: 390 },
] as const
/** Pictures are taken of all four. */
const OTHER_VARIANTS = [
  { scheme: 'dark', width: 1440 },
  { scheme: 'light', width: 390 },
] as const
type Variant = (typeof VARIANTS)[number] | (typeof OTHER_VARIANTS)[number]

beforeAll(async () => {
  const { workspaces } = await call<{ workspaces: { id: string }[] }>('operator', 'GET', '/me')
  const workspace = workspaces[0]!.id
  const consumer = {
    consumer_id: 'mail_on_record',
    event_domain: 'staging',
    event_type: 'record_created',
    job_kind: 'send_mail',
    idempotency_key_template: '{event_id}:mail',
    workspace_id: workspace,
  }
  const route = {
    route_code: 'orders_created',
    source: 'public.orders',
    sql_event: 'insert',
    workspace_id: workspace,
    payload_contract: { keep_refs: ['id'] },
  }
  await stagedoor.sql(`
    do $$ begin
      create table public.orders (id integer primary key, note text);
      perform iu_core.fn_consumer_register('${JSON.stringify(consumer)}');
      perform iu_core.fn_consumer_dry_run('mail_on_record');
      perform iu_core.fn_sql_route_register('${JSON.stringify(route)}');
      perform iu_core.fn_sql_route_dry_run('orders_created');
    end $$`)
  await stagedoor.sql(`insert into public.orders values (1, 'a'), (2, 'b')`)
  const job = { job_kind: 'send_mail', workspace_id: workspace }
  const enqueued = await stagedoor.sql<{ id: string }>('select id from iu_core.fn_job_enqueue_batch($1) id', [
    JSON.stringify([job]),
  ])
  ids.job = enqueued[0]!.id
  const record = await call<{ staging_record_id: string }>('operator', 'POST', '/staging', {
    workspace_id: workspace,
    staging_kind: 'review_package',
    payload_type: 'review_bundle',
    purpose: 'Commentary on week 45 <script>alert(1)</script>',
    source_kind: 'agent',
    parts: [
      {
        part_name: 'numbers',
        payload_kind: 'json',
        payload_json: { spend: 12, campaigns: [{ id: 1 }, { id: 2 }] },
      },
      {
        part_name: 'commentary.md',
        payload_kind: 'text',
        payload_text:
          '# Week 45\n\nSpend **rose** by 12 %.\n\n<img src=x onerror="alert(1)">\n\n[more](javascript:alert(1))\n\n| a | b |\n|---|---|\n| 1 | 2 |\n',
      },
      {
        part_name: 'checklist',
        payload_kind: 'json',
        payload_json: ['The sums agree', 'Fit for the client'],
      },
    ],
  })
  ids.record = record.staging_record_id
  const { events } = await call<{ events: { id: string }[] }>(
    'operator',
    'GET',
    `/events?subject=${ids.record}&type=record_created`,
  )
  ids.event = events[0]!.id
  await createUnits()
})

/** With a loop of which one item fails. */
const GREETING = `name: greeting
args: { people: [1, 0] }
steps:
  - step: greet
    loop: { in: "\${args.people}", as: one, mode: fanout, allow_partial: true }
    tool: sql
    args: { query: "select 1 / $1::int as said", params: ["\${one}"] }
    next: rest
  - { step: rest, wait: { for: 2h } }
`

beforeAll(async () => {
  for (const text of [GREETING, GREETING.replace('2h', '3h')]) {
    const path = stagedoor.file('greeting.yaml', text)
    const made = await runCli(['playbook', 'register', path, '--open-to-members'], {
      STAGEDOOR_HOME: stagedoor.home,
    })
    expect(made).toMatchObject({ code: 0 })
  }
  const { workspaces } = await call<{ workspaces: { id: string }[] }>('operator', 'GET', '/me')
  const started = await call<{ execution_id: string }>('operator', 'POST', '/executions', {
    playbook: 'greeting',
    workspace_id: workspaces[0]!.id,
  })
  ids.execution = started.execution_id
  ids.upload = await stagedoor.ingest(
    stagedoor.file(
      'week.csv',
      'Campaign name,Ad set name,Ad name,Day,Amount spent (AUD),Impressions,Reach,Link clicks\nBoots,Retarget,Video,2026-11-09,412.10,21004,9000,311\n',
    ),
  )
  const failed = () =>
    call<{ items_failed: number | null }>('operator', 'GET', `/executions/${ids.execution}`)
  await until('an item has failed', async () => (await failed()).items_failed === 1)
})

/** A document that was cut, a unit of it with two versions and an edge, and a proposal to cut the document again. */
async function createUnits(): Promise<void> {
  const text = '# Travel\n\nTrains before planes.\n\n## Hotels\n\nTwo stars.\n'
  const mark = (more: string) =>
    call<{ staging_record_id: string; digest: string }>('operator', 'POST', '/marks', {
      source_ref: 'travel.md',
      text: text + more,
    })
  const { staging_record_id: id, digest } = await mark('')
  await call('reviewer', 'POST', `/staging/${id}/approve`, { digest })
  const cut = await call<{ document_id: string; units: { unit_id: string; canonical_address: string }[] }>(
    'operator',
    'POST',
    `/marks/${id}/cut`,
    { digest },
  )
  ids.document = cut.document_id
  ids.unit = cut.units.find(({ canonical_address }) => canonical_address === 'travel/hotels')!.unit_id
  const body = '## Hotels\n\nThree stars.'
  await call('operator', 'PATCH', `/units/${ids.unit}`, { expected_version: 1, body })
  await call('operator', 'POST', `/units/${ids.unit}/edges`, { edge_type: 'cites', target: 'law/42' })
  ids.marking = (await mark('\n## Cars\n\nElectric.\n')).staging_record_id
}

/** Some fifty pages in a real browser, each checked in several variants: two minutes are not enough on two slow cores. */
const ALL_PAGES_MS = 300_000

it(
  'every page has its heading, can be used by everyone, and fits into its window',
  async () => {
    const page = await stagedoor.signIn('reviewer')
    const findings: unknown[] = []
    for (const [given, heading] of PAGES) {
      const path = typeof given === 'string' ? given : given()
      await page.goto(stagedoor.url + path)
      await page
        .getByRole('heading', { level: 1, name: heading, exact: typeof heading === 'string' })
        .waitFor()
      await settled(page)
      for (const variant of VARIANTS) {
        await show(page, variant)
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
        if (wide > variant.width)
          findings.push(`${path} is ${wide} pixels wide in a window of ${variant.width}`)
        findings.push(...(await axe(page, `${path} ${variant.scheme} ${variant.width}`)))
        if (FOLDER) await picture(page, FOLDER, path, variant)
      }
      for (const variant of FOLDER ? OTHER_VARIANTS : []) {
        await show(page, variant)
        await picture(page, FOLDER!, path, variant)
      }
    }
    expect(findings).toEqual([])
    // The check itself looks: a picture without a text is found.
    await page.evaluate('document.querySelector("main").append(new Image())')
    expect(await axe(page, 'planted')).toEqual([expect.stringContaining('image-alt')])
  },
  ALL_PAGES_MS,
)

it('every page of the console is opened here, and its pictures have a name of their own', () => {
  const source = readFileSync('console/src/pages.ts', 'utf8')
  const declared = [...source.matchAll(/\bpath: '([^']+)'/g)].map(([, path]) => path!)
  expect(declared.length).toBeGreaterThan(30)
  const opened = PAGES.map(([given]) => (typeof given === 'string' ? given : given()))
  const patternOf = (path: string) => new RegExp(`^${path.replace(/:\w+/g, '[^/?]+')}([?]|$)`)
  const missing = declared.filter(
    (path) => !REDIRECTS.includes(path) && !opened.some((one) => patternOf(path).test(one)),
  )
  expect(missing).toEqual([])
  expect(new Set(opened.map(pictureName)).size).toBe(opened.length)
})

it('a route is reviewed and activated in two steps, and what happens elsewhere shows without a reload', async () => {
  const page = await stagedoor.signIn('reviewer')
  await page.goto(`${stagedoor.url}/routes/orders_created`)
  await page.getByText('1 statement: 2 events would have been sent, 0 refused.').waitFor()
  await page.getByRole('button', { name: 'Review…' }).click()
  await page.getByRole('button', { name: 'I looked at it and agree' }).click()
  await page.getByRole('button', { name: 'Activate…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Activate', exact: true }).click()
  await page.getByText('you activated it').waitFor()
  await page.getByRole('button', { name: 'Disable…' }).waitFor()

  await page.goto(`${stagedoor.url}/events`)
  await page.getByText('Live', { exact: true }).waitFor()
  // One statement, 300 events: they come without a reload, and of a long list only what is in sight is drawn.
  await stagedoor.sql(`insert into public.orders select n, 'c' from generate_series(3, 302) n`)
  await page.getByText('Orders insert').first().waitFor()
  const table = page.getByRole('table', { name: 'Events' })
  for (let loaded = 50; loaded < 300; loaded += 50) {
    await page.getByRole('button', { name: 'Load more' }).click()
    await expect.poll(async () => Number(await table.getAttribute('aria-rowcount'))).toBe(loaded + 51)
  }
  expect(await table.locator('tbody tr[data-index]').count()).toBeLessThan(200)
  // Rows are measured as they come into sight, so the end moves while one scrolls to it.
  await expect
    .poll(async () => {
      await page.evaluate(`scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })`)
      return table.locator('tr[aria-rowindex="301"]').count()
    })
    .toBe(1)
  expect(await table.locator('tr[aria-rowindex="2"]').count()).toBe(0)
})

it('keys lead to rooms, find things by name, and say what they are', async () => {
  const page = await stagedoor.signIn('reviewer')
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('go to Events').waitFor()
  await page.keyboard.press('Escape')
  // The page has a search field of its own.
  await page.keyboard.press('/')
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('INPUT')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Name or id' }).fill('commentary on')
  // The record, and the change that it is reviewed as.
  await page
    .getByRole('option', { name: /Commentary on week 45/ })
    .first()
    .waitFor()
  expect(await axe(page, 'the finder')).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: /Commentary on week 45/ }).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/changes\/\d+$/)

  // What somebody wrote is text: no script of theirs is in the page, and no link of theirs runs one.
  await page.getByRole('heading', { name: 'Week 45', exact: true }).waitFor()
  expect(await page.locator('main script, main img, main a[href^="javascript"]').count()).toBe(0)
  // An address of before leads to the same record.
  await page.goto(`${stagedoor.url}/review/${ids.record}`)
  await page.waitForURL(`**/records/${ids.record}`)
})

async function call<T>(role: Role, method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${stagedoor.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${stagedoor.token(role)}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
  return (await answer.json()) as T
}

/** Everything that the page asked for has come. */
async function settled(page: Page): Promise<void> {
  await expect.poll(() => page.getByText('Loading…', { exact: true }).count()).toBe(0)
}

async function axe(page: Page, where: string): Promise<string[]> {
  await page.evaluate(AXE)
  const found = await page.evaluate<{ id: string; nodes: { html: string; failureSummary: string }[] }[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  )
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${where}: ${id}: ${html.slice(0, 200)}: ${failureSummary}`),
  )
}

async function show(page: Page, { scheme, width }: Variant): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme })
  await page.setViewportSize({ width, height: 900 })
}

async function picture(page: Page, folder: string, path: string, variant: Variant): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const name = `${pictureName(path)}-${variant.scheme}-${variant.width}`
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

it('an administrator adds a review policy and a group, reads what they say, and removes the policy', async () => {
  const page = await stagedoor.signIn('operator')
  await page.goto(`${stagedoor.url}/settings/policies`)
  // Whoever does not administer reads the policies.
  await page.getByText('Administrators of the workspace change them.').waitFor()
  expect(await page.getByRole('button', { name: 'Add a policy' }).count()).toBe(0)

  await signInAsAdmin(page)
  await page.reload()
  await page.getByText('No policy yet: one approval of a second person is enough.').waitFor()
  await page.getByRole('textbox', { name: 'Group' }).fill('Finance')
  await page.getByRole('button', { name: 'Add to the group' }).click()
  await page.getByText('nobody yet: nobody can approve for it').waitFor()

  await page.getByRole('button', { name: 'Add a policy' }).click()
  const form = page.locator('#policy-form')
  await form.getByLabel('Dataset').selectOption('ads')
  await form.getByRole('button', { name: 'Add a rule' }).click()
  const rule = form.getByRole('group', { name: 'Rule 1' })
  // The columns of the dataset are offered.
  await rule.getByLabel('One of certain columns changes').check()
  await rule.getByRole('checkbox', { name: 'spend', exact: true }).waitFor()
  await rule.getByLabel('One of certain columns changes').uncheck()
  await rule.getByLabel('Rows over').fill('1000')
  await rule.getByLabel('Approvals in all').fill('2')
  await rule.getByRole('checkbox', { name: 'Finance' }).check()
  await form.getByRole('button', { name: 'Add the policy' }).click()
  const policies = page.locator('#policies')
  await policies.getByText('For changes of every kind to the dataset ads').first().waitFor()
  await policies.getByText('A change needs 1 approval.').waitFor()
  await policies
    .getByText('it needs 2 approvals and one of the group Finance where more than 1,000 rows are written.')
    .waitFor()

  await policies.getByRole('button', { name: /^Remove/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No policy yet: one approval of a second person is enough.').waitFor()
})

it('an administrator invites a person and creates a token, each with its role and its end, and gets the secret once', async () => {
  const page = await stagedoor.signIn('operator')
  await signInAsAdmin(page)
  await page.goto(`${stagedoor.url}/settings/members`)
  const invitations = page.locator('#invitations')
  await invitations.getByLabel('Name or e-mail address').fill('grace@example.com')
  await invitations.getByLabel('Role').selectOption('reviewer')
  await invitations.getByLabel('Valid for').selectOption('30 days')
  await invitations.getByRole('button', { name: 'Create an invitation link' }).click()
  await invitations.getByText('Send this link to grace@example.com.').waitFor()
  expect(
    await stagedoor.sql(
      `select invitee, app_role, round(extract(epoch from expires_at - created_at) / 86400)::int as days from iu_core.invitation`,
    ),
  ).toEqual([{ invitee: 'grace@example.com', app_role: 'reviewer', days: 30 }])

  await page.goto(`${stagedoor.url}/settings/tokens`)
  const form = page.locator('#new-token')
  await form.getByLabel('Name of the program').fill('nightly export')
  await form.getByLabel('May').selectOption('operator')
  await form.getByLabel('Valid for').selectOption('7 days')
  await form.getByLabel('Read only').check()
  await form.getByRole('button', { name: 'Create a token' }).click()
  await form.getByText(/^sdt_/).waitFor()
  expect(
    await stagedoor.sql(
      `select name, read_only, round(extract(epoch from expires_at - created_at) / 86400)::int as days from iu_core.machine_token`,
    ),
  ).toEqual([{ name: 'nightly export', read_only: true, days: 7 }])
  expect(await page.locator('#tokens').innerText()).toMatch(/nightly export[\s\S]*operator, read only/)
})

async function signInAsAdmin(page: Page): Promise<void> {
  const admin = await runCli(['token', '--as', 'admin', '--json'], { STAGEDOOR_HOME: stagedoor.home })
  const { token } = JSON.parse(admin.stdout) as { token: string }
  const answer = await page.context().request.post(`${stagedoor.url}/api/v1/sign-in`, { data: { token } })
  expect(answer.ok()).toBe(true)
}

/** The same for every run, whatever the ids are; no two pages have the same. */
function pictureName(path: string): string {
  const words = path.replace(/[0-9a-f-]{36}|\d{15,}/, 'one').match(/[a-z0-9]+/gi)
  return words?.join('-') ?? 'overview'
}
