-- Points in a vector store.

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

-- The embedder of a collection that is being built does not take these chunks. They are not sent to it again, and people see an
-- issue of the collection. Only what whoever fills it recorded (generation 0) counts: what was edited meanwhile begins anew. Answers
-- how many were passed over.
create or replace function iu_core.fn_vector_points_refused(p_collection text, p_chunk_ids uuid[], p_error text) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
  v_all bigint;
begin
  if p_collection is null or p_chunk_ids is null then
    raise exception using errcode = 'SD001', message = 'Which points of which collection were refused?';
  end if;
  update iu_core.search_point p
     set state = 'refused', vector = null, tx = pg_current_xact_id(), changed_at = clock_timestamp()
   where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.generation = 0 and p.state = 'writing';
  get diagnostics v_count = row_count;
  if v_count = 0 then
    return 0;
  end if;
  select count(*) into v_all from iu_core.search_point p where p.collection = p_collection and p.state = 'refused';
  perform iu_core.fn_system_issue_open(
    'search_refused', 'warning', p_collection,
    format('The embedder of the new collection %s does not take %s of the texts', p_collection, v_all),
    jsonb_strip_nulls(jsonb_build_object('collection', p_collection, 'chunks', v_all, 'error', left(p_error, 500))),
    p_occurrences => v_count);
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_points_refused(text, uuid[], text) to vector_worker;

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

-- Every change of a point carries the transaction that made it: processes that mirror the points read by it what became visible
-- since they last looked (docs/decisions/0002). A writer that forgot to say so would be missed by all of them.
create or replace function iu_core.fn_search_point_stamp() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.tx := pg_current_xact_id();
  return new;
end $$;

create or replace trigger search_point_stamp before insert or update on iu_core.search_point
  for each row execute function iu_core.fn_search_point_stamp();
