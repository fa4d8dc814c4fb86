-- The doorman: every definer function that people can call begins with it. Returns the member's app role.
-- The right must be one of the member's role in that workspace AND one that the database role may ever have,
-- so that an agent's token decides nothing even if its subject is also a reviewer.
create or replace function iu_core.require_member(p_workspace_id uuid, p_right text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role text := iu_core.fn_member_with_right(p_workspace_id, p_right);
begin
  if v_role is null then
    raise exception using
      errcode = 'SD201',
      message = format('%s is not a member of the workspace %s', iu_core.fn_actor(), coalesce(p_workspace_id::text, '(global)')),
      detail = json_build_object('actor', iu_core.fn_actor(), 'workspace', p_workspace_id)::text;
  end if;
  return v_role;
end $$;

grant execute on function iu_core.require_member(uuid, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
