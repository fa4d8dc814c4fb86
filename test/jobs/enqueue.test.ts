/** Enqueueing from plain SQL: twelve arguments, keys, modes, and what a job may not carry. */
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'
import { queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)

beforeEach(async () => {
  await db.owner('truncate iu_core.job_queue, iu_core.job_key, iu_core.job_history, iu_core.job_dead_letter')
})

it('takes twelve arguments, all but the kind with defaults', async () => {
  const [{ args, defaults }] = (await db.owner<{ args: number; defaults: number }>(
    `select pronargs as args, pronargdefaults as defaults from pg_proc where oid = 'iu_core.fn_job_enqueue'::regproc`,
  )) as [{ args: number; defaults: number }]
  expect({ args, defaults }).toEqual({ args: 12, defaults: 11 })
  await queue.one(
    `select iu_core.fn_job_enqueue('send_report', 'week-46', 'external_worker', 'src', 'dst', 'ref', '{"n": 1}', 5::smallint,
       '2030-01-01Z', '00000000-0000-7000-8000-000000000001', null, null)`,
  )
  expect(await queue.rows('select * from iu_core.job_queue')).toMatchObject([
    {
      job_kind: 'send_report',
      idempotency_key: 'week-46',
      executor: 'external_worker',
      source_ref: 'src',
      target_ref: 'dst',
      payload_ref: 'ref',
      safe_payload: { n: 1 },
      priority: 5,
      process_after: new Date('2030-01-01T00:00:00Z'),
      correlation_id: '00000000-0000-7000-8000-000000000001',
      actor: 'stagedoor_worker',
    },
  ])
})

it('is part of the user’s own transaction: rolled back, there is no job', async () => {
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  await session.query(`select iu_core.fn_job_enqueue('send_report', 'k')`)
  await session.query('rollback')
  expect(await queue.rows('select from iu_core.job_queue union all select from iu_core.job_key')).toEqual([])
})

it('may be called by a login that was given stagedoor_producer, and by nobody else', async () => {
  const superuser = await db.session('postgres')
  await superuser.query(`create role shop_app login`)
  try {
    await superuser.query('set role shop_app')
    expect(await sqlstateOf(superuser.query(`select iu_core.fn_job_enqueue('send_report')`))).toBe('42501')
    await superuser.query('reset role')
    await superuser.query('grant stagedoor_producer to shop_app')
    await superuser.query('set role shop_app')
    await superuser.query(`select iu_core.fn_job_enqueue('send_report')`)
    await superuser.query(`select iu_core.fn_job_enqueue_batch('[{"job_kind": "send_report"}]')`)
    expect(await sqlstateOf(superuser.query('select from iu_core.job_queue'))).toBe('42501')
    expect(
      await sqlstateOf(superuser.query(`select iu_core.fn_job_worker_register('PG_worker', '{a}')`)),
    ).toBe('42501')
  } finally {
    await superuser.query('reset role')
    await superuser.query('drop owned by shop_app; drop role shop_app')
  }
  expect(await queue.rows('select from iu_core.job_queue')).toHaveLength(2)
})

it.each([
  [`'Bad Kind'`, 'SD705'],
  ['null', 'SD705'],
  [`'a', ''`, 'SD705'],
  [`'a', null, 'Kestra'`, 'SD704'],
  [`'a', p_safe_payload => '{"deep": [{"Token": 1}]}'`, 'SD705'],
  [`'a', p_safe_payload => '[]'`, 'SD705'],
  [`'a', p_safe_payload => jsonb_build_object('a', repeat('x', 9000))`, 'SD705'],
  [`'a', p_causation_event_id => gen_random_uuid()`, 'SD705'],
  [`'a', p_actor => 'somebody else'`, 'SD203'],
])('refuses %s', async (args, state) => {
  expect(await sqlstateOf(queue.one(`select iu_core.fn_job_enqueue(${args})`))).toBe(state)
})

