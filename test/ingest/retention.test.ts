/** What is deleted when: every row is in one bucket or kept, nothing young goes, nothing that waits for a person. */
import { beforeEach, describe, expect, it } from 'vitest'
import { ingestTasks } from '../../src/ingest/uploads.ts'
import { cleanStagedRows } from '../../src/jobs/built-in-kinds.ts'
import type { JobContext } from '../../src/jobs/handlers.ts'
import type { Job } from '../../src/jobs/queue.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { type Planned, sha256, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })

interface Deleted {
  promoted_deleted: number
  invalid_deleted: number
  orphan_deleted: number
}
const cleanup = async () => (await trial.service<Deleted>('select * from public.cleanup_staging_rows()'))[0]!

const STATUSES = ['pending', 'valid', 'invalid', 'skipped'] as const
const UPLOADS = [
  'reading',
  'staged',
  'planned',
  'promoted',
  'undone',
  'failed',
  'discarded',
  'expired',
] as const
/** Hours. */
const CREATED = [0, 23, 25, 6 * 24, 8 * 24, 29 * 24, 31 * 24]
const PROCESSED = [null, 0, 23, 25, 7 * 24 - 1, 7 * 24 + 1, 31 * 24]

interface Case {
  status: (typeof STATUSES)[number]
  upload: (typeof UPLOADS)[number]
  created: number
  processed: number | null
}

function bucketOf({ status, upload, created, processed }: Case): keyof Deleted | 'kept' {
  if (created < 24 || upload === 'reading' || upload === 'staged' || upload === 'planned') return 'kept'
  if (processed !== null) return processed > 7 * 24 ? 'promoted_deleted' : 'kept'
  if (status === 'invalid') return created > 30 * 24 ? 'invalid_deleted' : 'kept'
  return 'orphan_deleted'
}

beforeEach(async () => {
  await db.owner('truncate iu_core.ingest_staged_row, public.staging_id_resolution')
})

it('puts every combination of status, processing, age and upload into one bucket, or keeps it', async () => {
  const uploads = new Map<string, string>()
  for (const status of UPLOADS) uploads.set(String(status), await uploadIn(status))
  const cases: Case[] = STATUSES.flatMap((status) =>
    UPLOADS.flatMap((upload) =>
      CREATED.flatMap((created) =>
        PROCESSED.filter((processed) => processed === null || processed <= created).map((processed) => ({
          status,
          upload,
          created,
          processed,
        })),
      ),
    ),
  )
  await db.owner(
    `insert into public.staging_rows (workspace_id, client_id, upload_id, platform, row_type, row_number, raw_payload, validation_status, created_at, processed_at)
     select $1, $2, (c.case ->> 'id')::uuid, 'file', 'figure', n, '{}', (c.case ->> 'status')::public.staging_validation_status,
            now() - make_interval(hours => (c.case ->> 'created')::int), now() - make_interval(hours => (c.case ->> 'processed')::int)
       from jsonb_array_elements($3) with ordinality as c ("case", n)`,
    [
      trial.workspace,
      trial.client,
      JSON.stringify(cases.map((one) => ({ ...one, id: uploads.get(String(one.upload)) }))),
    ],
  )
  const counts = { promoted_deleted: 0, invalid_deleted: 0, orphan_deleted: 0, kept: 0 }
  for (const one of cases) counts[bucketOf(one)]++
  const { kept, ...deleted } = counts
  expect(await cleanup()).toEqual(deleted)
  const left = await db.owner<{ n: number }>('select row_number as n from public.staging_rows')
  expect(left.map(({ n }) => n).sort((a, b) => a - b)).toEqual(
    [...cases.keys()].filter((n) => bucketOf(cases[n]!) === 'kept').map((n) => n + 1),
  )
  expect(await cleanup()).toEqual({ promoted_deleted: 0, invalid_deleted: 0, orphan_deleted: 0 })
  console.log(`retention: ${cases.length} combinations, ${JSON.stringify(counts)}`)
  expect(Object.values(counts).every((count) => count > 0)).toBe(true)
})

/** An upload in this state, touched just now, so that it does not expire in the same breath. */
async function uploadIn(status: (typeof UPLOADS)[number]): Promise<string> {
  const upload = await trial.stage([{ group_code: 'x', day: '2026-11-01', amount: 1 }])
  const ended = ['undone', 'failed', 'discarded', 'expired'].includes(status)
  await db.owner(
    `update iu_core.ingest_upload set status = $2, ended_at = case when $3 then now() end, error = case when $2 = 'failed' then '{}'::jsonb end,
            reader_token = case when $2 = 'reading' then gen_random_uuid() end, reader_seen_at = now() where upload_id = $1`,
    [upload, status, ended],
  )
  await db.owner('delete from public.staging_rows where upload_id = $1', [upload])
  return upload
}

