/** Roles belong to the whole server, and some were there before us (on Supabase): only what matters is checked. */
import pg from 'pg'
import { ROLES } from '../migrate/bootstrap.ts'
import type { Finding } from './finding.ts'

/** They may be somebody else's, with a login or inheritance of their choice. */
const SHARED = new Set(['anon', 'authenticated', 'service_role', 'directus'])
/** On Supabase it passes by row level security; here it sees every workspace anyway. */
const MAY_BYPASS_RLS = new Set(['service_role'])

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

/** Directly or through another role: SET ROLE follows the whole way, so every step beyond the five is a hole. */
async function excessMemberships(client: pg.Client, version: number): Promise<Finding[]> {
  const { becomes = [] } = ROLES.find((role) => role.name === 'stagedoor_api') ?? {}
  const { rows } = await client.query<{ granted: string; member: string; grantor: string }>(
    `with recursive reach as (
       select r.oid from pg_roles r where r.rolname = 'stagedoor_api'
       union
       select m.roleid from reach join pg_auth_members m on m.member = reach.oid)
     select granted.rolname as granted, member.rolname as member, pg_get_userbyid(m.grantor) as grantor
       from reach
       join pg_auth_members m on m.member = reach.oid
       join pg_roles granted on granted.oid = m.roleid
       join pg_roles member on member.oid = m.member
      where not (granted.rolname = any ($1))
      order by 1, 2, 3`,
    [becomes],
  )
  return rows.map(({ granted, member, grantor }) => ({
    kind: 'role',
    object: 'role stagedoor_api',
    problem:
      member === 'stagedoor_api'
        ? `is a member of ${granted}, and must be able to become nothing but ${becomes.join(', ')}`
        : `can become ${granted}, because ${member} is a member of it`,
    // From 16 on the same membership can be given by several, and each takes back only its own.
    remedy: `revoke ${quoted(granted)} from ${quoted(member)}${version >= 160000 ? ` granted by ${quoted(grantor)}` : ''};`,
  }))
}

/** As quote_ident does it. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : pg.escapeIdentifier(name)
}
