-- Takes the triggers of a route away, where no other route needs them, and disables it. For workflow_admin. Only the owner
-- of a table can drop a trigger: returns the statements that are left to them; until then such a trigger does nothing.
create or replace function iu_core.fn_sql_route_detach(p_route_code text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_attached record;
  v_drop text;
  v_left text[] := '{}';
begin
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.routes', 0));
  v_route := iu_core.fn_sql_route_find(p_route_code);
  update iu_core.iu_sql_event_route
     set enabled = false, dry_run = true, activated_by = null, activated_at = null,
         disabled_reason = case when enabled then 'it was detached' else disabled_reason end
   where route_code = p_route_code;
  for v_attached in
    delete from iu_core.iu_sql_event_route_attachment where route_code = p_route_code returning relation, sql_event
  loop
    continue when exists (select from iu_core.iu_sql_event_route_attachment
                           where relation = v_attached.relation and sql_event = v_attached.sql_event)
      or not exists (select from pg_trigger t
                      where t.tgrelid = v_attached.relation and t.tgname = 'stagedoor_route_' || v_attached.sql_event
                        and t.tgfoid = 'iu_core.fn_sql_event_route()'::regprocedure);
    v_drop := format('drop trigger %I on %s', 'stagedoor_route_' || v_attached.sql_event, v_attached.relation);
    begin
      execute v_drop;
    exception when insufficient_privilege or lock_not_available or deadlock_detected then
      v_left := v_left || (v_drop || ';');
    end;
  end loop;
  return v_left;
end $$;
