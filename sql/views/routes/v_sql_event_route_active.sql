-- The routes that send.
create or replace view iu_core.v_sql_event_route_active with (security_invoker = true) as
select route_code, source_object_kind, source_schema, source_table, sql_event, target_event_domain, target_event_type,
       target_event_stream, enabled, dry_run, fail_closed, idempotency_policy, payload_contract, workspace_id,
       workspace_column, revision, registered_by, registered_at, reviewed_by, reviewed_at, activated_by, activated_at
  from iu_core.iu_sql_event_route
 where enabled = true and dry_run = false;

grant select on iu_core.v_sql_event_route_active to authenticated, stagedoor_reviewer, service_role, dot_executor;
