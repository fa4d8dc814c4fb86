/**
 * A failover to a synchronous replica, under a gateway and a worker that go on: the new primary has every commit that was confirmed, so
 * nothing that was completed runs again, and only what ran at that moment may run twice.
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

const DATABASE = 'synchronous'
const JOBS = 300
const KEPT = 120
const AT_ONCE = 10

const home = temporaryHome('gateway-synchronous')
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
  await withClient(server.current.url(), async (client) => {
    // The servers of tests do not wait for their disks, which is set where they start.
    await client.query(`alter database ${DATABASE} set synchronous_commit = on`)
    await client.query(`alter system set synchronous_standby_names = '*'`)
    await client.query('select pg_reload_conf()')
    await until('the replica is synchronous', async () => {
      const { rows } = await client.query(
        `select from pg_stat_replication where sync_state = 'sync' and state = 'streaming'`,
      )
      return rows.length === 1
    })
  })
})
afterAll(() => server?.stop())

/** On the server that is the primary now. */
async function ask<Row extends object>(sql: string): Promise<Row[]> {
  return withClient(
    loginUrl(server.current.url(), 'postgres', DATABASE),
    async (client) => (await client.query<Row & { [column: string]: unknown }>(sql)).rows,
  )
}

async function completed(): Promise<string[]> {
  const rows = await ask<{ job_id: string }>(
    `select job_id from iu_core.job_history where outcome = 'completed'`,
  )
  return rows.map(({ job_id }) => job_id)
}

it('loses nothing and repeats nothing that was completed', async () => {
  const runs = new Map<string, number>()
  let allowed = KEPT
  let passed = 0
  const gateway = await remote.gateway()
  await remote.worker(
    {
      pack: async ({ job_id }, { signal }) => {
        runs.set(job_id, (runs.get(job_id) ?? 0) + 1)
        while (passed >= allowed) await delay(2, undefined, { signal })
        passed++
      },
    },
    { concurrency: AT_ONCE },
  )
  const pool = createPool(url, { role: 'dot_executor', max: 1 })
  await enqueueMany(
    pool,
    Array.from({ length: JOBS }, () => ({ job_kind: 'pack' })),
  )
  await pool.end()
  await until('some are completed', async () => (await completed()).length === KEPT)
  const before = await completed()

  await server.failOver()
  // The new primary has no standby of its own to wait for.
  await withClient(server.current.url(), async (client) => {
    await client.query('alter system reset synchronous_standby_names')
    await client.query('select pg_reload_conf()')
  })
  expect((await completed()).sort()).toEqual(before.sort())
  allowed = Number.POSITIVE_INFINITY
  await until('no job is left', async () => (await ask('select from iu_core.job_queue')).length === 0)

  const ended = await completed()
  expect([ended.length, new Set(ended).size]).toEqual([JOBS, JOBS])
  expect(before.filter((id) => runs.get(id) !== 1)).toEqual([])
  expect([...runs.values()].reduce((sum, n) => sum + n - 1, 0)).toBeLessThanOrEqual(2 * AT_ONCE)
  expect(gateway.health().filter(({ ok }) => !ok)).toEqual([])
})
