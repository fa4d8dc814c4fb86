/** Control totals: whoever decides sees how much of every measure is taken, left out and refused, exactly. */
import { describe, expect, it } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import { requireDataset } from '../../src/ingest/datasets/registry.ts'
import { ads } from '../../src/ingest/packs.ts'
import { repairLines } from '../../src/ingest/repair.ts'
import type { ControlTotal, Upload } from '../../src/ingest/uploads.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ingest = useIngest(db)
const HEAD = 'Campaign name,Day,Impressions,Amount spent,Currency\n'

function spendOf({ control }: Pick<Upload, 'control'>, currency: string | null = 'EUR'): ControlTotal {
  return control.find((total) => total.measure === 'spend' && total.currency === currency)!
}

describe('control totals', () => {
  it('say what is read, valid, left out, refused, written, and what changes, to the last digit', async () => {
    const first = await ingest.file(
      `${HEAD}A,2026-11-01,1,0.1,EUR\nA,2026-11-02,2,0.2,EUR\nA,2026-11-03,3,12345678901.123456,EUR\n`,
      { until: 'promoted' },
    )
    expect(spendOf(first)).toMatchObject({
      read: '12345678901.423456',
      written: '12345678901.423456',
      before: '0',
      difference: '12345678901.423456',
    })
    const second = await ingest.file(
      `${HEAD}A,2026-11-01,1,0.3,EUR
A,2026-11-02,2,0.2,EUR
A,2026-11-04,4,0.4,EUR
A,2026-11-05,5,4.00,USD
A,2026-11-31,6,25.5,EUR
Total,,21,26.3,EUR
`,
      { onInvalid: 'skip', threshold: 0 },
    )
    expect(spendOf(second)).toEqual({
      measure: 'spend',
      title: 'Spend',
      column: 'spend',
      currency: 'EUR',
      read: '26.4',
      valid: '0.9',
      left_out: '0',
      refused: '25.5',
      totals_lines: '26.3',
      reasons: { 'row.total': '26.3' },
      unread: 0,
      written: '0.7',
      unchanged: '0.2',
      before: '0.3',
      after: '0.9',
      difference: '0.6',
      lost_share: '0.965909091',
    })
    expect(spendOf(second, 'USD')).toMatchObject({ read: '4', written: '4', difference: '4' })
    expect(second.control.find(({ measure }) => measure === 'impressions')).toMatchObject({
      currency: null,
      read: '18',
      valid: '12',
      left_out: '0',
      refused: '6',
      totals_lines: '21',
    })
    // Of people reached nobody can make a sum.
    expect(second.control.map(({ measure }) => measure)).toEqual(['impressions', 'spend', 'spend'])
  })

  it('keep lines that sum up others apart from lines that are left out, in the check, the plan and the promotion', async () => {
    const file = `${HEAD}P,2026-11-01,1,1.25,EUR\nP,2026-11-01,2,2.50,EUR\nTotal,,3,3.75,EUR\nTotal,,3,1 million 3,\n`
    const apart = { read: '3.75', left_out: '1.25', totals_lines: '3.75', unread: 0 }
    const planned = await ingest.file(file, { repeatedKeys: 'last' })
    expect(spendOf(planned)).toMatchObject({
      ...apart,
      valid: '2.5',
      reasons: { 'key.repeated': '1.25', 'row.total': '3.75' },
    })
    await ingest.service('select iu_core.fn_ingest_promote($1, $2)', [planned.upload_id, planned.plan_digest])
    expect(spendOf(await ingest.find(planned.upload_id))).toMatchObject({ ...apart, written: '2.5' })
    const checked = await ingest.file(file.replaceAll('P,', 'Q,'), { until: 'staged' })
    expect(spendOf(checked)).toMatchObject({ read: '3.75', left_out: '0', totals_lines: '3.75' })
  })

  it('of a totals line without a currency are there, and count for no currency', async () => {
    const upload = await ingest.file(`${HEAD}R,2026-11-01,1,1.5,EUR\nTotal,,1,1.5,\n`)
    expect(spendOf(upload)).toMatchObject({ read: '1.5', totals_lines: '0' })
    expect(spendOf(upload, null)).toMatchObject({ read: '0', left_out: '0', totals_lines: '1.5' })
  })

  it('are there after the check alone, and after a repair', async () => {
    const upload = await ingest.file(`${HEAD}B,2026-11-01,1,1.5,EUR\nB,oops,2,2.5,EUR\n`, { until: 'staged' })
    expect(spendOf(upload)).toMatchObject({ read: '4', valid: '1.5', refused: '2.5' })
    expect(spendOf(upload)).not.toHaveProperty('written')
    await inTransaction(
      db.pool('stagedoor_worker'),
      async (client) => {
        const dataset = await requireDataset(client, 'ads', 'meta')
        const corrections = [{ line: 3, values: { Day: '2026-11-02' } }]
        await repairLines(client, { upload, dataset, corrections, repairedBy: ingest.operator.userId })
      },
      { role: 'service_role' },
    )
    expect(spendOf(await ingest.find(upload.upload_id))).toMatchObject({
      read: '4',
      valid: '4',
      refused: '0',
    })
  })

  it('of many currencies are not too long for the event of a promotion', async () => {
    const currencies = 'EUR USD GBP AUD CAD CHF SEK NOK DKK PLN CZK HUF RON BGN TRY JPY CNY INR KRW BRL MXN'
    const head = 'Campaign name,Day,Impressions,Amount spent,Purchases conversion value,Currency\n'
    const lines = currencies.split(' ').map((code, at) => `L,2026-10-${at + 10},1,1.5,2,${code}\n`)
    const upload = await ingest.file(`${head}${lines.join('')}`, { until: 'promoted' })
    expect(upload).toMatchObject({ status: 'promoted' })
    expect(upload.control).toHaveLength(1 + 2 * 21)
  })

  it('of a sign that several currencies use: a note says that none is stored', async () => {
    const head = 'Campaign name,Day,Impressions,Amount spent\n'
    const open = [expect.objectContaining({ rule: 'currency.open' })]
    const signed = await ingest.file(`${head}M,2026-11-01,1,$1.5\n`)
    expect(signed.notes).toEqual(expect.arrayContaining(open))
    const inHeader = await ingest.file(`${head.replace('spent', 'spent ($)')}M,2026-11-01,1,1.5\n`)
    expect(inHeader.notes).toEqual(expect.arrayContaining(open))
    const named = await ingest.file(`${head}M,2026-11-01,1,€1.5\n`)
    expect(named.notes).not.toEqual(expect.arrayContaining(open))
  })

  it('count cells that are no number', async () => {
    const upload = await ingest.file(`${HEAD}C,2026-11-01,1,1.5,EUR\nC,2026-11-02,2,1 million 3,EUR\n`)
    expect(spendOf(upload)).toMatchObject({ read: '1.5', refused: '0', unread: 1 })
  })

  it('are part of what is approved: other totals, another digest', async () => {
    const upload = await ingest.file(`${HEAD}D,2026-11-01,1,1.5,EUR\nTotal,,1,1.5,EUR\n`)
    await db.owner(
      `update public.staging_rows set normalized_payload = normalized_payload || '{"spend": 99}'
        where upload_id = $1 and validation_status = 'skipped'`,
      [upload.upload_id],
    )
    const again = await ingest.plan(upload.upload_id)
    expect(spendOf({ control: again.control })).toMatchObject({ left_out: '0', totals_lines: '99' })
    expect(again.digest).not.toBe(upload.plan_digest)
    await db.owner(`update iu_core.ingest_dataset set approval_required = true where dataset = 'ads'`)
    try {
      const plan = await ingest.plan(upload.upload_id)
      const [record] = await ingest.service<{ id: string }>(
        'select iu_core.fn_ingest_submit($1, $2, $3) as id',
        [upload.upload_id, plan.digest, ingest.operator.userId],
      )
      const [part] = await db.owner<{ payload_json: { control: ControlTotal[]; left_out: object } }>(
        `select payload_json from iu_core.iu_staging_payload where staging_record_id = $1 and part_name = 'plan'`,
        [record!.id],
      )
      expect(part!.payload_json.control).toEqual(plan.control)
      expect(part!.payload_json.left_out).toEqual({ 'row.total': 1 })
    } finally {
      await db.owner(`update iu_core.ingest_dataset set approval_required = false where dataset = 'ads'`)
    }
  })

  it('after a LENIENT promotion are without the rows that the table refused', async () => {
    await db.owner(`alter table public.daily_metrics add constraint no_thirteen check (impressions <> 13)`)
    try {
      const upload = await ingest.file(
        `${HEAD}E,2026-11-01,13,1.5,EUR\nE,2026-11-02,2,2.5,EUR\nE,2026-11-03,3,2.5,EUR\n`,
        { onInvalid: 'skip', threshold: 0.1, until: 'promoted' },
      )
      expect(spendOf(upload)).toMatchObject({
        read: '6.5',
        valid: '5',
        refused: '1.5',
        written: '5',
        after: '5',
      })
    } finally {
      await db.owner('alter table public.daily_metrics drop constraint no_thirteen')
    }
  })
})