it('gives a batch its ids in the given order, duplicates the first one’s', async () => {
  const earlier = await queue.enqueue('mail', 'b')
  const ids = await queue.rows<{ id: string }>('select id from iu_core.fn_job_enqueue_batch($1) id', [
    JSON.stringify([
      { job_kind: 'mail', idempotency_key: 'c' },
      { job_kind: 'mail', idempotency_key: 'b' },
      { job_kind: 'mail' },
      { job_kind: 'mail', idempotency_key: 'c' },
    ]),
  ])
  expect(ids[1]!.id).toBe(earlier)
  expect(ids[3]!.id).toBe(ids[0]!.id)
  expect(new Set(ids.map((row) => row.id)).size).toBe(3)
  expect(await queue.rows('select from iu_core.job_queue')).toHaveLength(3)
  expect(
    await sqlstateOf(queue.one(`select iu_core.fn_job_enqueue_batch('[{"job_kind": "a", "body": 1}]')`)),
  ).toBe('SD001')
})

it('lets a key outlive its job', async () => {
  const id = await queue.enqueue('mail', 'once')
  const worker = await queue.register(['mail'])
  await queue.complete(...queue.leasesOf(worker, await queue.claim(worker)))
  expect(await queue.enqueue('mail', 'once')).toBe(id)
  expect(await queue.claim(worker)).toEqual([])
})

it('makes one job of two sessions with the same key: the second waits for the first', async () => {
  const [one, two] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  for (const end of ['commit', 'rollback']) {
    const sql = `select iu_core.fn_job_enqueue('mail', 'race-${end}') id`
    await one.query('begin')
    const first = (await one.query(sql)).rows[0].id
    const second = two.query(sql)
    await untilWaiting(db, two)
    await one.query(end)
    const { id } = (await second).rows[0]
    if (end === 'commit') expect(id).toBe(first)
    else expect(id).not.toBe(first)
  }
  expect(await queue.rows('select from iu_core.job_queue')).toHaveLength(2)
})

it('takes batches whose keys come in opposite orders from many sessions without a deadlock', async () => {
  const keys = Array.from({ length: 300 }, (_, index) => ({ job_kind: 'mail', idempotency_key: `k${index}` }))
  await Promise.all(
    [keys, keys.toReversed(), keys, keys.toReversed()].map((batch) =>
      queue.rows('select iu_core.fn_job_enqueue_batch($1)', [JSON.stringify(batch)]),
    ),
  )
  expect(await queue.rows('select from iu_core.job_queue')).toHaveLength(300)
})

describe('a kind whose keys count among the waiting ones', () => {
  it('replaces the job that waits, and never one that runs', async () => {
    await queue.one(`select iu_core.fn_job_kind_set('index', '{"key_mode": "replace"}')::text`)
    const put = (ref: string): Promise<string> =>
      queue.one(`select iu_core.fn_job_enqueue('index', 'doc', p_payload_ref => $1)`, [ref])
    const first = await put('v1')
    expect(await put('v2')).toBe(first)
    const worker = await queue.register(['index'])
    const running = await queue.claim(worker)
    expect(running).toMatchObject([{ job_id: first, payload_ref: 'v2' }])
    const after = await put('v3')
    expect(after).not.toBe(first)
    expect(await put('v4')).toBe(after)
    await queue.complete(...queue.leasesOf(worker, running))
    expect(await queue.claim(worker)).toMatchObject([{ job_id: after, payload_ref: 'v4' }])
  })

  it('puts a debounced job off with every enqueue, but never beyond the most', async () => {
    await queue.one(
      `select iu_core.fn_job_kind_set('alert', '{"key_mode": "debounce", "debounce": "1 hour", "max_debounce": "90 minutes"}')::text`,
    )
    const id = await queue.enqueue('alert', 'client')
    const due = (): Promise<number> =>
      queue.one('select extract(epoch from process_after - enqueued_at)::float8 / 60 from iu_core.job_queue')
    expect(await due()).toBeCloseTo(60, 0)
    await db.owner(`update iu_core.job_queue set enqueued_at = enqueued_at - interval '20 minutes'`)
    expect(await queue.enqueue('alert', 'client')).toBe(id)
    expect(await due()).toBeCloseTo(80, 0)
    await db.owner(`update iu_core.job_queue set enqueued_at = enqueued_at - interval '20 minutes'`)
    await queue.enqueue('alert', 'client')
    expect(await due()).toBeCloseTo(90, 0)
    expect(await queue.rows('select from iu_core.job_queue')).toHaveLength(1)
  })
})

