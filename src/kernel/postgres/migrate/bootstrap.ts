/**
 * What must exist before the first migration: the roles, their memberships, the two schemas and the migration history. Only what is
 * missing is created, so that the migrator needs no rights to it on a database that an administrator prepared.
 */
import pg from 'pg'
import { StagedoorError } from '../../errors.ts'

interface Role {
  readonly name: string
  readonly attributes: string
  /** Only a superuser can grant it, or from PostgreSQL 16 on a role that has it. */
  readonly whereAllowed?: string
  /** Roles that it may become. */
  readonly becomes: readonly string[]
}

const NOLOGIN = 'nologin'

/** Created where absent, never altered where they exist (on Supabase some do). */
export const ROLES: readonly Role[] = [
  { name: 'workflow_admin', attributes: NOLOGIN, becomes: [] },
  { name: 'dot_executor', attributes: NOLOGIN, becomes: [] },
  { name: 'directus', attributes: NOLOGIN, becomes: [] },
  // As on Supabase. Its policies let it see every row anyway; without BYPASSRLS COPY refuses tables with row level security,
  // and staging loads through a temporary table.
  { name: 'service_role', attributes: NOLOGIN, whereAllowed: ' bypassrls', becomes: [] },
  { name: 'authenticated', attributes: NOLOGIN, becomes: [] },
  { name: 'anon', attributes: NOLOGIN, becomes: [] },
  { name: 'vector_worker', attributes: NOLOGIN, becomes: [] },
  { name: 'stagedoor_agent', attributes: NOLOGIN, becomes: [] },
  { name: 'stagedoor_reviewer', attributes: NOLOGIN, becomes: [] },
  // Leases jobs over HTTP, each token for one executor.
  { name: 'stagedoor_executor', attributes: NOLOGIN, becomes: [] },
  // Granted to a user's own logins, so that their transactions can enqueue jobs and emit events.
  { name: 'stagedoor_producer', attributes: NOLOGIN, becomes: [] },
  {
    name: 'stagedoor_api',
    attributes: 'login noinherit',
    becomes: [
      'anon',
      'authenticated',
      'service_role',
      'stagedoor_agent',
      'stagedoor_reviewer',
      'stagedoor_executor',
    ],
  },
  {
    name: 'stagedoor_worker',
    attributes: 'login noinherit',
    becomes: ['dot_executor', 'service_role', 'vector_worker'],
  },
  // The login of the `sql` tool of playbooks: it runs statements of users and may do only what it was granted.
  { name: 'stagedoor_playbook', attributes: 'login noinherit', becomes: [] },
  // The login in which proposed statements are worked out: it has rights on the tables that were opened, and on nothing else.
  { name: 'stagedoor_proposer', attributes: 'login noinherit', becomes: [] },
]

/** The roles that the migrator's login must be a member of: the owner, and those that the CLI acts as. */
const MIGRATOR_BECOMES = ['workflow_admin', 'dot_executor', 'service_role', 'vector_worker']

const SCHEMAS = ['iu_core', 'noetl']

const PUBLIC_RIGHT = 'grant usage, create on schema public to workflow_admin'

/** Read from pg_catalog, because to_regclass needs a privilege on the schema. */
export const HISTORY_EXISTS = `exists (
  select from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = 'iu_core' and c.relname = 'schema_migration')`

/** A migrator of another database created the same role or membership at the same time. */
const RACES = ['42710', '23505', 'XX000']

/**
 * Refuses our own roles as migrator: the rights that a migrator lacks are printed for an administrator to grant, and granted to the
 * login of the API or of the workers they would bypass access control.
 */
export async function assertMigrator(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ login: string; acts: string }>(
    'select session_user as login, current_user as acts',
  )
  const { login, acts } = rows[0]!
  const ours = [login, acts].find(isOwnRole)
  if (ours !== undefined) throw new StagedoorError('direct_login_wrong', { login: ours })
}

export function isOwnRole(login: string): boolean {
  return ROLES.some((role) => role.name === login)
}

/** Returns the statements that it ran. Roles belong to the whole server, which the advisory lock of one database does not cover. */
export async function bootstrap(client: pg.Client, attempts = 5): Promise<string[]> {
  const statements = await bootstrapStatements(client)
  if (statements.length === 0) return []
  await client.query('begin')
  let left: string[]
  try {
    for (const statement of statements) await client.query(statement)
    // PostgreSQL answers some grants without the right to them with a warning only.
    left = await bootstrapStatements(client)
    await client.query(left.length > 0 ? 'rollback' : 'commit')
  } catch (error) {
    await client.query('rollback')
    const code = (error as { code?: string }).code ?? ''
    if (code === '42501') throw await rolesMissing(client, statements, error)
    if (RACES.includes(code) && attempts > 1) return bootstrap(client, attempts - 1)
    throw error
  }
  if (left.length > 0) throw await rolesMissing(client, await neededFor(client, statements, left))
  return statements
}

/**
 * Composed after the rollback, which has removed the roles that the login created: a grant to one of them would fail. So the
 * administrator grants the right on `public` to the login, which grants it further.
 */
