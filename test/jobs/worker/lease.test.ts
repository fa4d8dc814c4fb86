/** What a worker does when its lease, its connection or its claim goes wrong. */
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { JobAborted } from '../../../src/jobs/handlers.ts'
import { claimJobs, WorkerLease } from '../../../src/jobs/lease.ts'
import { setKind } from '../../../src/jobs/queue.ts'
import type { StagedoorError } from '../../../src/kernel/errors.ts'
import { createPool, DedicatedConnection } from '../../../src/kernel/postgres/connection.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { gate, useJobs } from './support.ts'

const db = useDatabase()
const jobs = useJobs(db)

async function endLease(worker: string): Promise<void> {
  await db
    .pool('postgres')
    .query(
      `update iu_core.job_worker set leased_until = clock_timestamp() - interval '1 second' where worker_id = $1`,
      [worker],
    )
}

describe('a worker whose lease has passed', () => {
  it('aborts its handlers, drops what they return, and goes on under a new id', async () => {
    const begun = gate()
    const results: string[] = []
    const reasons: unknown[] = []
    const outcomes: string[] = []
    const worker = await jobs.start(
      {
        interrupted: async (job, { signal }) => {
          if (job.lease_epoch === 1) {
            begun.open()
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            reasons.push(signal.reason)
          }
          results.push(`epoch ${job.lease_epoch}`)
          return { epoch: job.lease_epoch }
        },
      },
      { hooks: { onCallEnd: (_job, outcome) => outcomes.push(outcome) } },
    )
    const first = worker.id
    const [id] = await jobs.enqueue({ job_kind: 'interrupted' })
    await begun.opened
    await endLease(first)
    const [job] = await jobs.reached('completed', [id!])
    expect(job).toMatchObject({ result: { epoch: 2 }, crashes: 1, attempts: 1 })
    expect(reasons).toEqual([expect.any(JobAborted)])
    expect((reasons[0] as JobAborted).why).toBe('lease_lost')
    expect(worker.id).not.toBe(first)
    expect(results.sort()).toEqual(['epoch 1', 'epoch 2'])
    expect(outcomes.sort()).toEqual(['completed', 'dropped'])
  })

  it('cannot complete in a transaction of the handler either: all of it is rolled back', async () => {
    await db.pool('postgres').query('create table public.effect (job_id uuid, epoch integer)')
    await db.pool('postgres').query('grant insert, select on public.effect to dot_executor')
    const begun = gate()
    const go = gate()
    const worker = await jobs.start(
      {
        transactional: (job, context) =>
          context.transaction(async (client) => {
            await client.query('insert into public.effect values ($1, $2)', [job.job_id, job.lease_epoch])
            if (job.lease_epoch === 1) {
              begun.open()
              await go.opened
            }
            await context.complete(client, { ok: true })
          }),
      },
      { leaseMs: 3000 },
    )
    const [id] = await jobs.enqueue({ job_kind: 'transactional' })
    await begun.opened
    await endLease(worker.id)
    await until('the lease is lost', async () => (await jobs.find(id!)).crashes === 1)
    go.open()
    await jobs.reached('completed', [id!])
    const { rows } = await db
      .pool('postgres')
      .query('select epoch from public.effect where job_id = $1', [id])
    expect(rows).toEqual([{ epoch: 2 }])
  })

  it('for lack of an answer from the database ends what it runs before others may begin it', async () => {
    let lateMs = 1
    // A timer on a busy machine may fire late by more than the lease allows for: then once more.
    for (let attempt = 0; attempt < 5 && lateMs > 0; attempt++)
      lateMs = await abortedLateBy(`cut_off_${attempt}`)
    expect(lateMs).toBeLessThanOrEqual(0)
  })

  /** How long after the end of its lease a worker whose heartbeats wait tells its handler; negative: before. */
  async function abortedLateBy(job_kind: string): Promise<number> {
    const begun = gate()
    const lost = gate()
    let abortedAt = 0
    const worker = await jobs.start(
      {
        [job_kind]: (_job, { signal }) =>
          new Promise((_resolve, reject) => {
            begun.open()
            signal.addEventListener('abort', () => {
              abortedAt = Date.now()
              lost.open()
              reject(signal.reason)
            })
          }),
      },
      { pool: jobs.pool('cut off'), leaseMs: 2000, shutdownMs: 0 },
    )
    const [id] = await jobs.enqueue({ job_kind })
    await begun.opened
    // The session that holds the worker's row keeps every heartbeat waiting.
    const other = await db.session('postgres')
    await other.query('begin')
    await other.query('select from iu_core.job_worker where worker_id = $1 for update', [worker.id])
    const [{ leased_until }] = (
      await other.query('select leased_until from iu_core.job_worker where worker_id = $1', [worker.id])
    ).rows as [{ leased_until: Date }]
    await lost.opened
    await db.pool('stagedoor_worker').query('select iu_core.fn_job_pause($1)', [job_kind])
    await other.query('rollback')
    await until('it is in the queue again', async () => (await jobs.find(id!)).crashes >= 1)
    await worker.stop()
    return abortedAt - leased_until.getTime()
  }
})

