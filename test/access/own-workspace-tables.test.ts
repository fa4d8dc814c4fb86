/** A database whose owner already has workspaces (as on Supabase): we read them and alter nothing of theirs. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { withClient } from '../../src/kernel/postgres/connection.ts'
import { migrate } from '../../src/kernel/postgres/migrate/migrate.ts'
import { type BareDatabase, useDatabases } from '../support/empty-database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { loginUrl } from '../support/template.ts'

const createDatabase = useDatabases()
const WORKSPACE = randomUUID()

const WORKSPACES = `create table public.workspaces (id uuid primary key, title text);
  insert into public.workspaces values ('${WORKSPACE}', 'Acme');`
const MAY_READ = 'grant select, references on public.workspaces, public.workspace_members to workflow_admin;'

/** Everything that we could have altered: columns, constraints, indexes, triggers, policies, grants, owner. */
const theirs = (database: BareDatabase) =>
  database.superuser(
    `select c.relname, c.relowner::regrole::text, c.relacl::text, c.relrowsecurity, c.relforcerowsecurity,
            (select json_agg(to_jsonb(a) - 'attrelid' order by a.attnum) from pg_attribute a
              where a.attrelid = c.oid and a.attnum > 0) as columns,
            (select json_agg(pg_get_constraintdef(x.oid) order by x.conname) from pg_constraint x
              where x.conrelid = c.oid) as constraints,
            (select json_agg(i.indexrelid::regclass order by i.indexrelid) from pg_index i where i.indrelid = c.oid) as indexes,
            (select json_agg(t.tgname order by t.tgname) from pg_trigger t where t.tgrelid = c.oid) as triggers,
            (select json_agg(p.polname order by p.polname) from pg_policy p where p.polrelid = c.oid) as policies
       from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
        -- The staged rows are ours, under the names that the seed gives them.
        and c.relowner is distinct from to_regrole('workflow_admin') order by 1`,
  )

async function migrated(setUp: string): Promise<BareDatabase> {
  const database = await createDatabase()
  await database.superuser(setUp)
  const before = await theirs(database)
  await migrate({ url: database.url })
  expect(await theirs(database)).toEqual(before)
  return database
}

async function ask<R>(database: BareDatabase, subject: string, role: string, sql: string): Promise<R[]> {
  return withClient(loginUrl(database.superuserUrl, 'stagedoor_api', database.name), async (client) => {
    await client.query(`select set_config('request.jwt.claims', $1, false)`, [
      JSON.stringify({ sub: subject }),
    ])
    await client.query(`set role ${role}`)
    return (await client.query(sql)).rows as R[]
  })
}

/** The app role under which `require_member` lets the subject act. */
async function roleOf(database: BareDatabase, subject: string, right: string, role: string): Promise<string> {
  const sql = `select iu_core.require_member('${WORKSPACE}', '${right}') as role`
  return (await ask<{ role: string }>(database, subject, role, sql))[0]!.role
}

const memberships = (database: BareDatabase, subject: string) =>
  ask(database, subject, 'authenticated', 'select * from iu_core.fn_my_memberships()')

const map = (database: BareDatabase, subject: string, appRole: string) =>
  database.superuser('insert into iu_core.workspace_member_role values ($1, $2, $3)', [
    WORKSPACE,
    subject,
    appRole,
  ])

