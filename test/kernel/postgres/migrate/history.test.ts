/** Migrations run forward, once, whole, one migrator at a time. */
import { expect, it } from 'vitest'
import { readSqlFiles } from '../../../../src/kernel/postgres/migrate/files.ts'
import { isUpToDate, migrate, planMigration } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { type BareDatabase, useDatabases } from '../../../support/empty-database.ts'
import { catalogue } from './catalogue.ts'
import { editedSql, nextMigration, withoutRoutine } from './sql-copy.ts'

const createDatabase = useDatabases()

const history = (database: BareDatabase) =>
  database.superuser<{ version: number; name: string }>(
    'select version, name from iu_core.schema_migration order by 1',
  )
const everyMigration = readSqlFiles().migrations.map(({ version, name }) => ({ version, name }))

it('plans without changing anything', async () => {
  const database = await createDatabase()
  const before = await catalogue(database)
  const plan = await planMigration({ url: database.url })
  expect(plan.migrations).toEqual(everyMigration.map((migration) => migration.name))
  expect(plan.routines.length).toBeGreaterThan(15)
  expect(plan.bootstrap).toContain('create schema iu_core authorization workflow_admin')
  expect(await catalogue(database)).toEqual(before)
})

it('plans what a newer version would change, without changing anything', async () => {
  const database = await createDatabase('migrated')
  const before = await catalogue(database)
  const files = editedSql({
    [nextMigration('more')]: 'create table iu_core.more (id int)',
    'gates/gates.sql': (sql) => sql.replace('-- Whether the gate', '-- Really: whether the gate'),
    'events/runs.sql': withoutRoutine('fn_command_run_finish'),
  })
  expect(await planMigration({ url: database.url, files })).toMatchObject({
    bootstrap: [],
    migrations: [expect.stringMatching(/_more$/)],
    routines: ['iu_core.fn_gate_open'],
    removed_routines: ['iu_core.fn_command_run_finish'],
  })
  expect(await catalogue(database)).toEqual(before)
})

it('does nothing the second time, and says so', async () => {
  const database = await createDatabase()
  const steps: string[] = []
  expect(isUpToDate(await migrate({ url: database.url }))).toBe(false)
  const before = await catalogue(database)
  expect(isUpToDate(await migrate({ url: database.url, progress: (step) => steps.push(step) }))).toBe(true)
  expect(steps).toEqual([])
  expect(isUpToDate(await planMigration({ url: database.url }))).toBe(true)
  expect(await catalogue(database)).toEqual(before)
})

it('lets one of two migrators wait; both succeed and each migration is applied once', async () => {
  const database = await createDatabase()
  const steps: string[][] = [[], []]
  const plans = await Promise.all(
    steps.map((told) => migrate({ url: database.url, progress: (step) => told.push(step) })),
  )
  expect(plans.map(isUpToDate).sort()).toEqual([false, true])
  expect(steps.filter((told) => told[0] === 'waiting for another migrator')).toHaveLength(1)
  expect(await history(database)).toEqual(everyMigration)
})

it('refuses an applied migration that was edited since', async () => {
  const database = await createDatabase('migrated')
  const before = await catalogue(database)
  const files = editedSql({ 'migrations/0003_gates.sql': (sql) => `${sql}\n-- one more line` })
  for (const run of [migrate, planMigration]) {
    await expect(run({ url: database.url, files })).rejects.toMatchObject({
      code: 'migration_edited',
      details: { migration: '0003_gates' },
      exitCode: 6,
    })
  }
  expect(await catalogue(database)).toEqual(before)
})

it('refuses an applied migration that was renamed since', async () => {
  const database = await createDatabase('migrated')
  await database.superuser(`update iu_core.schema_migration set name = '0003_doors' where version = 3`)
  await expect(migrate({ url: database.url })).rejects.toMatchObject({
    code: 'migration_edited',
    details: { migration: '0003_doors' },
  })
})

