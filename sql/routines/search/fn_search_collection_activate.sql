-- The collection that was built becomes the active one, in one step, once it holds every vector that the active one holds; the old
-- one is retired. Answers whether it happened: while something is missing it does not. What its embedder refuses is not waited for,
-- unless that is so much that search would miss it; the units of it are tried again, until they are dead letters that people see.
create or replace function iu_core.fn_search_collection_activate(p_collection text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.search_collection;
  v_old text;
  v_written bigint;
  v_refused bigint;
  v_units uuid[];
begin
  c := iu_core.fn_search_collection_require(p_collection, 'building');
  -- Whoever records a vector as written holds this row shared.
  select x.collection into v_old from iu_core.search_collection x
   where x.source_kind = c.source_kind and x.state = 'active' for update;
  if exists (select from iu_core.search_point a
               join iu_core.search_chunk k on k.chunk_id = a.chunk_id
              where a.collection = v_old and a.state = 'written'
                and not exists (select from iu_core.search_point b
                                 where b.collection = p_collection and b.chunk_id = a.chunk_id and b.state in ('written', 'refused'))) then
    return false;
  end if;
  select count(*) filter (where p.state = 'written'), count(*) filter (where p.state = 'refused'),
         array_agg(distinct p.unit_id order by p.unit_id) filter (where p.state = 'refused')
    into v_written, v_refused, v_units
    from iu_core.search_point p
   where p.collection = p_collection and exists (select from iu_core.search_chunk k where k.chunk_id = p.chunk_id);
  -- An embedder that refuses this much is not set up right; a few of few are poison.
  if v_refused > v_written or v_refused > greatest(10, v_written / 10) then
    return false;
  end if;
  update iu_core.search_collection set state = 'retired', retired_at = clock_timestamp() where collection = v_old;
  update iu_core.search_collection set state = 'active', activated_at = clock_timestamp() where collection = p_collection;
  update iu_core.unit_vector set collection = p_collection where collection = v_old;
  if v_refused > 0 then
    delete from iu_core.unit_vector where unit_id = any (v_units);
    perform iu_core.fn_vector_due(v_units);
    perform iu_core.fn_search_collection_told(p_collection, 'The collection is in use; what it lacks is tried again.');
  end if;
  perform pg_notify('stagedoor_vectors', '');
  return true;
end $$;

grant execute on function iu_core.fn_search_collection_activate(text) to vector_worker, dot_executor, service_role;
