-- Prepares anew what the triggers run, after an update of ours: at the end of every migrate. A route that no longer fits
-- its table keeps what it has; its trigger says so, and sync does. Internal.
create or replace function iu_core.fn_sql_route_refresh() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attached record;
begin
  for v_attached in
    select a.relation, root.relation as root, r as definition
      from iu_core.iu_sql_event_route_attachment a
      join iu_core.iu_sql_event_route r on r.route_code = a.route_code and r.revision = a.revision
      join iu_core.iu_sql_event_route_attachment root on root.route_code = a.route_code and root.is_root
     where a.sql_event <> 'truncate'
  loop
    begin
      update iu_core.iu_sql_event_route_attachment a
         set columns = s.columns, column_types = s.column_types, send_sql = s.send_sql, rehearse_sql = s.rehearse_sql,
             forbidden = iu_core.fn_sql_route_forbidden((v_attached.definition).payload_contract)
        from iu_core.fn_sql_route_statement(v_attached.definition, v_attached.relation, v_attached.root) s
       where a.relation = v_attached.relation and a.route_code = (v_attached.definition).route_code;
    exception when sqlstate 'SD311' then
      null;
    end;
  end loop;
end $$;
