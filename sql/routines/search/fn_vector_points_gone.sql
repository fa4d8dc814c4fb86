-- The store has let go of these points. Their tombstones stay for as long as a worker may be late, then they go, too. What somebody
-- wants there again by now was taken away too late: it is written again, at once. Answers how many tombstones went.
create or replace function iu_core.fn_vector_points_gone(p_collection text, p_chunk_ids uuid[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_units uuid[];
  v_count integer;
begin
  if p_collection is null or p_chunk_ids is null then
    raise exception using errcode = 'SD001', message = 'Which points of which collection are gone?';
  end if;
  with again as (
    update iu_core.search_point p
       set state = 'writing', vector = null, generation = -1, tx = pg_current_xact_id(),
           changed_at = clock_timestamp() - interval '1 minute'
     where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.state <> 'gone'
    returning p.unit_id
  )
  select array_agg(distinct a.unit_id order by a.unit_id) into v_units from again a;
  perform iu_core.fn_vector_due(v_units);
  delete from iu_core.search_point p
   where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.state = 'gone'
     and p.changed_at < clock_timestamp() - interval '10 minutes';
  get diagnostics v_count = row_count;
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_points_gone(text, uuid[]) to vector_worker;
