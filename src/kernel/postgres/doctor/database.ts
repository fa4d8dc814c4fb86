/** Examines one database in one snapshot: objects, roles, partitions, indexes, and the user's own workspace tables. */
import pg from 'pg'
import { ROLES } from '../migrate/bootstrap.ts'
import type { SqlFiles } from '../migrate/files.ts'
import {
  compareCatalogues,
  type Entry,
  entriesForServer,
  OUR_SCHEMAS,
  OWNER,
  readCatalogue,
  readManifest,
} from './compare.ts'
import { examineRoutines, type Finding, type Session } from './doctor.ts'

interface Examination {
  readonly findings: readonly Finding[]
  readonly notes: readonly string[]
  readonly checked: Readonly<Record<string, number>>
}

export async function examineDatabase(
  client: pg.Client,
  session: Session,
  files: SqlFiles,
): Promise<Examination> {
  await client.query('begin isolation level repeatable read read only')
  try {
    const manifest = entriesForServer(readManifest(), session.version)
    const foreign = await foreignWorkspaceTables(client)
    const expected = without(foreign, manifest)
    const live = without(foreign, await readCatalogue(client, publicNames(expected)))
    const outside = [
      ...(await examineRoles(client, session.version)),
      ...foreign.flatMap(examineForeignTable),
      ...(await invalidIndexes(client)),
      ...(await partitionRights(client)),
    ]
    const compared = compareCatalogues({ expected, live, files })
    const { findings: inside, unread } =
      session.owner === 'allowed' ? await examineAsOwner(client, files) : { findings: [], unread: [] }
    const findings = [...merge(compared, inside), ...outside]
    // A query failed and no finding explains it: that must not pass as "no differences".
    if (findings.length === 0 && unread.length > 0) throw unread[0]
    return {
      findings,
      notes: foreign.map(
        ({ name, owner }) => `${name} belongs to ${owner}: only what Stagedoor needs of it was examined.`,
      ),
      checked: { ...count(expected), role: ROLES.length },
    }
  } finally {
    await client.query('rollback')
  }
}

/** No such table, column, function or schema, or no privilege for it. Other errors, such as a timeout, are no finding. */
const EXPLAINED = new Set(['42P01', '42703', '42883', '3F000', '42501'])

interface Inside {
  readonly findings: Finding[]
  /** Checks that could not run because an object that they need is missing or changed. */
  readonly unread: pg.DatabaseError[]
}

/** Reads tables that only workflow_admin may read. If one of them is missing, the comparison has reported it. */
async function examineAsOwner(client: pg.Client, files: SqlFiles): Promise<Inside> {
  const findings: Finding[] = []
  const unread: pg.DatabaseError[] = []
  for (const part of [
    () => examineRoutines(client, files),
    () => partitionsAhead(client),
    () => policiesWithoutColumns(client),
  ]) {
    await client.query(`savepoint part; set local role ${OWNER}`)
    try {
      findings.push(...(await part()))
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || !EXPLAINED.has(error.code ?? '')) throw error
      unread.push(error)
    }
    await client.query('rollback to savepoint part')
  }
  return { findings, unread }
}

/** Review policies that name a column which is gone: their rule applies to every upload. */
async function policiesWithoutColumns(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ workspace_id: string; scope: string; problem: string }>(
    `select p.workspace_id, iu_core.fn_review_policy_scope(p.dataset, p.kind) as scope, x.problem
       from iu_core.review_policy p,
            lateral (select iu_core.fn_review_policy_column_problem(p.workspace_id, p.dataset, p.kind, p.rules)) as x (problem)
      where x.problem is not null order by 1, 2`,
  )
  return rows.map(({ workspace_id, scope, problem }) => ({
    kind: 'review policy',
    object: `review policy for ${scope} in workspace ${workspace_id}`,
    problem: `applies to every upload: ${problem}`,
    remedy: 'Set the policy again with a column that exists: `stagedoor policy set`.',
  }))
}

/** Reports each routine once: pending ones by the migration plan, changed ones by the detailed comparison. */
function merge(compared: readonly Finding[], inside: readonly Finding[]): Finding[] {
  const pending = new Set(inside.filter(({ kind }) => kind === 'migrations').map(({ object }) => object))
  const reported = new Set(compared.filter(({ kind }) => kind !== 'grant' && kind !== 'owner').map(nameOf))
  return [
    ...compared.filter((finding) => !pending.has(nameOf(finding))),
    ...inside.filter((finding) => finding.kind !== 'drifted' || !reported.has(finding.object)),
  ]
}

