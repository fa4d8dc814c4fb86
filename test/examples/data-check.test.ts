/** The GitHub action that checks data files: its script runs against a database and a server that answers like GitHub. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('data-check')
const EXAMPLE = fileURLToPath(new URL('../../examples/data-check', import.meta.url))
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

interface Comment {
  id: number
  body: string
  user: { type: string }
}
const comments: Comment[] = [
  { id: 1, body: '<!-- stagedoor data check -->\nby a person', user: { type: 'User' } },
]
const requests: string[] = []
const github = createServer(async (request, reply) => {
  requests.push(`${request.method} ${request.url}`)
  const { body = '' } = request.method === 'GET' ? {} : JSON.parse(await text(request))
  const own = comments.find(({ id }) => request.url?.endsWith(`/comments/${id}`))
  if (request.method === 'PATCH') own!.body = body
  if (request.method === 'POST') comments.push({ id: comments.length + 1, body, user: { type: 'Bot' } })
  reply.writeHead(request.headers.authorization === 'Bearer secret' ? 200 : 401)
  reply.end(JSON.stringify(request.method === 'GET' ? comments : {}))
})

beforeAll(async () => {
  github.listen(0, '127.0.0.1')
  await once(github, 'listening')
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  await createWorkspace(db)
  await db.owner(
    'create table public.bookings (id integer primary key, account text, debit numeric, credit numeric)',
  )
  const registered = await runCli(['dataset', 'register', join(EXAMPLE, 'booking.dataset.json')], {
    DATABASE_URL: db.url(MIGRATOR),
    STAGEDOOR_HOME: home,
  })
  expect(registered.code, registered.stderr).toBe(0)
})
afterAll(() => {
  github.close()
})

async function action(folder: string): Promise<{ code: number; summary: string }> {
  const summary = join(home, `summary-${requests.length}.md`)
  const child = spawn('bash', [join(EXAMPLE, 'check.sh')], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      FILES: 'data/*.csv',
      DATASET: 'booking',
      AGAINST: db.url(MIGRATOR),
      STAGEDOOR: `${process.execPath} ${MAIN}`,
      STAGEDOOR_HOME: home,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_API_URL: `http://127.0.0.1:${(github.address() as AddressInfo).port}`,
      GITHUB_REPOSITORY: 'someone/data',
      GITHUB_TOKEN: 'secret',
      PULL_REQUEST: '7',
    },
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, summary: readFileSync(summary, 'utf8') }
}

it('posts what the files would change, once, and ends as the check ended', async () => {
  const good = await action(EXAMPLE)
  expect(good.code).toBe(0)
  expect(good.summary).toContain('1 file checked, all can be submitted')
  expect(comments.map(({ user }) => user.type)).toEqual(['User', 'Bot'])
  expect(comments[1]!.body).toContain('The assertion debits\\_equal\\_credits holds')

  const wrong = join(home, 'wrong')
  mkdirSync(join(wrong, 'data'), { recursive: true })
  writeFileSync(join(wrong, 'data', 'a.csv'), 'id,account,debit,credit\n9,cash,1,0\n')
  const bad = await action(wrong)
  expect(bad.code).toBe(5)
  expect(comments).toHaveLength(2)
  expect(comments[0]!.body).toContain('by a person')
  expect(comments[1]!.body).toContain('debits\\_equal\\_credits does not hold')
  expect(requests.filter((one) => one.startsWith('POST'))).toEqual([
    'POST /repos/someone/data/issues/7/comments',
  ])
  expect(await db.owner('select from bookings')).toEqual([])
})

it('has an action and a workflow whose parts fit', () => {
  const { inputs, runs } = parse(readFileSync(join(EXAMPLE, 'action.yml'), 'utf8'))
  const { jobs, permissions } = parse(readFileSync(join(EXAMPLE, 'workflow.yml'), 'utf8'))
  const used = jobs.check.steps.at(-1)
  expect(permissions).toEqual({ contents: 'read', 'pull-requests': 'write' })
  for (const name of Object.keys(used.with)) expect(Object.keys(inputs)).toContain(name)
  for (const [name, { required }] of Object.entries(inputs as Record<string, { required?: boolean }>))
    if (required) expect(Object.keys(used.with)).toContain(name)
  // What comes from outside reaches the script as settings, never as text of it.
  for (const { run } of runs.steps) expect(run).toBe('bash "${{ github.action_path }}/check.sh"')
})
