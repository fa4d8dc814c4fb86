/** A stale plan says which rows changed: what it was made on, what it would write, and what is there now. */
import { describe, expect, it } from 'vitest'
import { checkPlan, listStaleRows, type StalePage } from '../../src/ingest/plan.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { PRICES, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const trial = useTrial(db)

const stale = (upload: string, page: StalePage = {}) =>
  inTransaction(db.pool('stagedoor_worker'), (client) => listStaleRows(client, upload, page), {
    role: 'service_role',
  })
const line = (group: string, amount: number) => ({
  group_code: group,
  group_name: group,
  day: '2026-11-01',
  amount,
})

describe('of a plan that is stale', () => {
  it('every row is listed with before, planned and now: changed, deleted, inserted by somebody else', async () => {
    await trial.promoted([line('s1', 1), line('s2', 2), line('s3', 3)])
    const plan = await trial.stagePlanned([line('s1', 10), line('s2', 20), line('s3', 3), line('s4', 4)])
    expect(await stale(plan.upload_id)).toMatchObject({ items: [], total: 0, next: null })
    const of = (group: string) => `group_id = (select id from trial_groups where code = '${group}')`
    await db.owner(`update trial_figures set note = 'edited' where ${of('s1')}`)
    await db.owner(`delete from trial_figures where ${of('s2')}`)
    await db.owner(`update trial_figures set amount = 33 where ${of('s3')}`)
    await db.owner(`insert into trial_groups (client_id, code, name) values ($1, 's4', 'theirs')`, [
      trial.client,
    ])
    const { items, total } = await stale(plan.upload_id)
    expect(total).toBe(4)
    expect(
      items.map((row) => [
        row.target_table,
        row.line,
        row.action,
        row.before?.amount,
        row.planned?.amount,
        row.now?.amount,
        row.conflict,
      ]),
    ).toEqual([
      ['public.trial_groups', 5, 'insert', undefined, undefined, undefined, 'created'],
      ['public.trial_figures', 2, 'update', 1, 10, 1, 'other_cells'],
      ['public.trial_figures', 3, 'update', 2, 20, undefined, 'deleted'],
      // Of what stays as it is the plan keeps a fingerprint only: its values are those of its line.
      ['public.trial_figures', 4, 'unchanged', 3, 3, 33, 'old_value'],
    ])
    expect(items[0]).toMatchObject({
      before: null,
      planned: { name: 's4' },
      now: { name: 'theirs' },
      key: { code: 's4' },
    })
    expect(items[1]).toMatchObject({ before: { note: null }, now: { note: 'edited' } })
    expect(items[2]!.now).toBeNull()
    expect(await stale(plan.upload_id, { limit: 1 })).toMatchObject({ items: [{ line: 5 }], total: 4 })
  })

  it('says whether both changed the same cell, and pages through all of them or the conflicts', async () => {
    const price = (sku: string, value: number, note = 'old') => ({
      sku,
      day: '2026-11-02',
      price: value,
      note,
    })
    const skus = ['c1', 'c2', 'c3', 'c4']
    await trial.promoted(
      skus.map((sku) => price(sku, 1)),
      { dataset: PRICES },
    )
    const plan = await trial.stagePlanned(
      skus.map((sku) => price(sku, 2)),
      { dataset: PRICES },
    )
    await db.owner(`update trial_prices set price = 3 where sku = 'c1'`)
    await db.owner(`update trial_prices set note = 'theirs' where sku = 'c2'`)
    await db.owner(`update trial_prices set price = 2 where sku = 'c3'`)
    await db.owner(`delete from trial_prices where sku = 'c4'`)
    const of = (page: object) =>
      stale(plan.upload_id, page).then(({ items, ...rest }) => ({
        ...rest,
        rows: items.map((row) => [row.key.sku, row.conflict, row.yours, row.theirs]),
      }))
    const counts = { same_cell: 1, old_value: 1, other_cells: 1, deleted: 1 }
    const first = await of({ limit: 2 })
    expect(first).toMatchObject({ total: 4, counts, next: '1.3' })
    expect(first.rows).toEqual([
      ['c1', 'same_cell', ['price'], ['price']],
      // The file has the old note: planned again, it would take their note back.
      ['c2', 'old_value', ['price'], ['note']],
    ])
    expect((await of({ limit: 5, after: first.next })).rows).toEqual([
      // The same value: nothing is lost.
      ['c3', 'other_cells', ['price'], ['price']],
      ['c4', 'deleted', ['price'], []],
    ])
    expect(await of({ conflicts: true })).toMatchObject({ total: 3, counts, next: null })
    expect(await sqlstateOf(of({ after: '1.x' }))).toBe('SD001')
  })

  it('rows that are known by their key only are named by it', async () => {
    const price = { sku: 'p', tier: null, day: '2026-11-01', price: 1 }
    await trial.promoted([price], { dataset: PRICES })
    const plan = await trial.stagePlanned([{ ...price, price: 2 }], { dataset: PRICES })
    await db.owner(`update trial_prices set price = 9 where sku = 'p'`)
    expect((await stale(plan.upload_id)).items).toMatchObject([
      {
        target_table: 'public.trial_prices',
        key: { sku: 'p', tier: null, day: '2026-11-01' },
        before: { price: 1 },
        planned: { price: 2 },
        now: { price: 9 },
      },
    ])
  })

  it('the refusal of the promotion names the line and the command that lists them', async () => {
    await trial.promoted([line('s6', 1)])
    const plan = await trial.stagePlanned([line('s6', 2)])
    await db.owner(`update trial_figures set note = 'edited' where amount = 1`)
    const refused = trial.promote(plan).then(
      () => undefined,
      (error: { message: string; hint: string }) => error,
    )
    expect(await refused).toMatchObject({
      message:
        '1 row of public.trial_figures has changed since the plan was made; it was planned from line 2 of the file',
      hint: expect.stringContaining(`stagedoor upload plan ${plan.upload_id} --stale`),
    })
  })

  it('nobody approves it: the refusal is that of the promotion', async () => {
    await trial.promoted([line('s8', 1)])
    const plan = await trial.stagePlanned([line('s8', 2)])
    await db.owner(`update trial_figures set note = 'edited' where amount = 1`)
    const refused = trial.approved(plan).then(
      () => undefined,
      (error: { code: string; message: string }) => error,
    )
    expect(await refused).toMatchObject({
      code: 'plan_stale',
      message: expect.stringContaining('planned from line 2'),
    })
    expect((await stale(plan.upload_id)).total).toBe(1)
  })
})

