/** No line is lost without a word: what is left out has positive evidence, its reason and its figures. */
import { describe, expect, it } from 'vitest'
import { requireDataset } from '../../src/ingest/datasets/registry.ts'
import { repairLines } from '../../src/ingest/repair.ts'
import { exportProblems, leftOutText, listLeftOut, listRows } from '../../src/ingest/staged-rows.ts'
import type { Upload } from '../../src/ingest/uploads.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ingest = useIngest(db)

async function linesOf({ upload_id }: Upload) {
  return ingest.service<{ line: number; status: string; rules: string[] }>(
    `select row_number as line, validation_status as status,
            array(select p ->> 'rule' from jsonb_array_elements(validation_errors || validation_warnings) p) as rules
       from public.staging_rows where upload_id = $1 and row_type like '%metric' order by 1`,
    [upload_id],
  )
}

describe('a line with a day and figures but empty names', () => {
  const head = 'Campaign name,Ad set name,Ad name,Day,Impressions,Amount spent (EUR)\n'

  it('is an error of its own, in STRICT the file is refused, and nothing counts it as a total', async () => {
    // A spreadsheet with merged cells: the names stand in the first line of each group only.
    const upload = await ingest.file(`${head}A,S,One,2026-11-01,100,10.00
,,,2026-11-02,250,20.50
A,S,One,2026-11-03,30,3.25
`)
    expect(upload).toMatchObject({ valid_count: 2, invalid_count: 1, skipped_count: 0, left_out: {} })
    expect(upload.plan_refusal).toBe('1 of 3 lines is invalid')
    const [, lost] = await linesOf(upload)
    expect(lost).toEqual({
      line: 3,
      status: 'invalid',
      rules: ['required.missing', 'required.missing', 'required.missing'],
    })
  })

  it('is left out where its figures are the sum of the lines of its day', async () => {
    const upload = await ingest.file(`${head}A,S,One,2026-11-04,100,10.10
A,S,Two,2026-11-04,50,0.20
,,,2026-11-04,150,10.30
A,S,One,2026-11-05,7,1
`)
    expect(upload).toMatchObject({
      valid_count: 3,
      invalid_count: 0,
      skipped_count: 1,
      left_out: { 'row.sum': 1 },
      plan_refusal: null,
    })
  })

  it('comes back as an error when a correction makes it a sum no more', async () => {
    const upload = await ingest.file(`${head}A,S,One,2026-11-06,100,10.10
A,S,Two,2026-11-06,50,0.20
,,,2026-11-06,150,10.30
`)
    await repair(upload, [{ line: 2, values: { Impressions: '101' } }])
    expect(await ingest.find(upload.upload_id)).toMatchObject({ invalid_count: 1, skipped_count: 0 })
  })
})

it('a line with neither a name nor a day is a total', async () => {
  const upload = await ingest.file(`Campaign name,Day,Impressions
A,2026-11-01,100
,,170
B,2026-11-01,70
`)
  expect(upload).toMatchObject({ valid_count: 2, skipped_count: 1, left_out: { 'row.total': 1 } })
})

