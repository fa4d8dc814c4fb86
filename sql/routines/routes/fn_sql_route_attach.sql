-- Puts the triggers of a route on its table, all its partitions and children, and prepares what they run. For
-- workflow_admin, or whoever owns the table too: it acts with the caller's rights. Returns on how many tables they are.
-- Whoever writes there keeps writing: it waits for them three seconds at most, not they for it.
create or replace function iu_core.fn_sql_route_attach(p_route_code text) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_root regclass;
  v_relation regclass;
  v_columns text[];
  v_types regtype[];
  v_send text;
  v_rehearse text;
  v_attached integer := 0;
begin
  -- Attach, detach and sync go one after the other.
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.routes', 0));
  v_route := iu_core.fn_sql_route_find(p_route_code);
  perform iu_core.fn_sql_route_check(v_route);
  if v_route.source_object_kind = 'database' then
    perform iu_core.fn_sql_route_attach_ddl();
    return 0;
  elsif v_route.source_object_kind = 'procedure' then
    return 0;
  end if;
  v_root := iu_core.fn_sql_route_source(v_route);
  perform iu_core.fn_sql_route_require_rights(v_route, v_root);
  delete from iu_core.iu_sql_event_route_attachment where route_code = p_route_code;
  for v_relation in select iu_core.fn_sql_route_relations(v_root) loop
    perform iu_core.fn_sql_route_trigger(v_relation, v_route.sql_event);
    -- Emptying a table has no rows to read.
    if v_route.sql_event <> 'truncate' then
      select * into v_columns, v_types, v_send, v_rehearse
        from iu_core.fn_sql_route_statement(v_route, v_relation, v_root);
    end if;
    insert into iu_core.iu_sql_event_route_attachment (
      relation, sql_event, route_code, revision, is_root, columns, column_types, forbidden, send_sql, rehearse_sql)
    values (
      v_relation, v_route.sql_event, p_route_code, v_route.revision, v_relation = v_root,
      coalesce(v_columns, '{}'), coalesce(v_types, '{}'), iu_core.fn_sql_route_forbidden(v_route.payload_contract),
      v_send, v_rehearse);
    v_attached := v_attached + 1;
  end loop;
  return v_attached;
exception when lock_not_available or deadlock_detected then
  raise exception using
    errcode = 'SD316',
    message = format('%s has been in use for three seconds, and a trigger waits for a moment without writers',
                     iu_core.fn_sql_route_name(v_route)),
    detail = json_build_object('table', iu_core.fn_sql_route_name(v_route))::text;
end $$;
