-- The workspace of an upload that the caller may know of. Others' uploads are answered like ones that are not there.
-- Internal: definer functions give it to require_member.
create or replace function iu_core.fn_ingest_upload_workspace(p_upload_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  v_role text;
begin
  select workspace_id,
         case when iu_core.fn_caller_is_service() then 'service'
              else iu_core.fn_member_role(workspace_id, iu_core.fn_actor()) end
    into v_workspace, v_role
    from iu_core.ingest_upload where upload_id = p_upload_id;
  -- An agent knows of its own uploads only.
  if v_role is null
     or ((v_role = 'agent' or iu_core.fn_caller_role() = 'stagedoor_agent')
         and not exists (select from iu_core.ingest_upload
                          where upload_id = p_upload_id and uploaded_by = iu_core.fn_actor())) then
    raise exception using
      errcode = 'SD601',
      message = format('There is no upload %s', coalesce(p_upload_id::text, 'NULL')),
      detail = json_build_object('upload', p_upload_id)::text;
  end if;
  return v_workspace;
end $$;
