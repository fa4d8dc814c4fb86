/** Promotion: what a plan says is what happens, and what happens is said. */
import { expect, it } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { useDatabase } from '../support/database.ts'
import { PRICES, useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db)

const LINES = [
  {
    group_code: 'g1',
    group_name: 'One',
    item_code: 'i1',
    item_name: 'Item',
    day: '2026-11-01',
    amount: 10.5,
    units: 3,
  },
  {
    group_code: 'g1',
    group_name: 'One',
    item_code: null,
    item_name: null,
    day: '2026-11-01',
    amount: 1,
    units: null,
  },
]

it('writes parents and children, and undo takes them away again', async () => {
  const before = await trial.image(['trial_groups', 'trial_items', 'trial_figures'])
  const plan = await trial.stagePlanned(LINES)
  expect(plan.totals).toEqual({ group: { insert: 1 }, item: { insert: 1 }, figure: { insert: 2 } })
  await trial.promote(plan)
  expect(await db.owner('select amount, units, double_units from trial_figures order by amount')).toEqual([
    { amount: '1.00', units: null, double_units: null },
    { amount: '10.50', units: 3, double_units: 6 },
  ])
  await trial.undo(plan.upload_id)
  expect(await trial.image(['trial_groups', 'trial_items', 'trial_figures'])).toEqual(before)
})

it('writes rows that are known by their key only', async () => {
  const lines = [
    { sku: 'a', tier: null, day: '2026-11-01', price: 1.005 },
    { sku: 'a', tier: 'gold', day: '2026-11-01', price: 2 },
  ]
  const first = await trial.promoted(lines, { dataset: PRICES })
  expect(first.totals).toEqual({ price: { insert: 2 } })
  const again = await trial.stagePlanned([{ ...lines[0]!, price: 1.006 }, lines[1]!], { dataset: PRICES })
  expect(again.totals).toEqual({ price: { unchanged: 2 } })
  const changed = await trial.promoted([{ ...lines[0]!, price: 3 }, lines[1]!], { dataset: PRICES })
  expect(changed.totals).toEqual({ price: { update: 1, unchanged: 1 } })
  expect((await trial.undo(changed.upload_id)).undo_totals).toEqual({ price: { reversed: 1 } })
  expect((await trial.undo(first.upload_id)).undo_totals).toEqual({ price: { reversed: 2 } })
  expect(await db.owner('select from trial_prices')).toEqual([])
})

it('marks each staged row with what became of it, and says which days it wrote', async () => {
  const marks = (upload: string) =>
    db.owner(
      `select row_type, row_number as line, processing_action as action, target_internal_id is not null as known,
              processed_at is not null as processed,
              target_internal_id in (select id from trial_groups union all select id from trial_items union all select id from trial_figures) as there
         from public.staging_rows where upload_id = $1 order by row_type, row_number`,
      [upload],
    )
  const days = (upload: string) =>
    db.owner(
      `select safe_payload ->> 'date_from' as date_from, safe_payload ->> 'date_to' as date_to from iu_core.event_outbox
        where event_type = 'ingestion_complete' and event_subject_ref = $1`,
      [upload],
    )
  const mark = (row_type: string, line: number, action: string) => ({
    row_type,
    line,
    action,
    known: true,
    processed: true,
    there: true,
  })
  const figure = { group_code: 'm1', group_name: 'Marks', item_code: 'mi', item_name: 'Item', units: 1 }
  const lines = ['2026-10-31', '2026-11-02'].map((day) => ({ ...figure, day, amount: 1 }))
  const first = await trial.promoted(lines)
  const [one, two] = (await marks(first.upload_id)).filter(({ row_type }) => row_type === 'figure')
  expect(await marks(first.upload_id)).toEqual([
    mark('figure', one!.line, 'insert'),
    mark('figure', two!.line, 'insert'),
    mark('group', one!.line, 'insert'),
    mark('item', one!.line, 'insert'),
  ])
  expect(await days(first.upload_id)).toEqual([{ date_from: '2026-10-31', date_to: '2026-11-02' }])

  const again = await trial.promoted([
    { ...lines[0]!, amount: 2 },
    lines[1]!,
    { ...lines[0]!, day: '2026-11-09' },
  ])
  const actions = (await marks(again.upload_id)).map(({ row_type, action, there }) => [
    row_type,
    action,
    there,
  ])
  expect(actions).toEqual([
    ['figure', 'update', true],
    ['figure', 'unchanged', true],
    ['figure', 'insert', true],
    ['group', 'unchanged', true],
    ['item', 'unchanged', true],
  ])
  expect(await days(again.upload_id)).toEqual([{ date_from: '2026-10-31', date_to: '2026-11-09' }])
  await trial.undo(again.upload_id)
  await trial.undo(first.upload_id)
})

it('writes arrays and JSON as their columns hold them', async () => {
  await db.owner(
    `create table tagged (workspace_id uuid not null, sku text not null, tags text[], details jsonb, id uuid primary key, unique (workspace_id, sku))`,
  )
  const tagged: Dataset = {
    ...PRICES,
    name: 'tagged',
    rows: [
      {
        name: 'price',
        target: 'public.tagged',
        id: 'id',
        key: ['workspace_id', 'sku'],
        requires: ['sku'],
        columns: { workspace_id: '$workspace', sku: 'sku', tags: 'tier', details: 'note' },
      },
    ],
  }
  await trial.register(tagged, { approvalRequired: false })
  await trial.promoted([{ sku: 'a', tier: '{one,"two, three"}', note: '{"deep": [1, null]}' }], {
    dataset: tagged,
  })
  expect(await db.owner('select tags, details from tagged')).toEqual([
    { tags: ['one', 'two, three'], details: { deep: [1, null] } },
  ])
})
