/** A worker that was frozen past its lease, with jobs claimed ahead that others completed meanwhile. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useJobs } from '../jobs/worker/support.ts'
import { useDatabase } from '../support/database.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'
import { compile } from './program.ts'

const db = useDatabase()
const jobs = useJobs(db)
const home = temporaryHome('frozen')

const FREEZES = 3
const enqueue = () => jobs.enqueue(...Array.from({ length: 400 }, () => ({ job_kind: 'frozen' })))

it('begins none of them when it goes on', async () => {
  await db.pool('postgres').query(
    `create table public.frozen_run (job_id uuid, began_at timestamptz);
     grant insert, select on public.frozen_run to dot_executor`,
  )
  const program = compile(join(home, 'programs'), ['frozen-worker.ts'])('frozen-worker.ts')
  const child = spawn(process.execPath, [program, JSON.stringify({ url: db.url('stagedoor_worker') })], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    for (let freeze = 0; freeze < FREEZES; freeze++) {
      const ids = await enqueue()
      await until('it holds jobs that it has not begun', async () => {
        const [row] = await db.owner<{ held: number; waiting: number }>(
          `select count(leased_by)::integer as held, (count(*) - count(leased_by))::integer as waiting from iu_core.job_queue`,
        )
        // It may be done with all of them before this process had its turn.
        if (row!.held <= 20 && row!.waiting === 0) ids.push(...(await enqueue()))
        return row!.held > 20
      })
      child.kill('SIGSTOP')
      const other = await jobs.start({ frozen: async () => {} }, { leaseMs: 1000 })
      await jobs.reached('completed', ids)
      await other.stop()
      child.kill('SIGCONT')
      await until('it has registered again', async () => {
        const rows = await db.owner('select from iu_core.job_worker where leased_until > clock_timestamp()')
        return rows.length === 1
      })
    }
    const { rows: late } = await db
      .pool('postgres')
      .query(
        `select r.job_id from public.frozen_run r join iu_core.job_history h using (job_id) where r.began_at > h.finished_at`,
      )
    // Frozen between its look at the clock and the call it has begun one; it held more than twenty.
    expect(late.length).toBeLessThanOrEqual(FREEZES)
    const { rows: runs } = await db.pool('postgres').query('select from public.frozen_run limit 1')
    expect(runs).toHaveLength(1)
  } finally {
    const ended = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill('SIGTERM')
    await ended
  }
})
