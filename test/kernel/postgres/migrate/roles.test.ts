/** Roles belong to the whole server, so this file has one of its own: what a managed database allows. */
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import type { StagedoorError } from '../../../../src/kernel/errors.ts'
import { withClient } from '../../../../src/kernel/postgres/connection.ts'
import { type EmbeddedServer, startEmbedded } from '../../../../src/kernel/postgres/embedded/server.ts'
import { ROLES } from '../../../../src/kernel/postgres/migrate/bootstrap.ts'
import { isUpToDate, migrate, planMigration } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { temporaryHome } from '../../../support/temporary-home.ts'

const PASSWORD = 'for-tests-only'

const { version } = inject('server')
const home = temporaryHome('roles')
let server: EmbeddedServer

beforeAll(async () => {
  server = await startEmbedded({ home, version, durability: 'throwaway' })
})
afterAll(async () => {
  await server?.stop()
})
/** Back to a server without any of our roles. */
afterEach(async () => {
  const rows = await administrator<{ datname: string }>(
    `select datname from pg_database where datname not in ('postgres', 'template0', 'template1')`,
  )
  for (const { datname } of rows) await administrator(`drop database ${datname} with (force)`)
  const names = [...ROLES.map((role) => role.name), 'login', 'other_login']
  await administrator(`drop role if exists ${names.join(', ')}`)
})

const administrator = <R>(sql: string, database = 'postgres'): Promise<R[]> =>
  withClient(server.url(database), async (client) => (await client.query(sql)).rows as R[])

/** A login with these attributes and a database; returns the login's URL. */
async function prepare(
  attributes: string,
  { database = 'app', owner = true, login = 'login' } = {},
): Promise<string> {
  await administrator(`create role ${login} login password '${PASSWORD}' ${attributes}`)
  await administrator(`create database ${database}${owner ? ` owner ${login}` : ''}`)
  return urlOf(login, database)
}
function urlOf(login: string, database = 'app'): string {
  const url = new URL(server.url(database))
  url.username = login
  url.password = PASSWORD
  return url.toString()
}

/** What the error asks an administrator to run, run one by one as psql does. */
async function runStatements(error: unknown, database = 'app'): Promise<string[]> {
  expect(error).toMatchObject({
    code: 'roles_missing',
    exitCode: 5,
    hint: expect.stringContaining('administrator'),
  })
  const statements = (error as StagedoorError).details.statements as string[]
  for (const statement of statements) await administrator(statement, database)
  return statements
}
const refusal = (url: string): Promise<unknown> =>
  migrate({ url }).then(
    () => 'not refused',
    (error: unknown) => error,
  )

it('is migrated by a login without superuser that may create roles', async () => {
  const url = await prepare('createrole')
  expect(isUpToDate(await migrate({ url }))).toBe(false)
  expect(isUpToDate(await migrate({ url }))).toBe(true)
  const roles = await administrator<{ name: string; login: boolean; inherit: boolean; powerful: boolean }>(
    `select rolname as name, rolcanlogin as login, rolinherit as inherit,
            rolsuper or rolcreaterole or rolcreatedb or rolbypassrls or rolreplication as powerful
       from pg_roles where rolname in (${ROLES.map((role) => `'${role.name}'`).join(', ')})`,
  )
  expect(roles).toHaveLength(ROLES.length)
  for (const role of roles) {
    const ours = ['stagedoor_api', 'stagedoor_worker', 'stagedoor_playbook', 'stagedoor_proposer'].includes(
      role.name,
    )
    expect(role).toMatchObject({ login: ours, inherit: !ours, powerful: false })
  }
  // Routines are replaced as their owner, also by this login.
  const rows = await administrator(
    "select distinct proowner::regrole::text as owner from pg_proc where pronamespace = 'iu_core'::regnamespace",
    'app',
  )
  expect(rows).toEqual([{ owner: 'workflow_admin' }])
})

it('is migrated by a superuser', { tags: 'long' }, async () => {
  await administrator('create database app')
  await migrate({ url: server.url('app') })
  expect(isUpToDate(await migrate({ url: server.url('app') }))).toBe(true)
})