describe('a job that waits for its next attempt and gets new content', () => {
  const put = (kind: string, more = ''): Promise<string> =>
    queue.one(`select iu_core.fn_job_enqueue('${kind}', 'doc'${more})`)
  const row = async () =>
    (
      await queue.rows<Record<string, unknown>>(
        `select executor, attempts, last_error, process_after > now() + interval '30 minutes' as later from iu_core.job_queue`,
      )
    )[0]

  it.each(['replace', 'debounce'])('by %s has all its attempts, and comes no earlier', async (mode) => {
    const kind = `again_${mode}`
    await queue.one('select iu_core.fn_job_kind_set($1, $2)::text', [
      kind,
      JSON.stringify({ key_mode: mode, backoff: '1 hour', max_backoff: '1 hour', debounce: '1 second' }),
    ])
    const id = await put(kind)
    const worker = await queue.register([kind])
    const running = await queue.claim(worker, 1, new Date(Date.now() + 60_000))
    await queue.fail(queue.leasesOf(worker, running)[0]!)
    expect(await row()).toMatchObject({ attempts: 1, last_error: 'it broke', later: true })
    // The second time, nothing of the failure is left to see.
    for (let n = 0; n < 2; n++) {
      expect(await put(kind, `, 'external_worker'`)).toBe(id)
      expect(await row()).toEqual({
        executor: 'external_worker',
        attempts: 0,
        last_error: null,
        later: true,
      })
    }
  })
})

it('is the workspace’s whose event it follows from, unless it names another', async () => {
  const [ours, theirs] = [await createWorkspace(db, 'ours'), await createWorkspace(db, 'theirs')]
  const cause = await queue.one<string>(
    `select iu_core.fn_event_emit('staging', 'record_created', p_workspace_id => $1)`,
    [ours],
  )
  const workspaceOf = (id: string) =>
    queue.one('select workspace_id from iu_core.job_queue where job_id = $1', [id])
  const named = 'select iu_core.fn_job_enqueue($1, p_causation_event_id => $2)'
  expect(await workspaceOf(await queue.one(named, ['named', cause]))).toBe(ours)
  const [plain, other] = await queue.rows<{ id: string }>(
    'select id from iu_core.fn_job_enqueue_batch($1) id',
    [
      JSON.stringify([
        { job_kind: 'many', causation_event_id: cause },
        { job_kind: 'many', causation_event_id: cause, workspace_id: theirs },
      ]),
    ],
  )
  expect([await workspaceOf(plain!.id), await workspaceOf(other!.id)]).toEqual([ours, theirs])
  const session = await db.session('stagedoor_worker')
  await session.query(`select set_config('stagedoor.cause', $1, false)`, [cause])
  const within = await session.query(`select iu_core.fn_job_enqueue('within') as id
    union all select iu_core.fn_job_enqueue_batch('[{"job_kind": "within"}]')`)
  for (const { id } of within.rows) expect(await workspaceOf(id)).toBe(ours)
})

it('belongs to no workspace where it stands for events of several', async () => {
  const [ours, theirs] = [await createWorkspace(db, 'one'), await createWorkspace(db, 'another')]
  await queue.one(`select iu_core.fn_job_kind_set('sweep', '{"key_mode": "debounce"}')::text`)
  const put = async (workspace: string) => {
    await queue.rows('select iu_core.fn_job_enqueue_batch($1)', [
      JSON.stringify([{ job_kind: 'sweep', idempotency_key: 'all', workspace_id: workspace }]),
    ])
    return queue.one('select workspace_id from iu_core.job_queue')
  }
  expect(await put(ours)).toBe(ours)
  expect(await put(ours)).toBe(ours)
  expect(await put(theirs)).toBeNull()
  expect(await put(theirs)).toBeNull()
})

it('follows from the event that the running job came from', async () => {
  const root = await queue.one<string>(`select iu_core.fn_event_emit('system', 'issue_resolved')`)
  const session = await db.session('stagedoor_worker')
  await session.query('begin')
  await session.query(`select set_config('stagedoor.cause', $1, true)`, [root])
  await session.query(`select iu_core.fn_job_enqueue('follow_up')`)
  const { rows } = await session.query(`select iu_core.fn_event_emit('system', 'issue_resolved') id`)
  await session.query('commit')
  expect(
    await queue.rows('select correlation_id, causation_event_id, causation_depth from iu_core.job_queue'),
  ).toEqual([{ correlation_id: root, causation_event_id: root, causation_depth: 0 }])
  expect(
    await queue.rows(
      'select correlation_id, causation_event_id, causation_depth from iu_core.event_outbox where id = $1',
      [rows[0].id],
    ),
  ).toEqual([{ correlation_id: root, causation_event_id: root, causation_depth: 1 }])
})

