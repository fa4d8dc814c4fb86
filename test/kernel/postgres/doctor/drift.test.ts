/** Every kind of drift: made by hand, found by doctor, and gone when doctor's remedy has been followed. */
import { describe, expect, it } from 'vitest'
import { withClient } from '../../../../src/kernel/postgres/connection.ts'
import { examine, type Finding } from '../../../../src/kernel/postgres/doctor/doctor.ts'
import { migrate } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { useDatabase } from '../../../support/database.ts'
import { LONG } from '../../../support/length.ts'
import { DRIFTS } from './drifts.ts'

const db = useDatabase()

const superuser = (sql: string) => withClient(db.url('postgres'), (client) => client.query(sql))

async function findings(): Promise<readonly Finding[]> {
  return (await examine({ url: db.url() })).findings
}

async function follow({ remedy }: Finding): Promise<void> {
  if (remedy.startsWith('stagedoor migrate')) await migrate({ url: db.url() })
  else await superuser(remedy)
}

/** Every fourth in the short run: what is compared is read from the catalogue in one way. */
const CASES = DRIFTS.filter((_, at) => LONG || at % 4 === 0)

it('finds nothing in a freshly migrated database, and says what it compared', async () => {
  const report = await examine({ url: db.url(), apiUrl: db.url('stagedoor_api') })
  expect(report.findings).toEqual([])
  expect(report.ok).toBe(true)
  expect(report.checked.table).toBeGreaterThan(8)
  expect(report.checked.grant).toBeGreaterThan(50)
  expect(report.server_version).toMatch(new RegExp(`^${db.server.version}\\.`))
  expect(report.notes).toEqual([expect.stringContaining('Event triggers are unavailable')])
})

it('says nothing of event triggers to a superuser', async () => {
  expect(await examine({ url: db.url('postgres') })).toMatchObject({ ok: true, notes: [] })
})

describe('finds, and repairs with its own remedy,', { tags: 'property' }, () => {
  // Each expects its own finding only, so it also proves that the remedy before it worked; the last one, that all did.
  it.each(CASES)('%s', async (_, drift, kind, object, problem) => {
    await superuser(drift)
    const found = await findings()
    expect(found).toEqual([
      { kind, object, problem: expect.stringMatching(problem), remedy: expect.any(String) },
    ])
    await follow(found[0]!)
  })

  it('an owner whose own grant went with the change: first the owner, then the grant', async () => {
    await superuser('alter table iu_core.event_reader owner to service_role')
    const found = await findings()
    expect(found.map(({ kind }) => kind)).toEqual(['owner', 'grant'])
    for (const finding of found) await follow(finding)
  })

  it('so that nothing is left in the end', async () => expect(await findings()).toEqual([]))
})

describe('says how to repair what no statement repairs,', () => {
  it('a table that is gone: one finding, with the migration that made it', async () => {
    const session = await db.session('postgres')
    await superuser('alter table iu_core.event_reader rename to event_reader_2')
    const found = await findings()
    expect(found.filter(({ kind }) => kind === 'missing')).toEqual([
      {
        kind: 'missing',
        object: 'table iu_core.event_reader',
        problem: 'does not exist',
        remedy: expect.stringContaining('sql/migrations/0004_event_outbox.sql'),
      },
    ])
    await session.query('alter table iu_core.event_reader_2 rename to event_reader')
    expect(await findings()).toEqual([])
  })

  it('a frozen function with another body: the statement of the migration', async () => {
    const [before] = await db.owner<{ definition: string }>(
      "select pg_get_functiondef('iu_core.fn_actor()'::regprocedure) as definition",
    )
    await superuser(
      "create or replace function iu_core.fn_actor() returns text language sql stable as $$ select 'root' $$",
    )
    expect((await findings()).find(({ problem }) => problem.includes('another body'))).toEqual({
      kind: 'drifted',
      object: 'function iu_core.fn_actor()',
      problem: 'has another body than the one that was applied',
      remedy:
        'Run its statement in sql/migrations/0002_access.sql again, as workflow_admin and with "create or replace".',
    })
    await superuser(before!.definition)
    expect(await findings()).toEqual([])
  })

  it('the history itself', async () => {
    await superuser('alter table iu_core.schema_routine rename to schema_routine_2')
    expect((await findings()).map(({ object }) => object)).toEqual(
      expect.arrayContaining(['history of migrations', 'table iu_core.schema_routine']),
    )
    await superuser('alter table iu_core.schema_routine_2 rename to schema_routine')
  })
})

it('does not take a timeout for something that is missing', async () => {
  const [before] = await db.owner<{ definition: string }>(
    "select pg_get_functiondef('iu_core.fn_event_partition_days_left()'::regprocedure) as definition",
  )
  await superuser(
    `create or replace function iu_core.fn_event_partition_days_left() returns integer language plpgsql stable
     as $$ begin raise exception using errcode = '57014', message = 'canceling statement due to statement timeout'; end $$`,
  )
  await expect(examine({ url: db.url() })).rejects.toMatchObject({ code: 'timed_out' })
  await superuser(before!.definition)
  expect(await findings()).toEqual([])
})

it('lets people add their own columns, indexes and triggers to the tables in public', async () => {
  await superuser(
    `alter table public.workspaces add column plan text;
     create index on public.workspaces (plan);
     create table public.invoices (id int)`,
  )
  expect(await findings()).toEqual([])
})

it('changes nothing', async () => {
  const before = await db.owner('select xmin::text, * from iu_core.schema_routine order by file')
  await superuser('revoke select on iu_core.event_outbox from authenticated')
  await examine({ url: db.url() })
  expect(await findings()).toHaveLength(1)
  expect(await db.owner('select xmin::text, * from iu_core.schema_routine order by file')).toEqual(before)
})
