/**
 * The wall between workspaces: people of A try to read and write what is B's, through every table and every function of
 * ingest. The catalogue is read, so that a new table or function without an attempt fails here.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Caller, inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { createClient } from '../support/ingest.ts'
import {
  type Planned,
  PRICES,
  sha256,
  TRIAL_TABLES,
  useTrial,
  WRITTEN_TABLES,
} from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
/** What `trial` makes is B's: its workspace, its client, its people. */
const trial = useTrial(db, { approval: true })
const B: {
  staged: string
  planned?: Planned
  approved?: Planned
  promoted?: Planned
  reading?: { upload_id: string; reader_token: string }
  queued?: { upload_id: string; token: string; job_id: string }
  kept?: string
} = { staged: '' }
let ours: string
let ourClient: string
const people = new Map<string, Caller>()
const attempts: { who: string; what: string; came_of_it: string }[] = []

beforeAll(async () => {
  ours = await createWorkspace(db, 'A')
  ourClient = await createClient(db, ours, 'Client of A')
  for (const role of ['viewer', 'operator', 'reviewer', 'admin', 'agent'] as const)
    people.set(role, await createMember(db, ours, role))
  people.set('stranger', { role: 'authenticated', claims: { sub: 'nobody' } })
  people.set('anon', { role: 'anon' })
  people.set('forged', {
    ...people.get('operator')!,
    claims: {
      ...people.get('operator')!.claims,
      workspace_id: trial.workspace,
      role: 'service_role',
      app_role: 'admin',
    },
  })
  people.set('vector_worker', { role: 'vector_worker' })
  const line = (group: string) => [{ group_code: group, group_name: group, day: '2026-11-01', amount: 1 }]
  B.staged = await trial.stage(line('s'))
  B.planned = await trial.stagePlanned(line('p'), { cursor: { name: 'pull', value: 1 } })
  await trial.service('select iu_core.fn_ingest_risk($1)', [B.planned.upload_id])
  await trial.service(
    `select iu_core.fn_ingest_read_options_remember($1, repeat('0', 64), '{Day}', '{"dates": "dmy"}')`,
    [B.planned.upload_id],
  )
  await trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [
    B.planned.upload_id,
    B.planned.digest,
    trial.operator.userId,
  ])
  B.approved = await trial.stagePlanned(line('a'))
  await trial.approved(B.approved)
  B.promoted = await trial.stagePlanned([{ ...line('q')[0]!, item_code: 'i' }], {
    cursor: { name: 'pull', value: 2 },
  })
  await trial.approved(B.promoted)
  await trial.promote(B.promoted)
  const [reading] = await trial.service<{ upload_id: string; reader_token: string }>(
    `select * from iu_core.fn_ingest_begin($1, 'trial', 'file', 'r.csv', $2, 1, $3)`,
    [trial.workspace, sha256('reading'), trial.client],
  )
  B.reading = reading!
  B.queued = await queueReading('queued')
  const { upload_id, token } = await queueReading('kept')
  await trial.service(
    `select iu_core.fn_ingest_reading_failed($1, $2, '{"code": "x", "message": "x", "hint": "x"}', 'keep')`,
    [upload_id, token],
  )
  B.kept = upload_id
  await trial.service(`select iu_core.fn_ingest_files_trash('disk.b', $1)`, [['disk:of-b']])
  await db.owner(
    `insert into iu_core.ingest_repair (upload_id, row_number, what, repaired_by) values ($1, 2, 'left_out', 'x')`,
    [B.promoted.upload_id],
  )
  await db.owner(`insert into iu_core.ingest_lookup_result values ($1, 'colours', 'red', '7')`, [
    B.planned.upload_id,
  ])
  await db.owner(
    `insert into iu_core.ingest_dependent (upload_id, position, type_order, row_number, level, target, effect) values ($1, 1, 3, -1, 1, 'x', 'delete')`,
    [B.promoted.upload_id],
  )
  await trial.service(
    `select iu_core.fn_ingest_promotion_failed($1, $2, '{"code": "x", "message": "x", "hint": "x"}', 'x')`,
    [B.planned.upload_id, B.planned.digest],
  )
  for (const sql of [
    `iu_core.ingest_plan_base values ($1, 1, 0, '{2}', '{insert}', '{x}', '{x}', '{NULL}', '{NULL}')`,
    `iu_core.ingest_plan_base_line values ($1, 2, '{}')`,
    `iu_core.ingest_conflict_answer (upload_id, answer, cells, row_count, columns, answered_by) values ($1, 'use_mine', 1, 1, '[]', 'x')`,
    `iu_core.ingest_kept_cell values ($1, 1, 'amount', '{x}', '{1}')`,
    `iu_core.ingest_proposal (upload_id, statement, operation, target, took_ms, locked_ms) values ($1, 'x', 'insert', 'x', 1, 1)`,
  ])
    await db.owner(`insert into ${sql}`, [B.promoted.upload_id])
  await db.owner(
    `insert into iu_core.ingest_proposal_table (dataset, workspace_id, target, operations, opened_by)
     values ('trial', $1, 'public.x', '{insert}', 'x')`,
    [trial.workspace],
  )
  await trial.service(`select iu_core.fn_ingest_mapping_set($1, 'trial', 'file', '{}')`, [trial.workspace])
  await db.owner('select iu_core.fn_ingest_limit_set($1, 1000, null, null)', [trial.workspace])
})
/** An upload of B whose job is being run. */
async function queueReading(file: string): Promise<NonNullable<typeof B.queued>> {
  const hash = sha256(file)
  const [begun] = await trial.service<{ upload_id: string; reader_token: string }>(
    `select * from iu_core.fn_ingest_begin($1, 'trial', 'file', 'r.csv', $2, 1, $3)`,
    [trial.workspace, hash, trial.client],
  )
  const { upload_id, reader_token } = begun!
  await trial.service(
    `select iu_core.fn_ingest_queue_reading($1, $2, $3, 'disk.b', 'planned', '{}', gen_random_uuid(), true)`,
    [upload_id, reader_token, `disk:${hash.slice(0, 32)}.${hash}`],
  )
  const [job] = await db.owner<{ job_id: string; token: string }>(
    `update iu_core.job_queue q set leased_by = gen_random_uuid(), lease_epoch = 1 from iu_core.ingest_reading r
      where r.upload_id = $1 and q.job_id = r.job_id returning q.job_id, r.token`,
    [upload_id],
  )
  return { upload_id, ...job! }
}
afterAll(() => {
  const told = new Map<string, typeof attempts>()
  for (const one of attempts) told.set(one.what, [...(told.get(one.what) ?? []), one])
  const summary = (tried: typeof attempts) => {
    const outcomes = new Set(tried.map(({ came_of_it }) => came_of_it))
    if (outcomes.size === 1) return `all: ${[...outcomes][0]}`
    return tried.map(({ who, came_of_it }) => `${who} ${came_of_it}`).join(' · ')
  }
  console.log([...told].map(([what, tried]) => `${what.padEnd(46)} ${summary(tried)}`).join('\n'))
  console.log(`${attempts.length} attempts`)
})

