/** The filters of lists count, each by its name in the query: of a token that sees everything, none is dropped on the way to the room. */
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { serviceToken } from './jobs/executors-api.ts'

const db = useDatabase()
const api = useApi(db)
let workspace: string
let container: string
let correlation: string
let service: string

beforeAll(async () => {
  workspace = await createWorkspace(db)
  service = await serviceToken()
  const token = await api.token(await createMember(db, workspace, 'operator'))
  correlation = randomUUID()
  const job = { job_kind: 'filtered', workspace_id: workspace, correlation_id: correlation }
  expect(await api.post('/api/v1/jobs', service, { jobs: [job] })).toMatchObject({ status: 201 })
  const shelf = { canonical_address: 'shelf', body: '# Shelf' }
  container = ((await api.post('/api/v1/units', token, shelf)).body as { unit_id: string }).unit_id
  const book = {
    canonical_address: 'shelf/book',
    body: '# Book',
    unit_kind: 'list',
    container_id: container,
  }
  expect(await api.post('/api/v1/units', token, book)).toMatchObject({ status: 201 })
  const text = 'name: filtered\nsteps:\n  - { step: one, tool: handler, call: one }\n'
  expect(await api.post('/api/v1/playbooks', service, { text, open_to_members: true })).toMatchObject({
    status: 201,
  })
  const start = { playbook: 'filtered', workspace_id: workspace, idempotency_key: 'once', version: 1 }
  const first = await api.post('/api/v1/executions', token, start)
  expect(first).toMatchObject({ status: 201 })
  expect((await api.post('/api/v1/executions', token, start)).body).toEqual(first.body)
})

it.each([
  ['jobs', () => ({ workspace_id: workspace }), { workspace_id: randomUUID() }],
  ['jobs', () => ({ correlation_id: correlation }), { correlation_id: randomUUID() }],
  ['jobs', () => ({ kind: 'filtered' }), { kind: 'other' }],
  ['jobs', () => ({ status: 'waiting' }), { status: 'dead' }],
  ['executions', () => ({ workspace_id: workspace }), { workspace_id: randomUUID() }],
  ['executions', () => ({ playbook: 'filtered' }), { playbook: 'other' }],
  ['executions', () => ({ status: 'PENDING' }), { status: 'FAILED' }],
  ['units', () => ({ workspace_id: workspace, under: 'shelf/book' }), { workspace_id: randomUUID() }],
  ['units', () => ({ container_id: container }), { container_id: randomUUID() }],
  ['units', () => ({ address: 'shelf' }), { address: 'elsewhere' }],
  ['units', () => ({ kind: 'list' }), { kind: 'table' }],
  ['units', () => ({ status: 'draft', under: 'shelf/book' }), { status: 'enacted' }],
  ['units', () => ({ under: 'shelf/book' }), { under: 'elsewhere' }],
])('%s: one is found, and none with another value', async (list, own, other) => {
  const count = async (query: Record<string, string>) => {
    const { status, body } = await api.get(`/api/v1/${list}?${new URLSearchParams(query)}`, service)
    expect([status, body]).toEqual([200, expect.anything()])
    return (body as Record<string, unknown[]>)[list]!.length
  }
  expect([await count(own()), await count(other as Record<string, string>)]).toEqual([1, 0])
})
