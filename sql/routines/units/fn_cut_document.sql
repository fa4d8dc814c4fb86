-- The document that is cut, as it is now: made, or brought up to date, and back if it was deleted. Internal: under fn_unit_tree_lock.
create or replace function iu_core.fn_cut_document(p_workspace_id uuid, p_document jsonb, p_source text, p_actor text) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid;
begin
  insert into iu_core.kb_document as d (workspace_id, source_ref, title, language, body, content_hash, updated_by)
  values (p_workspace_id, p_document ->> 'source_ref', p_document ->> 'title', p_document ->> 'language', p_source,
          p_document ->> 'content_hash', p_actor)
  on conflict (workspace_id, source_ref) do update
     set title = excluded.title, language = excluded.language, body = excluded.body, content_hash = excluded.content_hash,
         updated_by = excluded.updated_by, updated_at = clock_timestamp(), deleted_at = null
   where (d.title, d.language, d.content_hash, d.deleted_at) is distinct from (excluded.title, excluded.language, excluded.content_hash, null)
  returning d.document_id into v_id;
  if not found then
    select document_id into v_id from iu_core.kb_document
     where workspace_id = p_workspace_id and source_ref = p_document ->> 'source_ref';
  end if;
  return v_id;
end $$;
