import { SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { SECRET, useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { beginWorker, enqueue, executorToken, serviceToken, stateOf } from './executors-api.ts'

const db = useDatabase()
const api = useApi(db)
let workspace: string
let operator: Member
let viewer: Member
let agent: Member
let stranger: Member

beforeAll(async () => {
  workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  viewer = await createMember(db, workspace, 'viewer')
  agent = await createMember(db, workspace, 'agent')
  stranger = await createMember(db, await createWorkspace(db, 'Other'), 'admin')
})

describe('an executor', () => {
  it('registers for itself only', async () => {
    const token = await executorToken('external_worker')
    for (const executor of ['PG_worker', 'Hermes', 'DOT']) {
      const refused = await api.post('/api/v1/workers', token, { executor, kinds: ['send_report'] })
      expect(refused).toMatchObject({ status: 403, body: { code: 'executor_not_allowed' } })
    }
    const unknown = await api.post('/api/v1/workers', token, { executor: 'Kestra', kinds: ['x'] })
    expect(unknown.status).toBe(400)
  })

  it('gets none of the jobs of another, though the kind is the same', async () => {
    const theirs = await enqueue(db, 'shared_kind', 'Hermes')
    const ours = await enqueue(db, 'shared_kind', 'external_worker')
    const worker = await beginWorker(api, await executorToken('external_worker'), {
      executor: 'external_worker',
      kinds: ['shared_kind'],
    })
    expect((await worker.lease({ limit: 100 })).map(({ job_id }) => job_id)).toEqual([ours])
    expect(await stateOf(db, theirs)).toBe('waiting')
  })

  it('can do nothing with the lease of another, nor find out that it exists', async () => {
    const id = await enqueue(db, 'guarded', 'Hermes')
    const hermes = await beginWorker(api, await executorToken('Hermes'), {
      executor: 'Hermes',
      kinds: ['guarded'],
    })
    const [job] = await hermes.lease()
    const told = [{ job_id: id, epoch: job!.lease_epoch }]
    const attempts: [string, object][] = [
      ['claim', {}],
      ['heartbeat', {}],
      ['complete', { jobs: told }],
      ['fail', { jobs: [{ ...told[0], error: 'x', fatal: true }] }],
      ['snooze', { jobs: [{ ...told[0], until: '2030-01-01T00:00:00Z' }] }],
    ]
    const other = await executorToken('external_worker')
    // The same executor, but somebody else's worker: its lease is not shared either.
    const sibling = await executorToken('Hermes', 'another machine')
    for (const [what, body] of attempts) {
      expect([what, (await hermes.say(what, body, other)).status]).toEqual([what, 403])
      const answer = await hermes.say(what, body, sibling)
      expect([what, answer.status, answer.body.code]).toEqual([what, 409, 'lease_passed'])
    }
    expect(await stateOf(db, id)).toBe('running')
  })

  it('cannot complete the job of another under a lease of its own', async () => {
    const id = await enqueue(db, 'foreign', 'Hermes')
    const hermes = await beginWorker(api, await executorToken('Hermes'), {
      executor: 'Hermes',
      kinds: ['foreign'],
    })
    const [job] = await hermes.lease()
    const own = await beginWorker(api, await executorToken('external_worker'), {
      executor: 'external_worker',
      kinds: ['foreign'],
    })
    const jobs = [{ job_id: id, epoch: job!.lease_epoch }]
    expect(await own.say('complete', { jobs })).toMatchObject({ body: { completed: [] } })
    expect(await own.say('fail', { jobs: [{ ...jobs[0], error: 'x' }] })).toMatchObject({
      body: { failed: [] },
    })
    expect(await stateOf(db, id)).toBe('running')
  })

  it('reads nothing else: no jobs, no events, no uploads', async () => {
    await enqueue(db, 'unseen', 'external_worker', { workspace })
    const token = await executorToken('external_worker')
    for (const url of [
      '/api/v1/jobs',
      '/api/v1/events',
      '/api/v1/uploads',
      '/api/v1/staging',
      '/api/v1/metrics',
    ]) {
      expect([url, (await api.get(url, token)).status]).toEqual([url, 403])
    }
  })

  it('needs a token that names it', async () => {
    const nameless = await new SignJWT({ role: 'stagedoor_executor' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('x')
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(SECRET))
    const refused = await api.post('/api/v1/workers', nameless, {
      executor: 'external_worker',
      kinds: ['send_report'],
    })
    expect(refused).toMatchObject({ status: 401, body: { code: 'token_invalid' } })
  })
})

it('people and agents lease nothing, whatever their token claims', async () => {
  const claiming = await new SignJWT({ role: 'authenticated', executor: 'external_worker' })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(operator.userId)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET))
  for (const token of [claiming, await api.token(stranger), await api.token(agent)]) {
    const refused = await api.post('/api/v1/workers', token, {
      executor: 'external_worker',
      kinds: ['send_report'],
    })
    expect(refused.status).toBe(403)
  }
})

describe('jobs of a workspace', () => {
  it('are seen by the people in it, and neither by agents nor by anybody else', async () => {
    const id = await enqueue(db, 'theirs', 'PG_worker', { workspace })
    expect((await api.get(`/api/v1/jobs/${id}`, await api.token(viewer))).status).toBe(200)
    const hidden = await api.get(`/api/v1/jobs/${id}`, await api.token(stranger))
    expect(hidden).toMatchObject({ status: 404, body: { code: 'job_not_found' } })
    expect((await api.get('/api/v1/jobs', await api.token(stranger))).body).toEqual({ jobs: [], next: null })
    for (const path of [`/api/v1/jobs/${id}`, '/api/v1/jobs']) {
      expect([path, (await api.get(path, await api.token(agent))).status]).toEqual([path, 403])
    }
  })

  it('are cancelled by those who may operate there', async () => {
    const id = await enqueue(db, 'theirs', 'PG_worker', { workspace })
    for (const member of [viewer, agent, stranger]) {
      const refused = await api.post(`/api/v1/jobs/${id}/cancel`, await api.token(member), {})
      expect([member.appRole, refused.status]).toEqual([member.appRole, member === stranger ? 404 : 403])
    }
    expect(await stateOf(db, id)).toBe('waiting')
    const done = await api.post(`/api/v1/jobs/${id}/cancel`, await api.token(operator), {
      reason: 'by mistake',
    })
    expect(done).toMatchObject({ status: 200, body: { outcome: 'cancelled' } })
    expect(await stateOf(db, id)).toBe('cancelled')
  })

  it('are replayed by those who may operate there, and only there', async () => {
    const id = await enqueue(db, 'dying', 'external_worker', { workspace })
    const worker = await beginWorker(api, await executorToken('external_worker'), {
      executor: 'external_worker',
      kinds: ['dying'],
    })
    const [job] = await worker.lease()
    await worker.say('fail', { jobs: [{ job_id: id, epoch: job!.lease_epoch, error: 'no', fatal: true }] })
    expect((await api.post('/api/v1/jobs/replay', await api.token(viewer), { jobs: [id] })).status).toBe(403)
    const elsewhere = await api.post('/api/v1/jobs/replay', await api.token(stranger), {
      jobs: [id],
      workspace_id: workspace,
    })
    expect(elsewhere.status).toBe(403)
    expect(await stateOf(db, id)).toBe('dead')
    const done = await api.post('/api/v1/jobs/replay', await api.token(operator), {
      kind: 'dying',
      workspace_id: workspace,
    })
    expect(done).toMatchObject({ status: 200, body: { jobs: [id] } })
    expect(await stateOf(db, id)).toBe('waiting')
  })
})

it('kinds are steered, and jobs enqueued, by the back end alone', async () => {
  await enqueue(db, 'steered')
  for (const member of [operator, stranger, agent]) {
    const token = await api.token(member)
    expect((await api.post('/api/v1/job-kinds/steered/pause', token)).status).toBe(403)
    expect((await api.post('/api/v1/jobs', token, { jobs: [{ job_kind: 'steered' }] })).status).toBe(403)
  }
  const service = await serviceToken()
  expect(await api.post('/api/v1/job-kinds/steered/pause', service)).toMatchObject({
    status: 200,
    body: { job_kind: 'steered', paused_by: 'service' },
  })
})
