/** What operators see and do over HTTP: statistics, dead letters and their replay, workers, kinds, schedules, health. */
import { beforeAll, expect, it } from 'vitest'
import { newWebhookSecret } from '../../../src/jobs/webhooks.ts'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { beginWorker, enqueue, executorToken, serviceToken, stateOf } from './executors-api.ts'

const db = useDatabase()
const api = useApi(db, { webhookHosts: ['chat.example.com'] })
let workspace: string
let other: string
let operator: Member
let admin: Member
let viewer: Member
let agent: Member
let stranger: Member

beforeAll(async () => {
  workspace = await createWorkspace(db)
  other = await createWorkspace(db, 'Other')
  operator = await createMember(db, workspace, 'operator')
  admin = await createMember(db, workspace, 'admin')
  viewer = await createMember(db, workspace, 'viewer')
  agent = await createMember(db, workspace, 'agent')
  stranger = await createMember(db, other, 'admin')
})

const EXECUTOR = 'external_worker'

/** Runs a job of the kind to its end, over HTTP as every worker does. */
async function end(kind: string, error?: string, where = workspace): Promise<string> {
  const id = await enqueue(db, kind, EXECUTOR, { workspace: where })
  const worker = await beginWorker(api, await executorToken(EXECUTOR), { executor: EXECUTOR, kinds: [kind] })
  const [job] = await worker.lease()
  const ref = { job_id: id, epoch: job!.lease_epoch }
  if (error === undefined) await worker.say('complete', { jobs: [ref] })
  else await worker.say('fail', { jobs: [{ ...ref, error, fatal: true }] })
  return id
}

interface Statistics {
  from: string
  to: string
  bucket_s: number
  kinds: { job_kind: string; completed: number; failed: number; dead: number; waiting: number }[]
  series: { at: string; completed: number; dead: number; run_p95_ms: number | null }[]
}

async function statistics(member: Member, query = ''): Promise<Statistics> {
  const answer = await api.get(`/api/v1/jobs/statistics${query}`, await api.token(member))
  expect(answer.status).toBe(200)
  return answer.body
}

it('counts what ended in the window by minute and by kind, for members of the workspace and nobody else', async () => {
  await end('measured')
  await end('measured')
  await end('measured', 'no')
  const old = await end('measured')
  await db.owner(
    `update iu_core.job_history set finished_at = finished_at - interval '2 hours', started_at = started_at - interval '2 hours'
      where job_id = '${old}'`,
  )
  await enqueue(db, 'measured', 'Hermes', { workspace })
  const hour = await statistics(viewer, '?kind=measured')
  expect(hour.bucket_s).toBe(60)
  expect(hour.series).toHaveLength(60)
  expect(hour.kinds).toMatchObject([
    { job_kind: 'measured', completed: 2, failed: 1, dead: 1, waiting: 1, retries: 0 },
  ])
  const sum = (of: Statistics, count: 'completed' | 'dead') =>
    of.series.reduce((total, bucket) => total + bucket[count], 0)
  expect([sum(hour, 'completed'), sum(hour, 'dead')]).toEqual([2, 1])
  expect(hour.series.find(({ completed }) => completed > 0)!.run_p95_ms).toBeGreaterThan(0)
  const day = await statistics(viewer, `?kind=measured&window=24h&workspace_id=${workspace}`)
  expect([day.series.length, sum(day, 'completed')]).toEqual([96, 3])
  expect((await statistics(viewer, '?window=7d')).series).toHaveLength(168)
  expect((await statistics(stranger)).kinds).toEqual([])
  expect((await statistics(viewer, `?workspace_id=${other}`)).kinds).toEqual([])
  expect((await api.get('/api/v1/jobs/statistics?window=1y', await api.token(viewer))).status).toBe(400)
  expect((await api.get('/api/v1/jobs/statistics', await api.token(agent))).status).toBe(403)
})

