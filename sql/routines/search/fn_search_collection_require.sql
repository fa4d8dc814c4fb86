-- The collection, if it is one of ours in that state. Internal: the old knowledge base's is nobody's to change.
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
      message = format('The collection %s belongs to the old knowledge base and is only read', p_collection),
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
