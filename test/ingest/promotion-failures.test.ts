/** A promotion that fails is recorded with its upload: who tried it, when, why, and what to do. It can be tried again. */
import { expect, it } from 'vitest'
import { promotePlan } from '../../src/ingest/pipeline.ts'
import type { PromotionFailure } from '../../src/ingest/uploads.ts'
import { StagedoorError } from '../../src/kernel/errors.ts'
import { type Caller, inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createMember } from '../support/factories.ts'
import { type Planned, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db)

const operator = (): Caller => trial.operator
/** As the surfaces promote: under the caller's role, and recorded by the back end. */
async function promote(
  { upload_id, digest }: Planned,
  caller = operator(),
  before?: string,
): Promise<string> {
  const pool = db.pool('stagedoor_api')
  return promotePlan(
    { pool: db.pool('stagedoor_worker') },
    {
      transaction: (work) =>
        inTransaction(
          pool,
          async (client) => {
            if (before) await client.query(before)
            return work(client)
          },
          caller,
        ),
    },
    upload_id,
    digest,
  ).then(
    () => 'promoted',
    (error) => (error instanceof StagedoorError ? error.code : 'internal'),
  )
}

const failures = async ({ upload_id }: Planned) =>
  (
    await db.owner<{ status: string; failures: PromotionFailure[] }>(
      'select status, promotion_failures as failures from iu_core.v_ingest_upload where upload_id = $1',
      [upload_id],
    )
  )[0]!

let days = 0
const line = () => ({
  group_code: `g${++days}`,
  group_name: 'G',
  item_code: 'i',
  item_name: 'I',
  day: '2026-11-01',
  amount: 5,
})
const raising = (message: string, state = 'P0001') => `
  create function public.refuses() returns trigger language plpgsql as $$ begin raise exception '${message}' using errcode = '${state}'; end $$;
  create trigger refuses before insert on public.trial_figures for each row execute function public.refuses()`
const removeTrigger = 'drop function public.refuses() cascade'

/** Name → what makes it fail, what mends it, and what is recorded. */
const REASONS: Record<string, { break: string; mend: string; code: string; message: RegExp }> = {
  'a constraint': {
    break: 'alter table public.trial_figures add constraint small check (amount < 2) not valid',
    mend: 'alter table public.trial_figures drop constraint small',
    code: 'table_refused',
    message: /^The table public.trial_figures rejected line 2: new row .* violates check constraint "small"$/,
  },
  'a trigger that raises': {
    break: raising('the month is closed'),
    mend: removeTrigger,
    code: 'table_refused',
    message: /rejected line 2: the month is closed$/,
  },
  'an error inside a trigger': {
    break: raising('relation secret_17 does not exist', '42P01'),
    mend: removeTrigger,
    code: 'internal',
    message: /^Unexpected error while this file was promoted\.$/,
  },
  'a column that is gone': {
    break: 'alter table public.trial_figures rename column note to remark',
    mend: 'alter table public.trial_figures rename column remark to note',
    code: 'dataset_invalid',
    message: /public.trial_figures/,
  },
}

it.each(Object.entries(REASONS))('%s: recorded, shown, and promoted later', async (_, reason) => {
  const plan = await trial.stagePlanned([{ ...line(), note: 'x' }])
  await db.owner(reason.break)
  const outcome = await promote(plan)
  await db.owner(reason.mend)
  expect(outcome).toBe(reason.code)
  const { status, failures: recorded } = await failures(plan)
  expect(status).toBe('planned')
  expect(recorded).toEqual([
    {
      plan_digest: plan.digest,
      tried_by: trial.operator.userId,
      tried_via: null,
      failed_at: expect.any(String),
      error: { code: reason.code, message: expect.stringMatching(reason.message), hint: expect.any(String) },
    },
  ])
  expect(recorded[0]!.error.hint).not.toBe('')
  // Values of rows and whatever else PostgreSQL adds stay out of it.
  expect(JSON.stringify(recorded)).not.toMatch(/Failing row|secret_17/)
  expect(await promote(plan)).toBe('promoted')
  expect(await failures(plan)).toEqual({ status: 'promoted', failures: recorded })
})