it('there is nothing to compare of an upload without a plan', async () => {
  expect(await sqlstateOf(stale(await trial.stage([line('s7', 1)])))).toBe('SD602')
})

describe('a check of a plan against production', () => {
  const check = (upload: string, withinMs?: number) =>
    inTransaction(
      db.pool('stagedoor_worker'),
      async (client) => {
        await client.query(`set local statement_timeout = '77s'`)
        const found = await checkPlan(client, upload, withinMs)
        const { rows } = await client.query('show statement_timeout')
        expect(rows).toEqual([{ statement_timeout: '77s' }])
        return found
      },
      { role: 'service_role' },
    )
  const outdated = async (upload: string) =>
    (await trial.service('select outdated from iu_core.fn_ingest_outdated(array[$1::uuid])', [upload]))[0]

  it('says when it looked and how many rows differ, and lists say it from then on', async () => {
    await trial.promoted([line('c1', 1), line('c2', 2)])
    const plan = await trial.stagePlanned([line('c1', 10), line('c2', 20)])
    const before = Date.now()
    const first = await check(plan.upload_id)
    expect(first).toEqual({ checked_at: expect.any(Date), rows_differ: 0, counts: {} })
    expect(Math.abs(first.checked_at!.getTime() - before)).toBeLessThan(60_000)
    // By another program, of which nobody tells.
    await db.owner(
      `update trial_figures set note = 'edited' where group_id = (select id from trial_groups where code = 'c1')`,
    )
    expect(await outdated(plan.upload_id)).toBeUndefined()
    expect(await check(plan.upload_id)).toMatchObject({ rows_differ: 1, counts: { other_cells: 1 } })
    expect(await outdated(plan.upload_id)).toEqual({ outdated: 'outdated' })
    expect(
      await trial.service('select total::integer, counts from iu_core.fn_ingest_plan_stale($1, 0)', [
        plan.upload_id,
      ]),
    ).toEqual([{ total: 1, counts: {} }])
  })

  it('is given up in time, also where somebody has locked the table, and what it is part of goes on', async () => {
    await trial.promoted([line('c3', 1)])
    const plan = await trial.stagePlanned([line('c3', 10)])
    const locker = await db.pool(MIGRATOR).connect()
    try {
      await locker.query('begin; lock table trial_figures in access exclusive mode')
      expect(await check(plan.upload_id, 100)).toEqual({ checked_at: null, rows_differ: null, counts: {} })
    } finally {
      await locker.query('rollback')
      locker.release()
    }
    expect(await check(plan.upload_id)).toMatchObject({ rows_differ: 0 })
  })

  it('is of a plan', async () => {
    const upload = await trial.stage([line('c4', 1)])
    expect(await sqlstateOf(check(upload))).toBe('SD602')
  })
})
