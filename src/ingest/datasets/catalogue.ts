/**
 * A table of the user as PostgreSQL's catalogue describes it: its columns, keys, references and defaults, and a bounded sample of
 * its rows. Everything that a dataset for the table can be proposed from; nothing is scanned and nothing is written.
 */
import { StagedoorError } from '../../kernel/errors.ts'
import type { Queryable } from '../../kernel/postgres/connection.ts'
import { quoteName } from '../../kernel/postgres/names.ts'

export interface TableColumn {
  readonly name: string
  /** As format_type writes it: numeric(10,2), character varying(40), text[]. */
  readonly type: string
  /** The type below domains, without limits: numeric, text, int8. */
  readonly base: string
  /** Of the items, where it is an array. */
  readonly items: string | null
  /** Labels of an enum, also of an array of enums. */
  readonly labels: readonly string[] | null
  readonly notNull: boolean
  /** SQL of the default; null: there is none. */
  readonly default: string | null
  readonly identity: 'always' | 'by default' | null
  readonly generated: boolean
  readonly maxLength: number | null
  readonly precision: number | null
  readonly scale: number | null
  readonly comment: string | null
}

export interface TableKey {
  readonly columns: readonly string[]
  readonly primary: boolean
  readonly nullsNotDistinct: boolean
}

/** A column of a table that is referred to, by which a value can be found: unique text. */
export interface LookupColumn {
  readonly column: string
  readonly values: readonly string[]
  /** There are more values than are listed. */
  readonly truncated: boolean
}

export interface TableReference {
  readonly columns: readonly string[]
  /** schema.table, quoted where needed. */
  readonly table: string
  readonly referenced: readonly string[]
  /** Of a reference by one column. */
  readonly lookups: readonly LookupColumn[]
  readonly readable: boolean
}

export interface TableCatalogue {
  /** schema.table, quoted where needed. */
  readonly table: string
  readonly schema: string
  readonly name: string
  readonly kind: 'table' | 'partitioned' | 'view' | 'materialized view' | 'foreign' | 'other'
  readonly comment: string | null
  /** The estimate of the planner; -1: never analysed. */
  readonly rowEstimate: number
  readonly columns: readonly TableColumn[]
  /** Unique indexes without a condition or an expression, the primary key first. */
  readonly keys: readonly TableKey[]
  readonly references: readonly TableReference[]
  /** Values that columns have now, by column; of at most MAX_SAMPLE rows. Empty where the table may not be read. */
  readonly samples: Readonly<Record<string, readonly string[]>>
  /** Whoever asked may read the table and those that it refers to. */
  readonly readable: boolean
}

export const MAX_SAMPLE = 500
const MAX_LOOKUP_VALUES = 2_000
const MAX_LOOKUP_COLUMNS = 5
/** A sample of a foreign table or of a table without rights is not worth an error. */
const SAMPLE_TIMEOUT = '3s'

/** `named` is schema.table as in SQL; without a schema it is looked for as the search_path says. */
export async function readTable(db: Queryable, named: string): Promise<TableCatalogue> {
  const found = await findTable(db, named)
  const [columns, keys, references] = [
    await readColumns(db, found.oid),
    await readKeys(db, found.oid),
    await readReferences(db, found.oid),
  ]
  const { table, schema, name, kind, comment, row_estimate } = found
  const withLookups: TableReference[] = []
  for (const reference of references)
    withLookups.push({ ...reference, lookups: await lookupsOf(db, reference) })
  return {
    table,
    schema,
    name,
    kind: KINDS[kind] ?? 'other',
    comment,
    rowEstimate: Number(row_estimate),
    columns,
    keys,
    references: withLookups,
    samples: await sampleOf(db, found, columns),
    readable: found.readable && withLookups.every(({ readable }) => readable),
  }
}

const KINDS: Readonly<Record<string, TableCatalogue['kind']>> = {
  r: 'table',
  p: 'partitioned',
  v: 'view',
  m: 'materialized view',
  f: 'foreign',
}

interface FoundTable {
  oid: string
  table: string
  schema: string
  name: string
  kind: string
  comment: string | null
  row_estimate: string
  readable: boolean
}

const RELATION = `select c.oid::text as oid, format('%I.%I', n.nspname, c.relname) as "table", n.nspname as schema, c.relname as name,
    c.relkind::text as kind, obj_description(c.oid, 'pg_class') as comment, c.reltuples::bigint::text as row_estimate,
    has_table_privilege(c.oid, 'select') and has_schema_privilege(n.oid, 'usage') as readable
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace`

