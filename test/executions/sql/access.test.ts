/** Who may do what with executions: members in their workspace, agents nothing, engines alone what is theirs. */
import { beforeAll, expect, it } from 'vitest'
import type { Caller } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { engineDriver, logOf } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
let ours: string
let operator: Member
let reviewer: Member
let viewer: Member
let agent: Member
let stranger: Member
let execution: string
let global: string

const as = async (caller: Caller, sql: string, values: unknown[] = []) =>
  db.as(caller, async (client) => (await client.query(sql, values)).rows)
const START = 'select noetl.fn_execution_start($1, p_workspace_id => $2) as id'
const START_BATCH = `select noetl.fn_execution_start_batch(jsonb_build_array(
  jsonb_build_object('playbook', $1::text, 'workspace_id', $2::uuid, 'args', '{}'::jsonb))) as id`

beforeAll(async () => {
  ours = await createWorkspace(db, 'ours')
  operator = await createMember(db, ours, 'operator')
  reviewer = await createMember(db, ours, 'reviewer')
  viewer = await createMember(db, ours, 'viewer')
  agent = await createMember(db, ours, 'agent')
  stranger = await createMember(db, await createWorkspace(db, 'theirs'), 'admin')
  for (const [name, open] of [
    ['open', true],
    ['closed', false],
  ] as const) {
    const playbook = { name, args: {}, start: 'a', steps: [{ step: 'a' }] }
    await engines.rows('select noetl.fn_playbook_register($1, $2, $3, $4)', [
      name,
      'text',
      JSON.stringify(playbook),
      open,
    ])
  }
  const engine = await engines.alone()
  ;[execution, global] = [await engines.newId(), await engines.newId()]
  await engines.flush(engine, {
    events: [ours, null].map((workspace_id, n) =>
      logOf(n === 0 ? execution : global)('playbook.initialized', { meta: { workspace_id } }),
    ),
  })
})

it.each([START, START_BATCH])(
  'lets members who operate start what is open, in their workspace, and in no other: %s',
  async (sql) => {
    const [row] = await as(operator, sql, ['open', ours])
    await as(reviewer, sql, ['open', ours])
    expect(
      await engines.rows(`select body ->> 'started_by' as who from noetl.inbox where execution_id = $1`, [
        row.id,
      ]),
    ).toEqual([{ who: operator.userId }])
    expect(await sqlstateOf(as(operator, sql, ['closed', ours]))).toBe('SD810')
    expect(await sqlstateOf(as(operator, sql, ['nowhere', ours]))).toBe('SD802')
    expect(await sqlstateOf(as(viewer, sql, ['open', ours]))).toBe('SD202')
    expect(await sqlstateOf(as(stranger, sql, ['open', ours]))).toBe('SD201')
    expect(await sqlstateOf(as(operator, sql, ['open', null]))).toBe('SD001')
    expect(await sqlstateOf(as(agent, sql, ['open', ours]))).toBe('42501')
    expect(await sqlstateOf(as({ role: 'anon' }, sql, ['open', ours]))).toBe('42501')
  },
)

it.each(['cancel($1)', 'pause($1)', 'resume($1)', `rerun($1, 'a')`])(
  'an execution of others is not there for %s; a viewer may not, an agent cannot',
  async (call) => {
    const sql = `select noetl.fn_execution_${call}`
    expect(await sqlstateOf(as(stranger, sql, [execution]))).toBe('SD803')
    expect(await sqlstateOf(as(operator, sql, [global]))).toBe('SD803')
    expect(await sqlstateOf(as(stranger, sql, ['4711']))).toBe('SD803')
    expect(await sqlstateOf(as(viewer, sql, [execution]))).toBe('SD202')
    expect(await sqlstateOf(as(agent, sql, [execution]))).toBe('42501')
    expect(await sqlstateOf(as(operator, sql, [execution]))).toMatch(/^(not refused|SD807|SD808)$/)
  },
)

it('shows members the log and the results of their own executions once they are projected, and of no other', async () => {
  for (const [id, workspace] of [
    [execution, ours],
    [global, null],
  ]) {
    await db.owner(
      `insert into noetl.execution (execution_id, catalog_id, workspace_id, status, last_event_id, last_seq, created_at, updated_at)
       values ($1, 1, $2, 'RUNNING', 1, 1, now(), now())`,
      [id, workspace],
    )
    await db.owner(
      `insert into noetl.result_ref (ref_id, execution_id, store_tier, content_hash, bytes) values ($1, $1, 'db', '', 0)`,
      [id],
    )
  }
  const [partition] = await db.owner<{ name: string }>(
    'select tableoid::regclass::text as name from noetl.event limit 1',
  )
  for (const table of ['noetl.event', 'noetl.result_ref']) {
    const SEEN = `select execution_id from ${table}`
    for (const member of [viewer, agent])
      expect(await as(member, SEEN)).toEqual([{ execution_id: execution }])
    expect(await as(stranger, SEEN)).toEqual([])
  }
  for (const table of [
    partition!.name,
    'noetl.result_body',
    'noetl.checkpoint',
    'noetl.command',
    'noetl.engine',
    'noetl.execution_key',
  ]) {
    expect(await sqlstateOf(as(viewer, `select * from ${table}`)), table).toBe('42501')
  }
})

