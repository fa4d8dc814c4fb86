-- A route as somebody wrote it down, with what they left out filled in. Internal.
create or replace function iu_core.fn_sql_route_read(p_route jsonb) returns iu_core.iu_sql_event_route
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_unknown text;
  v_name text[];
begin
  if jsonb_typeof(p_route) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'A route is a JSON object: source, sql_event, payload_contract, …';
  end if;
  select k into v_unknown from jsonb_object_keys(p_route) k
   where k not in ('route_code', 'source', 'source_object_kind', 'source_schema', 'source_table', 'sql_event',
                   'target_event_domain', 'target_event_type', 'target_event_stream', 'fail_closed',
                   'idempotency_policy', 'payload_contract', 'workspace_id', 'workspace_column') limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('A route has no field called %L', v_unknown);
  end if;
  begin
    v_route := jsonb_populate_record(null::iu_core.iu_sql_event_route, p_route - 'source');
    if p_route ->> 'source' is not null then
      v_name := parse_ident(p_route ->> 'source');
      v_route.source_schema := case cardinality(v_name) when 1 then 'public' else v_name[1] end;
      v_route.source_table := case cardinality(v_name) when 1 then v_name[1] else v_name[2] end;
    end if;
  exception when data_exception then
    raise exception using errcode = 'SD001', message = format('The route cannot be read: %s', sqlerrm);
  end;
  if cardinality(v_name) > 2 then
    raise exception using errcode = 'SD001', message = format('%L is not a table of this database', p_route ->> 'source');
  end if;
  v_route.source_object_kind := coalesce(v_route.source_object_kind,
    case v_route.sql_event when 'call' then 'procedure' when 'ddl' then 'database' else 'table' end);
  if v_route.source_table is not null then
    v_route.source_schema := coalesce(v_route.source_schema, 'public');
  end if;
  v_name := array_remove(array[
    case when v_route.source_schema <> 'public' then iu_core.fn_sql_route_slug(v_route.source_schema) end,
    coalesce(iu_core.fn_sql_route_slug(v_route.source_table), 'database'),
    v_route.sql_event], null);
  v_route.route_code := coalesce(v_route.route_code, array_to_string(v_name, '.'));
  v_route.target_event_domain := coalesce(v_route.target_event_domain, 'iu_sql');
  v_route.target_event_type := coalesce(v_route.target_event_type, array_to_string(v_name, '.'));
  v_route.fail_closed := coalesce(v_route.fail_closed, true);
  v_route.idempotency_policy := coalesce(v_route.idempotency_policy, '{}');
  v_route.payload_contract := coalesce(v_route.payload_contract, '{}');
  return v_route;
end $$;
