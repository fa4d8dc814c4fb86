/** The facts of a plan against the last uploads of its source, computed from all of its rows. */
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { PRICES, type StagedLine, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db)

interface Fact {
  readonly fact: string
  readonly row_type: string
  readonly column: string | null
  readonly value: number
  readonly usual: number | null
  readonly level: string
  readonly reason?: string
  readonly filter: Record<string, unknown> | null
}
interface Risk {
  readonly compared_uploads: number
  readonly facts: readonly Fact[]
  readonly not_computed: readonly unknown[]
}

const riskOf = async (upload: string, by = trial.operator) =>
  db.as(by, async (client) => {
    const { rows } = await client.query<{ risk: Risk }>('select iu_core.fn_ingest_risk($1) as risk', [upload])
    return rows[0]!.risk
  })
const factOf = ({ facts }: Risk, fact: string, column: string | null = null) =>
  facts.find((one) => one.fact === fact && one.column === column)

/** A week of prices of one shop: 40 products a day. */
const week = (
  first: number,
  price: number,
  more: (line: number) => Partial<StagedLine> = () => ({}),
  month = '10',
): StagedLine[] =>
  Array.from({ length: 40 }, (_, at) => ({
    sku: `p${at % 8}`,
    tier: at % 2 ? 'retail' : 'trade',
    day: `2026-${month}-${String(first + Math.floor(at / 8)).padStart(2, '0')}`,
    price: price + (at % 8),
    note: 'list',
    ...more(at),
  }))

