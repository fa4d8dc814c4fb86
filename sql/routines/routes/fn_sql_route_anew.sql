-- The statement for a table that was altered since the route was attached: the prepared one would take a text that has
-- become JSON for harmless. Raises where a column is gone. Internal.
create or replace function iu_core.fn_sql_route_anew(p_route iu_core.iu_sql_event_route, p_relation regclass) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_route.dry_run then s.rehearse_sql else s.send_sql end
    from iu_core.iu_sql_event_route_attachment root,
         iu_core.fn_sql_route_statement(p_route, p_relation, root.relation) s
   where root.route_code = p_route.route_code and root.sql_event = p_route.sql_event and root.is_root
$$;
