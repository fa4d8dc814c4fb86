-- The consumer, or an error that says which one there is not. Internal.
create or replace function iu_core.fn_consumer_require(p_consumer_id text) returns iu_core.consumer_registry
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry;
begin
  select * into c from iu_core.consumer_registry where consumer_id = p_consumer_id;
  if not found then
    raise exception using
      errcode = 'SD320',
      message = format('There is no consumer called %L', p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id)::text;
  end if;
  return c;
end $$;
