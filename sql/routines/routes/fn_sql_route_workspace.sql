-- The workspace of a route that the caller may know of; one of others is answered like one that is not there. Internal:
-- definer functions give it to require_member.
create or replace function iu_core.fn_sql_route_workspace(p_route_code text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.iu_sql_event_route where route_code = p_route_code;
  if not found
     or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD312',
      message = format('There is no route called %L', p_route_code),
      detail = json_build_object('route', p_route_code)::text;
  end if;
  return v_workspace;
end $$;