it('shows members the start that waits in their own workspace, and no other message', async () => {
  const SEEN = 'select distinct kind from noetl.inbox'
  await as(operator, 'select noetl.fn_execution_pause($1)', [execution])
  expect(await as(viewer, SEEN)).toEqual([{ kind: 'start' }])
  expect(await as(stranger, SEEN)).toEqual([])
})

it('shows members the open playbooks only', async () => {
  expect(await as(viewer, 'select path from noetl.catalog')).toEqual([{ path: 'open' }])
})

/** Everything of noetl that people may call; all else is for back-end code or inside. */
it('refuses every function for engines to people', async () => {
  const rows = await db.owner<{ signature: string }>(
    `select p.oid::regprocedure::text as signature from pg_proc p
      where p.pronamespace = 'noetl'::regnamespace
        and (has_function_privilege('authenticated', p.oid, 'execute') or has_function_privilege('stagedoor_reviewer', p.oid, 'execute')
             or has_function_privilege('stagedoor_agent', p.oid, 'execute') or has_function_privilege('anon', p.oid, 'execute'))
      order by 1`,
  )
  expect(rows.map((row) => row.signature)).toEqual([
    // Which engines live, without what they run.
    'noetl.fn_engines()',
    'noetl.fn_execution_cancel(bigint,text)',
    'noetl.fn_execution_pause(bigint)',
    'noetl.fn_execution_rerun(bigint,text,integer)',
    'noetl.fn_execution_resume(bigint)',
    // These three ask first whether the caller may read the workspace.
    'noetl.fn_execution_running(bigint,integer)',
    'noetl.fn_execution_start(text,jsonb,uuid,integer,text)',
    'noetl.fn_execution_start_batch(jsonb)',
    'noetl.fn_execution_starting(bigint)',
    'noetl.fn_loop_items(bigint,text,text,integer,integer)',
    // With the caller's own rights to the log.
    'noetl.fn_loop_progress(bigint,text)',
    'noetl.fn_result_read(bigint)',
    'noetl.fn_shard_of(bigint)',
    'noetl.fn_snowflake_floor(timestamp with time zone)',
    'noetl.fn_snowflake_time(bigint)',
  ])
  for (const call of ['fn_execution_running($1)', 'fn_execution_starting($1)', `fn_loop_items($1, '7')`])
    expect(await sqlstateOf(as(stranger, `select noetl.${call}`, [execution])), call).toBe('SD803')
  for (const call of [
    `noetl.fn_engine_register('x', true, true)`,
    'noetl.fn_engine_heartbeat(gen_random_uuid())',
    `noetl.fn_execution_flush(gen_random_uuid(), '{}', '{}', '{}')`,
    'noetl.fn_inbox_read(gen_random_uuid(), 1)',
    'noetl.fn_command_claim(gen_random_uuid(), 1)',
    `noetl.fn_command_end(gen_random_uuid(), '[]')`,
    'noetl.fn_engine_reap()',
    `noetl.fn_playbook_register('x', 'y', '{}')`,
  ]) {
    for (const caller of [operator, reviewer, agent]) {
      expect(await sqlstateOf(as(caller, `select ${call}`)), call).toBe('42501')
    }
  }
})

it('lets back-end code read every table, and write none but through functions', async () => {
  const tables = await db.owner<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relnamespace = 'noetl'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  expect(tables.length).toBeGreaterThan(13)
  for (const { name } of tables) {
    await engines.rows(`select from ${name} limit 1`)
    for (const sql of [`delete from ${name}`, `insert into ${name} default values`]) {
      expect(await sqlstateOf(engines.rows(sql)), sql).toBe('42501')
    }
  }
})

it('shows an item of a stored collection to members, and to agents only that there is one', async () => {
  const [{ seq }] = (await db.owner<{ seq: number }>(
    'select max(seq) as seq from noetl.event where execution_id = $1',
    [execution],
  )) as [{ seq: number }]
  await db.owner(
    `with ref as (
       insert into noetl.result_ref (ref_id, execution_id, store_tier, content_hash, bytes) values (99, $1::bigint, 'db', '', 20) returning ref_id
     ), body as (insert into noetl.result_body (ref_id, body) select ref_id, '["first"]' from ref)
     insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, node_id, node_name, current_index, meta, context)
     values ($1::bigint, 9223372036854775000, $2::int + 1, 'loop.started', 1, 'each#1', 'each', 0, '{"loop_id": "7", "collection_size": 1}',
             '{"collection_ref": "stagedoor://results/99"}'),
            ($1::bigint, 9223372036854775001, $2::int + 2, 'loop.shard.enqueued', 1, 'each#1', 'each', 0,
             '{"loop_id": "7", "shard_id": "s", "command_id": "c"}', null)`,
    [execution, seq],
  )
  const ITEMS = `select index, item, status from noetl.fn_loop_items($1, '7')`
  expect(await as(viewer, ITEMS, [execution])).toEqual([{ index: 0, item: 'first', status: 'open' }])
  expect(await as(agent, ITEMS, [execution])).toEqual([{ index: 0, item: null, status: 'open' }])
})
