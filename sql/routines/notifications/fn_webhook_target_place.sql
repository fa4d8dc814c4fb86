-- The workspace where a target is, as far as the caller may know of it, or else where it is to be. Locked, so that what was
-- checked is still so when it is changed. Internal: definer functions give it to require_member.
create or replace function iu_core.fn_webhook_target_place(p_target_code text, p_given uuid) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select t.workspace_id into v_workspace from iu_core.webhook_target t where t.target_code = p_target_code for update;
  if found and iu_core.fn_workspace_is_known(v_workspace) then
    return v_workspace;
  end if;
  return p_given;
end $$;
