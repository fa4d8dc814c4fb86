-- The removal of the store `postgres`: by id, or of all points of the collection (NULL). They stay as tombstones, so that every
-- process that mirrors them hears of it and nothing late brings them back. Returns how many were there.
create or replace function iu_core.fn_vector_points_forget(p_collection text, p_chunk_ids uuid[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone integer;
begin
  perform iu_core.fn_search_collection_writable(p_collection);
  perform from iu_core.search_point p
    where p.collection = p_collection and (p_chunk_ids is null or p.chunk_id = any (p_chunk_ids)) and p.state <> 'gone'
    order by p.chunk_id for no key update;
  update iu_core.search_point p
     set vector = null, state = 'gone', changed_at = clock_timestamp()
   where p.collection = p_collection and (p_chunk_ids is null or p.chunk_id = any (p_chunk_ids)) and p.state <> 'gone';
  get diagnostics v_gone = row_count;
  return v_gone;
end $$;

grant execute on function iu_core.fn_vector_points_forget(text, uuid[]) to vector_worker;
