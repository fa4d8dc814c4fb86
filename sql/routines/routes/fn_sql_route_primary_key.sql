-- The columns of a table's primary key, NULL where it has none. Internal.
create or replace function iu_core.fn_sql_route_primary_key(p_relation regclass) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(a.attname::text order by k.position)
    from pg_index i
   cross join unnest(i.indkey::smallint[]) with ordinality as k (attnum, position)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
   where i.indrelid = p_relation and i.indisprimary
$$;
