import { beforeAll, describe, expect, it } from 'vitest'
import { playbook, useEngines } from '../../executions/engine/engines.ts'
import { useApi } from '../../support/api.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { serviceToken } from '../jobs/executors-api.ts'

const engines = useEngines()
const { db } = engines
const api = useApi(db)
let workspace: string
let operator: Member
let viewer: Member
let agent: Member
let stranger: Member
let service: string

const HELLO = `name: hello
args: { n: 1 }
steps:
  - { step: greet, tool: handler, call: greet, args: { n: "\${args.n}" }, next: close }
  - { step: close, tool: handler, call: close }
output: "\${steps.greet.result}"
`

interface Started {
  execution_id: string
}

beforeAll(async () => {
  workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  viewer = await createMember(db, workspace, 'viewer')
  agent = await createMember(db, workspace, 'agent')
  stranger = await createMember(db, await createWorkspace(db, 'Other'), 'admin')
  service = await serviceToken()
  await api.post('/api/v1/playbooks', service, { text: HELLO, open_to_members: true })
})

const start = async (token: string, body: object = {}) =>
  api.post('/api/v1/executions', token, { playbook: 'hello', workspace_id: workspace, ...body })
const started = async (body: object = {}) => {
  const reply = await start(await api.token(operator), body)
  expect(reply).toMatchObject({ status: 201 })
  return (reply.body as Started).execution_id
}
const greeting = { greet: ({ n }: { n?: unknown }) => ({ said: n ?? null }), close: () => null }

describe('playbooks', () => {
  it('are registered by the back end: once for the same content, again for new content', async () => {
    const again = await api.post('/api/v1/playbooks', service, { text: HELLO, open_to_members: true })
    expect(again).toMatchObject({ status: 200, body: { name: 'hello', version: 1 } })
    const text = HELLO.replace('hello', 'changing')
    expect(await api.post('/api/v1/playbooks', service, { text })).toMatchObject({
      status: 201,
      body: { version: 1 },
    })
    const changed = await api.post('/api/v1/playbooks', service, { text: text.replace('n: 1', 'n: 2') })
    expect(changed).toMatchObject({ status: 201, body: { name: 'changing', version: 2 } })
    const shown = await api.get('/api/v1/playbooks/changing?version=1', service)
    expect(shown).toMatchObject({ status: 200, body: { content: text, playbook: { args: { n: 1 } } } })
    expect(await api.get('/api/v1/playbooks/nobody', service)).toMatchObject({ status: 404 })
    const refused = await api.post('/api/v1/playbooks', await api.token(stranger), { text })
    expect(refused).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
  })

  it('that cannot be used are refused with every problem and its line', async () => {
    const text = 'name: wrong\nsteps:\n  - { step: a, tool: sqll, next: b }\n  - { step: c, tool: sql }\n'
    const reply = await api.post('/api/v1/playbooks', service, { text })
    expect(reply).toMatchObject({ status: 422, body: { code: 'playbook_invalid' } })
    const { detail } = reply.body as { detail: string }
    expect(detail).toMatch(/3:\d+ .*Did you mean sql/)
    expect(detail).toMatch(/3:\d+ .*step b/)
    expect(detail).toMatch(/4:\d+ .*query/)
  })

  it('that are not open to members are neither seen nor started by them', async () => {
    await api.post('/api/v1/playbooks', service, { text: HELLO.replace('hello', 'closed') })
    const token = await api.token(operator)
    const { playbooks } = (await api.get('/api/v1/playbooks', token)).body as {
      playbooks: { name: string }[]
    }
    expect(playbooks.map(({ name }) => name)).toEqual(['hello'])
    const refused = await start(token, { playbook: 'closed' })
    expect(refused).toMatchObject({ status: 403, body: { code: 'playbook_not_open' } })
  })

  it('that are disabled are not started until they are enabled', async () => {
    await api.post('/api/v1/playbooks', service, {
      text: HELLO.replace('hello', 'switched'),
      open_to_members: true,
    })
    const disabled = await api.post('/api/v1/playbooks/switched/disable', service)
    expect(disabled).toMatchObject({ status: 200, body: { disabled_at: expect.any(String) } })
    const token = await api.token(operator)
    expect(await start(token, { playbook: 'switched' })).toMatchObject({
      status: 404,
      body: { code: 'playbook_unknown' },
    })
    await api.post('/api/v1/playbooks/switched/enable', service)
    expect(await start(token, { playbook: 'switched' })).toMatchObject({ status: 201 })
  })
})

