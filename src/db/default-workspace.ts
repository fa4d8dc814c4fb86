/** The embedded server has one workspace from the start, with a member for each application role to sign in as. */
import { randomUUID } from 'node:crypto'
import type { Queryable } from './connection.ts'

export const APP_ROLES = ['viewer', 'operator', 'reviewer', 'admin', 'agent'] as const
export type AppRole = (typeof APP_ROLES)[number]

export interface Member {
  readonly workspace_id: string
  readonly workspace: string
  readonly user_id: string
  readonly role: AppRole
  readonly database_role: string
}

export async function ensureDefaultWorkspace(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ id: string }>(
    `insert into public.workspaces (name)
     select 'Default' where not exists (select from public.workspaces)
     returning id`,
  )
  const workspace = rows[0]
  if (!workspace) return
  await db.query(
    `insert into public.workspace_members (workspace_id, user_id, role, display_name)
     select $1, user_id, role, initcap(role) from unnest($2::uuid[], $3::text[]) as m (user_id, role)`,
    [workspace.id, APP_ROLES.map(() => randomUUID()), APP_ROLES],
  )
}

/** The oldest member with that role, for a token to sign in with. */
export async function findMember(db: Queryable, role: AppRole): Promise<Member | undefined> {
  const { rows } = await db.query<Member>(
    `select w.id as workspace_id, w.name as workspace, m.user_id::text, m.role, a.database_role
       from public.workspace_members m
       join public.workspaces w on w.id = m.workspace_id
       join iu_core.app_role a on a.app_role = m.role
      where m.role = $1
      order by m.created_at, m.user_id limit 1`,
    [role],
  )
  return rows[0]
}
