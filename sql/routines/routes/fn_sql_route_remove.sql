-- Takes a route away with its evidence, failures and keys. For workflow_admin. Events that it sent stay. Returns the
-- statements with which the tables' owners drop the triggers that only they can.
create or replace function iu_core.fn_sql_route_remove(p_route_code text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_left text[] := iu_core.fn_sql_route_detach(p_route_code);
begin
  perform iu_core.fn_sql_route_tell(p_route_code, 'removed');
  delete from iu_core.iu_sql_event_route where route_code = p_route_code;
  delete from iu_core.iu_sql_event_route_evidence where route_code = p_route_code;
  delete from iu_core.iu_sql_event_route_failure where route_code = p_route_code;
  delete from iu_core.iu_sql_event_route_key where route_code = p_route_code;
  return v_left;
end $$;
