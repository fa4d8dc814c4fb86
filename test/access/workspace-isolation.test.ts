/** Row security: what a member of one workspace sees of another. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Caller } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()

/** Every table with rows of a workspace, and the column that names it. */
const TABLES = {
  'public.workspaces': 'id',
  'public.workspace_members': 'workspace_id',
  'iu_core.event_outbox': 'workspace_id',
  'iu_core.dot_iu_command_run': 'workspace_id',
  'iu_core.job_queue': 'workspace_id',
  'iu_core.job_history': 'workspace_id',
  'iu_core.job_dead_letter': 'workspace_id',
  'noetl.execution': 'workspace_id',
  'iu_core.information_unit': 'workspace_id',
  'iu_core.universal_edges': 'workspace_id',
  'iu_core.kb_document': 'workspace_id',
  'public.iu_lifecycle_log': 'workspace_id',
  'iu_core.approval_kind': 'workspace_id',
  'iu_core.member_group': 'workspace_id',
  'iu_core.member_group_member': 'workspace_id',
  'iu_core.review_policy': 'workspace_id',
  'iu_core.review_policy_audit': 'workspace_id',
} as const

let ours: string
let theirs: string
let people: Member[]

beforeAll(async () => {
  ours = await createWorkspace(db, 'ours')
  theirs = await createWorkspace(db, 'theirs')
  people = [
    await createMember(db, ours, 'viewer'),
    await createMember(db, ours, 'agent'),
    await createMember(db, ours, 'admin'),
  ]
  await createMember(db, theirs, 'admin')
  for (const workspace of [ours, theirs, null]) {
    await db.owner(`select iu_core.fn_command_run_finish(iu_core.fn_command_run_start('import', null, $1))`, [
      workspace,
    ])
    await jobsOf(workspace)
    await executionOf(workspace)
  }
  for (const workspace of [ours, theirs]) {
    await unitOf(workspace)
    await policyOf(workspace)
  }
})

/** One that waits, one that has ended, one that is dead. */
async function jobsOf(workspace: string | null): Promise<void> {
  // A kind of its own, or the next claim would take what waits for the others.
  const kind = `mail-${workspace ?? 'none'}`
  const job = { job_kind: kind, workspace_id: workspace }
  await db.owner('select iu_core.fn_job_enqueue_batch($1)', [JSON.stringify([job, job, job])])
  await db.owner(
    `with worker as (select iu_core.fn_job_worker_register('PG_worker', array[$1]) as id),
          leased as (select w.id, array_agg(j.job_id) as jobs from worker w, iu_core.fn_job_claim(w.id, 2) j group by 1),
          failed as (select f.job_id from leased l, iu_core.fn_job_fail(l.id, l.jobs[1:1], '{1}', '{no}', '{true}') f)
     select iu_core.fn_job_complete(l.id, l.jobs[2:2], '{1}') from leased l, failed`,
    [kind],
  )
}

/** As it is projected; its log and results are in test/executions/sql/access. */
async function executionOf(workspace: string | null): Promise<void> {
  await db.owner(
    `insert into noetl.execution (execution_id, catalog_id, workspace_id, status, last_event_id, last_seq, created_at, updated_at)
     values (noetl.fn_snowflake(), 1, $1, 'RUNNING', 1, 1, now(), now())`,
    [workspace],
  )
}

/** With an edge, an end and a document; what hangs on a unit and has no workspace of its own is in test/units/access. */
async function unitOf(workspace: string): Promise<void> {
  await db.owner(
    `with unit as (select unit_id from iu_core.fn_unit_create($1, 'rules', 'No rules.')),
          edge as (select e.edge_id from unit u, iu_core.fn_unit_edge_add(u.unit_id, 'refers_to', 'nowhere') e)
     select iu_core.fn_unit_retire(u.unit_id) from unit u, edge`,
    [workspace],
  )
  await db.owner(
    `insert into iu_core.kb_document (workspace_id, source_ref, title, body, content_hash, updated_by)
     values ($1, 'file:rules.md', 'Rules', 'No rules.', 'hash', 'test')`,
    [workspace],
  )
}

async function policyOf(workspace: string): Promise<void> {
  await db.owner(
    `insert into iu_core.approval_kind (workspace_id, kind, revision, schema, created_by) values ($1, 'refund', 1, '{}', 'test')`,
    [workspace],
  )
  await db.owner(`insert into iu_core.member_group values ($1, 'Finance', 'test')`, [workspace])
  await db.owner(`insert into iu_core.member_group_member values ($1, 'Finance', 'somebody', 'test')`, [
    workspace,
  ])
  await db.owner(
    `insert into iu_core.review_policy (workspace_id, rules, set_by) values ($1, '{}', 'test')`,
    [workspace],
  )
  await db.owner(
    `insert into iu_core.review_policy_audit (workspace_id, what, new_row, actor) values ($1, 'policy', '{}', 'test')`,
    [workspace],
  )
}

/** Agents see no jobs, which name what waits for a person, and not what a review asks for. */
function isClosedTo(table: string, role: string): boolean {
  return /^iu_core\.(job_|member_group|review_policy)/.test(table) && role === 'stagedoor_agent'
}

async function workspacesSeen(table: keyof typeof TABLES, caller: Caller): Promise<(string | null)[]> {
  const column = TABLES[table]
  return db.as(caller, async (client) => {
    const { rows } = await client.query<{ id: string | null }>(
      `select distinct ${column} as id from ${table}`,
    )
    return rows.map((row) => row.id).sort()
  })
}

