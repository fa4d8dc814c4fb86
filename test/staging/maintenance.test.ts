/** Records end by themselves, in many processes at once, each exactly once, and only while the gate is open. */
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createPool, type Pool } from '../../src/kernel/postgres/connection.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import type { MaintenanceTask } from '../../src/runtime/periodic-tasks.ts'
import { stagingTasks } from '../../src/staging/maintenance.ts'
import { cleanRecords } from '../../src/staging/records.ts'
import { useDatabase } from '../support/database.ts'
import { setGate } from './people.ts'

const db = useDatabase()

const task = (name: string): MaintenanceTask => stagingTasks().find((one) => one.name === name)!
const expiry = task('staging expiry')
const cleanup = task('staging cleanup')

let pools: Pool[]
beforeAll(() => {
  pools = Array.from({ length: 4 }, () =>
    createPool(db.url('stagedoor_worker'), { role: 'dot_executor', max: 2 }),
  )
})
afterAll(() => Promise.all(pools.map((pool) => pool.end())))
beforeEach(() => setGate(db, 'staging_cleanup_enabled', true))

const run = (one: MaintenanceTask, pool = pools[0]!): Promise<string | undefined> =>
  inTransaction(pool, (client) => one.run(client))

/** As several processes do it, again and again until none of them finds anything. */
async function runEverywhere(one: MaintenanceTask): Promise<void> {
  await Promise.all(
    pools.map(async (pool) => {
      while ((await run(one, pool)) !== undefined || (await isHeld(one)));
    }),
  )
}

async function isHeld(one: MaintenanceTask): Promise<boolean> {
  const [row] = await db.owner<{ free: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free',
    [`stagedoor.${one.name}`],
  )
  return !row!.free
}

/** Records in bulk, as old as they need to be: by INSERT, which no trigger refuses to the owner. */
async function records(count: number, purpose: string, columns: Record<string, string>): Promise<void> {
  const names = Object.keys(columns)
  await db.owner(
    `with made as (
       insert into iu_core.iu_staging_record (
         staging_kind, payload_type, purpose, owner_actor, source_kind, idempotency_key, content_hash, byte_len,
         part_count, part_digests, approval_required, four_eyes, checklist_required, created_at, ${names.join()})
       select 'sql_snapshot', 'sql_result_snapshot', $2, 'somebody', 'system', gen_random_uuid(), repeat('0', 64), 2,
              1, '[]', false, false, false, now() - interval '30 days', ${names.map((name) => columns[name]).join()}
         from generate_series(1, $1) as n
       returning staging_record_id)
     insert into iu_core.iu_staging_payload (
       staging_record_id, part_index, part_name, payload_kind, payload_json, byte_len, content_hash)
     select staging_record_id, 0, 'rows', 'json', '{}', 2, repeat('0', 64) from made`,
    [count, purpose],
  )
}

const OVERDUE = { expires_at: `now() - interval '1 day' + n * interval '1 second'` }
const APPROVED = {
  ...OVERDUE,
  lifecycle_status: `'approved'`,
  approved_at: 'now()',
  approved_by: `'reviewer'`,
}
const ENDED = {
  expires_at: `now() + interval '1 day'`,
  lifecycle_status: `'rejected'`,
  rejected_at: 'now()',
  rejected_by: `'reviewer'`,
  rejected_reason: `'no'`,
}

/** Of the records with that purpose: how many of which status, with how many events and parts in all. */
async function counts(purpose: string): Promise<object[]> {
  return db.owner(
    `select lifecycle_status as status, count(*)::int as records, sum(events)::int as events,
            max(events)::int as most_events, sum(parts)::int as parts
       from (select r.lifecycle_status,
                    (select count(*) from iu_core.event_outbox e
                      where e.event_subject_ref = r.staging_record_id::text) as events,
                    (select count(*) from iu_core.iu_staging_payload p
                      where p.staging_record_id = r.staging_record_id) as parts
               from iu_core.iu_staging_record r where purpose = $1) as each
      group by 1 order by 1`,
    [purpose],
  )
}

describe('several processes at once', () => {
  it('expire each overdue record once, with one event, and leave the others', async () => {
    await records(1100, 'overdue', OVERDUE)
    await records(150, 'overdue', APPROVED)
    await records(10, 'in time', { expires_at: `now() + interval '1 hour'` })
    await runEverywhere(expiry)
    expect(await counts('overdue')).toEqual([
      { status: 'expired', records: 1250, events: 1250, most_events: 1, parts: 1250 },
    ])
    expect(await counts('in time')).toEqual([
      { status: 'pending', records: 10, events: 0, most_events: 0, parts: 10 },
    ])
  })

  it('clean each record past retention once, with one event, and leave the others', async () => {
    await records(1250, 'past retention', { ...ENDED, retain_until: `now() - n * interval '1 second'` })
    await records(10, 'retained', { ...ENDED, retain_until: `now() + interval '1 hour'` })
    await records(10, 'undecided', OVERDUE)
    await runEverywhere(cleanup)
    expect(await counts('past retention')).toEqual([
      { status: 'cleaned', records: 1250, events: 1250, most_events: 1, parts: 0 },
    ])
    expect(await counts('retained')).toEqual([
      { status: 'rejected', records: 10, events: 0, most_events: 0, parts: 10 },
    ])
    expect(await counts('undecided')).toMatchObject([{ status: 'pending', records: 10 }])
    expect(
      await db.owner(
        `select distinct content_hash, byte_len, part_count, part_digests from iu_core.iu_staging_record
          where purpose = 'past retention'`,
      ),
    ).toEqual([{ content_hash: '0'.repeat(64), byte_len: '2', part_count: 1, part_digests: [] }])
  })

  it('have one leader: the others do nothing until it is done', async () => {
    await records(5, 'led', OVERDUE)
    const leader = await db.session('stagedoor_worker')
    await leader.query('begin')
    await leader.query(`select pg_advisory_xact_lock(hashtextextended('stagedoor.staging expiry', 0))`)
    expect(await run(expiry)).toBeUndefined()
    expect(await counts('led')).toMatchObject([{ status: 'pending', records: 5 }])
    await leader.query('commit')
    expect(await run(expiry)).toMatch(/staging records expired$/)
    expect(await counts('led')).toMatchObject([{ status: 'expired', records: 5, events: 5 }])
  })
})

