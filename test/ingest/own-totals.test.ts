/** A file's own totals: held against its lines, said where they disagree, never silently passed. */
import { beforeAll, describe, expect, it } from 'vitest'
import { readChecks } from '../../src/ingest/checks.ts'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { requireDataset } from '../../src/ingest/datasets/registry.ts'
import { submitPlan } from '../../src/ingest/plan.ts'
import type { OwnTotals } from '../../src/ingest/plan-shapes.ts'
import { repairLines } from '../../src/ingest/repair.ts'
import { requireUpload, type Upload } from '../../src/ingest/uploads.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ingest = useIngest(db)

const sales = (name: string, more: Partial<Dataset> = {}): Dataset => ({
  name,
  title: name,
  version: 1,
  platforms: { file: { title: 'File' } },
  fields: {
    day: { type: 'date', aliases: { any: ['Day'] } },
    channel: { type: 'text', aliases: { any: ['Channel'] } },
    product: { type: 'text', aliases: { any: ['Product'] } },
    orders: { type: 'integer', aliases: { any: ['Orders'] } },
    revenue: { type: 'money', aliases: { any: ['Revenue'] } },
    price: { type: 'money', title: 'Average price', aliases: { any: ['Avg. price'] } },
    rate: { type: 'percent', aliases: { any: ['Rate'] } },
    weight: { type: 'decimal', aliases: { any: ['Weight'] } },
  },
  rows: [
    {
      name: 'sale',
      target: 'public.own_total_sales',
      key: ['workspace_id', 'day', 'channel', 'product'],
      requires: ['day', 'channel', 'product'],
      columns: {
        workspace_id: '$workspace',
        day: 'day',
        channel: 'channel',
        product: 'product',
        orders: 'orders',
        revenue: 'revenue',
        price: 'price',
        rate: 'rate',
        weight: 'weight',
      },
    },
  ],
  ...more,
})

beforeAll(async () => {
  await db.owner(`create table public.own_total_sales (
    workspace_id uuid not null, day date not null, channel text not null, product text not null, orders integer, revenue numeric(14, 4),
    price numeric(14, 4), rate numeric, weight numeric, constraint own_total_sales_once unique (workspace_id, day, channel, product))`)
  await ingest.register(sales('sales'), { approvalRequired: false })
  await ingest.register(sales('strict_sales', { ownTotals: 'refuse' }), { approvalRequired: true })
})

const HEAD = 'Day,Channel,Product,Orders,Revenue\n'
const LINES = `2026-11-01,Ads,Tea,10,100.10
2026-11-01,Shop,Tea,20,200.20
2026-11-02,Ads,Coffee,30,300.30
`
const upload = (text: string, dataset = 'sales', more: object = {}) =>
  ingest.file(text, { dataset, platform: 'file', clientId: undefined as never, ...more })
const totalsOf = ({ own_totals }: Upload): OwnTotals => own_totals!
const checkOf = async ({ upload_id }: Upload) =>
  db.as(ingest.operator, async (client) =>
    (await readChecks(client, upload_id)).checks.find(({ check }) => check === 'own_totals'),
  )

async function repair(
  { upload_id }: Upload,
  corrections: { line: number; values: Record<string, string> }[],
): Promise<void> {
  await inTransaction(
    db.pool('stagedoor_worker'),
    async (client) => {
      const upload = await requireUpload(client, upload_id)
      const dataset = await requireDataset(client, upload.dataset, upload.platform)
      await repairLines(client, { upload, dataset, corrections, repairedBy: ingest.operator.userId })
    },
    { role: 'service_role' },
  )
}

