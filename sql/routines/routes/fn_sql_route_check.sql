-- Raises where a definition cannot be, as far as that can be said now: against its table if that is there. Internal.
create or replace function iu_core.fn_sql_route_check(p_route iu_core.iu_sql_event_route) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keep text[] := iu_core.fn_sql_route_strings(p_route.payload_contract, 'keep_refs');
  v_subject text[] := iu_core.fn_sql_route_strings(p_route.payload_contract, 'subject');
  v_forbidden text[];
  v_key text[] := iu_core.fn_sql_route_key_columns(p_route.idempotency_policy);
  v_relation regclass := iu_core.fn_sql_route_source(p_route);
  v_of_rows boolean := p_route.sql_event in ('insert', 'update', 'delete');
  v_name text;
  v_reason text;
begin
  perform iu_core.fn_sql_route_strings(p_route.payload_contract, 'forbid_keys');
  v_forbidden := iu_core.fn_sql_route_forbidden(p_route.payload_contract);
  select lower(k) into v_name from unnest(v_keep) k where lower(k) = any (v_forbidden) limit 1;
  v_reason := case
    when p_route.sql_event is null
         or p_route.sql_event not in ('insert', 'update', 'delete', 'truncate', 'call', 'ddl')
      then format('%L is none of the events insert, update, delete, truncate, call and ddl', p_route.sql_event)
    when p_route.sql_event <> 'ddl' and p_route.source_table is null then 'it names no table'
    when p_route.source_object_kind is distinct from
         case p_route.sql_event when 'call' then 'procedure' when 'ddl' then 'database' else 'table' end
         or (p_route.sql_event = 'ddl' and p_route.source_table is not null)
      then format('%s is no event of a %s', p_route.sql_event, p_route.source_object_kind)
    when v_name is not null then format('%I is a name that no event may carry', v_name)
    when v_of_rows and coalesce(cardinality(v_keep), 0) = 0 then 'it keeps no column (keep_refs)'
    when cardinality(v_keep) > 50 then 'it keeps more than 50 columns'
    when cardinality(v_keep) <> (select count(distinct k) from unnest(v_keep) k) then 'it keeps a column twice'
    when not v_subject <@ coalesce(v_keep, '{}') or v_subject = '{}' then 'its subject is not among what it keeps'
    when not v_of_rows and p_route.workspace_column is not null then 'only rows have a workspace column'
    when p_route.sql_event in ('truncate', 'ddl') and v_key is not null then 'only rows and calls have an idempotency key'
    when jsonb_typeof(p_route.payload_contract -> 'only_changed') <> 'boolean' then 'only_changed is true or false'
    when p_route.sql_event <> 'update' and p_route.payload_contract ? 'only_changed' then 'only updates can be only_changed'
    when p_route.sql_event = 'ddl' and not v_keep <@ array['command_tag', 'object_type', 'schema_name', 'object_identity']
      then 'of DDL it can keep command_tag, object_type, schema_name and object_identity'
    when (p_route.payload_contract - array['keep_refs', 'forbid_keys', 'subject', 'only_changed']) <> '{}'
      then 'its payload contract has other fields than keep_refs, forbid_keys, subject and only_changed'
    when (p_route.idempotency_policy - 'key') <> '{}' or jsonb_typeof(p_route.idempotency_policy -> 'key') <> 'string'
      then 'its idempotency policy is not {"key": "(a,b)"}'
    when p_route.workspace_id is not null and p_route.workspace_column is not null
      then 'it has both a workspace and a workspace column'
    when p_route.target_event_type !~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$'
      then format('%L is not the form of an event type', p_route.target_event_type)
    when p_route.route_code !~ '^[a-z0-9][a-z0-9_.:-]{0,126}$' then format('%L is not the form of a code', p_route.route_code)
    when v_relation is not null then iu_core.fn_sql_route_table_problem(p_route, v_relation)
  end;
  if v_reason is not null then
    raise exception using
      errcode = 'SD311',
      message = format('The route %s cannot be: %s', p_route.route_code, v_reason),
      detail = json_build_object('route', p_route.route_code, 'reason', v_reason)::text;
  end if;
  if v_relation is not null and v_of_rows then
    perform iu_core.fn_sql_route_statement(p_route, v_relation, v_relation);
  end if;
end $$;