it('groups dead letters by kind and error without numbers and ids, and replays a group, ids or all of a filter', async () => {
  const one = await end('mail', `mailbox 17 of 0190a6f4-2f0e-7a53-9d3e-1c8f6f2b7a11 is full\nat line 3`)
  const two = await end('mail', 'mailbox 99 of 0190a6f4-2f0e-7a53-9d3e-1c8f6f2b7a22 is full')
  const three = await end('mail', 'no route since 2026-11-16T08:00:00.123Z')
  const elsewhere = await end('mail', 'mailbox 1 of them is full', other)
  const token = await api.token(operator)
  const groups = async () => (await api.get('/api/v1/dead-letters/groups?kind=mail', token)).body
  const grouped = (await groups()) as { groups: { group_id: string; error: string; count: number }[] }
  expect(grouped).toMatchObject({
    total: 3,
    cut: false,
    groups: [
      { job_kind: 'mail', error: 'mailbox <n> of <id> is full', count: 2, replayed: 0 },
      { error: 'no route since <time>', count: 1 },
    ],
  })
  const group = grouped.groups[0]!.group_id
  const listed = async (query: string, member = operator) =>
    (await api.get(`/api/v1/dead-letters?${query}`, await api.token(member))).body as {
      jobs: { job_id: string }[]
      next: string | null
    }
  expect((await listed(`group=${group}`)).jobs.map(({ job_id }) => job_id)).toEqual([two, one])
  const page = await listed(`kind=mail&limit=2`)
  expect(page.jobs.map(({ job_id }) => job_id)).toEqual([three, two])
  expect((await listed(`kind=mail&limit=2&after=${page.next}`)).jobs.map(({ job_id }) => job_id)).toEqual([
    one,
  ])
  expect((await listed('kind=mail', stranger)).jobs.map(({ job_id }) => job_id)).toEqual([elsewhere])
  expect((await listed(`group=${group}`, stranger)).jobs).toEqual([])

  const replay = async (body: object, member = operator) =>
    api.post('/api/v1/jobs/replay', await api.token(member), { workspace_id: workspace, ...body })
  // How many it would be; nothing is replayed.
  expect((await replay({ group, dry_run: true })).body).toEqual({ jobs: [one, two] })
  expect((await replay({ group, dry_run: true }, viewer)).status).toBe(403)
  expect((await replay({ group }, viewer)).status).toBe(403)
  expect((await replay({ group }, stranger)).status).toBe(403)
  expect(await stateOf(db, one)).toBe('dead')
  expect((await replay({ group })).body).toEqual({ jobs: expect.arrayContaining([one, two]) })
  expect([await stateOf(db, one), await stateOf(db, three)]).toEqual(['waiting', 'dead'])
  expect((await replay({ group })).body).toEqual({ jobs: [] })
  expect((await replay({ kind: 'mail', failed_before: new Date().toISOString() })).body).toEqual({
    jobs: [three],
  })
  expect(await stateOf(db, elsewhere)).toBe('dead')
  expect(await groups()).toEqual({ groups: [], total: 0, cut: false })
})

it('lists workers to whoever operates a workspace, with the jobs that they may see', async () => {
  const id = await enqueue(db, 'long', EXECUTOR, { workspace })
  const worker = await beginWorker(api, await executorToken(EXECUTOR), {
    executor: EXECUTOR,
    kinds: ['long'],
  })
  await worker.lease()
  const seenBy = async (member: Member) => {
    const { status, body } = await api.get('/api/v1/workers', await api.token(member))
    const { workers = [] } = body as { workers?: { kinds: string[]; running: unknown[] }[] }
    return { status, worker: workers.find(({ kinds }) => kinds.includes('long')) }
  }
  expect(await seenBy(operator)).toMatchObject({
    status: 200,
    worker: {
      executor: EXECUTOR,
      is_alive: true,
      running_count: 1,
      running: [{ job_id: id, job_kind: 'long' }],
    },
  })
  expect(await seenBy(stranger)).toMatchObject({ status: 200, worker: { running: [], running_count: 0 } })
  for (const member of [viewer, agent]) expect((await seenBy(member)).status).toBe(403)
})

it('kinds and schedules are changed by people who have the right in every workspace', async () => {
  await enqueue(db, 'shared')
  const everywhere = await createMember(db, workspace, 'admin')
  const call = async (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', url: string, payload: object = {}) => {
    const token = await api.token(everywhere)
    const body = method === 'DELETE' || url.endsWith('pause') ? {} : { payload }
    return api.app.inject({ method, url, headers: { authorization: `Bearer ${token}` }, ...body })
  }
  const pause = () => call('POST', '/api/v1/job-kinds/shared/pause')
  const limits = () => call('PATCH', '/api/v1/job-kinds/shared', { concurrency: 2 })
  const nightly = { cron: '0 6 * * 1-5', time_zone: 'Europe/Berlin', job_kind: 'shared' }
  const schedule = () => call('PUT', '/api/v1/schedules/nightly', nightly)
  const remove = () => call('DELETE', '/api/v1/schedules/nightly')
  for (const refused of [pause, limits, schedule, remove]) {
    expect(await refused()).toMatchObject({ statusCode: 403 })
  }
  const join = (role: string) =>
    db.owner(
      `insert into public.workspace_members (workspace_id, user_id, role) values ('${other}', '${everywhere.userId}', '${role}')
       on conflict (workspace_id, user_id) do update set role = excluded.role`,
    )
  await join('operator')
  const paused = await pause()
  expect([paused.statusCode, paused.json()]).toMatchObject([200, { paused_by: everywhere.userId }])
  expect((await limits()).statusCode).toBe(403)
  await join('admin')
  expect((await limits()).json()).toMatchObject({ job_kind: 'shared', concurrency: 2 })
  expect((await schedule()).statusCode).toBe(200)
  const { schedules } = (await api.get('/api/v1/schedules?runs=5', await api.token(viewer))).body as {
    schedules: { next_at: string; next_runs: string[] }[]
  }
  expect(schedules[0]!.next_runs).toHaveLength(5)
  expect(schedules[0]!.next_runs[0]).toBe(schedules[0]!.next_at)
  expect((await remove()).statusCode).toBe(204)
  const preview = await api.get(
    '/api/v1/schedules/next-runs?cron=30%206%20*%20*%20*',
    await api.token(viewer),
  )
  expect((preview.body as { next_runs: string[] }).next_runs.map((at) => at.slice(11, 16))).toEqual(
    Array(5).fill('06:30'),
  )
  expect((await api.get('/api/v1/schedules/next-runs?cron=never', await api.token(viewer))).status).toBe(400)
})

