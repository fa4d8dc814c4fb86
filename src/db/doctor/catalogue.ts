/**
 * What stands in a database, read from its catalogue: the same queries make the manifest and look at a live
 * database. Nothing here needs a right, and every text is the same on every supported version.
 */
import type pg from 'pg'

export type EntryKind =
  | 'schema'
  | 'table'
  | 'column'
  | 'constraint'
  | 'index'
  | 'policy'
  | 'trigger'
  | 'sequence'
  | 'type'
  | 'view'
  | 'function'
  | 'grant'

export type Attribute = string | boolean | readonly string[]

export interface Entry {
  readonly kind: EntryKind
  /** What it belongs to, as `table iu_core.event_outbox`. */
  readonly of?: string
  /** Qualified, or within `of` plain. Of a grant: who has it. */
  readonly name: string
  /** False and empty ones are left out. */
  readonly attributes: Readonly<Record<string, Attribute>>
}

export const OWNER = 'workflow_admin'
export const OUR_SCHEMAS: readonly string[] = ['iu_core', 'noetl']

/** The server shows names and constants by these settings; a login may have others. */
export const FIXED_SETTINGS = `set local search_path = pg_catalog, pg_temp; set local quote_all_identifiers = off;
  set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'; set local intervalstyle = 'postgres'`

/**
 * Everything of ours but partitions, which come and go with time. In `public` that is what the owner of ours
 * owns, and what `publicNames` names whoever owns it. Wants a transaction.
 */
export async function readCatalogue(
  client: pg.Client,
  publicNames: readonly string[] = [],
): Promise<Entry[]> {
  await client.query(FIXED_SETTINGS)
  const { rows } = await client.query<Row>(QUERY, [OUR_SCHEMAS, publicNames])
  return rows.map(entryOf)
}

interface Row {
  readonly kind: EntryKind
  readonly of: string | null
  readonly name: string
  readonly attributes: Record<string, Attribute | null>
}

function entryOf({ kind, of, name, attributes }: Row): Entry {
  const present = Object.entries(attributes).filter(([, value]) => value !== null && value !== false)
  return {
    kind,
    ...(of !== null && { of }),
    name,
    attributes: Object.fromEntries(present) as Record<string, Attribute>,
  }
}

const inScope = (name: string, owner: string) => `(
  n.nspname = any ($1)
  or n.nspname = 'public' and (pg_get_userbyid(${owner}) = '${OWNER}' or ${name} = any ($2)))`

