-- Takes back what dead engines held: those whose lease has passed. Whoever asks first does it, the others go on.
-- Returns how many commands are free again.
create or replace function noetl.fn_engine_reap() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead uuid[];
begin
  if not exists (select from noetl.engine where leased_until <= clock_timestamp()) then
    return 0;
  end if;
  v_dead := array(select engine_id from noetl.engine where leased_until <= clock_timestamp() for update skip locked);
  if cardinality(v_dead) = 0 then
    return 0;
  end if;
  return noetl.fn_engine_free(v_dead, true);
end $$;

grant execute on function noetl.fn_engine_reap() to dot_executor;
