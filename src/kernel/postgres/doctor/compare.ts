/** Compares the objects that this version expects (sql/manifest.json) with those of a database, and says how they differ. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { StagedoorError } from '../../errors.ts'
import { SQL_FOLDER, type SqlFiles } from '../migrate/files.ts'
import type { Finding, FindingKind } from './doctor.ts'
import { grantStatements, Remedies, revokeStatement } from './remedy.ts'

export interface Comparison {
  readonly expected: readonly Entry[]
  readonly live: readonly Entry[]
  readonly files: SqlFiles
}

const KIND_OF_ATTRIBUTE: Partial<Record<string, FindingKind>> = {
  owner: 'owner',
  rls: 'rls',
  forcedRls: 'rls',
}

export function compareCatalogues({ expected, live, files }: Comparison): Finding[] {
  const remedies = new Remedies(files)
  const byKey = new Map(live.map((entry) => [keyOf(entry), entry]))
  const known = new Set(expected.map(keyOf))
  const missing = expected.filter((entry) => !byKey.has(keyOf(entry)))
  const ours = new Set(expected.map(labelOf))
  const extra = live.filter((entry) => !known.has(keyOf(entry)) && !isTheirsToAdd(entry, ours))
  // The columns, grants and so on of a missing or unexpected object are not reported as well.
  const reported = new Set([...missing, ...extra].map(labelOf))
  const ownerIsNotReported = (entry: Entry) => entry.of === undefined || !reported.has(entry.of)
  const findings = [
    ...missing.filter(ownerIsNotReported).map((entry) => missingFinding(entry, remedies)),
    ...expected.flatMap((entry) => {
      const found = byKey.get(keyOf(entry))
      return found ? differences(entry, found, remedies) : []
    }),
    ...extra.filter(ownerIsNotReported).map((entry) => unexpectedFinding(entry, remedies)),
  ]
  // In the order of repair: a change of the owner changes grants.
  return [
    ...findings.filter(({ kind }) => kind === 'owner'),
    ...findings.filter(({ kind }) => kind !== 'owner'),
  ]
}

/** `column rights of table iu_core.app_role` */
function labelOf(entry: Entry): string {
  return entry.of === undefined ? `${entry.kind} ${entry.name}` : `${entry.kind} ${entry.name} of ${entry.of}`
}

/** Users may add columns, indexes and triggers to our tables in `public`, but no grants or policies. Tables of packs are the users'. */
function isTheirsToAdd(entry: Entry, ours: ReadonlySet<string>): boolean {
  if (!(entry.of ?? labelOf(entry)).includes(' public.')) return false
  const isRight = entry.kind === 'policy' || entry.kind === 'grant'
  return !isRight || (entry.of !== undefined && !ours.has(entry.of))
}

function keyOf(entry: Entry): string {
  return JSON.stringify([entry.kind, entry.of, entry.name])
}

function missingFinding(entry: Entry, remedies: Remedies): Finding {
  if (entry.kind === 'grant') return grantFinding(entry, privilegesOf(entry), [])
  return {
    kind: 'missing',
    object: labelOf(entry),
    problem: 'does not exist',
    remedy: remedies.missing(entry),
  }
}

function unexpectedFinding(entry: Entry, remedies: Remedies): Finding {
  if (entry.kind === 'grant') return grantFinding(entry, [], privilegesOf(entry))
  return {
    kind: 'unexpected',
    object: labelOf(entry),
    problem: 'is not part of Stagedoor',
    remedy: remedies.unexpected(entry),
  }
}

function differences(entry: Entry, live: Entry, remedies: Remedies): Finding[] {
  if (entry.kind === 'grant') {
    const lacking = privilegesOf(entry).filter((privilege) => !privilegesOf(live).includes(privilege))
    const excess = privilegesOf(live).filter((privilege) => !privilegesOf(entry).includes(privilege))
    return lacking.length + excess.length > 0 ? [grantFinding(entry, lacking, excess)] : []
  }
  const byForm = acceptedForms(entry).map((form) => differingAttributes(form, live))
  const fewest = byForm.reduce((best, form) => (form.length < best.length ? form : best))
  return fewest.map((attribute) => ({
    kind: KIND_OF_ATTRIBUTE[attribute] ?? 'drifted',
    object: labelOf(entry),
    problem: problemOf(attribute, entry.attributes[attribute], live.attributes[attribute]),
    remedy: attribute === 'owner' ? remedies.owner(entry) : remedies.drifted(entry, attribute),
  }))
}

function differingAttributes(expected: Entry, live: Entry): string[] {
  const names = new Set([...Object.keys(expected.attributes), ...Object.keys(live.attributes)])
  return [...names].filter(
    (name) => attributeText(expected.attributes[name]) !== attributeText(live.attributes[name]),
  )
}

function problemOf(attribute: string, expected: Attribute | undefined, live: Attribute | undefined): string {
  switch (attribute) {
    case 'owner':
      return `belongs to ${attributeText(live)} instead of ${attributeText(expected)}`
    case 'rls':
      return live ? 'has row level security on' : 'has row level security off'
    case 'forcedRls':
      return live ? 'forces row level security on its owner, too' : 'does not force row level security'
    case 'disabled':
      return 'is switched off'
    case 'source':
      return 'has another body than the one that was applied'
    case 'fires':
      return `fires ${attributeText(live) || 'normally'} instead of ${attributeText(expected) || 'normally'}`
    default:
      return `has as ${words(attribute)} ${attributeText(live) || 'nothing'} instead of ${attributeText(expected) || 'nothing'}`
  }
}

