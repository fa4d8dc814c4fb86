-- Stops a route at once, without a lock on its table: the trigger stays and finds nothing to do.
create or replace function iu_core.fn_sql_route_disable(p_route_code text, p_reason text default null, p_actor text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_sql_route_workspace(p_route_code), 'review');
  v_actor := iu_core.fn_actor_for(p_actor);
  v_route := iu_core.fn_sql_route_find(p_route_code);
  if not v_route.enabled then
    return;
  end if;
  update iu_core.iu_sql_event_route
     set enabled = false, dry_run = true, activated_by = null, activated_at = null,
         disabled_reason = concat_ws(': ', v_actor.actor || ' disabled it', p_reason)
   where route_code = p_route_code;
  perform iu_core.fn_sql_route_tell(p_route_code, 'disabled', p_actor);
end $$;

grant execute on function iu_core.fn_sql_route_disable(text, text, text) to stagedoor_reviewer, service_role;