describe('a column that takes a measure', () => {
  it.each(['text', 'varchar(20)', 'money', 'double precision', 'numeric(12, 2)'])(
    'may be of the type %s',
    async (type) => {
      const table = `public."figures ${type}"`
      await db.owner(
        `create table ${table} (workspace_id uuid not null, sku text not null, price ${type}, unique (workspace_id, sku))`,
      )
      const dataset: Dataset = {
        name: `figures_${type.replace(/\W/g, '')}`,
        title: 'Figures',
        version: 1,
        platforms: { file: { title: 'File' } },
        fields: {
          sku: { type: 'id', aliases: { any: ['SKU'] } },
          price: { type: 'money', aliases: { any: ['Price'] } },
        },
        rows: [
          {
            name: 'figure',
            target: table,
            key: ['workspace_id', 'sku'],
            requires: ['sku'],
            columns: { workspace_id: '$workspace', sku: 'sku', price: 'price' },
          },
        ],
      }
      await ingest.register(dataset, { approvalRequired: false })
      const asked = { dataset: dataset.name, platform: 'file', until: 'promoted' } as const
      const shop = { clientId: undefined as never }
      await ingest.file('SKU,Price\na,10\nb,2\nc,4\n', { ...asked, ...shop })
      // What is no number counts for nothing, and stops nothing.
      if (type === 'text') await db.owner(`update ${table} set price = 'unknown' where sku = 'c'`)
      await db.owner(`alter table ${table} add check (sku <> 'd')`)
      const { control } = await ingest.file('SKU,Price\na,11\nb,2\nc,5\nd,7\n', {
        ...asked,
        ...shop,
        onInvalid: 'skip',
        threshold: 0,
      })
      expect(control).toMatchObject([
        { read: '25', valid: '18', refused: '7', written: '16', before: type === 'text' ? '12' : '16' },
      ])
    },
  )
})

