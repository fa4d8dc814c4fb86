/** What the page of an execution shows: its graph, the items of its loops, who ran what; and the lists with counts. */
import { beforeAll, describe, expect, it } from 'vitest'
import { useEngines } from '../../executions/engine/engines.ts'
import { useApi } from '../../support/api.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { serviceToken } from '../jobs/executors-api.ts'

const engines = useEngines()
const { db } = engines
const api = useApi(db)
let workspace: string
let operator: string
let viewer: string
let stranger: string
let service: string

const FANOUT = `name: weekly
args: { n: 7 }
steps:
  - { step: orders, tool: handler, call: list, args: { n: "\${args.n}" }, next: load }
  - step: load
    loop: { in: "\${steps.orders.result}", as: order, mode: fanout, key: "\${order}", allow_partial: true }
    retry: { attempts: 2, backoff: 1ms }
    tool: handler
    call: load
    args: { order: "\${order}" }
    next:
      - { when: "steps.load.fanin.failed > 0", step: repair }
      - report
  - { step: repair, tool: handler, call: repair, next: report }
  - { step: report, tool: handler, call: report }
`
const HANDLERS = {
  list: ({ n }: { n?: unknown }) => Array.from({ length: Number(n) }, (_, at) => `order-${at}`),
  load: ({ order }: { order?: unknown }) => {
    if (order === 'order-2' || order === 'order-5') throw new Error(`The order ${order} was deleted`)
    return { loaded: order as string }
  },
  repair: () => 'repaired',
  report: () => 'reported',
}

interface Graph {
  definition: { steps: object[] } | null
  nodes: { step: string; status: string; entries: number; loop: { loop_id: string } | null }[]
  arcs: { from: string; to: string; times: number }[]
}
interface Items {
  items: { index: number; status: string; attempts: number; error: string | null; worker: string | null }[]
  next: number | null
}

beforeAll(async () => {
  workspace = await createWorkspace(db)
  operator = await api.token(await createMember(db, workspace, 'operator'))
  viewer = await api.token(await createMember(db, workspace, 'viewer'))
  stranger = await api.token(await createMember(db, await createWorkspace(db, 'Other'), 'admin'))
  service = await serviceToken()
  for (const [text, open_to_members] of [
    [FANOUT, true],
    [FANOUT.replace('name: weekly', 'name: closed'), false],
  ] as const)
    await api.post('/api/v1/playbooks', service, { text, open_to_members })
})

async function run(playbook: string, args: object, token = operator): Promise<string> {
  const reply = await api.post('/api/v1/executions', token, { playbook, args, workspace_id: workspace })
  expect(reply).toMatchObject({ status: 201 })
  const { execution_id } = reply.body as { execution_id: string }
  await engines.ended(execution_id)
  return execution_id
}
const get = async <T>(path: string, token = viewer): Promise<T> => {
  const reply = await api.get(`/api/v1${path}`, token)
  expect(reply).toMatchObject({ status: 200 })
  return reply.body as T
}

