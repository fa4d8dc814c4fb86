-- Ends an execution before its time: nothing more of it begins, and nobody waits for what runs.
create or replace function noetl.fn_execution_cancel(p_execution_id bigint, p_reason text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'operate');
  perform noetl.fn_execution_steer(p_execution_id, 'cancel', p_reason);
end $$;

grant execute on function noetl.fn_execution_cancel(bigint, text) to authenticated, service_role, dot_executor, stagedoor_reviewer;
