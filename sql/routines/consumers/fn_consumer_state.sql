-- disabled, dry_run, reviewed (a dry run that somebody has looked at) or active.
create or replace function iu_core.fn_consumer_state(p_consumer iu_core.consumer_registry) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when not p_consumer.enabled then 'disabled'
    when not p_consumer.dry_run then 'active'
    when p_consumer.reviewed_by is not null then 'reviewed'
    else 'dry_run'
  end
$$;

grant execute on function iu_core.fn_consumer_state(iu_core.consumer_registry) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;