function grantFinding(entry: Entry, lacking: readonly string[], excess: readonly string[]): Finding {
  const problems = [
    ...(lacking.length > 0 ? [`lacks ${lacking.join(', ')} for ${entry.name}`] : []),
    ...(excess.length > 0 ? [`gives ${excess.join(', ')} to ${entry.name}`] : []),
  ]
  const statements = [
    // First, because REVOKE also removes what the second statement grants again without the grant option.
    ...(excess.length > 0 ? [revokeStatement(entry, excess)] : []),
    ...(lacking.length > 0 ? [grantStatements(entry, lacking)] : []),
  ]
  return {
    kind: 'grant',
    object: entry.of ?? '',
    problem: problems.join(' and '),
    remedy: statements.join(' '),
  }
}

function privilegesOf(entry: Entry): readonly string[] {
  return entry.attributes.privileges as readonly string[]
}

function attributeText(value: Attribute | undefined): string {
  if (value === undefined || value === false) return ''
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** notNull → not null */
function words(attribute: string): string {
  return attribute.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

// sql/manifest.json: the database that doctor expects, one object a line.

/** Made from a freshly migrated database on the newest PostgreSQL. */
export async function makeManifest(client: pg.Client): Promise<string> {
  await client.query('begin isolation level repeatable read read only')
  try {
    return write(await readCatalogue(client))
  } finally {
    await client.query('rollback')
  }
}

export function readManifest(file: string = join(SQL_FOLDER, 'manifest.json')): Entry[] {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const reason = `sql/manifest.json cannot be read (${(error as Error).message})`
    throw new StagedoorError('internal', { reason }, { cause: error })
  }
}

function write(entries: readonly Entry[]): string {
  const lines = entries.map(({ attributes, ...identity }) => {
    const { kind, of, name } = identity
    const sorted = Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => order(a, b)))
    return { key: [kind, of ?? '', name], text: JSON.stringify({ kind, of, name, ...sorted }) }
  })
  lines.sort((a, b) => a.key.reduce((result, part, index) => result || order(part, b.key[index]!), 0))
  return `[\n${lines.map((line) => line.text).join(',\n')}\n]\n`
}

function parse(text: string): Entry[] {
  const lines = JSON.parse(text) as (Pick<Entry, 'kind' | 'of' | 'name'> & Entry['attributes'])[]
  return lines.map(({ kind, of, name, ...attributes }) => ({
    kind,
    ...(of !== undefined && { of }),
    name,
    attributes: attributes as Entry['attributes'],
  }))
}

/** By code unit: the file must not depend on anybody's locale. */
function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

// The objects of a database, read from pg_catalog. The same queries create the manifest and examine a database. They need no
// privileges, and every text that they return is the same on every supported version.

type EntryKind =
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

type Attribute = string | boolean | readonly string[]

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

/** How PostgreSQL writes names and constants depends on these settings, which a login may have changed. */
const FIXED_SETTINGS = `set local search_path = pg_catalog, pg_temp; set local quote_all_identifiers = off;
  set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'; set local intervalstyle = 'postgres'`

/**
 * All our objects except partitions, which maintenance creates and drops. In `public`: the objects that workflow_admin owns, and
 * those in `publicNames`, whatever their owner. Must run in a transaction.
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

  // PostgreSQL 18 also lists NOT NULL as constraints ('n'); the columns have it on every version.
  constraints: `
    select 'constraint', t.label, quote_ident(c.conname), jsonb_build_object(
             'definition', pg_get_constraintdef(c.oid),
             'disabled', exists (select from pg_trigger g where g.tgconstraint = c.oid and g.tgenabled = 'D'))
      from relation t join pg_constraint c on c.conrelid = t.oid
     where c.contype in ('c', 'f', 'p', 'u', 'x')`,

  // Not the indexes of constraints: they are compared as constraints.
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

  // Without the owner's privileges: it has them all, and PostgreSQL 17 added one (MAINTAIN).
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

// Allowed differences between servers.

/**
 * iu_core.fn_time_uuid() calls uuidv7() where PostgreSQL has it, and computes the UUID itself elsewhere (0001_foundation). A database
 * that was upgraded to 18 keeps the second form, so both are accepted on every version.
 */
const WRITTEN_OUT: Entry['attributes'] = {
  language: 'plpgsql',
  settings: ['search_path=pg_catalog, pg_temp'],
  source: '5b236589b54048ef2dee077aad01cf90f34d5608b8bbd3330eff26b4e8ff5832',
}

function acceptedForms(entry: Entry): [Entry, ...Entry[]] {
  if (entry.kind !== 'function' || entry.name !== 'iu_core.fn_time_uuid()') return [entry]
  return [entry, { ...entry, attributes: { ...entry.attributes, ...WRITTEN_OUT } }]
}

const MAINTAIN_SINCE = 170000

/** What the manifest, made on the newest PostgreSQL, expects of an older one. */
export function entriesForServer(entries: readonly Entry[], version: number): Entry[] {
  if (version >= MAINTAIN_SINCE) return [...entries]
  return entries.map((entry) => {
    const { privileges } = entry.attributes
    if (entry.kind !== 'grant' || !Array.isArray(privileges)) return entry
    const known = privileges.filter((privilege: string) => !privilege.startsWith('MAINTAIN'))
    return { ...entry, attributes: { ...entry.attributes, privileges: known } }
  })
}
