/** A repair of few lines brings the plan up to date: the same plan that planning everything again makes. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type ColumnEdit, findEdited } from '../../src/ingest/column-edits.ts'
import { readCorrections } from '../../src/ingest/corrections.ts'
import { requireDataset } from '../../src/ingest/datasets/registry.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { backEndActor } from '../../src/ingest/pipeline.ts'
import { planRequestOf } from '../../src/ingest/plan.ts'
import { type Correction, repairLines, repairUpload } from '../../src/ingest/repair.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { type StagedLine, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { until } from '../support/until.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const trial = useTrial(db)
afterAll(closeDuck)
beforeEach(emptyTables)

const HEADERS = [
  'Group',
  'Group name',
  'Item',
  'Item name',
  'Day',
  'Amount',
  'Units',
  'Note',
  'Flag',
] as const
type Header = (typeof HEADERS)[number]
type Cells = Record<Header, string>

/** The column “Run” belongs to no field: it makes the bytes of each file its own. */
let files = 0
const csv = (lines: readonly Partial<Cells>[]) =>
  `${[
    [...HEADERS, 'Run'],
    ...lines.map((line) => [...HEADERS.map((header) => line[header] ?? ''), `${files}`]),
  ]
    .map((cells) => cells.join(','))
    .join('\n')}\n`

const stage = (lines: readonly Partial<Cells>[], options: object = {}) => {
  files++
  return trial.file(csv(lines), { dataset: 'trial', platform: 'file', ...options })
}

const correct = (upload: string, ...corrections: Correction[]) =>
  repairUpload(
    db.pool('stagedoor_worker'),
    backEndActor(db.pool('stagedoor_worker'), trial.operator.userId),
    { upload, corrections },
  )

/** All that is known of a plan, with the ids of new rows replaced by what they stand for. */
async function stateOf(upload: string) {
  const [found] = await db.owner<{ state: object; ids: Record<string, string> }>(
    `select jsonb_build_object(
       'upload', (select to_jsonb(u) - '{staged_at,error,planned_at}'::text[] from (
          select upload_id, status, line_count, valid_count, invalid_count, skipped_count, warning_count, left_out, control, repeated_keys
            from iu_core.ingest_upload where upload_id = $1) u),
       'plan', (select to_jsonb(p) - '{plan_id,digest,planned_at,planned_by,took_ms,steps,control_parts,row_digests}'::text[] from iu_core.ingest_plan p where upload_id = $1),
       'digest', (select p.digest = iu_core.fn_ingest_plan_digest(p.upload_id, p.gate_mode, p.threshold,
           jsonb_build_object('control', p.control, 'repeated_keys', p.repeated_keys, 'notes', nullif(p.notes, '[]')), r.blocks, r.digests)
           from iu_core.ingest_plan p, iu_core.fn_ingest_plan_row_digests(p.upload_id) r where upload_id = $1),
       'rows', (select jsonb_agg(to_jsonb(r) - '{row_hash,before_hash,target_key}'::text[] || jsonb_build_object('hash', case
            when r.inserted is null and r.after is null and r.before_hash is null and r.target_id is null then encode(r.row_hash, 'hex')
            else (r.row_hash = sha256(convert_to(concat_ws('|', r.row_type, r.row_number, r.action, r.target_id,
                                            r.inserted, coalesce(r.after, r.target_key), r.before_hash), 'UTF8')))::text end)
            order by r.type_order, r.row_number) from iu_core.ingest_plan_row r where upload_id = $1),
       'lines', (select jsonb_agg(to_jsonb(s) - '{batch_id,created_at,updated_at}'::text[] order by s.row_type, s.row_number)
                   from public.staging_rows s where upload_id = $1),
       'resolved', (select jsonb_agg(to_jsonb(s) - '{id,batch_id,created_at,updated_at,resolved_at}'::text[] order by s.entity_type, s.external_id)
                      from public.staging_id_resolution s where upload_id = $1)) as state,
       (select coalesce(jsonb_object_agg(x.id, x.label), '{}') from (
          select s.id, concat_ws(' ', 'row of', s.row_type, s.entity_external_id) as label from public.staging_rows s
           where s.upload_id = $1 and s.row_type <> 'figure') x) as ids`,
    [upload],
  )
  let text = JSON.stringify(found!.state)
  for (const [id, label] of Object.entries(found!.ids)) text = text.replaceAll(id, label)
  return JSON.parse(text) as Record<string, unknown>
}

