/** Workspaces and their members, over the product's own tables or the user's. */
import { randomUUID } from 'node:crypto'
import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { nullable, type Row, shape, Text, TextOrNull, Type } from '../kernel/schema.ts'

export const APP_ROLES = ['viewer', 'operator', 'reviewer', 'admin', 'agent'] as const
export type AppRole = (typeof APP_ROLES)[number]

export interface Workspace {
  readonly id: string
  readonly name: string | null
}

export interface Member {
  readonly workspace_id: string
  readonly workspace: string | null
  readonly user_id: string
  readonly display_name: string | null
  readonly role: AppRole
  /** The database role under which their requests run. */
  readonly database_role: string
}

// The user's own tables may lack our columns: to_jsonb reads those that exist.
const MEMBERS = `
  select m.workspace_id, to_jsonb(w.*) ->> 'name' as workspace, m.user_id::text as user_id,
         to_jsonb(m.*) ->> 'display_name' as display_name, a.app_role as role, a.database_role
    from public.workspace_members m
    join public.workspaces w on w.id = m.workspace_id
    join iu_core.app_role a on a.app_role = iu_core.fn_member_role(m.workspace_id, m.user_id::text)`

export async function listWorkspaces(db: Queryable): Promise<Workspace[]> {
  const { rows } = await db.query<Workspace>(
    `select id, to_jsonb(w.*) ->> 'name' as name from public.workspaces w order by 2, 1`,
  )
  return rows
}

export async function createWorkspace(db: Queryable, name: string): Promise<Workspace> {
  const { rows } = await db.query<Workspace>(
    'insert into public.workspaces (name) values ($1) returning id, name',
    [name],
  )
  return rows[0]!
}

/** The workspace that is named by its id or name; without a name, the only one that `list` gives. */
export async function resolveWorkspace(
  db: Queryable,
  named: string | undefined,
  list: (db: Queryable) => Promise<readonly Workspace[]> = listWorkspaces,
): Promise<string> {
  const known = await list(db)
  const found = named === undefined ? known : known.filter(({ id, name }) => id === named || name === named)
  if (found.length === 1) return found[0]!.id
  const choices = known.map(({ id, name }) => name ?? id)
  const names = choices.join(', ') || 'none that you can see'
  const reason =
    named === undefined
      ? `There are ${known.length} workspaces; name one: ${names}`
      : found.length > 1
        ? `There are ${found.length} workspaces ${named}; give the id of one of them`
        : `There is no workspace ${named}; there are ${names}`
  throw new StagedoorError('argument_invalid', { reason, argument: 'workspace', choices })
}

/** Of one workspace, or of all. */
export async function listMembers(db: Queryable, workspaceId?: string): Promise<Member[]> {
  const { rows } = await db.query<Member>(
    `${MEMBERS} where $1::text is null or m.workspace_id::text = $1 order by workspace, role, user_id`,
    [workspaceId ?? null],
  )
  return rows
}

interface WantedMember {
  readonly user?: string | undefined
  readonly role?: AppRole | undefined
  /** Its id; default: any. */
  readonly workspace?: string | undefined
}

/** The first member who meets all conditions. */
export async function findMember(db: Queryable, wanted: WantedMember): Promise<Member | undefined> {
  const { rows } = await db.query<Member>('select * from iu_core.fn_member_find($1, $2, $3)', [
    wanted.user ?? null,
    wanted.role ?? null,
    wanted.workspace ?? null,
  ])
  return rows[0]
}

/** Whether this person is a reviewer in any workspace: such a person may also review records without a workspace. */
export async function isReviewerAnywhere(db: Queryable, user: string): Promise<boolean> {
  const { rows } = await db.query(
    `${MEMBERS} where m.user_id::text = $1 and 'review' = any (a.rights) limit 1`,
    [user],
  )
  return rows.length > 0
}

interface NewMember {
  readonly workspaceId: string
  readonly userId?: string | undefined
  readonly role: AppRole
  readonly displayName?: string | undefined
}

/** Adds a member, or changes the role of one. In a user's own table the person must be a member already. */
export async function setMember(db: Queryable, member: NewMember): Promise<Member> {
  const userId = member.userId ?? randomUUID()
  requireSubject(userId)
  await requireFitting(db, userId)
  await db.query('select iu_core.fn_member_set($1, $2, $3, $4)', [
    member.workspaceId,
    userId,
    member.role,
    member.displayName ?? null,
  ])
  const found = (await membersOf(db, member.workspaceId)).find((candidate) => candidate.user_id === userId)
  if (!found) throw new StagedoorError('not_found', { what: `member ${userId} in your workspace_members` })
  return found
}

/** Returns how many live machine tokens that they created in the workspace go on working. */
export async function deleteMember(db: Queryable, workspaceId: string, userId: string): Promise<number> {
  const { rows } = await db.query<{ tokens: number }>('select iu_core.fn_member_delete($1, $2) as tokens', [
    workspaceId,
    userId,
  ])
  return rows[0]!.tokens
}

/** As a member of the workspace, or as the back end. */
export async function membersOf(db: Queryable, workspaceId: string): Promise<Member[]> {
  const { rows } = await db.query<Member>('select * from iu_core.fn_member_list($1)', [workspaceId])
  return rows
}

/** False where public.workspace_members is a table of the user's own: then members are added and removed there. */
export async function managesMembers(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ ours: boolean }>(
    `select pg_get_userbyid(relowner) = 'workflow_admin' as ours from pg_class where oid = to_regclass('public.workspace_members')`,
  )
  return rows[0]?.ours ?? false
}

export type Right = 'read' | 'stage' | 'operate' | 'review' | 'administer'

