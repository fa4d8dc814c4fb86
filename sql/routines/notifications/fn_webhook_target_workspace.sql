-- The workspace that a target belongs to, or would: for the check of who may touch it. Locked, so that what was checked is
-- still so when it is changed. Internal.
create or replace function iu_core.fn_webhook_target_workspace(p_target_code text, p_given uuid default null) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select t.workspace_id into v_workspace from iu_core.webhook_target t where t.target_code = p_target_code for update;
  return case when found then v_workspace else p_given end;
end $$;