describe('a demographic subtotal', () => {
  const head = 'Campaign name,Day,Age,Gender,Impressions,Amount spent (EUR)\n'
  const lines = `A,2026-11-01,18-24,male,100,10.00
A,2026-11-01,18-24,female,50,5.50
A,2026-11-01,25-34,female,25,2.25
`

  it.each([
    ['with empty age and gender', 'A,2026-11-01,,,175,17.75\n', 'row.sum'],
    ['with an empty age', 'A,2026-11-01,,female,75,7.75\n', 'row.sum'],
    ['called All', 'A,2026-11-01,All,All,175,17.75\n', 'row.subtotal'],
    ['of one age over all genders', 'A,2026-11-01,18-24,Alle,150,15.50\n', 'row.subtotal'],
    ['called All whatever its figures are', 'A,2026-11-01,All ages,Total,9,9\n', 'row.subtotal'],
  ])('%s is left out, never added', async (_, subtotal, reason) => {
    const upload = await ingest.file(`${head}${lines}${subtotal}`)
    expect(upload).toMatchObject({
      valid_count: 3,
      invalid_count: 0,
      left_out: { [reason]: 1 },
      plan_totals: { demographic_metric: { insert: 3, skipped: 1 } },
    })
  })

  it('that does not add up is refused', async () => {
    const upload = await ingest.file(`${head}${lines}A,2026-11-01,,,176,17.75\n`)
    expect(upload).toMatchObject({ invalid_count: 1, left_out: {} })
    expect((await linesOf(upload))[3]).toMatchObject({ status: 'invalid', rules: ['breakdown.missing'] })
  })

  it.each([
    ['of one line', 'A,2026-11-01,,male,100,10.00\n', [5]],
    ['that does not add up', 'A,2026-11-01,,female,76,7.75\n', [5]],
    [
      'by age beside others by gender',
      'B,2026-11-01,18-24,,60,6\nB,2026-11-01,25-34,,40,4\nB,2026-11-01,,male,70,7\nB,2026-11-01,,female,30,3\n',
      [5, 6, 7, 8],
    ],
  ])('with a part of the breakdown, %s, is refused', async (_, subtotal, wrong) => {
    const upload = await ingest.file(`${head}${lines}${subtotal}`)
    expect(upload).toMatchObject({ valid_count: 3, invalid_count: wrong.length, left_out: {} })
    const refused = (await linesOf(upload)).filter(({ status }) => status === 'invalid')
    expect(refused.map(({ line }) => line)).toEqual(wrong)
    for (const { rules } of refused) expect(rules).toEqual(['breakdown.mixed', 'breakdown.partly_missing'])
  })

  it('is none where no line that agrees with it has more', async () => {
    const upload = await ingest.file(
      `${head}${lines}A,2026-11-02,,male,1,1\nA,2026-11-02,,female,2,2\nB,2026-11-01,18-24,,3,3\nA,2026-11-01,,unknown,4,4\n`,
    )
    expect(upload).toMatchObject({ valid_count: 7, invalid_count: 0, left_out: {} })
  })

  it('that was refused is valid again when the other line is corrected', async () => {
    const upload = await ingest.file(
      `${head}B,2026-11-05,18-24,male,1,1\nB,2026-11-05,,female,2,2\nB,2026-11-05,,male,3,3\n`,
    )
    expect(upload).toMatchObject({ valid_count: 2, invalid_count: 1 })
    await repair(upload, [{ line: 2, values: { Day: '2026-11-06' } }])
    expect(await ingest.find(upload.upload_id)).toMatchObject({ valid_count: 3, invalid_count: 0 })
  })
})

async function repair(upload: Upload, corrections: { line: number; values: Record<string, string> }[]) {
  await inTransaction(
    db.pool('stagedoor_worker'),
    async (client) => {
      const dataset = await requireDataset(client, 'ads', 'meta')
      await repairLines(client, { upload, dataset, corrections, repairedBy: ingest.operator.userId })
    },
    { role: 'service_role' },
  )
}

it('figures of a campaign among those of its ads are left out as their sum, or refused', async () => {
  const head = 'Campaign name,Ad set name,Ad name,Day,Impressions\n'
  const lines = 'A,S,One,2026-11-01,100\nA,S,Two,2026-11-01,50\n'
  const summed = await ingest.file(`${head}${lines}A,,,2026-11-01,150\n`)
  expect(summed).toMatchObject({ valid_count: 2, left_out: { 'row.sum': 1 } })
  const other = await ingest.file(`${head}${lines}A,,,2026-11-01,151\n`)
  expect(other).toMatchObject({ valid_count: 2, invalid_count: 1, left_out: {} })
})