const PARTS = {
  schemas: `
    select 'schema', null, quote_ident(nspname), jsonb_build_object('owner', pg_get_userbyid(nspowner))
      from pg_namespace where nspname = any ($1)`,

  tables: `
    select 'table', null, name, jsonb_build_object(
             'owner', pg_get_userbyid(relowner), 'rls', relrowsecurity, 'forcedRls', relforcerowsecurity,
             'unlogged', relpersistence = 'u', 'foreign', relkind = 'f',
             'partitionedBy', case relkind when 'p' then pg_get_partkeydef(oid) end)
      from relation where relkind in ('r', 'p', 'f')`,

  columns: `
    select 'column', t.label, quote_ident(a.attname), jsonb_build_object(
             'type', format_type(a.atttypid, a.atttypmod), 'notNull', a.attnotnull,
             'default', case a.attgenerated when '' then pg_get_expr(d.adbin, d.adrelid) end,
             'generated', case when a.attgenerated <> '' then pg_get_expr(d.adbin, d.adrelid) end,
             'identity', case a.attidentity when 'a' then 'always' when 'd' then 'by default' end)
      from relation t
      join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where t.relkind in ('r', 'p', 'f')`,

  // 18 lists NOT NULL as constraints, too ('n'); the columns say it on every version.
  constraints: `
    select 'constraint', t.label, quote_ident(c.conname), jsonb_build_object(
             'definition', pg_get_constraintdef(c.oid),
             'disabled', exists (select from pg_trigger g where g.tgconstraint = c.oid and g.tgenabled = 'D'))
      from relation t join pg_constraint c on c.conrelid = t.oid
     where c.contype in ('c', 'f', 'p', 'u', 'x')`,

  // Those behind a constraint come and go with it.
  indexes: `
    select 'index', t.label, i.name, jsonb_build_object('definition', pg_get_indexdef(i.oid))
      from relation i join pg_index x on x.indexrelid = i.oid join relation t on t.oid = x.indrelid
     where not exists (select from pg_constraint c where c.conindid = i.oid and c.contype in ('p', 'u', 'x'))`,

  policies: `
    select 'policy', t.label, quote_ident(p.polname), jsonb_build_object(
             'command', case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update'
                                      when 'd' then 'delete' else 'all' end,
             'restrictive', not p.polpermissive,
             'roles', (select jsonb_agg(role order by role collate "C") from (
                         select case r when 0 then 'public' else quote_ident(pg_get_userbyid(r)) end as role
                           from unnest(p.polroles) as r) as named),
             'using', pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid))
      from relation t join pg_policy p on p.polrelid = t.oid`,

  triggers: `
    select 'trigger', t.label, quote_ident(g.tgname), jsonb_build_object(
             'definition', pg_get_triggerdef(g.oid),
             'fires', case g.tgenabled when 'D' then 'never' when 'R' then 'on replicas' when 'A' then 'always' end)
      from relation t join pg_trigger g on g.tgrelid = t.oid
     where not g.tgisinternal`,

  sequences: `
    select 'sequence', null, r.name, jsonb_build_object(
             'owner', pg_get_userbyid(r.relowner), 'type', format_type(s.seqtypid, null),
             'increment', s.seqincrement::text, 'cycle', s.seqcycle,
             'range', s.seqmin || ' to ' || s.seqmax,
             'column', (select format('%s.%I', d.refobjid::regclass, a.attname)
                          from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
                         where d.classid = 'pg_class'::regclass and d.objid = r.oid and d.deptype in ('a', 'i')))
      from relation r join pg_sequence s on s.seqrelid = r.oid`,

  types: `
    select 'type', null, q.name, jsonb_build_object(
             'owner', pg_get_userbyid(t.typowner),
             'labels', (select jsonb_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid),
             'base', case t.typtype when 'd' then format_type(t.typbasetype, t.typtypmod) end)
      from pg_type t join pg_namespace n on n.oid = t.typnamespace,
           format('%I.%I', n.nspname, t.typname) as q (name)
     where t.typtype in ('e', 'd') and ${inScope('q.name', 't.typowner')}`,

  // The text of a view differs between versions; what was applied is compared through iu_core.schema_routine.
  views: `
    select 'view', null, v.name, jsonb_build_object(
             'owner', pg_get_userbyid(v.relowner), 'materialized', v.relkind = 'm',
             'options', to_jsonb(v.reloptions),
             'columns', (select jsonb_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)) order by a.attnum)
                           from pg_attribute a where a.attrelid = v.oid and a.attnum > 0 and not a.attisdropped))
      from relation v where v.relkind in ('v', 'm')`,

  // Line ends as in migrate/files.ts: a clone on Windows has the same functions.
  functions: `
    select 'function', null, p.name, jsonb_build_object(
             'owner', pg_get_userbyid(p.proowner), 'arguments', nullif(pg_get_function_arguments(p.oid), ''),
             'returns', pg_get_function_result(p.oid), 'language', (select lanname from pg_language l where l.oid = p.prolang),
             'definer', p.prosecdef, 'strict', p.proisstrict, 'leakproof', p.proleakproof,
             'volatility', case p.provolatile when 'i' then 'immutable' when 's' then 'stable' end,
             'parallel', case p.proparallel when 's' then 'safe' when 'r' then 'restricted' end,
             'settings', to_jsonb(p.proconfig),
             'source', encode(sha256(convert_to(replace(p.prosrc, e'\\r\\n', e'\\n'), 'UTF8')), 'hex'))
      from routine p`,

  // The owner's own rights are left out: it has them all, and 17 added one (MAINTAIN).
  grants: `
    select 'grant', label, grantee, jsonb_build_object('privileges', jsonb_agg(privilege order by privilege collate "C"))
      from (select o.label,
                   case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as grantee,
                   a.privilege_type || o.suffix || case when a.is_grantable then ' with grant option' else '' end as privilege
              from (select 'schema ' || quote_ident(nspname) as label, '' as suffix, nspowner as owner,
                           coalesce(nspacl, acldefault('n', nspowner)) as acl
                      from pg_namespace where nspname = any ($1)
                    union all
                    select label, '', relowner,
                           coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))
                      from relation where relkind in ('r', 'p', 'f', 'v', 'm', 'S')
                    union all
                    select r.label, format(' (%I)', a.attname), r.relowner, a.attacl
                      from relation r join pg_attribute a on a.attrelid = r.oid and not a.attisdropped
                     where a.attacl is not null
                    union all
                    select 'function ' || name, '', proowner, coalesce(proacl, acldefault('f', proowner))
                      from routine) as o,
                   aclexplode(o.acl) as a
             where a.grantee <> o.owner) as granted
     group by label, grantee`,
}

const QUERY = `
  with relation as (
    select c.*, q.name,
           case when c.relkind = 'S' then 'sequence ' when c.relkind in ('v', 'm') then 'view ' else 'table ' end
           || q.name as label
      from pg_class c join pg_namespace n on n.oid = c.relnamespace,
           format('%I.%I', n.nspname, c.relname) as q (name)
     where not c.relispartition and ${inScope('q.name', 'c.relowner')}),
  routine as (
    select p.*, q.name
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace,
           cast(p.oid::regprocedure as text) as q (name)
     where ${inScope('q.name', 'p.proowner')})
  select * from (${Object.values(PARTS).join('\n union all ')}) as entry (kind, of, name, attributes)`