/** function iu_core.f(text) → function iu_core.f */
function nameOf({ object }: Finding): string {
  return object.replace(/\(.*$/s, '')
}

function without(foreign: readonly ForeignTable[], entries: readonly Entry[]): Entry[] {
  const labels = new Set(foreign.map(({ name }) => `table ${name}`))
  return entries.filter((entry) => !labels.has(entry.of ?? `${entry.kind} ${entry.name}`))
}

function publicNames(entries: readonly Entry[]): string[] {
  return entries.map(({ name }) => name).filter((name) => name.startsWith('public.'))
}

function count(entries: readonly Entry[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of entries) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

// Roles belong to the whole server, and some may have existed before (on Supabase): only what we need is checked.

/** These roles may be somebody else's, so whether they can log in or inherit is not checked. */
const SHARED = new Set(['anon', 'authenticated', 'service_role', 'directus'])
/** On Supabase it bypasses row level security; here its policies let it see every workspace anyway. */
const MAY_BYPASS_RLS = new Set(['service_role'])
/** Supabase grants these for its vault. They give no access to our objects. */
const SUPABASE_MEMBERSHIPS: Partial<Record<string, readonly string[]>> = {
  service_role: ['pgsodium_keyholder'],
}

type Role = (typeof ROLES)[number]

interface LiveRole {
  readonly name: string
  readonly superuser: boolean
  readonly bypassrls: boolean
  readonly createrole: boolean
  readonly createdb: boolean
  readonly replication: boolean
  readonly login: boolean
  readonly inherit: boolean
}

async function examineRoles(client: pg.Client, version: number): Promise<Finding[]> {
  const names = ROLES.map((role) => role.name)
  const live = new Map((await liveRoles(client, names)).map((role) => [role.name, role]))
  return [
    ...ROLES.flatMap((role) => {
      const found = live.get(role.name)
      return found ? attributeFindings(role, found) : [missingRole(role)]
    }),
    ...(await lackingMemberships(client, version)),
    ...(await excessMemberships(client, version)),
    ...(await excessOptions(client, version)),
  ]
}

/** The API's login must have the same attributes and memberships as stagedoor_api. */
export async function examineApiRole(client: pg.Client, login: string): Promise<Finding[]> {
  const api = ROLES.find((role) => role.name === 'stagedoor_api')!
  return (await liveRoles(client, [login])).flatMap((live) => attributeFindings(api, live))
}

async function liveRoles(client: pg.Client, names: readonly string[]): Promise<LiveRole[]> {
  const { rows } = await client.query<LiveRole>(
    `select rolname as name, rolsuper as superuser, rolbypassrls as bypassrls, rolcreaterole as createrole,
            rolcreatedb as createdb, rolreplication as replication, rolcanlogin as login, rolinherit as inherit
       from pg_roles where rolname = any ($1)`,
    [names],
  )
  return rows
}

function missingRole(role: Role): Finding {
  return {
    kind: 'role',
    object: `role ${role.name}`,
    problem: 'does not exist',
    remedy: `create role ${role.name} ${role.attributes};`,
  }
}

/** The expected attributes of each role; undefined: not checked. */
function attributeFindings(role: Role, live: LiveRole): Finding[] {
  const isLogin = role.attributes.startsWith('login')
  const ours = !SHARED.has(role.name)
  const rules: [keyof LiveRole, boolean | undefined][] = [
    ['superuser', false],
    ['bypassrls', MAY_BYPASS_RLS.has(role.name) ? undefined : false],
    ['createrole', ours ? false : undefined],
    ['createdb', isLogin ? false : undefined],
    ['replication', isLogin ? false : undefined],
    ['login', ours ? isLogin : undefined],
    ['inherit', isLogin ? false : undefined],
  ]
  return rules
    .filter(([attribute, wanted]) => wanted !== undefined && live[attribute] !== wanted)
    .map(([attribute, wanted]) => ({
      kind: 'role',
      object: `role ${live.name}`,
      problem: wanted ? `lacks ${attribute.toUpperCase()}` : `has ${attribute.toUpperCase()}`,
      remedy: `alter role ${quoteIdentifier(live.name)} ${wanted ? '' : 'no'}${attribute};`,
    }))
}

async function lackingMemberships(client: pg.Client, version: number): Promise<Finding[]> {
  const wanted = ROLES.flatMap((role) => role.becomes.map((becomes) => ({ role: role.name, becomes })))
  const separate = version >= 160000
  const { rows } = await client.query<{ role: string; becomes: string }>(
    `select w.role, w.becomes
       from unnest($1::text[], $2::text[]) as w (role, becomes)
       join pg_roles member on member.rolname = w.role
       join pg_roles granted on granted.rolname = w.becomes
      where not pg_has_role(member.oid, granted.oid, '${separate ? 'SET' : 'MEMBER'}')`,
    [wanted.map(({ role }) => role), wanted.map(({ becomes }) => becomes)],
  )
  const option = separate ? ' with inherit false, set true' : ''
  return rows.map(({ role, becomes }) => ({
    kind: 'role',
    object: `role ${role}`,
    problem: `cannot become ${becomes}`,
    remedy: `grant ${becomes} to ${role}${option};`,
  }))
}

/**
 * The memberships of our roles must be exactly the expected ones, and only the two logins have any: SET ROLE follows memberships
 * transitively, so one more would bypass access control. Which other roles are members of ours (the migrator's login; on Supabase
 * authenticator and postgres) is up to the administrator.
 */
async function excessMemberships(client: pg.Client, version: number): Promise<Finding[]> {
  const { rows } = await client.query<{ granted: string; member: string; grantor: string }>(
    `select granted.rolname as granted, member.rolname as member, pg_get_userbyid(m.grantor) as grantor
       from pg_auth_members m
       join pg_roles granted on granted.oid = m.roleid
       join pg_roles member on member.oid = m.member
      where member.rolname = any ($1)
      order by 2, 1, 3`,
    [ROLES.map((role) => role.name)],
  )
  return rows.flatMap(({ granted, member, grantor }): Finding[] => {
    const { becomes } = ROLES.find((role) => role.name === member)!
    if (becomes.includes(granted) || SUPABASE_MEMBERSHIPS[member]?.includes(granted)) return []
    return [
      {
        kind: 'role',
        object: `role ${member}`,
        problem: `is a member of ${granted}, and must be able to become nothing${becomes.length > 0 ? ` but ${becomes.join(', ')}` : ''}`,
        // From PostgreSQL 16 on several grantors can grant the same membership, and each revokes only its own grant.
        remedy: `revoke ${quoteIdentifier(granted)} from ${member}${version >= 160000 ? ` granted by ${quoteIdentifier(grantor)}` : ''};`,
      },
    ]
  })
}

/** Beyond SET ROLE: a membership may have the admin option, and from PostgreSQL 16 on its own INHERIT option. */
async function excessOptions(client: pg.Client, version: number): Promise<Finding[]> {
  const inherits = version >= 160000 ? 'm.inherit_option' : 'false'
  const logins = ROLES.filter((role) => role.becomes.length > 0)
  const { rows } = await client.query<{
    granted: string
    member: string
    grantor: string
    inherits: boolean
    admin: boolean
  }>(
    `select granted.rolname as granted, member.rolname as member, pg_get_userbyid(m.grantor) as grantor,
            ${inherits} as inherits, m.admin_option as admin
       from pg_auth_members m
       join pg_roles granted on granted.oid = m.roleid
       join pg_roles member on member.oid = m.member
       join unnest($1::text[], $2::text[]) as w (role, becomes) on w.role = member.rolname and w.becomes = granted.rolname
      where m.admin_option or ${inherits}
      order by 2, 1, 3`,
    [logins.flatMap((role) => role.becomes.map(() => role.name)), logins.flatMap((role) => role.becomes)],
  )
  return rows.flatMap(({ granted, member, grantor, inherits, admin }) => {
    const by = version >= 160000 ? ` granted by ${quoteIdentifier(grantor)}` : ''
    const object = `role ${member}`
    const findings: Finding[] = []
    if (inherits) {
      const remedy = `revoke inherit option for ${granted} from ${member}${by};`
      findings.push({
        kind: 'role',
        object,
        problem: `has the rights of ${granted} without becoming it`,
        remedy,
      })
    }
    if (admin) {
      const remedy = `revoke admin option for ${granted} from ${member}${by};`
      findings.push({ kind: 'role', object, problem: `can make others members of ${granted}`, remedy })
    }
    return findings
  })
}

/** As quote_ident does it. */
function quoteIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : pg.escapeIdentifier(name)
}

// Partitions and invalid indexes: they change while the product runs, so the manifest does not list them.

const DAYS_AHEAD = 30

/** In all our schemas: PostgreSQL maintains an invalid index but never uses it. */
async function invalidIndexes(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ index: string; table: string; leftover: boolean; parent: boolean }>(
    `select format('%I.%I', n.nspname, i.relname) as index, format('%I.%I', tn.nspname, t.relname) as table,
            i.relname ~ '_cc(new|old)[0-9]*$' as leftover, i.relkind = 'I' as parent
       from pg_index x
       join pg_class i on i.oid = x.indexrelid
       join pg_namespace n on n.oid = i.relnamespace
       join pg_class t on t.oid = x.indrelid
       join pg_namespace tn on tn.oid = t.relnamespace
      where not (x.indisvalid and x.indisready)
        and (n.nspname = any ($1) or n.nspname = 'public' and pg_get_userbyid(i.relowner) = $2)
      order by 1`,
    [OUR_SCHEMAS, OWNER],
  )
  return rows.map(({ index, table, leftover, parent }) => ({
    kind: 'index',
    object: `index ${index}`,
    problem: parent
      ? `is not valid: a partition of ${table} has no index that belongs to it`
      : 'is not valid: building it was interrupted',
    remedy: leftover
      ? `drop index ${index};`
      : parent
        ? `alter index ${index} attach partition …; -- one for each partition of ${table} that has none, created first`
        : `reindex index ${index};`,
  }))
}

