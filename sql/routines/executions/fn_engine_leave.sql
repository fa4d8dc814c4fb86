-- An engine ends in good order: what it holds is free at once, and nothing of it counts as a crash.
create or replace function noetl.fn_engine_leave(p_engine uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from noetl.engine where engine_id = p_engine for update;
  if found then
    perform noetl.fn_engine_free(array[p_engine], false);
  end if;
end $$;

grant execute on function noetl.fn_engine_leave(uuid) to dot_executor;
