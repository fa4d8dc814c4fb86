-- Registers a route, or changes one, which clears its review. For workflow_admin. Returns its code. The table need not be
-- there yet; where it is, the route must fit it.
-- p_route: the columns' names, of which a table (source: schema.table as in SQL, or source_schema and source_table), the
-- event and what to keep are enough.
create or replace function iu_core.fn_sql_route_register(p_route jsonb, p_actor text default null) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_before iu_core.iu_sql_event_route;
  v_actor record;
begin
  v_route := iu_core.fn_sql_route_read(p_route);
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_sql_route_check(v_route);
  if v_route.target_event_domain = 'iu_sql' then
    insert into iu_core.event_vocabulary values
      ('iu_sql', v_route.target_event_type, format('%s on %s', v_route.sql_event, iu_core.fn_sql_route_name(v_route)))
    on conflict do nothing;
  elsif not exists (select from iu_core.event_vocabulary
                     where event_domain = v_route.target_event_domain and event_type = v_route.target_event_type) then
    raise exception using
      errcode = 'SD301',
      message = format('%s.%s is not in the event vocabulary', v_route.target_event_domain, v_route.target_event_type),
      hint = 'Routes may add types of their own in the domain iu_sql.',
      detail = json_build_object('event', concat_ws('.', v_route.target_event_domain, v_route.target_event_type))::text;
  end if;
  perform iu_core.fn_require_workspace(v_route.workspace_id);
  select * into v_before from iu_core.iu_sql_event_route where route_code = v_route.route_code for update;
  insert into iu_core.iu_sql_event_route as r (
    route_code, source_object_kind, source_schema, source_table, sql_event, target_event_domain, target_event_type,
    target_event_stream, fail_closed, idempotency_policy, payload_contract, workspace_id, workspace_column,
    registered_by, registered_via)
  values (
    v_route.route_code, v_route.source_object_kind, v_route.source_schema, v_route.source_table, v_route.sql_event,
    v_route.target_event_domain, v_route.target_event_type, v_route.target_event_stream, v_route.fail_closed,
    v_route.idempotency_policy, v_route.payload_contract, v_route.workspace_id, v_route.workspace_column,
    v_actor.actor, v_actor.via)
  on conflict (route_code) do update
     set source_object_kind = excluded.source_object_kind, source_schema = excluded.source_schema,
         source_table = excluded.source_table, sql_event = excluded.sql_event,
         target_event_domain = excluded.target_event_domain, target_event_type = excluded.target_event_type,
         target_event_stream = excluded.target_event_stream, fail_closed = excluded.fail_closed,
         idempotency_policy = excluded.idempotency_policy, payload_contract = excluded.payload_contract,
         workspace_id = excluded.workspace_id, workspace_column = excluded.workspace_column,
         registered_by = excluded.registered_by, registered_via = excluded.registered_via,
         registered_at = excluded.registered_at
   -- Said once more it stays as it is, with its review, whoever says it.
   where (r.source_object_kind, r.source_schema, r.source_table, r.sql_event, r.target_event_domain, r.target_event_type,
          r.target_event_stream, r.fail_closed, r.idempotency_policy, r.payload_contract, r.workspace_id, r.workspace_column)
         is distinct from
         (excluded.source_object_kind, excluded.source_schema, excluded.source_table, excluded.sql_event,
          excluded.target_event_domain, excluded.target_event_type, excluded.target_event_stream, excluded.fail_closed,
          excluded.idempotency_policy, excluded.payload_contract, excluded.workspace_id, excluded.workspace_column);
  if found then
    -- What a transaction wrote while the route of this code before it was removed.
    if v_before.route_code is null then
      delete from iu_core.iu_sql_event_route_evidence where route_code = v_route.route_code;
      delete from iu_core.iu_sql_event_route_failure where route_code = v_route.route_code;
      delete from iu_core.iu_sql_event_route_key where route_code = v_route.route_code;
    end if;
    perform iu_core.fn_sql_route_tell(v_route.route_code, 'registered');
    if v_before.route_code is not null and (v_before.source_schema, v_before.source_table, v_before.sql_event)
       is distinct from (v_route.source_schema, v_route.source_table, v_route.sql_event) then
      perform iu_core.fn_sql_route_detach(v_route.route_code);
    end if;
  end if;
  return v_route.route_code;
end $$;