describe('LENIENT', () => {
  const LINES = Array.from({ length: 19 }, (_, day) => `F,2026-10-${day + 10},1,1.00,EUR\n`).join('')

  it('is refused where few wrong lines hold much of the amount that the dataset names', async () => {
    const upload = await ingest.file(`${HEAD}${LINES}F,2026-11-31,1,81.00,EUR\n`, { onInvalid: 'skip' })
    expect(upload.plan_refusal).toBe(
      'invalid or skipped lines hold 81 % of Spend in EUR, and the threshold is 90 %',
    )
  })

  it('is refused where a table refuses a row that holds much of it', async () => {
    await db.owner(`alter table public.daily_metrics add constraint no_fourteen check (impressions <> 14)`)
    try {
      const file = `${HEAD}${LINES.replaceAll('F,', 'K,')}K,2026-11-01,14,81.00,EUR\nK,2026-11-02,1,7.00,USD\n`
      const planned = await ingest.file(file, { onInvalid: 'skip' })
      expect(planned.plan_refusal).toBeNull()
      const promote = (digest: string | null) =>
        ingest.service('select iu_core.fn_ingest_promote($1, $2)', [planned.upload_id, digest])
      await expect(promote(planned.plan_digest)).rejects.toThrow(
        /its tables refuse 1 rows? \(line 21: .*no_fourteen.*\); then invalid or skipped lines hold 81 % of Spend in EUR, and the threshold is 90 %/,
      )
      const plan = await ingest.plan(planned.upload_id, { onInvalid: 'skip', threshold: 0.1 })
      await promote(plan.digest)
      expect(spendOf(await ingest.find(planned.upload_id))).toMatchObject({
        valid: '19',
        refused: '81',
        lost_share: '0.81',
      })
    } finally {
      await db.owner('alter table public.daily_metrics drop constraint no_fourteen')
    }
  })

  it('does not count what sums up others', async () => {
    const upload = await ingest.file(`${HEAD}${LINES}Total,,19,19,EUR\n`, { onInvalid: 'skip' })
    expect(upload.plan_refusal).toBeNull()
  })
})

