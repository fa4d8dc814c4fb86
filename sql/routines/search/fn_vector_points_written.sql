-- The store has these points, as they were recorded with these generations (0: by whoever fills a collection). One that was taken
-- out meanwhile, or is being written by somebody else by now, is not what the store was told last. Answers how many count.
create or replace function iu_core.fn_vector_points_written(p_collection text, p_chunk_ids uuid[], p_generation bigint[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  if p_collection is null or p_chunk_ids is null or p_generation is null or cardinality(p_chunk_ids) <> cardinality(p_generation) then
    raise exception using errcode = 'SD001', message = 'Which points of which collection were written, and of which generations?';
  end if;
  -- Whoever makes another collection the active one waits for us, or we see it.
  perform from iu_core.search_collection c where c.collection = p_collection for share;
  update iu_core.search_point p
     set state = 'written', tx = pg_current_xact_id(), changed_at = clock_timestamp()
    from unnest(p_chunk_ids, p_generation) as w (chunk_id, generation)
   where p.collection = p_collection and p.chunk_id = w.chunk_id and p.generation = w.generation and p.state in ('writing', 'written');
  get diagnostics v_count = row_count;
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_points_written(text, uuid[], bigint[]) to vector_worker;