it('does not take line ends of another system for an edit', async () => {
  const database = await createDatabase('migrated')
  const files = editedSql({ 'migrations/0003_gates.sql': (sql) => sql.replaceAll('\n', '\r\n') })
  expect(isUpToDate(await migrate({ url: database.url, files }))).toBe(true)
})

it('refuses a database that a newer version has migrated', async () => {
  const database = await createDatabase('migrated')
  await database.superuser(
    `insert into iu_core.schema_migration (version, name, checksum, duration_ms) values (9999, '9999_future', '', 0)`,
  )
  await expect(migrate({ url: database.url })).rejects.toMatchObject({
    code: 'migration_unknown',
    details: { migration: '9999_future' },
  })
})

it('keeps nothing of a migration that fails, and everything of those before it', async () => {
  const database = await createDatabase()
  const file = nextMigration('broken')
  const files = editedSql({
    [file]: `create table iu_core.half_done (id int);
             insert into iu_core.dot_config values ('half', 'true', '');
             select 1 / 0;`,
  })
  await expect(migrate({ url: database.url, files })).rejects.toMatchObject({
    code: 'migration_failed',
    details: { file: expect.stringMatching(/_broken$/), reason: 'division by zero' },
  })
  expect(await history(database)).toEqual(everyMigration)
  expect(
    await database.superuser(
      `select to_regclass('iu_core.half_done') as made, (select count(*) from iu_core.dot_config where key = 'half') as rows`,
    ),
  ).toEqual([{ made: null, rows: '0' }])
  // The mended version goes on from there.
  await migrate({
    url: database.url,
    files: editedSql({ [file]: 'create table iu_core.half_done (id int)' }),
  })
  expect(await history(database)).toHaveLength(everyMigration.length + 1)
})

it('keeps nothing of the routines when one of them fails', async () => {
  const database = await createDatabase('migrated')
  const before = await catalogue(database)
  const files = editedSql({
    'access/actors.sql': (sql) => sql.replace("btrim(p_named) <> ''", "trim(p_named) <> ''"),
    'events/new.sql': 'create or replace function iu_core.fn_new() returns nonsense language sql as $$ $$;',
  })
  await expect(migrate({ url: database.url, files })).rejects.toMatchObject({
    code: 'migration_failed',
    details: { file: 'events/new.sql, iu_core.fn_new' },
  })
  expect(await catalogue(database)).toEqual(before)
})

it('runs a migration outside of a transaction where its header says so', async () => {
  const database = await createDatabase('migrated')
  const file = nextMigration('index')
  const sql = `-- stagedoor: no transaction
-- An index on a table that is being written.
drop index concurrently if exists iu_core.run_command;
create index concurrently run_command
  on iu_core.dot_iu_command_run (command);
`
  await migrate({ url: database.url, files: editedSql({ [file]: sql }) })
  expect(
    await database.superuser(
      `select indisvalid, c.relowner::regrole::text as owner from pg_index i join pg_class c on c.oid = i.indexrelid
        where c.relname = 'run_command'`,
    ),
  ).toEqual([{ indisvalid: true, owner: 'workflow_admin' }])
  const inTransaction = editedSql({ [file]: sql.replace('-- stagedoor: no transaction\n', '') })
  await expect(
    migrate({ url: (await createDatabase('migrated')).url, files: inTransaction }),
  ).rejects.toMatchObject({
    code: 'migration_failed',
  })
})

it('says of a failed migration without a transaction that its first part stays, and runs it again', async () => {
  const database = await createDatabase('migrated')
  const file = nextMigration('index')
  const header = '-- stagedoor: no transaction\ncreate table if not exists iu_core.first (id int);\n'
  await expect(
    migrate({ url: database.url, files: editedSql({ [file]: `${header}select 1 / 0;\n` }) }),
  ).rejects.toMatchObject({ code: 'migration_failed', hint: expect.stringContaining('stay') })
  const mended = editedSql({ [file]: `${header}alter table iu_core.first enable row level security;\n` })
  await migrate({ url: database.url, files: mended })
  expect(
    await database.superuser(`select relrowsecurity as on from pg_class where relname = 'first'`),
  ).toEqual([{ on: true }])
})
