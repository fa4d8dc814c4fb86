-- The workspace of a run that the caller may know of. A run of others is answered like one that is not there, or has
-- ended: an error must not tell who runs what. Internal: definer functions give it to require_member.
create or replace function iu_core.fn_command_run_workspace(p_run_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.dot_iu_command_run where run_id = p_run_id;
  if not found
     or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD401',
      message = format('Run %s is not running', coalesce(p_run_id::text, 'NULL')),
      detail = json_build_object('run', p_run_id)::text;
  end if;
  return v_workspace;
end $$;
