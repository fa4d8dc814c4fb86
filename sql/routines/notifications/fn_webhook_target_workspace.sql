-- The workspace of a target that the caller may know of; one of others is answered like one that is not there. Locked, so
-- that what was checked is still so when it is changed. Internal: definer functions give it to require_member.
create or replace function iu_core.fn_webhook_target_workspace(p_target_code text) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select t.workspace_id into v_workspace from iu_core.webhook_target t where t.target_code = p_target_code for update;
  if not found
     or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD335',
      message = format('There is no webhook target %s', coalesce(p_target_code, 'NULL')),
      detail = json_build_object('target', p_target_code)::text;
  end if;
  return v_workspace;
end $$;
