/** Who may call what: the table of roles and functions, tried cell by cell. */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { directus, member, type Person, person, service, setGate, worker } from './people.ts'
import { INTERMEDIATE, jsonPart, stage, startRun } from './staged.ts'

const db = useDatabase()

/**
 * ok: it is done. 42501: the role may not execute it. SD201, SD202: not a member, not the right. SD501: there is no
 * such record, as far as they may know. SD511: not theirs. `own`: on a record that they own.
 * stranger and judge are an operator and a reviewer of another workspace.
 */
const EXPECTED = `
                anon   viewer  operator  reviewer  admin  agent  stranger  judge  vector_worker  directus  service_role  dot_executor
create          42501  SD202   ok        ok        ok     ok     SD201     SD201  42501          ok        ok            ok
create_global   42501  SD201   SD201     SD201     SD201  SD201  SD201     SD201  42501          ok        ok            ok
approve         42501  42501   42501     ok        ok     42501  42501     SD501  42501          ok        ok            ok
approve_own     42501  42501   42501     SD508     SD508  42501  42501     SD501  42501          SD508     SD508         SD508
approve_global  42501  42501   42501     SD501     SD501  42501  42501     SD501  42501          ok        ok            ok
reject          42501  42501   42501     ok        ok     42501  42501     SD501  42501          ok        ok            ok
tick            42501  42501   42501     ok        ok     42501  42501     SD501  42501          ok        ok            ok
consume         42501  SD202   ok        ok        ok     42501  SD501     SD501  42501          ok        ok            ok
consume_global  42501  SD501   SD501     SD501     SD501  42501  SD501     SD501  42501          ok        ok            ok
withdraw        42501  SD202   SD511     SD511     SD511  SD511  SD501     SD501  42501          SD511     SD511         SD511
withdraw_own    42501  SD202   ok        ok        ok     ok     SD501     SD501  42501          ok        ok            ok
unregister      42501  42501   42501     SD202     ok     42501  42501     SD501  42501          ok        ok            ok
expire          42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     ok            ok
cleanup         42501  42501   42501     42501     42501  42501  42501     42501  42501          ok        ok            ok
blobs_trash_orphans 42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     ok            ok
blobs_claim     42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     ok            ok
emit_event      42501  42501   42501     42501     42501  42501  42501     42501  42501          SD001     SD001         SD001
healthcheck     42501  42501   42501     42501     42501  42501  42501     42501  42501          ok        ok            ok
set_policy      42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
checklist       42501  ok      ok        ok        ok     SD501  SD501     SD501  42501          ok        ok            ok
checklist_own   42501  ok      ok        ok        ok     ok     SD501     SD501  42501          ok        ok            ok
key             42501  ok      ok        ok        ok     ok     ok        ok     42501          ok        ok            ok
blobs_lock      42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
checklist_check 42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
checklist_items 42501  ok      ok        ok        ok     ok     ok        ok     42501          ok        ok            ok
event_write     42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
set_rejected    42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
set_consumed    42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
json_digest     42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
kind_policy_audit 42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
part_digests    42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
payload_hash    42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
policy          42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
record_digest   42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
record_guard    42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
raise_status    42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
require_four_eyes 42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
tick_as         42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
verify          42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501
workspace       42501  42501   42501     42501     42501  42501  42501     42501  42501          42501     42501         42501`

const [head, ...lines] = EXPECTED.trim().split('\n') as [string, ...string[]]
const ROLES = head.trim().split(/\s+/)
const ROWS = lines.map((line) => {
  const [row, ...cells] = line.trim().split(/\s+/) as [string, ...string[]]
  return { row, cells }
})

/** The call of each row. `other`, `own`, `global`: records; `free` needs no approval, `globalFree` either. */
const CALLS: Record<string, string> = {
  create: `create('sql_snapshot', 'sql_result_snapshot', 'x', p_parts => array['${jsonPart('{}')}'::jsonb], p_workspace_id => :workspace)`,
  create_global: `create('sql_snapshot', 'sql_result_snapshot', 'x', p_parts => array['${jsonPart('{}')}'::jsonb])`,
  approve: 'approve(:other, :digest)',
  approve_own: 'approve(:own, :digest)',
  approve_global: 'approve(:global, :digest)',
  reject: `reject(:other, 'no')`,
  tick: `tick(:free, '1')`,
  consume: 'consume(:free, :run)',
  consume_global: 'consume(:globalFree, :run)',
  withdraw: 'withdraw(:other)',
  withdraw_own: 'withdraw(:own)',
  unregister: 'unregister(:other)',
  expire: 'expire()',
  cleanup: 'cleanup()',
  blobs_trash_orphans: `blobs_trash_orphans(array['file:x'])`,
  blobs_claim: `blobs_claim('file')`,
  blobs_lock: `blobs_lock(array['file:x'])`,
  emit_event: `emit_event(:other, 'record_created')`,
  healthcheck: 'healthcheck()',
  set_policy: `set_policy('cut_preview', '{"four_eyes": false}', 'alone')`,
  checklist: 'checklist(:free)',
  checklist_own: 'checklist(:own)',
  key: `key('a', 'b')`,
  checklist_check: `checklist_check(array['{}'::jsonb], false)`,
  checklist_items: `checklist_items('[]')`,
  event_write: `event_write(null::iu_core.iu_staging_record, 'record_created', 'x')`,
  set_rejected: `set_rejected(:other, 'x', 'x')`,
  set_consumed: `set_consumed(:other, gen_random_uuid(), null)`,
  json_digest: `json_digest('{}')`,
  kind_policy_audit: 'kind_policy_audit()',
  part_digests: `part_digests(array['{}'::jsonb])`,
  payload_hash: `payload_hash('{}', null)`,
  policy: `policy('sql_snapshot', 'sql_result_snapshot')`,
  record_digest: `record_digest('[]')`,
  record_guard: 'record_guard()',
  raise_status: `raise_status(:other, 'x')`,
  require_four_eyes: `require_four_eyes(null, 'somebody')`,
  tick_as: `tick_as(:other, 'x', true, 'somebody', null)`,
  verify: 'verify(:other)',
  workspace: 'workspace(:other)',
}

