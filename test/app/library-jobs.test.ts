/** The library's way of events and jobs: in the program's own transaction, with handlers in its own process. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createStagedoor, defineJobs, FatalJobError, type Stagedoor } from '../../src/index.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { startPooler } from '../kernel/postgres/doctor/pooler/pgbouncer.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const home = temporaryHome('library-jobs')
let stagedoor: Stagedoor
let workspace: string

beforeAll(async () => {
  workspace = await createWorkspace(db)
  await db.owner(`select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', true)`)
  await db.owner('create table public.parcels (id integer primary key, status text not null)')
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
})
afterAll(() => stagedoor.close())

it('a job enqueued in a transaction that is rolled back was never there', async () => {
  const pool = db.pool('stagedoor_worker')
  let id = ''
  const failed = inTransaction(pool, async (client) => {
    id = await stagedoor.jobs.enqueue({ job_kind: 'undone' }, { client })
    throw new Error('changed my mind')
  })
  await expect(failed).rejects.toThrow('changed my mind')
  expect(await stagedoor.jobs.get(id)).toBeUndefined()
  const kept = await inTransaction(pool, (client) =>
    stagedoor.jobs.enqueue({ job_kind: 'undone', idempotency_key: 'once' }, { client }),
  )
  expect(await stagedoor.jobs.enqueueMany([{ job_kind: 'undone', idempotency_key: 'once' }])).toEqual([kept])
  expect(await stagedoor.jobs.get(kept)).toMatchObject({ status: 'waiting', job_kind: 'undone' })
})

it('a worker of its own runs handlers until it is stopped, and close stops it, too', async () => {
  const other = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
  const handlers = defineJobs({
    greet: async (job) => ({ greeted_ref: job.payload_ref }),
    refuse: () => {
      throw new FatalJobError('never')
    },
  })
  const worker = await other.jobs.work(handlers, { concurrency: 2 })
  const greeted = await other.jobs.enqueue({ job_kind: 'greet', payload_ref: 'ada' })
  const refused = await other.jobs.enqueue({ job_kind: 'refuse' })
  const done = await until('the job is done', async () => {
    const job = await other.jobs.get(greeted)
    return job?.status === 'completed' && job
  })
  expect(done.result).toEqual({ greeted_ref: 'ada' })
  await until('the other is a dead letter', async () => (await other.jobs.get(refused))?.status === 'dead')
  expect(worker.health()).toMatchObject({ name: 'jobs', ok: true })
  expect(await other.jobs.replay({ kind: 'refuse' })).toEqual([refused])
  await other.close()
  expect(await db.owner('select from iu_core.job_worker where worker_id = $1', [worker.id])).toEqual([])
})

it('a worker of its own keeps partitions ahead, where nothing else runs', async () => {
  const days = async () =>
    (await db.owner<{ days: number | null }>('select history_days_left as days from iu_core.fn_health()'))[0]!
      .days
  await db.owner(`do $$ declare p regclass; begin
    for p in select partition from iu_core.v_job_history_partition where from_time > now() loop
      execute format('drop table %s', p);
    end loop; end $$`)
  expect(await days()).toBeLessThan(40)
  const worker = await stagedoor.jobs.work({ nothing: async () => {} })
  await until('there are partitions again', async () => ((await days()) ?? 0) >= 90)
  await worker.stop()
})

it('a worker of its own is refused a pooler that gives every transaction another session', async () => {
  const pooler = await startPooler(db.url('stagedoor_worker'), 'transaction')
  const pooled = await createStagedoor({ databaseUrl: pooler.url, home })
  const refused = { code: 'pooler_refused' }
  await expect(pooled.jobs.work({ nothing: async () => {} })).rejects.toMatchObject(refused)
  await expect(pooled.executions.work()).rejects.toMatchObject(refused)
  await expect(pooled.work({ jobs: {} })).rejects.toMatchObject(refused)
  await pooled.close()
  await pooler.stop()
})

it('kinds are set, paused and resumed', async () => {
  await stagedoor.jobs.setKind('careful', { max_attempts: 2, concurrency: 1 })
  await stagedoor.jobs.pause('careful')
  const kind = async () => (await stagedoor.jobs.kinds()).find(({ job_kind }) => job_kind === 'careful')
  expect(await kind()).toMatchObject({ max_attempts: 2, concurrency: 1, paused_by: MIGRATOR })
  await stagedoor.jobs.resume('careful')
  expect(await kind()).toMatchObject({ paused_at: null })
})

it('a schedule is set, changed and removed, and its jobs come with the tester’s clock', async () => {
  const schedule = { schedule: 'hourly', cron: '0 * * * *', job_kind: 'tick' }
  expect(await stagedoor.schedules.set(schedule)).toMatchObject({ enabled: true, time_zone: 'UTC' })
  const ticks: string[] = []
  const tester = await stagedoor.jobs.tester({ tick: (job) => void ticks.push(job.source_ref!) })
  await tester.runUntilIdle()
  expect(ticks).toEqual([])
  tester.advance(3_600_000)
  await tester.runUntilIdle()
  expect(ticks).toEqual(['schedule:hourly'])
  expect(await stagedoor.schedules.delete('hourly')).toBe(true)
  expect(await stagedoor.schedules.delete('hourly')).toBe(false)
})

it('from a change of a row to the result of its job: route, consumer, handler, trace', async () => {
  const reviewer = await createMember(db, workspace, 'reviewer')
  const code = await stagedoor.routes.register({
    source: 'parcels',
    sql_event: 'insert',
    workspace_id: workspace,
    payload_contract: { keep_refs: ['id', 'status'] },
  })
  await stagedoor.routes.dryRun(code)
  await db.owner(`insert into public.parcels values (1, 'packed')`)
  const evidence = await stagedoor.routes.evidence(code)
  expect(evidence).toMatchObject([{ events: '1', sample: [{ payload: { id: 1, status: 'packed' } }] }])
  // The login that registered it cannot review it, whomever it names.
  await expect(stagedoor.routes.review(code, { reviewer: 'rita', evidence: 1 })).rejects.toMatchObject({
    code: 'route_four_eyes',
  })
  await db.as(reviewer, (client) => client.query('select iu_core.fn_sql_route_review($1, 1)', [code]))
  await stagedoor.routes.activate(code)

  const consumer = {
    consumer_id: 'ship',
    event_domain: 'iu_sql',
    event_type: code,
    workspace_id: workspace,
    job_kind: 'ship',
    idempotency_key_template: '{event_id}',
    payload_ref_template: '{event_subject_ref}',
  }
  expect(await stagedoor.consumers.register(consumer)).toMatchObject({ state: 'disabled' })
  await stagedoor.consumers.dryRun('ship')
  await db.owner(`insert into public.parcels values (2, 'packed')`)
  await stagedoor.consumers.dispatch()
  expect(await stagedoor.consumers.evidence('ship')).toMatchObject([{ payload_ref: '2' }])
  await db.as(reviewer, (client) => client.query(`select iu_core.fn_consumer_review('ship', 1)`))
  await stagedoor.consumers.activate('ship')

  await db.owner(`insert into public.parcels values (3, 'packed')`)
  expect(await stagedoor.consumers.dispatch()).toMatchObject({ jobs: 1 })
  const tester = await stagedoor.jobs.tester({ ship: (job) => ({ shipment_ref: `s${job.payload_ref}` }) })
  const [done] = await tester.runUntilIdle()
  const trace = await stagedoor.trace(done!.job_id)
  expect(trace).toMatchObject({
    events: [{ event_type: code, payload: { id: 3, status: 'packed' } }],
    jobs: [{ job_kind: 'ship', status: 'completed', result: { shipment_ref: 's3' } }],
  })
  expect(trace.jobs[0]!.causation_event_id).toBe(trace.events[0]!.id)

  const backfilled = await stagedoor.consumers.backfill('ship', {
    from: new Date(Date.now() - 3_600_000),
    to: new Date(),
  })
  expect(backfilled).toMatchObject({ events: 1, jobs: 1 })
})
