-- Takes a reader away with its position; a partition no longer waits for it. Returns whether it was there. After a
-- logical restore its position means nothing: removed and registered from the beginning, it reads everything again.
create or replace function iu_core.fn_event_reader_remove(p_reader text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_reader is null then
    raise exception using errcode = 'SD001', message = 'Name the reader to remove, not NULL';
  end if;
  delete from iu_core.event_reader where reader = p_reader;
  return found;
end $$;

grant execute on function iu_core.fn_event_reader_remove(text) to dot_executor;