describe('the risk of a plan', () => {
  it('is judged against the last promoted uploads of the same source', async () => {
    for (let at = 0; at < 4; at++) await trial.promoted(week(1 + at * 5, 10 + at), { dataset: PRICES })
    const plan = await trial.stagePlanned(
      week(21, 10, (line) => ({
        // Day 23 is missing, two prices are absurd and one is empty, and there is a tier that nobody knows.
        ...(line >= 16 && line < 24 && { day: '2026-10-26' }),
        ...(line < 2 && { price: 100_000 }),
        ...(line === 3 && { price: null }),
        ...(line === 4 && { tier: 'black market' }),
      })),
      { dataset: PRICES },
    )
    const risk = await riskOf(plan.upload_id)
    expect(risk).toMatchObject({ compared_uploads: 4, not_computed: [] })
    expect(factOf(risk, 'rows_insert')).toMatchObject({ value: 40, usual: 40, level: 'ok' })
    expect(factOf(risk, 'sum', 'price')).toMatchObject({ level: 'high' })
    expect(factOf(risk, 'max', 'price')).toMatchObject({
      value: 100_000,
      level: 'high',
      filter: { column: 'price', value: '100000.00' },
    })
    expect(factOf(risk, 'empty', 'price')).toMatchObject({
      value: 0.025,
      usual: 0,
      filter: { column: 'price', empty: true },
    })
    expect(factOf(risk, 'new_values', 'tier')).toMatchObject({
      value: 1,
      level: 'notice',
      values: ['black market'],
      filter: { row_type: 'price', column: 'tier', value: 'black market' },
    })
    expect(factOf(risk, 'missing_days', 'day')).toMatchObject({
      value: 1,
      level: 'notice',
      days: ['2026-10-23'],
    })
    // The second time they are read from where they were stored, and a new plan has its own.
    expect(await riskOf(plan.upload_id)).toEqual(risk)
    const stored = () =>
      db.owner('select plan_digest from iu_core.ingest_plan_risk where upload_id = $1', [plan.upload_id])
    expect(await stored()).toEqual([{ plan_digest: plan.digest }])
    await trial.planned(plan.upload_id, 'LENIENT')
    expect(await stored()).toEqual([])
  })

  it('finds updates that change a value by more than tenfold, or far beyond what the rows hold', async () => {
    const lines = (factor: (line: number) => number) =>
      Array.from({ length: 60 }, (_, at) => ({
        sku: `q${at}`,
        day: '2026-09-01',
        price: (10 + (at % 5)) * factor(at),
        note: 'x',
      }))
    await trial.promoted(
      lines(() => 1),
      { dataset: PRICES },
    )
    const plan = await trial.stagePlanned(
      lines((at) => (at === 0 ? 20 : at < 3 ? 3 : 1)),
      { dataset: PRICES },
    )
    const risk = await riskOf(plan.upload_id)
    expect(factOf(risk, 'tenfold', 'price')).toMatchObject({
      value: 1,
      level: 'notice',
      filter: { by_more_than: 9, action: 'update' },
    })
    expect(factOf(risk, 'outliers', 'price')).toMatchObject({
      value: 3,
      level: 'notice',
      filter: { action: 'update' },
    })
    expect(factOf(risk, 'share_changed')).toMatchObject({ value: 0.05 })
  })

  describe('of a small correction', () => {
    const history = async () => {
      for (let at = 0; at < 4; at++)
        await trial.promoted(week(1 + at * 5, 10 + at, undefined, '08'), { dataset: PRICES })
    }
    /** Three products of week 1, and a day in between that it does not have. */
    const correction = (price: number): StagedLine[] =>
      [0, 1, 32].map((line) => ({ ...week(1, 10, undefined, '08')[line]!, price }))

    it('is not raised by what every correction has: few rows, all of them changed, a small sum, days apart', async () => {
      await history()
      const risk = await riskOf((await trial.stagePlanned(correction(13), { dataset: PRICES })).upload_id)
      expect(risk.compared_uploads).toBeGreaterThanOrEqual(4)
      expect(risk.facts.filter(({ level }) => level !== 'ok')).toEqual([])
      expect(factOf(risk, 'rows_insert')).toMatchObject({
        value: 0,
        reason: 'A correction of 3 rows: uploads usually have 40.',
      })
      expect(factOf(risk, 'share_changed')?.reason).toContain('not compared')
      expect(factOf(risk, 'missing_days', 'day')).toMatchObject({ value: 3, level: 'ok' })
      // The usual mean of its three rows, not the sum of 40.
      expect(factOf(risk, 'sum', 'price')!.value).toBe(39)
      expect(factOf(risk, 'sum', 'price')!.usual).toBeLessThan(100)
      expect(factOf(risk, 'sum', 'price')!.reason).toContain('as many rows as this upload writes (3;')
    })

    it('is raised by values far beyond what is usual, whichever side', async () => {
      const high = await riskOf((await trial.stagePlanned(correction(250), { dataset: PRICES })).upload_id)
      expect(factOf(high, 'max', 'price')).toMatchObject({ value: 250, level: 'high' })
      expect(factOf(high, 'sum', 'price')).toMatchObject({ value: 750, level: 'high' })
      expect(factOf(high, 'tenfold', 'price')).toMatchObject({ value: 3, level: 'notice' })
      // A smallest value that is larger than usual is no risk.
      expect(factOf(high, 'min', 'price')).toMatchObject({ value: 250, level: 'ok' })
      const low = await riskOf((await trial.stagePlanned(correction(-250), { dataset: PRICES })).upload_id)
      expect(factOf(low, 'min', 'price')).toMatchObject({ value: -250, level: 'high' })
      expect(factOf(low, 'max', 'price')).toMatchObject({ value: -250, level: 'ok' })
      expect(factOf(low, 'sum', 'price')).toMatchObject({ level: 'high' })
    })

    it('is not confused with a file of new rows that is cut off, nor with a sum that is doubled or halved', async () => {
      const short = await riskOf(
        (await trial.stagePlanned(week(21, 12).slice(0, 4), { dataset: PRICES })).upload_id,
      )
      expect(factOf(short, 'rows_insert')).toMatchObject({
        value: 4,
        level: 'high',
        reason: 'The file has 4 rows, and usually 40: it may be cut off.',
      })
      for (const [price, level] of [
        [28, 'high'],
        [2, 'high'],
        [12, 'ok'],
      ] as const) {
        const whole = await riskOf((await trial.stagePlanned(week(21, price), { dataset: PRICES })).upload_id)
        expect(factOf(whole, 'sum', 'price'), String(price)).toMatchObject({ level })
        expect(factOf(whole, 'rows_insert')).toMatchObject({ level: 'ok' })
      }
    })

    it('is not what later uploads are compared with, as long as there are whole ones', async () => {
      for (const price of [14, 15, 16, 17]) await trial.promoted(correction(price), { dataset: PRICES })
      const whole = await riskOf((await trial.stagePlanned(week(21, 12), { dataset: PRICES })).upload_id)
      expect(factOf(whole, 'rows_insert')).toMatchObject({ value: 40, usual: 40, level: 'ok' })
    })
  })

  it('is seen by whoever sees the upload, and needs a plan', async () => {
    const upload = await trial.stage(week(1, 1), { dataset: PRICES })
    expect(await sqlstateOf(riskOf(upload))).toBe('SD602')
    expect(await sqlstateOf(riskOf(upload, trial.agent))).toBe('SD601')
  })

  it('says which columns it left out, instead of counting a part of the rows', async () => {
    const plan = await trial.stagePlanned(week(1, 3), { dataset: PRICES })
    const [row] = await db.owner<{ facts: Risk }>(
      `select iu_core.fn_ingest_plan_compute_facts(u, p, 80) as facts
         from iu_core.ingest_upload u join iu_core.ingest_plan p using (upload_id) where upload_id = $1`,
      [plan.upload_id],
    )
    expect(row!.facts.not_computed).toEqual([
      { row_type: 'price', column: 'tier', reason: '40 rows × 5 columns are more than are looked at' },
      { row_type: 'price', column: 'day', reason: '40 rows × 5 columns are more than are looked at' },
      { row_type: 'price', column: 'note', reason: '40 rows × 5 columns are more than are looked at' },
    ])
  })
})
