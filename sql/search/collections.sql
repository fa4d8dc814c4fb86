-- Collections of vectors: creation, backfill, switch.

-- Creates a collection for the vectors of units. Search uses the active one until it holds all that the active one
-- holds; the very first is active at once. Only one is built at a time. p_first: create it only if there is none yet, else
-- return NULL.
create or replace function iu_core.fn_search_collection_create(
  p_embedder text,
  p_model text,
  p_dimension integer,
  p_store text,
  p_fingerprint text,
  p_generation_id uuid default null,
  p_first boolean default false,
  out collection text,
  out state text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_building text;
begin
  if p_embedder is null or p_dimension is null or p_store is null or p_fingerprint is null then
    raise exception using errcode = 'SD001', message = 'A collection needs an embedder, a dimension, a store and a fingerprint';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.search_collection', 0));
  if p_first and exists (select from iu_core.search_collection c
                          where c.source_kind = 'information_unit' and c.state in ('active', 'building')) then
    return;
  end if;
  select c.collection into v_building from iu_core.search_collection c
   where c.state = 'building' and c.source_kind = 'information_unit';
  if found then
    raise exception using
      errcode = 'SD918',
      message = format('The collection %s is being built already', v_building),
      detail = json_build_object('collection', v_building)::text;
  end if;
  collection := 'units_' || (select coalesce(max(substring(c.collection from '^units_(\d+)$')::integer), 0) + 1
                               from iu_core.search_collection c);
  state := case when exists (select from iu_core.search_collection c where c.state = 'active' and c.source_kind = 'information_unit')
                then 'building' else 'active' end;
  insert into iu_core.search_collection (collection, source_kind, state, embedder, model, dimension, store, generation_id, fingerprint,
                                         activated_at)
  values (collection, 'information_unit', state, p_embedder, p_model, p_dimension, p_store, p_generation_id, p_fingerprint,
          case state when 'active' then clock_timestamp() end);
  perform pg_notify('stagedoor', 'search ');
end $$;

grant execute on function iu_core.fn_search_collection_create(text, text, integer, text, text, uuid, boolean)
  to vector_worker, dot_executor, service_role;

-- The next chunks that have no vector in a collection, with their texts, and recorded as being written: two concurrent
-- backfills get different ones. Chunks that were begun a minute ago and not finished are returned again, rejected ones are not.
-- The text of a chunk of a table's row is read by the worker, in the row. Returns nothing unless the gate that excludes staging is open.
create or replace function iu_core.fn_search_collection_backfill(p_collection text, p_limit integer default 100)
returns table (chunk_id uuid, unit_id uuid, unit_version_id uuid, canonical_address text, content_hash text, workspace_id uuid,
               "position" smallint, text text, row_id uuid, from_char integer, to_char integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 10000';
  end if;
  if not exists (select from iu_core.search_collection c
                  where c.collection = p_collection and c.source_kind = 'information_unit' and c.state in ('building', 'active')) then
    raise exception using
      errcode = 'SD915',
      message = format('There is no collection %s that can be backfilled', coalesce(p_collection, 'NULL')),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  if not exists (select from iu_core.dot_config where key = 'iu_core.no_vector_staging_excluded' and value = 'true') then
    return;
  end if;
  return query
    with picked as materialized (
      select c.* from iu_core.search_chunk c
       where c.document_id is null
         and (c.unit_id is not null
              or exists (select from iu_core.search_row r join iu_core.search_table t on t.table_id = r.table_id
                          where r.row_id = c.row_id and t.state = 'active'))
         and not exists (select from iu_core.search_point p
                          where p.collection = p_collection and p.chunk_id = c.chunk_id
                            and (p.state in ('written', 'refused') or p.state = 'writing' and p.changed_at > clock_timestamp() - interval '1 minute'))
       order by c.chunk_no limit p_limit
         -- A concurrent removal of a chunk sees the point that we record, or we do not see the chunk.
         for key share skip locked
    ), writing as (
      insert into iu_core.search_point as p (collection, chunk_id, unit_id, row_id, text_hash, generation, state)
      select p_collection, c.chunk_id, c.unit_id, c.row_id, c.text_hash, 0, 'writing' from picked c order by c.chunk_id
      on conflict (collection, chunk_id) do update
         set state = 'writing', vector = null, generation = 0, tx = pg_current_xact_id(), changed_at = clock_timestamp()
       where p.state <> 'written'
      returning p.chunk_id
    )
    select c.chunk_id, c.unit_id, c.unit_version_id, u.canonical_address, c.content_hash_at_embedding, c.workspace_id, c.position,
           substring(v.body from c.from_char + 1 for c.to_char - c.from_char), c.row_id, c.from_char, c.to_char
      from writing w
      join picked c on c.chunk_id = w.chunk_id
      left join iu_core.information_unit u on u.unit_id = c.unit_id
      left join iu_core.unit_version v on v.unit_version_id = c.unit_version_id;
end $$;

grant execute on function iu_core.fn_search_collection_backfill(text, integer) to vector_worker;

-- Makes the collection that was built the active one, in one step, once it holds every vector of the active one; the old one is
-- retired. Returns whether it happened: not while something is missing. Chunks that its embedder rejects are not waited for,
-- unless they are so many that search would suffer; their units are retried until they are dead letters.
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
  v_rows uuid[];
begin
  c := iu_core.fn_search_collection_require(p_collection, 'building');
  -- Sessions that record a vector as written hold a shared lock on this row.
  select x.collection into v_old from iu_core.search_collection x
   where x.source_kind = c.source_kind and x.state = 'active' for update;
  if exists (select from iu_core.search_point a
               join iu_core.search_chunk k on k.chunk_id = a.chunk_id
              where a.collection = v_old and a.state = 'written'
                -- A table that has stopped cannot be read; all its rows are projected when it goes on.
                and (k.row_id is null
                     or exists (select from iu_core.search_row r join iu_core.search_table t on t.table_id = r.table_id
                                 where r.row_id = k.row_id and t.state = 'active'))
                and not exists (select from iu_core.search_point b
                                 where b.collection = p_collection and b.chunk_id = a.chunk_id and b.state in ('written', 'refused'))) then
    return false;
  end if;
  select count(*) filter (where p.state = 'written'), count(*) filter (where p.state = 'refused'),
         array_agg(distinct p.unit_id order by p.unit_id) filter (where p.state = 'refused' and p.unit_id is not null),
         array_agg(distinct p.row_id order by p.row_id) filter (where p.state = 'refused' and p.row_id is not null)
    into v_written, v_refused, v_units, v_rows
    from iu_core.search_point p
   where p.collection = p_collection and exists (select from iu_core.search_chunk k where k.chunk_id = p.chunk_id);
  -- An embedder that rejects so much is misconfigured; a few rejected chunks are normal.
  if v_refused > v_written or v_refused > greatest(10, v_written / 10) then
    return false;
  end if;
  update iu_core.search_collection set state = 'retired', retired_at = clock_timestamp() where collection = v_old;
  update iu_core.search_collection set state = 'active', activated_at = clock_timestamp() where collection = p_collection;
  update iu_core.unit_vector set collection = p_collection where collection = v_old;
  if v_refused > 0 then
    delete from iu_core.unit_vector where unit_id = any (v_units);
    perform iu_core.fn_vector_enqueue_now(v_units);
    perform iu_core.fn_search_rows_enqueue_now(v_rows);
    perform iu_core.fn_search_collection_resolve_issue(p_collection, 'The collection is in use; what it lacks is tried again.');
  end if;
  perform pg_notify('stagedoor', 'search ');
  return true;
end $$;

grant execute on function iu_core.fn_search_collection_activate(text) to vector_worker, dot_executor, service_role;

-- The collection, if it is ours and in that state. Raises otherwise. Internal: the collection of the old knowledge base cannot
-- be changed.
create or replace function iu_core.fn_search_collection_require(p_collection text, p_state text) returns iu_core.search_collection
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.search_collection;
begin
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.search_collection', 0));
  select * into c from iu_core.search_collection x where x.collection = p_collection for update;
  if c.state = 'legacy' then
    raise exception using
      errcode = 'SD916',
      message = format('The collection %s belongs to the old knowledge base and is read-only', p_collection),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  if c.state is distinct from p_state then
    raise exception using
      errcode = 'SD915',
      message = format('There is no collection %s that is %s', coalesce(p_collection, 'NULL'), p_state),
      detail = json_build_object('collection', p_collection, 'state', c.state)::text;
  end if;
  return c;
end $$;

-- Resolves the issue about chunks that the embedder of a collection rejects. Internal.
create or replace function iu_core.fn_search_collection_resolve_issue(p_collection text, p_resolution text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_issue iu_core.system_issue;
begin
  update iu_core.system_issue i
     set resolved_at = clock_timestamp(), resolved_by = iu_core.fn_actor(), resolution = p_resolution
   where i.code = 'search_refused' and i.subject_ref = p_collection and i.resolved_at is null
  returning i.* into v_issue;
  if found then
    perform iu_core.fn_event_emit(
      'system', 'issue_resolved',
      p_event_subject_ref => v_issue.issue_id::text,
      p_canonical_address => 'stagedoor://issues/' || v_issue.issue_id,
      p_safe_payload => jsonb_build_object('issue_id', v_issue.issue_id, 'code', v_issue.code, 'severity', v_issue.severity));
  end if;
end $$;

-- Cancels a collection that is being built; search is not affected.
create or replace function iu_core.fn_search_collection_cancel(p_collection text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_search_collection_require(p_collection, 'building');
  update iu_core.search_collection set state = 'retired', retired_at = clock_timestamp() where collection = p_collection;
  perform iu_core.fn_search_collection_resolve_issue(p_collection, 'The collection was given up.');
end $$;

grant execute on function iu_core.fn_search_collection_cancel(text) to vector_worker, dot_executor, service_role;

-- Deletes a collection that was retired at least ten minutes ago, after the store has dropped it: until then a running query
-- may use it. Fitted models without a collection are deleted too. Returns whether it was deleted.
create or replace function iu_core.fn_search_collection_delete(p_collection text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.search_collection;
begin
  c := iu_core.fn_search_collection_require(p_collection, 'retired');
  if c.retired_at > clock_timestamp() - interval '10 minutes' then
    return false;
  end if;
  delete from iu_core.search_point where collection = p_collection;
  delete from iu_core.search_collection where collection = p_collection;
  delete from iu_core.search_generation g
   where g.generation_id = c.generation_id
     and not exists (select from iu_core.search_collection x where x.generation_id = g.generation_id);
  return true;
end $$;

grant execute on function iu_core.fn_search_collection_delete(text) to vector_worker;

-- A collection that another system writes is never changed here, also not by the owner (VG-1, VA-5).
create or replace function iu_core.fn_search_collection_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'TRUNCATE' then
    raise exception using
      errcode = 'SD916',
      message = 'The collections cannot be truncated: one of them belongs to the old knowledge base and is read-only',
      detail = '{"collection": "all"}';
  end if;
  raise exception using
    errcode = 'SD916',
    message = format('The collection %s belongs to the old knowledge base and is read-only', old.collection),
    detail = json_build_object('collection', old.collection)::text;
end $$;

create or replace trigger search_collection_legacy_is_read_only
  before update or delete on iu_core.search_collection
  for each row when (old.state = 'legacy') execute function iu_core.fn_search_collection_guard();
create or replace trigger search_collection_is_not_truncated
  before truncate on iu_core.search_collection
  for each statement execute function iu_core.fn_search_collection_guard();

-- Stores a fitted model. It belongs to no collection until one is built with it.
create or replace function iu_core.fn_search_generation_add(
  p_embedder text, p_dimension integer, p_documents integer, p_terms integer, p_model bytea
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_generation_id uuid;
begin
  if p_embedder is null or p_dimension is null or p_documents is null or p_documents < 0 or p_terms is null or p_terms < 0
     or p_model is null then
    raise exception using errcode = 'SD001', message = 'A generation needs an embedder, a dimension, counts of at least 0 and a model';
  end if;
  insert into iu_core.search_generation (embedder, dimension, documents, terms, model)
  values (p_embedder, p_dimension, p_documents, p_terms, p_model)
  returning generation_id into v_generation_id;
  return v_generation_id;
end $$;

grant execute on function iu_core.fn_search_generation_add(text, integer, integer, integer, bytea) to vector_worker;

-- Raises for collections that we must not write: unknown ones, and those of the old knowledge base. Internal.
create or replace function iu_core.fn_search_collection_require_writable(p_collection text) returns iu_core.search_collection
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.search_collection;
begin
  select * into c from iu_core.search_collection where collection = p_collection;
  if not found then
    raise exception using
      errcode = 'SD915',
      message = format('There is no collection %s that can be written', coalesce(quote_literal(p_collection), 'NULL')),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  if c.state = 'legacy' then
    raise exception using
      errcode = 'SD916',
      message = format('The collection %s belongs to the old knowledge base and is read-only', p_collection),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  return c;
end $$;
