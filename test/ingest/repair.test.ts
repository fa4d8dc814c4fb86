/** Lines that people correct, several of them at once. */
import { afterAll, expect, it } from 'vitest'
import { requireDataset } from '../../src/ingest/datasets/registry.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { ads } from '../../src/ingest/packs.ts'
import { type Correction, repairLines } from '../../src/ingest/repair.ts'
import type { Upload } from '../../src/ingest/uploads.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const ingest = useIngest(db)
afterAll(closeDuck)

const HEADER = 'Campaign ID,Campaign name,Day,Impressions,Amount spent (AUD)'
const SPEND = 'Amount spent (AUD)'

const lineOf = async ({ upload_id }: Upload, line: number) =>
  (
    await db.owner<{ raw: Record<string, string>; status: string; errors: { rule: string }[] }>(
      `select raw_payload as raw, validation_status as status, validation_errors as errors from staging_rows
        where upload_id = $1 and row_type = 'daily_metric' and row_number = $2`,
      [upload_id, line],
    )
  )[0]!

const repair = (upload: Upload, ...corrections: Correction[]) =>
  inTransaction(
    db.pool('stagedoor_worker'),
    async (client) =>
      repairLines(client, {
        upload,
        dataset: await requireDataset(client, 'ads', 'meta'),
        corrections,
        repairedBy: ingest.operator.userId,
      }),
    { role: 'service_role' },
  )

it('keeps both corrections when two people correct two cells of one line at once', async () => {
  const upload = await ingest.file(`${HEADER}\n1201,Always on,2026-11-09,many,much\n`)
  const [first, second] = await Promise.all(
    [1, 2].map(async () => {
      const session = await db.session('stagedoor_worker')
      await session.query('begin')
      await session.query('set local role service_role')
      return session
    }),
  )
  const known = await inTransaction(db.pool('stagedoor_worker'), (c) => requireDataset(c, 'ads', 'meta'), {
    role: 'service_role',
  })
  const correct = (session: typeof first, values: Record<string, string>) =>
    repairLines(session as never, {
      upload,
      dataset: known,
      corrections: [{ line: 2, values }],
      repairedBy: ingest.operator.userId,
    })
  await correct(first, { Impressions: '40' })
  const waiting = correct(second, { [SPEND]: '12.50' })
  await untilWaiting(db, second!)
  await first!.query('commit')
  await waiting
  await second!.query('commit')
  expect(await lineOf(upload, 2)).toMatchObject({
    raw: { Impressions: '40', [SPEND]: '12.50' },
    status: 'valid',
    errors: [],
  })
  await Promise.all([first!.end(), second!.end()])
})

it('checks a line by the rules that the file was read by, or not at all', async () => {
  const upload = await ingest.file(`${HEADER}\n1202,Always on,2026-11-09,5,much\n`)
  await ingest.register({ ...ads, version: ads.version + 1 })
  expect(await sqlstateOf(repair(upload, { line: 2, values: { [SPEND]: '1' } }))).toBe('SD606')
  await ingest.register(ads)
  await repair(upload, { line: 2, values: { [SPEND]: '1' } })
  expect((await lineOf(upload, 2)).status).toBe('valid')
})

it('leaves out one of two lines with the same key, and takes it in again when it is corrected', async () => {
  const line = '1203,Always on,2026-11-09,5,1.50'
  const upload = await ingest.file(`${HEADER}\n${line}\n${line}\n`)
  expect(upload).toMatchObject({ invalid_count: 2, valid_count: 0 })
  await repair(upload, { line: 3, leaveOut: true })
  expect(await ingest.find(upload.upload_id)).toMatchObject({
    invalid_count: 0,
    valid_count: 1,
    skipped_count: 1,
    changed_by: expect.arrayContaining([ingest.operator.userId]),
  })
  const plan = await ingest.plan(upload.upload_id)
  expect(plan).toMatchObject({ refusal: null, totals: { daily_metric: { insert: 1, skipped: 1 } } })
  // Whoever approves is asked about it.
  await ingest.service('select iu_core.fn_ingest_submit($1, $2)', [upload.upload_id, plan.digest])
  expect(
    await db.owner(
      `select c.item_id from iu_core.ingest_plan p, iu_core.fn_iu_staging_checklist(p.review_record_id) c where p.upload_id = $1`,
      [upload.upload_id],
    ),
  ).toEqual([{ item_id: 'changes' }, { item_id: 'left_out' }])
  await repair(upload, { line: 3, values: { Day: '2026-11-10' } })
  expect(await ingest.find(upload.upload_id)).toMatchObject({ valid_count: 2, skipped_count: 0 })
  // And without a correction it is only checked again: nothing is wrong with it.
  await repair(upload, { line: 3, leaveOut: true })
  await repair(upload, { line: 3 })
  expect(await ingest.find(upload.upload_id)).toMatchObject({ valid_count: 2, skipped_count: 0 })
})

it('is in the lineage of the row: who, from what to what, when, and what was left out for a while', async () => {
  const upload = await ingest.file(`${HEADER}\n1777,Repaired,2026-11-09,3,much\n`)
  await repair(upload, { line: 2, values: { [SPEND]: '12.50' } })
  await repair(upload, { line: 2, leaveOut: true })
  await repair(upload, { line: 2, values: { [SPEND]: '13.00' } })
  const { digest } = await ingest.plan(upload.upload_id)
  await ingest.service('select iu_core.fn_ingest_promote($1, $2)', [upload.upload_id, digest])
  const [written] = await db.owner<{ id: string }>(
    `select target_id as id from iu_core.ingest_ledger where upload_id = $1 and row_type = 'daily_metric'`,
    [upload.upload_id],
  )
  const [entry] = await ingest.service<{ repairs: unknown[] }>(
    `select repairs from iu_core.fn_ingest_lineage($1, 'public.daily_metrics', $2)`,
    [ingest.workspace, written!.id],
  )
  const said = { by: ingest.operator.userId, at: expect.any(String) }
  const line = { column: null, from: null, to: null }
  expect(entry!.repairs).toEqual([
    { what: 'corrected', column: SPEND, from: 'much', to: '12.50', ...said },
    { what: 'left_out', ...line, ...said },
    { what: 'corrected', column: SPEND, from: '12.50', to: '13.00', ...said },
    { what: 'taken_in', ...line, ...said },
  ])
})

it('exports a value that its column cannot hold with the other wrong lines', async () => {
  await db.owner('alter table public.campaigns alter column name type varchar(20)')
  try {
    const upload = await ingest.file(
      `${HEADER}\n1888,${'a very long name '.repeat(3)},2026-11-09,3,1\n1889,Short,2026-11-09,3,1\n`,
    )
    expect(upload).toMatchObject({ valid_count: 1, invalid_count: 1 })
    const rows = await ingest.service<{ row_number: number; message: string }>(
      `select row_number, validation_errors -> 0 ->> 'message' as message from public.staging_rows
        where upload_id = $1 and validation_status = 'invalid'`,
      [upload.upload_id],
    )
    expect(rows).toEqual([
      { row_number: 2, message: expect.stringContaining('the 20 characters of public.campaigns.name') },
    ])
  } finally {
    await db.owner('alter table public.campaigns alter column name type text')
  }
})
