-- Notes that routing failed while the user's transaction goes on, whatever happens here. Internal.
create or replace function iu_core.fn_sql_route_failed(p_route_code text, p_relation text, p_sqlstate text, p_reason text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise warning using
    errcode = p_sqlstate,
    message = format('The route %s sent nothing of this statement: %s', p_route_code, p_reason);
  begin
    insert into iu_core.iu_sql_event_route_failure (route_code, relation, sqlstate, reason, actor)
    values (p_route_code, p_relation, p_sqlstate, p_reason,
            case when p_sqlstate = 'SD204' then session_user::text else iu_core.fn_actor() end);
  exception when others then
    raise warning 'and that could not be counted: %', sqlerrm;
  end;
end $$;
