-- The route of this code, locked against other changes, or an error that names it. Internal.
create or replace function iu_core.fn_sql_route_find(p_route_code text) returns iu_core.iu_sql_event_route
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
begin
  select * into v_route from iu_core.iu_sql_event_route where route_code = p_route_code for no key update;
  if not found then
    raise exception using
      errcode = 'SD312',
      message = format('There is no route called %L', p_route_code),
      detail = json_build_object('route', p_route_code)::text;
  end if;
  return v_route;
end $$;
