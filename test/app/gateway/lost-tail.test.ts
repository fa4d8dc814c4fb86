/**
 * A failover to a replica that lacks the last commits, under a gateway and a worker that go on: what the gateway was told is committed may not
 * be any more. Its calls are void, and everything that the new primary has to run is run.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { enqueueMany } from '../../../src/jobs/queue.ts'
import { createPool, withClient } from '../../../src/kernel/postgres/connection.ts'
import type { TestDatabase } from '../../support/database.ts'
import { type ReplicatedServer, startReplicatedServer } from '../../support/failover.ts'
import { useGateways } from '../../support/gateway.ts'
import { loginUrl, MIGRATOR, prepareTemplate, TEMPLATE } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const DATABASE = 'lost_tail'
const JOBS = 300
const KEPT = 60
const LOST = 80
const AT_ONCE = 10

const home = temporaryHome('gateway-lost-tail')
let server: ReplicatedServer
let url: string
const remote = await useGateways({ url: () => url } as unknown as TestDatabase)

beforeAll(async () => {
  server = await startReplicatedServer(home, async (superuserUrl) => {
    await prepareTemplate(superuserUrl)
    await withClient(superuserUrl, (client) =>
      client.query(`create database ${DATABASE} template ${TEMPLATE} owner ${MIGRATOR}`),
    )
  })
  url = server.url(loginUrl(server.current.url(), 'stagedoor_worker', DATABASE))
})
afterAll(() => server?.stop())

/** On the server that is the primary now. */
async function ask<Row extends object>(sql: string): Promise<Row[]> {
  return withClient(
    loginUrl(server.current.url(), 'postgres', DATABASE),
    async (client) => (await client.query<Row & { [column: string]: unknown }>(sql)).rows,
  )
}

const completed = async (): Promise<number> =>
  (
    await ask<{ n: number }>(
      `select count(*)::integer as n from iu_core.job_history where outcome = 'completed'`,
    )
  )[0]!.n

async function enqueue(count: number): Promise<void> {
  const pool = createPool(url, { role: 'dot_executor', max: 1 })
  await enqueueMany(
    pool,
    Array.from({ length: count }, () => ({ job_kind: 'pack' })),
  )
  await pool.end()
}

it('goes on by itself from what the new primary has', async () => {
  const runs = new Map<string, number>()
  let allowed = KEPT
  let passed = 0
  const gateway = await remote.gateway()
  const worker = await remote.worker(
    {
      pack: async ({ job_id }, { signal }) => {
        runs.set(job_id, (runs.get(job_id) ?? 0) + 1)
        while (passed >= allowed) await delay(2, undefined, { signal })
        passed++
      },
    },
    { concurrency: AT_ONCE },
  )
  await enqueue(JOBS)
  await until('some are completed', async () => (await completed()) === KEPT)
  await server.holdBackWal()
  allowed += LOST
  await until('others are completed, and will be lost', async () => (await completed()) === KEPT + LOST)

  await server.failOver()
  // Handlers wait, so this is what the replica had. The server does not wait for its disk: some commits of before are lost, too.
  const kept = await completed()
  const lost = KEPT + LOST - kept
  expect(lost).toBeGreaterThanOrEqual(LOST)
  allowed = Number.POSITIVE_INFINITY
  await until('no job is left', async () => (await ask('select from iu_core.job_queue')).length === 0)

  // Every job ended once in the history that counts.
  expect(
    await ask(
      `select count(*)::integer as ends, count(distinct job_id)::integer as jobs from iu_core.job_history where outcome = 'completed'`,
    ),
  ).toEqual([{ ends: JOBS, jobs: JOBS }])
  expect(runs.size).toBe(JOBS)
  // What the replica lacked, and what was running.
  const repeated = [...runs.values()].reduce((sum, n) => sum + n - 1, 0)
  expect(repeated).toBeGreaterThanOrEqual(lost)
  expect(repeated).toBeLessThanOrEqual(lost + 2 * AT_ONCE)

  await enqueue(1)
  await until('a job of afterwards is completed', async () => (await completed()) === JOBS + 1)
  expect(gateway.health().filter(({ ok }) => !ok)).toEqual([])
  expect(worker.gateway).toBe(gateway.id)
})
