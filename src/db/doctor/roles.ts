/** Roles belong to the whole server, and some were there before us (on Supabase): only what matters is checked. */
import pg from 'pg'
import { ROLES } from '../migrate/bootstrap.ts'
import type { Finding } from './finding.ts'

/** They may be somebody else's, with a login or inheritance of their choice. */
const SHARED = new Set(['anon', 'authenticated', 'service_role', 'directus'])
/** On Supabase it passes by row level security; here it sees every workspace anyway. */
const MAY_BYPASS_RLS = new Set(['service_role'])
/** Made by Supabase itself: for its vault, and of no use on anything of ours. */
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

export async function examineRoles(client: pg.Client, version: number): Promise<Finding[]> {
  const names = ROLES.map((role) => role.name)
  const live = new Map((await liveRoles(client, names)).map((role) => [role.name, role]))
  return [
    ...ROLES.flatMap((role) => {
      const found = live.get(role.name)
      return found ? attributeFindings(role, found) : [missing(role)]
    }),
    ...(await lackingMemberships(client, version)),
    ...(await excessMemberships(client, version)),
    ...(await excessOptions(client, version)),
  ]
}

/** Whoever the API logs in as must be what stagedoor_api is. */
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

function missing(role: Role): Finding {
  return {
    kind: 'role',
    object: `role ${role.name}`,
    problem: 'does not exist',
    remedy: `create role ${role.name} ${role.attributes};`,
  }
}

/** What each role must be; undefined: either way is fine. */
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
      remedy: `alter role ${quoted(live.name)} ${wanted ? '' : 'no'}${attribute};`,
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
 * What each of our roles can become is exact, and none becomes anything but the two logins: SET ROLE follows
 * memberships the whole way, so that one more, of any of them, is a hole in the wall. Who else may become one of our
 * roles (the login that migrates, on Supabase authenticator and postgres) is the administrator's business.
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
        // From 16 on the same membership can be given by several, and each takes back only its own.
        remedy: `revoke ${quoted(granted)} from ${member}${version >= 160000 ? ` granted by ${quoted(grantor)}` : ''};`,
      },
    ]
  })
}

/** Beyond SET ROLE: from 16 on a membership says by itself whether rights are inherited; and one can be handed on. */
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
    const by = version >= 160000 ? ` granted by ${quoted(grantor)}` : ''
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
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : pg.escapeIdentifier(name)
}
