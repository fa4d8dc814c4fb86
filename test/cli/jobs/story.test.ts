/** The user's story of events and jobs, command by command, as the guide tells it. */
// @module-tag long
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NOTE } from '../../events/consumers/registered.ts'
import { freePort, type RunningCli, runCli, startCli } from '../../support/cli.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const folder = temporaryHome('cli-jobs')
const env: Record<string, string> = { STAGEDOOR_HOME: join(folder, 'home') }
const FIXED = join(folder, 'the-truck-is-repaired')
let server: RunningCli
let worker: RunningCli
let receiver: Server
let sql: pg.Client
const received: { headers: Record<string, unknown>; body: { type: string } }[] = []

/** TypeScript where Node reads it by itself. */
const readsTypes = 'typescript' in process.features
const HANDLERS = join(folder, readsTypes ? 'jobs.ts' : 'jobs.mjs')
const TYPED = readsTypes ? ': { payload_ref: string }' : ''
writeFileSync(
  HANDLERS,
  `import { existsSync } from 'node:fs'
export default {
  async ship_order(job${TYPED}) {
    if (job.payload_ref === '13' && !existsSync(${JSON.stringify(FIXED)})) throw new Error('the truck is broken')
    return { shipment_ref: 's' + job.payload_ref }
  },
  async echo(job, { transaction }) {
    await transaction((client) => client.query(
      "select iu_core.fn_event_emit('governance', 'review_requested', p_workspace_id => $1)", [job.workspace_id]))
  },
}
`,
)

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      received.push({ headers: request.headers, body: JSON.parse(text) })
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await until('the receiver listens', () => receiver.listening)
  env.STAGEDOOR_WEBHOOK_HOSTS = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  server = startCli(['start'], { ...env, PORT: String(await freePort()) })
  await server.says(/Ctrl-C stops everything/)
  const { database_direct_url: address } = await json('login')
  sql = new pg.Client(address)
  await sql.connect()
  await sql.query('set role workflow_admin')
  await sql.query('create table public.orders (id integer primary key, status text not null, body text)')
  worker = startCli(['worker', '--handlers', HANDLERS, '--kinds', 'ship_order,echo'], env)
  await worker.says(/Working as PG_worker/)
})
afterAll(async () => {
  await sql?.end()
  await worker?.end()
  await server.end()
  receiver.close()
})

const cli = (...args: string[]) => runCli(args, env)
const done = async (...args: string[]) => {
  const { code, stdout, stderr } = await cli(...args)
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return stdout
}
const activate = async (consumer: string) => {
  await done('consumer', 'dry-run', consumer)
  // As if it had seen an event; what it makes of one is looked at below.
  await sql.query(NOTE, [consumer])
  await done('consumer', 'review', consumer, '--evidence', '1', '--as', 'reviewer')
  await done('consumer', 'activate', consumer)
}
const untilThere = (what: string) =>
  until(what, async () => (await sql.query(`select ${what}`)).rowCount !== 0)
const json = async (...args: string[]) => JSON.parse(await done(...args, '--json'))

it('a route shows in its dry run what it would send, and a colleague activates it', async () => {
  const added = await done('route', 'register', 'orders', '--on', 'insert,update', '--columns', 'id,status')
  expect(added).toMatch(/orders\.insert is registered. It sends nothing yet/)
  expect(added).toMatch(/stagedoor route dry-run orders\.insert orders\.update/)
  await done('route', 'dry-run', 'orders.insert', 'orders.update')
  expect(await done('route', 'evidence', 'orders.insert')).toMatch(/has recorded no statement yet/)
  await sql.query(`insert into orders values (1, 'new', 'secret words'), (2, 'new', null)`)
  await sql.query(`update orders set status = 'paid' where id = 1`)

  const evidence = await done('route', 'evidence', 'orders.insert')
  expect(evidence).toMatch(/2 events from public\.orders/)
  expect(evidence).toContain('{"id":1,"status":"new"}')
  expect(evidence).not.toContain('secret words')
  const [, review] = /stagedoor (route review orders\.insert .*)/.exec(evidence)!
  expect(await cli('route', 'activate', 'orders.insert', '--as', 'reviewer')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('nobody has reviewed it'),
  })
  const seen = review!.split(' ').slice(0, -2)
  expect(await cli(...seen)).toMatchObject({ code: 5, stderr: expect.stringContaining('a person decides') })
  expect(await cli(...seen, '--as', 'operator')).toMatchObject({ code: 5 })
  await done(...review!.split(' '))
  await done('route', 'review', 'orders.update', '--evidence', '1', '--as', 'reviewer')
  expect(await done('route', 'activate', 'orders.insert', 'orders.update', '--as', 'reviewer')).toMatch(
    /orders\.update is active/,
  )
  expect(await done('route', 'register', 'orders', '--on', 'insert', '--columns', 'id,status')).toMatch(
    /orders\.insert is unchanged/,
  )
  expect(await cli('route', 'delete', 'orders.insert')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/is active[\s\S]*route disable orders\.insert/),
  })
  expect(await json('route', 'list')).toMatchObject([
    { route_code: 'iu_lifecycle_log.insert', state: 'disabled' },
    { route_code: 'orders.insert', state: 'active' },
    { route_code: 'orders.update', state: 'active' },
  ])
})

