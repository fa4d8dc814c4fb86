/** For any production row: which file, which line, who approved it. For any upload: which rows. */
import { expect, it } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { PRICES, sha256, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })
const lineage = (target: string, by: { id?: string; key?: unknown }, workspace = trial.workspace) =>
  trial.service<Record<string, unknown>>('select * from iu_core.fn_ingest_lineage($1, $2, $3, $4)', [
    workspace,
    target,
    by.id ?? null,
    by.key ? JSON.stringify(by.key) : null,
  ])

async function promoteApproved(...given: Parameters<typeof trial.stagePlanned>) {
  const plan = await trial.stagePlanned(...given)
  await trial.approved(plan)
  await trial.promote(plan)
  return plan
}

it('knows upload, file, line and approver of every row, by id and by key, newest first', async () => {
  const lines = [1, 2, 3].map((amount) => ({
    group_code: 'origin',
    group_name: 'Origin',
    day: `2026-11-0${amount}`,
    amount,
  }))
  const first = await promoteApproved(lines, { hash: sha256('first') })
  const second = await promoteApproved([{ ...lines[2]!, amount: 9 }], { hash: sha256('second') })
  const rows = await db.owner<{ id: string; day: string; group_id: string }>(
    'select id, day::text, group_id from trial_figures order by day',
  )
  for (const [place, row] of rows.entries()) {
    const expected = {
      file_name: 'rows.csv',
      uploaded_by: trial.operator.userId,
      approved_by: trial.reviewer.userId,
      target_id: row.id,
      undone_at: null,
    }
    const told = [
      ...(place === 2
        ? [
            {
              ...expected,
              upload_id: second.upload_id,
              file_hash: sha256('second'),
              line: 2,
              action: 'update',
            },
          ]
        : []),
      {
        ...expected,
        upload_id: first.upload_id,
        file_hash: sha256('first'),
        line: place + 2,
        action: 'insert',
      },
    ]
    expect(await lineage('public.trial_figures', { id: row.id })).toMatchObject(told)
    expect(await sqlstateOf(lineage('trial_figures', { id: row.id }))).toBe('SD001')
    expect(
      await lineage('public.trial_figures', { key: { group_id: row.group_id, item_id: null, day: row.day } }),
    ).toMatchObject(told)
  }
  expect(
    await db.owner(
      'select row_type, row_number, action from iu_core.ingest_ledger where upload_id = $1 order by type_order, row_number',
      [first.upload_id],
    ),
  ).toEqual([
    { row_type: 'group', row_number: 2, action: 'insert' },
    ...[2, 3, 4].map((row_number) => ({ row_type: 'figure', row_number, action: 'insert' })),
  ])
  await trial.undo(second.upload_id)
  expect((await lineage('public.trial_figures', { id: rows[2]!.id }))[0]).toMatchObject({
    undo_outcome: 'reversed',
    undone_at: expect.any(Date),
  })
})

it('finds rows that are known by their key only, whatever the order of its parts', async () => {
  await promoteApproved([{ sku: 'k', tier: null, day: '2026-11-01', price: 1 }], { dataset: PRICES })
  expect(
    await lineage('public.trial_prices', {
      key: { day: '2026-11-01', tier: null, sku: 'k', workspace_id: trial.workspace },
    }),
  ).toMatchObject([{ line: 2, approved_by: trial.reviewer.userId }])
  expect(
    await lineage('public.trial_prices', {
      key: { day: '2026-11-02', tier: null, sku: 'k', workspace_id: trial.workspace },
    }),
  ).toEqual([])
  // The workspace is known already, and a number may be written as a text.
  expect(
    await lineage('public.trial_prices', { key: { day: '2026-11-01', tier: null, sku: 'k' } }),
  ).toHaveLength(1)
})

it('asks for the whole key, and compares it in the types of its columns', async () => {
  for (const key of [
    {},
    { code: 'origin' },
    { client_id: trial.client, code: 'origin', name: 'Origin' },
    { client_id: 'nobody', code: 'origin' },
  ])
    expect([key, await sqlstateOf(lineage('public.trial_groups', { key }))]).toEqual([key, 'SD001'])
  expect(
    await lineage('public.trial_groups', { key: { client_id: trial.client.toUpperCase(), code: 'origin' } }),
  ).not.toEqual([])
})

it('finds a row by its key through the index, not by reading the table', async () => {
  const key = JSON.stringify({ client_id: trial.client, code: 'origin' })
  await db.owner('analyze trial_groups')
  const session = await db.session('stagedoor_worker')
  await session.query('set role service_role')
  await session.query('set enable_seqscan = off')
  await session.query('begin')
  await session.query('select iu_core.fn_ingest_lineage($1, $2, null, $3)', [
    trial.workspace,
    'public.trial_groups',
    key,
  ])
  // Of this transaction alone: what other sessions read is counted some time later.
  const { rows } = await session.query(`select pg_stat_get_xact_numscans('trial_groups'::regclass) as scans`)
  await session.end()
  expect(rows).toEqual([{ scans: '0' }])
})