it('shows the graph, the items and the timeline of a fan-out, in pages, to its workspace only', async () => {
  await engines.start(HANDLERS, { name: 'worker-a' })
  const id = await run('weekly', {})
  const graph = await get<Graph>(`/executions/${id}/graph`)
  expect(graph.definition!.steps).toHaveLength(4)
  expect(graph.nodes).toMatchObject([
    { step: 'orders', status: 'completed', entries: 1, loop: null },
    { step: 'load', status: 'partial', loop: { total: 7, done: 5, failed: 2 } },
    { step: 'repair', status: 'completed' },
    { step: 'report', status: 'completed' },
  ])
  expect(graph.arcs).toEqual([
    { from: 'load', to: 'repair', times: 1 },
    { from: 'orders', to: 'load', times: 1 },
    { from: 'repair', to: 'report', times: 1 },
  ])

  const loop = `/executions/${id}/loops/${graph.nodes[1]!.loop!.loop_id}/items`
  const failed = await get<Items>(`${loop}?status=failed&limit=1`)
  expect(failed).toMatchObject({
    items: [
      {
        index: 2,
        status: 'failed',
        key: 'order-2',
        item: 'order-2',
        attempts: 2,
        error: 'The order order-2 was deleted',
        worker: 'worker-a',
        ms: expect.any(Number),
        ended_at: expect.any(String),
      },
    ],
    next: 2,
  })
  expect(await get<Items>(`${loop}?status=failed&limit=1&after=2`)).toMatchObject({
    items: [{ index: 5 }],
    next: null,
  })
  const all = await get<Items>(`${loop}?limit=4`)
  expect(all.items.map(({ index, status }) => `${index} ${status}`)).toEqual([
    '0 done',
    '1 done',
    '2 failed',
    '3 done',
  ])
  expect((await get<Items>(`${loop}?limit=4&after=${all.next}`)).items.map(({ index }) => index)).toEqual([
    4, 5, 6,
  ])
  expect((await get<Items>(`${loop}?status=done`)).items).toHaveLength(5)
  expect(await get<Items>(`${loop}?status=open`)).toEqual({ items: [], next: null })

  const timeline = await get<{ lanes: { bars: { failed: number; step: string }[] }[] }>(
    `/executions/${id}/timeline`,
  )
  expect(timeline).toMatchObject({
    lanes: [{ worker: 'worker-a', done: 8, failed: 4 }],
    running: [],
    partial: false,
  })
  expect(timeline.lanes[0]!.bars.reduce((sum, { failed }) => sum + failed, 0)).toBe(4)

  const history = await get<{ events: { error: string }[] }>(
    `/executions/${id}/history?failed=true&step=load`,
  )
  expect(history.events.length).toBeGreaterThanOrEqual(4)
  expect(history.events.every(({ error }) => error !== null)).toBe(true)

  const parts = ['graph', 'timeline', loop.replace(`/executions/${id}/`, '')]
  for (const part of parts)
    expect(await api.get(`/api/v1/executions/${id}/${part}`, stranger)).toMatchObject({
      status: 404,
      body: { code: 'execution_unknown' },
    })
  expect(await api.get(`/api/v1/executions/${id}/loops/7/items`, viewer)).toMatchObject({ status: 404 })
})

it('shows what a process runs now, and the graph without the playbook where that is not open', async () => {
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await engines.start({ ...HANDLERS, load: () => held.then(() => null) }, { name: 'worker-b' })
  const started = await api.post('/api/v1/executions', service, {
    playbook: 'closed',
    args: { n: 2 },
    workspace_id: workspace,
  })
  const { execution_id: id } = started.body as { execution_id: string }
  const running = () =>
    api
      .get(`/api/v1/executions/${id}/timeline`, viewer)
      .then(({ status, body }) => (status === 200 ? (body as { running: object[] }).running : []))
  await until('both items run', async () => (await running()).length === 2)
  expect(await running()).toMatchObject([
    { step: 'load', worker: 'worker-b', attempt: 1 },
    { step: 'load', worker: 'worker-b', attempt: 1 },
  ])
  // What runs is known at once, the loop when it is projected.
  const graph = await until('the loop is projected', async () => {
    const shown = await get<Graph>(`/executions/${id}/graph`)
    return shown.nodes[1]?.loop ? shown : undefined
  })
  expect(graph.definition).toBeNull()
  expect(graph.nodes.map(({ step }) => step)).toEqual(['orders', 'load'])
  const loop = `/executions/${id}/loops/${graph.nodes[1]!.loop!.loop_id}/items`
  expect((await get<Items>(`${loop}?status=open`)).items.map(({ index }) => index)).toEqual([0, 1])
  release()
  await engines.ended(id)
})