/** Partitions are accessed through their parent, so only workflow_admin may have privileges on them. */
async function partitionRights(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{
    name: string
    owner: string
    rls: boolean
    grantee: string | null
    privileges: string[]
  }>(
    `select format('%I.%I', n.nspname, c.relname) as name, pg_get_userbyid(c.relowner) as owner, c.relrowsecurity as rls,
            case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as grantee,
            array_remove(array_agg(a.privilege_type order by a.privilege_type), null) as privileges
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       left join lateral aclexplode(c.relacl) as a on a.grantee <> c.relowner
      where n.nspname = any ($1) and c.relispartition and c.relkind in ('r', 'p', 'f')
      group by c.oid, n.nspname, a.grantee
      order by 1, 4`,
    [OUR_SCHEMAS],
  )
  return rows.flatMap(({ name, owner, rls, grantee, privileges }, index) => {
    const object = `partition ${name}`
    const findings: Finding[] = []
    if (grantee !== null) {
      findings.push({
        kind: 'grant',
        object,
        problem: `gives ${privileges.join(', ')} to ${grantee}, past the policies of its parent`,
        remedy: `revoke ${privileges.join(', ')} on table ${name} from ${grantee};`,
      })
    }
    // A partition has one row for each grantee; its own state is reported once.
    if (rows[index - 1]?.name === name) return findings
    if (owner !== OWNER) {
      findings.push({
        kind: 'owner',
        object,
        problem: `belongs to ${owner} instead of ${OWNER}`,
        remedy: `alter table ${name} owner to ${OWNER};`,
      })
    }
    if (!rls) {
      findings.push({
        kind: 'rls',
        object,
        problem: 'has row level security off',
        remedy: `alter table ${name} enable row level security;`,
      })
    }
    return findings
  })
}