it('returns nothing to agents, under whatever role they come', async () => {
  const [row] = await db.owner<{ id: string }>(`select id from trial_groups where code = 'origin'`)
  const asked = (person: Parameters<typeof db.as>[0]) =>
    sqlstateOf(
      db.as(person, (client) =>
        client.query('select * from iu_core.fn_ingest_lineage($1, $2, $3)', [
          trial.workspace,
          'public.trial_groups',
          row!.id,
        ]),
      ),
    )
  expect(await asked(trial.operator)).toBe('not refused')
  expect(await asked(trial.agent)).toBe('42501')
  expect(await asked({ ...trial.agent, role: 'authenticated' })).toBe('SD202')
})

it('distinguishes rows of two clients with one key, and shows nothing of another workspace', async () => {
  const [row] = await db.owner<{ id: string }>(`select id from trial_groups where code = 'origin'`)
  // The same code elsewhere, promoted by nobody: it must not hide ours.
  await db.owner(
    `insert into trial_groups (id, client_id, code) values ('00000000-0000-0000-0000-000000000001', gen_random_uuid(), 'origin')`,
  )
  const key = { client_id: trial.client, code: 'origin' }
  expect(await lineage('public.trial_groups', { key })).toMatchObject([{ target_id: row!.id }])
  const elsewhere = await createWorkspace(db, 'Elsewhere')
  const stranger = await createMember(db, elsewhere, 'admin')
  expect(await lineage('public.trial_groups', { id: row!.id }, elsewhere)).toEqual([])
  const asStranger = (workspace: string) =>
    db.as(stranger, (client) =>
      client.query('select * from iu_core.fn_ingest_lineage($1, $2, $3)', [
        workspace,
        'public.trial_groups',
        row!.id,
      ]),
    )
  expect((await asStranger(elsewhere)).rows).toEqual([])
  expect(await sqlstateOf(asStranger(trial.workspace))).toMatch(/^SD20/)
})

it('stays when the images are dropped, and then nothing can be undone', async () => {
  const plan = await promoteApproved([{ group_code: 'old', day: '2026-11-01', amount: 1 }])
  await db.owner(
    `update iu_core.ingest_promotion set undo_until = clock_timestamp() - interval '1 second' where upload_id = $1`,
    [plan.upload_id],
  )
  while (
    (await trial.service<{ rows: string | null }>('select iu_core.fn_ingest_images_drop() as rows'))[0]!
      .rows !== null
  );
  const [row] = await db.owner<{ id: string }>(`select id from trial_groups where code = 'old'`)
  expect(await lineage('public.trial_groups', { id: row!.id })).toMatchObject([
    { line: 2, approved_by: trial.reviewer.userId },
  ])
  expect(
    await db.owner('select from iu_core.ingest_plan_row where upload_id = $1', [plan.upload_id]),
  ).toEqual([])
  await db.owner(
    `update iu_core.ingest_promotion set undo_until = clock_timestamp() + interval '1 day' where upload_id = $1`,
    [plan.upload_id],
  )
  expect(await sqlstateOf(trial.undo(plan.upload_id))).toBe('SD609')
})

it('asks for an id or a key, not both', async () => {
  expect(await sqlstateOf(lineage('public.trial_groups', {}))).toBe('SD001')
  expect(await sqlstateOf(lineage('public.trial_groups', { id: trial.client, key: { a: 1 } }))).toBe('SD001')
  expect(await sqlstateOf(lineage('public.trial_groups', { key: [1] }))).toBe('SD001')
})

it('finds a row by its key, also if another dataset knows the table as it was once', async () => {
  await db.owner(
    'create table renamed (workspace_id uuid not null, old text not null unique, note text, unique (workspace_id, old))',
  )
  const renamed = (name: string, key: string): Dataset => ({
    ...PRICES,
    name,
    rows: [
      {
        name: 'price',
        target: 'public.renamed',
        key: ['workspace_id', key],
        requires: ['sku'],
        columns: { workspace_id: '$workspace', [key]: 'sku', note: 'note' },
      },
    ],
  })
  await trial.register(renamed('renamed_once', 'old'))
  await db.owner('alter table renamed rename old to sku')
  const dataset = renamed('renamed', 'sku')
  await trial.register(dataset)
  const plan = await promoteApproved([{ sku: 'a', note: 'x' }], { dataset })
  expect(await lineage('public.renamed', { key: { sku: 'a' } })).toMatchObject([
    { upload_id: plan.upload_id, line: 2 },
  ])
})
