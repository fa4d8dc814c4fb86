-- Gives up a collection that is being built; search has not noticed it.
create or replace function iu_core.fn_search_collection_cancel(p_collection text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_search_collection_require(p_collection, 'building');
  update iu_core.search_collection set state = 'retired', retired_at = clock_timestamp() where collection = p_collection;
  perform iu_core.fn_search_collection_told(p_collection, 'The collection was given up.');
end $$;

grant execute on function iu_core.fn_search_collection_cancel(text) to vector_worker, dot_executor, service_role;
