/** The examples of playbooks, each run from its files through the real engine and the real tools. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { playbookTools } from '../../src/app/playbook-runtime.ts'
import { startExecution } from '../../src/executions/control.ts'
import { registerPlaybook } from '../../src/executions/playbooks.ts'
import { getExecution } from '../../src/executions/queries.ts'
import { loadPlaybookHandlers } from '../../src/executions/tools/tool.ts'
import type { JsonObject } from '../../src/kernel/json.ts'
import { createPool, type Pool } from '../../src/kernel/postgres/connection.ts'
import { useEngines } from '../executions/engine/engines.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { until } from '../support/until.ts'

const engines = useEngines()
const { db } = engines
let sql: Pool
let workspace: string
let reviewer: Member

beforeAll(async () => {
  sql = createPool(db.url('stagedoor_playbook'), { max: 4 })
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  workspace = await createWorkspace(db)
  reviewer = await createMember(db, workspace, 'reviewer')
})
afterAll(() => sql.end())

const path = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))
const worker = () => db.pool('stagedoor_worker')

async function begin(
  example: string,
  args: JsonObject = {},
  handlers?: string,
  by?: Member,
): Promise<string> {
  const tools = playbookTools({
    pool: worker(),
    playbookPool: sql,
    ingest: undefined as never,
    handlers: (handlers === undefined ? undefined : await loadPlaybookHandlers(path(handlers))) ?? {},
    httpHosts: [],
    files: path(example),
  })
  await engines.start({}, { tools })
  const text = readFileSync(path(`${example}/playbook.yaml`), 'utf8')
  const { name } = await registerPlaybook(worker(), text, { openToMembers: by !== undefined })
  const options = { workspaceId: workspace }
  return by
    ? db.as(by, (client) => startExecution(client, name, args, options))
    : startExecution(worker(), name, args, options)
}

it('hello: four steps, and the answer', async () => {
  const id = await begin('hello-playbook', { name: 'Ada', times: 2 })
  await engines.ended(id)
  expect(await getExecution(worker(), id)).toMatchObject({
    status: 'COMPLETED',
    result: { value: { said: 2, last: 'hello, Ada no. 2' } },
    steps: [
      { step: 'ask' },
      { step: 'say', loop: { total: 2, done: 2 } },
      { step: 'rest' },
      { step: 'close' },
    ],
  })
})

it('fan-out: of 10,000 items two fail, the fan-in is partial and the repair path is taken', {
  tags: 'long',
}, async () => {
  const id = await begin('fan-out', {}, 'fan-out/handlers.mjs')
  await engines.ended(id, 240_000)
  const shown = await getExecution(worker(), id)
  expect(shown).toMatchObject({
    status: 'COMPLETED',
    result: { value: { status: 'partial', total: 10_000, done: 9998, failed: 2, repaired: [1234, 5678] } },
  })
  expect(shown.steps.map(({ step }) => step)).toEqual(['orders', 'load', 'repair', 'report'])
  expect(await engines.differences()).toEqual([])
})

it('fan-out: where all goes well there is nothing to repair', async () => {
  const id = await begin('fan-out', { n: 20, broken: [] }, 'fan-out/handlers.mjs')
  await engines.ended(id)
  const shown = await getExecution(worker(), id)
  expect(shown.steps.map(({ step }) => step)).toEqual(['orders', 'load', 'report'])
  expect(shown.result).toMatchObject({ value: { status: 'complete', done: 20, repaired: [] } })
})

const APPROVE =
  'select iu_core.fn_iu_staging_approve($1, (select content_hash from iu_core.iu_staging_record where staging_record_id = $1))'

it('approval: it waits for the decision of somebody else, with the checklist ticked, and goes on', async () => {
  const { id, record } = await drafted(reviewer)
  const decide = (member: Member, statement: string) =>
    db.as(member, (client) => client.query(statement, [record]))
  const colleague = await createMember(db, workspace, 'reviewer')
  expect(await sqlstateOf(decide(colleague, APPROVE))).toMatch(/^SD5/)
  await decide(colleague, `select iu_core.fn_iu_staging_tick($1, '1')`)
  // Who started it does not approve it.
  expect(await sqlstateOf(decide(reviewer, APPROVE))).toMatch(/^SD5/)
  await decide(colleague, APPROVE)
  await engines.ended(id)
  expect(await getExecution(worker(), id)).toMatchObject({ result: { value: 'week 45 is published' } })
  const rows = await db.owner(
    'select lifecycle_status from iu_core.iu_staging_record where staging_record_id = $1',
    [record],
  )
  expect(rows).toEqual([{ lifecycle_status: 'consumed' }])
})

it('approval: rejected, the other arc is taken', async () => {
  const { id, record } = await drafted()
  await db.as(reviewer, (client) => client.query(`select iu_core.fn_iu_staging_reject($1, 'no')`, [record]))
  await engines.ended(id)
  expect(await getExecution(worker(), id)).toMatchObject({
    result: { value: 'week 45 is not published, it was rejected' },
  })
})

async function drafted(by?: Member): Promise<{ id: string; record: string }> {
  const id = await begin('approval-flow', {}, undefined, by)
  const record = await until('it waits', async () => {
    const rows = await db.owner<{ record: string }>(
      'select staging_record_id as record from noetl.wait where execution_id = $1',
      [id],
    )
    return rows[0]?.record
  })
  return { id, record }
}