it('every line left out is counted under its own reason and listed with its figures', async () => {
  const dataset = await lastOf()
  await ingest.register(dataset, { approvalRequired: false })
  const upload = await ingest.file(
    `Campaign name,Day,Impressions,Amount spent (EUR)
A,2026-11-01,100,10.00
A,2026-11-01,110,123456789012.345678
Total,,210,22.50
`,
    { dataset: dataset.name },
  )
  expect(upload).toMatchObject({ skipped_count: 2, left_out: { 'key.repeated': 1, 'row.total': 1 } })
  expect(leftOutText(upload.left_out)).toBe('2 left out (1 totals, 1 repeated keys)')
  const member = (work: Parameters<typeof db.as>[1]) => db.as(ingest.operator, work)
  expect(await member((client) => listLeftOut(client, upload.upload_id, { limit: 10 }))).toMatchObject([
    { line: 2, reason: 'key.repeated', values: { impressions: '100', spend: '10.00' } },
    { line: 4, reason: 'row.total', values: { impressions: '210', spend: '22.50' } },
  ])
  const page = (after: number) =>
    member((client) =>
      listRows(client, upload.upload_id, {
        rowType: 'daily_metric',
        status: 'skipped',
        limit: 10,
        after,
      }),
    ) as ReturnType<typeof listRows>
  let csv = ''
  for await (const text of exportProblems(page, upload.reading!.headers)) csv += text
  expect(csv).toContain('Total,,210,22.50,4,This line only sums up others and was left out.')
  expect(csv).toContain('A,2026-11-01,100,10.00,2,"Line 3 has the same key')
})

/** Ads where the last line of a key is taken. */
async function lastOf() {
  const { ads } = await import('../../src/ingest/packs.ts')
  return {
    ...ads,
    name: 'ads_last',
    rows: ads.rows.map((row) => ({ ...row, duplicates: 'last' as const })),
  }
}

it('a measure that the dataset expects is asked for where no column is known to be it', async () => {
  const { ads } = await import('../../src/ingest/packs.ts')
  const dataset = {
    ...ads,
    name: 'ads_with_spend',
    fields: { ...ads.fields, spend: { ...ads.fields.spend!, expected: true } },
  }
  await ingest.register(dataset, { approvalRequired: false })
  const file = 'Campaign name,Day,Impressions,Media outlay\nA,2026-11-01,1,2.50\n'
  const refused = await ingest.file(file, { dataset: dataset.name }).catch((error) => error)
  expect(refused).toMatchObject({ code: 'upload_columns_missing', details: { missing: ['Spend'] } })
  // Its name is not like spend, so it is listed and not suggested.
  expect(refused.hint).toContain('--set "HEADER=spend"')
  expect(refused.hint).toContain('Columns that are not known: “Media outlay”.')
  expect(refused.hint).toContain('`--without spend`')
  const upload = await ingest.file(file, { dataset: dataset.name, file: { without: ['spend'] } })
  expect(upload).toMatchObject({ valid_count: 1, plan_refusal: null })
  await expect(
    ingest.file(`${file}B,2026-11-01,1,2\n`, { dataset: dataset.name, file: { without: ['date'] } }),
  ).rejects.toMatchObject({ code: 'argument_invalid' })
})

it.each([
  ['dates', 'date.ambiguous', '03/04/2026,1', 'dmy', { date: '2026-04-03' }],
  ['decimal', 'number.ambiguous', '2026-11-01,"1,234"', 'comma', { spend: 1.234 }],
] as const)(
  '--%s is suggested where it settles a line (%s), and settles it',
  async (option, rule, cells, said, settled) => {
    const file = `Campaign name,Day,Amount spent\nSettled by ${option},${cells}\n`
    const stage = async (options: object) => {
      const { upload_id } = await ingest.file(file, { until: 'staged', file: options })
      const [row] = await ingest.service<{
        payload: object
        errors: { rule: string; suggestion: string }[]
      }>(
        `select normalized_payload as payload, validation_errors as errors from public.staging_rows where upload_id = $1`,
        [upload_id],
      )
      await ingest.service('select iu_core.fn_ingest_discard($1)', [upload_id])
      return row!
    }
    expect((await stage({})).errors).toMatchObject([
      { rule, suggestion: expect.stringContaining(`--${option} ${said}`) },
    ])
    expect(await stage({ [option]: said })).toMatchObject({ errors: [], payload: settled })
  },
)