it('a consumer makes jobs after a dry run and a review, and the handler runs them', async () => {
  await done(
    ...['consumer', 'register', 'ship', '--on', 'iu_sql.orders.insert', '--kind', 'ship_order'],
    ...['--key', '{event_id}', '--payload-ref', '{event_subject_ref}'],
  )
  await done('consumer', 'dry-run', 'ship')
  await sql.query(`insert into orders values (3, 'new')`)
  await untilThere(`from iu_core.event_dispatch_log where consumer_id = 'ship' and outcome = 'dry_run'`)
  expect(await done('consumer', 'evidence', 'ship')).toMatch(/ship:[0-9a-f-]{36} +about 3/)
  expect(await cli('consumer', 'activate', 'ship')).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('has not been reviewed'),
  })
  for (const role of ['viewer', 'operator']) {
    expect(await cli('consumer', 'review', 'ship', '--evidence', '1', '--as', role)).toMatchObject({
      code: 5,
    })
  }
  await done('consumer', 'review', 'ship', '--evidence', '1', '--as', 'reviewer')
  expect(await done('consumer', 'activate', 'ship')).toMatch(/ship is active/)

  await sql.query(`insert into orders values (12, 'new')`)
  await untilThere(`from iu_core.job_history where job_kind = 'ship_order'`)
  const [job] = await json('job', 'list', '--kind', 'ship_order', '--status', 'completed')
  expect(job).toMatchObject({ payload_ref: '12', result: { shipment_ref: 's12' }, attempts: 1 })
  const trace = await done('trace', job.job_id)
  expect(trace).toMatch(/iu_sql\.orders\.insert +12 by stagedoor_migrator\n.*"id":12/)
  expect(trace).toMatch(/└─ ✔ completed ship_order .*← this one\n.*s12/)
  expect(await json('trace', job.causation_event_id)).toMatchObject({ jobs: [{ job_id: job.job_id }] })
})

it('what fails is tried again later, dies, is repaired and replayed', async () => {
  await done('job', 'kind', 'set', 'ship_order', 'max_attempts=2', 'backoff=100 milliseconds')
  expect(await done('job', 'dead-letters')).toMatch(/No dead letters/)
  await sql.query(`insert into orders values (13, 'new')`)
  await untilThere('from iu_core.job_dead_letter')
  const [dead] = await json('job', 'dead-letters')
  expect(dead).toMatchObject({ attempts: 2, last_error: 'Error: the truck is broken', payload_ref: '13' })
  const shown = await done('job', 'dead-letters')
  expect(shown).toMatch(/✖ dead +ship_order .*failed 2 times: Error: the truck is broken/)
  expect(shown).toContain('stagedoor job replay --kind ship_order')
  const [group] = await json('job', 'dead-letters', '--groups')
  expect(group).toMatchObject({ count: 1, job_kind: 'ship_order', error: 'Error: the truck is broken' })
  expect(await done('job', 'replay', '--group', group.group_id, '--dry-run')).toMatch(
    /1 job would be replayed/,
  )
  expect(await done('job', 'statistics')).toMatch(/ship_order/)
  expect(await done('job', 'workers')).toMatch(/● alive/)
  writeFileSync(FIXED, '')
  expect(await done('job', 'replay', '--kind', 'ship_order')).toMatch(/1 job is in the queue again/)
  await untilThere('from iu_core.job_history where replays = 1')
  expect(await json('job', 'show', dead.job_id)).toMatchObject({
    status: 'completed',
    replays: 1,
    result: { shipment_ref: 's13' },
  })
  expect(await cli('job', 'replay', dead.job_id)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('it is completed'),
  })
})

