/** What is there and not ours is refused, never taken over. */
import { expect, it } from 'vitest'
import { migrate, planMigration } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { type BareDatabase, useDatabases } from '../../../support/empty-database.ts'
import { catalogue } from './catalogue.ts'
import { type Edits, editedSql, nextMigration } from './sql-copy.ts'

const createDatabase = useDatabases()

/** Migrates over what the set-up made: refused with these words, and nothing has changed. */
async function expectRefused(database: BareDatabase, words: RegExp, edits: Edits = {}): Promise<void> {
  const before = await catalogue(database)
  await expect(migrate({ url: database.url, files: editedSql(edits) })).rejects.toMatchObject({
    code: 'foreign_object',
    exitCode: 6,
    message: expect.stringMatching(words),
    hint: expect.stringMatching(/\S/),
  })
  expect(await catalogue(database)).toEqual(before)
}

it.each(['noetl', 'iu_core'])('a schema called %s', async (schema) => {
  const database = await createDatabase()
  await database.superuser(`create schema ${schema}; create table ${schema}.theirs (id int)`)
  await expectRefused(database, new RegExp(`^The schema ${schema} exists already and is not ours`))
  await expect(planMigration({ url: database.url })).rejects.toMatchObject({ code: 'foreign_object' })
})

it.each(['noetl', 'iu_core'])('an empty schema called %s', async (schema) => {
  const database = await createDatabase()
  await database.superuser(`create schema ${schema}`)
  await expectRefused(database, /schema/)
})

it('a schema that somebody else made for the same owner', async () => {
  const database = await createDatabase()
  await database.superuser('create schema noetl authorization workflow_admin')
  await expectRefused(database, /The schema noetl/)
})

it('a schema noetl that was put beside our own iu_core', async () => {
  const database = await createDatabase('migrated')
  await database.superuser('drop schema noetl cascade; create schema noetl')
  await expectRefused(database, /The schema noetl/)
})

it('a table where a migration makes its own', async () => {
  const database = await createDatabase('migrated')
  await database.superuser(`create table public.clients (id int); insert into public.clients values (1)`)
  await expectRefused(database, /relation "clients" already exists/, {
    [nextMigration('clients')]:
      'create table public.campaigns (id int); create table public.clients (id uuid)',
  })
  expect(await database.superuser('select id from public.clients')).toEqual([{ id: 1 }])
})

it('a function where a migration makes its own', async () => {
  const database = await createDatabase('migrated')
  await database.superuser(`create function public.slug(text) returns text language sql as 'select $1'`)
  await expectRefused(database, /function "slug" already exists/, {
    [nextMigration('slug')]:
      `create function public.slug(text) returns text language sql as 'select lower($1)'`,
  })
})

it.each([
  ['the same parameters', 'p_id uuid'],
  ['other parameters', 'p_id bigint, p_more text'],
])('a function with a routine’s name and %s', async (_, parameters) => {
  const database = await createDatabase('migrated')
  await database.superuser(
    `create function iu_core.fn_staging_cut(${parameters}) returns void language sql as ''`,
  )
  await expectRefused(database, /The function iu_core\.fn_staging_cut/, {
    'staging/cut.sql': `create or replace function iu_core.fn_staging_cut(p_id uuid) returns void language sql as '';`,
  })
})

it.each([
  ['view', `create view iu_core.v_staging as select 1 as theirs`],
  ['table', `create table iu_core.v_staging (theirs int)`],
])('a %s with a view’s name', async (_, create) => {
  const database = await createDatabase('migrated')
  await database.superuser(create)
  await expectRefused(database, /iu_core\.v_staging/, {
    'views/staging/v_staging.sql':
      'create or replace view iu_core.v_staging with (security_invoker = true) as select 1 as theirs;',
  })
})
