-- An engine goes, and what it holds is free at once. p_crashed: it goes because of an error while these commands ran; they are
-- charged with a crash, the others are not.
create or replace function noetl.fn_engine_leave(p_engine uuid, p_crashed text[] default '{}') returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from noetl.engine where engine_id = p_engine for update;
  if found then
    perform noetl.fn_engine_free(array[p_engine], cardinality(p_crashed) > 0, p_crashed);
  end if;
end $$;

grant execute on function noetl.fn_engine_leave(uuid, text[]) to dot_executor;
