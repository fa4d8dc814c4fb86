/** The steps of a long execution: a page at a time, and one of them without the others. */
import { beforeAll, expect, it } from 'vitest'
import { useApi } from '../../support/api.ts'
import { fastestMs } from '../../support/cpu.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
const STEPS = 20_000
let id: string
let token: string
let stranger: string

interface Page {
  steps: { node_id: string; step: string; status: string; attempt: number | null; loop: object | null }[]
  next: number | null
}

/** Each follows from the one before it, as in every log. */
interface Logged {
  event_type: string
  node_id?: string
  status?: string
  meta?: object
  result?: object
}

const issued = (node_id: string, attempt = 1, more = {}) => ({
  ...{ event_type: 'command.issued', node_id, status: 'issued' },
  meta: { command_id: `${node_id}:${attempt}`, attempt, ...more },
})
const completed = (node_id: string, value: unknown, attempt = 1, more = {}) => ({
  ...{ event_type: 'command.completed', node_id, status: 'completed', result: { status: 'ok', value } },
  meta: { command_id: `${node_id}:${attempt}`, attempt, ...more },
})

beforeAll(async () => {
  const workspace = await createWorkspace(db)
  token = await api.token(await createMember(db, workspace, 'viewer'))
  stranger = await api.token(await createMember(db, await createWorkspace(db, 'Other'), 'viewer'))
  id = (await db.owner<{ id: string }>('select noetl.fn_snowflake()::text as id'))[0]!.id
  const loop = { loop_id: '7', iter_index: 0 }
  const log: Logged[] = [
    { event_type: 'playbook.initialized', meta: { workspace_id: workspace, playbook: 'long' } },
    ...Array.from({ length: STEPS }, (_, n) => [
      issued(`turn#${n + 1}`),
      completed(`turn#${n + 1}`, n + 1),
    ]).flat(),
    issued('again#1'),
    {
      event_type: 'command.failed',
      node_id: 'again#1',
      status: 'failed',
      meta: { command_id: 'again#1:1', attempt: 1, final: false },
    },
    issued('again#1', 2),
    completed('again#1', 'at last', 2),
    {
      event_type: 'loop.started',
      node_id: 'each#1',
      status: 'started',
      meta: { ...loop, collection_size: 1, mode: 'parallel' },
    },
    { event_type: 'loop.item', node_id: 'each#1', status: 'dispatched', meta: { ...loop, command_id: 'i' } },
    completed('each#1', 1, 1, loop),
    {
      ...{ event_type: 'loop.done', node_id: 'each#1', status: 'completed', meta: { loop_id: '7' } },
      result: { status: 'ok', context: { total: 1, completed: 1, failed: 0 } },
    },
    // One that could not begin has no more than its end.
    { event_type: 'step.exit', node_id: 'wrong#1', status: 'failed', result: { status: 'error' } },
    { event_type: 'step.enter', node_id: 'rest#1', status: 'waiting', meta: { wait: 'timer' } },
  ]
  await db.owner(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, parent_event_id, node_id, node_name, status, meta, result)
     select $1::bigint, $1::bigint + n, n, e ->> 'event_type', 1, case when n > 1 then $1::bigint + n - 1 end, e ->> 'node_id',
            split_part(e ->> 'node_id', '#', 1), e ->> 'status', e -> 'meta', e -> 'result'
       from jsonb_array_elements($2) with ordinality as l (e, n)`,
    [id, JSON.stringify(log)],
  )
  await db.owner('select noetl.rebuild_execution_projection($1)', [id])
})

const get = async <T>(path: string) => (await api.get(`/api/v1/executions/${id}${path}`, token)).body as T

it('shows the first hundred, and where the next page begins', async () => {
  const shown = await get<{ steps: Page['steps']; next_steps: number }>('')
  expect(shown.steps.map(({ node_id }) => node_id)).toEqual(
    Array.from({ length: 100 }, (_, n) => `turn#${n + 1}`),
  )
  const next = await get<Page>(`/steps?after=${shown.next_steps}&limit=2`)
  expect(next.steps).toMatchObject([{ node_id: 'turn#101' }, { node_id: 'turn#102', status: 'completed' }])
})

it('gives every step once, in the order in which they were entered, whatever happened in them', async () => {
  const seen: Page['steps'] = []
  for (let after: number | null = 0; after !== null; ) {
    const page: Page = await get<Page>(`/steps?limit=1000&after=${after}`)
    expect(page.steps.length).toBeLessThanOrEqual(1000)
    seen.push(...page.steps)
    after = page.next
  }
  expect(seen).toHaveLength(STEPS + 4)
  expect(new Set(seen.map(({ node_id }) => node_id)).size).toBe(STEPS + 4)
  expect(seen.slice(-4)).toMatchObject([
    { node_id: 'again#1', status: 'completed', attempt: 2 },
    { node_id: 'each#1', status: 'complete', loop: { total: 1, done: 1 } },
    { node_id: 'wrong#1', status: 'failed' },
    { node_id: 'rest#1', status: 'waiting' },
  ])
})

it('finds what one step gave without the others', async () => {
  const find = async () => {
    expect(await get('/result?step=turn')).toEqual({ execution_id: id, value: STEPS })
    expect(await get('/result?step=again')).toMatchObject({ value: 'at last' })
  }
  // All of them took a second.
  expect(await fastestMs(find, 1000)).toBeLessThan(1000)
  expect(await get('/result?step=rest')).toMatchObject({ code: 'step_unknown' })
})

it('hides them from members of other workspaces', async () => {
  expect(await api.get(`/api/v1/executions/${id}/steps`, stranger)).toMatchObject({ status: 404 })
})