it('changes nothing where roles may not be created, says what an administrator must run, and then goes on', async () => {
  const url = await prepare('nocreaterole')
  const refused = await refusal(url)
  expect(await administrator(`select from pg_roles where rolname = 'workflow_admin'`)).toEqual([])
  expect(await administrator(`select from pg_namespace where nspname = 'iu_core'`, 'app')).toEqual([])
  const statements = await runStatements(refused)
  expect(statements).toEqual(expect.arrayContaining(['create role workflow_admin nologin;']))
  expect(isUpToDate(await migrate({ url }))).toBe(false)
  expect(isUpToDate(await migrate({ url }))).toBe(true)
})

it('says so where the login does not own the database', { tags: 'long' }, async () => {
  const url = await prepare('createrole', { owner: false })
  const statements = await runStatements(await refusal(url))
  expect(statements).toContain('grant create on database "app" to "login";')
  await migrate({ url })
})

it('asks for the one right on public that is missing, in a statement that can be run as it stands', {
  tags: 'long',
}, async () => {
  const url = await prepare('createrole', { owner: false })
  await administrator('grant create on database app to login')
  const refused = await refusal(url)
  expect(await administrator(`select from pg_roles where rolname = 'workflow_admin'`)).toEqual([])
  expect(await runStatements(refused)).toEqual([
    'grant usage, create on schema public to "login" with grant option;',
  ])
  expect(isUpToDate(await migrate({ url }))).toBe(false)
  expect(isUpToDate(await migrate({ url }))).toBe(true)
})

it('asks for the right of workflow_admin itself where that role exists', { tags: 'long' }, async () => {
  await migrate({ url: await prepare('createrole', { database: 'first' }) })
  await administrator('create database app')
  await administrator('grant create on database app to login')
  const url = urlOf('login')
  expect(await runStatements(await refusal(url))).toEqual([
    'grant usage, create on schema public to workflow_admin;',
  ])
  await migrate({ url })
})

it('never alters a role that exists', async () => {
  await administrator('create role authenticated login createdb; create role anon noinherit')
  const url = await prepare('createrole')
  // From 16 on only the creator of a role may hand it on: then it is an administrator's turn.
  const refused = await refusal(url)
  if (refused !== 'not refused') {
    await runStatements(refused)
    await migrate({ url })
  }
  expect(
    await administrator(
      `select rolname, rolcanlogin, rolcreatedb, rolinherit from pg_roles where rolname in ('authenticated', 'anon') order by 1`,
    ),
  ).toEqual([
    { rolname: 'anon', rolcanlogin: false, rolcreatedb: false, rolinherit: false },
    { rolname: 'authenticated', rolcanlogin: true, rolcreatedb: true, rolinherit: true },
  ])
})

it('is migrated in two databases at the same time', { tags: 'long' }, async () => {
  const url = await prepare('createrole')
  await administrator('create database second owner login')
  await Promise.all([migrate({ url }), migrate({ url: urlOf('login', 'second') })])
  for (const each of [url, urlOf('login', 'second')])
    expect(isUpToDate(await migrate({ url: each }))).toBe(true)
})

it('names what another login lacks on a database that is migrated already', { tags: 'long' }, async () => {
  const url = await prepare('createrole')
  await migrate({ url })
  await administrator(`create role other_login login password '${PASSWORD}'`)
  const other = urlOf('other_login')
  await expect(planMigration({ url: other })).rejects.toMatchObject({ code: 'roles_missing' })
  const statements = await runStatements(await refusal(other))
  expect(statements.every((statement) => statement.includes('"other_login"'))).toBe(true)
  expect(isUpToDate(await migrate({ url: other }))).toBe(true)
})

it.each(['stagedoor_api', 'stagedoor_worker', 'stagedoor_playbook', 'stagedoor_proposer', 'service_role'])(
  'is never migrated or planned by %s, and no statement is printed that would make it powerful',
  { tags: 'long' },
  async (own) => {
    await migrate({ url: await prepare('createrole') })
    await administrator(`alter role ${own} login password '${PASSWORD}'`)
    await administrator('revoke create on schema public from workflow_admin', 'app')
    await administrator('create database second')
    for (const run of [migrate, planMigration]) {
      for (const database of ['app', 'second']) {
        const refused = await run({ url: urlOf(own, database) }).catch((error: unknown) => error)
        expect(refused).toMatchObject({
          code: 'direct_login_wrong',
          exitCode: 3,
          details: { login: own },
          hint: expect.stringContaining('DATABASE_DIRECT_URL'),
        })
        expect(refused).not.toHaveProperty('details.statements')
      }
    }
  },
)
