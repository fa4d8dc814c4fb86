-- The statement for a table that was altered since the route was attached: the prepared one would take a text that has
-- become JSON for harmless. Where a column is gone, whoever changes a row reads which route it is and what helps. Internal.
create or replace function iu_core.fn_sql_route_anew(p_route iu_core.iu_sql_event_route, p_relation regclass) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text;
  v_detail text;
begin
  select case when p_route.dry_run then s.rehearse_sql else s.send_sql end into v_sql
    from iu_core.iu_sql_event_route_attachment root,
         iu_core.fn_sql_route_statement(p_route, p_relation, root.relation) s
   where root.route_code = p_route.route_code and root.sql_event = p_route.sql_event and root.is_root;
  return v_sql;
exception when sqlstate 'SD311' then
  get stacked diagnostics v_detail = pg_exception_detail;
  raise exception using
    errcode = 'SD311',
    message = format('The route %s does not fit its table any more: %s', p_route.route_code, v_detail::jsonb ->> 'reason'),
    hint = format('Switch it off with `stagedoor route disable %s`, or register it as the table is now with `stagedoor route add`.',
                  p_route.route_code),
    detail = v_detail;
end $$;