describe('a plain total', () => {
  it.each(['Total', 'Gesamt', 'Sum', 'Grand total', 'Summe', 'TOTAL'])(
    '%s that agrees is said to agree, with the columns that were compared',
    async (label) => {
      const found = await upload(`${HEAD}${LINES}${label},,,60,600.60\n`)
      expect(found).toMatchObject({ valid_count: 3, left_out: { 'row.total': 1 }, plan_refusal: null })
      expect(totalsOf(found)).toMatchObject({
        lines: 1,
        agree: 1,
        disagree: 0,
        not_compared: 0,
        columns: ['Orders', 'Revenue'],
        totals: [{ line: 5, label, result: 'agrees', with: 'all lines', lines: 3 }],
      })
      expect(await checkOf(found)).toMatchObject({ result: 'passed', warnings: 0 })
    },
  )

  it('in any column of the key is one', async () => {
    const found = await upload(`${HEAD}${LINES},,Total,60,600.60\n`)
    expect(totalsOf(found)).toMatchObject({ agree: 1, totals: [{ label: 'Total', result: 'agrees' }] })
  })

  it('that disagrees is a warning with its line, what it says, the sum and the difference', async () => {
    const found = await upload(`${HEAD}${LINES}Total,,,60,650.60\n`)
    expect(found.plan_refusal).toBeNull()
    expect(totalsOf(found)).toMatchObject({
      disagree: 1,
      totals: [
        {
          line: 5,
          result: 'disagrees',
          figures: [
            { column: 'Revenue', file: '650.60', sum: '600.6', difference: '50', result: 'disagrees' },
            { column: 'Orders', file: '60', sum: '60', difference: '0', result: 'agrees' },
          ],
        },
      ],
    })
    expect(await checkOf(found)).toMatchObject({ title: 'File’s own totals', result: 'warning', warnings: 1 })
  })

  it.each([
    ['600.6', 'agrees'],
    ['601', 'agrees'],
    ['600', 'disagrees'],
    ['600.60', 'agrees'],
    ['600.61', 'disagrees'],
    ['600.600', 'agrees'],
  ])('is compared on the decimals that it shows: %s %s', async (printed, result) => {
    const found = await upload(`${HEAD}${LINES}Total,,,60,${printed}\n`)
    expect(totalsOf(found).totals[0]).toMatchObject({ result })
  })

  it('of numbers with a decimal comma is compared on its decimals, too', async () => {
    const found = await upload(
      `Day;Channel;Product;Orders;Revenue\n2026-11-01;Ads;Tea;1;1.000,125\n2026-11-01;Ads;Cup;1;0,50\nGesamt;;;2;1.000,63\n`,
    )
    expect(totalsOf(found).totals[0]).toMatchObject({ result: 'agrees' })
  })

  it('counts invalid lines, says which cells it could not read, and is compared again after a correction', async () => {
    const found = await upload(
      `${HEAD}2026-11-01,Ads,Tea,10,x100.10y\n${LINES.split('\n').slice(1).join('\n')}Total,,,60,600.60\n`,
    )
    expect(totalsOf(found).totals[0]!.figures[0]).toMatchObject({
      column: 'Revenue',
      sum: '500.5',
      difference: '100.1',
      unread: 1,
    })
    await repair(found, [{ line: 2, values: { Revenue: '100.10' } }])
    expect(totalsOf(await ingest.find(found.upload_id))).toMatchObject({ agree: 1, disagree: 0 })
    await ingest.plan(found.upload_id)
    expect(totalsOf(await ingest.find(found.upload_id))).toMatchObject({ agree: 1, disagree: 0 })
    // The total itself can be corrected, too.
    await repair(found, [{ line: 5, values: { Revenue: '1' } }])
    expect(totalsOf(await ingest.find(found.upload_id))).toMatchObject({ disagree: 1 })
  })
})

describe('a total of a group', () => {
  it('is compared with the lines of the group that its label names', async () => {
    const found = await upload(
      `${HEAD}${LINES}Total: Ads,,,40,400.40\nTotal: Shop,,,20,200.20\nTotal,,,60,600.60\n`,
    )
    expect(totalsOf(found)).toMatchObject({ lines: 3, agree: 3, disagree: 0 })
    expect(totalsOf(found).totals[0]).toMatchObject({ with: 'lines with “ads” in Channel', lines: 2 })
  })

  it('that is wrong is never passed, not even with the figures of all lines', async () => {
    const found = await upload(`${HEAD}${LINES}Total: Ads,,,60,600.60\nTotal,,,60,600.60\n`)
    expect(totalsOf(found)).toMatchObject({ agree: 1, disagree: 1 })
    expect(totalsOf(found).totals[0]).toMatchObject({
      line: 5,
      label: 'Total: Ads',
      result: 'disagrees',
      figures: [
        { column: 'Orders', file: '60', sum: '40', difference: '20' },
        { column: 'Revenue', sum: '400.4' },
      ],
    })
  })

  it('that no column knows is compared with all lines', async () => {
    const right = await upload(`${HEAD}${LINES}Total: Account,,,60,600.60\n`)
    expect(totalsOf(right).totals[0]).toMatchObject({ result: 'agrees', with: 'all lines' })
    const wrong = await upload(`${HEAD}${LINES}Total: Account,,,61,600.60\n`)
    expect(totalsOf(wrong).totals[0]).toMatchObject({ result: 'disagrees', with: 'all lines' })
  })

  it('is told by a column that no field has, and by what else the line fills', async () => {
    const found = await upload(
      `Day,Channel,Product,Orders,Revenue,Region\n2026-11-01,Ads,Tea,1,10,North\n2026-11-01,Ads,Cup,2,20,South\nTotal: North,,,1,10,\n`,
    )
    expect(totalsOf(found).totals[0]).toMatchObject({
      result: 'agrees',
      with: 'lines with “north” in Region',
    })
    const ads = await ingest.file(
      `Campaign name,Day,Impressions\nA,2026-11-11,100\nB,2026-11-11,70\nA,2026-11-12,1\nTotal,,171\n`,
    )
    expect(totalsOf(ads)).toMatchObject({ agree: 1 })
  })

  it('after each block is compared with the lines since the total above it', async () => {
    const found = await upload(
      `${HEAD}2026-11-01,Ads,Tea,1,10\n2026-11-01,Ads,Cup,2,20\nSubtotal,,,3,30\n2026-11-02,Ads,Tea,4,40\nSubtotal,,,5,40\nTotal,,,7,70\n`,
    )
    expect(totalsOf(found)).toMatchObject({ agree: 2, disagree: 1 })
    expect(totalsOf(found).totals[0]).toMatchObject({
      line: 6,
      with: 'the lines since the total above it',
      figures: [{ column: 'Orders', file: '5', sum: '4' }, { result: 'agrees' }],
    })
  })

  it('of all ages is compared with the lines of its day and campaign', async () => {
    const head = 'Campaign name,Day,Age,Gender,Impressions\n'
    const lines = 'A,2026-11-21,18-24,male,100\nA,2026-11-21,25-34,male,50\nB,2026-11-21,18-24,male,9\n'
    const right = await ingest.file(`${head}${lines}A,2026-11-21,All,male,150\n`)
    expect(totalsOf(right)).toMatchObject({ agree: 1, totals: [{ label: 'All', lines: 2 }] })
    const wrong = await ingest.file(`${head}${lines}A,2026-11-21,All,male,151\n`)
    expect(totalsOf(wrong)).toMatchObject({ disagree: 1 })
  })
})

