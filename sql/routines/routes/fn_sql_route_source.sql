-- The table of a route, by its very name; NULL where it is not there or the route has none. to_regclass would want a right
-- on the schema. Internal.
create or replace function iu_core.fn_sql_route_source(p_route iu_core.iu_sql_event_route) returns regclass
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.oid::regclass
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where p_route.source_object_kind = 'table'
     and n.nspname = p_route.source_schema and c.relname = p_route.source_table
$$;
