-- Whether a command was handed over: somebody has it or will, or its end is on its way to the owner or has arrived. A statement
-- sees all of that as it was at one moment, so that a command which ends meanwhile is not missed between the two.
create or replace function noetl.fn_command_is_out(p_execution_id bigint, p_command_id text) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from noetl.command where command_id = p_command_id)
      or exists (select from noetl.inbox
                  where execution_id = p_execution_id and body ->> 'command_id' = p_command_id and kind = 'command_ended')
      or exists (select from noetl.event
                  where execution_id = p_execution_id and event_type in ('command.completed', 'command.failed')
                    and meta ->> 'command_id' = p_command_id)
$$;

grant execute on function noetl.fn_command_is_out(bigint, text) to dot_executor;