async function tried(who: string, what: string, sql: string, values: unknown[] = []): Promise<string> {
  const caller = people.get(who)!
  const pool = caller.role === 'vector_worker' ? db.pool('stagedoor_worker') : db.pool('stagedoor_api')
  const rolledBack = new Error('rolled back')
  let rows = 0
  const state = await sqlstateOf(
    inTransaction(
      pool,
      async (client) => {
        rows = (await client.query(sql, values)).rows.length
        throw rolledBack
      },
      caller,
    ).catch((error) => {
      if (error !== rolledBack && error.cause !== rolledBack) throw error
    }),
  )
  const came = state === 'not refused' ? `${rows} rows` : state
  attempts.push({ who, what, came_of_it: came })
  return came
}

/** Table → the condition that a row is B's. */
const OF_B: Record<string, string> = {
  ...Object.fromEntries(
    [
      'ingest_upload',
      'ingest_mapping',
      'ingest_read_option',
      'ingest_cursor',
      'ingest_limit',
      'ingest_proposal_table',
    ].map((table) => [`iu_core.${table}`, 'workspace_id = $1']),
  ),
  ...Object.fromEntries(
    [
      'ingest_plan',
      'ingest_plan_line_hash',
      'ingest_plan_row',
      'ingest_lookup_result',
      'ingest_promotion',
      'ingest_ledger',
      'ingest_dependent',
      'ingest_repair',
      'ingest_promotion_failure',
      'ingest_submission',
      'ingest_plan_risk',
      'ingest_plan_fact',
      'ingest_approved_plan',
      'ingest_approved_block',
      'ingest_plan_base',
      'ingest_plan_base_line',
      'ingest_conflict_answer',
      'ingest_kept_cell',
      'ingest_plan_mark',
      'ingest_reading',
      'ingest_proposal',
    ].map((table) => [
      `iu_core.${table}`,
      `upload_id = any (array['UPLOADS']::uuid[]) and $1::uuid is not null`,
    ]),
  ),
  'iu_core.v_ingest_upload': 'workspace_id = $1',
  'iu_core.ingest_file_trash': '$1::uuid is not null',
  'iu_core.ingest_staged_row': 'workspace_id = $1',
  'iu_core.v_ingest_staged_row': 'workspace_id = $1',
  staging_rows: 'workspace_id = $1',
  staging_id_resolution: 'workspace_id = $1',
  clients: 'workspace_id = $1',
  data_uploads: 'workspace_id = $1',
}
/** Nobody's: everybody may know what datasets there are. Nobody but their owner writes them. */
const NOBODYS = [
  'iu_core.ingest_dataset',
  'iu_core.ingest_row_type',
  'iu_core.ingest_entity_type',
  'iu_core.ingest_dataset_audit',
  'iu_core.ingest_proposal_table_audit',
]
/** Target tables of the user's own, whose access control is the user's. */
const USERS = [
  'campaigns',
  'ad_sets',
  'ads',
  'daily_metrics',
  'demographic_metrics',
  'alert_rules',
  'alerts',
  'reports',
  ...TRIAL_TABLES,
]

