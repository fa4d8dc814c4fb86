-- Command runs: who ran which command, and how it ended.

-- Starts a run: who runs which command, with the digest of its input.
create or replace function iu_core.fn_command_run_start(
  p_command text,
  p_input_digest text default null,
  p_workspace_id uuid default null,
  p_actor text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  v_run_id uuid;
begin
  perform iu_core.require_member(p_workspace_id, 'operate');
  perform iu_core.fn_require_workspace(p_workspace_id);
  if p_command is null or btrim(p_command) = '' then
    raise exception using errcode = 'SD001', message = 'A run needs the name of its command';
  end if;
  if p_input_digest !~ '^[0-9a-f]{64}$' then
    raise exception using errcode = 'SD001', message = 'The input digest is a sha-256 in 64 lowercase hexadecimal digits';
  end if;
  select * into v_actor from iu_core.fn_actor_for(p_actor);
  insert into iu_core.dot_iu_command_run (command, input_digest, workspace_id, actor, actor_via)
  values (p_command, p_input_digest, p_workspace_id, v_actor.actor, v_actor.via)
  returning run_id into v_run_id;
  return v_run_id;
end $$;

grant execute on function iu_core.fn_command_run_start(text, text, uuid, text) to
  dot_executor, service_role, directus, authenticated, stagedoor_reviewer;

-- Ends a run once, with an event: applied, or failed with an error.
create or replace function iu_core.fn_command_run_finish(p_run_id uuid, p_error text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_command_run_workspace(p_run_id), 'operate');
  perform iu_core.fn_command_run_end(p_run_id, p_error);
end $$;

grant execute on function iu_core.fn_command_run_finish(uuid, text) to
  dot_executor, service_role, directus, authenticated, stagedoor_reviewer;

-- Ends a run. Internal: the caller has checked the right.
create or replace function iu_core.fn_command_run_end(p_run_id uuid, p_error text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run iu_core.dot_iu_command_run;
begin
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

-- The workspace of a run that the caller may see. Another workspace's run gives the same error as one that is missing or has
-- ended, so that an error reveals nothing. Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_command_run_workspace(p_run_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.dot_iu_command_run where run_id = p_run_id;
  if not found
     or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD401',
      message = format('Run %s is not running', coalesce(p_run_id::text, 'NULL')),
      detail = json_build_object('run', p_run_id)::text;
  end if;
  return v_workspace;
end $$;
