/**
 * What a proposed statement may call. PostgreSQL has resolved every name to an object before this is asked. Allowed are functions of
 * PostgreSQL itself that are immutable, those that are listed here, and all operators and casts of PostgreSQL that are not volatile. A
 * function that somebody has created is never allowed: it may do anything, in the name of its owner.
 */
import type { Queryable } from '../../kernel/postgres/connection.ts'

/** Stable ones depend on the time, the time zone or the language; volatile ones give a random value. None has an effect. */
const ALLOWED_FUNCTIONS = [
  ...['now', 'transaction_timestamp', 'statement_timestamp', 'clock_timestamp'],
  ...[
    'date_trunc',
    'date_part',
    'extract',
    'date_add',
    'date_subtract',
    'age',
    'timezone',
    'isfinite',
    'overlaps',
  ],
  ...['make_timestamptz', 'to_timestamp', 'to_date', 'to_char', 'to_number', 'generate_series'],
  ...['timestamptz', 'timestamp', 'date', 'time', 'timetz', 'text', 'numeric'],
  ...['concat', 'concat_ws', 'format', 'quote_literal', 'quote_nullable', 'array_to_string', 'string_agg'],
  ...['to_json', 'to_jsonb', 'row_to_json', 'array_to_json', 'json_build_object', 'json_build_array'],
  ...['jsonb_build_object', 'jsonb_build_array', 'json_object', 'json_agg', 'jsonb_agg', 'json_object_agg'],
  ...['jsonb_object_agg', 'json_agg_strict', 'jsonb_agg_strict', 'array_agg'],
  ...['jsonb_path_query_tz', 'jsonb_path_exists_tz', 'jsonb_path_match_tz', 'jsonb_path_query_first_tz'],
  ...['to_tsvector', 'to_tsquery', 'plainto_tsquery', 'phraseto_tsquery', 'websearch_to_tsquery'],
  ...['random', 'random_normal', 'gen_random_uuid', 'uuidv4', 'uuidv7'],
]

export interface UsedRoutines {
  readonly functions: readonly number[]
  /** Functions that stand for a cast. */
  readonly casts: readonly number[]
  readonly operators: readonly number[]
}

/** The names of those that are not allowed. */
export async function refusedRoutines(
  db: Queryable,
  { functions, casts, operators }: UsedRoutines,
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `with used as (
       select p.oid, 'function' as kind from pg_catalog.pg_proc p where p.oid = any ($1::pg_catalog.oid[])
       union all select p.oid, 'cast' from pg_catalog.pg_proc p where p.oid = any ($2::pg_catalog.oid[])
       union all select o.oprcode, 'operator' from pg_catalog.pg_operator o where o.oid = any ($3::pg_catalog.oid[])
     )
     select distinct case u.kind when 'operator' then 'an operator with the function ' else '' end
            || case p.pronamespace when 'pg_catalog'::pg_catalog.regnamespace then '' else n.nspname || '.' end || p.proname as name
       from used u join pg_catalog.pg_proc p on p.oid = u.oid join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where p.oid >= 16384 or n.nspname <> 'pg_catalog'
         or case p.provolatile when 'i' then false
                 when 's' then u.kind = 'function' and p.proname <> all ($4::pg_catalog.text[])
                 else p.proname <> all ($4::pg_catalog.text[]) end
      order by 1`,
    [functions, casts, operators, ALLOWED_FUNCTIONS],
  )
  return rows.map(({ name }) => name)
}

/** Types that show names of the catalogue for numbers, or numbers for names; not those that statements need. */
const CATALOGUE_TYPES = [
  ...['regclass', 'regproc', 'regprocedure', 'regoper', 'regoperator', 'regrole', 'regnamespace'],
  ...['regcollation', 'regdatabase', 'regtype', 'aclitem'],
]

/**
 * What stands against the types of a statement, for the types inside of them, too: PostgreSQL looks for casts of a type by itself (to_json,
 * quote_literal), and calls what the check of a domain calls, wherever it reads a value of that type. Columns of `tables` may be of such
 * a domain: whoever opened the table has looked at it (fn_proposal_triggers).
 */
export async function refusedTypes(
  db: Queryable,
  { types, tables }: { readonly types: readonly number[]; readonly tables: readonly number[] },
): Promise<string[]> {
  const { rows } = await db.query<{ name: string; shows: boolean; calls: number[]; checks: TypeCheck[] }>(
    `with recursive used (type) as (
       select pg_catalog.unnest($1::pg_catalog.oid[]) union select i.type from used u, lateral (${INNER_TYPES}) i
     ), column_type (type) as (
       select a.atttypid from pg_catalog.pg_attribute a where a.attrelid = any ($2::pg_catalog.oid[]) and a.attnum > 0 and not a.attisdropped
       union select i.type from column_type u, lateral (${INNER_TYPES}) i
     )
     select pg_catalog.format('%s.%s', n.nspname, t.typname) as name, n.nspname = 'pg_catalog' and t.typname = any ($3) as shows,
            array(select c.castfunc::pg_catalog.int8 from pg_catalog.pg_cast c
                   where c.castsource = t.oid and c.castfunc >= 16384
                     and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
                                        and d.objid = c.castfunc and d.deptype = 'e'))::pg_catalog.int8[] as calls,
            coalesce((select pg_catalog.json_agg(pg_catalog.json_build_object('kind', m[1], 'routine', m[2]::pg_catalog.int8))
                        from pg_catalog.pg_constraint k,
                             lateral pg_catalog.regexp_matches(k.conbin::pg_catalog.text, ':(funcid|aggfnoid|winfnoid|opno) ([0-9]+)', 'g') m
                       where k.contypid = t.oid and k.contype = 'c' and not exists (select from column_type c where c.type = t.oid)), '[]') as checks
       from (select distinct type from used) u join pg_catalog.pg_type t on t.oid = u.type join pg_catalog.pg_namespace n on n.oid = t.typnamespace
      order by 1`,
    [types, tables, CATALOGUE_TYPES],
  )
  const refused: string[] = []
  for (const { name, shows, calls, checks } of rows) {
    const numbersOf = (isOperator: boolean) =>
      checks.filter(({ kind }) => (kind === 'opno') === isOperator).map(({ routine }) => Number(routine))
    const called =
      checks.length === 0
        ? []
        : await refusedRoutines(db, { functions: numbersOf(false), casts: [], operators: numbersOf(true) })
    if (shows || calls.length > 0 || called.length > 0) refused.push(name.replace(/^pg_catalog\./, ''))
  }
  return refused
}

interface TypeCheck {
  readonly kind: string
  readonly routine: number
}

/** Of the type `u.type`: its elements, the type below a domain or a range, the columns of a row. */
const INNER_TYPES = `
  select x.type from pg_catalog.pg_type o,
         lateral (select o.typelem union all select o.typbasetype
                  union all select r.rngsubtype from pg_catalog.pg_range r where o.oid in (r.rngtypid, r.rngmultitypid)
                  union all select a.atttypid from pg_catalog.pg_attribute a
                             where o.typrelid <> 0 and a.attrelid = o.typrelid and a.attnum > 0 and not a.attisdropped) x (type)
   where o.oid = u.type and x.type <> 0`
