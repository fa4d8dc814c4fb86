/**
 * Worker hosts with a database connection, on one PostgreSQL and nothing else: one is cut off as by a pulled cable, another has a clock that
 * is wrong by a minute. No job is lost, none is completed twice, and what ran twice was running on the host that was cut off.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { enqueueMany } from '../../../src/jobs/queue.ts'
import { useDatabase } from '../../support/database.ts'
import { type TestHost, useHosts } from '../../support/hosts.ts'
import { cases } from '../../support/length.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'
import { readJournal } from './journal.ts'

const JOBS = cases(1500, 6000)
const AT_ONCE = 5
/** Longer than the lease of a worker. */
const CUT_MS = 8000
const HANDLERS = fileURLToPath(new URL('handlers.mjs', import.meta.url))

const db = useDatabase()
const folder = temporaryHome('hosts')
const hosts = useHosts()
const journal = join(folder, 'journal')

async function addressOf(login: Parameters<typeof db.url>[0]): Promise<string> {
  const url = new URL(db.url(login))
  const port = await hosts.forward(Number(url.port))
  url.hostname = hosts.address
  url.port = String(port)
  return url.toString()
}

async function enqueueJobs(count: number): Promise<void> {
  const pool = db.pool('stagedoor_worker')
  const jobs = Array.from({ length: count }, (_, n) => ({ job_kind: 'hosts_job', payload: { n } }))
  for (let at = 0; at < count; at += 1000) await enqueueMany(pool, jobs.slice(at, at + 1000))
}

const done = async (): Promise<number> => {
  const [row] = await db.owner<{ count: number }>(
    `select count(*)::integer as count from iu_core.job_history where job_kind = 'hosts_job' and outcome = 'completed'`,
  )
  return row!.count
}

it('a host that is cut off loses its jobs to the others; a wrong clock changes nothing', {
  tags: 'property',
}, async () => {
  const env = {
    DATABASE_URL: await addressOf('stagedoor_api'),
    DATABASE_DIRECT_URL: await addressOf(MIGRATOR),
    STAGEDOOR_WORKER_CONCURRENCY: String(AT_ONCE),
    JOURNAL: journal,
    HANDLER_MS: '60',
  }
  const start = (host: TestHost, clock?: string) =>
    host.start(
      ['worker', '--handlers', HANDLERS, '--kinds', 'hosts_job', '--no-playbooks', '--no-search'],
      { ...env, STAGEDOOR_HOME: join(folder, host.name) },
      clock === undefined ? {} : { clock },
    )
  await db.owner(
    `select iu_core.fn_job_kind_set('hosts_job', '{"max_attempts": 100, "max_crashes": 100, "backoff": "50 milliseconds", "max_backoff": "500 milliseconds"}')`,
  )
  const cutHost = hosts.add('cut')
  const processes = [start(cutHost), start(hosts.add('early'), '+60s'), start(hosts.add('late'), '-60s')]
  for (const { says } of processes) await says(/Working/, 30_000)
  await enqueueJobs(JOBS)
  await until('every host works', () => Object.keys(readJournal(journal).byHost).length === 3)
  cutHost.cut()
  // A length of time, because it is what is tested: longer than the lease.
  await delay(CUT_MS)
  cutHost.heal()
  await until('all jobs have ended', async () => (await done()) === JOBS)

  const { runs, repeated, byHost } = readJournal(journal)
  expect(runs.size).toBe(JOBS)
  expect(await db.owner(`select from iu_core.job_queue where job_kind = 'hosts_job'`)).toEqual([])
  const twice = await db.owner(
    `select job_id from iu_core.job_history where job_kind = 'hosts_job' and outcome = 'completed' group by job_id having count(*) > 1`,
  )
  expect(twice).toEqual([])
  // Those that ran there when it was cut off, and those that had ended there and could not be reported.
  expect(repeated).toBeLessThanOrEqual(4 * AT_ONCE)
  expect(Object.keys(byHost).sort()).toEqual(['cut', 'early', 'late'])
  for (const { end } of processes) await end('SIGTERM')
})
