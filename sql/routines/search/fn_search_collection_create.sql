-- A new collection for the vectors of units. It is being built beside the active one until it holds all that that one holds; the
-- first of all is active at once: there is nothing to lose. One is built at a time. p_first: only if there is none yet, else NULL.
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
  perform pg_notify('stagedoor_vectors', '');
end $$;

grant execute on function iu_core.fn_search_collection_create(text, text, integer, text, text, uuid, boolean)
  to vector_worker, dot_executor, service_role;
