-- One changed object for one DDL route. Internal.
create or replace function iu_core.fn_sql_route_ddl_change(p_route iu_core.iu_sql_event_route, p_change jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schema text := p_change ->> 'schema_name';
  v_keep text[] := iu_core.fn_sql_route_strings(p_route.payload_contract, 'keep_refs');
begin
  if v_schema in ('iu_core', 'noetl') or v_schema like 'pg\_%'
     or (p_route.source_schema is not null and v_schema is distinct from p_route.source_schema) then
    return;
  end if;
  perform iu_core.fn_sql_route_signal(
    p_route, p_change ->> 'object_identity', format('ddl:%s', p_change ->> 'object_identity'),
    (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(p_change) where v_keep is null or key = any (v_keep)));
end $$;
