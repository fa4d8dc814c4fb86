-- Every route with its state, where it is attached, its evidence and its failures.
create or replace view iu_core.v_sql_event_route with (security_invoker = true) as
select r.route_code,
       case when not r.enabled then 'disabled' when not r.dry_run then 'active'
            when r.reviewed_by is not null then 'reviewed' else 'dry_run' end as state,
       r.source_object_kind, r.source_schema, r.source_table, r.sql_event, r.target_event_domain, r.target_event_type,
       r.target_event_stream, r.fail_closed, r.idempotency_policy, r.payload_contract, r.workspace_id, r.workspace_column,
       r.revision, r.registered_by, r.registered_via, r.registered_at, r.reviewed_by, r.reviewed_via, r.reviewed_at,
       r.evidence_seen, r.activated_by, r.activated_at, r.disabled_reason,
       (select count(*)::integer from iu_core.iu_sql_event_route_attachment a
         where a.route_code = r.route_code and a.revision = r.revision) as attached,
       (select count(*)::integer from iu_core.iu_sql_event_route_evidence e
         where e.route_code = r.route_code and e.revision = r.revision) as evidence,
       r.failures_before + failed.failures as failures, failed.last_failure, failed.last_failed_at
  from iu_core.iu_sql_event_route r
 cross join lateral (
   select count(*) as failures, (array_agg(f.reason order by f.failure_id desc))[1] as last_failure, max(f.failed_at) as last_failed_at
     from iu_core.iu_sql_event_route_failure f where f.route_code = r.route_code) failed;

grant select on iu_core.v_sql_event_route to authenticated, stagedoor_reviewer, service_role, dot_executor;
