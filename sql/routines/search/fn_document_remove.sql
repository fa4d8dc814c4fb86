-- Takes a document of the old knowledge base out of search; its row stays. One that was only cut is none of it: that is done with
-- its units.
create or replace function iu_core.fn_document_remove(p_document_id uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_removed boolean;
begin
  perform iu_core.require_member(iu_core.fn_document_workspace(p_document_id), 'administer');
  perform set_config('stagedoor.knowledge_base', d.workspace_id || ' ' || d.source_ref, true)
     from iu_core.kb_document d where d.document_id = p_document_id;
  update iu_core.kb_document d
     set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), updated_by = iu_core.fn_actor()
   where d.document_id = p_document_id and d.origin = 'knowledge_base' and d.deleted_at is null;
  v_removed := found;
  perform set_config('stagedoor.knowledge_base', '', true);
  if not v_removed and exists (select from iu_core.kb_document d where d.document_id = p_document_id and d.origin = 'cut') then
    raise exception using errcode = 'SD001', message = 'This document was only cut into units and is not searched itself';
  end if;
end $$;

grant execute on function iu_core.fn_document_remove(uuid) to dot_executor, service_role, stagedoor_reviewer;
