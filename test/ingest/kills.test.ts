/** The server process is killed at every statement that promotion and undo make: all or nothing, and a retry completes. */
// @module-tag property
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { type Planned, useTrial, WRITTEN_TABLES } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'

/** In the short run every fifth boundary. */
const STRIDE = cases(5, 1)
const db = useDatabase()
const trial = useTrial(db, { approval: true })

beforeAll(async () => {
  const superuser = await db.session('postgres')
  // Counted by the session, so that a boundary has the same number every time.
  await superuser.query(`
    create function public.kill_here() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
    declare n integer := coalesce(nullif(current_setting('test.fired', true), ''), '0')::integer + 1;
    begin
      perform set_config('test.fired', n::text, false);
      if n = nullif(current_setting('test.kill_at', true), '')::integer then
        perform pg_terminate_backend(pg_backend_pid());
        perform pg_sleep(10);
      end if;
      return null;
    end $$;
    grant execute on function public.kill_here() to public`)
  for (const table of WRITTEN_TABLES) {
    await superuser.query(
      `create trigger kill_before before insert or update or delete on ${table} for each statement execute function public.kill_here()`,
    )
    await superuser.query(
      `create trigger kill_after after insert or update or delete on ${table} for each statement execute function public.kill_here()`,
    )
  }
  await superuser.end()
})

/** Runs the statement again and again, each time killed at a later boundary, until it comes through. */
async function killEverywhere(sql: string, values: unknown[]): Promise<number> {
  const before = await trial.image()
  for (let boundary = 1; ; boundary += STRIDE) {
    const session = await db.session('stagedoor_worker')
    await session.query('set role service_role')
    await session.query(
      `select set_config('test.kill_at', $1, false), set_config('test.fired', '0', false)`,
      [String(boundary)],
    )
    const killed = await session.query(sql, values).then(
      () => false,
      (error) => {
        if (error.code !== '57P01') throw error
        return true
      },
    )
    await session.end()
    if (!killed) return boundary - 1
    expect(await trial.image(), `killed at boundary ${boundary}`).toEqual(before)
  }
}

/** Killed when all is done and nothing committed. */
async function killBeforeCommit(sql: string, values: unknown[]): Promise<void> {
  const before = await trial.image()
  const session = await db.session('stagedoor_worker')
  await session.query('set role service_role')
  await session.query('begin')
  await session.query(sql, values)
  const superuser = await db.session('postgres')
  await superuser.query('select pg_terminate_backend($1, 5000)', [
    (session as unknown as { processID: number }).processID,
  ])
  await superuser.end()
  expect(await trial.image()).toEqual(before)
}

it('promotes and undoes all or nothing, wherever it is killed', async () => {
  const line = (group: string, amount: number) => ({
    group_code: group,
    group_name: group,
    item_code: 'i',
    item_name: 'i',
    day: '2026-11-01',
    amount,
  })
  const first = await trial.stagePlanned([line('a', 1)])
  await trial.approved(first)
  await trial.promote(first)
  const plan: Planned = await trial.stagePlanned(
    [line('a', 2), { ...line('b', 3), item_code: 'j' }, { ...line('a', 5), day: '2026-11-03' }, line('c', 9)],
    { invalid: [3], cursor: { name: 'page', value: { next: 7 } } },
    'LENIENT',
  )
  const lenient = await trial.planned(plan.upload_id, 'LENIENT', 0.5)
  await trial.approved(lenient)
  const before = await trial.image(['trial_groups', 'trial_items', 'trial_figures'])
  const promote = 'select iu_core.fn_ingest_promote($1, $2)'
  await killBeforeCommit(promote, [plan.upload_id, lenient.digest])
  const promotion = await killEverywhere(promote, [plan.upload_id, lenient.digest])
  expect(
    await db.owner('select status from iu_core.ingest_upload where upload_id = $1', [plan.upload_id]),
  ).toEqual([{ status: 'promoted' }])
  expect(await db.owner('select amount::int from trial_figures order by 1')).toEqual(
    [2, 3, 5].map((amount) => ({ amount })),
  )
  expect(await db.owner('select cursor_value from iu_core.ingest_cursor')).toEqual([
    { cursor_value: { next: 7 } },
  ])
  expect(
    await db.owner(`select from iu_core.event_outbox where event_type = 'ingestion_complete'`),
  ).toHaveLength(2)

  const undo = 'select iu_core.fn_ingest_undo($1)'
  await killBeforeCommit(undo, [plan.upload_id])
  const undoing = await killEverywhere(undo, [plan.upload_id])
  expect(await trial.image(['trial_groups', 'trial_items', 'trial_figures'])).toEqual(before)
  console.log(
    `killed at ${promotion} boundaries of promotion and ${undoing} of undo, and once before each commit`,
  )
  expect(promotion).toBeGreaterThan(20)
  expect(undoing).toBeGreaterThan(10)
  if (STRIDE > 1) return
  expect(promotion).toBeGreaterThan(25)
  expect(undoing).toBeGreaterThan(15)
})