describe('lines with the same key', () => {
  it('of which some are left out are a box that the reviewer ticks; totals are none', async () => {
    const boxes = async (file: string, repeatedKeys: 'last' | 'refuse') => {
      const { upload_id, plan_digest } = await ingest.file(file, { repeatedKeys })
      const [record] = await ingest.service<{ id: string }>(
        'select iu_core.fn_ingest_submit($1, $2, $3) as id',
        [upload_id, plan_digest, ingest.operator.userId],
      )
      const items = await ingest.service<{ item_id: string }>(
        'select item_id from iu_core.fn_iu_staging_checklist($1) order by 1',
        [record!.id],
      )
      return items.map(({ item_id }) => item_id)
    }
    expect(await boxes(`${HEAD}N,2026-11-01,1,1.25,EUR\nN,2026-11-01,2,2.50,EUR\n`, 'last')).toEqual([
      'changes',
      'left_out',
    ])
    expect(await boxes(`${HEAD}N,2026-11-02,1,1.25,EUR\nTotal,,1,1.25,EUR\n`, 'refuse')).toEqual(['changes'])
  })

  const SAME = `${HEAD}G,2026-11-01,1,1.25,EUR\nG,2026-11-01,2,2.50,EUR\n`

  it('are refused with the cause and the cure', async () => {
    const upload = await ingest.file(SAME)
    expect(upload).toMatchObject({ invalid_count: 2, repeated_keys: 'refuse' })
    const [row] = await ingest.service<{ validation_errors: { message: string; suggestion: string }[] }>(
      'select validation_errors from public.staging_rows where upload_id = $1 order by row_number',
      [upload.upload_id],
    )
    expect(row!.validation_errors[0]!.message).toBe(
      'The same key occurs in 2 lines: 2, 3. The file has no Campaign ID, so those with the same name cannot be told apart.',
    )
    expect(row!.validation_errors[0]!.suggestion).toMatch(
      /^Export again with the column Campaign ID\. Or choose/,
    )
  })

  it.each([
    ['sum', { impressions: '3', spend: '3.75' }, {}],
    ['last', { impressions: '2', spend: '2.5' }, { 'key.repeated': 1 }],
    ['first', { impressions: '1', spend: '1.25' }, { 'key.repeated': 1 }],
  ] as const)(
    'are taken as %s where the upload or the plan says so',
    async (repeated_keys, written, leftOut) => {
      const named = SAME.replaceAll('G,', `G ${repeated_keys},`)
      const refused = await ingest.file(named)
      const plan = await ingest.plan(refused.upload_id, { repeatedKeys: repeated_keys })
      expect(plan).toMatchObject({ refusal: null, repeated_keys })
      const upload = await ingest.find(refused.upload_id)
      expect(upload).toMatchObject({ left_out: leftOut, repeated_keys })
      expect(plan.digest).not.toBe(refused.plan_digest)
      await ingest.service('select iu_core.fn_ingest_discard($1)', [upload.upload_id])

      const asked = await ingest.file(named, { repeatedKeys: repeated_keys, until: 'promoted' })
      expect(asked).toMatchObject({ left_out: leftOut, repeated_keys })
      for (const [measure, sum] of Object.entries(written)) {
        expect(asked.control.find((total) => total.measure === measure)).toMatchObject({ written: sum })
      }
      const [row] = await db.owner(
        `select m.impressions::text, trim_scale(m.spend)::text as spend from public.daily_metrics m
         join public.campaigns c on c.id = m.campaign_id where c.name = $1`,
        [`G ${repeated_keys}`],
      )
      expect(row).toEqual(written)
    },
  )

  // Joined in loops, 20,000 lines took 200 s to be staged.
  it('may be many', async () => {
    const lines = Array.from({ length: 16_000 }, (_, index) => {
      const day = new Date(Date.UTC(1980, 0, 1 + (index >> 1))).toISOString().slice(0, 10)
      return `O,${day},1,1.25,EUR\n`
    })
    const { upload_id, invalid_count } = await ingest.file(HEAD + lines.join(''), { until: 'staged' })
    expect(invalid_count).toBe(16_000)
    for (const repeatedKeys of ['sum', 'last'] as const) {
      const { totals } = await ingest.plan(upload_id, { repeatedKeys })
      expect(totals).toMatchObject({ daily_metric: { insert: 8_000, skipped: 8_000 } })
    }
  })

  it('of different currencies have no sum', async () => {
    const upload = await ingest.file(SAME.replace('2.50,EUR', '2.50,USD').replaceAll('G,', 'H,'), {
      repeatedKeys: 'sum',
    })
    expect(upload.plan_totals).toMatchObject({ daily_metric: { refused: 2 } })
    expect(upload.plan_refusal).not.toBeNull()
  })

  it('whoever chooses how they are taken does not approve it', async () => {
    const upload = await ingest.file(SAME.replaceAll('G,', 'I,'))
    await ingest.plan(upload.upload_id, { repeatedKeys: 'sum', plannedBy: ingest.reviewer.userId })
    expect((await ingest.find(upload.upload_id)).changed_by).toContain(ingest.reviewer.userId)
  })
})

it('a dataset’s amount must be a measure', async () => {
  await expect(ingest.register({ ...ads, name: 'ads_odd', amount: 'reach' })).rejects.toMatchObject({
    code: 'argument_invalid',
  })
})
