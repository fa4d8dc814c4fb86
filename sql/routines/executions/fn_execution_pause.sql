-- Holds an execution: what runs may end and is recorded, nothing new begins until it is resumed.
create or replace function noetl.fn_execution_pause(p_execution_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'operate');
  perform noetl.fn_execution_steer(p_execution_id, 'pause');
end $$;

grant execute on function noetl.fn_execution_pause(bigint) to authenticated, service_role, dot_executor, stagedoor_reviewer;