const cell = (...values: string[]) => fc.constantFrom(...values)
const CELLS: { [header in Header]: fc.Arbitrary<string> } = {
  Group: cell('G1', 'G1', 'G1', 'G1', 'G2', 'G2', 'G2', 'G3', 'G3', 'G3', ''),
  'Group name': cell('One', 'One', 'Two', ''),
  Item: cell('A', 'A', 'A', 'B', 'B', 'C', 'C', ''),
  'Item name': cell('', 'Alpha', 'Beta'),
  Day: cell(...[1, 1, 2, 2, 3, 3, 4, 4].map((day) => `2026-11-0${day}`), 'never', 'never', ''),
  Amount: cell('1.50', '2', '0', '-3.25', '', 'much'),
  Units: cell('1', '2', '', 'x'),
  Note: cell('', 'a', 'b'),
  Flag: cell('', 'yes', 'no'),
}
const ONE_GROUP_OF_ITEM = (line: Cells): Cells =>
  // An item under two groups is ambiguous, and then everything is planned again: only now and then.
  line.Item === '' || line.Amount === '0' ? line : { ...line, Item: `${line.Group}-${line.Item}` }
const LINE: fc.Arbitrary<Cells> = fc.record(CELLS).map(ONE_GROUP_OF_ITEM)
const EDIT = fc.oneof(
  ...HEADERS.map((header) => CELLS[header].map((value) => ({ [header]: value }) as Partial<Cells>)),
  LINE,
)
const STORY = fc.record({
  production: fc.array(LINE, { maxLength: 5 }),
  lines: fc.array(LINE, { minLength: 2, maxLength: 14 }),
  mode: fc.constantFrom('refuse', 'skip', 'skip'),
  threshold: fc.constantFrom(0, 0.5, 0.9),
  repeated: fc.constantFrom('refuse', 'sum', 'first', 'last'),
  repairs: fc.array(
    fc.array(fc.record({ at: fc.nat(13), edit: EDIT, leaveOut: fc.integer({ min: 0, max: 9 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    { minLength: 2, maxLength: 5 },
  ),
})

/** What is there before the file comes: staged by SQL, so that no other file is read. One row for each key. */
function productionOf(lines: readonly Cells[]): StagedLine[] {
  const rows = lines
    .filter(({ Group, Item, Day }) => Group !== '' && Item !== '' && Day.startsWith('2026'))
    .map((line) => ({
      group_code: line.Group,
      group_name: line['Group name'] || null,
      item_code: line.Item,
      item_name: line['Item name'] || null,
      day: line.Day,
      amount: line.Amount === 'much' ? null : line.Amount || null,
      units: line.Units === 'x' ? null : line.Units || null,
      note: line.Note || null,
      flag: line.Flag === '' ? null : line.Flag === 'yes',
    }))
  return [...new Map(rows.map((row) => [`${row.group_code} ${row.item_code} ${row.day}`, row])).values()]
}

describe('a plan that is brought up to date', () => {
  const ways = { lines: 0, whole: 0 }
  const reasons = new Map<string, number>()

  it('is the plan that planning everything again makes', { tags: 'property', timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(STORY, async (story) => {
        await emptyTables()
        const rows = productionOf(story.production)
        if (rows.length > 0) {
          const plan = await trial.planned(await trial.stage(rows), 'LENIENT', 0)
          if (plan.refusal === null) await trial.promote(plan)
        }
        const staged = await stage(story.lines)
        const { upload_id: id } = staged
        const request = {
          onInvalid: story.mode as 'refuse',
          threshold: story.threshold,
          repeatedKeys: story.repeated as 'sum',
        }
        await trial.plan(id, request)
        for (const repair of story.repairs) {
          const corrections = repair.map(({ at, edit, leaveOut }): Correction => {
            const line = 2 + (at % story.lines.length)
            return leaveOut === 0 ? { line, leaveOut: true } : { line, values: edit }
          })
          const result = await correct(id, ...onceEach(corrections))
          ways[result.replanned!]++
          if (result.reason) reasons.set(result.reason, (reasons.get(result.reason) ?? 0) + 1)
          if (result.replanned !== 'lines') continue
          const updated = await stateOf(id)
          expect(updated.digest).toBe(true)
          await trial.plan(id, { ...planRequestOf(await trial.find(id)) })
          expect(updated).toEqual(await stateOf(id))
        }
      }),
      { numRuns: cases(6, 50), endOnFailure: true },
    )
    if (process.env.CASES) console.log(ways, reasons)
    expect(ways.lines).toBeGreaterThan(ways.whole / 2)
  })
})

const four: Partial<Cells>[] = [
  { Group: 'G1', 'Group name': 'One', Item: 'A', Day: '2026-11-01', Amount: '1.50' },
  { Group: 'G1', 'Group name': 'One', Item: 'A', Day: '2026-11-02', Amount: 'much' },
  { Group: 'G2', 'Group name': 'Two', Item: 'B', Day: '2026-11-01', Amount: 'many' },
  { Group: 'G2', 'Group name': 'Two', Item: 'B', Day: '2026-11-02', Amount: '2' },
]

it('says that only these lines were planned again, or why everything was', async () => {
  const { upload_id: id } = await stage(four)
  expect(await correct(id, { line: 3, values: { Amount: '7' } })).toEqual({
    lines: 1,
    cells: 1,
    dry_run: false,
    replanned: 'lines',
    reason: null,
    changes: [],
  })
  expect(await trial.find(id)).toMatchObject({
    status: 'planned',
    valid_count: 3,
    invalid_count: 1,
    plan_refusal: '1 of 4 lines is invalid',
    plan_totals: { group: { insert: 2 }, item: { insert: 2 }, figure: { insert: 3, refused: 1 } },
    changed_by: expect.arrayContaining([trial.operator.userId]),
  })
  // An item of two groups: it is not certain whose it is.
  expect(await correct(id, { line: 5, values: { Item: 'A' } })).toMatchObject({
    replanned: 'whole',
    reason: 'it is not certain which row a parent of these lines is',
  })
  expect(await correct(id, { line: 5, values: { Item: 'B' } })).toMatchObject({
    replanned: 'whole',
    reason: 'the plan refuses lines, and another line may be the reason',
  })
})

it('withdraws the review of the plan that it replaces, and emits both events', async () => {
  const { upload_id: id, plan_digest } = await stage(four.toSpliced(1, 2))
  await trial.service('select iu_core.fn_ingest_submit($1, $2)', [id, plan_digest])
  const [review] = await db.owner<{ id: string }>(
    'select review_record_id as id from iu_core.ingest_plan where upload_id = $1',
    [id],
  )
  expect(await correct(id, { line: 2, values: { Amount: '9' } })).toMatchObject({ replanned: 'lines' })
  expect(
    await db.owner('select lifecycle_status from iu_core.iu_staging_record where staging_record_id = $1', [
      review!.id,
    ]),
  ).toEqual([{ lifecycle_status: 'rejected' }])
  expect(await trial.find(id)).toMatchObject({ review_record_id: null })
  const events = await db.owner<{ type: string }>(
    `select event_type as type from iu_core.event_outbox where event_subject_ref = $1 order by id`,
    [id],
  )
  expect(events.slice(-2).map(({ type }) => type)).toEqual(['ingestion_repaired', 'ingestion_planned'])
  const { plan_digest: digest } = await trial.find(id)
  expect(digest).not.toBe(plan_digest)
  expect(await sqlstateOf(trial.service('select iu_core.fn_ingest_promote($1, $2)', [id, plan_digest]))).toBe(
    'SD606',
  )
  await trial.service('select iu_core.fn_ingest_promote($1, $2)', [id, digest])
  expect(await db.owner('select sum(amount)::text as amount from public.trial_figures')).toEqual([
    { amount: '11.00' },
  ])
  // Nothing is repaired any more.
  expect(await db.owner('select from iu_core.ingest_plan_line_hash where upload_id = $1', [id])).toEqual([])
})

it('has both corrections in the plan when two people correct two lines at once', async () => {
  const upload = await stage(four)
  const { upload_id: id } = upload
  const sessions = await Promise.all(
    [1, 2].map(async () => {
      const session = await db.session('stagedoor_worker')
      await session.query('begin')
      await session.query('set local role service_role')
      return session
    }),
  )
  const known = await inTransaction(
    db.pool('stagedoor_worker'),
    (client) => requireDataset(client, 'trial', 'file'),
    { role: 'service_role' },
  )
  const repair = (session: (typeof sessions)[0], line: number) =>
    repairLines(session as never, {
      upload,
      dataset: known,
      corrections: [{ line, values: { Amount: '5' } }],
      repairedBy: trial.operator.userId,
      replan: true,
    })
  const [first, second] = sessions
  expect(await repair(first!, 3)).toEqual({ replanned: 'lines', reason: null })
  const waiting = repair(second!, 4)
  await untilWaiting(db, second!)
  await first!.query('commit')
  expect(await waiting).toEqual({ replanned: 'lines', reason: null })
  await second!.query('commit')
  await Promise.all(sessions.map((session) => session.end()))
  const updated = await stateOf(id)
  expect(updated).toMatchObject({ upload: { valid_count: 4, invalid_count: 0 }, plan: { refusal: null } })
  await trial.plan(id, planRequestOf(await trial.find(id)))
  expect(await stateOf(id)).toEqual(updated)
})

it('lets nobody approve the plan that a repair replaces meanwhile', async () => {
  const upload = await stage(four.toSpliced(1, 2))
  const { upload_id: id, plan_digest: digest } = upload
  await trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [id, digest, trial.operator.userId])
  const repairing = await db.session('stagedoor_worker')
  await repairing.query('begin')
  await repairing.query('set local role service_role')
  const known = await requireDataset(repairing as never, 'trial', 'file')
  await repairLines(repairing as never, {
    upload,
    dataset: known,
    corrections: [{ line: 2, values: { Amount: '5' } }],
    repairedBy: trial.operator.userId,
    replan: true,
  })
  let session = 0
  const approving = sqlstateOf(
    db.as(trial.reviewer, async (client) => {
      session = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid
      await client.query('select iu_core.fn_ingest_approve($1, $2, $3)', [id, digest, ['changes']])
    }),
  )
  await until('the approval waits for the repair', async () => {
    const waiting = await db.owner('select from pg_locks where pid = $1 and not granted', [session])
    return waiting.length > 0
  })
  await repairing.query('commit')
  await repairing.end()
  // The digest that the reviewer saw is of a plan that is gone.
  expect(await approving).toBe('SD606')
})

describe('edits of a column', () => {
  const edit = (upload: string, edits: readonly ColumnEdit[], dryRun = false) =>
    repairUpload(
      db.pool('stagedoor_worker'),
      backEndActor(db.pool('stagedoor_worker'), trial.operator.userId),
      { upload, corrections: (client, found) => findEdited(client, found, edits), dryRun },
    )
  const amounts = async (upload: string) =>
    (
      await db.owner<{ amount: string }>(
        `select raw_payload ->> 'Amount' as amount from public.staging_rows where upload_id = $1 and row_type = 'figure' order by row_number`,
        [upload],
      )
    ).map(({ amount }) => amount)

  it('replace a text, fill empty cells and overwrite a range of lines, each seeing what those before it did', async () => {
    const { upload_id: id } = await stage([...four, { Group: 'G3', Item: 'C', Day: '2026-11-05' }])
    const edits = [
      { column: 'Amount', from: 'much', to: '3' },
      { column: 'Amount', from: null, to: '8' },
      { column: 'Amount', from: '8', to: '9' },
      { column: 'Note', to: 'seen', lines: [2, 4] as const },
    ]
    expect(await edit(id, edits, true)).toEqual({
      lines: 4,
      cells: 5,
      dry_run: true,
      replanned: null,
      reason: null,
      // Line, column, from and to of each cell.
      changes: expect.arrayContaining([
        { line: 2, column: 'Note', from: '', to: 'seen' },
        { line: 3, column: 'Amount', from: 'much', to: '3' },
      ]),
    })
    expect(await amounts(id)).toEqual(['1.50', 'much', 'many', '2', ''])
    expect(await edit(id, edits)).toMatchObject({ lines: 4, cells: 5, replanned: 'lines' })
    expect(await amounts(id)).toEqual(['1.50', '3', 'many', '2', '9'])
    expect(await edit(id, edits)).toMatchObject({ lines: 0, cells: 0, replanned: null })
  })

  it('are found after a repair that runs at the same time: its cells are neither overwritten nor missed', async () => {
    const upload = await stage(four)
    const { upload_id: id } = upload
    const other = await db.session('stagedoor_worker')
    await other.query('begin')
    await other.query('set local role service_role')
    await repairLines(other as never, {
      upload,
      dataset: await requireDataset(other as never, 'trial', 'file'),
      corrections: [
        { line: 3, values: { Amount: '7' } },
        { line: 4, values: { Amount: 'much' } },
      ],
      repairedBy: trial.operator.userId,
      replan: true,
    })
    const editing = edit(id, [{ column: 'Amount', from: 'much', to: '3' }])
    await until('the edit waits for the repair', async () => {
      const waiting = await db.owner(
        `select from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`,
      )
      return waiting.length > 0
    })
    await other.query('commit')
    await other.end()
    expect(await editing).toMatchObject({ lines: 1, cells: 1, replanned: 'lines' })
    expect(await amounts(id)).toEqual(['1.50', '7', '3', '2'])
  })

  it('name the columns of the file for one that it lacks, and state the limit of one call', async () => {
    const { upload_id: id } = await stage(four)
    await expect(edit(id, [{ column: 'Price', to: '1' }])).rejects.toMatchObject({
      message: expect.stringContaining('no column “Price”'),
      hint: expect.stringContaining('Group, Group name, Item'),
    })
    const many = Array.from({ length: 10_001 }, (_, line) => ({ line, values: { Amount: '1' } }))
    await expect(correct(id, ...many)).rejects.toThrow('at most 10,000 cells')
  })
})

it('takes a whole corrected file, matched line by line, and none with other lines', async () => {
  const upload = await stage(four)
  const path = join(trial.home, 'corrected.csv')
  const read = () =>
    inTransaction(db.pool('stagedoor_worker'), (client) => readCorrections(client, upload, path), {
      role: 'service_role',
    })
  writeFileSync(path, csv(four.map((line, at) => (at === 2 ? { ...line, Amount: '4' } : line))))
  expect(await read()).toEqual([{ line: 4, values: { Amount: '4' }, expect: { Amount: 'many' } }])
  writeFileSync(path, csv(four.slice(1)))
  await expect(read()).rejects.toThrow('has 3 lines and the upload 4')
  writeFileSync(path, 'Group,Day\nG1,2026-11-01\n')
  await expect(read()).rejects.toThrow('neither a column “Stagedoor: line” nor the column “Group name”')
})

async function emptyTables(): Promise<void> {
  await db.owner('truncate public.trial_figures, public.trial_items, public.trial_groups')
}

function onceEach(corrections: readonly Correction[]): Correction[] {
  return [...new Map(corrections.map((one) => [one.line, one])).values()]
}