const PARTITIONED = [
  {
    table: 'iu_core.event_outbox',
    left: 'iu_core.fn_event_partition_days_left',
    maintain: 'iu_core.fn_event_partitions_maintain',
    what: 'event',
  },
  {
    table: 'iu_core.job_history',
    left: 'iu_core.fn_job_history_days_left',
    maintain: 'iu_core.fn_job_history_maintain',
    what: 'end of a job',
  },
  {
    table: 'noetl.event',
    left: 'noetl.fn_execution_partition_days_left',
    maintain: 'noetl.fn_execution_partitions_maintain',
    what: 'event of an execution that begins now',
  },
]

/** Must run as workflow_admin. */
async function partitionsAhead(client: pg.Client): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { table, left, maintain, what } of PARTITIONED) {
    const { rows } = await client.query<{ days: number | null }>(`select ${left}() as days`)
    const days = rows[0]?.days ?? null
    if (days !== null && days >= DAYS_AHEAD) continue
    findings.push({
      kind: 'partitions',
      object: `table ${table}`,
      problem:
        days === null
          ? `has no partition for today: no ${what} can be written`
          : `has partitions for only ${days} more days, and should have ${DAYS_AHEAD} at least`,
      remedy: `select ${maintain}();`,
    })
  }
  return findings
}

