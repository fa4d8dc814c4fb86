import { expect, it } from 'vitest'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { beginWorker, endLease, enqueue, executorToken, stateOf } from './executors-api.ts'

const db = useDatabase()
const api = useApi(db)
const executor = 'external_worker'

it('leases by priority, and what it completes is in the history with its result', async () => {
  const token = await executorToken(executor)
  const low = await enqueue(db, 'send_report', executor, { payload: { report_id: 'r1' } })
  const high = await enqueue(db, 'send_report', executor, { priority: 5 })
  const worker = await beginWorker(api, token, { executor, kinds: ['send_report'] })
  expect(worker.begun.status).toBe(201)

  const jobs = await worker.lease({ limit: 10 })
  expect(jobs.map(({ job_id }) => job_id)).toEqual([high, low])
  expect(jobs[1]).toMatchObject({ attempts: 1, lease_epoch: 1, payload: { report_id: 'r1' } })

  const told = jobs.map(({ job_id, lease_epoch }) => ({
    job_id,
    epoch: lease_epoch,
    result: { sent_ref: job_id },
  }))
  const done = await worker.say('complete', { jobs: told })
  expect(done).toMatchObject({ status: 200, body: { completed: expect.arrayContaining([low, high]) } })
  expect([await stateOf(db, low), await stateOf(db, high)]).toEqual(['completed', 'completed'])
  const [kept] = await db.owner('select result from iu_core.job_history where job_id = $1', [low])
  expect(kept).toEqual({ result: { sent_ref: low } })
  // Said again because the answer got lost: it counts once, and is told apart from what is not its own.
  const again = await worker.say('complete', { jobs: told })
  expect(again).toMatchObject({
    status: 200,
    body: { completed: [], already_completed: told.map(({ job_id }) => job_id), not_yours: [] },
  })
  const other = await beginWorker(api, token, { executor, kinds: ['send_report'] })
  expect(await other.say('complete', { jobs: told })).toMatchObject({
    status: 200,
    body: { completed: [], already_completed: [], not_yours: told.map(({ job_id }) => job_id) },
  })
})

it('a result that cannot be kept is a 4xx that says why, never a 500', async () => {
  const id = await enqueue(db, 'returns')
  const token = await executorToken(executor)
  const worker = await beginWorker(api, token, { executor, kinds: ['returns'] })
  const [job] = await worker.lease()
  // As text: JSON.stringify has not stack enough for 5,000 levels either.
  const completeText = async (result: string) => {
    const reply = await api.app.inject({
      method: 'POST',
      url: `/api/v1/workers/${worker.worker}/complete`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      payload: `{"jobs":[{"job_id":"${id}","epoch":${job!.lease_epoch},"result":${result}}]}`,
    })
    return { status: reply.statusCode, body: reply.json() }
  }
  const complete = (result: unknown) => completeText(JSON.stringify(result))
  const nested = (depth: number) => `${'{"in":'.repeat(depth)}{}${'}'.repeat(depth)}`
  // Refused while the body is read.
  for (const deep of [nested(110), nested(5000), `{"list":${'['.repeat(50_000)}${']'.repeat(50_000)}}`])
    expect(await completeText(deep)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('100 deep') },
    })
  expect(await complete({ text: 'x'.repeat(10_000) })).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining('8192') },
  })
  expect(await complete({ text: 'x'.repeat(2_000_000) })).toMatchObject({
    status: 413,
    body: { code: 'body_too_large' },
  })
  expect(await complete([1])).toMatchObject({ status: 422 })
  for (const text of ['\\u0000', '\\ud800'])
    expect((await completeText(`{"text":"${text}"}`)).status, text).toBe(400)
  expect(await stateOf(db, id)).toBe('running')
  expect(await completeText(nested(50))).toMatchObject({ status: 200, body: { completed: [id] } })
})

