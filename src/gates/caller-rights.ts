/** What somebody may do in a workspace, for buttons and messages: the database decides. */
import type { Client } from '../kernel/postgres/connection.ts'
import type { Caller } from '../kernel/postgres/transaction.ts'
import { nullable, type Row, shape, Type } from '../kernel/schema.ts'
import { WRITES_GATE } from './gates.ts'

export interface CallerRights {
  readonly actor: string
  readonly rights: readonly string[]
  readonly gateOpen: boolean
  /** Of the token. */
  readonly readOnly: boolean
}

/** An agent's token has an agent's rights only, whatever other roles its subject has. */
export async function readCallerRights(
  client: Client,
  workspace: string | null,
  { role, readOnly = false }: Pick<Caller, 'role' | 'readOnly'>,
): Promise<CallerRights> {
  const { rows } = await client.query<Omit<CallerRights, 'readOnly'>>(
    `select iu_core.fn_actor() as actor,
            exists (select from iu_core.dot_config where key = $3 and value = 'true') as "gateOpen",
            case when iu_core.fn_caller_is_service() then array['read', 'stage', 'operate', 'review']
                 else array(select unnest(a.rights) from iu_core.fn_my_memberships() m
                              join iu_core.app_role a on a.app_role = m.app_role where m.workspace_id = $1
                            intersect
                            select unnest(a.rights) from iu_core.app_role a
                             where $2 <> 'stagedoor_agent' or a.app_role = 'agent') end as rights`,
    [workspace, role, WRITES_GATE],
  )
  return { ...rows[0]!, readOnly }
}

/** Whether something may be done now, and why not. */
export const Permission = shape('Permission', {
  allowed: Type.Boolean(),
  reason: nullable(Type.String({ description: 'why not' })),
})
export type Permission = Row<typeof Permission>

/** The first reason counts. */
export function permission(...reasons: (string | false)[]): Permission {
  const reason = reasons.find((candidate) => candidate !== false)
  return { allowed: reason === undefined, reason: reason || null }
}
