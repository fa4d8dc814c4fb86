/** A program that only uses the library runs everything that `stagedoor start` runs beside its API. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createStagedoor, type Stagedoor, type Work } from '../../src/index.ts'
import { intruder } from '../staging/people.ts'
import { passExpiry } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const home = temporaryHome('library-work')
const ran: string[] = []
let stagedoor: Stagedoor
let work: Work
let workspace: string
let overdue: string
let daysBefore: number

/** Everything that waits for a process is there before one runs, so that only `work` can do it. */
beforeAll(async () => {
  workspace = await createWorkspace(db)
  for (const gate of [
    'queue.consumer_dispatch.enabled',
    'iu_core.staging_writes_enabled',
    'iu_core.staging_cleanup_enabled',
  ])
    await db.owner('select iu_core.fn_gate_set($1, true)', [gate])
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
  await dropFuturePartitions()
  daysBefore = await daysAhead()
  overdue = await stageOverdue()
  await activateConsumer()
  work = await stagedoor.work({
    jobs: {
      ship: (job) => void ran.push(`ship ${job.payload_ref}`),
      tick: (job) => void ran.push(`tick ${job.source_ref}`),
    },
    playbooks: { greet: ({ name }) => `hello ${name}` },
    dispatcher: true,
    search: true,
  })
})
afterAll(() => stagedoor.close())

async function daysAhead(): Promise<number> {
  const rows = await db.owner<{ days: number | null }>(
    'select history_days_left as days from iu_core.fn_health()',
  )
  return rows[0]!.days ?? 0
}

async function dropFuturePartitions(): Promise<void> {
  await db.owner(`do $$ declare p regclass; begin
    for p in select partition from iu_core.v_job_history_partition where from_time > now() loop
      execute format('drop table %s', p);
    end loop; end $$`)
}

async function stageOverdue(): Promise<string> {
  const { staging_record_id: id } = await stagedoor.staging.create({
    staging_kind: 'agent_intermediate',
    payload_type: 'nosql_payload',
    purpose: 'a test',
    workspace_id: workspace,
    parts: [{ part_name: 'draft', payload_kind: 'json', payload_json: { draft: 1 } }],
  })
  await passExpiry(await intruder(db), id)
  return id
}

const emit = (subject: string) =>
  stagedoor.events.emit([
    {
      event_domain: 'dot',
      event_type: 'run.applied',
      workspace_id: workspace,
      event_subject_ref: subject,
    },
  ])

async function activateConsumer(): Promise<void> {
  const reviewer = await createMember(db, workspace, 'reviewer')
  await stagedoor.consumers.register({
    consumer_id: 'ship',
    event_domain: 'dot',
    event_type: 'run.applied',
    workspace_id: workspace,
    job_kind: 'ship',
    idempotency_key_template: '{event_id}',
    payload_ref_template: '{event_subject_ref}',
  })
  await stagedoor.consumers.dryRun('ship')
  await emit('seen')
  await stagedoor.consumers.dispatch()
  await db.as(reviewer, (client) => client.query(`select iu_core.fn_consumer_review('ship', 1)`))
  await stagedoor.consumers.activate('ship')
}

it('turns events into jobs and runs them', async () => {
  await emit('parcel 7')
  await until('the job of the event has run', async () => ran.includes('ship parcel 7'))
})

it('fires schedules', async () => {
  await stagedoor.schedules.set({ schedule: 'daily', cron: '0 3 * * *', job_kind: 'tick' })
  await db.owner(
    `update iu_core.job_schedule set next_at = now() - interval '1 second' where schedule = 'daily'`,
  )
  await until('the job of the schedule has run', async () => ran.includes('tick schedule:daily'))
})

it('runs the kinds of jobs that Stagedoor brings', async () => {
  const job = await stagedoor.jobs.enqueue({ job_kind: 'cleanup_staging_rows' })
  await until('the job is done', async () => (await stagedoor.jobs.get(job))?.status === 'completed')
})

it('keeps partitions ahead', async () => {
  expect(daysBefore).toBeLessThan(40)
  await until('there are partitions again', async () => (await daysAhead()) >= 90)
})

it('expires staging records', async () => {
  await until('the record has expired', async () => {
    const record = await stagedoor.staging.get(overdue)
    return record?.lifecycle_status === 'expired'
  })
})

it('projects units into search', async () => {
  const { unit_id } = await stagedoor.units.create(workspace, {
    canonical_address: 'demo/leave',
    body: '30 days of leave a year.',
  })
  await stagedoor.search.flush({ units: [unit_id] })
  await until('search finds the unit', async () => {
    const { hits } = await stagedoor.search.find(workspace, 'leave')
    return hits.length > 0 && hits[0]!.freshness === 'current'
  })
})

it('drives executions, and `wait` gets their end from the engine of the same process', async () => {
  await stagedoor.playbooks.register(
    'name: hello\nsteps:\n  - step: greet\n    tool: handler\n    call: greet\n    args: { name: Ada }\noutput: "$' +
      '{result}"\n',
  )
  const id = await stagedoor.executions.start('hello')
  expect(await stagedoor.executions.wait(id)).toMatchObject({
    status: 'COMPLETED',
    result: { value: 'hello Ada' },
  })
})

it('says how every part is, and shares one maintenance with a worker that is started beside it', async () => {
  const names = ['workers', 'jobs', 'uploads', 'dispatcher', 'executions', 'projection', 'search']
  expect(work.health().map(({ name }) => name)).toEqual(names)
  await until('every part is well', () => work.health().every(({ ok }) => ok))
  const worker = await stagedoor.jobs.work({ other: async () => {} })
  expect(await sessions('maintenance')).toBeLessThanOrEqual(4)
  await worker.stop()
  expect(work.health()[0]).toMatchObject({ name: 'workers', ok: true })
})

it('stops everything, and leaves no session of its roles; nor does a start that fails halfway', async () => {
  await work.stop()
  const halfway = stagedoor.work({ jobs: {}, dispatcher: true, playbooks: {}, stepConcurrency: 0 })
  await expect(halfway).rejects.toMatchObject({ code: 'argument_invalid' })
  for (const purpose of ['jobs', 'reader', 'dispatcher', 'maintenance', 'executions', 'tools'])
    await until(`no session for ${purpose} is left`, async () => (await sessions(purpose)) === 0)
  await expect(stagedoor.work({})).rejects.toMatchObject({ code: 'argument_invalid' })
})

async function sessions(purpose: string): Promise<number> {
  const rows = await db.owner<{ n: number }>(
    `select count(*)::integer as n from pg_stat_activity
      where datname = current_database() and application_name like 'stagedoor % ' || $1`,
    [purpose],
  )
  return rows[0]!.n
}
