-- From now on a reviewed route sends. Once reviewed, it can be switched off and on again as long as it is not changed.
create or replace function iu_core.fn_sql_route_activate(p_route_code text, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_actor record;
  v_reason text;
begin
  perform iu_core.require_member(iu_core.fn_sql_route_workspace(p_route_code), 'review');
  v_actor := iu_core.fn_actor_for(p_actor);
  v_route := iu_core.fn_sql_route_find(p_route_code);
  v_reason := case
    when v_route.reviewed_by is null then 'nobody has reviewed it'
    when v_route.source_object_kind = 'table'
         and not exists (select from iu_core.iu_sql_event_route_attachment
                          where route_code = p_route_code and revision = v_route.revision and is_root)
      then 'its triggers are not attached'
    else iu_core.fn_sql_route_lost(v_route)
  end;
  if v_reason is not null then
    raise exception using
      errcode = 'SD313',
      message = format('The route %s cannot be activated: %s', p_route_code, v_reason),
      detail = json_build_object('route', p_route_code, 'reason', v_reason)::text;
  end if;
  if v_route.enabled and not v_route.dry_run then
    return;
  end if;
  update iu_core.iu_sql_event_route
     set enabled = true, dry_run = false, activated_by = v_actor.actor, activated_at = clock_timestamp(), disabled_reason = null
   where route_code = p_route_code;
  perform iu_core.fn_sql_route_tell(p_route_code, 'activated', p_actor);
end $$;

grant execute on function iu_core.fn_sql_route_activate(text, text) to stagedoor_reviewer, service_role;
