/**
 * What the hot paths read of tables that only grow: events, their dispatch log, ended jobs and their keys, executions and their logs.
 * None may read one of them from end to end, whatever the planner thinks of it. `bench growth` measures the same paths at full size.
 */
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { fillEventsAndJobs, fillExecutions } from '../../bench/src/growth/fill.ts'
import { readOverview } from '../../src/app/overview.ts'
import { listUndelivered } from '../../src/events/consumers.ts'
import { dispatchEvents } from '../../src/events/dispatcher.ts'
import { listEvents, listEventsAbout } from '../../src/events/outbox.ts'
import { countByStatus, listExecutions } from '../../src/executions/queries.ts'
import { listUploads } from '../../src/ingest/uploads.ts'
import { beginJobs, claimJobs, completeJobs, registerWorker } from '../../src/jobs/lease.ts'
import { enqueue, enqueueMany, findJob, listJobs } from '../../src/jobs/queue.ts'
import type { Client } from '../../src/kernel/postgres/connection.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { active, openSwitch } from '../events/consumers/registered.ts'
import { playbook, useEngines } from '../executions/engine/engines.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'

const engines = useEngines()
const { db } = engines

const [EVENTS, EXECUTIONS] = [20_000, 3_000]
/** Of growing tables. A list of rare jobs reads the newest range of blocks, of which no filter has been made yet. */
const MAX_ROWS = 2_500
const GROWING =
  '^(event_outbox|event_dispatch_log|job_history|job_key|event|execution|checkpoint)(_y\\d+m\\d+)?$'

let person: Member
let worker: string

beforeAll(async () => {
  const workspace = await createWorkspace(db)
  person = await createMember(db, workspace, 'operator')
  const pool = db.pool('stagedoor_worker')
  worker = await registerWorker(pool, { executor: 'PG_worker', kinds: ['mail'], leaseMs: 3_600_000 })
  // One of each as the product makes them; the others are copies of these.
  await enqueue(pool, { job_kind: 'mail', idempotency_key: 'first', payload: {} })
  const jobs = await claimJobs(pool, worker, 1)
  await completeJobs(
    pool,
    worker,
    jobs.map((job) => ({ job })),
  )
  const engine = await engines.start({ a: () => 1 })
  await engines.register(playbook('short', [{ step: 'a' }]))
  await engines.ended(await engines.run('short'))
  await engine.stop()
  await pool.query(`select iu_core.fn_event_emit('staging', 'ingestion_complete')`)
  const owner = db.pool(MIGRATOR)
  await fillEventsAndJobs(owner, { workspace, from: 0, events: EVENTS, all: EVENTS })
  await fillExecutions(owner, workspace, 0, EXECUTIONS)
  await owner.query('vacuum (analyze) iu_core.job_history')
  await owner.query('analyze')
  const made = await db.owner<{ events: number; jobs: number; executions: number }>(
    `select (select count(*)::int from iu_core.event_outbox) as events, (select count(*)::int from iu_core.job_history) as jobs,
            (select count(*)::int from noetl.execution) as executions`,
  )
  expect(made[0]!.events).toBeGreaterThan(EVENTS)
  expect(made[0]!.jobs).toBeGreaterThan(EVENTS / 2)
  expect(made[0]!.executions).toBeGreaterThan(EXECUTIONS)
})

it('jobs are enqueued, claimed and completed without reading what has ended', async () => {
  const pool = db.pool('stagedoor_worker')
  const key = () => ({ job_kind: 'mail', idempotency_key: randomUUID(), payload: {} })
  await expectFewRows('enqueue', (client) => enqueue(client, key()))
  await expectFewRows('enqueue of many', (client) => enqueueMany(client, Array.from({ length: 200 }, key)))
  let jobs: Awaited<ReturnType<typeof claimJobs>> = []
  await expectFewRows('claim', async (client) => {
    jobs = await claimJobs(client, worker, 100)
  })
  expect(jobs).toHaveLength(100)
  await expectFewRows('begin', (client) => beginJobs(client, worker, jobs))
  await expectFewRows('complete', (client) =>
    completeJobs(
      client,
      worker,
      jobs.map((job) => ({ job })),
    ),
  )
  const { rows } = await pool.query<{ job_id: string }>('select job_id from iu_core.job_history limit 1')
  await expectFewRows('one job', (client) => findJob(client, rows[0]!.job_id))
})

