/**
 * What the columns of a dataset's tables can hold, read from the catalogue when a file is read and kept with its reading,
 * so that a line that someone corrects is judged by the same limits. A table that is altered later is met by the plan.
 */

import type { Queryable } from '../../kernel/postgres/connection.ts'
import { splitTableName } from '../../kernel/postgres/names.ts'
import type { Dataset, RowType } from './dataset.ts'

export interface ColumnLimit {
  /** schema.table.column, for people. */
  readonly column: string
  /** Of its type, a domain's is that of its base type; of an array, that of its items. */
  readonly kind:
    | 'text'
    | 'integer'
    | 'numeric'
    | 'uuid'
    | 'enum'
    | 'timestamptz'
    | 'timestamp'
    | 'date'
    | 'other'
  readonly array?: true
  /** varchar(n), char(n) */
  readonly maxLength?: number
  /** numeric(p, s) */
  readonly precision?: number
  readonly scale?: number
  /** smallint, integer, bigint */
  readonly bytes?: 2 | 4 | 8
  readonly labels?: readonly string[]
  /** NOT NULL, and nothing fills it in. */
  readonly notNull?: true
}

/** By field: one for each column that it fills and that has a limit. */
export type ColumnLimits = Readonly<Record<string, readonly ColumnLimit[]>>

interface CatalogueColumn {
  table: number
  column: string
  shown: string
  type: string
  type_modifier: number
  is_array: boolean
  labels: string[] | null
  needs_value: boolean
}

/** Without privileges on the tables: the catalogue is readable for everyone, and a name is not resolved by the search path. */
const COLUMNS_SQL = `
  with recursive wanted as (
    select * from jsonb_to_recordset($1) as w ("table" integer, schema_name text, table_name text, column_name text)
  ), base as (
    select w."table", w.column_name, format('%s.%s.%s', w.schema_name, w.table_name, w.column_name) as shown,
           a.atttypid as type_id, a.atttypmod as type_modifier, a.attnotnull as not_null,
           -- A trigger may fill it in. A default does not: an empty cell is written as NULL.
           exists (select from pg_catalog.pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal and g.tgtype & 7 = 7) as is_filled
      from wanted w
      join pg_catalog.pg_namespace n on n.nspname = w.schema_name
      join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = w.table_name
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = w.column_name and a.attnum > 0 and not a.attisdropped
    union all
    select b."table", b.column_name, b.shown, t.typbasetype,
           case when t.typtypmod >= 0 then t.typtypmod else b.type_modifier end, b.not_null or t.typnotnull,
           b.is_filled
      from base b join pg_catalog.pg_type t on t.oid = b.type_id and t.typtype = 'd'
  )
  select b."table", b.column_name as "column", b.shown, coalesce(e.typname, t.typname)::text as type, b.type_modifier,
         e.oid is not null as is_array, b.not_null and not b.is_filled as needs_value,
         (select array_agg(l.enumlabel::text order by l.enumsortorder) from pg_catalog.pg_enum l
           where l.enumtypid = coalesce(e.oid, t.oid)) as labels
    from base b
    join pg_catalog.pg_type t on t.oid = b.type_id and t.typtype <> 'd'
    left join pg_catalog.pg_type e on e.oid = t.typelem and t.typcategory = 'A'`

/** Of the row types that a file holds: the columns of others get nothing from it. */
export async function readColumnLimits(
  db: Queryable,
  dataset: Dataset,
  names: readonly string[],
): Promise<ColumnLimits> {
  const rowTypes = dataset.rows.filter(({ name }) => names.includes(name))
  const wanted = rowTypes.flatMap((row, table) => {
    const [schema_name, table_name] = splitTableName(row.target)
    return fieldColumns(dataset, row).map(([column_name]) => ({
      table,
      schema_name,
      table_name,
      column_name,
    }))
  })
  const { rows } = await db.query<CatalogueColumn>(COLUMNS_SQL, [JSON.stringify(wanted)])
  const limits: Record<string, ColumnLimit[]> = {}
  for (const [index, row] of rowTypes.entries()) {
    for (const [column, field] of fieldColumns(dataset, row)) {
      const found = rows.find((one) => one.table === index && one.column === column)
      const limit = found && limitOf(dataset, row, field, found)
      if (limit) limits[field] = [...(limits[field] ?? []), limit]
    }
  }
  return limits
}

function fieldColumns(dataset: Dataset, row: RowType): [column: string, field: string][] {
  return Object.entries(row.columns).filter(([, source]) => dataset.fields[source] !== undefined)
}

function limitOf(
  dataset: Dataset,
  row: RowType,
  field: string,
  { shown, type, type_modifier, is_array, labels, needs_value }: CatalogueColumn,
): ColumnLimit | undefined {
  // A row that several lines describe takes the first value that is not empty, so an empty one is no error yet.
  const notNull = needs_value && !row.identity ? { notNull: true as const } : {}
  const ofType =
    // What is found in a table has the type that it has there.
    dataset.fields[field]!.lookup === undefined
      ? typeLimit(type, type_modifier, labels)
      : { kind: 'other' as const }
  if (ofType.kind === 'other' && !('notNull' in notNull)) return undefined
  if (Object.keys(ofType).length === 1 && ofType.kind === 'text' && !('notNull' in notNull)) return undefined
  return { column: shown, ...ofType, ...(is_array && { array: true as const }), ...notNull }
}

const HEADER_BYTES = 4

function typeLimit(
  type: string,
  modifier: number,
  labels: string[] | null,
): Omit<ColumnLimit, 'column' | 'notNull'> {
  switch (type) {
    case 'varchar':
    case 'bpchar':
      return { kind: 'text', ...(modifier > HEADER_BYTES && { maxLength: modifier - HEADER_BYTES }) }
    case 'text':
    case 'name':
      return { kind: 'text' }
    case 'int2':
      return { kind: 'integer', bytes: 2 }
    case 'int4':
      return { kind: 'integer', bytes: 4 }
    case 'int8':
      return { kind: 'integer', bytes: 8 }
    case 'numeric':
      return { kind: 'numeric', ...numericLimit(modifier) }
    case 'uuid':
    case 'timestamptz':
    case 'timestamp':
    case 'date':
      return { kind: type }
    default:
      return labels ? { kind: 'enum', labels } : { kind: 'other' }
  }
}

/** The scale has 11 bits with a sign since PostgreSQL 15. */
function numericLimit(modifier: number): { precision?: number; scale?: number } {
  if (modifier < HEADER_BYTES) return {}
  const bits = modifier - HEADER_BYTES
  const scale = ((bits & 0x7ff) ^ 1024) - 1024
  return { precision: (bits >> 16) & 0xffff, scale }
}
