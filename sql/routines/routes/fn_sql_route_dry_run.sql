-- Starts, or goes back to, the dry run: the triggers are attached, and what a route would send is kept as evidence. For
-- workflow_admin. What a TRUNCATE or a DDL command would send is known beforehand, and nobody should have to run one on
-- production to be believed: for those it is written down at once.
create or replace function iu_core.fn_sql_route_dry_run(p_route_code text) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attached integer := iu_core.fn_sql_route_attach(p_route_code);
  v_route iu_core.iu_sql_event_route;
  v_table text;
begin
  update iu_core.iu_sql_event_route
     set enabled = true, dry_run = true, activated_by = null, activated_at = null, disabled_reason = null
   where route_code = p_route_code returning * into v_route;
  v_table := iu_core.fn_sql_route_name(v_route);
  if v_route.sql_event = 'truncate' then
    perform iu_core.fn_sql_route_signal(v_route, null, 'sql:' || v_table,
      jsonb_build_object('table', v_table, 'truncated', v_table));
  elsif v_route.sql_event = 'ddl' then
    perform iu_core.fn_sql_route_ddl_change(v_route, jsonb_build_object(
      'command_tag', 'CREATE TABLE', 'object_type', 'table', 'schema_name', coalesce(v_route.source_schema, 'public'),
      'object_identity', format('%I.example', coalesce(v_route.source_schema, 'public'))));
  end if;
  perform iu_core.fn_sql_route_tell(p_route_code, 'dry_run');
  return v_attached;
end $$;