it('events are emitted and dispatched without reading those of before', async () => {
  await openSwitch(db)
  await active(db, 'mail', { event_domain: 'staging', event_type: 'ingestion_complete' })
  await expectFewRows('emit', (client) =>
    client.query('select count(*) from iu_core.fn_event_emit_batch($1)', [
      JSON.stringify(
        Array.from({ length: 200 }, () => ({ event_domain: 'staging', event_type: 'ingestion_complete' })),
      ),
    ]),
  )
  await expectFewRows('dispatch', async (client) => {
    expect(await dispatchEvents(client)).toMatchObject({ jobs: 200 })
  })
  await expectFewRows('nothing to dispatch', async (client) => {
    expect(await dispatchEvents(client)).toMatchObject({ events: 0 })
  })
})

it('an execution is started without reading those that have ended', async () => {
  await expectFewRows('start', (client) => client.query(`select noetl.fn_execution_start('short', '{}')`))
})

it.each<[string, (client: Client) => Promise<unknown>]>([
  ['events', (client) => listEvents(client, { limit: 50 })],
  [
    'events of a rare type',
    (client) => listEvents(client, { limit: 50, domain: 'governance', type: 'route_changed' }),
  ],
  [
    'events about a subject',
    (client) => listEventsAbout(client, { domain: 'staging', subject: 'old-7', limit: 50 }),
  ],
  ['undelivered events', (client) => listUndelivered(client, { limit: 50 })],
  ['jobs', (client) => listJobs(client, { limit: 50 })],
  ['dead jobs', (client) => listJobs(client, { limit: 50, status: 'dead' })],
  ['cancelled jobs', (client) => listJobs(client, { limit: 50, status: 'cancelled' })],
  ['jobs of a rare kind', (client) => listJobs(client, { limit: 50, kind: 'seldom' })],
  ['executions', (client) => listExecutions(client, { limit: 50 })],
  ['failed executions', (client) => listExecutions(client, { limit: 50, status: 'FAILED' })],
  ['uploads', (client) => listUploads(client, { limit: 50 })],
])('a member lists %s without reading all', async (name, list) => {
  await db.as(person, (client) => expectFewRowsIn(client, name, list))
})

it('the overview and the counts of executions read a bounded number of rows', async () => {
  await db.as(person, (client) => expectFewRowsIn(client, 'overview', readOverview, 30_000))
  await db.as(person, (client) => expectFewRowsIn(client, 'counts', (own) => countByStatus(own), 30_000))
})

/** In a transaction of a worker, which commits. */
const expectFewRows = (name: string, work: (client: Client) => Promise<unknown>): Promise<void> =>
  inTransaction(db.pool('stagedoor_worker'), (client) => expectFewRowsIn(client, name, work))

async function expectFewRowsIn(
  client: Client,
  name: string,
  work: (client: Client) => Promise<unknown>,
  most = MAX_ROWS,
): Promise<void> {
  const before = await readSoFar(client)
  await work(client)
  const after = await readSoFar(client)
  expect(after.scanned - before.scanned, `rows of sequential scans: ${name}`).toBeLessThanOrEqual(
    most === MAX_ROWS ? 0 : most,
  )
  expect(after.read - before.read, `rows: ${name}`).toBeLessThanOrEqual(most)
}

interface Read {
  /** By sequential scans. */
  readonly scanned: number
  readonly read: number
}

async function readSoFar(client: Client): Promise<Read> {
  const { rows } = await client.query<Read>(
    `select coalesce(sum(seq_tup_read), 0)::int as scanned, coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int as read
       from pg_stat_xact_user_tables where schemaname in ('iu_core', 'noetl') and relname ~ $1`,
    [GROWING],
  )
  return rows[0]!
}