describe('what is not a sum', () => {
  it('is not called disagreeing, and is listed with the reason', async () => {
    const found = await upload(
      `Day,Channel,Product,Orders,Revenue,Avg. price,Rate,Weight,Clicks\n2026-11-01,Ads,Tea,1,10,10,5%,1.5,9\n2026-11-01,Ads,Cup,3,60,20,15%,2.5,8\nTotal,,,4,70,17.50,12%,2.1,17\n`,
    )
    expect(totalsOf(found)).toMatchObject({
      agree: 1,
      disagree: 0,
      columns: ['Orders', 'Revenue'],
      excluded: [
        { column: 'Rate', reason: 'a percentage is not a sum' },
        { column: 'Weight', reason: 'a decimal is a sum only where the dataset says additive: true' },
        { column: 'Clicks', reason: 'no field of the dataset has it' },
      ],
    })
    expect(totalsOf(found).totals[0]!.figures.find(({ column }) => column === 'Avg. price')).toMatchObject({
      result: 'not_compared',
      reason: 'it lies between the smallest and the largest value: an average or a rate',
    })
  })

  it('is not compared where a total has no figures, or its lines have several currencies', async () => {
    const found = await upload(`${HEAD}${LINES}Total,,,,\n`)
    expect(totalsOf(found)).toMatchObject({
      not_compared: 1,
      totals: [{ result: 'not_compared', reason: 'it has no figure in a column that is a sum' }],
    })
    const mixed = await ingest.file(
      'Campaign name,Day,Impressions,Amount spent,Currency\nA,2026-11-13,1,5,EUR\nB,2026-11-13,2,6,USD\nTotal,,3,11,\n',
    )
    expect(totalsOf(mixed).totals[0]).toMatchObject({
      result: 'agrees',
      figures: [
        { column: 'Impressions', result: 'agrees' },
        { column: 'Amount spent', result: 'not_compared', reason: 'its lines have several currencies' },
      ],
    })
  })

  it('of a file without a total is nothing at all', async () => {
    const found = await upload(`${HEAD}${LINES.replaceAll('Tea', 'Milk')}`)
    expect(found.own_totals).toBeNull()
    expect(await checkOf(found)).toBeUndefined()
  })
})

describe('a dataset that refuses files whose totals disagree', () => {
  it('has a plan that cannot be submitted, until lines and total agree', async () => {
    const found = await upload(`${HEAD}${LINES}Total,,,60,650.60\n`, 'strict_sales')
    expect(found.plan_refusal).toBe(
      'the file’s own totals disagree with its lines: line 5 “Total” says 650.60 for Revenue, and all lines sum up to 600.6'.replace(
        '’',
        "'",
      ),
    )
    expect(await checkOf(found)).toMatchObject({ result: 'failed', invalid: 1, warnings: 0 })
    const error = await db
      .as(ingest.operator, (client) => submitPlan(client, found.upload_id, found.plan_digest!))
      .then(
        () => undefined,
        (thrown: unknown) => asStagedoorError(thrown),
      )
    expect(error).toMatchObject({ code: 'plan_refused' })
    expect(error!.hint).toContain('or the total itself')
    await repair(found, [{ line: 5, values: { Revenue: '600.60' } }])
    await ingest.plan(found.upload_id)
    expect(await ingest.find(found.upload_id)).toMatchObject({ plan_refusal: null, own_totals: { agree: 1 } })
  })
})

it('many totals are compared within a budget, and what is left out is counted', async () => {
  const blocks = Array.from(
    { length: 1010 },
    (_, at) => `2026-11-01,C${at},P,1,2\nSubtotal,,,1,${at === 3 ? 9 : 2}\n`,
  )
  const found = await upload(`${HEAD}${blocks.join('')}`)
  const { totals, ...counts } = totalsOf(found)
  expect(counts).toMatchObject({ lines: 1010, agree: 999, disagree: 1, not_compared: 10, more_totals: 910 })
  expect(totals).toHaveLength(100)
  expect(totals[0]).toMatchObject({ line: 9, result: 'disagrees' })
})
