/** GET /live says which rooms changed, GET /find finds by name and id, both as far as the caller may see. */
import { beforeAll, expect, it } from 'vitest'
import { emitEvents } from '../../src/events/outbox.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { serviceToken } from './jobs/executors-api.ts'

const db = useDatabase()
const api = useApi(db)
let address: string
const people: Record<'ours' | 'theirs', { workspace: string; member: Member; token: string }> = {} as never

beforeAll(async () => {
  address = await api.listen()
  for (const name of ['ours', 'theirs'] as const) {
    const workspace = await createWorkspace(db, name)
    const member = await createMember(db, workspace, 'operator')
    people[name] = { workspace, member, token: await api.token(member) }
  }
})

it('tells the rooms that events of one’s own workspaces changed, and those of others to nobody else', async () => {
  const ours = await follow(people.ours.token)
  const theirs = await follow(people.theirs.token)
  const outsider = await follow(await api.token({ userId: 'nobody', role: 'authenticated' }))
  const agent = await follow(await api.token(await createMember(db, people.ours.workspace, 'agent')))
  await emit('theirs', 'piece', 'lifecycle_changed')
  await until('theirs is told of units', () => theirs.rooms().includes('units'))
  await emit('ours', 'staging', 'record_created')
  await until('ours is told of records', () => ours.rooms().includes('records'))
  expect(ours.rooms()).toContain('events')
  expect(ours.rooms()).not.toContain('units')
  expect(theirs.rooms()).not.toContain('records')

  // No event tells of a job; the count of its table does.
  const job = { job_kind: 'told', workspace_id: people.ours.workspace }
  expect(await api.post('/api/v1/jobs', await serviceToken(), { jobs: [job] })).toMatchObject({ status: 201 })
  await until('ours is told of jobs', () => ours.rooms().includes('jobs'))
  // One look tells everybody. Agents read no jobs, and whoever is in no workspace reads nothing.
  expect(agent.rooms()).not.toContain('jobs')
  expect(outsider.rooms()).toEqual([])
  for (const stream of [ours, theirs, outsider, agent]) await stream.leave()
})

it('an event that is committed late is told, too', async () => {
  const client = await db.pool('stagedoor_worker').connect()
  try {
    await client.query(`begin; set local role service_role`)
    await emitEvents(client, [
      { event_domain: 'piece', event_type: 'lifecycle_changed', workspace_id: people.ours.workspace },
    ])
    const ours = await follow(people.ours.token)
    await emit('ours', 'staging', 'record_created')
    await until('the later one is told', () => ours.rooms().includes('records'))
    expect(ours.rooms()).not.toContain('units')
    await client.query('commit')
    await until('the earlier one is told', () => ours.rooms().includes('units'))
    await ours.leave()
  } finally {
    client.release()
  }
})

it('tells every room after a look that failed: behind it may be a failover that lost what pages show', async () => {
  const ours = await follow(people.ours.token)
  const locker = await db.session('postgres')
  await locker.query('begin; lock table iu_core.event_outbox in access exclusive mode')
  await until('the look is cut off', async () => {
    const { rows } = await locker.query(
      `select pg_terminate_backend(pid) from pg_locks
        where not granted and relation = 'iu_core.event_outbox'::regclass`,
    )
    return rows.length > 0
  })
  await locker.query('rollback')
  await until('every room is told', () =>
    ['events', 'promotions', 'units'].every((room) => ours.rooms().includes(room)),
  )
  await ours.leave()
})

it('needs a token, and one caller holds so many streams', async () => {
  expect((await api.get('/api/v1/live')).status).toBe(401)
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow(people.theirs.token)))
  expect(await api.get('/api/v1/live', people.theirs.token)).toMatchObject({ status: 429 })
  await Promise.all(streams.map((stream) => stream.leave()))
})

it('finds by a part of the name and by the id, and nothing of other workspaces', async () => {
  const unit = { canonical_address: 'handbook/budget_50', body: '# Budgets of 2026' }
  const created = await api.post('/api/v1/units', people.ours.token, unit)
  expect(created.status).toBe(201)
  const { unit_id: id } = created.body as { unit_id: string }
  const found = async (token: string, q: string) =>
    ((await api.get(`/api/v1/find?q=${encodeURIComponent(q)}`, token)).body as { found: { id: string }[] })
      .found
  const hit = { kind: 'unit', id, title: 'Budgets of 2026', detail: 'handbook/budget_50' }
  for (const q of ['budgets OF', 'budget_5', id]) expect(await found(people.ours.token, q)).toEqual([hit])
  // What is a wildcard in SQL is a plain character here.
  for (const q of ['budget%50', 'b_dgets']) expect(await found(people.ours.token, q)).toEqual([])
  for (const q of ['budgets', id]) expect(await found(people.theirs.token, q)).toEqual([])
  const agent = await api.token(await createMember(db, people.ours.workspace, 'agent'))
  expect(await found(agent, 'budgets')).toEqual([hit])
  expect((await api.get(`/api/v1/find?q=${'a'.repeat(201)}`, agent)).status).toBe(400)
  expect((await api.get('/api/v1/overview', agent)).status).toBe(200)
})

it('events are filtered by domain, type, subject and time, and shown by id', async () => {
  const before = new Date().toISOString()
  await emit('theirs', 'piece', 'piece_reordered', 'a-subject')
  const list = async (query: Record<string, string>) =>
    (
      (await api.get(`/api/v1/events?${new URLSearchParams(query)}`, people.theirs.token)).body as {
        events: { id: string; event_subject_ref: string }[]
      }
    ).events
  const [event] = await list({ subject: 'a-subject' })
  for (const query of [
    { domain: 'piece', type: 'piece_reordered' },
    { since: before, subject: 'a-subject' },
    { until: '2999-01-01T00:00:00Z', subject: 'a-subject' },
  ])
    expect(await list(query as unknown as Record<string, string>)).toEqual([event])
  for (const query of [
    { domain: 'staging' },
    { type: 'other' },
    { subject: 'other' },
    { until: before, subject: 'a-subject' },
  ])
    expect(await list(query as unknown as Record<string, string>)).toEqual([])
  expect(await api.get(`/api/v1/events/${event!.id}`, people.theirs.token)).toMatchObject({
    status: 200,
    body: event,
  })
  expect((await api.get(`/api/v1/events/${event!.id}`, people.ours.token)).status).toBe(404)
})

function emit(who: keyof typeof people, event_domain: string, event_type: string, subject?: string) {
  return inTransaction(
    db.pool('stagedoor_worker'),
    (client) =>
      emitEvents(client, [
        {
          event_domain,
          event_type,
          workspace_id: people[who].workspace,
          ...(subject !== undefined && { event_subject_ref: subject }),
        },
      ]),
    { role: 'service_role' },
  )
}

/** Resolves when the server follows: from then on nothing is missed. */
async function follow(token: string) {
  const gone = new AbortController()
  const response = await fetch(`${address}/api/v1/live`, {
    headers: { authorization: `Bearer ${token}` },
    signal: gone.signal,
  })
  let text = ''
  const read = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  })().catch(() => {})
  await until('the stream begins', () => text.includes('event: begun'))
  return {
    rooms: () =>
      [...text.matchAll(/event: changed\ndata: (.*)\n/g)].flatMap(
        ([, data]) => (JSON.parse(data!) as { rooms: string[] }).rooms,
      ),
    leave: async () => {
      gone.abort()
      await read
    },
  }
}
