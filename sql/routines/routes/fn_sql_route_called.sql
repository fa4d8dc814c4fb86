-- Tells the routes of a procedure that it was called. Whoever may call it may emit events of their own as well.
create or replace function iu_core.fn_sql_route_called(p_schema text, p_procedure text, p_arguments jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_keep text[];
  v_key text[];
begin
  for v_route in
    select * from iu_core.iu_sql_event_route
     where source_schema = p_schema and source_table = p_procedure and sql_event = 'call' and enabled
     order by route_code
  loop
    v_keep := iu_core.fn_sql_route_strings(v_route.payload_contract, 'keep_refs');
    v_key := iu_core.fn_sql_route_key_columns(v_route.idempotency_policy);
    perform iu_core.fn_sql_route_signal(
      v_route, null, format('sql:%I.%I', p_schema, p_procedure),
      (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(p_arguments) where key = any (v_keep)),
      (select jsonb_agg(p_arguments -> k order by position)::text from unnest(v_key) with ordinality as t (k, position)));
  end loop;
end $$;

grant execute on function iu_core.fn_sql_route_called(text, text, jsonb) to stagedoor_producer, dot_executor, service_role;
