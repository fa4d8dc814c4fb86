-- What a route is on, as SQL writes it. Internal.
create or replace function iu_core.fn_sql_route_name(p_route iu_core.iu_sql_event_route) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(quote_ident(p_route.source_schema) || '.' || quote_ident(p_route.source_table), 'the database')
$$;
