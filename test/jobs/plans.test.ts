/**
 * What claims and outcomes read. Their plans are kept by the session; those that are made while the queue is empty must not read all of
 * it when many jobs come at once.
 */
import type pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { explainedSession, mostRemoved } from '../support/plans.ts'
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

/** Of a queue that is empty when the plans are made. Of one whose rows have gone the planner expects no row; of one without pages a few. */
const STATISTICS = {
  'without pages': async () => db.owner('vacuum analyze iu_core.job_queue'),
  'whose rows have gone': async () => {
    await enqueue('mail', 300)
    await db.owner('delete from iu_core.job_queue')
    await db.owner('analyze iu_core.job_queue')
  },
}

beforeEach(async () => {
  await db.owner('alter table iu_core.job_queue set (autovacuum_enabled = off)')
})

describe.each(Object.entries(STATISTICS))('plans made for a queue %s', (_, statistics) => {
  it('claims and outcomes read a few rows when it is long', async () => {
    const worker = await queue.register(['mail'])
    const session = await db.session('stagedoor_worker')
    const first: Record<string, number> = {}
    const later: Record<string, number> = {}
    for (const [name, sql] of Object.entries(OUTCOMES)) {
      await empty(statistics)
      await enqueue('mail', 1)
      await readBy(session, worker, sql)
      await enqueue('mail', JOBS)
      const { claim, outcome } = await readBy(session, worker, sql)
      first[name] = claim
      later[name] = outcome
    }
    expect(Math.max(...Object.values(first)), JSON.stringify(first)).toBeLessThan(MAX_ROWS)
    expect(Math.max(...Object.values(later)), JSON.stringify(later)).toBeLessThan(MAX_ROWS)
  })

  it('a claim of jobs by their ids reads these', async () => {
    const worker = await queue.register(['mail'])
    const session = await db.session('stagedoor_worker')
    const claimOne = async (): Promise<number> => {
      const job = await queue.enqueue('mail')
      return readOf(session, async () => {
        const { rowCount } = await session.query('select * from iu_core.fn_job_claim_by_id($1, $2)', [
          worker,
          [job],
        ])
        expect(rowCount).toBe(1)
      })
    }
    await empty(statistics)
    await claimOne()
    await enqueue('mail', JOBS)
    expect(await claimOne()).toBeLessThan(MAX_ROWS)
  })

  it('a claim of a kind with a limit reads no more than the oldest jobs', async () => {
    await queue.rows(`select iu_core.fn_job_kind_set('sync', '{"concurrency": 50}')`)
    const worker = await queue.register(['sync'])
    const session = await db.session('stagedoor_worker')
    const claim = () =>
      readOf(session, async () => {
        const { rowCount } = await session.query('select * from iu_core.fn_job_claim($1, 1)', [worker])
        expect(rowCount).toBe(1)
      })
    await empty(statistics)
    await enqueue('sync', 1)
    await claim()
    await enqueue('sync', JOBS)
    // A thousand are compared.
    expect(await claim()).toBeLessThan(1000 + MAX_ROWS)
  })
})

async function empty(statistics: () => Promise<unknown>): Promise<void> {
  await db.owner('truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history')
  await statistics()
}

async function enqueue(kind: string, count: number): Promise<void> {
  await queue.rows('select iu_core.fn_job_enqueue_batch($1)', [
    JSON.stringify(Array.from({ length: count }, () => ({ job_kind: kind }))),
  ])
}

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

/** Rows of the queue that this reads. */
async function readOf(session: pg.Client, run: () => Promise<void>): Promise<number> {
  await session.query('begin')
  const before = await readSoFar(session)
  await run()
  const after = await readSoFar(session)
  await session.query('commit')
  return after - before
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
  const { plansOf } = await explainedSession(db)
  for (const [name, sql] of Object.entries(OUTCOMES)) {
    await db.owner('truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history')
    await enqueue('mail', 200)
    const jobs = await queue.claim(worker, 200)
    const plans = await plansOf((session) =>
      session.query(sql.replace(`array['it broke']`, `array_fill('it broke'::text, array[200])`), [
        worker,
        jobs.map(({ job_id }) => job_id),
        jobs.map(({ lease_epoch }) => lease_epoch),
      ]),
    )
    expect(plans.join('\n'), name).toContain('job_queue')
    expect(mostRemoved(plans), name).toBeLessThan(2000)
  }
})