it('deletes in batches, all that is due in one call', async () => {
  await db.owner(
    `insert into public.staging_rows (workspace_id, client_id, upload_id, platform, row_type, row_number, raw_payload, created_at)
     select $1, $2, $3, 'file', 'figure', n, '{}', now() - interval '2 days' from generate_series(1, 25001) n`,
    [trial.workspace, trial.client, await uploadIn('discarded')],
  )
  const busy = await db.session('postgres')
  await busy.query('begin; select from iu_core.ingest_staged_row where row_number <= 5 for update')
  expect(await cleanup()).toEqual({ promoted_deleted: 0, invalid_deleted: 0, orphan_deleted: 24996 })
  await busy.query('rollback')
  expect(await cleanup()).toMatchObject({ orphan_deleted: 5 })
  await busy.end()
})

it('commits every batch of the job: what was deleted before a failure stays deleted', async () => {
  await db.owner(
    `insert into public.staging_rows (workspace_id, client_id, upload_id, platform, row_type, row_number, raw_payload, created_at)
     select $1, $2, $3, 'file', 'figure', n, '{}', now() - interval '2 days' from generate_series(1, 10001) n`,
    [trial.workspace, trial.client, await uploadIn('discarded')],
  )
  const left = async () =>
    (await db.owner<{ n: number }>('select count(*)::int as n from public.staging_rows'))[0]!.n
  const before = await left()
  let batches = 0
  const context = {
    signal: new AbortController().signal,
    transaction: (work: Parameters<typeof inTransaction>[1]) => {
      if (++batches === 2) throw new Error('the server went away')
      return inTransaction(db.pool('stagedoor_worker'), work)
    },
  } as unknown as JobContext
  await expect(cleanStagedRows({} as Job, context)).rejects.toThrow('the server went away')
  expect(before - (await left())).toBe(10_000)
  expect(await cleanup()).toMatchObject({ orphan_deleted: 1 })
})

it('keeps what a promotion left out as long as what it promoted, and wrong lines longer', async () => {
  const upload = await trial.stage(
    Array.from({ length: 12 }, (_, n) => ({ group_code: 'kept', day: `2026-11-${n + 10}`, amount: 1 })),
    { invalid: [0], skipped: [1] },
  )
  const plan = await trial.planned(upload, 'LENIENT')
  await trial.approved(plan)
  await trial.promote(plan)
  const age = (days: number) =>
    db.owner(
      `update public.staging_rows set created_at = created_at - make_interval(days => $1), processed_at = processed_at - make_interval(days => $1)`,
      [days],
    )
  await age(6)
  expect(await cleanup()).toEqual({ promoted_deleted: 0, invalid_deleted: 0, orphan_deleted: 0 })
  await age(2)
  expect(await cleanup()).toEqual({ promoted_deleted: 12, invalid_deleted: 0, orphan_deleted: 0 })
  await age(30)
  expect(await cleanup()).toEqual({ promoted_deleted: 0, invalid_deleted: 1, orphan_deleted: 0 })
})

it('keeps id resolutions for 7 days, and as long as their upload has a row', async () => {
  const plan = await trial.stagePlanned([{ group_code: 'resolved', day: '2026-11-01', amount: 1 }])
  const resolutions = async () =>
    (await trial.service<{ n: number }>('select public.cleanup_staging_id_resolution() as n'))[0]!.n
  await db.owner(`update public.staging_id_resolution set created_at = now() - interval '8 days'`)
  expect(await resolutions()).toBe(0)
  await db.owner('delete from public.staging_rows where upload_id = $1', [plan.upload_id])
  await db.owner(`update public.staging_id_resolution set created_at = now() - interval '6 days'`)
  expect(await resolutions()).toBe(0)
  await db.owner(`update public.staging_id_resolution set created_at = now() - interval '7 days 1 hour'`)
  expect(await resolutions()).toBe(1)
})

