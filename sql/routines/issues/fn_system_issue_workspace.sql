-- The workspace of an issue that the caller may know of; one of others is answered like one that is not there. Internal:
-- definer functions give it to require_member.
create or replace function iu_core.fn_system_issue_workspace(p_issue_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.system_issue where issue_id = p_issue_id;
  if not found
     or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD330',
      message = format('There is no issue %s', coalesce(p_issue_id::text, 'NULL')),
      detail = json_build_object('issue', p_issue_id)::text;
  end if;
  return v_workspace;
end $$;
