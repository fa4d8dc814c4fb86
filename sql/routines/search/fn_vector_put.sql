-- The text stage of a worker's rows, and the plan of their vectors, in one transaction. p_sources is an array of
--   {outbox_id, generation, unit_version_id (of a unit), content_hash, updated_at (of a document), chunks: [{from, to}]}
-- without chunks it is taken out of search. Rows that are no longer the worker's, or were enqueued again, are passed over: whoever
-- has them next reads Postgres again. One such transaction a workspace at a time, so that the last word is the newest.
-- Answers what is left to do in the stores, by row:
--   kept    the row is still the worker's, and its text is in search
--   embed   this chunk, by its place in the array, has no vector in that collection, and is recorded as being written
--   remove  this point has no chunk any more
create or replace function iu_core.fn_vector_put(p_worker uuid, p_sources jsonb)
returns table (outbox_id uuid, action text, collection text, chunk_id uuid, "position" smallint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_held uuid[];
  v_puts jsonb;
  v_gone uuid[];
begin
  if p_worker is null or jsonb_typeof(p_sources) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'The text stage needs a worker and an array of sources';
  end if;
  -- Always in this order, so that two workers cannot wait for each other. Before the look at whose the rows are: who comes next
  -- has waited here.
  perform iu_core.fn_search_lock(w.workspace_id)
     from (select distinct coalesce(u.workspace_id, d.workspace_id) as workspace_id
             from jsonb_to_recordset(p_sources) as s (outbox_id uuid)
             join iu_core.vector_outbox o on o.outbox_id = s.outbox_id
             left join iu_core.information_unit u on u.unit_id = o.unit_id
             left join iu_core.kb_document d on d.document_id = o.document_id
            order by 1) as w;
  with held as materialized (
    select o.outbox_id, o.unit_id, o.document_id, s.unit_version_id, s.content_hash, s.chunks
      from jsonb_to_recordset(p_sources) as s (outbox_id uuid, generation bigint, unit_version_id uuid, content_hash text, chunks jsonb)
      join iu_core.vector_outbox o on o.outbox_id = s.outbox_id and o.generation = s.generation
       and o.worker_id = p_worker and o.status = 'processing' and o.leased_until > clock_timestamp()
  )
  select array_agg(h.outbox_id),
         jsonb_agg(jsonb_build_object('unit_id', h.unit_id, 'document_id', h.document_id, 'version', h.unit_version_id,
                                      'hash', h.content_hash, 'chunks', h.chunks)),
         array_agg(h.document_id) filter (where h.document_id is not null and coalesce(jsonb_typeof(h.chunks), 'null') = 'null')
    into v_held, v_puts, v_gone
    from held h;
  if v_held is null then
    return;
  end if;
  perform iu_core.fn_search_text_put(v_puts);
  delete from iu_core.search_document_sync y where y.document_id = any (v_gone);
  insert into iu_core.search_document_sync as y (document_id, document_updated_at, content_hash)
  select o.document_id, s.updated_at, s.content_hash
    from jsonb_to_recordset(p_sources) as s (outbox_id uuid, content_hash text, updated_at timestamptz, chunks jsonb)
    join iu_core.vector_outbox o on o.outbox_id = s.outbox_id
   where o.outbox_id = any (v_held) and o.document_id is not null and coalesce(jsonb_typeof(s.chunks), 'null') <> 'null'
   order by o.document_id
  on conflict (document_id) do update
     set document_updated_at = excluded.document_updated_at, content_hash = excluded.content_hash, synced_at = clock_timestamp();
  -- Whoever makes another collection the active one waits for us, or we see it.
  perform from iu_core.search_collection c where c.state in ('active', 'building') order by c.collection for share;
  return query
    with live as materialized (
      select c.collection from iu_core.search_collection c
       where c.state in ('active', 'building') and c.source_kind = 'information_unit'
    ), held as materialized (
      select o.outbox_id, o.unit_id, o.generation from iu_core.vector_outbox o where o.outbox_id = any (v_held)
    ), gone as (
      update iu_core.search_point p
         set state = 'gone', vector = null, generation = h.generation, tx = pg_current_xact_id(),
             changed_at = case p.state when 'gone' then p.changed_at else clock_timestamp() end
        from held h
       where p.unit_id = h.unit_id and not exists (select from iu_core.search_chunk c where c.chunk_id = p.chunk_id)
      returning h.outbox_id, p.collection, p.chunk_id
    ), writing as (
      insert into iu_core.search_point as p (collection, chunk_id, unit_id, text_hash, generation, state)
      select l.collection, c.chunk_id, c.unit_id, c.text_hash, h.generation, 'writing'
        from held h
        join iu_core.search_chunk c on c.unit_id = h.unit_id
       cross join live l
       order by l.collection, c.chunk_id
      on conflict (collection, chunk_id) do update
         set state = 'writing', vector = null, generation = excluded.generation, tx = pg_current_xact_id(), changed_at = clock_timestamp()
       where p.state <> 'written'
      returning p.collection, p.chunk_id
    )
    select h.outbox_id, 'kept', null::text, null::uuid, null::smallint from held h
    union all
    -- What is retired goes as a whole.
    select g.outbox_id, 'remove', g.collection, g.chunk_id, null from gone g join live using (collection)
    union all
    select h.outbox_id, 'embed', w.collection, w.chunk_id, c.position
      from writing w
      join iu_core.search_chunk c on c.chunk_id = w.chunk_id
      join held h on h.unit_id = c.unit_id;
end $$;

grant execute on function iu_core.fn_vector_put(uuid, jsonb) to vector_worker;
