/** Promotion: what a plan says is what happens, and what happens is said. */
import { expect, it } from 'vitest'
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
