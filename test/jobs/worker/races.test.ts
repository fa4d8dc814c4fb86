/** What the database settles between a worker that is late and the others. */
import { expect, it } from 'vitest'
import { claimJobs, completeJobs, listLeasedJobs, reapJobs, registerWorker } from '../../../src/jobs/lease.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { until } from '../../support/until.ts'
import { useJobs } from './support.ts'

const db = useDatabase()
const jobs = useJobs(db)
/** Passes while the test waits, and leaves a busy machine the time to claim under it. */
const SHORT_MS = 3000

async function registered(kind: string, leaseMs = 60_000): Promise<string> {
  const terms = { executor: 'PG_worker', kinds: [kind], leaseMs }
  return registerWorker(db.pool('stagedoor_worker'), terms)
}

async function passed(worker: string): Promise<void> {
  await until('the lease has passed', async () => {
    const rows = await db.owner(
      'select from iu_core.job_worker where worker_id = $1 and leased_until > clock_timestamp()',
      [worker],
    )
    return rows.length === 0
  })
}

it('a claim that commits after its lease has passed leaves no job with a worker that has ended', async () => {
  const [id] = await jobs.enqueue({ job_kind: 'late_claim' })
  const worker = await registered('late_claim', SHORT_MS)
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  expect(await claimJobs(session, worker, 10)).toHaveLength(1)
  await passed(worker)
  await reapJobs(db.pool('stagedoor_worker'))
  await session.query('commit')
  expect((await jobs.find(id!)).status).toBe('running')
  await reapJobs(db.pool('stagedoor_worker'))
  expect((await jobs.find(id!)).status).toBe('waiting')
})

it('a completion after the lease has passed counts for nothing, reaped or not', async () => {
  const [id] = await jobs.enqueue({ job_kind: 'late_completion' })
  const worker = await registered('late_completion', SHORT_MS)
  const pool = db.pool('stagedoor_worker')
  const claimed = await claimJobs(pool, worker, 10)
  await passed(worker)
  const late = () =>
    completeJobs(
      pool,
      worker,
      claimed.map((job) => ({ job })),
    )
  expect(await sqlstateOf(late())).toBe('SD703')
  await reapJobs(pool)
  expect(await sqlstateOf(late())).toBe('SD703')
  expect(await listLeasedJobs(pool, worker)).toEqual([])
  expect((await jobs.find(id!)).status).toBe('waiting')
})

it('a completion under an earlier epoch counts for nothing', async () => {
  const [id] = await jobs.enqueue({ job_kind: 'old_epoch' })
  const worker = await registered('old_epoch')
  const pool = db.pool('stagedoor_worker')
  const [job] = await claimJobs(pool, worker, 10)
  await pool.query('select iu_core.fn_job_release($1, array[$2::uuid], array[$3::integer])', [
    worker,
    id,
    job!.lease_epoch,
  ])
  const [again] = await claimJobs(pool, worker, 10)
  expect(await completeJobs(pool, worker, [{ job: job! }])).toEqual([])
  expect(await completeJobs(pool, worker, [{ job: again! }])).toEqual([id])
  // Its answer was lost, it is sent again: nothing happens.
  expect(await completeJobs(pool, worker, [{ job: again! }])).toEqual([])
})

it('a dead worker whose transaction holds a job does not keep the jobs of the others', async () => {
  const pool = db.pool('stagedoor_worker')
  const [hung, other] = await jobs.enqueue({ job_kind: 'hung' }, { job_kind: 'held_up' })
  const workers = [await registered('hung', SHORT_MS), await registered('held_up', SHORT_MS)]
  const [job] = await claimJobs(pool, workers[0]!, 1)
  await claimJobs(pool, workers[1]!, 1)
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  expect(await completeJobs(session, workers[0]!, [{ job: job! }])).toEqual([hung])
  for (const worker of workers) await passed(worker)

  expect(await reapJobs(pool)).toBe(1)
  expect((await jobs.find(other!)).status).toBe('waiting')
  expect((await jobs.find(hung!)).status).toBe('running')
  await session.query('rollback')
  expect(await reapJobs(pool)).toBe(1)
  expect(await jobs.find(hung!)).toMatchObject({ status: 'waiting', crashes: 1 })
  expect(await db.owner('select from iu_core.job_worker where worker_id = any ($1)', [workers])).toEqual([])
})

it('behind a cursor a claim still sees what is more urgent, and leaves what is less to a claim from the start', async () => {
  const pool = db.pool('stagedoor_worker')
  const of = (source_ref: string, priority: number) => ({ job_kind: 'ranks', source_ref, priority })
  await jobs.enqueue(of('first', 0), of('second', 0))
  const worker = await registered('ranks')
  const [job] = await claimJobs(pool, worker, 1)
  const after = { ranks: { 0: { process_after: job!.due, job_id: job!.job_id } } }
  await jobs.enqueue(of('urgent', 7), of('lesser', -3))
  const behind = await claimJobs(pool, worker, 10, { after })
  expect(behind.map(({ source_ref }) => source_ref)).toEqual(['urgent', 'second'])
  const rest = await claimJobs(pool, worker, 10)
  expect(rest.map(({ source_ref }) => source_ref)).toEqual(['lesser'])
})