/** Throws if the caller has the right in no workspace, or not in the named one. An early check: the database checks every statement. */
export async function requireRightAnywhere(
  db: Queryable,
  right: Right,
  workspace: string | undefined,
  role: string,
): Promise<void> {
  const { rows } = await db.query<{ may: boolean }>(
    `select iu_core.fn_caller_is_service() or exists (
       select from iu_core.fn_my_memberships() m join iu_core.app_role a on a.app_role = m.app_role
        where $1 = any (a.rights) and ($2::text is null or m.workspace_id::text = lower($2))
          and ($3 <> 'stagedoor_agent'
               or exists (select from iu_core.app_role g where g.app_role = 'agent' and $1 = any (g.rights)))) as may`,
    [right, workspace ?? null, role],
  )
  if (rows[0]!.may) return
  const where = workspace === undefined ? 'any workspace' : `the workspace ${workspace}`
  throw new StagedoorError('permission_denied', {
    reason: `you do not have the right to ${right} in ${where}`,
  })
}

/** Whether it can be the subject of a token: a UUID, auth0|…, an e-mail address; no control characters, no half surrogate pairs. */
export function isSubject(text: string): boolean {
  return text !== '' && [...text].length <= MAX_SUBJECT_CHARACTERS && !/[\p{Cc}\p{Cs}]/u.test(text)
}

const MAX_SUBJECT_CHARACTERS = 255

/** A value that cannot be in a token cannot be a member's id. */
function requireSubject(userId: string): void {
  if (isSubject(userId)) return
  throw new StagedoorError('argument_invalid', {
    reason: `The id of a member is the subject (sub) of their tokens: up to ${MAX_SUBJECT_CHARACTERS} characters, no control characters`,
  })
}

/** The user's own members table may have UUIDs as ids. */
async function requireFitting(db: Queryable, userId: string): Promise<void> {
  const { rows } = await db.query<{ type: string }>(
    `select atttypid::regtype::text as type from pg_attribute
      where attrelid = 'public.workspace_members'::regclass and attname = 'user_id'`,
  )
  if (rows[0]?.type !== 'uuid' || UUID.test(userId)) return
  throw new StagedoorError('argument_invalid', {
    reason: `public.workspace_members.user_id is a uuid in this database, and ${userId} is none. Name the member by the uuid that is the subject (sub) of their tokens`,
  })
}

export const Me = shape('Me', {
  actor: Type.String({ description: 'who the database says you are' }),
  name: nullable(Type.String({ description: 'how people call you' })),
  role: Type.String({ description: 'the database role of your requests' }),
  workspaces: Type.Array(
    shape('Membership', {
      id: Text,
      name: TextOrNull,
      role: Type.Enum([...APP_ROLES]),
      rights: Type.Array(Text, { description: 'read, stage, operate, review, administer' }),
    }),
  ),
})
export type Me = Row<typeof Me>

/** Who the database says the caller is. */
export async function whoAmI(db: Queryable): Promise<Me> {
  const { rows } = await db.query<Me>(
    `select iu_core.fn_actor() as actor, iu_core.fn_caller_role() as role,
            (select max(m.display_name) from iu_core.fn_my_memberships() m) as name,
            coalesce((select json_agg(json_build_object('id', m.workspace_id, 'name', m.name, 'role', m.app_role, 'rights', a.rights)
                                      order by m.name)
                        from iu_core.fn_my_memberships() m
                        join iu_core.app_role a on a.app_role = m.app_role), '[]') as workspaces`,
  )
  return rows[0]!
}

/** Under the caller's own rights: of workspaces that they are not in, nobody is named. An agent is said to be one. */
export async function actorNames(
  db: Queryable,
  actors: readonly (string | null)[],
): Promise<Record<string, string>> {
  const asked = [...new Set(actors.filter((actor) => actor !== null))]
  if (asked.length === 0) return {}
  const allowed = await db.query<{ allowed: boolean }>(
    `select has_table_privilege('public.workspace_members', 'select') as allowed`,
  )
  if (!allowed.rows[0]!.allowed) return {}
  const tokens = asked.filter((actor) => actor.startsWith('token:'))
  const machines =
    tokens.length === 0
      ? []
      : (
          await db.query<{ actor: string; name: string }>(
            'select subject as actor, name from iu_core.fn_my_token_names($1)',
            [tokens],
          )
        ).rows
  // A user's own table may lack our column.
  const { rows } = await db.query<{ actor: string; name: string }>(
    `select m.user_id::text as actor,
            min(to_jsonb(m.*) ->> 'display_name')
              || case when bool_and(to_jsonb(m.*) ->> 'role' = 'agent') and min(to_jsonb(m.*) ->> 'display_name') !~* '\\magent\\M' then ' (agent)' else '' end as name
       from public.workspace_members m
      where m.user_id::text = any ($1) and to_jsonb(m.*) ->> 'display_name' is not null group by 1`,
    [asked],
  )
  return Object.fromEntries([...rows, ...machines].map(({ actor, name }) => [actor, name]))
}

/** As service_role: the verified address that came with a sign-in. */
export async function keepEmail(db: Queryable, subject: string, email: string | undefined): Promise<void> {
  await db.query('select iu_core.fn_member_email_set($1, $2)', [subject, email ?? null])
}

/** Addresses of members as far as the caller may see them: their own, and those of whom they administer. */
export async function emailsOf(db: Queryable, subjects: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await db.query<{ subject: string; email: string }>(
    'select subject, email from iu_core.member_email where subject = any ($1)',
    [subjects],
  )
  return new Map(rows.map(({ subject, email }) => [subject, email]))
}
