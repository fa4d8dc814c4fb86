/** A rule in TypeScript: every line passes through it, in bulk and in a repair, and the upload says that it does. */
import { beforeAll, expect, it } from 'vitest'
import type { Dataset, Problem } from '../../src/ingest/datasets/dataset.ts'
import { requireDataset } from '../../src/ingest/datasets/registry.ts'
import { ads } from '../../src/ingest/packs.ts'
import { repairLines } from '../../src/ingest/repair.ts'
import { listRows } from '../../src/ingest/staged-rows.ts'
import type { Upload } from '../../src/ingest/uploads.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const uploads = useIngest(db)

const seen: Record<string, unknown>[] = []
/** The text of the message has all that could break a line of COPY. */
const TROUBLE = 'Spend\tof\n"more" than a\\ctually budgeted \u0001'
const withRule: Dataset = {
  ...ads,
  check(record): Problem[] {
    seen.push(record)
    if (Number(record.spend) <= 100) return []
    return [
      {
        line: 0,
        column: 'Amount spent (AUD)',
        field: 'spend',
        value: String(record.spend),
        rule: 'budget.exceeded',
        message: TROUBLE,
        suggestion: 'Ask who raised it.',
      },
    ]
  },
}
const FILE = `Campaign name,Day,Amount spent (AUD),Impressions
Tabs\tand "quotes",2026-11-09,99,10
Boots,2026-11-10,412.10,10
Boots,2026-11-11,many,10
,,511.10,20
`

beforeAll(() => uploads.register(withRule, { approvalRequired: false }))

async function linesOf(upload: Upload) {
  const rows = await inTransaction(
    db.pool('stagedoor_worker'),
    (client) => listRows(client, upload.upload_id, { rowType: 'daily_metric', limit: 10 }),
    { role: 'service_role' },
  )
  return rows.map((row) => ({
    line: row.row_number,
    status: row.validation_status,
    errors: row.validation_errors,
  }))
}

it('finds the same in bulk and in a repair, and sees only lines that are right so far', async () => {
  const upload = await uploads.file(FILE)
  expect(upload.notes).toContainEqual(expect.objectContaining({ rule: 'dataset.custom_rule' }))
  expect(seen.map(({ date }) => date)).toEqual(['2026-11-09', '2026-11-10'])
  const [fine, exceeded, wrong, total] = await linesOf(upload)
  expect([fine!.status, exceeded!.status, wrong!.status, total!.status]).toEqual([
    'valid',
    'invalid',
    'invalid',
    'skipped',
  ])
  expect(exceeded!.errors).toEqual([
    expect.objectContaining({ line: 3, rule: 'budget.exceeded', message: TROUBLE, value: '412.1' }),
  ])
  expect(wrong!.errors.map(({ rule }) => rule)).toEqual(['number.invalid'])

  const repair = (line: number, spend: string) =>
    inTransaction(
      db.pool('stagedoor_worker'),
      async (client) => {
        const dataset = await requireDataset(client, 'ads', 'meta')
        const values = { 'Amount spent (AUD)': spend }
        await repairLines(client, {
          upload,
          dataset,
          corrections: [{ line, values }],
          repairedBy: uploads.operator.userId,
        })
      },
      { role: 'service_role' },
    )
  await repair(4, '412.10')
  const [, , again] = await linesOf(upload)
  expect(again).toEqual({ ...exceeded, line: 4, errors: [{ ...exceeded!.errors[0]!, line: 4 }] })
  await repair(4, '80')
  expect((await linesOf(upload))[2]).toEqual({ line: 4, status: 'valid', errors: [] })
})

it('is not there for a dataset without one', async () => {
  await uploads.register(ads, { approvalRequired: false })
  const upload = await uploads.file(FILE.replace('99', '98'))
  expect(upload.notes.map(({ rule }) => rule)).not.toContain('dataset.custom_rule')
  expect((await linesOf(upload)).map(({ status }) => status)).toEqual([
    'valid',
    'valid',
    'invalid',
    'skipped',
  ])
})