it('a worker on a machine that slept past its lease begins nothing that it had claimed ahead', async () => {
  const begun: string[] = []
  const woke = gate()
  await jobs.enqueue(...Array.from({ length: 5 }, () => ({ job_kind: 'slept' })))
  const realNow = Date.now
  try {
    await jobs.start(
      {
        slept: async (job) => {
          begun.push(`${job.job_id} ${job.lease_epoch}`)
          // Between the first and the second of them the machine sleeps for a minute.
          if (begun.length === 1) Date.now = () => realNow() + 60_000
        },
      },
      { concurrency: 1, leaseMs: 60_000, hooks: { onLeaseLost: () => woke.open() } },
    )
    await woke.opened
    expect(begun).toHaveLength(1)
  } finally {
    Date.now = realNow
  }
})

it('handlers that take every connection of the pool cost the worker neither its lease nor a completion', async () => {
  const pool = createPool(db.url('stagedoor_worker'), {
    role: 'dot_executor',
    max: 14,
    purpose: 'greedy',
    setting: 'STAGEDOOR_WORKER_POOL',
  })
  pool.options.connectionTimeoutMillis = 3000
  const errors: string[] = []
  const lost: string[] = []
  try {
    await setKind(db.pool('stagedoor_worker'), 'greedy', { max_attempts: 1000, backoff: '100 milliseconds' })
    const ids = await jobs.enqueue(...Array.from({ length: 12 }, () => ({ job_kind: 'greedy' })))
    const worker = await jobs.start(
      {
        greedy: async (_job, context) => {
          try {
            await context.transaction((one) =>
              context.transaction((two) =>
                context.transaction(async (three) => {
                  for (const client of [one, two, three]) await client.query('select 1')
                }),
              ),
            )
          } catch (error) {
            errors.push(`${(error as StagedoorError).message} ${(error as StagedoorError).hint}`)
            throw error
          }
        },
      },
      // A heartbeat that waited for a connection would fail 1.3 + 3 s after the last one: the lease would have passed.
      { pool, concurrency: 10, leaseMs: 4000, hooks: { onLeaseLost: (reason) => lost.push(reason) } },
    )
    const done = await jobs.reached('completed', ids)
    await worker.stop()
    expect(lost).toEqual([])
    expect(done.map(({ crashes }) => crashes)).toEqual(ids.map(() => 0))
    expect(errors[0]).toMatch(/All 14 connections of the pool "greedy" .*STAGEDOOR_WORKER_POOL/)
  } finally {
    await pool.end()
  }
})