it('that has begun and is not projected yet is there for its workspace, and for nobody else', async () => {
  const [{ id }] = (await db.owner<{ id: string }>(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, meta)
     select n.id, n.id + 1, 1, 'playbook.initialized', 1, jsonb_build_object('workspace_id', $1::text, 'playbook', 'weekly')
       from (select noetl.fn_snowflake() as id) n returning execution_id::text as id`,
    [workspace],
  )) as [{ id: string }]
  const shown = await get<object>(`/executions/${id}`)
  expect(shown).toMatchObject({ status: 'PENDING', playbook: 'weekly', workspace_id: workspace, steps: [] })
  expect(await get<Graph>(`/executions/${id}/graph`)).toMatchObject({ nodes: [], arcs: [] })
  expect(await api.get(`/api/v1/executions/${id}`, stranger)).toMatchObject({
    status: 404,
    body: { code: 'execution_unknown' },
  })
})

describe('lists', () => {
  it('are filtered by time and failure, counted by status, and summed up for each playbook', async () => {
    await engines.start(HANDLERS)
    const before = new Date().toISOString()
    const clean = await run('weekly', { n: 2 })
    const partial = await run('weekly', { n: 3 })
    const ids = async (query: string, token = viewer) =>
      (await get<{ executions: { execution_id: string }[] }>(`/executions?${query}`, token)).executions.map(
        ({ execution_id }) => execution_id,
      )
    expect(await ids(`since=${before}`)).toEqual([partial, clean])
    expect(await ids(`since=${before}&failed=true`)).toEqual([partial])
    expect(await ids(`until=${before}&limit=200`)).not.toContain(clean)
    expect(await ids(`since=${before}&limit=1&after=${partial}`)).toEqual([clean])
    expect(await ids(`since=${before}`, stranger)).toEqual([])

    expect(await get(`/executions/counts?since=${before}`)).toEqual({
      by_status: { COMPLETED: 2 },
      with_failed_items: 1,
      more: false,
    })
    expect(await get(`/executions/counts?playbook=nothing`)).toMatchObject({ by_status: {} })
    expect(await get('/executions/counts', stranger)).toMatchObject({ by_status: {} })
    const { playbooks } = await get<{ playbooks: { playbook: string }[] }>('/executions/by-playbook')
    expect(playbooks.find(({ playbook }) => playbook === 'weekly')).toMatchObject({
      last_execution_id: partial,
      last_status: 'COMPLETED',
      running: 0,
    })
    expect(await get('/executions/by-playbook', stranger)).toEqual({ playbooks: [] })
  })
})

describe('playbooks', () => {
  it('are checked without being registered, with the line of every problem', async () => {
    const text = FANOUT.replace('name: weekly', 'name: new-one').replace(
      'call: report }',
      'call: report, next: nowhere }',
    )
    const checked = await api.post('/api/v1/playbooks/check', viewer, { text })
    expect(checked).toMatchObject({
      status: 200,
      body: { ok: false, problems: [{ severity: 'error', line: 15 }], playbook: null },
    })
    const good = await api.post('/api/v1/playbooks/check', viewer, { text: FANOUT })
    expect(good).toMatchObject({ status: 200, body: { ok: true, playbook: { name: 'weekly' } } })
    expect(await api.get('/api/v1/playbooks/new-one', service)).toMatchObject({ status: 404 })
    expect(await api.post('/api/v1/playbooks/check', 'nobody', { text })).toMatchObject({ status: 401 })
  })

  it('have versions in pages and a diff between two; those that are not open are not seen', async () => {
    const text = FANOUT.replace('name: weekly', 'name: grown')
    for (const n of [7, 8, 9])
      await api.post('/api/v1/playbooks', service, {
        text: text.replace('n: 7', `n: ${n}`),
        open_to_members: true,
      })
    const first = await get<{ versions: { version: number }[]; next: number }>(
      '/playbooks/grown/versions?limit=2',
    )
    expect(first).toMatchObject({ versions: [{ version: 3 }, { version: 2 }], next: 2 })
    expect(await get(`/playbooks/grown/versions?before=${first.next}`)).toMatchObject({
      versions: [{ version: 1 }],
      next: null,
    })
    const { patch } = await get<{ patch: string }>('/playbooks/grown/diff?from=1')
    expect(patch).toContain('-args: { n: 7 }\n+args: { n: 9 }')
    expect(await get('/playbooks/grown/diff')).toMatchObject({ from: 2, to: 3 })
    expect(await get('/playbooks/grown/diff?from=3&to=3')).toMatchObject({ patch: '' })
    for (const path of ['closed/versions', 'closed/diff', 'grown/diff?from=9'])
      expect(await api.get(`/api/v1/playbooks/${path}`, viewer)).toMatchObject({ status: 404 })
  })
})
