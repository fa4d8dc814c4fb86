-- Of the commands that an engine runs, those that are not its own any more: their loop or execution has ended, or its lease
-- had passed and they were given to others. Nobody waits for what they give.
create or replace function noetl.fn_command_cancelled(p_engine uuid, p_commands text[]) returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select h from unnest(p_commands) h
   where not exists (select from noetl.command c where c.command_id = h and c.leased_by = p_engine)
$$;

grant execute on function noetl.fn_command_cancelled(uuid, text[]) to dot_executor;
