-- Opens a run: who runs which command, on input with which digest.
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