it('a crash is charged to what had begun, and such a job is leased alone, to a worker without other jobs', async () => {
  const token = await executorToken(executor)
  const ids = [await enqueue(db, 'crashing'), await enqueue(db, 'crashing'), await enqueue(db, 'crashing')]
  await db
    .pool('stagedoor_worker')
    .query(`select iu_core.fn_job_kind_set('crashing', '{"backoff": "1 millisecond"}')`)
  const dead = await beginWorker(api, token, { executor, kinds: ['crashing'] })
  const leased = await dead.lease({ limit: 3, begin: 1 })
  expect(leased).toMatchObject([{ begun: true }, { begun: false }, { begun: false }])
  const second = { job_id: leased[1]!.job_id, epoch: leased[1]!.lease_epoch }
  expect(await dead.say('begin', { jobs: [second] })).toMatchObject({
    status: 200,
    body: { begun: [second.job_id] },
  })
  await endLease(db, dead.worker)
  const rows = await db.owner<{ job_id: string; crashes: number }>(
    `select job_id, crashes from iu_core.job_queue where job_kind = 'crashing' order by crashes, job_id`,
  )
  expect(rows.map(({ crashes }) => crashes)).toEqual([0, 1, 1])
  expect(rows[0]!.job_id).toBe(leased[2]!.job_id)
  const next = await beginWorker(api, token, { executor, kinds: ['crashing'] })
  // With something in hand only the one that nobody died under; with empty hands one of the others, alone.
  expect(await next.lease({ limit: 3, held: 1 })).toMatchObject([{ job_id: rows[0]!.job_id }])
  expect(await next.lease({ limit: 3 })).toMatchObject([{ crashes: 1 }])
  expect(await next.lease({ limit: 3 })).toEqual([])
  expect(ids).toHaveLength(3)
})

it('an error that PostgreSQL cannot hold ends the attempt all the same', async () => {
  const token = await executorToken(executor)
  for (const error of ['a\u0000b', 'a\ud800b']) {
    const id = await enqueue(db, 'unspeakable')
    const worker = await beginWorker(api, token, { executor, kinds: ['unspeakable'] })
    const [job] = await worker.lease()
    const said = await worker.say('fail', {
      jobs: [{ job_id: id, epoch: job!.lease_epoch, error, fatal: true }],
    })
    expect(said).toMatchObject({ status: 200, body: { failed: [{ job_id: id, outcome: 'dead' }] } })
  }
})

it('a completion under another epoch does not count', async () => {
  const id = await enqueue(db, 'fenced')
  const worker = await beginWorker(api, await executorToken(executor), { executor, kinds: ['fenced'] })
  const [job] = await worker.lease()
  const wrong = await worker.say('complete', { jobs: [{ job_id: id, epoch: job!.lease_epoch + 1 }] })
  expect(wrong).toMatchObject({ status: 200, body: { completed: [], not_yours: [id] } })
  expect(await stateOf(db, id)).toBe('running')
})

it('a failed job waits, a fatal one is a dead letter, a snoozed one keeps its attempts', async () => {
  const worker = await beginWorker(api, await executorToken(executor), { executor, kinds: ['mixed'] })
  const ids = [await enqueue(db, 'mixed'), await enqueue(db, 'mixed'), await enqueue(db, 'mixed')]
  const jobs = await worker.lease({ limit: 3 })
  expect(jobs.map(({ job_id }) => job_id)).toEqual(ids)
  const [retried, dead, later] = jobs.map(({ job_id, lease_epoch }) => ({ job_id, epoch: lease_epoch }))
  const failed = await worker.say('fail', {
    jobs: [
      { ...retried, error: 'the printer is out of paper' },
      { ...dead, error: 'there is no printer', fatal: true },
    ],
  })
  expect(failed).toMatchObject({
    status: 200,
    body: {
      failed: expect.arrayContaining([
        { job_id: ids[0], outcome: 'retry', process_after: expect.any(String) },
        { job_id: ids[1], outcome: 'dead', process_after: null },
      ]),
    },
  })
  const until_ = '2030-01-01T00:00:00.000Z'
  expect(await worker.say('snooze', { jobs: [{ ...later, until: until_ }] })).toMatchObject({
    status: 200,
    body: { snoozed: [ids[2]] },
  })
  expect(await Promise.all(ids.map((id) => stateOf(db, id)))).toEqual(['waiting', 'dead', 'waiting'])
  const [snoozed] = await db.owner(
    'select attempts, process_after from iu_core.job_queue where job_id = $1',
    [ids[2]],
  )
  expect(snoozed).toEqual({ attempts: 0, process_after: new Date(until_) })
})

