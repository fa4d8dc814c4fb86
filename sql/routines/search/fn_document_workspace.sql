-- The workspace of a document that the caller may know of; one of others is answered like one that is not there. Internal:
-- definer functions give it to require_member.
create or replace function iu_core.fn_document_workspace(p_document_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.kb_document where document_id = p_document_id;
  if not found or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD917',
      message = format('There is no document %s', coalesce(p_document_id::text, 'NULL')),
      detail = json_build_object('projection', p_document_id)::text;
  end if;
  return v_workspace;
end $$;
