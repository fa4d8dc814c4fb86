/**
 * What claims and outcomes read. Their plans are kept by the session; those that are made while the queue is empty must not read all of
 * it when many jobs come at once.
 */
import type pg from 'pg'
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { type JobRow, queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)

const JOBS = 5000
const MAX_ROWS = 40
const LEASES = '$1, $2::uuid[], $3::int[]'

/** Each ends the jobs that it is given. */
const OUTCOMES = {
  complete: `select iu_core.fn_job_complete(${LEASES})`,
  begin: `select iu_core.fn_job_begin(${LEASES})`,
  fail: `select iu_core.fn_job_fail(${LEASES}, array['it broke'])`,
  release: `select iu_core.fn_job_release(${LEASES})`,
  crash: `select iu_core.fn_job_crash(${LEASES}, 'it died')`,
}

it('claims and outcomes read a few rows of a long queue, whatever it was when they were planned', async () => {
  await db.owner('alter table iu_core.job_queue set (autovacuum_enabled = off)')
  const worker = await queue.register(['mail'])
  const session = await db.session('stagedoor_worker')
  const first: Record<string, number> = {}
  const later: Record<string, number> = {}
  for (const [name, sql] of Object.entries(OUTCOMES)) {
    await db.owner('truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history')
    await db.owner('vacuum analyze iu_core.job_queue')
    await queue.enqueue('mail')
    await readBy(session, worker, sql)
    await queue.rows('select iu_core.fn_job_enqueue_batch($1)', [
      JSON.stringify(Array.from({ length: JOBS }, () => ({ job_kind: 'mail' }))),
    ])
    const { claim, outcome } = await readBy(session, worker, sql)
    first[name] = claim
    later[name] = outcome
  }
  expect(Math.max(...Object.values(first)), JSON.stringify(first)).toBeLessThan(MAX_ROWS)
  expect(Math.max(...Object.values(later)), JSON.stringify(later)).toBeLessThan(MAX_ROWS)
})

/** Rows of the queue that the claim of a job reads, and then what becomes of it. */
async function readBy(
  session: pg.Client,
  worker: string,
  outcome: string,
): Promise<{ claim: number; outcome: number }> {
  await session.query('begin')
  const before = await readSoFar(session)
  const { rows } = await session.query<JobRow>('select * from iu_core.fn_job_claim($1, 1)', [worker])
  const claimed = await readSoFar(session)
  await session.query(outcome, [
    worker,
    rows.map(({ job_id }) => job_id),
    rows.map(({ lease_epoch }) => lease_epoch),
  ])
  const ended = await readSoFar(session)
  await session.query('commit')
  expect(rows).toHaveLength(1)
  return { claim: claimed - before, outcome: ended - claimed }
}

async function readSoFar(session: pg.Client): Promise<number> {
  const { rows } = await session.query<{ read: number }>(
    `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int as read from pg_stat_xact_user_tables
      where relid = 'iu_core.job_queue'::regclass`,
  )
  return rows[0]!.read
}

it('jobs that end together are not compared with each other, however few the planner expected', async () => {
  const worker = await queue.register(['mail'])
  const session = await db.session('postgres')
  const plans: string[] = []
  session.on('notice', ({ message = '' }) => plans.push(message))
  await session.query(`load 'auto_explain'`)
  const settings = {
    log_min_duration: '0',
    log_nested_statements: 'on',
    log_analyze: 'on',
    log_timing: 'off',
  }
  for (const [name, value] of Object.entries(settings))
    await session.query(`set auto_explain.${name} = '${value}'`)
  for (const [name, sql] of Object.entries(OUTCOMES)) {
    await db.owner('truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history')
    await queue.rows('select iu_core.fn_job_enqueue_batch($1)', [
      JSON.stringify(Array.from({ length: 200 }, () => ({ job_kind: 'mail' }))),
    ])
    const jobs = await queue.claim(worker, 200)
    plans.length = 0
    await session.query('set client_min_messages = log')
    await session.query(sql.replace(`array['it broke']`, `array_fill('it broke'::text, array[200])`), [
      worker,
      jobs.map(({ job_id }) => job_id),
      jobs.map(({ lease_epoch }) => lease_epoch),
    ])
    await session.query('reset client_min_messages')
    const removed = plans.flatMap((plan) =>
      [...plan.matchAll(/Rows Removed by (?:Join )?Filter: (\d+)/g)].map(([, rows]) => Number(rows)),
    )
    expect(plans.join('\n'), name).toContain('job_queue')
    expect(Math.max(0, ...removed), name).toBeLessThan(2000)
  }
})
