import { beforeAll, describe, expect, it } from 'vitest'
import { dryRunConsumer, registerConsumer } from '../../../src/events/consumers.ts'
import { dispatchEvents } from '../../../src/events/dispatcher.ts'
import { dryRunRoute, registerRoute } from '../../../src/events/routes.ts'
import { useApi } from '../../support/api.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'
import { serviceToken } from './executors-api.ts'

const db = useDatabase()
const api = useApi(db)
let workspace: string
let operator: Member
let reviewer: Member
let agent: Member
let stranger: Member

beforeAll(async () => {
  workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  reviewer = await createMember(db, workspace, 'reviewer')
  agent = await createMember(db, workspace, 'agent')
  stranger = await createMember(db, await createWorkspace(db, 'Other'), 'admin')
  await db.owner(`select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', true)`)
  await db.owner('create table public.orders (id integer primary key, status text)')
})

const owner = () => db.pool(MIGRATOR)

async function routeInDryRun(): Promise<string> {
  const code = await registerRoute(owner(), {
    source: 'orders',
    sql_event: 'insert',
    workspace_id: workspace,
    payload_contract: { keep_refs: ['id', 'status'] },
  })
  await dryRunRoute(owner(), code)
  await db.owner(`insert into public.orders values (1, 'new')`)
  return code
}

describe('a route', () => {
  it('is looked at, reviewed and activated by people of its workspace, each with their right', async () => {
    const code = await routeInDryRun()
    const as = (member: Member) => api.token(member)
    expect((await api.get('/api/v1/event-routes', await as(operator))).body).toMatchObject({
      routes: [{ route_code: code, state: 'dry_run', evidence: 1, revision: 1 }],
    })
    expect((await api.get('/api/v1/event-routes', await as(stranger))).body).toEqual({ routes: [] })
    expect((await api.get(`/api/v1/event-routes/${code}`, await as(stranger))).status).toBe(404)
    expect((await api.get(`/api/v1/event-routes/${code}/evidence`, await as(stranger))).status).toBe(404)
    expect((await api.get(`/api/v1/event-routes/${code}/evidence`, await as(operator))).body).toMatchObject({
      evidence: [{ events: '1', sample: [{ payload: { id: 1, status: 'new' } }] }],
    })

    const review = (member: Member, body: object) =>
      as(member).then((token) => api.post(`/api/v1/event-routes/${code}/review`, token, body))
    for (const [member, status] of [
      [operator, 403],
      [agent, 403],
      [stranger, 404],
    ] as const) {
      const refused = await review(member, { evidence: 1, revision: 1 })
      expect([member.appRole, refused.status]).toEqual([member.appRole, status])
    }
    expect((await review(reviewer, { evidence: 0, revision: 1 })).status).toBe(400)
    expect(await review(reviewer, { evidence: 1, revision: 2 })).toMatchObject({
      status: 409,
      body: { code: 'route_not_ready' },
    })
    const early = await api.post(`/api/v1/event-routes/${code}/activate`, await as(reviewer))
    expect(early).toMatchObject({ status: 409, body: { code: 'route_not_ready' } })
    expect(await review(reviewer, { evidence: 1, revision: 1 })).toMatchObject({
      status: 200,
      body: { state: 'reviewed', reviewed_by: reviewer.userId, evidence_seen: 1 },
    })
    expect((await api.post(`/api/v1/event-routes/${code}/activate`, await as(operator))).status).toBe(403)
    expect((await api.post(`/api/v1/event-routes/${code}/activate`, await as(reviewer))).body).toMatchObject({
      state: 'active',
    })
    await db.owner(`insert into public.orders values (2, 'new')`)
    expect((await api.get('/api/v1/events?limit=1', await as(operator))).body).toMatchObject({
      events: [{ event_type: code, payload: { id: 2, status: 'new' } }],
    })
    expect((await api.post(`/api/v1/event-routes/${code}/disable`, await as(reviewer))).body).toMatchObject({
      state: 'disabled',
    })
  })

  it('that is not there is a 404', async () => {
    const token = await api.token(reviewer)
    expect((await api.get('/api/v1/event-routes/nothing', token)).status).toBe(404)
    expect((await api.post('/api/v1/event-routes/nothing/activate', await serviceToken())).status).toBe(404)
  })
})

describe('a consumer', () => {
  const consumer = (id: string, more: object = {}) => ({
    consumer_id: id,
    event_domain: 'staging',
    event_type: 'record_created',
    job_kind: 'noted',
    idempotency_key_template: '{event_id}',
    ...more,
  })
  const emit = () =>
    db
      .pool('stagedoor_worker')
      .query(`select iu_core.fn_event_emit('staging', 'record_created', p_workspace_id => $1)`, [workspace])

  it('is reviewed by a person of its workspace after its dry run', async () => {
    await registerConsumer(owner(), consumer('ours', { workspace_id: workspace }))
    await dryRunConsumer(owner(), 'ours')
    await emit()
    await dispatchEvents(db.pool('stagedoor_worker'))
    const token = await api.token(reviewer)
    expect((await api.get('/api/v1/consumers/ours', token)).body).toMatchObject({ state: 'dry_run' })
    expect((await api.get('/api/v1/consumers/ours', await api.token(stranger))).status).toBe(404)
    expect((await api.get('/api/v1/consumers/ours/evidence', token)).body).toMatchObject({
      evidence: [{ idempotency_key: expect.stringMatching(/^ours:/), problem: null }],
    })
    expect(
      (await api.post('/api/v1/consumers/ours/review', await api.token(operator), { evidence: 1 })).status,
    ).toBe(403)
    expect((await api.post('/api/v1/consumers/ours/review', token, { evidence: 2 })).status).toBe(409)
    expect((await api.post('/api/v1/consumers/ours/review', token, { evidence: 1 })).body).toMatchObject({
      state: 'reviewed',
      reviewed_by: reviewer.userId,
    })
    expect((await api.get('/api/v1/consumers/ours/undelivered', token)).body).toEqual({ dispatches: [] })
  })

  it('of all workspaces is the back end’s to review, by whoever its token names', async () => {
    await registerConsumer(owner(), consumer('everybodys'))
    await dryRunConsumer(owner(), 'everybodys')
    await emit()
    await dispatchEvents(db.pool('stagedoor_worker'))
    const token = await api.token(reviewer)
    expect((await api.get('/api/v1/consumers/everybodys', token)).status).toBe(200)
    expect((await api.post('/api/v1/consumers/everybodys/review', token, { evidence: 0 })).status).toBe(400)
    expect((await api.post('/api/v1/consumers/everybodys/review', token, { evidence: 1 })).status).toBe(403)
    expect(
      await api.post('/api/v1/consumers/everybodys/review', await serviceToken(), { evidence: 1 }),
    ).toMatchObject({
      status: 200,
      body: { reviewed_by: 'service' },
    })
  })
})

it('agents see neither routes nor consumers', async () => {
  const token = await api.token(agent)
  for (const url of ['/api/v1/event-routes', '/api/v1/consumers', '/api/v1/issues']) {
    expect([url, (await api.get(url, token)).status]).toEqual([url, 403])
  }
})
