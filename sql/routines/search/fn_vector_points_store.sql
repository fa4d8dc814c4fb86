-- The upsert of the store `postgres`: vectors (float32, little-endian) of points that were recorded before. What is gone, or was
-- never recorded, is passed over: a worker that comes late brings nothing back. Returns how many were kept.
create or replace function iu_core.fn_vector_points_store(p_collection text, p_chunk_ids uuid[], p_vectors bytea[])
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.search_collection := iu_core.fn_search_collection_writable(p_collection);
  v_stored integer;
begin
  if p_chunk_ids is null or p_vectors is null or cardinality(p_chunk_ids) <> cardinality(p_vectors) then
    raise exception using errcode = 'SD001', message = 'Give one vector for each chunk';
  end if;
  if c.store <> 'postgres' then
    raise exception using errcode = 'SD001', message = format('The vectors of %s are kept in %s, not here', p_collection, c.store);
  end if;
  if exists (select from unnest(p_vectors) as v where length(v) is distinct from c.dimension * 4) then
    raise exception using
      errcode = 'SD001', message = format('A vector of %s has %s numbers of 4 bytes', p_collection, c.dimension);
  end if;
  -- In one order, so that two workers with the same points wait for each other and not in a circle.
  perform from iu_core.search_point p
    where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) order by p.chunk_id for no key update;
  update iu_core.search_point p
     set vector = g.vector, state = 'written', changed_at = clock_timestamp()
    from unnest(p_chunk_ids, p_vectors) as g (chunk_id, vector)
   where p.collection = p_collection and p.chunk_id = g.chunk_id and p.state <> 'gone';
  get diagnostics v_stored = row_count;
  return v_stored;
end $$;

grant execute on function iu_core.fn_vector_points_store(text, uuid[], bytea[]) to vector_worker;
