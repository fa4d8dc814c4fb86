/** Of jobs that take no time a worker claims the next ones before it has the last. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { enqueueMany } from '../../../src/jobs/queue.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { useJobs } from './support.ts'

const db = useDatabase()
const jobs = useJobs(db)

async function enqueueShort(kind: string, count: number): Promise<void> {
  const short = Array.from({ length: count }, (_, n) => ({ job_kind: kind, payload: { n } }))
  await enqueueMany(db.pool('stagedoor_worker'), short)
}

const emptied = (kind: string): Promise<true> =>
  until('all have run', async () => {
    const left = await db.owner('select from iu_core.job_queue where job_kind = $1 limit 1', [kind])
    return left.length === 0
  })

it('two claims are under way at once, each job runs once, and a stop leaves none with the worker', async () => {
  await enqueueShort('short', 4000)
  const runs = new Map<unknown, number>()
  const claims: { from: number; to: number }[] = []
  const worker = await jobs.start(
    { short: (job) => void runs.set(job.payload.n, (runs.get(job.payload.n) ?? 0) + 1) },
    {
      hooks: { onClaim: (_jobs, ms) => claims.push({ from: performance.now() - ms, to: performance.now() }) },
    },
  )
  await until('half of them have run', async () => runs.size > 2000)
  await worker.stop()
  expect(await db.owner(`select from iu_core.job_queue where leased_by is not null`)).toEqual([])
  await jobs.start({ short: (job) => void runs.set(job.payload.n, (runs.get(job.payload.n) ?? 0) + 1) })
  await emptied('short')
  expect([runs.size, [...runs.values()].filter((times) => times > 1)]).toEqual([4000, []])
  const overlaps = claims.filter((claim) =>
    claims.some(({ from, to }) => from < claim.from && claim.from < to),
  )
  expect(overlaps.length).toBeGreaterThan(0)
})

it('a suspect among them still runs alone', async () => {
  await enqueueShort('crowd', 6000)
  const [{ job_id }] = (await db.owner(
    `select job_id from iu_core.job_queue where job_kind = 'crowd' order by job_id offset 3000 limit 1`,
  )) as [{ job_id: string }]
  await db.pool('postgres').query('update iu_core.job_queue set crashes = 1 where job_id = $1', [job_id])
  let alone = false
  const beside: string[] = []
  await jobs.start({
    crowd: async (job) => {
      if (alone) beside.push(job.job_id)
      if (job.job_id !== job_id) return
      alone = true
      await delay(50)
      alone = false
    },
  })
  await emptied('crowd')
  expect(beside).toEqual([])
})

it('claims whose answers are lost lose no job and run none twice', async () => {
  const runs = new Map<string, number>()
  await jobs.start(
    { cut: (job) => void runs.set(job.job_id, (runs.get(job.job_id) ?? 0) + 1) },
    { pool: jobs.pool('ahead'), pollMs: 50 },
  )
  let cut = 0
  for (let n = 0; n < 5; n++) {
    await enqueueShort('cut', 2000)
    const { rowCount } = await db.pool('postgres').query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like '%ahead' and query like '%fn_job_claim%'`,
    )
    cut += rowCount ?? 0
  }
  await emptied('cut')
  expect(cut).toBeGreaterThan(0)
  expect([runs.size, [...runs.values()].filter((times) => times > 1)]).toEqual([10_000, []])
})
