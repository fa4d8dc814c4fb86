-- A collection that others fill is never changed here, by the owner neither (VG-1, VA-5).
create or replace function iu_core.fn_search_collection_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'TRUNCATE' then
    raise exception using
      errcode = 'SD916',
      message = 'Among the collections is that of the old knowledge base, which is only read',
      detail = '{"collection": "all"}';
  end if;
  raise exception using
    errcode = 'SD916',
    message = format('The collection %s belongs to the old knowledge base and is only read', old.collection),
    detail = json_build_object('collection', old.collection)::text;
end $$;

create or replace trigger search_collection_of_the_old_stays
  before update or delete on iu_core.search_collection
  for each row when (old.state = 'legacy') execute function iu_core.fn_search_collection_guard();
create or replace trigger search_collection_is_not_truncated
  before truncate on iu_core.search_collection
  for each statement execute function iu_core.fn_search_collection_guard();