async function neededFor(
  client: pg.Client,
  statements: readonly string[],
  left: readonly string[],
): Promise<readonly string[]> {
  if (left.some((one) => one !== PUBLIC_RIGHT)) return statements
  if (!statements.some((one) => one.startsWith('create role workflow_admin '))) return left
  const { rows } = await client.query<{ login: string }>('select current_user as login')
  const login = pg.escapeIdentifier(rows[0]!.login)
  return [`grant usage, create on schema public to ${login} with grant option`]
}

/** The statements that this database still needs, in order. Refuses a schema that is not ours. */
export async function bootstrapStatements(client: pg.Client): Promise<string[]> {
  return [
    ...(await roleStatements(client)),
    ...(await membershipStatements(client)),
    ...(await schemaStatements(client)),
  ]
}

async function roleStatements(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ rolname: string; me: boolean; hands_on: boolean }>(
    `select rolname, rolname = current_user as me,
            rolsuper or (rolbypassrls and current_setting('server_version_num')::int >= 160000) as hands_on
       from pg_roles`,
  )
  const existing = new Set(rows.map((row) => row.rolname))
  const mayHandOn = rows.some((row) => row.me && row.hands_on)
  return ROLES.filter((role) => !existing.has(role.name)).map(
    (role) => `create role ${role.name} ${role.attributes}${mayHandOn ? (role.whereAllowed ?? '') : ''}`,
  )
}

async function membershipStatements(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ login: string; superuser: boolean; version: number }>(
    `select current_user as login, rolsuper as superuser, current_setting('server_version_num')::int as version
       from pg_roles where rolname = current_user`,
  )
  const me = rows[0]!
  // From PostgreSQL 16 on the creator of a role has the admin option but cannot SET ROLE to it without a further grant.
  const option = me.version >= 160000 ? ' with inherit false, set true' : ''
  const wanted = ROLES.flatMap((role) => role.becomes.map((becomes) => ({ role: role.name, becomes })))
  if (!me.superuser && !isOwnRole(me.login))
    wanted.push(...MIGRATOR_BECOMES.map((becomes) => ({ role: me.login, becomes })))
  const missing = await client.query<{ role: string; becomes: string }>(
    `select w.role, w.becomes
       from unnest($1::text[], $2::text[]) with ordinality as w (role, becomes, position)
      where not exists (
        select from pg_auth_members m
          join pg_roles granted on granted.oid = m.roleid
          join pg_roles member on member.oid = m.member
         where granted.rolname = w.becomes and member.rolname = w.role
           ${me.version >= 160000 ? 'and m.set_option' : ''})
      order by position`,
    [wanted.map((entry) => entry.role), wanted.map((entry) => entry.becomes)],
  )
  return missing.rows.map((entry) => `grant ${entry.becomes} to ${pg.escapeIdentifier(entry.role)}${option}`)
}

async function schemaStatements(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ nspname: string; ours: boolean }>(
    `select nspname, pg_get_userbyid(nspowner) = 'workflow_admin' and ${HISTORY_EXISTS} as ours
       from pg_namespace where nspname = any ($1)`,
    [SCHEMAS],
  )
  const foreign = rows.find((row) => !row.ours)
  if (foreign) throw new StagedoorError('foreign_object', { object: `The schema ${foreign.nspname}` })
  const statements = SCHEMAS.filter((schema) => !rows.some((row) => row.nspname === schema)).map(
    (schema) => `create schema ${schema} authorization workflow_admin`,
  )
  const { rows: rights } = await client.query<{ may: boolean }>(
    `select coalesce(bool_and(has_schema_privilege(r.oid, 'public', privilege)), false) as may
       from pg_roles r, unnest(array['usage', 'create']) as privilege
      where r.rolname = 'workflow_admin'`,
  )
  if (!rights[0]?.may) statements.push(PUBLIC_RIGHT)
  if (!rows.some((row) => row.nspname === 'iu_core')) statements.push(HISTORY)
  return statements
}

const HISTORY = `set local role workflow_admin;
create table iu_core.schema_migration (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default clock_timestamp(),
  applied_by text not null default session_user,
  duration_ms integer not null
);
create table iu_core.schema_routine (
  file text primary key,
  kind text not null,
  schema_name text not null,
  object_name text not null,
  hash text not null,
  definition_hash text not null,
  applied_at timestamptz not null default clock_timestamp(),
  constraint schema_routine_one_file_each unique (kind, schema_name, object_name)
);
alter table iu_core.schema_migration enable row level security;
alter table iu_core.schema_routine enable row level security;
reset role`

/** The statements for an administrator; after them the login may create the schemas and the history itself. */
export async function rolesMissing(
  client: pg.Client,
  statements: readonly string[],
  cause?: unknown,
): Promise<StagedoorError> {
  const { rows } = await client.query<{ login: string; database: string; creates: boolean }>(
    `select current_user as login, current_database() as database,
            has_database_privilege(current_database(), 'create') as creates`,
  )
  const { login, database, creates } = rows[0]!
  const needed = statements.filter((one) => one !== HISTORY && !one.startsWith('create schema'))
  if (!creates) {
    needed.push(`grant create on database ${pg.escapeIdentifier(database)} to ${pg.escapeIdentifier(login)}`)
  }
  return new StagedoorError(
    'roles_missing',
    { login, database, statements: needed.map((statement) => `${statement};`) },
    { cause },
  )
}
