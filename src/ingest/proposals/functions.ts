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
  ...[
    'to_tsvector',
    'to_tsquery',
    'plainto_tsquery',
    'phraseto_tsquery',
    'websearch_to_tsquery',
    'pg_typeof',
  ],
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
