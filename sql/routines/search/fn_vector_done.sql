-- The worker has done these rows. They are done only if nobody enqueued them again meanwhile, their text is in search as it is now,
-- and every chunk has its vector in the active collection; what is not is due again. What was embedded last is written down here,
-- where it is true. Answers each row's status; rows that the worker no longer has are left out.
create or replace function iu_core.fn_vector_done(p_worker uuid, p_outbox uuid[], p_generation bigint[])
returns table (outbox_id uuid, status text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_collection text;
begin
  if p_worker is null or p_outbox is null or p_generation is null or cardinality(p_outbox) <> cardinality(p_generation) then
    raise exception using errcode = 'SD001', message = 'A worker, and as many generations as rows';
  end if;
  select c.collection into v_collection from iu_core.search_collection c
   where c.state = 'active' and c.source_kind = 'information_unit' for share;
  perform from iu_core.vector_outbox o
    where o.outbox_id = any (p_outbox) and o.worker_id = p_worker and o.status = 'processing'
    order by o.unit_id, o.document_id for no key update;
  -- Of several versions it is the one that the chunks were taken from, not the newest.
  insert into iu_core.unit_vector as v (unit_id, unit_version_id, content_hash_at_embedding, collection)
  select k.unit_id, min(k.unit_version_id::text)::uuid, min(k.content_hash_at_embedding), v_collection
    from iu_core.vector_outbox o
    join iu_core.search_chunk k on k.unit_id = o.unit_id
    left join iu_core.search_point p on p.collection = v_collection and p.chunk_id = k.chunk_id and p.state = 'written'
   where o.outbox_id = any (p_outbox) and o.worker_id = p_worker and o.status = 'processing'
   group by k.unit_id
  having count(*) = count(p.chunk_id)
   order by k.unit_id
  on conflict (unit_id) do update
     set unit_version_id = excluded.unit_version_id, content_hash_at_embedding = excluded.content_hash_at_embedding,
         collection = excluded.collection, embedded_at = v_now
   where (v.unit_version_id, v.content_hash_at_embedding, v.collection)
         is distinct from (excluded.unit_version_id, excluded.content_hash_at_embedding, excluded.collection);
  delete from iu_core.unit_vector v
   using iu_core.vector_outbox o
   where o.outbox_id = any (p_outbox) and o.worker_id = p_worker and o.status = 'processing' and v.unit_id = o.unit_id
     and not exists (select from iu_core.search_chunk k where k.unit_id = o.unit_id);
  return query
    with told as (
      select o.outbox_id,
             o.generation = g.generation as newest,
             case when o.unit_id is null
                    then d.deleted_at is not null or d.origin = 'cut'
                         or coalesce(y.content_hash = d.content_hash, false)
                            and exists (select from iu_core.search_chunk k
                                         where k.document_id = o.document_id and k.content_hash_at_embedding = d.content_hash)
                  when u.deleted_at is not null or u.lifecycle_status = 'retired'
                    then not exists (select from iu_core.search_chunk k where k.unit_id = o.unit_id)
                  else exists (select from iu_core.search_chunk k
                                where k.unit_id = o.unit_id and k.content_hash_at_embedding = u.content_hash)
                       and not exists (select from iu_core.search_chunk k
                                        where k.unit_id = o.unit_id
                                          and not exists (select from iu_core.search_point p
                                                           where p.collection = v_collection and p.chunk_id = k.chunk_id
                                                             and p.state = 'written')) end as complete
        from unnest(p_outbox, p_generation) as g (outbox_id, generation)
        join iu_core.vector_outbox o on o.outbox_id = g.outbox_id
        left join iu_core.information_unit u on u.unit_id = o.unit_id
        left join iu_core.kb_document d on d.document_id = o.document_id
        left join iu_core.search_document_sync y on y.document_id = o.document_id
       where o.worker_id = p_worker and o.status = 'processing'
    )
    update iu_core.vector_outbox o
       set status = case when t.newest and t.complete then 'done' else 'pending' end,
           worker_id = null, leased_until = null, changed_at = v_now,
           last_error = null,
           retry_count = case when t.newest and t.complete then 0 else o.retry_count end,
           -- The lease passed, or another collection has become the active one: soon, but not in a circle.
           earliest_run_at = case when t.newest and not t.complete then v_now + interval '1 second' else o.earliest_run_at end
      from told t where o.outbox_id = t.outbox_id
    returning o.outbox_id, o.status;
  perform iu_core.fn_vector_recovered(p_outbox);
end $$;

grant execute on function iu_core.fn_vector_done(uuid, uuid[], bigint[]) to vector_worker;
