/** Who may touch which jobs: executors their own, members their workspace's, everybody else none. */
import { beforeAll, expect, it } from 'vitest'
import type { Caller } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)
const executor = (name: string, sub: string): Caller => ({
  role: 'stagedoor_executor',
  claims: { sub, role: 'stagedoor_executor', executor: name },
})
const python = executor('external_worker', 'python-1')
const codex = executor('Codex', 'codex-1')

async function as<R = Record<string, unknown>>(
  caller: Caller,
  sql: string,
  values: unknown[] = [],
): Promise<R[]> {
  return db.as(caller, async (client) => (await client.query(sql, values)).rows as R[])
}

let worker: string

beforeAll(async () => {
  const rows = await as<{ id: string }>(
    python,
    `select iu_core.fn_job_worker_register('external_worker', '{mail}') id`,
  )
  worker = rows[0]!.id
})

it('registers a worker for the executor of its token and for no other', async () => {
  for (const [caller, name] of [
    [python, 'Codex'],
    [python, 'PG_worker'],
    [codex, 'external_worker'],
    [{ role: 'stagedoor_executor', claims: { sub: 'x', role: 'stagedoor_executor' } }, 'Codex'],
  ] as const) {
    expect(await sqlstateOf(as(caller, `select iu_core.fn_job_worker_register($1, '{mail}')`, [name]))).toBe(
      'SD704',
    )
  }
})

it('leases only its own executor’s jobs', async () => {
  for (const name of ['external_worker', 'Codex', 'PG_worker']) {
    await queue.rows(`select iu_core.fn_job_enqueue('mail', p_executor => $1)`, [name])
  }
  const claimed = await as<{ job_id: string; executor: string; lease_epoch: number }>(
    python,
    'select * from iu_core.fn_job_claim($1, 10)',
    [worker],
  )
  expect(claimed.map((job) => job.executor)).toEqual(['external_worker'])
  const [job] = claimed
  const args = [worker, job!.job_id, job!.lease_epoch]
  const COMPLETE = 'select iu_core.fn_job_complete($1, array[$2::uuid], array[$3::int])'
  // Neither another executor nor another subject of the same executor acts for this worker.
  for (const stranger of [codex, executor('external_worker', 'python-2')]) {
    expect(await sqlstateOf(as(stranger, COMPLETE, args))).toMatch(/^SD70[34]$/)
    expect(await sqlstateOf(as(stranger, 'select iu_core.fn_job_heartbeat($1)', [worker]))).toMatch(
      /^SD70[34]$/,
    )
    expect(await sqlstateOf(as(stranger, 'select iu_core.fn_job_claim($1)', [worker]))).toMatch(/^SD70[34]$/)
    expect(await sqlstateOf(as(stranger, 'select iu_core.fn_job_worker_leave($1)', [worker]))).toMatch(
      /^SD70[34]$/,
    )
  }
  expect(await as(python, COMPLETE, args)).toHaveLength(1)
})

it('shows an executor no table of jobs, and lets it enqueue, cancel, replay or pause nothing', async () => {
  for (const sql of [
    'select from iu_core.job_queue',
    'select from iu_core.job_history',
    'select from iu_core.job_worker',
    `select iu_core.fn_job_enqueue('mail')`,
    'select iu_core.fn_job_cancel(gen_random_uuid())',
    `select iu_core.fn_job_replay(p_kind => 'mail')`,
    `select iu_core.fn_job_pause('mail')`,
    'select iu_core.fn_job_reap()',
  ]) {
    expect(await sqlstateOf(as(python, sql)), sql).toBe('42501')
  }
})

it('does not believe claims that another login sets', async () => {
  const session = await db.session('postgres')
  await session.query(`select set_config('request.jwt.claims', $1, false)`, [JSON.stringify(python.claims)])
  await session.query('set role stagedoor_executor')
  expect(
    await sqlstateOf(session.query(`select iu_core.fn_job_worker_register('external_worker', '{mail}')`)),
  ).toBe('SD704')
})

const NOBODYS = '00000000-0000-7000-8000-000000000000'

it('lets a member cancel and replay in the own workspace only, and a viewer or agent nowhere', async () => {
  const ours = await createWorkspace(db, 'ours')
  const theirs = await createWorkspace(db, 'theirs')
  const [operator, viewer, agent, stranger] = [
    await createMember(db, ours, 'operator'),
    await createMember(db, ours, 'viewer'),
    await createMember(db, ours, 'agent'),
    await createMember(db, theirs, 'admin'),
  ]
  const [{ id }] = (await queue.rows<{ id: string }>('select id from iu_core.fn_job_enqueue_batch($1) id', [
    JSON.stringify([{ job_kind: 'mail', workspace_id: ours }]),
  ])) as [{ id: string }]
  const CANCEL = 'select iu_core.fn_job_cancel($1) as outcome'
  // As if it were not there: an error tells nobody what others have.
  for (const job of [id, NOBODYS]) expect(await sqlstateOf(as(stranger, CANCEL, [job]))).toBe('SD701')
  expect(await sqlstateOf(as(viewer, CANCEL, [id]))).toBe('SD202')
  expect(await sqlstateOf(as(agent, CANCEL, [id]))).toBe('42501')
  expect(await as(operator, CANCEL, [id])).toEqual([{ outcome: 'cancelled' }])
  const REPLAY = `select iu_core.fn_job_replay(p_kind => 'mail', p_workspace_id => $1)`
  expect(await as(operator, REPLAY, [ours])).toEqual([])
  expect(await sqlstateOf(as(operator, REPLAY, [theirs]))).toBe('SD201')
  expect(await sqlstateOf(as(operator, REPLAY, [null]))).toBe('SD201')
  const REPLAY_ONE = 'select iu_core.fn_job_replay(p_jobs => array[$1::uuid], p_workspace_id => $2)'
  expect(await sqlstateOf(as(operator, REPLAY_ONE, [id, ours]))).toBe('SD702')
  for (const job of [id, NOBODYS]) {
    expect(await sqlstateOf(as(stranger, REPLAY_ONE, [job, theirs]))).toBe('SD701')
  }
})
