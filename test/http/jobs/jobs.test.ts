import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { beginWorker, enqueue, executorToken, serviceToken } from './executors-api.ts'

const db = useDatabase()
const api = useApi(db)
let workspace: string
let operator: Member
let service: string

beforeAll(async () => {
  workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  service = await serviceToken()
})

interface Listed {
  jobs: { job_id: string; status: string; job_kind: string }[]
  next: string | null
}

it('lists jobs in pages, newest first, by status and by kind', async () => {
  const token = await api.token(operator)
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(await enqueue(db, 'paged', 'external_worker', { workspace }))
  const worker = await beginWorker(api, await executorToken('external_worker'), {
    executor: 'external_worker',
    kinds: ['paged'],
  })
  const [first, second] = await worker.lease({ limit: 2 })
  await worker.say('complete', { jobs: [{ job_id: first!.job_id, epoch: first!.lease_epoch }] })

  const seen: string[] = []
  let next: string | null = null
  do {
    const page: Listed = (
      await api.get(`/api/v1/jobs?kind=paged&limit=2${next ? `&after=${next}` : ''}`, token)
    ).body
    seen.push(...page.jobs.map(({ job_id }) => job_id))
    next = page.next
  } while (next)
  expect(seen).toEqual([...ids].reverse())
  const withStatus = async (status: string) =>
    ((await api.get(`/api/v1/jobs?kind=paged&status=${status}`, token)).body as Listed).jobs.map(
      ({ job_id }) => job_id,
    )
  expect(await withStatus('completed')).toEqual([first!.job_id])
  expect(await withStatus('running')).toEqual([second!.job_id])
  expect(await withStatus('waiting')).toEqual(ids.slice(2).reverse())
  expect(await withStatus('dead')).toEqual([])
  expect((await api.get('/api/v1/jobs?status=lost', token)).status).toBe(400)
})

it('enqueues once for one key, and all or none', async () => {
  const job = { job_kind: 'once', idempotency_key: 'week-45', payload: { week: '2026-W45' } }
  const first = await api.post('/api/v1/jobs', service, { jobs: [job] })
  expect(first.status).toBe(201)
  expect((await api.post('/api/v1/jobs', service, { jobs: [job] })).body).toEqual(first.body)
  const refused = await api.post('/api/v1/jobs', service, {
    jobs: [{ job_kind: 'all_or_none' }, { job_kind: 'all_or_none', payload: { password: 'x' } }],
  })
  expect(refused).toMatchObject({ status: 422, body: { code: 'job_invalid' } })
  const [row] = await db.owner(
    `select count(*)::int as n from iu_core.job_queue where job_kind in ('once', 'all_or_none')`,
  )
  expect(row).toEqual({ n: 1 })
})

it('a job that is not there is a 404, and one that has ended cannot be cancelled', async () => {
  const nowhere = '0190a0a0-0000-7000-8000-000000000000'
  expect(await api.get(`/api/v1/jobs/${nowhere}`, service)).toMatchObject({
    status: 404,
    body: { code: 'job_not_found', hint: expect.stringContaining('stagedoor job list') },
  })
  expect((await api.get('/api/v1/jobs/not-an-id', service)).status).toBe(400)
  const { jobs } = (await api.post('/api/v1/jobs', service, { jobs: [{ job_kind: 'brief' }] })).body as {
    jobs: [string]
  }
  expect((await api.post(`/api/v1/jobs/${jobs[0]}/cancel`, service)).body).toEqual({ outcome: 'cancelled' })
  expect(await api.post(`/api/v1/jobs/${jobs[0]}/cancel`, service)).toMatchObject({
    status: 409,
    body: { code: 'job_ended' },
  })
})

it('a paused kind is not leased until it is resumed; its settings stay where they are not named', async () => {
  const token = await executorToken('external_worker')
  const id = await enqueue(db, 'pausable')
  const worker = await beginWorker(api, token, { executor: 'external_worker', kinds: ['pausable'] })
  expect((await api.post('/api/v1/job-kinds/pausable/pause', service)).status).toBe(200)
  expect(await worker.lease()).toEqual([])
  expect(await api.post('/api/v1/job-kinds/pausable/resume', service)).toMatchObject({
    body: { paused_at: null },
  })
  expect(await worker.lease()).toMatchObject([{ job_id: id }])
  expect((await api.post('/api/v1/job-kinds/unheard_of/pause', service)).status).toBe(404)

  const patch = (payload: object) =>
    api.app.inject({
      method: 'PATCH',
      url: '/api/v1/job-kinds/pausable',
      headers: { authorization: `Bearer ${service}` },
      payload,
    })
  await patch({ max_attempts: 3 })
  expect((await patch({ concurrency: 2, backoff: '5 seconds' })).json()).toMatchObject({
    max_attempts: 3,
    concurrency: 2,
    backoff: '00:00:05',
  })
  expect((await patch({ tries: 3 })).json()).toMatchObject({
    status: 400,
    detail: expect.stringContaining('tries'),
  })
})

