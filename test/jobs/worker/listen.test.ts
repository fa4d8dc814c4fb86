import pino from 'pino'
import { expect, it } from 'vitest'
import { openWakeups } from '../../../src/runtime/wakeups.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { gate, useJobs } from './support.ts'

const db = useDatabase()
const jobs = useJobs(db)

async function idle(): Promise<number> {
  return (await db.pool('stagedoor_worker').query('select from iu_core.worker_idle')).rowCount!
}

it('a worker that waits begins a new job because of its notice, not because it polls', async () => {
  // The next poll is in an hour.
  await jobs.start({ noticed: async () => {} }, { pollMs: 3_600_000 })
  await until('it waits', async () => (await idle()) === 1)
  const [id] = await jobs.enqueue({ job_kind: 'noticed' })
  await jobs.reached('completed', [id!])
})

it('claims by its id the job that a notice names, and looks at all of them after any other', async () => {
  const pool = db.pool('stagedoor_worker')
  const begun: string[] = []
  // The next poll is in an hour.
  await jobs.start({ named: (job) => void begun.push(job.job_id) }, { pollMs: 3_600_000 })
  await until('it waits', async () => (await idle()) === 1)
  await pool.query('select iu_core.fn_job_worker_set_idle(worker_id, false) from iu_core.worker_idle')
  const [first, second, third] = await jobs.enqueue(...Array(3).fill({ job_kind: 'named' }))
  await pool.query(`select pg_notify('stagedoor', 'jobs named ' || $1::text)`, [second])
  await jobs.reached('completed', [second!])
  expect(begun).toEqual([second])
  await pool.query(`select pg_notify('stagedoor', 'jobs named')`)
  await jobs.reached('completed', [first!, third!])
  expect(begun.toSorted()).toEqual([first, second, third].toSorted())
})

it('listens again after its session was ended, and finds what was enqueued meanwhile', async () => {
  await jobs.start({ deaf: async () => {} }, { pollMs: 3_600_000 })
  await until('it waits', async () => (await idle()) === 1)
  await db
    .pool('postgres')
    .query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like '%notifications' and datname = $1`,
      [db.name],
    )
  const [first] = await jobs.enqueue({ job_kind: 'deaf' })
  await jobs.reached('completed', [first!])
  const [second] = await jobs.enqueue({ job_kind: 'deaf' })
  await jobs.reached('completed', [second!])
})

it('finds by polling what came without a notice', async () => {
  const pool = db.pool('stagedoor_worker')
  await jobs.start({ silent: async () => {} }, { pollMs: 50 })
  await until('it waits', async () => (await idle()) === 1)
  // As a long transaction that looked for waiters before there was one.
  await pool.query('select iu_core.fn_job_worker_set_idle(worker_id, false) from iu_core.worker_idle')
  const [id] = await jobs.enqueue({ job_kind: 'silent' })
  await jobs.reached('completed', [id!])
})

it('says that it is busy while there is a backlog, so that enqueues give no notice', async () => {
  const go = gate()
  await jobs.start({ busy: () => go.opened }, { concurrency: 1, batch: 5 })
  await until('it waits', async () => (await idle()) === 1)
  const ids = await jobs.enqueue(...Array.from({ length: 20 }, () => ({ job_kind: 'busy' })))
  await until('nobody waits any more', async () => (await idle()) === 0)
  go.open()
  await jobs.reached('completed', ids)
  await until('it waits again', async () => (await idle()) === 1)
})

it('without a connection for notices works by polling alone', async () => {
  await jobs.start({ polled: async () => {} }, { listenUrl: undefined as never, pollMs: 50 })
  const [id] = await jobs.enqueue({ job_kind: 'polled' })
  await jobs.reached('completed', [id!])
  expect(await idle()).toBe(0)
})

it('loses nothing when half of all wake-ups get lost: the poll of the process finds it', async () => {
  const handle = openWakeups(db.url('stagedoor_worker'), pino({ level: 'silent' }))
  handle.injectLoss(0.5)
  try {
    await jobs.start({ unheard: async () => {} })
    const ids: string[] = []
    for (let n = 0; n < 8; n++) {
      await until('it waits', async () => (await idle()) === 1)
      const [id] = await jobs.enqueue({ job_kind: 'unheard' })
      await jobs.reached('completed', [id!])
      ids.push(id!)
    }
    expect(new Set(ids).size).toBe(8)
  } finally {
    await handle.close()
  }
})

it('begins a job that is due soon when it is due, without an own poll', async () => {
  await jobs.start({ soon: async () => {} })
  await until('it waits', async () => (await idle()) === 1)
  const [id] = await jobs.enqueue({ job_kind: 'soon', process_after: new Date(Date.now() + 1500) })
  await jobs.reached('completed', [id!])
})

it('tries a job again when its backoff is over, though nobody wakes it', async () => {
  let runs = 0
  await db.owner(
    `select iu_core.fn_job_kind_set('again', '{"backoff": "300 milliseconds", "max_attempts": 3}')`,
  )
  await jobs.start({
    again: async () => {
      runs += 1
      if (runs < 3) throw new Error('not yet')
    },
  })
  const [id] = await jobs.enqueue({ job_kind: 'again' })
  await jobs.reached('completed', [id!])
  expect(runs).toBe(3)
})

it('an idle worker sends nothing but its heartbeats and the poll of the process', async () => {
  const pool = jobs.pool('quiet')
  await jobs.start({ quiet: async () => {} }, { pool })
  await until('it waits', async () => (await idle()) === 1)
  const claims = async (): Promise<string> => {
    const { rows } = await db.pool('postgres').query<{ at: string }>(
      `select coalesce(max(state_change)::text, '') as at from pg_stat_activity
          where datname = $1 and application_name like '%quiet' and query like '%fn_job_claim(%'`,
      [db.name],
    )
    return rows[0]!.at
  }
  const renewed = async (): Promise<void> => {
    const leasedUntil = async (): Promise<number> =>
      (
        await db.owner<{ until: Date }>('select max(leased_until) as until from iu_core.job_worker')
      )[0]!.until.getTime()
    const before = await leasedUntil()
    await until('two heartbeats', async () => (await leasedUntil()) > before + 3000)
  }
  // It looks twice after its start.
  await renewed()
  const before = await claims()
  await renewed()
  expect(['', before]).toContain(await claims())
})