it('records a row that somebody deleted, a lock that was not given, and every attempt, newest first', async () => {
  const first = { ...line(), group_code: 'parent' }
  await trial.promoted([first])
  const plan = await trial.stagePlanned([{ ...first, amount: 6 }])
  const holder = await db.session('postgres')
  await holder.query('begin; lock table public.trial_figures in access exclusive mode')
  expect(await promote(plan, operator(), `set local lock_timeout = '20ms'`)).toBe('conflict_retry')
  await holder.query('delete from public.trial_figures; commit')
  await holder.end()
  expect(await promote(plan)).toBe('plan_stale')
  const { failures: recorded } = await failures(plan)
  expect(recorded.map(({ error }) => error.code)).toEqual(['plan_stale', 'conflict_retry'])
  expect(recorded[1]!.error.hint).toBe('Nothing was changed. Try again.')
})

it('names the login that acted for somebody', async () => {
  const plan = await trial.stagePlanned([line()])
  await db.owner(raising('no'))
  const pool = db.pool('stagedoor_worker')
  const actor = {
    transaction: <T>(work: (client: never) => Promise<T>) =>
      inTransaction(pool, (client) => work(client as never), { role: 'service_role' }),
    onBehalfOf: 'somebody',
  }
  await expect(promotePlan({ pool }, actor, plan.upload_id, plan.digest)).rejects.toThrow('no')
  await db.owner(removeTrigger)
  const { failures: recorded } = await failures(plan)
  expect(recorded).toMatchObject([{ tried_by: 'somebody', tried_via: expect.stringContaining('stagedoor') }])
})

it('records nothing of those who may not promote, and nothing that the upload says anyway', async () => {
  const plan = await trial.stagePlanned([line()])
  const member = async (role: 'viewer' | 'agent') => createMember(db, trial.workspace, role)
  expect(await promote(plan, await member('viewer'))).toBe('right_missing')
  expect(await promote(plan, await member('agent'))).toBe('permission_denied')
  expect(await promote(plan, { ...operator(), readOnly: true })).toBe('permission_denied')
  expect(await promote({ ...plan, digest: '0'.repeat(64) })).toBe('plan_stale')
  expect(await failures(plan)).toEqual({ status: 'planned', failures: [] })
  const refused = await trial.stagePlanned([line()], { invalid: [0] })
  expect(await promote(refused)).toBe('plan_refused')
  expect((await failures(refused)).failures).toEqual([])
  expect(await promote(plan)).toBe('promoted')
  expect(await promote(plan)).toBe('upload_state')
  expect((await failures(plan)).failures).toEqual([])
})

it('only grows, keeps the newest twenty in the record and counts all', async () => {
  const plan = await trial.stagePlanned([line()])
  await trial.service(
    `select iu_core.fn_ingest_promotion_failed($1, $2, jsonb_build_object('code', 'x', 'message', repeat('m', 5000), 'hint', n::text), 'x')
       from generate_series(1, 23) n`,
    [plan.upload_id, plan.digest],
  )
  const [upload] = await db.owner<{ count: number; failures: PromotionFailure[] }>(
    'select promotion_failure_count as count, promotion_failures as failures from iu_core.v_ingest_upload where upload_id = $1',
    [plan.upload_id],
  )
  expect([upload!.count, upload!.failures.length, upload!.failures[0]!.error.hint]).toEqual([23, 20, '23'])
  expect(upload!.failures[0]!.error.message).toHaveLength(2000)
  for (const change of [
    'delete from iu_core.ingest_promotion_failure',
    'update iu_core.ingest_promotion_failure set tried_by = $$y$$',
    'truncate iu_core.ingest_promotion_failure',
  ])
    expect(await sqlstateOf(db.owner(change))).toBe('SD002')
  expect(
    await sqlstateOf(
      trial.service(`select iu_core.fn_ingest_promotion_failed($1, $2, '{"code": "x"}', 'x')`, [
        plan.upload_id,
        plan.digest,
      ]),
    ),
  ).toBe('SD001')
})
