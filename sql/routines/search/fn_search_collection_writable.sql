-- Refuses collections that are not ours to write: unknown ones, and those of the old knowledge base. Internal.
create or replace function iu_core.fn_search_collection_writable(p_collection text) returns iu_core.search_collection
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
      message = format('There is no collection %s that this can be done with', coalesce(quote_literal(p_collection), 'NULL')),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  if c.state = 'legacy' then
    raise exception using
      errcode = 'SD916',
      message = format('The collection %s belongs to the old knowledge base and is only read', p_collection),
      detail = json_build_object('collection', p_collection)::text;
  end if;
  return c;
end $$;
