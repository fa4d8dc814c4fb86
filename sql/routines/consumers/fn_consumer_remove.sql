-- Takes a consumer away. Its lines in the dispatch log and its jobs stay; what was deferred for it never comes.
-- Administrators only.
create or replace function iu_core.fn_consumer_remove(p_consumer_id text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_consumer_require(p_consumer_id);
  delete from iu_core.consumer_registry where consumer_id = p_consumer_id;
end $$;
