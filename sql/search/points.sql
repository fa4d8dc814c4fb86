-- Points of the vector stores.

-- Upserts vectors (float32, little-endian) into the store `postgres`, for points that were recorded before. Missing points are
-- skipped, so that a late worker restores nothing. Returns how many were stored.
create or replace function iu_core.fn_vector_points_store(p_collection text, p_chunk_ids uuid[], p_vectors bytea[])
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- By key, as in fn_vector_points_confirm_written.
set enable_seqscan = off
as $$
declare
  c iu_core.search_collection := iu_core.fn_search_collection_require_writable(p_collection);
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
  -- In one order, so that two workers with the same points cannot deadlock.
  perform from iu_core.search_point p
    where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) order by p.chunk_id for no key update;
  update iu_core.search_point p
     set vector = g.vector, state = 'written', changed_at = clock_timestamp()
    from unnest(p_chunk_ids, p_vectors) as g (chunk_id, vector)
   where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.chunk_id = g.chunk_id and p.state <> 'removed';
  get diagnostics v_stored = row_count;
  return v_stored;
end $$;

grant execute on function iu_core.fn_vector_points_store(text, uuid[], bytea[]) to vector_worker;

-- Confirms that the store has written these points, as recorded with these generations (0: by a backfill). A point that was
-- removed meanwhile, or that another worker is writing now, does not count. The store `postgres` has done so with the vector: such
-- a point is not written twice. Returns how many count.
create or replace function iu_core.fn_vector_points_confirm_written(p_collection text, p_chunk_ids uuid[], p_generation bigint[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- By key (`any` of the ids), whatever the planner knows of a table that is being filled: a look at the whole table for every batch
-- took four times as long.
set enable_seqscan = off
as $$
declare
  v_count integer;
  v_stored integer;
begin
  if p_collection is null or p_chunk_ids is null or p_generation is null or cardinality(p_chunk_ids) <> cardinality(p_generation) then
    raise exception using errcode = 'SD001', message = 'A collection, its points and one generation for each point are needed';
  end if;
  -- A session that activates another collection waits for us, or we see its change.
  perform from iu_core.search_collection c where c.collection = p_collection for share;
  update iu_core.search_point p
     set state = 'written', tx = pg_current_xact_id(), changed_at = clock_timestamp()
    from unnest(p_chunk_ids, p_generation) as w (chunk_id, generation)
   where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.chunk_id = w.chunk_id and p.generation = w.generation
     and p.state in ('writing', 'written') and p.vector is null;
  get diagnostics v_count = row_count;
  select count(*) into v_stored
    from unnest(p_chunk_ids, p_generation) as w (chunk_id, generation)
    join iu_core.search_point p on p.chunk_id = w.chunk_id and p.generation = w.generation
   where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.vector is not null;
  return v_count + v_stored;
end $$;

grant execute on function iu_core.fn_vector_points_confirm_written(text, uuid[], bigint[]) to vector_worker;

-- Records that the embedder of a collection being built rejects these chunks. They are not sent again, and the collection gets
-- an issue. Only points recorded by the backfill (generation 0) count: an edited one starts again. Returns how many count.
create or replace function iu_core.fn_vector_points_reject(p_collection text, p_chunk_ids uuid[], p_error text) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
  v_all bigint;
begin
  if p_collection is null or p_chunk_ids is null then
    raise exception using errcode = 'SD001', message = 'A collection and its points are needed';
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

grant execute on function iu_core.fn_vector_points_reject(text, uuid[], text) to vector_worker;

-- Deletes points of the store `postgres` by id, or all points of the collection (NULL). They stay as tombstones, so that every
-- process that mirrors them learns of it and no late write restores them. Returns how many there were.
create or replace function iu_core.fn_vector_points_delete(p_collection text, p_chunk_ids uuid[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone integer;
begin
  perform iu_core.fn_search_collection_require_writable(p_collection);
  perform from iu_core.search_point p
    where p.collection = p_collection and (p_chunk_ids is null or p.chunk_id = any (p_chunk_ids)) and p.state <> 'removed'
    order by p.chunk_id for no key update;
  update iu_core.search_point p
     set vector = null, state = 'removed', changed_at = clock_timestamp()
   where p.collection = p_collection and (p_chunk_ids is null or p.chunk_id = any (p_chunk_ids)) and p.state <> 'removed';
  get diagnostics v_gone = row_count;
  return v_gone;
end $$;

grant execute on function iu_core.fn_vector_points_delete(text, uuid[]) to vector_worker;

-- Confirms that the store has removed these points. Their tombstones stay as long as a late worker is possible, then they are
-- deleted. A point that is wanted again by now is written again at once. Returns how many tombstones were deleted.
create or replace function iu_core.fn_vector_points_confirm_removed(p_collection text, p_chunk_ids uuid[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_units uuid[];
  v_rows uuid[];
  v_count integer;
begin
  if p_collection is null or p_chunk_ids is null then
    raise exception using errcode = 'SD001', message = 'A collection and its points are needed';
  end if;
  with again as (
    update iu_core.search_point p
       set state = 'writing', vector = null, generation = -1, tx = pg_current_xact_id(),
           changed_at = clock_timestamp() - interval '1 minute'
     where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.state <> 'removed'
    returning p.unit_id, p.row_id
  )
  select array_agg(distinct a.unit_id order by a.unit_id) filter (where a.unit_id is not null),
         array_agg(distinct a.row_id order by a.row_id) filter (where a.row_id is not null) into v_units, v_rows from again a;
  perform iu_core.fn_vector_enqueue_now(v_units);
  perform iu_core.fn_search_rows_enqueue_now(v_rows);
  delete from iu_core.search_point p
   where p.collection = p_collection and p.chunk_id = any (p_chunk_ids) and p.state = 'removed'
     and p.changed_at < clock_timestamp() - interval '10 minutes';
  get diagnostics v_count = row_count;
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_points_confirm_removed(text, uuid[]) to vector_worker;

-- Stamps every change of a point with its transaction: processes that mirror the points read by it what became visible since
-- their last read (docs/decisions/0002). A trigger, because a writer that forgot it would be missed by all of them.
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
