/** `stagedoor worker` with NATS_URL and without a database. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useJobs } from '../../jobs/worker/support.ts'
import { runCli, startCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { useGateways } from '../../support/gateway.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const db = useDatabase()
const jobs = useJobs(db)
const remote = await useGateways(db)
const home = temporaryHome('remote-cli')
const file = join(home, 'jobs.mjs')
writeFileSync(
  file,
  `export default {
    hello: async (job) => ({ hello: job.source_ref }),
    sneaky: async (_job, { transaction }) => transaction(async () => {}),
    bookkeeping: { needs: ['database'], run: async () => {} },
  }`,
)

it('prints what it offers, runs jobs, leaves out what needs a database, and leaves when it is stopped', async () => {
  await remote.gateway()
  const env = { NATS_URL: remote.server.url, STAGEDOOR_HOME: home }
  const worker = startCli(['worker', '--handlers', file, '--concurrency', '3', '--metrics-port', '0'], env)
  await worker.says(/attached to gateway/, 60_000)
  const [metricsUrl] = /http:\/\/\S+\/metrics/.exec(worker.output())!
  expect(worker.output()).toMatch(/Working without a database as PG_worker, 3 calls at once/)
  expect(worker.output()).toMatch(/need a database: bookkeeping/)
  const [hello, sneaky] = await jobs.enqueue(
    { job_kind: 'hello', source_ref: 'there' },
    { job_kind: 'sneaky' },
    { job_kind: 'bookkeeping' },
  )
  expect((await jobs.reached('completed', [hello!]))[0]!.result).toEqual({ hello: 'there' })
  await until('it failed in words', async () =>
    /has no database/.test((await jobs.find(sneaky!)).last_error ?? ''),
  )
  const metrics = await (await fetch(metricsUrl)).text()
  expect(metrics).toMatch(/^stagedoor_remote_attached 1$/m)
  expect(metrics).toMatch(/^stagedoor_remote_running 0$/m)
  expect(metrics).toMatch(/^stagedoor_remote_ended_total\{what="job",name="hello",outcome="completed"\} 1$/m)
  expect(metrics).toMatch(/^stagedoor_remote_ended_total\{what="job",name="sneaky",outcome="failed"\} [1-9]/m)
  expect(metrics).toMatch(/^stagedoor_remote_call_seconds_count\{what="job",name="hello"\} 1$/m)
  expect(await worker.end('SIGTERM')).toBe(0)
})

it('says that it needs handlers', async () => {
  const { code, stderr } = await runCli(['worker'], { NATS_URL: remote.server.url, STAGEDOOR_HOME: home })
  expect([code, stderr]).toEqual([2, expect.stringContaining('needs --handlers')])
})
