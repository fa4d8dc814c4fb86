-- Ends a run once, with an event: applied, or failed with an error.
create or replace function iu_core.fn_command_run_finish(p_run_id uuid, p_error text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run iu_core.dot_iu_command_run;
begin
  perform iu_core.require_member(iu_core.fn_command_run_workspace(p_run_id), 'operate');
  update iu_core.dot_iu_command_run
     set status = case when p_error is null then 'applied' else 'failed' end,
         error = p_error,
         finished_at = clock_timestamp()
   where run_id = p_run_id and status = 'running'
  returning * into v_run;
  if not found then
    raise exception using
      errcode = 'SD401',
      message = format('Run %s is not running', p_run_id),
      detail = json_build_object('run', p_run_id)::text;
  end if;
  perform iu_core.fn_event_emit(
    'dot', case when p_error is null then 'run.applied' else 'run.failed' end,
    p_event_subject_ref => p_run_id::text,
    p_workspace_id => v_run.workspace_id,
    p_safe_payload => jsonb_build_object('run_id', p_run_id, 'command', v_run.command));
end $$;

grant execute on function iu_core.fn_command_run_finish(uuid, text) to
  dot_executor, service_role, directus, authenticated, stagedoor_reviewer;