/** By the catalogue and not by to_regclass, which needs a right on the schema. */
async function findTable(db: Queryable, named: string): Promise<FoundTable> {
  const parts = await partsOf(db, named)
  const kinds = `c.relkind in ('r', 'p', 'v', 'm', 'f')`
  const hidden = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`
  const { rows } =
    parts.length === 2
      ? await db.query<FoundTable>(`${RELATION} where n.nspname = $1 and c.relname = $2 and ${kinds}`, parts)
      : await db.query<FoundTable>(
          `${RELATION} where c.relname = $1 and ${kinds} and ${hidden}
            order by pg_table_is_visible(c.oid) desc, n.nspname`,
          parts,
        )
  if (rows.length === 1 || (rows.length > 1 && parts.length === 1 && rows[0]!.schema === 'public'))
    return rows[0]!
  if (rows.length > 1)
    throw new StagedoorError('argument_invalid', {
      reason: `There are several tables ${named}; name one: ${rows.map(({ table }) => table).join(', ')}`,
    })
  throw new StagedoorError('argument_invalid', { reason: await noTable(db, named, parts) })
}

async function partsOf(db: Queryable, named: string): Promise<string[]> {
  const { rows } = await db
    .query<{ parts: string[] }>('select parse_ident($1) as parts', [named])
    .catch(() => ({ rows: [] }))
  const parts = rows[0]?.parts ?? []
  if (parts.length === 1 || parts.length === 2) return parts
  throw new StagedoorError('argument_invalid', {
    reason: `${named} is not the name of a table; write schema.table, with quotes as in SQL where a name needs them`,
  })
}

async function noTable(db: Queryable, named: string, parts: readonly string[]): Promise<string> {
  const { rows } = await db.query<{ table: string }>(
    `select format('%I.%I', n.nspname, c.relname) as "table"
       from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_'
        and n.nspname not in ('information_schema', 'iu_core', 'stagedoor')
        and ($1::text is null or n.nspname = $1) order by 1 limit 30`,
    [parts.length === 2 ? parts[0] : null],
  )
  const there = rows.map(({ table }) => table).join(', ')
  return `There is no table ${named}${there ? `; there are: ${there}` : ''}`
}

async function readColumns(db: Queryable, oid: string): Promise<TableColumn[]> {
  const { rows } = await db.query<TableColumn>(
    `with recursive described as (
       select a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attidentity, a.attgenerated,
              pg_get_expr(d.adbin, d.adrelid) as default_sql
         from pg_catalog.pg_attribute a left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
     ), domains as (
       select attnum, atttypid as type, atttypmod as mod, false as domain_not_null from described
       union all
       select x.attnum, t.typbasetype, case when t.typtypmod >= 0 then t.typtypmod else x.mod end, x.domain_not_null or t.typnotnull
         from domains x join pg_catalog.pg_type t on t.oid = x.type where t.typtype = 'd'
     ), based as (
       select x.* from domains x join pg_catalog.pg_type t on t.oid = x.type where t.typtype <> 'd'
     )
     select d.attname as name, format_type(d.atttypid, d.atttypmod) as type,
            t.typname as base, e.typname as items,
            (select array_agg(l.enumlabel::text order by l.enumsortorder) from pg_catalog.pg_enum l
              where l.enumtypid = coalesce(e.oid, t.oid)) as labels,
            d.attnotnull or b.domain_not_null as "notNull",
            case when d.attgenerated = '' then d.default_sql end as default,
            case d.attidentity when 'a' then 'always' when 'd' then 'by default' end as identity,
            d.attgenerated <> '' as generated,
            case when coalesce(e.typname, t.typname) in ('varchar', 'bpchar') and b.mod > 4 then b.mod - 4 end as "maxLength",
            case when coalesce(e.typname, t.typname) = 'numeric' and b.mod > 4 then ((b.mod - 4) >> 16) & 65535 end as precision,
            case when coalesce(e.typname, t.typname) = 'numeric' and b.mod > 4 then (((b.mod - 4) & 2047) # 1024) - 1024 end as scale,
            col_description($1::oid, d.attnum) as comment
       from described d join based b using (attnum) join pg_catalog.pg_type t on t.oid = b.type
       left join pg_catalog.pg_type e on t.typcategory = 'A' and e.oid = t.typelem
      order by d.attnum`,
    [oid],
  )
  return rows
}

async function readKeys(db: Queryable, oid: string): Promise<TableKey[]> {
  const { rows } = await db.query<TableKey>(
    `select array_agg(a.attname::text order by k.place) as columns, i.indisprimary as primary, i.indnullsnotdistinct as "nullsNotDistinct"
       from pg_catalog.pg_index i
       cross join lateral unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as k (attnum, place)
       join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
      group by i.indexrelid, i.indisprimary, i.indnullsnotdistinct
      order by i.indisprimary desc, count(*), min(k.attnum)`,
    [oid],
  )
  return rows
}

async function readReferences(db: Queryable, oid: string): Promise<Omit<TableReference, 'lookups'>[]> {
  const { rows } = await db.query<Omit<TableReference, 'lookups'>>(
    `select array(select a.attname::text from unnest(c.conkey) with ordinality as k (attnum, place)
                    join pg_catalog.pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.attnum order by k.place) as columns,
            format('%I.%I', n.nspname, t.relname) as "table",
            has_table_privilege(t.oid, 'select') and has_schema_privilege(n.oid, 'usage') as readable,
            array(select a.attname::text from unnest(c.confkey) with ordinality as k (attnum, place)
                    join pg_catalog.pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.attnum order by k.place) as referenced
       from pg_catalog.pg_constraint c join pg_catalog.pg_class t on t.oid = c.confrelid
       join pg_catalog.pg_namespace n on n.oid = t.relnamespace
      where c.conrelid = $1::oid and c.contype = 'f' order by c.conname`,
    [oid],
  )
  return rows
}

/** Unique text columns of the table that is referred to, with their values. */
async function lookupsOf(
  db: Queryable,
  { table, referenced, columns }: Omit<TableReference, 'lookups'>,
): Promise<LookupColumn[]> {
  if (columns.length !== 1) return []
  const { rows } = await db.query<{ column: string; readable: boolean }>(
    `select distinct a.attname::text as column, has_table_privilege(i.indrelid, 'select') and has_schema_privilege(n.oid, 'usage') as readable
       from pg_catalog.pg_class t join pg_catalog.pg_namespace n on n.oid = t.relnamespace
       join pg_catalog.pg_index i on i.indrelid = t.oid
       join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
       join pg_catalog.pg_type y on y.oid = a.atttypid
      where format('%I.%I', n.nspname, t.relname) = $1 and i.indisunique and i.indisvalid and i.indnkeyatts = 1
        and i.indpred is null and i.indexprs is null and y.typcategory = 'S' and a.attname <> all ($2::text[])
      order by 1 limit ${MAX_LOOKUP_COLUMNS}`,
    [table, referenced],
  )
  const found: LookupColumn[] = []
  for (const { column, readable } of rows) {
    const values = readable ? await valuesOf(db, table, column) : []
    found.push({
      column,
      values: values.slice(0, MAX_LOOKUP_VALUES),
      truncated: values.length > MAX_LOOKUP_VALUES,
    })
  }
  return found
}

async function valuesOf(db: Queryable, table: string, column: string): Promise<string[]> {
  const { rows } = await bounded<{ value: string }>(
    db,
    `select ${quoteName(column)}::text as value from ${table} where ${quoteName(column)} is not null limit ${MAX_LOOKUP_VALUES + 1}`,
  )
  return rows.map(({ value }) => value)
}

/** The first rows in the order in which they lie: no scan, no sort. */
async function sampleOf(
  db: Queryable,
  { table, readable, kind }: FoundTable,
  columns: readonly TableColumn[],
): Promise<Record<string, string[]>> {
  const wanted = columns.slice(0, 200)
  if (!readable || kind === 'v' || kind === 'f' || wanted.length === 0) return {}
  const list = wanted.map(({ name }, index) => `left(${quoteName(name)}::text, 200) as c${index}`).join(', ')
  const { rows } = await bounded<Record<string, string | null>>(
    db,
    `select ${list} from ${table} limit ${MAX_SAMPLE}`,
  )
  return Object.fromEntries(
    wanted.map(({ name }, index) => [
      name,
      [...new Set(rows.map((row) => row[`c${index}`]).filter((value) => value != null))] as string[],
    ]),
  )
}

/** Row security or a slow table: then without a sample. The transaction around it stays usable. */
async function bounded<Row extends object>(db: Queryable, sql: string): Promise<{ rows: Row[] }> {
  await db.query('savepoint stagedoor_sample')
  try {
    await db.query(`set local statement_timeout = '${SAMPLE_TIMEOUT}'`)
    const { rows } = await db.query<Row>(sql)
    await db.query('rollback to savepoint stagedoor_sample')
    return { rows }
  } catch {
    await db.query('rollback to savepoint stagedoor_sample')
    return { rows: [] }
  }
}
