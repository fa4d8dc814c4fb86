-- From now on the consumer's events leave evidence of the jobs that they would have made. Administrators only.
create or replace function iu_core.fn_consumer_dry_run(p_consumer_id text) returns iu_core.consumer_registry
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_consumer_require(p_consumer_id);
  update iu_core.consumer_registry set enabled = true, dry_run = true
   where consumer_id = p_consumer_id and not (enabled and dry_run);
  return iu_core.fn_consumer_require(p_consumer_id);
end $$;
