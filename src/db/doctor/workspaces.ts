/** public.workspaces and public.workspace_members, where they are the user's own: only what we need of them. */
import type pg from 'pg'
import { OWNER } from './catalogue.ts'
import type { Finding } from './finding.ts'

export const WORKSPACE_TABLES: Readonly<Record<string, readonly string[]>> = {
  'public.workspaces': ['id', 'name'],
  'public.workspace_members': ['workspace_id', 'user_id'],
}

export interface ForeignTable {
  readonly name: string
  readonly owner: string
  readonly columns: readonly string[]
  /** The whole row, for fn_member_role looks at columns that we do not know; and open to foreign keys of ours. */
  readonly readable: boolean
  /** Row level security does not apply to the owner of ours, or a policy lets it see every row. */
  readonly everyRow: boolean
  readonly restrictive: readonly string[]
}

export async function foreignWorkspaceTables(client: pg.Client): Promise<ForeignTable[]> {
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

export function examineForeignTable(table: ForeignTable): Finding[] {
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