it('shows nothing of B in any table, and lets nobody write', async () => {
  const tables = await db.owner<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind in ('r', 'v') and relowner = 'workflow_admin'::regrole
        and (relname like '%ingest\\_%' or relnamespace = 'public'::regnamespace)`,
  )
  const others = ['workspaces', 'workspace_members', 'iu_lifecycle_log']
  expect(tables.map(({ name }) => name).sort()).toEqual(
    [...Object.keys(OF_B), ...NOBODYS, ...USERS, ...others].sort(),
  )
  const ids = [B.staged, B.planned!, B.approved!, B.promoted!, B.reading!, B.queued!]
  const uploads = ids.map((one) => (typeof one === 'string' ? one : one.upload_id)).join("','")
  for (const [table, condition] of Object.entries(OF_B)) {
    const where = condition.replace('UPLOADS', uploads)
    expect(
      await db.owner(`select from ${table} where ${where}`, [trial.workspace]),
      `${table} has rows of B`,
    ).not.toEqual([])
    for (const who of people.keys())
      expect([
        table,
        who,
        await tried(who, `read ${table}`, `select from ${table} where ${where}`, [trial.workspace]),
      ]).toEqual([table, who, expect.stringMatching(/^(0 rows|42501)$/)])
  }
  const pack = USERS.filter((table) => !table.startsWith('trial_'))
  for (const table of [...Object.keys(OF_B), ...NOBODYS, ...pack])
    for (const who of people.keys())
      for (const sql of [
        `insert into ${table} default values`,
        `update ${table} set ${await columnOf(table)} = ${await columnOf(table)}`,
        `delete from ${table}`,
        `truncate ${table}`,
      ])
        expect([sql, who, await tried(who, `${sql.split(' ')[0]} ${table}`, sql)]).toEqual([
          sql,
          who,
          // A view over several tables cannot be written by anybody, and none can be truncated.
          expect.stringMatching(
            table.includes('.v_') || table === 'staging_rows' ? /^(42501|55000|42809)$/ : /^42501$/,
          ),
        ])
})

async function columnOf(table: string): Promise<string> {
  const [row] = await db.owner<{ attname: string }>(
    'select attname from pg_attribute where attrelid = $1::regclass and attnum = 2',
    [table],
  )
  return row!.attname
}

/** How each function that somebody may call is tried on what is B's. */
const CALLS: Record<string, () => [string, unknown[]][]> = {
  fn_ingest_dataset_check: () => [
    [`select * from iu_core.fn_ingest_dataset_check('trial', $1)`, [trial.workspace]],
  ],
  fn_ingest_begin: () => [
    [
      `select iu_core.fn_ingest_begin($1, 'trial', 'file', 'x.csv', $2, 1, $3)`,
      [trial.workspace, sha256('x'), trial.client],
    ],
    [
      `select iu_core.fn_ingest_begin($1, 'trial', 'file', 'x.csv', $2, 1, $3)`,
      [ours, sha256('x'), trial.client],
    ],
    [
      `select iu_core.fn_ingest_begin($1, 'trial', 'file', 'x.csv', $2, 1, $3)`,
      [trial.workspace, sha256('x'), ourClient],
    ],
    [
      `select iu_core.fn_ingest_begin($1, 'trial', 'file', 'x.csv', $2, 1, $3, p_uploaded_by => $4)`,
      [ours, sha256('x'), ourClient, trial.operator.userId],
    ],
    [
      `select iu_core.fn_ingest_begin($1, 'prices', 'shop', 'x.csv', $2, 1, $3)`,
      [ours, sha256('x'), trial.workspace],
    ],
  ],
  fn_ingest_set_max_deleted: () =>
    [B.staged, B.planned!.upload_id].map((id) => ['select iu_core.fn_ingest_set_max_deleted($1, 1)', [id]]),
  fn_ingest_allow_short_file: () =>
    [B.staged, B.planned!.upload_id].map((id) => ['select iu_core.fn_ingest_allow_short_file($1)', [id]]),
  fn_ingest_plan: () =>
    [B.staged, B.planned!.upload_id].map((id) => ['select iu_core.fn_ingest_plan($1)', [id]]),
  fn_ingest_submit: () => [
    ['select iu_core.fn_ingest_submit($1, $2)', [B.planned!.upload_id, B.planned!.digest]],
  ],
  fn_ingest_approve: () => [
    ['select iu_core.fn_ingest_approve($1, $2, $3)', [B.planned!.upload_id, B.planned!.digest, ['changes']]],
  ],
  fn_ingest_reject: () => [['select iu_core.fn_ingest_reject($1, $2)', [B.planned!.upload_id, 'no']]],
  fn_ingest_promote: () => [
    ['select iu_core.fn_ingest_promote($1, $2)', [B.approved!.upload_id, B.approved!.digest]],
  ],
  fn_ingest_undo: () => [['select iu_core.fn_ingest_undo($1)', [B.promoted!.upload_id]]],
  fn_ingest_undo_plan: () => [['select iu_core.fn_ingest_undo_plan($1)', [B.promoted!.upload_id]]],
  fn_ingest_plan_row_names: () => [
    [`select iu_core.fn_ingest_plan_row_names($1, '{1}', '{2}')`, [B.planned!.upload_id]],
  ],
  fn_ingest_plan_since: () => [
    ['select iu_core.fn_ingest_plan_since($1, $2)', [B.planned!.upload_id, B.planned!.digest]],
  ],
  fn_ingest_plan_conflicts: () =>
    [B.staged, B.planned!.upload_id].map((id) => ['select iu_core.fn_ingest_plan_conflicts($1)', [id]]),
  fn_ingest_plan_stale: () => [['select iu_core.fn_ingest_plan_stale($1)', [B.planned!.upload_id]]],
  fn_ingest_discard: () =>
    [B.staged, B.planned!.upload_id].map((id) => ['select iu_core.fn_ingest_discard($1)', [id]]),
  fn_ingest_lineage: () => [
    [
      `select iu_core.fn_ingest_lineage($1, 'public.trial_groups', null, jsonb_build_object('client_id', $2::uuid, 'code', 'q'))`,
      [trial.workspace, trial.client],
    ],
  ],
  fn_ingest_mapping_set: () => [
    [`select iu_core.fn_ingest_mapping_set($1, 'trial', 'file', '{}')`, [trial.workspace]],
  ],
  fn_ingest_lookup_unknown: () => [
    [`select iu_core.fn_ingest_lookup_unknown($1, 'trial', 'day', '{}')`, [trial.workspace]],
  ],
  fn_ingest_read_options_forget: () => [
    [`select iu_core.fn_ingest_read_options_forget($1, 'trial', 'file')`, [trial.workspace]],
    [
      `select iu_core.fn_ingest_read_options_forget($1, 'trial', 'file', null, $2)`,
      [trial.workspace, trial.operator.userId],
    ],
  ],
  fn_ingest_mapping_update: () => [
    [`select iu_core.fn_ingest_mapping_update($1, 'trial', 'file', '{}')`, [trial.workspace]],
  ],
  // The back end's own: people may not call them at all.
  fn_ingest_repair: () => [
    [`select iu_core.fn_ingest_repair($1, '[]', $2)`, [B.staged, trial.operator.userId]],
  ],
  fn_ingest_promotion_failed: () => [
    [
      `select iu_core.fn_ingest_promotion_failed($1, $2, '{"code": "x", "message": "x", "hint": "x"}', 'x')`,
      [B.planned!.upload_id, B.planned!.digest],
    ],
  ],
  fn_ingest_read_options_remember: () => [
    [
      `select iu_core.fn_ingest_read_options_remember($1, repeat('0', 64), '{Day}', '{"dates": "dmy"}')`,
      [B.planned!.upload_id],
    ],
  ],
  fn_ingest_risk: () => [['select iu_core.fn_ingest_risk($1)', [B.planned!.upload_id]]],
  fn_ingest_plan_failed: () => [[`select iu_core.fn_ingest_plan_failed($1, '{}')`, [B.staged]]],
  fn_ingest_repair_lines: () => [['select iu_core.fn_ingest_repair_lines($1, $2)', [B.staged, [2]]]],
  fn_ingest_complete_reading: () => [
    [
      'select iu_core.fn_ingest_complete_reading($1, $2, $3, $4)',
      [
        B.reading!.upload_id,
        B.reading!.reader_token,
        '{"layout": {"fields": [], "row_types": ["figure"], "leaf": "figure"}, "lines": 0}',
        '[]',
      ],
    ],
  ],
  fn_ingest_progress: () => [
    ['select iu_core.fn_ingest_progress($1, $2, $3)', [B.reading!.upload_id, B.reading!.reader_token, '{}']],
  ],
  fn_ingest_fail: () => [
    ['select iu_core.fn_ingest_fail($1, $2, $3)', [B.reading!.upload_id, B.reading!.reader_token, '{}']],
  ],
  fn_ingest_fail_stalled: () => [['select iu_core.fn_ingest_fail_stalled($1)', [trial.workspace]]],
  fn_ingest_queue_reading: () => [
    [
      `select iu_core.fn_ingest_queue_reading($1, $2, $3, 'disk.b', 'planned', '{}', gen_random_uuid(), true)`,
      [B.reading!.upload_id, B.reading!.reader_token, `disk:${'1'.repeat(32)}.${sha256('reading')}`],
    ],
  ],
  fn_ingest_retry: () => [['select iu_core.fn_ingest_retry($1)', [B.kept]]],
  fn_ingest_reading_take: () => [
    ['select iu_core.fn_ingest_reading_take($1, $2, 1)', [B.queued!.upload_id, B.queued!.job_id]],
  ],
  fn_ingest_reading_require: () => [
    ['select iu_core.fn_ingest_reading_require($1, $2)', [B.queued!.upload_id, B.queued!.token]],
  ],
  fn_ingest_reading_failed: () => [
    [
      `select iu_core.fn_ingest_reading_failed($1, $2, '{"code": "x"}', 'fail')`,
      [B.queued!.upload_id, B.queued!.token],
    ],
  ],
  fn_ingest_reading_end: () => [
    ['select iu_core.fn_ingest_reading_end($1, $2)', [B.queued!.upload_id, B.queued!.token]],
  ],
  fn_ingest_reading_kind: () => [[`select iu_core.fn_ingest_reading_kind('disk.b')`, []]],
  fn_ingest_files_claim: () => [[`select iu_core.fn_ingest_files_claim('{disk.b}')`, []]],
  fn_ingest_files_trash: () => [[`select iu_core.fn_ingest_files_trash('disk.b', '{disk:x}')`, []]],
  fn_ingest_expire: () => [['select iu_core.fn_ingest_expire()', []]],
  fn_ingest_cleanup_rows: () => [['select iu_core.fn_ingest_cleanup_rows()', []]],
  fn_ingest_cleanup_resolutions: () => [['select iu_core.fn_ingest_cleanup_resolutions()', []]],
  fn_ingest_images_drop: () => [['select iu_core.fn_ingest_images_drop()', []]],
  cleanup_staging_rows: () => [['select public.cleanup_staging_rows()', []]],
  cleanup_staging_id_resolution: () => [['select public.cleanup_staging_id_resolution()', []]],
}
const REFUSED = /^(42501|SD201|SD202|SD203|SD204|SD601|SD610)$/

it('refuses every function on what is B’s, and nothing of B changes', async () => {
  const before = await trial.image(WRITTEN_TABLES)
  for (const [name, calls] of Object.entries(CALLS))
    for (const [sql, values] of calls())
      for (const who of people.keys())
        expect([sql, who, await tried(who, name, sql, values)]).toEqual([
          sql,
          who,
          expect.stringMatching(REFUSED),
        ])
  expect(await trial.image(WRITTEN_TABLES)).toEqual(before)
})

it('would have worked for the people of B: it is the access control that refuses', async () => {
  people.set('B operator', trial.operator)
  people.set('B reviewer', trial.reviewer)
  people.set('B service', { role: 'service_role' })
  for (const [name, calls] of Object.entries(CALLS)) {
    const [sql, values] = calls()[0]!
    const outcomes = [
      await tried('B operator', `${name} (control)`, sql, values),
      await tried('B reviewer', `${name} (control)`, sql, values),
      await tried('B service', `${name} (control)`, sql, values),
    ]
    expect([name, outcomes]).toEqual([name, expect.arrayContaining([expect.stringMatching(/^\d+ rows$/)])])
  }
  for (const who of ['B operator', 'B reviewer', 'B service']) people.delete(who)
})

it('has an attempt for every function, and those that nobody was given are closed to all', async () => {
  const functions = await db.owner<{ name: string; call: string; open: boolean }>(
    `select p.proname as name,
            format('select %s.%I(%s)', p.pronamespace::regnamespace, p.proname,
                   (select string_agg(format('null::%s', format_type(t, null)), ', ') from unnest(p.proargtypes) t)) as call,
            exists (select from aclexplode(p.proacl) a where a.grantee <> p.proowner) as open
       from pg_proc p
      where p.proname like 'fn\\_ingest\\_%' or p.proname like 'cleanup\\_staging\\_%' order by 1`,
  )
  // The first works on the row that it is given, and reads none; the second has a test of its own; the third reads with the caller's rights.
  const others = ['fn_ingest_plan_image', 'fn_ingest_limits', 'fn_ingest_outdated']
  expect(functions.filter(({ open }) => open).map(({ name }) => name)).toEqual(
    [...Object.keys(CALLS), ...others].sort(),
  )
  expect(functions.length).toBeGreaterThan(50)
  for (const { name, call, open } of functions)
    if (!open)
      for (const who of people.keys())
        expect([call, who, await tried(who, name, call)]).toEqual([call, who, '42501'])
})

it('shows the default limits, not those of another workspace', async () => {
  const sql = 'select max_bytes from iu_core.fn_ingest_limits($1)'
  const limits = async (who: Caller) =>
    db.as(who, async (client) => (await client.query<{ max_bytes: string }>(sql, [trial.workspace])).rows)
  expect(await limits(trial.operator)).toEqual([{ max_bytes: '1000' }])
  for (const role of ['viewer', 'operator', 'reviewer', 'admin', 'agent', 'stranger', 'forged'])
    expect([role, await limits(people.get(role)!)]).toEqual([role, [{ max_bytes: '52428800' }]])
})

it('plans and promotes only within its own client, whatever ids the file holds', async () => {
  // The same codes as B's rows: found by key within the own client, so B's rows are others.
  const before = await db.owner(`select t::text from trial_groups t where client_id = $1 order by 1`, [
    trial.client,
  ])
  const line = {
    group_code: 'q',
    group_name: 'forged',
    item_code: 'i',
    item_name: 'forged',
    day: '2026-11-01',
    amount: 666,
  }
  const plan = await trial.stagePlanned([line], {
    workspace: ours,
    client: ourClient,
    uploadedBy: 'somebody',
  })
  expect(plan.totals).toEqual({ group: { insert: 1 }, item: { insert: 1 }, figure: { insert: 1 } })
  const price = await trial.stagePlanned([{ sku: 'x', tier: null, day: '2026-11-01', price: 1 }], {
    dataset: PRICES,
    workspace: ours,
  })
  expect(price.totals).toEqual({ price: { insert: 1 } })
  expect(
    await db.owner(`select t::text from trial_groups t where client_id = $1 order by 1`, [trial.client]),
  ).toEqual(before)
})

it('lets an agent see and touch its own uploads only', async () => {
  const agent = await createMember(db, trial.workspace, 'agent')
  const own = await trial.stage([{ group_code: 'agents', day: '2026-11-01', amount: 1 }], {
    uploadedBy: agent.userId,
  })
  const seen = (table: string) =>
    db.as(agent, async (client) =>
      (await client.query<{ upload_id: string }>(`select distinct upload_id from ${table}`)).rows.map(
        (row) => row.upload_id,
      ),
    )
  expect(await seen('iu_core.ingest_upload')).toEqual([own])
  expect(await seen('public.staging_rows')).toEqual([own])
  expect(
    await sqlstateOf(db.as(agent, (client) => client.query('select iu_core.fn_ingest_plan($1)', [own]))),
  ).toBe('not refused')
  expect(await seen('iu_core.ingest_plan_row')).toEqual([own])
  expect(await seen('public.staging_id_resolution')).toEqual([own])
  for (const sql of ['select iu_core.fn_ingest_plan($1)', 'select iu_core.fn_ingest_discard($1)'])
    expect(await sqlstateOf(db.as(agent, (client) => client.query(sql, [B.staged])))).toBe('SD601')
})

it('plans nothing once a key no longer identifies the workspace of a row', async () => {
  const upload = await trial.stage([{ day: '2026-11-01', amount: 7 }])
  const orphan = await trial.stage([{ day: '2026-11-01', amount: 666 }], {
    workspace: ours,
    client: ourClient,
  })
  await db.owner('alter table trial_figures alter column group_id drop not null')
  // A figure of B without a group: a file of A without groups would match it.
  await db.owner(`insert into trial_figures (client_id, day, amount) values ($1, '2026-11-01', 7)`, [
    trial.client,
  ])
  for (const id of [upload, orphan]) expect(await sqlstateOf(trial.planned(id))).toBe('SD605')
})
