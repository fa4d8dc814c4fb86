-- Registers a reader. It starts now, or at the beginning of what the outbox still holds.
-- Registering again changes nothing. Returns whether it was new.
create or replace function iu_core.fn_event_reader_register(p_reader text, p_from_beginning boolean default false)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_reader is null or p_reader !~ '^[a-z][a-z0-9_.:-]{0,62}$' then
    raise exception using
      errcode = 'SD001',
      message = format('%L is not a name for a reader: lowercase letters, digits and _.:- are', p_reader);
  end if;
  insert into iu_core.event_reader (reader, seen)
  values (p_reader, case when p_from_beginning then '1:1:'::pg_snapshot else iu_core.fn_event_reading_snapshot() end)
  on conflict (reader) do nothing;
  return found;
end $$;

grant execute on function iu_core.fn_event_reader_register(text, boolean) to dot_executor, service_role;
