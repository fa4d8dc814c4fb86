/** What the console shows of executions, uploads, events and storage is shown on the command line, too: on a running server. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort, type RunningCli, runCli, startCli } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const folder = temporaryHome('cli-views')
const env = { STAGEDOOR_HOME: join(folder, 'home') }
let server: RunningCli

beforeAll(async () => {
  server = startCli(['start'], { ...env, PORT: String(await freePort()) })
  await server.says(/Ctrl-C stops everything/)
})
afterAll(async () => {
  await server.end()
})

const cli = (...args: string[]) => runCli(args, env)
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await cli(...args, '--json')
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}
const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** Of 20 items three are divided by zero. */
const FANOUT = `name: fanout
args: { n: 20 }
steps:
  - step: count
    tool: sql
    args: { query: "select jsonb_agg(g) as numbers from generate_series(1, $1::int) g", params: ["\${args.n}"] }
    next: divide
  - step: divide
    loop: { in: "\${steps.count.result.rows[0].numbers}", mode: fanout, allow_partial: true }
    tool: sql
    args: { query: "select 10 / ($1::int % 6) as got", params: ["\${item}"] }
`

it('an execution: graph, items that failed, timeline, result, counts; and the versions of its playbook', async () => {
  const path = file('fanout.yaml', FANOUT)
  await cli('playbook', 'register', path)
  writeFileSync(path, FANOUT.replace('20', '20 ').replace('10 /', '12 /'))
  const ran = await cli('run', path)
  expect(ran.code, ran.stdout + ran.stderr).toBe(0)
  const [{ execution_id: id }] = await json('execution', 'list')

  const [graph, failed, all, timeline, result, counts, versions, diff] = await Promise.all([
    json('execution', 'graph', id),
    json('execution', 'items', id, '--status', 'failed'),
    cli('execution', 'items', id, '--step', 'divide', '--limit', '4'),
    json('execution', 'timeline', id),
    json('execution', 'result', id, '--step', 'count'),
    json('execution', 'counts'),
    json('playbook', 'versions', 'fanout'),
    cli('playbook', 'diff', 'fanout'),
  ])
  expect(graph.arcs).toEqual([{ from: 'count', to: 'divide', times: 1 }])
  expect(failed.items.map((item: { index: number }) => item.index)).toEqual([5, 11, 17])
  expect(failed.items[0].error).toContain('division by zero')
  expect(all.stdout).toMatch(/divide +17 done, 3 failed of 20\n[\s\S]*3 +done/)
  expect(all.stdout).toMatch(/--step divide --after 3/)
  const done = timeline.lanes.reduce((sum: number, lane: { done: number }) => sum + lane.done, 0)
  expect(done).toBe(18)
  expect(result.value.rows[0].numbers).toHaveLength(20)
  expect(counts).toMatchObject({ by_status: { COMPLETED: 1 }, with_failed_items: 1 })
  expect(counts.playbooks).toMatchObject([{ playbook: 'fanout', executions: 1 }])
  expect(versions.map(({ version }: { version: number }) => version)).toEqual([2, 1])
  expect(diff.stdout).toMatch(/^-.*10 \/[\s\S]*^\+.*12 \//m)

  const wrong = await cli('execution', 'items', id, '--step', 'count')
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--step divide') })
})

const WEEK = `Campaign name,Ad set name,Ad name,Day,Amount spent (AUD),Impressions,Reach,Link clicks
Winter boots,Retarget,Boots video,2026-11-09,412.10,21004,9000,311
Winter boots,Retarget,Boots video,2026-11-10,wrong,25310,9800,320
`

it('an upload: which dataset it is of, its lines, its numbers, what follows from it, its history', async () => {
  const path = file('week.csv', WEEK)
  expect(await json('dataset', 'match', path)).toMatchObject({ best: 'ads' })
  await cli(
    'ingest',
    path,
    '--dataset',
    'ads',
    '--platform',
    'meta',
    '--on-invalid',
    'skip',
    '--threshold',
    '0.1',
  )
  const [{ upload_id: id }] = await json('upload', 'list')
  const [rows, distribution, downstream, history] = await Promise.all([
    json('upload', 'rows', id, '--status', 'invalid'),
    cli('upload', 'distribution', id, '--type', 'daily_metric', '--column', 'spend'),
    cli('upload', 'downstream', id),
    json('upload', 'history', id),
  ])
  expect(rows).toMatchObject([{ row_number: 3, raw_payload: { 'Amount spent (AUD)': 'wrong' } }])
  expect(distribution.stdout).toMatch(/from +to +before +after[\s\S]*412\.1/)
  expect(downstream.stdout).toContain('Nothing follows from it so far.')
  expect(history[0]).toMatchObject({ what: expect.any(String), place: expect.any(String) })
  const [event] = await json('event', 'list')
  const shown = await cli('event', 'show', event.id)
  expect(shown.stdout).toContain(`${event.event_domain}.${event.event_type}`)
  expect(shown.stdout).toMatch(/Payload\n\{/)
})

it('the installation: its checks, its storage, what came lately; kinds of units and times of a schedule', async () => {
  const [health, storage, overview, kinds, runs, records] = await Promise.all([
    cli('health'),
    json('health', '--storage'),
    json('status'),
    json('unit', 'kinds'),
    json('schedule', 'next-runs', '--cron', '0 6 * * *', '--time-zone', 'Europe/Berlin', '--limit', '2'),
    json('staging', 'list'),
  ])
  expect(health).toMatchObject({ code: 0, stdout: expect.stringMatching(/✔ Schema of the database/) })
  expect(storage.storage.database_bytes).toBeGreaterThan(1_000_000)
  expect(storage.storage.tables.length).toBeGreaterThan(5)
  for (const name of ['uploads', 'executions'])
    expect(overview.rooms.find(({ room }: { room: string }) => room === name).rate.count).toBe(1)
  expect((await cli('status')).stdout).toMatch(/uploads +1 +– +1 in 24 h/)
  expect(kinds.map(({ unit_kind }: { unit_kind: string }) => unit_kind)).toContain('section')
  expect(runs.next_runs).toHaveLength(2)
  const history = await json('staging', 'history', records[0].staging_record_id)
  expect(history[0]).toMatchObject({ event_domain: 'staging', event_type: 'record_created' })
})

it('the inbox of whoever is named: a review, a mention, a request to undo; news is marked as read', async () => {
  const path = file(
    'inbox.csv',
    [
      'Campaign name,Campaign ID,Ad set name,Ad set ID,Ad name,Ad ID,Day,Amount spent (AUD),Impressions,Link clicks',
      'Inbox,7701,Retarget,7702,Ad 1,77031,2026-11-09,88.00,2000,31',
    ].join('\n'),
  )
  const inbox = (as: string, ...more: string[]) => json('change', 'inbox', '--as', as, ...more)
  await json(
    ...['ingest', path, '--dataset', 'ads', '--platform', 'meta', '--until', 'planned', '--as', 'operator'],
  )
  const [{ upload_id: id, change, plan_digest: digest }] = await json('upload', 'list')
  expect((await cli('change', 'inbox')).stderr).toContain('Whose inbox?')
  await json('upload', 'submit', id, '--as', 'operator')
  const reviewer = (await json('member', 'list')).find(({ role }: { role: string }) => role === 'reviewer')
  await json('change', 'reviewers', String(change), reviewer.user_id, '--as', 'operator')
  await json('change', 'comment', String(change), '@Reviewer is this right?', '--as', 'operator')
  expect(await inbox('reviewer')).toMatchObject({
    to_do: 1,
    unread: 1,
    matters: [
      { matter: 'review_requested', number: change },
      { matter: 'mentioned', excerpt: '@Reviewer is this right?' },
    ],
  })
  expect((await cli('change', 'inbox', '--read', '--as', 'reviewer')).stdout).toMatch(
    /1 to do, 1 unread[\s\S]*asks for your review[\s\S]*mentioned you[\s\S]*Marked as read: 1/,
  )
  expect(await inbox('reviewer')).toMatchObject({ to_do: 1, unread: 0 })
  await json('upload', 'approve', id, '--digest', digest, '--tick', 'changes', '--as', 'reviewer')
  expect(await inbox('reviewer')).toMatchObject({ matters: [] })
  expect((await inbox('operator')).matters).toMatchObject([{ matter: 'approved' }])
  expect((await cli('change', 'show', String(change))).stdout).toMatch(
    /approved +by Reviewer \d+ (s|min) ago/,
  )
  await json('upload', 'promote', id, '--as', 'operator')
  await json('change', 'ask-undo', String(change), '--reason', 'The spend is doubled.', '--as', 'operator')
  expect((await inbox('reviewer')).matters).toMatchObject([
    { matter: 'undo_requested', excerpt: 'The spend is doubled.' },
  ])
  expect((await cli('change', 'show', String(change))).stdout).toContain('The spend is doubled.')
  await json('change', 'decline-undo', String(change), '--as', 'reviewer')
  expect(await inbox('reviewer')).toMatchObject({ matters: [] })
})