it('jobs and issues of no workspace are seen by whoever operates every workspace, and by nobody else', async () => {
  const id = await enqueue(db, 'maintained', EXECUTOR)
  const [issue] = await db.owner<{ id: string }>(
    `select iu_core.fn_system_issue_open('disk_full', 'error', 'disk', 'The disk is full') as id`,
  )
  const everywhere = await createMember(db, workspace, 'operator')
  await db.owner('insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)', [
    other,
    everywhere.userId,
    'operator',
  ])
  for (const [member, sees] of [
    [everywhere, true],
    [operator, false],
    [stranger, false],
  ] as const) {
    const token = await api.token(member)
    expect((await api.get(`/api/v1/jobs/${id}`, token)).status).toBe(sees ? 200 : 404)
    expect(JSON.stringify((await api.get('/api/v1/issues', token)).body).includes(issue!.id)).toBe(sees)
  }
  await db.owner('delete from public.workspace_members where user_id = $1', [everywhere.userId])
})

it('health has checks and gates in words, and sizes only for whoever administers everything', async () => {
  const checks = await api.get('/api/v1/health', await api.token(operator))
  expect(checks).toMatchObject({
    status: 200,
    body: { checks: expect.arrayContaining([expect.objectContaining({ name: 'migrations', ok: true })]) },
  })
  for (const member of [viewer, agent]) {
    expect((await api.get('/api/v1/health', await api.token(member))).status).toBe(403)
  }
  const { gates } = (await api.get('/api/v1/gates', await api.token(viewer))).body as {
    gates: { gate: string; title: string; when_closed: string }[]
  }
  // Every gate that there is has a name and says what it stops.
  expect(gates.filter(({ gate, title }) => gate === title)).toEqual([])
  for (const member of [operator, admin, stranger]) {
    expect((await api.get('/api/v1/health/storage', await api.token(member))).status).toBe(403)
  }
  expect(await api.get('/api/v1/health/storage', await serviceToken())).toMatchObject({
    status: 200,
    body: {
      database_bytes: expect.any(Number),
      tables: expect.arrayContaining([expect.objectContaining({ schema_name: 'iu_core' })]),
      spool: { files: 0, bytes: 0 },
      readers: expect.any(Array),
    },
  })
})

it('limits are seen in the own workspace', async () => {
  expect(await api.get('/api/v1/limits', await api.token(viewer))).toMatchObject({
    status: 200,
    body: { uploads: { max_at_once: expect.any(Number) }, api: { requests_a_minute: expect.any(Number) } },
  })
  expect((await api.get(`/api/v1/limits?workspace_id=${workspace}`, await api.token(stranger))).status).toBe(
    403,
  )
})

it('a webhook target is tested by its administrators, in a job of its workspace', async () => {
  const target = { url: 'https://chat.example.com/hooks/1', purpose: 'review', secret: newWebhookSecret() }
  const put = await api.app.inject({
    method: 'PUT',
    url: '/api/v1/webhooks/tested',
    headers: { authorization: `Bearer ${await api.token(admin)}` },
    payload: { ...target, workspace_id: workspace },
  })
  expect(put.statusCode).toBe(204)
  const test = async (member: Member) => api.post('/api/v1/webhooks/tested/test', await api.token(member))
  expect([(await test(operator)).status, (await test(stranger)).status]).toEqual([403, 404])
  const { job_id } = (await test(admin)).body as { job_id: string }
  const job = await api.get(`/api/v1/jobs/${job_id}`, await api.token(viewer))
  expect(job.body).toMatchObject({
    job_kind: 'webhook_deliver',
    payload_ref: 'webhook:tested',
    payload: { type: 'test' },
  })
})