it('a webhook tells the reviewers that something waits, signed', async () => {
  const hook = `http://${env.STAGEDOOR_WEBHOOK_HOSTS}/hooks/1`
  const added = await done('webhook', 'set', 'chat', '--url', hook, '--purpose', 'review')
  const [secret] = /whsec_\S+/.exec(added)!
  expect(await done('webhook', 'list')).not.toContain(secret)
  await done('webhook', 'test', 'chat')
  await until('the test has arrived', () => received.some(({ body }) => body.type === 'test'))

  await activate('notify_reviewers')
  const record = await json(
    ...['staging', 'create', '--as', 'agent', '--kind', 'review_package', '--type', 'review_bundle'],
    ...['--purpose', 'Commentary on week 45', '--part', 'manifest:json={"week": 45}'],
    ...['--part', 'commentary:text=Spend rose.', '--part', 'checklist:json=["figures match"]'],
  )
  const told = await until('the reviewers are told', () =>
    received.find(({ body }) => body.type === 'review.waiting'),
  )
  expect(told.body).toMatchObject({ data: { staging_record_id: record.staging_record_id } })
  expect(told.headers['webhook-signature']).toMatch(/^v1,\S{44}$/)
  expect(JSON.stringify(told.body)).not.toContain('Commentary')
})

it('a promotion fires an alert rule', async () => {
  await activate('alerts_after_promotion')
  await sql.query(`insert into alert_rules (client_id, name, metric, comparison, threshold)
                   select id, 'Spend above 400', 'spend', '>', 400 from clients`)
  const file = join(folder, 'week.csv')
  writeFileSync(
    file,
    `Campaign name,Ad set name,Ad name,Day,Amount spent (AUD),Impressions,Reach,Link clicks
Winter boots,Retarget,Boots video,2026-11-09,412.10,21004,9000,311
`,
  )
  const waits = await cli('ingest', file, '--dataset', 'ads', '--platform', 'meta', '--as', 'operator')
  const [, id] = /stagedoor upload approve (\S+) --as reviewer/.exec(waits.stdout)!
  const { plan_digest: digest } = await json('upload', 'show', id!)
  await done('upload', 'approve', id!, '--digest', digest, '--tick', 'changes', '--as', 'reviewer')
  await done('upload', 'promote', id!, '--as', 'operator')
  const fired = await until(
    'the alert has fired',
    async () => (await sql.query('select value::float from alerts where resolved_at is null')).rows[0],
  )
  expect(fired).toEqual({ value: 412.1 })
})

it('a consumer that feeds itself is stopped by the depth limit, with an issue', async () => {
  await done(
    'consumer',
    'register',
    'echo',
    '--on',
    'governance.review_requested',
    '--kind',
    'echo',
    '--max-depth',
    '3',
    '--global',
  )
  await activate('echo')
  const { rows } = await sql.query(`select iu_core.fn_event_emit('governance', 'review_requested') as id`)
  await untilThere('from iu_core.system_issue')
  const [issue] = await json('issue', 'list')
  expect(issue).toMatchObject({ severity: 'error' })
  const trace = await json('trace', rows[0].id)
  expect(trace.events.map((event: { causation_depth: number }) => event.causation_depth)).toEqual([
    0, 1, 2, 3, 4,
  ])
  expect(trace.jobs).toHaveLength(4)
  expect(trace.undelivered).toMatchObject([{ consumer_id: 'echo', outcome: 'too_deep' }])
  expect(await done('trace', rows[0].id)).toMatch(/✖ consumer echo +too deep: not dispatched/)
  expect(await done('issue', 'list')).toContain(issue.issue_id)
  expect(await done('issue', 'resolve', issue.issue_id, '--resolution', 'the echo is off')).toMatch(
    /Resolved/,
  )
  expect(await done('issue', 'list')).toMatch(/No open issues/)
})
