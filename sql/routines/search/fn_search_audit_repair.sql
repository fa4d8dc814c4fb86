-- Points that Postgres says are written and the store does not hold, or holds wrongly: they are written again by a worker, at once.
-- p_removed was too many when it was looked at, and has been taken out of the store by its id: what somebody wants there by now is
-- written again, too. Returns how many of p_chunk_ids are. Never for the legacy collection.
create or replace function iu_core.fn_search_audit_repair(p_collection text, p_chunk_ids uuid[], p_removed uuid[] default '{}') returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_units uuid[];
  v_count integer;
begin
  perform iu_core.require_member(null, 'administer');
  if exists (select from iu_core.search_collection c where c.collection = p_collection and c.state = 'legacy') then
    raise exception using
      errcode = 'SD916',
      message = format('The collection %s belongs to the old knowledge base and is only read', p_collection),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  perform iu_core.fn_vector_points_gone(p_collection, p_removed);
  -- Recorded for another unit than its text is of.
  delete from iu_core.search_point p
   using iu_core.search_chunk c
   where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and c.chunk_id = p.chunk_id and c.unit_id is distinct from p.unit_id;
  with again as (
    update iu_core.search_point p
       set state = 'writing', vector = null, generation = -1, tx = pg_current_xact_id(), changed_at = clock_timestamp() - interval '1 minute'
     where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.state = 'written'
    returning p.unit_id
  )
  select array_agg(distinct a.unit_id order by a.unit_id), count(*) into v_units, v_count
    from (select unit_id from again
          union all
          select c.unit_id from iu_core.search_chunk c
           where c.chunk_id = any (p_chunk_ids) and c.unit_id is not null
             and not exists (select from iu_core.search_point p where p.collection = p_collection and p.chunk_id = c.chunk_id)) a;
  perform iu_core.fn_vector_due(v_units);
  return v_count;
end $$;

grant execute on function iu_core.fn_search_audit_repair(text, uuid[], uuid[]) to dot_executor, service_role;