it('notifies only if somebody waits, with the kind', async () => {
  const listener = await db.session('stagedoor_worker')
  const heard: string[] = []
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await listener.query('listen stagedoor')
  await queue.enqueue('mail')
  const worker = await queue.register(['mail'])
  await queue.rows('select iu_core.fn_job_worker_set_idle($1, true)', [worker])
  await queue.enqueue('other')
  await queue.enqueue('mail')
  await queue.rows('select iu_core.fn_job_worker_set_idle($1, false)', [worker])
  await queue.enqueue('mail')
  await listener.query('select 1')
  expect(heard).toEqual(['jobs mail'])
})

it('names the job where everybody that it wakes claims by id, and where nothing else decides whether it may run', async () => {
  const listener = await db.session('stagedoor_worker')
  const heard: string[] = []
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await listener.query('listen stagedoor')
  const [first, second] = [await queue.register(['named']), await queue.register(['named'])]
  await queue.rows('select iu_core.fn_job_worker_await_ids($1)', [first])
  const batch = (job: object) =>
    queue.one<string>('select iu_core.fn_job_enqueue_batch($1)', [
      JSON.stringify([{ job_kind: 'named', ...job }]),
    ])
  const [alone, inBatch] = [await queue.enqueue('named', 'key'), await batch({ source_ref: 'x' })]
  await queue.enqueue('named', 'key')
  await batch({ process_after: new Date(Date.now() + 4000) })
  await batch({ process_after: new Date(Date.now() + 60_000) })
  for (const settings of [
    { concurrency: 2 },
    { concurrency: null, key_mode: 'replace' },
    { key_mode: 'keep' },
  ]) {
    await queue.rows('select iu_core.fn_job_kind_set($1, $2)', ['named', JSON.stringify(settings)])
    if (settings.key_mode !== 'keep') await batch({})
  }
  await queue.rows(`select iu_core.fn_job_pause('named')`)
  await batch({})
  await queue.rows(`select iu_core.fn_job_resume('named')`)
  await queue.rows('select iu_core.fn_job_worker_set_idle($1, true)', [second])
  await batch({})
  await listener.query('select 1')
  const kind = 'jobs named'
  expect(heard).toEqual([`${kind} ${alone}`, `${kind} ${inBatch}`, kind, kind, kind, kind, kind, kind])
})

it('one job of a batch is what one of several is, and refused for the same reasons', async () => {
  const cause = await queue.one<string>(`select iu_core.fn_event_emit('system', 'issue_resolved')`)
  const job = {
    ...{
      job_kind: 'alike',
      executor: 'DOT',
      source_ref: 's',
      target_ref: 't',
      payload_ref: 'p',
      priority: 7,
    },
    ...{ safe_payload: { n: 1 }, process_after: '2030-01-01T00:00:00Z', causation_event_id: cause },
  }
  const put = (...jobs: object[]) =>
    queue.rows('select iu_core.fn_job_enqueue_batch($1)', [JSON.stringify(jobs)])
  await put(job)
  await put(job, { ...job, priority: 6 })
  const rows = await queue.rows<Record<string, unknown>>(
    `select * from iu_core.job_queue where job_kind = 'alike' and priority = 7`,
  )
  const [one, other] = rows.map(({ job_id, enqueued_at, ...row }) => row)
  expect(one).toEqual(other)
  expect(one).toMatchObject({
    source_ref: 's',
    causation_event_id: cause,
    correlation_id: cause,
    priority: 7,
  })
  for (const bad of [
    { ...job, colour: 'red' },
    { ...job, executor: 'nobody' },
    { ...job, job_kind: 'No' },
    { ...job, job_kind: null },
    { ...job, idempotency_key: '' },
    { ...job, safe_payload: { deep: [{ Token: 1 }] } },
    { ...job, safe_payload: [1] },
    { ...job, safe_payload: null },
    { ...job, safe_payload: { long: 'x'.repeat(9000) } },
    { ...job, causation_event_id: '00000000-0000-7000-8000-000000000000' },
    { ...job, priority: 'high' },
    7,
  ]) {
    const alone = await sqlstateOf(put(bad as object))
    expect([bad, alone]).toEqual([bad, await sqlstateOf(put(job, bad as object))])
    expect(alone).toMatch(/^(SD|22)/)
  }
})
