-- Brings the routes in step with their tables, hourly: new partitions get their triggers, altered columns a new statement;
-- a route whose table was dropped, renamed or moved, or whose trigger is gone or off, is disabled with the reason, for it
-- no longer is what was reviewed. Also lets go of old failures (counted) and keys. Returns what it found.
create or replace function iu_core.fn_sql_route_sync() returns table (route_code text, finding text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_reason text;
begin
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.routes', 0));
  for v_route in
    select r.* from iu_core.iu_sql_event_route r
     where (r.source_object_kind = 'database' and r.enabled)
        or exists (select from iu_core.iu_sql_event_route_attachment a where a.route_code = r.route_code)
     order by r.route_code
  loop
    route_code := v_route.route_code;
    v_reason := iu_core.fn_sql_route_lost(v_route);
    if v_reason is not null then
      delete from iu_core.iu_sql_event_route_attachment a where a.route_code = v_route.route_code;
      update iu_core.iu_sql_event_route r
         set enabled = false, dry_run = true, activated_by = null, activated_at = null, disabled_reason = v_reason
       where r.route_code = v_route.route_code;
      if v_route.enabled then
        perform iu_core.fn_sql_route_tell(v_route.route_code, 'disabled');
      end if;
      finding := 'disabled: ' || v_reason;
      return next;
    elsif iu_core.fn_sql_route_is_behind(v_route) then
      begin
        perform iu_core.fn_sql_route_attach(v_route.route_code);
        finding := 'attached anew';
      exception when others then
        finding := sqlerrm;
      end;
      return next;
    end if;
  end loop;
  perform iu_core.fn_sql_route_forget();
end $$;

grant execute on function iu_core.fn_sql_route_sync() to dot_executor, service_role;
