/** The story of examples/weekly-report: as the demo that `start` loads, interrupted and continued, and as its script. */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { freePort, runCli, startCli } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const home = temporaryHome('weekly-report')
const env = { STAGEDOOR_HOME: home, STAGEDOOR_DEMO: 'auto' }
const ROLES = ['operator', 'reviewer', 'agent'] as const
type Role = (typeof ROLES)[number]
// biome-ignore lint/suspicious/noExplicitAny: answers of many routes, of which each check names what it means
type Answer = any

let url: string
const tokens = {} as Record<Role, string>

async function start() {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const server = startCli(['start'], { ...env, PORT: String(port) })
  await server.says(/Ctrl-C stops everything/)
  return server
}

async function ask(path: string, { as = 'reviewer' as Role, body }: { as?: Role; body?: object } = {}) {
  const reply = await fetch(`${url}/api/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${tokens[as]}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer: Answer = await reply.json()
  if (!reply.ok) throw new Error(`${path}: ${answer.detail}`)
  return answer
}

/** By its title: what people see. */
async function change(title: string): Promise<Answer> {
  const { changes } = await ask('/changes?limit=100')
  const found = changes.filter((one: Answer) => one.title === title)
  expect(found, `one change ${title}`).toHaveLength(1)
  return ask(`/changes/${found[0].number}`)
}

beforeAll(async () => {
  const first = await start()
  for (const role of ROLES) tokens[role] = (await runCli(['token', '--as', role], env)).stdout.trim()
  await until(
    'the second upload of the story',
    async () => (await ask('/changes')).changes.length >= 2,
    180_000,
  )
  expect(await first.end('SIGINT'), 'Ctrl-C in the middle is clean').toBe(0)
  expect(first.output()).not.toContain('The demo is loaded')
  const second = await start()
  await second.says(/The demo is loaded[\s\S]*--no-demo/)
  expect(second.output()).not.toContain('not complete')
})

it('an export waits with three invalid lines', async () => {
  const { status, subject_id } = await change('TikTok Ads, week 45')
  const upload = await ask(`/uploads/${subject_id}`)
  expect({ status, ...upload }).toMatchObject({
    status: 'planned',
    line_count: 29,
    valid_count: 25,
    invalid_count: 3,
    own_totals: { disagree: 1 },
  })
  expect(status).toBe('draft')
})

it('a plan waits for approval, with a title, a reason, a reviewer, and comments on the whole, a row and a cell', async () => {
  const found = await change('Google Ads, week 45')
  const reviewer = (await ask('/me')).actor
  expect(found).toMatchObject({ status: 'open', labels: ['google', 'week 45'], open_threads: 4 })
  expect(found.description).toContain('Boots are back in stock')
  // What the first comment asks about is what the check of the file's own totals says.
  const { own_totals } = await ask(`/uploads/${found.subject_id}`)
  expect(own_totals.totals[0].figures).toContainEqual(
    expect.objectContaining({ column: 'Cost', result: 'disagrees', file: '4847.36', sum: '6872.9' }),
  )
  expect(found.reviewers).toMatchObject([{ reviewer }])
  const { comments } = await ask(`/changes/${found.number}/comments`)
  expect(comments.map((one: Answer) => [one.row_type, one.line, one.column_name])).toEqual([
    [null, null, null],
    ['daily_metric', 51, null],
    ['daily_metric', 51, 'spend'],
    [null, null, null],
  ])
  expect(comments.some(({ mentions }: Answer) => mentions.includes(reviewer))).toBe(true)
})

it('the event of a promotion has started a playbook, which fanned out over six campaigns', async () => {
  const { status, subject_id } = await change('Google Ads, week 44')
  expect(status).toBe('promoted')
  const upload = await ask(`/uploads/${subject_id}`)
  expect(upload.approved_by).not.toBe(upload.uploaded_by)
  const { executions } = await ask(`/uploads/${subject_id}/downstream`)
  expect(executions).toMatchObject([
    { playbook: 'weekly-report', status: 'COMPLETED', items: 6, items_done: 6, items_failed: 0 },
  ])
  const { value } = await ask(`/executions/${executions[0].execution_id}/result`)
  expect(value.total).toMatchObject({
    campaigns: 6,
    spend: 4691.77,
    spend_before: 4306.73,
    change_percent: 8.9,
  })
  expect(await ask('/consumers/weekly_report')).toMatchObject({ state: 'active' })
})

it('an agent has staged two commentaries: one waits for a decision, the other was approved', async () => {
  const agent = (await ask('/me', { as: 'agent' })).actor
  expect(await change('Commentary on Google Ads, week 45')).toMatchObject({
    kind: 'record',
    status: 'open',
    author: agent,
  })
  expect(await change('Google Ads, week 44: commentary')).toMatchObject({
    kind: 'cut',
    status: 'promoted',
    author: agent,
  })
})

it('a proposal of the agent over MCP waits for the reviewer, with what it would change and why', async () => {
  const found = await change('Google Ads, week 43: conversions that came late')
  const agent = (await ask('/me', { as: 'agent' })).actor
  const reviewer = (await ask('/me')).actor
  expect(found).toMatchObject({ kind: 'upload', status: 'open', author: agent, reviewers: [{ reviewer }] })
  expect(found.description).toContain('only these two rows differ')
  const upload = await ask(`/uploads/${found.subject_id}`)
  expect(upload).toMatchObject({ review_status: 'pending', invalid_count: 0, promoted_at: null })
  const { rows } = await ask(`/uploads/${found.subject_id}/plan/rows?row_type=daily_metric`)
  expect(
    rows.map(({ action, before, after }: Answer) => [
      action,
      Number(before.conversions),
      Number(after.conversions),
    ]),
  ).toEqual([
    ['update', 19, 21],
    ['update', 12, 13],
  ])
})

it('search finds a unit of the commentary, which leads back to the line of the file', async () => {
  const { hits } = await ask('/search?q=spend+of+coats+in+Germany')
  expect(hits[0]).toMatchObject({ canonical_address: 'week-44/coats-in-germany', freshness: 'current' })
  const { version } = await ask(`/units/${hits[0].unit_id}`)
  const link = /\((\/rows\?[^)]+)\)/.exec(version.body)![1]!
  const { searchParams } = new URL(link, url)
  const row = new URLSearchParams({ target: searchParams.get('table')!, id: searchParams.get('id')! })
  const { entries } = await ask(`/lineage?${row}`)
  expect(entries).toMatchObject([
    { file_name: 'google-week-44-credit.csv', line: 56, action: 'update' },
    { file_name: 'google-week-44.csv', line: 56, action: 'insert' },
  ])
})

it('a unit in force is out of date: its document was corrected, and a draft is to supersede it', async () => {
  const { units } = await ask('/units?under=week-44&drift=drifted')
  expect(units).toMatchObject([{ canonical_address: 'week-44/summary', lifecycle_status: 'enacted' }])
  const { units: next } = await ask(`/units?${new URLSearchParams({ address: 'week-44/summary~2' })}`)
  expect(next).toMatchObject([{ lifecycle_status: 'draft' }])
})

it('a plan is in conflict: production has changed in three of its rows', async () => {
  const { status, subject_id } = await change('Google Ads, week 44: final conversions')
  expect(status).toBe('open')
  const { total, items } = await ask(`/uploads/${subject_id}/plan/stale`)
  expect(total).toBe(3)
  expect(items).toContainEqual(
    expect.objectContaining({
      line: 56,
      before: expect.objectContaining({ spend: 139.13 }),
    }),
  )
})

it('a second run changes nothing, and does not bring back what somebody discarded', async () => {
  const { subject_id } = await change('TikTok Ads, week 45')
  await ask(`/uploads/${subject_id}/discard`, { as: 'operator', body: {} })
  const everything = async () => [
    await ask('/changes?limit=100'),
    await ask('/units?under=week-44&limit=100'),
    (await ask('/jobs?limit=200')).jobs.filter(({ job_kind }: Answer) => !job_kind.startsWith('cleanup')),
    await ask('/executions?limit=100'),
  ]
  const before = await everything()
  const { database_url, database_direct_url } = JSON.parse((await runCli(['login', '--json'], env)).stdout)
  const script = fileURLToPath(new URL('../../examples/weekly-report/run.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script], {
    env: {
      PATH: process.env.PATH,
      STAGEDOOR_HOME: home,
      DATABASE_URL: database_url,
      DATABASE_DIRECT_URL: database_direct_url,
      API_URL: url,
      OPERATOR_TOKEN: tokens.operator,
      REVIEWER_TOKEN: tokens.reviewer,
      AGENT_TOKEN: tokens.agent,
    },
  })
  expect(stdout, 'no step ran').not.toMatch(/^\d+\//m)
  expect(stdout).toContain(`${url}/dead-letters`)
  expect(await everything()).toEqual(before)
})

it('a job has failed all its attempts; what its error asks for helps', async () => {
  const { jobs } = await ask('/dead-letters')
  expect(jobs).toMatchObject([{ job_kind: 'weekly_report_file', status: 'dead', attempts: 3 }])
  expect(jobs[0].last_error).toContain(`mkdir ${join(home, 'reports')}`)
  const [{ job_id, workspace_id }] = jobs
  mkdirSync(join(home, 'reports'))
  await ask('/jobs/replay', { as: 'operator', body: { jobs: [job_id], workspace_id } })
  await until('the report', async () => (await ask(`/jobs/${job_id}`)).status === 'completed')
})
