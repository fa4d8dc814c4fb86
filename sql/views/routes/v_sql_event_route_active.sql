-- The routes that send, with every column of the registry.
create or replace view iu_core.v_sql_event_route_active with (security_invoker = true) as
select * from iu_core.iu_sql_event_route where enabled = true and dry_run = false;

grant select on iu_core.v_sql_event_route_active to authenticated, stagedoor_reviewer, service_role, dot_executor;
