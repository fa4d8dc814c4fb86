/**
 * Texts that people, files and programs can write are shown as text. A script is stored in each of them over the API, the command line and the
 * database, every page that shows one is opened, and none of them runs; nor does the content security policy have to stop anything.
 */
// @module-tag long
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { until } from '../support/until.ts'
import { useRealConsole } from './real-console.ts'

const stagedoor = useRealConsole('stored-scripts')
const SCRIPT = '"><img src=x onerror="hacked=1"><script>hacked=1</script>'
const MARKDOWN = `${SCRIPT}\n\n[here](javascript:hacked=1) <a href="javascript:hacked=1">there</a> ![x](javascript:hacked=1) <javascript:hacked=1>`
/** For a file name, a header, a label and a name in an address. */
const SHORT = '<img src=x onerror=hacked=1>'
const COLUMNS = 'Campaign name,Ad set name,Ad name,Day,Amount spent (AUD),Impressions,Link clicks'
/** What a script that was not shown as text leaves in a page, whether or not the browser may run it. */
const LIVE =
  '[onerror], img[src="x"], script:not([src]), [href^="javascript:" i], [src^="javascript:" i], iframe'

/** What was stored stands on the page, as text or in a field; what is folded is opened. */
const SHOWN = `([...document.querySelectorAll('main details')].forEach((one) => { one.open = true }),
  document.querySelector('main').innerText.includes('onerror') ||
  [...document.querySelectorAll('main input, main textarea')].some((one) => one.value.includes('onerror')))`

const tokens: Record<string, string> = {}
/** The pages that show such a text, and those that name its subject only. */
const pages: string[] = []
const others: string[] = []

type Caller = 'operator' | 'reviewer' | 'admin' | 'service'

async function call<T>(as: Caller, method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${stagedoor.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${tokens[as]}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

async function cli(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, { STAGEDOOR_HOME: stagedoor.home })
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}${stdout}`)
  return stdout.trim()
}

let workspace_id: string

beforeAll(async () => {
  tokens.operator = stagedoor.token('operator')
  tokens.reviewer = stagedoor.token('reviewer')
  tokens.admin = await cli('token', '--as', 'admin')
  tokens.service = await cli('token', '--role', 'service_role')
  const { workspaces } = await call<{ workspaces: { id: string }[] }>('admin', 'GET', '/me')
  workspace_id = workspaces[0]!.id
  await storeInSettings()
  await storeInUpload()
  await storeInRecord()
  await storeInUnits()
  await storeInJobs()
  await storeInExecutions()
})

/** Names of workspace, dataset, member, invitee, token and rule; the reason of a policy. */
async function storeInSettings(): Promise<void> {
  await call('admin', 'PUT', '/review-policies', {
    workspace_id,
    rules: { base: { approvals: 1 }, raise: [{ name: SCRIPT, when: { rows_over: 0 }, approvals: 2 }] },
    reason: SCRIPT,
  })
  await call('admin', 'POST', '/tokens', { workspace_id, name: SCRIPT, role: 'viewer' })
  await call('admin', 'POST', '/invitations', { workspace_id, invitee: SCRIPT, role: 'viewer' })
  await call('admin', 'PUT', `/members/${encodeURIComponent(SHORT)}`, {
    workspace_id,
    role: 'viewer',
    name: SCRIPT,
  })
  await stagedoor.sql(
    `with named as (update public.workspaces set name = $1 where id = $2)
     update iu_core.ingest_dataset set title = $1 where dataset = 'ads'`,
    [SCRIPT, workspace_id],
  )
  pages.push('/settings/members', '/settings/tokens', '/settings/policies', '/settings/datasets?dataset=ads')
}

/** A file's name, a column that nobody knows, cells; title, description, label, comments and a review of its change. */
async function storeInUpload(): Promise<void> {
  const cell = `"${SCRIPT.replaceAll('"', '""')}"`
  const line = (day: string, spend: string) => `${cell},${cell},${cell},${day},${spend},10,1,${cell}\n`
  const file = (name: string, ...lines: string[]) =>
    stagedoor.file(`${name} ${SHORT}.csv`, `${COLUMNS},${SHORT}\n${lines.join('')}`)
  const good = await stagedoor.ingest(file('good', line('2026-11-02', '12.00')))
  const bad = await stagedoor.ingest(file('bad', line(SHORT, SHORT)), '--until', 'staged')
  for (const upload of [good, bad]) {
    const change = await call<{ number: number }>('operator', 'PATCH', `/changes/${upload}`, {
      title: SCRIPT,
      description: MARKDOWN,
      labels: [SHORT],
    })
    await call('operator', 'POST', `/changes/${upload}/comments`, { body: MARKDOWN })
    for (const tab of ['', '?tab=rows', '?tab=problems', '?tab=lineage', '?tab=history'])
      pages.push(`/uploads/${upload}${tab}`)
    pages.push(`/changes/${change.number}`)
  }
  const { digest } = await call<{ digest: string }>('reviewer', 'GET', `/changes/${good}`)
  await call('reviewer', 'POST', `/changes/${good}/review`, {
    verdict: 'request_changes',
    digest,
    body: MARKDOWN,
  })
  pages.push('/', '/changes', '/uploads')
}

