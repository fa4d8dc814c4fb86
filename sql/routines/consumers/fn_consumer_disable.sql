-- Switches a consumer off; its review stays. What was dispatched stays dispatched. Administrators only.
create or replace function iu_core.fn_consumer_disable(p_consumer_id text) returns iu_core.consumer_registry
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_consumer_require(p_consumer_id);
  update iu_core.consumer_registry set enabled = false, dry_run = true where consumer_id = p_consumer_id and enabled;
  return iu_core.fn_consumer_require(p_consumer_id);
end $$;