describe('an execution', () => {
  it('is started, runs, and shows its steps, its log and its result', async () => {
    await engines.start(greeting)
    const id = await started({ args: { n: 7 } })
    await engines.ended(id)
    const token = await api.token(viewer)
    expect((await api.get(`/api/v1/executions/${id}`, token)).body).toMatchObject({
      execution_id: id,
      playbook: 'hello',
      status: 'COMPLETED',
      workspace_id: workspace,
      started_by: operator.userId,
      args: { n: 7 },
      steps: [
        { node_id: 'greet#1', status: 'completed', result: { value: { said: 7 } } },
        { node_id: 'close#1', status: 'completed' },
      ],
    })
    expect((await api.get(`/api/v1/executions/${id}/result`, token)).body).toEqual({
      execution_id: id,
      value: { said: 7 },
    })
    expect((await api.get(`/api/v1/executions/${id}/result?step=greet`, token)).body).toMatchObject({
      value: { said: 7 },
    })
    const first = (await api.get(`/api/v1/executions/${id}/history?limit=2`, token)).body as Page
    expect(first.events.map(({ event_type }) => event_type)).toEqual([
      'playbook.initialized',
      'command.issued',
    ])
    const rest = (await api.get(`/api/v1/executions/${id}/history?after=${first.next}`, token)).body as Page
    expect(rest).toMatchObject({ next: null })
    expect(rest.events.at(-1)).toMatchObject({
      event_type: 'playbook.completed',
      parent_event_id: expect.any(String),
    })
    expect((await api.get(`/api/v1/traces/${id}`, service)).body).toMatchObject({
      executions: [{ execution_id: id }],
    })
  })

  it('with a large result gives it by reference, and the whole of it when asked', async () => {
    await engines.start({ ...greeting, greet: () => ({ said: 'x'.repeat(20_000) }) })
    const id = await started()
    await engines.ended(id)
    const token = await api.token(viewer)
    const { result } = (await api.get(`/api/v1/executions/${id}`, token)).body as { result: object }
    expect(result).toMatchObject({ ref: expect.any(String), bytes: expect.any(Number) })
    expect((await api.get(`/api/v1/executions/${id}/result`, token)).body).toMatchObject({
      value: { said: 'x'.repeat(20_000) },
    })
  })

  it('is one for each key, and is listed page by page', async () => {
    const first = await started({ idempotency_key: 'week-45' })
    expect(await started({ idempotency_key: 'week-45' })).toBe(first)
    const second = await started()
    const token = await api.token(viewer)
    const page = (await api.get('/api/v1/executions?limit=1', token)).body as List
    expect(page).toMatchObject({ executions: [{ execution_id: second, status: 'PENDING' }], next: second })
    const next = (await api.get(`/api/v1/executions?limit=1&after=${page.next}`, token)).body as List
    expect(next.executions[0]!.execution_id).toBe(first)
    expect(await api.get(`/api/v1/executions/${first}/result`, token)).toMatchObject({
      status: 409,
      body: { code: 'execution_not_completed' },
    })
  })

  it('is paused, resumed, cancelled; what has ended stays as it is', async () => {
    const token = await api.token(operator)
    const id = await started()
    const tell = (what: string, body?: object) => api.post(`/api/v1/executions/${id}/${what}`, token, body)
    expect(await tell('resume')).toMatchObject({ status: 409, body: { code: 'execution_not_paused' } })
    expect(await tell('pause')).toMatchObject({ status: 202 })
    expect(await tell('resume')).toMatchObject({ status: 202 })
    expect(await tell('cancel', { reason: 'not now' })).toMatchObject({
      status: 202,
      body: { action: 'cancel' },
    })
    await engines.start(greeting)
    expect(await engines.ended(id)).toMatchObject({ status: 'CANCELLED' })
    expect(await tell('cancel')).toMatchObject({ status: 409, body: { code: 'execution_ended' } })
  })

  it('is run again from a step that it came to', async () => {
    await engines.start(greeting)
    const id = await started({ args: { n: 3 } })
    await engines.ended(id)
    const token = await api.token(operator)
    const unknown = await api.post(`/api/v1/executions/${id}/rerun`, token, { from_step: 'nowhere' })
    expect(unknown).toMatchObject({ status: 404, body: { code: 'step_unknown' } })
    const again = await api.post(`/api/v1/executions/${id}/rerun`, token, { from_step: 'close' })
    const { execution_id } = again.body as Started
    await engines.ended(execution_id)
    expect((await api.get(`/api/v1/executions/${execution_id}`, token)).body).toMatchObject({
      rerun_of: id,
      from_step: 'close',
      steps: [{ step: 'close' }],
      result: { value: { said: 3 } },
    })
  })

  it('of which something is wrong is refused before it begins', async () => {
    const token = await api.token(operator)
    expect(await start(token, { args: { m: 1 } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('has no argument m') },
    })
    expect(await start(token, { args: [] })).toMatchObject({ status: 400 })
    expect(await api.get('/api/v1/executions/9999999999999999999', token)).toMatchObject({ status: 400 })
    expect(await api.get('/api/v1/executions/12', token)).toMatchObject({
      status: 404,
      body: { code: 'execution_unknown' },
    })
  })

  it('is rebuilt by the back end', async () => {
    await engines.start(greeting)
    const id = await started()
    await engines.ended(id)
    await db.owner(`update noetl.execution set status = 'FAILED' where execution_id = $1`, [id])
    expect(await api.post(`/api/v1/executions/${id}/rebuild`, await api.token(operator))).toMatchObject({
      status: 403,
    })
    expect(await api.post(`/api/v1/executions/${id}/rebuild`, service)).toMatchObject({ status: 200 })
    expect(await engines.status(id)).toBe('COMPLETED')
  })
})