// public.workspaces and public.workspace_members, if they are the user's own: only the columns and privileges that we need.

const WORKSPACE_TABLES: Readonly<Record<string, readonly string[]>> = {
  'public.workspaces': ['id', 'name'],
  'public.workspace_members': ['workspace_id', 'user_id'],
}

interface ForeignTable {
  readonly name: string
  readonly owner: string
  readonly columns: readonly string[]
  /** SELECT on the whole table, because fn_member_role reads columns that we do not know, and REFERENCES for our foreign keys. */
  readonly readable: boolean
  /** Row level security does not apply to workflow_admin, or a policy lets it see every row. */
  readonly everyRow: boolean
  readonly restrictive: readonly string[]
}

async function foreignWorkspaceTables(client: pg.Client): Promise<ForeignTable[]> {
  const { rows } = await client.query<ForeignTable>(
    `select q.name, pg_get_userbyid(c.relowner) as owner,
            array(select a.attname::text from pg_attribute a
                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
            has_table_privilege(us.oid, c.oid, 'select') and has_table_privilege(us.oid, c.oid, 'references') as readable,
            e.exempt or p.all_rows as "everyRow",
            case when e.exempt then '{}' else p.restrictive end as restrictive
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       join pg_roles us on us.rolname = $2
      cross join lateral format('%I.%I', n.nspname, c.relname) as q (name)
      cross join lateral (
        select not c.relrowsecurity or us.rolbypassrls or us.rolsuper
               or pg_has_role(us.oid, c.relowner, 'usage') and not c.relforcerowsecurity as exempt) as e
      cross join lateral (
        select coalesce(bool_or(p.polpermissive and condition = 'true'), false) as all_rows,
               coalesce(array_agg(p.polname::text) filter (where not p.polpermissive and condition <> 'true'), '{}')
                 as restrictive
          from pg_policy p, coalesce(pg_get_expr(p.polqual, p.polrelid), 'true') as condition
         where p.polrelid = c.oid and p.polcmd in ('r', '*')
           and exists (select from unnest(p.polroles) as r where r = 0 or pg_has_role(us.oid, r, 'usage'))) as p
      where q.name = any ($1) and c.relowner <> us.oid
      order by 1`,
    [Object.keys(WORKSPACE_TABLES), OWNER],
  )
  return rows
}

function examineForeignTable(table: ForeignTable): Finding[] {
  const object = `table ${table.name}`
  const findings: Finding[] = (WORKSPACE_TABLES[table.name] ?? [])
    .filter((column) => !table.columns.includes(column))
    .map((column) => ({
      kind: 'workspaces',
      object,
      problem: `has no column ${column}, which Stagedoor reads`,
      remedy: `Rename the column that holds it: alter table ${table.name} rename column … to ${column};`,
    }))
  if (!table.readable) {
    findings.push({
      kind: 'workspaces',
      object,
      problem: `cannot be read and referred to by ${OWNER}`,
      remedy: `grant select, references on ${table.name} to ${OWNER};`,
    })
  }
  if (!table.everyRow) {
    findings.push({
      kind: 'workspaces',
      object,
      problem: `hides rows from ${OWNER}: no policy of its row level security lets it see all of them`,
      remedy: `create policy stagedoor_reads on ${table.name} for select to ${OWNER} using (true);`,
    })
  }
  for (const policy of table.restrictive) {
    findings.push({
      kind: 'workspaces',
      object,
      problem: `hides rows from ${OWNER} by its restrictive policy ${policy}`,
      remedy: `Let the policy pass it: current_user = '${OWNER}' or …`,
    })
  }
  return findings
}
