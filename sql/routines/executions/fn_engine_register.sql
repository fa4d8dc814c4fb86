-- A process begins: it drives executions, runs their commands, or both, as long as it keeps its lease. p_handlers: what it
-- can be called for by name; commands that need another are not given to it.
--
-- Its node number goes into every id that it makes. Any free one rather than the lowest: what a process makes that is dead
-- already, or only thought to be, stays apart from what its successor makes in the same millisecond.
create or replace function noetl.fn_engine_register(
  p_name text, p_drives boolean, p_runs boolean, p_lease interval default '6 seconds', p_handlers text[] default '{}',
  out engine_id uuid, out node_number smallint
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if p_drives is null or p_runs is null or not (p_drives or p_runs) then
    raise exception using errcode = 'SD001', message = 'An engine drives executions, runs commands, or both';
  end if;
  if p_lease is null or p_lease not between '1 second' and '1 hour' then
    raise exception using errcode = 'SD001', message = 'A lease lasts from 1 second to 1 hour';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('noetl.engine.node_number', 0));
  select n into fn_engine_register.node_number from generate_series(1, 1023) n
   where not exists (select from noetl.engine e where e.node_number = n) order by random() limit 1;
  if not found then
    raise exception using errcode = 'SD001', message = 'All 1023 node numbers are taken by engines: stop some, or wait for the leases of dead ones';
  end if;
  insert into noetl.engine as e (name, node_number, drives, runs, handlers, lease, leased_until, registered_by)
  values (left(p_name, 200), fn_engine_register.node_number, p_drives, p_runs, coalesce(p_handlers, '{}'), p_lease, clock_timestamp() + p_lease, iu_core.fn_actor())
  returning e.engine_id into fn_engine_register.engine_id;
end $$;

grant execute on function noetl.fn_engine_register(text, boolean, boolean, interval, text[]) to dot_executor;