it('gives members without a role column viewing, and more where our mapping says so', async () => {
  const [ada, grace] = [randomUUID(), randomUUID()]
  const database = await migrated(`${WORKSPACES}
    create table public.workspace_members (workspace_id uuid, user_id uuid, primary key (workspace_id, user_id));
    insert into public.workspace_members values ('${WORKSPACE}', '${ada}'), ('${WORKSPACE}', '${grace}');
    ${MAY_READ}`)
  await map(database, grace, 'reviewer')
  expect(await roleOf(database, ada, 'read', 'authenticated')).toBe('viewer')
  expect(await sqlstateOf(roleOf(database, ada, 'stage', 'authenticated'))).toBe('SD202')
  expect(await roleOf(database, grace, 'review', 'stagedoor_reviewer')).toBe('reviewer')

  // An administrator changes roles, in our mapping; members come and go where the owner of the table says.
  await map(database, ada, 'admin')
  const asAda = (sql: string) => ask(database, ada, 'stagedoor_reviewer', sql)
  await asAda(`select iu_core.fn_member_set('${WORKSPACE}', '${grace}', 'operator')`)
  expect(await roleOf(database, grace, 'operate', 'authenticated')).toBe('operator')
  for (const refused of [
    `select iu_core.fn_member_set('${WORKSPACE}', '${randomUUID()}', 'operator')`,
    `select iu_core.fn_member_delete('${WORKSPACE}', '${grace}')`,
    `select iu_core.fn_invitation_create('${WORKSPACE}', '${'a'.repeat(64)}', 'Eve', 'viewer')`,
  ])
    expect(await sqlstateOf(asAda(refused))).toBe('SD207')
  expect(await sqlstateOf(asAda(`select iu_core.fn_member_set('${WORKSPACE}', '${ada}', 'viewer')`))).toBe(
    'SD206',
  )
  // A machine token needs no row of theirs.
  await asAda(
    `select iu_core.fn_machine_token_create('${WORKSPACE}', '${'a'.repeat(64)}', 'export', 'viewer', '1 day')`,
  )
  const [token] = await asAda(`select subject from iu_core.fn_machine_token_list('${WORKSPACE}')`)
  expect(await roleOf(database, (token as { subject: string }).subject, 'read', 'authenticated')).toBe(
    'viewer',
  )
})

it('takes user ids that are text, keeps role names that are ours and maps the others, behind their row security', async () => {
  const database = await migrated(`${WORKSPACES}
    create type public.member_role as enum ('owner', 'editor', 'admin', 'operator');
    create table public.workspace_members (workspace_id uuid, user_id text, role public.member_role);
    insert into public.workspace_members values
      ('${WORKSPACE}', 'auth0|ada', 'owner'), ('${WORKSPACE}', 'auth0|bob', 'editor'),
      ('${WORKSPACE}', 'auth0|eve', 'admin'), ('${WORKSPACE}', 'auth0|joe', 'operator');
    alter table public.workspace_members enable row level security;
    create policy stagedoor_reads on public.workspace_members for select to workflow_admin using (true);
    ${MAY_READ}`)
  await map(database, 'auth0|ada', 'admin')
  await map(database, 'auth0|eve', 'viewer')
  await map(database, 'auth0|mallory', 'admin')
  expect(await roleOf(database, 'auth0|ada', 'administer', 'stagedoor_reviewer')).toBe('admin')
  // Our mapping has the last word, also to take rights away; a role name that we do not know gives nothing.
  expect(await roleOf(database, 'auth0|eve', 'read', 'authenticated')).toBe('viewer')
  expect(await sqlstateOf(roleOf(database, 'auth0|eve', 'administer', 'stagedoor_reviewer'))).toBe('SD202')
  expect(await sqlstateOf(roleOf(database, 'auth0|bob', 'read', 'authenticated'))).toBe('SD201')
  expect(await roleOf(database, 'auth0|joe', 'operate', 'authenticated')).toBe('operator')
  // Standing in our mapping alone makes nobody a member.
  for (const stranger of ['auth0|mallory', 'ada']) {
    expect(await sqlstateOf(roleOf(database, stranger, 'read', 'stagedoor_reviewer'))).toBe('SD201')
  }
  // Their workspaces have no column called name.
  expect(await memberships(database, 'auth0|joe')).toEqual([
    { workspace_id: WORKSPACE, name: null, app_role: 'operator', display_name: null },
  ])
  expect(await memberships(database, 'auth0|bob')).toEqual([])
})

it('stops before anything changes where it may not read their members, and says what they must run', async () => {
  const database = await createDatabase()
  await database.superuser(`${WORKSPACES}
    create table public.workspace_members (workspace_id uuid, user_id text, role text);
    alter table public.workspace_members enable row level security;`)
  const before = await theirs(database)
  const refused = await migrate({ url: database.url }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'migration_failed', details: { file: '0002_access' } })
  expect(await theirs(database)).toEqual(before)
  const statements = /runs once: (.*)$/.exec((refused as Error).message)?.[1]
  await database.superuser(statements!)
  await migrate({ url: database.url })
})

it('makes its own members table beside their workspaces once it may refer to them', async () => {
  const database = await createDatabase()
  await database.superuser(WORKSPACES)
  const refused = await migrate({ url: database.url }).catch((error: unknown) => error)
  const statements = /runs once: (.*)$/.exec((refused as Error).message)?.[1]
  await database.superuser(statements!)
  await migrate({ url: database.url })
  await database.superuser('insert into public.workspace_members values ($1, $2)', [WORKSPACE, randomUUID()])
})