/** Purpose, name and text of the parts of a record, an item of its checklist, and why it was rejected. */
async function storeInRecord(): Promise<void> {
  const { staging_record_id: record } = await call<{ staging_record_id: string }>(
    'operator',
    'POST',
    '/staging',
    {
      workspace_id,
      staging_kind: 'review_package',
      payload_type: 'review_bundle',
      purpose: SCRIPT,
      source_kind: 'agent',
      parts: [
        { part_name: 'text.md', payload_kind: 'text', payload_text: MARKDOWN },
        { part_name: 'json', payload_kind: 'json', payload_json: { [SCRIPT]: SCRIPT } },
        { part_name: 'checklist', payload_kind: 'json', payload_json: [SCRIPT] },
      ],
    },
  )
  await call('reviewer', 'POST', `/staging/${record}/reject`, { reason: SCRIPT })
  pages.push('/records?status=rejected', `/records/${record}`)
}

/** A document's name, titles and bodies of its units, in versions, as edges and as hits. */
async function storeInUnits(): Promise<void> {
  const { staging_record_id: marking, digest } = await call<{ staging_record_id: string; digest: string }>(
    'operator',
    'POST',
    '/marks',
    { source_ref: `${SHORT}.md`, text: `# ${SCRIPT}\n\n${MARKDOWN}\n\n## Two ${SCRIPT}\n\n${MARKDOWN}\n` },
  )
  pages.push(`/marks/${marking}`)
  await call('reviewer', 'POST', `/staging/${marking}/approve`, { digest })
  const cut = await call<{ document_id: string; units: { unit_id: string }[] }>(
    'operator',
    'POST',
    `/marks/${marking}/cut`,
    { digest },
  )
  const unit = cut.units[1]!.unit_id
  await call('operator', 'PATCH', `/units/${unit}`, { expected_version: 1, body: `## ${SCRIPT}\n\nchanged` })
  await call('operator', 'POST', `/units/${unit}/edges`, { edge_type: 'cites', target: SHORT })
  others.push('/units')
  pages.push(`/documents/${cut.document_id}`, '/search?q=changed+hacked')
  pages.push(`/search?q=${encodeURIComponent(SCRIPT)}`)
  for (const tab of ['', '?tab=versions', '?tab=edges', '?tab=history']) pages.push(`/units/${unit}${tab}`)
}

