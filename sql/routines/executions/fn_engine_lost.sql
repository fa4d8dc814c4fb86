-- Refuses an engine that does not hold (any more) what it writes under. Internal.
create or replace function noetl.fn_engine_lost(p_engine uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD805',
    message = format('The lease of the engine %s has passed, or its shards belong to another', coalesce(p_engine::text, 'NULL')),
    detail = json_build_object('engine', p_engine)::text;
end $$;
