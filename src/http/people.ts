/** What people are called: a list has the ids of whoever acted, and only those say the same thing for ever. */
import { Type } from 'typebox'
import type { Client } from '../db/connection.ts'

export const People = Type.Record(Type.String(), Type.String(), {
  description: 'the names of those who are in it and whom you may see, by their ids',
})

/** Under the caller's own rights: of workspaces that they are not in, nobody is named. */
export async function namesOf(
  client: Client,
  actors: readonly (string | null)[],
): Promise<Record<string, string>> {
  const asked = [...new Set(actors.filter((actor) => actor !== null))]
  if (asked.length === 0) return {}
  const allowed = await client.query<{ allowed: boolean }>(
    `select has_table_privilege('public.workspace_members', 'select') as allowed`,
  )
  if (!allowed.rows[0]!.allowed) return {}
  // A user's own table may lack our column.
  const { rows } = await client.query<{ actor: string; name: string }>(
    `select m.user_id::text as actor, min(to_jsonb(m.*) ->> 'display_name') as name from public.workspace_members m
      where m.user_id::text = any ($1) and to_jsonb(m.*) ->> 'display_name' is not null group by 1`,
    [asked],
  )
  return Object.fromEntries(rows.map(({ actor, name }) => [actor, name]))
}