/** The payload and subject of an event, an issue, what a job is about, its error, a worker's name, and why a kind is paused. */
async function storeInJobs(): Promise<void> {
  const [made] = await stagedoor.sql<{ event: string }>(
    `select iu_core.fn_event_emit('system', 'gate_changed', p_event_subject_ref => $1, p_workspace_id => $2,
              p_safe_payload => jsonb_build_object('note', $1::text))::text as event,
            iu_core.fn_system_issue_open('trouble', 'error', $1, $1, p_workspace_id => $2)`,
    [SCRIPT, workspace_id],
  )
  const job_kind = 'send_report'
  const { jobs } = await call<{ jobs: string[] }>('service', 'POST', '/jobs', {
    jobs: [
      { job_kind, executor: 'external_worker', workspace_id, target_ref: SCRIPT, payload: { note: SCRIPT } },
    ],
  })
  const { worker } = await call<{ worker: string }>('service', 'POST', '/workers', {
    executor: 'external_worker',
    kinds: [job_kind],
    name: SHORT,
    lease_s: 600,
  })
  const claimed = await call<{ jobs: { job_id: string; lease_epoch: number }[] }>(
    'service',
    'POST',
    `/workers/${worker}/claim`,
    { limit: 1 },
  )
  const { job_id, lease_epoch } = claimed.jobs[0]!
  await call('service', 'POST', `/workers/${worker}/fail`, {
    jobs: [{ job_id, epoch: lease_epoch, error: SCRIPT, fatal: true }],
  })
  await call('service', 'POST', `/job-kinds/${job_kind}/pause`, { reason: SCRIPT })
  pages.push('/events', `/events/${made!.event}`, '/jobs', `/jobs/${jobs[0]}`, '/dead-letters', '/health')
}

/** Descriptions of a playbook and a step, an argument, a result, the error of an item, and why it is cancelled. */
async function storeInExecutions(): Promise<void> {
  const text = JSON.stringify({
    name: 'scripts',
    description: SCRIPT,
    args: { texts: [SCRIPT, '1'] },
    steps: [
      {
        step: 'say',
        description: SCRIPT,
        tool: 'sql',
        args: { query: 'select $1::text as said', params: [SCRIPT] },
        next: 'fail',
      },
      {
        step: 'fail',
        loop: { in: `\${args.texts}`, as: 'one', mode: 'fanout', allow_partial: true },
        tool: 'sql',
        args: { query: 'select $1::text::int as number', params: [`\${one}`] },
        next: 'rest',
      },
      { step: 'rest', wait: { for: '2h' } },
    ],
  })
  await cli('playbook', 'register', stagedoor.file('scripts.yaml', text), '--open-to-members')
  const { execution_id: id } = await call<{ execution_id: string }>('operator', 'POST', '/executions', {
    playbook: 'scripts',
    workspace_id,
  })
  const read = () => call<{ items_failed: number | null }>('operator', 'GET', `/executions/${id}`)
  await until('an item has failed', async () => (await read()).items_failed === 1)
  await call('operator', 'POST', `/executions/${id}/cancel`, { reason: SCRIPT })
  for (const tab of ['items', 'result', 'history']) pages.push(`/executions/${id}?tab=${tab}`)
  others.push('/executions', `/executions/${id}`)
  pages.push('/playbooks', '/playbooks/scripts', '/playbooks/scripts?tab=text')
}

it('a script that is stored in a text runs on no page', async () => {
  const page = await stagedoor.signIn('reviewer')
  const signedIn = await page.context().request.post(`${stagedoor.url}/api/v1/sign-in`, {
    data: { token: tokens.admin },
  })
  expect(signedIn.ok()).toBe(true)
  await page.addInitScript(
    `window.violations = []; addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI))`,
  )
  const found: string[] = []
  for (const path of [...pages, ...others]) {
    await page.goto(stagedoor.url + path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    if (!others.includes(path))
      await expect.poll(() => page.evaluate<boolean>(SHOWN), { message: `${path} shows it` }).toBe(true)
    await expect.poll(() => page.getByText('Loading…', { exact: true }).count()).toBe(0)
    found.push(...(await look(page)).map((what) => `${path}: ${what}`))
  }
  expect(found).toEqual([])

  // The check itself looks: a text that is put in as HTML is found.
  await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<a href="javascript:hacked=1"></a>')`)
  expect(await look(page)).toHaveLength(1)
})

/** What a page has of a script that is not a text, and what the browser had to stop. */
function look(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...(window.hacked ? ['it ran'] : []), ...violations,
      ...[...document.querySelectorAll(${JSON.stringify(LIVE)})].map((one) => one.outerHTML)]`,
  )
}
