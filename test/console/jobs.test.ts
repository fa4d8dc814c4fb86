/** Jobs, dead letters, schedules and health in the browser, with jobs that a worker really fails. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { seen, useRealConsole } from './real-console.ts'

const app = useRealConsole('console-jobs')
const KIND = 'send_report'
let service: string
let workspace: string
let worker: string

beforeAll(async () => {
  service = await tokenOf('--role', 'service_role')
  const me = await call<{ workspaces: { id: string }[] }>('GET', '/me', undefined, app.token('operator'))
  workspace = me.workspaces[0]!.id
  const terms = { executor: 'external_worker', kinds: [KIND], name: 'report-machine 7', lease_s: 600 }
  worker = (await call<{ worker: string }>('POST', '/workers', terms)).worker
})

async function tokenOf(...args: string[]): Promise<string> {
  const { stdout } = await runCli(['token', ...args], { STAGEDOOR_HOME: app.home })
  return stdout.trim()
}

async function call<T>(method: string, path: string, body?: object, token = service): Promise<T> {
  const answer = await fetch(`${app.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

function enqueue(jobs: number): Promise<{ jobs: string[] }> {
  const job = { job_kind: KIND, executor: 'external_worker', workspace_id: workspace }
  return call('POST', '/jobs', { jobs: Array.from({ length: jobs }, () => job) })
}

async function claim(): Promise<{ job_id: string; epoch: number }[]> {
  const { jobs } = await call<{ jobs: { job_id: string; lease_epoch: number }[] }>(
    'POST',
    `/workers/${worker}/claim`,
    { limit: 100 },
  )
  return jobs.map(({ job_id, lease_epoch: epoch }) => ({ job_id, epoch }))
}

async function failAll(error: (index: number) => string): Promise<void> {
  const jobs = (await claim()).map((job, index) => ({ ...job, error: error(index), fatal: true }))
  await call('POST', `/workers/${worker}/fail`, { jobs })
}

async function completeAll(): Promise<number> {
  const jobs = await claim()
  if (jobs.length > 0) await call('POST', `/workers/${worker}/complete`, { jobs })
  return jobs.length
}

const dialogOf = (page: Page) => page.getByRole('dialog')

it('a job shows what each of its attempts said', async () => {
  await call('PATCH', `/job-kinds/${KIND}`, { backoff: '00:00:00.001', max_backoff: '00:00:00.001' })
  const { jobs } = await enqueue(1)
  for (const error of ['the mailbox is full', 'the line is busy']) {
    await expect
      .poll(async () => {
        const claimed = (await claim()).map((job) => ({ ...job, error }))
        if (claimed.length > 0) await call('POST', `/workers/${worker}/fail`, { jobs: claimed })
        return claimed.length
      })
      .toBe(1)
  }
  const page = await app.signIn('operator')
  await page.goto(`${app.url}/jobs/${jobs[0]}`)
  const failed = page.getByRole('list', { name: 'Attempts that failed' })
  await expect
    .poll(() => failed.locator('pre').allInnerTexts())
    .toEqual(['the line is busy', 'the mailbox is full'])
  await failed.getByText('Attempt 1').waitFor()
  const { stdout } = await runCli(['job', 'show', jobs[0]!], { STAGEDOOR_HOME: app.home })
  expect(stdout).toMatch(/attempt 1, .*ago\n +the mailbox is full\n +attempt 2, .*ago\n +the line is busy/)
  await call('POST', `/jobs/${jobs[0]}/cancel`, { reason: 'enough' })
  await page.getByText('Why it was cancelled').waitFor()
})

it('dead letters stand in groups by error; chosen ones, a group, or all are replayed, and the page says how many', async () => {
  await enqueue(3)
  await failAll((index) => `mailbox ${index} is full`)
  await enqueue(1)
  await failAll(() => 'no route to the printer')
  const page = await app.signIn('operator')
  await page.goto(`${app.url}/dead-letters`)
  const groups = page.getByRole('table', { name: 'Errors of dead letters' })
  await expect.poll(() => groups.getByRole('row').count()).toBe(3)
  expect(await seen(groups)).toContain('mailbox <n> is full')
  await page.getByRole('button', { name: /Show jobs of .* mailbox/ }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('group')).not.toBeNull()
  const items = page.getByRole('table', { name: `Jobs of ${KIND}` })
  await expect.poll(() => items.getByRole('checkbox').count()).toBe(3)
  await items.getByRole('checkbox').nth(0).check()
  await items.getByRole('checkbox').nth(1).check()
  await page.getByRole('button', { name: 'Replay chosen' }).click()
  await dialogOf(page).getByText('2 jobs go back into the queue').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Replay 2 jobs' }).click()
  await expect.poll(() => items.getByRole('checkbox').count()).toBe(1)
  expect(await completeAll()).toBe(2)

  await page.getByRole('button', { name: /Replay group .*printer/ }).click()
  await dialogOf(page).getByRole('button', { name: 'Replay 1 job' }).click()
  await expect.poll(() => groups.getByRole('row').count()).toBe(2)
  await page.getByRole('button', { name: 'Replay all 1' }).click()
  await dialogOf(page).getByRole('button', { name: 'Replay 1 job' }).click()
  await page.getByText('No dead letters.').waitFor()
  expect(await completeAll()).toBe(2)
})

it('the page of jobs counts what ended, pauses a kind, and a paused kind begins nothing', async () => {
  await enqueue(1)
  const page = await app.signIn('operator')
  await page.goto(`${app.url}/jobs`)
  await page.getByText(/\d+ jobs completed in the last hour, 0 became dead letters/).waitFor()
  const kinds = page.getByRole('table', { name: 'Kinds of jobs' })
  await kinds.getByRole('button', { name: `Pause ${KIND}` }).click()
  await dialogOf(page).getByText('1 job of yours waits').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Pause' }).click()
  const row = kinds.getByRole('row', { name: new RegExp(KIND) })
  await row.getByText('paused').waitFor()
  expect(await completeAll()).toBe(0)
  await kinds.getByRole('button', { name: `Resume ${KIND}` }).click()
  await dialogOf(page).getByRole('button', { name: 'Resume' }).click()
  await expect.poll(() => row.getByText('paused').count()).toBe(0)

  // One job: its attempts and what it came from. It is live: nobody reloads.
  await page.getByLabel('Status').selectOption('waiting')
  const jobs = page.getByRole('table', { name: 'Jobs', exact: true })
  await expect.poll(() => jobs.getByRole('row').count()).toBe(2)
  await jobs.getByRole('link').click()
  await page.getByRole('heading', { name: KIND }).waitFor()
  expect(await completeAll()).toBe(1)
  await page.getByText('Completed', { exact: true }).waitFor()
  await page.getByRole('tab', { name: 'Trace' }).click()
  await page.getByRole('tabpanel', { name: 'Trace' }).getByRole('link', { name: KIND }).waitFor()
})

it('an administrator adds a schedule with its next runs in sight, pauses and deletes it; health names who works', async () => {
  const page = await app.signIn('operator')
  const admin = await tokenOf('--as', 'admin')
  await page.request.post(`${app.url}/api/v1/sign-in`, { data: { token: admin } })
  await page.goto(`${app.url}/schedules?text=nightly`)
  await page.getByText('No schedule meets the filters.').waitFor()
  await page.getByRole('button', { name: 'Add a schedule' }).click()
  await dialogOf(page).getByLabel('Name').fill('nightly')
  await dialogOf(page).getByLabel('Kind of job').fill(KIND)
  await dialogOf(page).getByText('It would run, in your time zone:').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Add the schedule' }).click()
  const schedules = page.getByRole('table', { name: 'Schedules' })
  await expect.poll(() => schedules.getByRole('listitem').count()).toBe(5)
  await schedules.getByRole('button', { name: 'Pause nightly' }).click()
  await dialogOf(page).getByRole('button', { name: 'Pause' }).click()
  await schedules.getByText('paused').waitFor()
  await schedules.getByRole('button', { name: 'Delete nightly' }).click()
  await dialogOf(page).getByRole('button', { name: 'Delete the schedule' }).click()
  await page.getByText('No schedule meets the filters.').waitFor()

  await page.getByRole('link', { name: 'Health' }).click()
  await page.getByText('Room for the job history').waitFor()
  await page.getByText('report-machine 7').waitFor()
  await page.getByText('Uploads and staging').waitFor()
  await page.getByRole('table', { name: 'Largest tables' }).waitFor()
})