it('is tested on every table that has a workspace', async () => {
  const rows = await db.owner<{ name: string }>(
    `select a.attrelid::regclass::text as name
       from pg_attribute a join pg_class c on c.oid = a.attrelid
      where a.attname = 'workspace_id' and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  const known = Object.keys(TABLES).map((table) => table.replace('public.', ''))
  // Rows of the mapping are rights, not data: only back-end code sees them. Records are in test/staging/wall-tables,
  // uploads and what belongs to them in test/ingest/wall.
  expect(rows.map((row) => row.name).sort()).toEqual(
    [
      ...known.filter((name) => name !== 'workspaces'),
      'iu_core.workspace_member_role',
      'iu_core.iu_staging_record',
      // In test/staging/approvals.
      'iu_core.approval',
      ...['upload', 'mapping', 'read_option', 'cursor', 'limit'].map((name) => `iu_core.ingest_${name}`),
      // In test/changes/comments; nobody reads the counter.
      ...['change', 'change_counter'].map((name) => `iu_core.${name}`),
      // In test/ingest/proposals-attacks.
      'iu_core.ingest_proposal_table',
      // In test/ingest/own-tables.
      'iu_core.ingest_dataset',
      'iu_core.ingest_staged_row',
      'staging_id_resolution',
      // The projection of search: nobody reads it but through functions (privileges.test.ts).
      ...['chunk', 'language', 'lexeme', 'pending', 'statistics'].map((name) => `iu_core.search_${name}`),
      // In test/search/questions; read only through functions.
      ...['missed', 'setting', 'synonym'].map((name) => `iu_core.search_${name}`),
      // In test/search/tables/rights and test/http/search/tables.
      ...['row', 'row_change', 'table'].map((name) => `iu_core.search_${name}`),
      // In test/events/routes/wall.
      'iu_core.iu_sql_event_route',
      // In test/events/consumers/wall and test/events/issues.
      'iu_core.consumer_registry',
      'iu_core.system_issue',
      // Of notifications; back-end code alone reads them: test/jobs/webhooks/targets.
      'iu_core.webhook_target',
      'iu_core.iu_auto_instantiate_template',
      // Whose bytes a reference names; back-end code alone reads it: test/http/staging-tampered.
      'iu_core.stored_blob',
      // Keys of starts; back-end code alone reads them.
      'noetl.execution_key',
      // Back-end code alone reads them: test/http/members-and-tokens.
      'iu_core.invitation',
      'iu_core.machine_token',
      // Those of no workspace are everybody's: test/units/wall.
      'iu_core.topic_vocabulary',
    ].sort(),
  )
})

describe.each(Object.keys(TABLES) as (keyof typeof TABLES)[])('%s', (table) => {
  it('shows a member the own workspace and nothing of another, nor what belongs to none', async () => {
    for (const person of people) {
      if (isClosedTo(table, person.role))
        expect(await sqlstateOf(workspacesSeen(table, person))).toBe('42501')
      else expect(await workspacesSeen(table, person)).toEqual([ours])
    }
  })

  it('shows a stranger with a valid token nothing', async () => {
    for (const role of ['authenticated', 'stagedoor_agent', 'stagedoor_reviewer']) {
      const seen = workspacesSeen(table, { role, claims: { sub: 'nobody' } })
      if (isClosedTo(table, role)) expect(await sqlstateOf(seen)).toBe('42501')
      else expect(await seen).toEqual([])
    }
  })

  it('shows back-end code everything', async () => {
    const seen = await workspacesSeen(table, { role: 'service_role', claims: { sub: 'importer' } })
    expect(seen).toEqual(expect.arrayContaining([ours, theirs]))
  })

  it('gives anon nothing, not even an empty list', async () => {
    expect(
      await sqlstateOf(workspacesSeen(table, { role: 'anon', claims: { sub: people[2]!.userId } })),
    ).toBe('42501')
  })

  it('does not trust claims that another login sets', async () => {
    const session = await db.session('postgres')
    const claims = JSON.stringify({ sub: people[2]!.userId })
    await session.query(`select set_config('request.jwt.claims', $1, false)`, [claims])
    await session.query('set role authenticated')
    expect((await session.query(`select from ${table}`)).rowCount).toBe(0)
  })
})

it('does not show rows to a token whose claims name no subject', async () => {
  const nameless = { role: 'authenticated', claims: { role: 'authenticated' } }
  expect(await sqlstateOf(workspacesSeen('iu_core.event_outbox', nameless))).toBe('SD204')
})

it('cannot be looked around by reading a partition instead of its parent', async () => {
  const partitions = await db.owner<{ name: string }>(
    'select partition::text as name from iu_core.v_event_partition',
  )
  expect(partitions.length).toBeGreaterThan(3)
  for (const { name } of partitions) {
    for (const caller of [...people, { role: 'service_role' }, { role: 'anon' }]) {
      expect(await sqlstateOf(db.as(caller, (client) => client.query(`select from ${name}`)))).toBe('42501')
    }
  }
})

it('stays up when a partition is granted by mistake', async () => {
  const [partition] = await db.owner<{ name: string }>(
    'select tableoid::regclass::text as name from iu_core.event_outbox limit 1',
  )
  await db.owner(`grant select on ${partition!.name} to authenticated`)
  const { rowCount } = await db.as(people[0]!, (client) => client.query(`select from ${partition!.name}`))
  await db.owner(`revoke select on ${partition!.name} from authenticated`)
  expect(rowCount).toBe(0)
})

it('shows every signed-in person what Stagedoor says of itself, which belongs to no workspace', async () => {
  await db.owner(`select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', true)`)
  for (const caller of [...people, { role: 'authenticated', claims: { sub: 'nobody' } }]) {
    const { rows } = await db.as(caller, (client) =>
      client.query('select distinct event_domain from iu_core.event_outbox where workspace_id is null'),
    )
    expect(rows).toEqual([{ event_domain: 'system' }])
  }
})