describe('access control', () => {
  it('shows members the name of what ran for them, also where they may not start it', async () => {
    await engines.register(playbook('for_them', [{ step: 'greet' }]))
    await engines.start(greeting)
    const { body } = await api.post('/api/v1/executions', service, {
      playbook: 'for_them',
      workspace_id: workspace,
    })
    const { execution_id } = body as Started
    await engines.ended(execution_id)
    const listed = (await api.get('/api/v1/executions?playbook=for_them', await api.token(viewer)))
      .body as List
    expect(listed.executions).toMatchObject([{ execution_id, playbook: 'for_them', version: 1 }])
  })

  it('hides an execution from members of other workspaces, whatever they ask', async () => {
    await engines.start(greeting)
    const id = await started()
    await engines.ended(id)
    const token = await api.token(stranger)
    expect((await api.get('/api/v1/executions', token)).body).toEqual({
      executions: [],
      people: {},
      next: null,
    })
    for (const path of ['', '/events', '/result']) {
      expect(await api.get(`/api/v1/executions/${id}${path}`, token)).toMatchObject({ status: 404 })
    }
    for (const [path, body] of [
      ['cancel'],
      ['pause'],
      ['resume'],
      ['rerun', { from_step: 'greet' }],
    ] as const) {
      const reply = await api.post(`/api/v1/executions/${id}/${path}`, token, body)
      expect(reply).toMatchObject({ status: 404, body: { code: 'execution_unknown' } })
    }
    expect(await start(token)).toMatchObject({ status: 403 })
    expect(await api.get(`/api/v1/traces/${id}`, token)).toMatchObject({ status: 404 })
  })

  it('lets a viewer and an agent look, and do nothing', async () => {
    const id = await started()
    for (const member of [viewer, agent]) {
      const token = await api.token(member)
      expect(await start(token)).toMatchObject({ status: 403 })
      expect(await api.get(`/api/v1/executions/${id}`, token)).toMatchObject({ status: 200 })
      expect(await api.post(`/api/v1/executions/${id}/cancel`, token)).toMatchObject({ status: 403 })
    }
  })

  it('keeps executions of no workspace for the back end', async () => {
    await engines.register(playbook('global', [{ step: 'greet' }]))
    const { body } = await api.post('/api/v1/executions', service, { playbook: 'global' })
    const { execution_id } = body as Started
    expect(await api.get(`/api/v1/executions/${execution_id}`, service)).toMatchObject({ status: 200 })
    expect(await api.get(`/api/v1/executions/${execution_id}`, await api.token(operator))).toMatchObject({
      status: 404,
    })
    const refused = await api.post('/api/v1/executions', await api.token(operator), { playbook: 'hello' })
    expect(refused.status).toBe(400)
  })
})

interface Page {
  events: { event_type: string; parent_event_id: string | null }[]
  next: number | null
}

interface List {
  executions: { execution_id: string }[]
  next: string | null
}

describe('a start', () => {
  it('by a member without a workspace says to give one', async () => {
    const reply = await api.post('/api/v1/executions', await api.token(operator), { playbook: 'hello' })
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'argument_invalid', hint: expect.stringContaining('workspace_id') },
    })
  })

  it('with a key that has other arguments is refused, and names the execution that has it', async () => {
    const id = await started({ idempotency_key: 'mine', args: { n: 1 } })
    expect(await started({ idempotency_key: 'mine', args: { n: 1 } })).toBe(id)
    const other = await start(await api.token(operator), { idempotency_key: 'mine', args: { n: 2 } })
    expect(other).toMatchObject({
      status: 409,
      body: { code: 'execution_key_taken', detail: expect.stringContaining(id) },
    })
  })

  it('again from a step takes another version of the playbook where one is named', async () => {
    await engines.start({
      greet: () => 1,
      close: ({ broken }) => {
        if (broken) throw new Error('broken')
        return null
      },
    })
    const text = HELLO.replace('name: hello', 'name: mended')
    const wrong = text.replace('call: close }', 'call: close, args: { broken: true } }')
    await api.post('/api/v1/playbooks', service, { text: wrong, open_to_members: true })
    const first = await started({ playbook: 'mended' })
    expect(await engines.ended(first)).toMatchObject({ status: 'FAILED' })
    await api.post('/api/v1/playbooks', service, { text, open_to_members: true })
    const path = `/api/v1/executions/${first}/rerun`
    const again = await api.post(path, await api.token(operator), { from_step: 'close', version: 2 })
    expect(again).toMatchObject({ status: 201 })
    expect(await engines.ended((again.body as Started).execution_id)).toMatchObject({ status: 'COMPLETED' })
  })
})
