-- Forgets a collection that was retired ten minutes ago or more, after the store has dropped it: until then somebody may still be
-- asking it. Fitted models that no collection is of go with it. Answers whether it went.
create or replace function iu_core.fn_search_collection_clear(p_collection text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.search_collection;
begin
  c := iu_core.fn_search_collection_require(p_collection, 'retired');
  if c.retired_at > clock_timestamp() - interval '10 minutes' then
    return false;
  end if;
  delete from iu_core.search_point where collection = p_collection;
  delete from iu_core.search_collection where collection = p_collection;
  delete from iu_core.search_generation g
   where g.generation_id = c.generation_id
     and not exists (select from iu_core.search_collection x where x.generation_id = g.generation_id);
  return true;
end $$;

grant execute on function iu_core.fn_search_collection_clear(text) to vector_worker;