describe('a claim whose answer was lost', () => {
  it('leaves no job with a worker that does not know of it', async () => {
    const pool = jobs.pool('unanswered')
    const worker = await jobs.start({ unanswered: async () => {} }, { pool, pollMs: 50 })
    const [id] = await jobs.enqueue({
      job_kind: 'unanswered',
      process_after: new Date(Date.now() + 3_600_000),
    })
    // As if the worker had claimed it, and the answer had not arrived.
    await claimJobs(db.pool('stagedoor_worker'), worker.id, 1, { now: new Date(Date.now() + 7_200_000) })
    expect((await jobs.find(id!)).status).toBe('running')
    const other = await db.session('postgres')
    await other.query('begin')
    await other.query('select from iu_core.job_worker where worker_id = $1 for update', [worker.id])
    await until('its next claim was cut off', async () => {
      // On another session: within one transaction pg_stat_activity stays as it was at the first look.
      const { rowCount } = await db.pool('postgres').query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name like '%unanswered' and query like '%fn_job_claim%' and wait_event_type = 'Lock'`,
      )
      return rowCount === 1
    })
    await other.query('commit')
    await until('it was given back', async () => (await jobs.find(id!)).status === 'waiting')
    expect(await jobs.find(id!)).toMatchObject({ attempts: 0, crashes: 0 })
  })
})

describe('a worker that stops', () => {
  it('lets what runs end, gives back what has not begun, and leaves', async () => {
    const begun = gate()
    const go = gate()
    await setKind(db.pool('stagedoor_worker'), 'leaving', {})
    const ids = await jobs.enqueue(...Array.from({ length: 5 }, () => ({ job_kind: 'leaving' })))
    const worker = await jobs.start(
      {
        leaving: async () => {
          begun.open()
          await go.opened
        },
      },
      { concurrency: 1 },
    )
    await begun.opened
    const stopped = worker.stop()
    await until('the others are free', async () => {
      const rows = await db.owner(
        `select from iu_core.job_queue where job_kind = 'leaving' and leased_by is null and attempts = 0`,
      )
      return rows.length === 4
    })
    go.open()
    await stopped
    const found = await Promise.all(ids.map((id) => jobs.find(id)))
    expect(found.map(({ status }) => status).sort()).toEqual([
      'completed',
      'waiting',
      'waiting',
      'waiting',
      'waiting',
    ])
    expect(await db.owner('select from iu_core.job_worker where worker_id = $1', [worker.id])).toEqual([])
  })

  it('aborts a handler that takes too long, and its job is as it was before', async () => {
    const begun = gate()
    const worker = await jobs.start(
      {
        lingering: (_job, { signal }) =>
          new Promise((_resolve, reject) => {
            begun.open()
            signal.addEventListener('abort', () => reject(signal.reason))
          }),
      },
      { shutdownMs: 20 },
    )
    const [id] = await jobs.enqueue({ job_kind: 'lingering' })
    await begun.opened
    await worker.stop()
    expect(await jobs.find(id!)).toMatchObject({
      status: 'waiting',
      attempts: 0,
      crashes: 0,
      last_error: null,
    })
  })
})

it('a worker that is idle again is recorded as idle, however late its earlier report of being busy arrives', async () => {
  const pool = db.pool('stagedoor_worker')
  const held = gate()
  const arrived = gate()
  const late = new Proxy(pool, {
    get: (target, name) =>
      name === 'query'
        ? async (sql: string, values: unknown[]) => {
            if (!sql.includes('fn_job_worker_set_idle') || values[1] === true)
              return target.query(sql, values)
            await held.opened
            const answer = await target.query(sql, values)
            arrived.open()
            return answer
          }
        : Reflect.get(target, name),
  })
  const connection = new DedicatedConnection(pool, 30_000)
  const lease = await WorkerLease.take({
    pool: late,
    reserved: pool,
    connection,
    terms: { executor: 'PG_worker', kinds: ['resting'], leaseMs: 60_000 },
    log: pino({ level: 'silent' }),
    hooks: {},
    onLost: () => {},
    onCancel: () => {},
    onWritten: () => {},
    onDelayed: () => {},
  })
  await lease.markIdle()
  lease.markBusy()
  const resting = lease.markIdle()
  await Promise.race([resting, pool.query('select 1')])
  held.open()
  await Promise.all([resting, arrived.opened])
  expect(await db.owner('select from iu_core.worker_idle where worker_id = $1', [lease.worker])).toHaveLength(
    1,
  )
  await lease.leave()
  await connection.release()
})