describe('a run', () => {
  it('keeps the batches that it finished when a later one fails, and goes on from there', async () => {
    await run(expiry)
    await records(700, 'resumed', OVERDUE)
    await db.owner(`create function public.fail() returns trigger language plpgsql as $$
      begin raise exception 'the power went out'; end $$`)
    // The first batch is the 500 that are overdue the longest.
    await db.owner(`create trigger fails before update on iu_core.iu_staging_record for each row
      when (old.purpose = 'resumed' and old.expires_at > now() - interval '1 day' + interval '600 seconds')
      execute function public.fail()`)
    onTestFinished(async () => {
      await db.owner('drop function public.fail() cascade')
    })
    await expect(run(expiry)).rejects.toThrow('the power went out')
    expect(await counts('resumed')).toEqual([
      { status: 'expired', records: 500, events: 500, most_events: 1, parts: 500 },
      { status: 'pending', records: 200, events: 0, most_events: 0, parts: 200 },
    ])
    await db.owner('drop trigger fails on iu_core.iu_staging_record')
    expect(await run(expiry)).toBe('200 staging records expired')
    expect(await counts('resumed')).toMatchObject([
      { status: 'expired', records: 700, events: 700, most_events: 1 },
    ])
  })

  it('passes over a record that somebody has locked, and takes it the next time', async () => {
    await records(3, 'locked', OVERDUE)
    const other = await db.session()
    await other.query('begin')
    await other.query(`select from iu_core.iu_staging_record where purpose = 'locked' limit 1 for update`)
    expect(await run(expiry)).toBe('2 staging records expired')
    await other.query('commit')
    expect(await run(expiry)).toBe('1 staging records expired')
  })

  it('says nothing when there is nothing to do', async () => {
    await runEverywhere(expiry)
    await runEverywhere(cleanup)
    expect(await run(expiry)).toBeUndefined()
    expect(await run(cleanup)).toBeUndefined()
  })

  it('does nothing and says nothing while the gate is closed', async () => {
    await records(3, 'behind the gate', OVERDUE)
    await records(3, 'behind the gate', { ...ENDED, retain_until: 'now()' })
    await setGate(db, 'staging_cleanup_enabled', false)
    for (const one of stagingTasks()) expect(await run(one)).toBeUndefined()
    expect(await counts('behind the gate')).toEqual([
      { status: 'pending', records: 3, events: 0, most_events: 0, parts: 3 },
      { status: 'rejected', records: 3, events: 0, most_events: 0, parts: 3 },
    ])
  })

  it('of a cleanup can be tried without doing it', async () => {
    await runEverywhere(cleanup)
    await records(7, 'tried', { ...ENDED, retain_until: 'now()' })
    const tried = await inTransaction(pools[0]!, (client) =>
      cleanRecords(client, { dry_run: true, limit: 5 }),
    )
    expect(tried).toEqual({ cleaned: 5, parts: 5, bytes: 10, dry_run: true })
    expect(await counts('tried')).toMatchObject([{ status: 'rejected', records: 7, events: 0, parts: 7 }])
  })
})

describe('the lifecycle scan', () => {
  /** How many rows of the records' table the statement fetched, by index or not. */
  async function rowsRead(client: pg.Client, statement: string): Promise<number> {
    const read = async (): Promise<number> => {
      const { rows } = await client.query<{ rows: number }>(
        `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
           from pg_stat_xact_user_tables where relid = 'iu_core.iu_staging_record'::regclass`,
      )
      return rows[0]!.rows
    }
    await client.query('begin')
    const before = await read()
    await client.query(statement)
    const after = await read()
    await client.query('rollback')
    return after - before
  }

  it('does not read what ended long ago, nor what is still retained', async () => {
    await records(20_000, 'long ago', {
      ...ENDED,
      expires_at: `now() - interval '20 days'`,
      retain_until: `now() + interval '1 day'`,
    })
    await runEverywhere(expiry)
    await records(5, 'the few that are due', OVERDUE)
    await db.owner('vacuum analyze iu_core.iu_staging_record')
    const session = await db.session('stagedoor_worker')
    expect(await rowsRead(session, 'select iu_core.fn_iu_staging_expire(500)')).toBeLessThan(100)
    expect(await rowsRead(session, 'select iu_core.fn_iu_staging_cleanup()')).toBeLessThan(100)
  })
})
