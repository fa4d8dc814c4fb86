-- The doorman of fn_execution_start. A login with stagedoor_producer is a back end's: it starts any playbook, in any
-- workspace or in none, as it enqueues any job. Members start in a workspace where they may operate. Internal.
create or replace function noetl.require_starter(p_workspace_id uuid) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_has_role(iu_core.fn_caller_role(), 'stagedoor_producer', 'usage') or iu_core.fn_caller_is_service() then
    return 'service';
  end if;
  if p_workspace_id is null then
    raise exception using
      errcode = 'SD001',
      message = 'Members start playbooks in a workspace, and none was given',
      hint = 'Give workspace_id: one of the workspaces where you may operate.';
  end if;
  return iu_core.require_member(p_workspace_id, 'operate');
end $$;