it('waits for a job that is enqueued meanwhile, without holding a transaction', async () => {
  const worker = await beginWorker(api, await executorToken(executor), { executor, kinds: ['awaited'] })
  const waiting = worker.lease({ wait_s: 20 })
  // It has looked once: its heartbeat is newer than its registration.
  await until('the request has looked', async () => {
    const [row] = await db.owner<{ looked: boolean }>(
      `select heartbeat_at > started_at + interval '300 milliseconds' as looked from iu_core.job_worker where worker_id = $1`,
      [worker.worker],
    )
    return row!.looked
  })
  const open = await until('no transaction is open between two looks', async () => {
    const rows = await db.owner<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database()
          and usename = 'stagedoor_api' and state like 'idle in transaction%'`,
    )
    return rows[0]!.n === 0 ? 'none' : undefined
  })
  expect(open).toBe('none')
  const id = await enqueue(db, 'awaited')
  expect((await waiting).map(({ job_id }) => job_id)).toEqual([id])
})

it('waiting keeps the lease: one of three seconds outlives a wait of four', async () => {
  const worker = await beginWorker(api, await executorToken(executor), {
    executor,
    kinds: ['never'],
    lease_s: 3,
  })
  expect(await worker.lease({ wait_s: 4 })).toEqual([])
  expect(await worker.say('heartbeat')).toMatchObject({ status: 200, body: { cancelled: [] } })
})

it('after its lease has passed nothing that a worker says counts, and others get its jobs', async () => {
  const token = await executorToken(executor)
  const id = await enqueue(db, 'lost')
  const slow = await beginWorker(api, token, { executor, kinds: ['lost'] })
  const [held] = await slow.lease()
  await endLease(db, slow.worker)
  const quick = await beginWorker(api, token, { executor, kinds: ['lost'] })
  const [again] = await quick.lease({ wait_s: 10 })
  expect(again).toMatchObject({ job_id: id, lease_epoch: held!.lease_epoch + 1 })

  const late = await slow.say('complete', { jobs: [{ job_id: id, epoch: held!.lease_epoch }] })
  expect(late).toMatchObject({ status: 409, body: { code: 'lease_passed', hint: expect.any(String) } })
  expect((await slow.say('heartbeat')).status).toBe(409)
  expect(await stateOf(db, id)).toBe('running')
  const done = await quick.say('complete', { jobs: [{ job_id: id, epoch: again!.lease_epoch }] })
  expect(done).toMatchObject({ body: { completed: [id] } })
})

it('a worker that leaves gives back what it held, without an attempt used', async () => {
  const token = await executorToken(executor)
  const id = await enqueue(db, 'left')
  const worker = await beginWorker(api, token, { executor, kinds: ['left'] })
  await worker.lease()
  expect(await worker.leave()).toBe(204)
  expect(await stateOf(db, id)).toBe('waiting')
  const next = await beginWorker(api, token, { executor, kinds: ['left'] })
  expect(await next.lease()).toMatchObject([{ job_id: id, attempts: 1 }])
})

it('learns by its heartbeat that a job is to end, and failing it then cancels it', async () => {
  const id = await enqueue(db, 'unwanted')
  const worker = await beginWorker(api, await executorToken(executor), { executor, kinds: ['unwanted'] })
  const [job] = await worker.lease()
  await db.pool('stagedoor_worker').query(`select iu_core.fn_job_cancel($1, 'not needed any more')`, [id])
  expect(await worker.say('heartbeat')).toMatchObject({ body: { cancelled: [id] } })
  const failed = await worker.say('fail', {
    jobs: [{ job_id: id, epoch: job!.lease_epoch, error: 'stopped' }],
  })
  expect(failed).toMatchObject({ body: { failed: [{ job_id: id, outcome: 'cancelled' }] } })
})

function connections(): Promise<number> {
  return new Promise((resolve) => api.app.server.getConnections((_error, count) => resolve(count)))
}

it('gives back what it leased for somebody who has hung up', async () => {
  const address = await api.listen()
  const token = await executorToken(executor)
  const worker = await beginWorker(api, token, { executor, kinds: ['hung_up'] })
  const hangUp = new AbortController()
  // The lock holds the claim up until the caller has gone.
  const holder = await db.session()
  await holder.query('begin')
  await holder.query(`select from iu_core.job_worker where worker_id = $1 for update`, [worker.worker])
  const id = await enqueue(db, 'hung_up')
  const request = fetch(`${address}/api/v1/workers/${worker.worker}/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ limit: 1 }),
    signal: hangUp.signal,
  }).catch(() => 'gone')
  await until('the request waits for the lock', async () => {
    const rows = await db.owner(
      `select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
    )
    return rows.length > 0
  })
  hangUp.abort()
  expect(await request).toBe('gone')
  await until('the server has heard of it', async () => (await connections()) === 0)
  await holder.query('rollback')
  await until('the job is free again', async () => (await stateOf(db, id)) === 'waiting')
  expect(await worker.lease()).toMatchObject([{ job_id: id, attempts: 1 }])
})