describe('an upload that waits for a person', () => {
  const old = (upload: string, days: number) =>
    db
      .owner(
        `update iu_core.ingest_upload set staged_at = staged_at - make_interval(days => $2) where upload_id = $1`,
        [upload, days],
      )
      .then(() =>
        db
          .owner(
            `update iu_core.ingest_plan set planned_at = planned_at - make_interval(days => $2) where upload_id = $1`,
            [upload, days],
          )
          .then(() =>
            db.owner(
              `update public.staging_rows set created_at = created_at - make_interval(days => $2) where upload_id = $1`,
              [upload, days],
            ),
          ),
      )
  const statusAfterCleanup = async (upload: string) => {
    const deleted = await cleanup()
    const [found] = await db.owner<{ status: string; rows: number }>(
      'select u.status, (select count(*)::int from public.staging_rows s where s.upload_id = u.upload_id and s.row_type = $2) as rows from iu_core.ingest_upload u where upload_id = $1',
      [upload, 'figure'],
    )
    return { ...found!, orphans: deleted.orphan_deleted > 0 }
  }
  const kept = (status: string) => ({ status, rows: 1, orphans: false })
  const submit = (plan: Planned) =>
    trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [
      plan.upload_id,
      plan.digest,
      trial.operator.userId,
    ])
  const planned = () =>
    trial.stagePlanned([{ group_code: 'waits', day: '2026-11-01', amount: 1 }], {
      hash: sha256(String(Math.random())),
    })

  it('is left alone while it is under review, and while it is approved', async () => {
    const plan = await planned()
    await submit(plan)
    await old(plan.upload_id, 20)
    expect(await statusAfterCleanup(plan.upload_id)).toEqual(kept('planned'))
    await trial.approved(plan)
    expect(await statusAfterCleanup(plan.upload_id)).toEqual(kept('planned'))
  })

  it('has a day to be corrected after it was rejected', async () => {
    const plan = await planned()
    await submit(plan)
    await old(plan.upload_id, 5)
    await db.as(trial.reviewer, (client) =>
      client.query('select iu_core.fn_ingest_reject($1, $2)', [plan.upload_id, 'no']),
    )
    expect(await statusAfterCleanup(plan.upload_id)).toEqual(kept('planned'))
  })

  it('has a day after every repair and every plan', async () => {
    const plan = await planned()
    await old(plan.upload_id, 3)
    await trial.service(
      `select iu_core.fn_ingest_repair($1, (select jsonb_agg(to_jsonb(s)) from public.staging_rows s where upload_id = $1 and row_type = 'figure'), $2)`,
      [plan.upload_id, trial.operator.userId],
    )
    expect(await statusAfterCleanup(plan.upload_id)).toEqual(kept('staged'))
    await old(plan.upload_id, 3)
    await trial.planned(plan.upload_id)
    expect(await statusAfterCleanup(plan.upload_id)).toEqual(kept('planned'))
  })

  it('expires after a day without any of that, never sooner, and its rows go', async () => {
    const plan = await planned()
    await trial.service(`select iu_core.fn_ingest_expire(interval '0')`)
    expect(await statusAfterCleanup(plan.upload_id)).toEqual(kept('planned'))
    await old(plan.upload_id, 2)
    expect(await statusAfterCleanup(plan.upload_id)).toEqual({ status: 'expired', rows: 0, orphans: true })
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD602')
  })
})

it('drops the images of all promotions that are due in one run', async () => {
  const plans: Planned[] = []
  for (const group of ['one', 'two', 'three']) {
    const plan = await trial.stagePlanned([{ group_code: `due-${group}`, day: '2026-11-01', amount: 1 }])
    await trial.approved(plan)
    await trial.promote(plan)
    plans.push(plan)
  }
  await db.owner(
    `update iu_core.ingest_promotion set undo_until = clock_timestamp() - interval '1 second' where upload_id = any ($1)`,
    [plans.map(({ upload_id }) => upload_id)],
  )
  const task = ingestTasks(trial.home).find(({ name }) => name === 'images of promotions')!
  const run = () =>
    inTransaction(db.pool('stagedoor_worker'), (client) => task.run(client), { role: 'dot_executor' })
  expect(await run()).toBe('images of 6 rows of 3 promotions dropped')
  expect(await run()).toBeUndefined()
})

it('is for the back end only', async () => {
  for (const caller of [trial.operator, trial.reviewer, trial.agent, { role: 'anon' }])
    for (const sql of [
      'select public.cleanup_staging_rows()',
      'select public.cleanup_staging_id_resolution()',
      'select iu_core.fn_ingest_expire()',
      'select iu_core.fn_ingest_images_drop()',
    ])
      expect(await sqlstateOf(db.as(caller, (client) => client.query(sql)))).toBe('42501')
})