const people = new Map<string, Person>()
const values: Record<string, string> = {}
const own = new Map<string, string>()
const found = new Map<string, string[]>()

beforeAll(async () => {
  const workspace = await createWorkspace(db)
  const elsewhere = await createWorkspace(db, 'elsewhere')
  await setGate(db, 'staging_writes_enabled', true)
  await setGate(db, 'staging_cleanup_enabled', true)
  for (const role of ['viewer', 'operator', 'reviewer', 'admin', 'agent'] as const) {
    people.set(role, await member(db, workspace, role))
  }
  people.set('stranger', await member(db, elsewhere, 'operator'))
  people.set('judge', await member(db, elsewhere, 'reviewer'))
  people.set('anon', await person(db, 'anon', 'nobody'))
  people.set('directus', await directus(db))
  people.set('service_role', await service(db))
  people.set('dot_executor', await worker(db))
  const vectors = await db.session('stagedoor_worker')
  await vectors.query('set role vector_worker')
  people.set('vector_worker', { actor: 'stagedoor_worker', session: vectors })

  const { session } = await service(db, 'archive')
  const make = async (where: string | null, owner: string, what: object = {}) =>
    (await stage(session, { workspace: where, owner, ...what })).staging_record_id
  Object.assign(values, {
    workspace,
    digest: (await stage(session, { workspace })).content_hash,
    other: await make(workspace, 'somebody'),
    free: await make(workspace, 'somebody', INTERMEDIATE),
    global: await make(null, 'somebody'),
    globalFree: await make(null, 'somebody', INTERMEDIATE),
    run: await startRun(session, workspace),
  })
  for (const role of ROLES) own.set(role, await make(workspace, people.get(role)!.actor))
})
afterAll(() => {
  const width = Math.max(...ROWS.map(({ row }) => row.length))
  const line = (row: string, cells: readonly string[]) =>
    [row.padEnd(width), ...cells.map((cell, n) => cell.padEnd(ROLES[n]!.length))].join('  ')
  console.log([line('', ROLES), ...[...found].map(([row, cells]) => line(row, cells))].join('\n'))
})

/** Tries the call in a transaction that leaves nothing behind. */
async function tried(session: pg.Client, sql: string): Promise<string> {
  await session.query('begin')
  const refused = await sqlstateOf(session.query(sql))
  await session.query('rollback')
  return refused === 'not refused' ? 'ok' : refused
}

function sqlOf(row: string, role: string): string {
  const known: Record<string, string> = { ...values, own: own.get(role)! }
  return `select iu_core.fn_iu_staging_${CALLS[row]!.replace(/:([a-zA-Z]+)/g, (all, name) => (known[name] ? `'${known[name]}'` : all))}`
}

describe.each(ROWS)('$row', ({ row, cells }) => {
  it('is open to those in the table and to nobody else', async () => {
    const answers: string[] = []
    for (const role of ROLES) answers.push(await tried(people.get(role)!.session, sqlOf(row, role)))
    found.set(row, answers)
    expect(Object.fromEntries(ROLES.map((role, n) => [role, answers[n]]))).toEqual(
      Object.fromEntries(ROLES.map((role, n) => [role, cells[n]])),
    )
  })
})

it('has a row for every function of the staging zone', async () => {
  const functions = await db.owner<{ name: string }>(
    `select distinct replace(proname, 'fn_iu_staging_', '') as name from pg_proc
      where pronamespace = 'iu_core'::regnamespace and proname like 'fn\\_iu\\_staging\\_%'`,
  )
  const rows = new Set(ROWS.map(({ row }) => row.replace(/_(own|global)$/, '')))
  expect(functions.map(({ name }) => name).sort()).toEqual([...rows].sort())
})

it('lets the owner of everything do what nobody else may', async () => {
  const session = await db.session()
  expect(await tried(session, sqlOf('set_policy', 'viewer'))).toBe('ok')
})

it('gives no role the right to execute by way of PUBLIC, and runs every function that people call as its owner', async () => {
  const rows = await db.owner<{ name: string }>(
    `select p.proname as name from pg_proc p
      where p.pronamespace = 'iu_core'::regnamespace and p.proname like 'fn\\_iu\\_staging\\_%'
        and (p.proisstrict or p.proowner <> 'workflow_admin'::regrole
             or not 'search_path=pg_catalog, pg_temp' = any (coalesce(p.proconfig, '{}'))
             or exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0))`,
  )
  expect(rows).toEqual([])
})