it('a trace is the chain of events and jobs, by the id of any of them', async () => {
  const back = db.pool('stagedoor_worker')
  const { rows } = await back.query<{ id: string }>(
    `select iu_core.fn_event_emit('staging', 'record_created', p_event_subject_ref => 'r1', p_workspace_id => $1) as id`,
    [workspace],
  )
  const root = rows[0]!.id
  const job = (
    await api.post('/api/v1/jobs', service, {
      jobs: [{ job_kind: 'follows', causation_event_id: root, workspace_id: workspace }],
    })
  ).body as { jobs: [string] }
  const followed = await back.query<{ id: string }>(
    `select iu_core.fn_event_emit('staging', 'record_approved', p_event_subject_ref => 'r1', p_workspace_id => $1,
                                  p_causation_event_id => $2) as id`,
    [workspace, root],
  )
  const token = await api.token(operator)
  for (const id of [root, job.jobs[0], followed.rows[0]!.id]) {
    const trace = (await api.get(`/api/v1/traces/${id}`, token)).body as {
      events: { id: string; causation_depth: number }[]
      jobs: { job_id: string; causation_event_id: string }[]
    }
    expect(trace.events.map((event) => [event.id, event.causation_depth])).toEqual([
      [root, 0],
      [followed.rows[0]!.id, 1],
    ])
    expect(trace.jobs).toMatchObject([{ job_id: job.jobs[0], causation_event_id: root }])
  }
  const stranger = await createMember(db, await createWorkspace(db, 'Other'), 'admin')
  expect((await api.get(`/api/v1/traces/${root}`, await api.token(stranger))).status).toBe(404)
})

it('a trace has the events that were given its id, also those that nothing caused', async () => {
  const back = db.pool('stagedoor_worker')
  const correlation = randomUUID()
  const emit = async () =>
    (
      await back.query<{ id: string }>(
        `select iu_core.fn_event_emit('staging', 'record_created', p_workspace_id => $1, p_correlation_id => $2) as id`,
        [workspace, correlation],
      )
    ).rows[0]!.id
  const events = [await emit(), await emit()]
  const token = await api.token(operator)
  for (const id of [correlation, ...events]) {
    const trace = (await api.get(`/api/v1/traces/${id}`, token)).body
    expect(trace).toMatchObject({ correlation_id: correlation, events: events.map((one) => ({ id: one })) })
  }
})

it('a trace shows an agent the events that it may see, and no jobs', async () => {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>(`select iu_core.fn_event_emit('system', 'gate_changed') as id`)
  const event = rows[0]!.id
  await api.post('/api/v1/jobs', service, {
    jobs: [{ job_kind: 'follows', causation_event_id: event, workspace_id: workspace }],
  })
  const agent = await createMember(db, workspace, 'agent')
  const seen = async (member: Member) =>
    (await api.get(`/api/v1/traces/${event}`, await api.token(member))).body
  expect(await seen(operator)).toMatchObject({ events: [{ id: event }], jobs: [{ job_kind: 'follows' }] })
  expect(await seen(agent)).toMatchObject({ events: [{ id: event }], jobs: [] })
})

it('figures for Prometheus are the back end’s, also with a token that can only read', async () => {
  await enqueue(db, 'measured')
  const scrape = (token: string) =>
    api.app.inject({ url: '/api/v1/metrics', headers: { authorization: `Bearer ${token}` } })
  expect((await scrape(await api.token(operator))).statusCode).toBe(403)
  const reader = await api.token({ userId: 'scraper', role: 'service_role' }, { readOnly: true })
  const reply = await scrape(reader)
  expect([reply.statusCode, reply.headers['content-type']]).toEqual([
    200,
    expect.stringContaining('text/plain'),
  ])
  expect(reply.body).toContain('stagedoor_jobs{kind="measured",state="waiting"} 1')
  expect(reply.body).toMatch(/stagedoor_job_oldest_due_seconds\{kind="measured"\} 0\.\d+/)
  expect(reply.body).toContain('stagedoor_jobs_claimed_total{by="executor"}')
  expect(reply.body).toContain('# TYPE stagedoor_dispatch_lag_seconds gauge')
})
