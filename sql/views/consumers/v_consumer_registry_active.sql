-- The consumers whose events become jobs.
create or replace view iu_core.v_consumer_registry_active with (security_invoker = true) as
select * from iu_core.consumer_registry where enabled = true and dry_run = false;

grant select on iu_core.v_consumer_registry_active to authenticated, stagedoor_reviewer, service_role, dot_executor;
