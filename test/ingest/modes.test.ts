/** The modes insert and update: what a table has already, or does not have yet, is refused on its line. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Dataset, Mode } from '../../src/ingest/datasets/dataset.ts'
import { useDatabase } from '../support/database.ts'
import { PRICES, TRIAL, useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db)

const prices = (mode: Mode): Dataset => ({
  ...PRICES,
  name: `prices_${mode}`,
  rows: PRICES.rows.map((row) => ({ ...row, mode })),
})
const trials = (name: string, modes: Record<string, Mode>): Dataset => ({
  ...TRIAL,
  name,
  rows: TRIAL.rows.map((row) => (modes[row.name] ? { ...row, mode: modes[row.name]! } : row)),
})
const INSERT = prices('insert')
const UPDATE = prices('update')
const KNOWN_GROUPS = trials('known_groups', { group: 'update' })
const NEW_GROUPS = trials('new_groups', { group: 'insert' })
const price = (sku: string, value = 1) => ({ sku, tier: null, day: '2026-11-01', price: value })

beforeAll(async () => {
  for (const dataset of [INSERT, UPDATE, KNOWN_GROUPS, NEW_GROUPS])
    await trial.register(dataset, { approvalRequired: false })
})

const refusals = (upload: string) =>
  db.owner<{ row_type: string; row_number: number; reason: string }>(
    `select row_type, row_number, reason from iu_core.ingest_plan_row
      where upload_id = $1 and action = 'refused' order by type_order, row_number`,
    [upload],
  )

describe('insert', () => {
  it('refuses a line whose row exists, changed or not, and names the table and the mode', async () => {
    await trial.promoted([price('known'), price('same')], { dataset: PRICES })
    const plan = await trial.stagePlanned([price('known', 2), price('fresh'), price('same')], {
      dataset: INSERT,
    })
    expect(plan.totals).toEqual({ price: { insert: 1, refused: 2 } })
    expect(plan.refusal).toBe('2 of 3 lines are invalid')
    const reason = 'public.trial_prices has this row already, and the dataset only inserts rows (mode insert)'
    expect(await refusals(plan.upload_id)).toEqual([
      { row_type: 'price', row_number: 2, reason },
      { row_type: 'price', row_number: 4, reason },
    ])
    expect(
      await db.owner(
        `select validation_errors -> 0 ->> 'message' as message from public.staging_rows where upload_id = $1 and row_number = 2`,
        [plan.upload_id],
      ),
    ).toEqual([{ message: `${reason}.` }])
  })

  it('takes the new rows where wrong lines are left out, and the existing ones stay as they are', async () => {
    await trial.promoted([price('held', 7)], { dataset: PRICES })
    const lines = [price('held', 8), ...Array.from({ length: 9 }, (_, n) => price(`added-${n}`))]
    const plan = await trial.stagePlanned(lines, { dataset: INSERT }, 'LENIENT')
    expect(plan.refusal).toBeNull()
    await trial.promote(plan)
    expect(await db.owner(`select price::text from trial_prices where sku = 'held'`)).toEqual([
      { price: '7.00' },
    ])
    expect(await db.owner(`select from trial_prices where sku like 'added-%'`)).toHaveLength(9)
    expect((await trial.undo(plan.upload_id)).undo_totals).toEqual({ price: { reversed: 9 } })
  })

  it('is stale where somebody inserts the row after the plan', async () => {
    const plan = await trial.stagePlanned([price('raced')], { dataset: INSERT })
    await db.owner(`insert into trial_prices values ($1, 'raced', null, '2026-11-01', 1, null)`, [
      trial.workspace,
    ])
    await expect(trial.promote(plan)).rejects.toThrow(/changed since the plan was made/)
  })
})

describe('update', () => {
  it('refuses a line whose row does not exist, and changes the others', async () => {
    await trial.promoted([price('here', 1)], { dataset: PRICES })
    const plan = await trial.stagePlanned([price('here', 2), price('nowhere')], { dataset: UPDATE })
    expect(plan.totals).toEqual({ price: { update: 1, refused: 1 } })
    expect(await refusals(plan.upload_id)).toEqual([
      {
        row_type: 'price',
        row_number: 3,
        reason: 'public.trial_prices has no such row, and the dataset only updates rows (mode update)',
      },
    ])
  })

  it('writes nothing new, and undo restores what it changed', async () => {
    await trial.promoted([price('one', 1), price('two', 1)], { dataset: PRICES })
    const before = await trial.image(['trial_prices'])
    const plan = await trial.promoted([price('one', 2), price('two', 1)], { dataset: UPDATE })
    expect(plan.totals).toEqual({ price: { update: 1, unchanged: 1 } })
    await trial.undo(plan.upload_id)
    expect(await trial.image(['trial_prices'])).toEqual(before)
  })
})

describe('of a parent', () => {
  const line = (group: string) => ({ group_code: group, group_name: group, day: '2026-11-01', amount: 1 })

  it('update: lines of a new parent are refused together with it', async () => {
    await trial.promoted([line('old')])
    const plan = await trial.stagePlanned([line('old'), line('unheard')], { dataset: KNOWN_GROUPS })
    expect(plan.totals).toEqual({
      group: { unchanged: 1, refused: 1 },
      figure: { unchanged: 1, refused: 1 },
    })
    const reason = 'public.trial_groups has no such row, and the dataset only updates rows (mode update)'
    expect(await refusals(plan.upload_id)).toEqual([
      { row_type: 'group', row_number: 3, reason },
      { row_type: 'figure', row_number: 3, reason: `its parent is refused: ${reason}` },
    ])
    expect(plan.refusal).toBe('1 of 2 lines is invalid')
  })

  it('insert: lines of an existing parent are refused together with it', async () => {
    await trial.promoted([line('older')])
    const plan = await trial.stagePlanned([line('older'), line('newer')], { dataset: NEW_GROUPS })
    expect(plan.totals).toEqual({ group: { insert: 1, refused: 1 }, figure: { insert: 1, refused: 1 } })
  })
})
