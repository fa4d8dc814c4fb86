-- The document that is cut, as it is now: made, or brought up to date, and back if it was deleted. One of the old knowledge base is
-- not touched: the text of the cut is kept beside it, in kb_document_cut. Internal: under fn_unit_tree_lock.
create or replace function iu_core.fn_cut_document(
  p_workspace_id uuid,
  p_document jsonb,
  p_source text,
  p_actor text,
  out document_id uuid,
  out is_legacy boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  insert into iu_core.kb_document as d (workspace_id, source_ref, title, language, body, content_hash, updated_by)
  values (p_workspace_id, p_document ->> 'source_ref', p_document ->> 'title', p_document ->> 'language', p_source,
          p_document ->> 'content_hash', p_actor)
  on conflict (workspace_id, source_ref) do update
     set title = excluded.title, language = excluded.language, body = excluded.body, content_hash = excluded.content_hash,
         updated_by = excluded.updated_by, updated_at = clock_timestamp(), deleted_at = null
   where d.origin = 'cut'
     and (d.title, d.language, d.content_hash, d.deleted_at) is distinct from (excluded.title, excluded.language, excluded.content_hash, null);
  select d.document_id, d.origin = 'knowledge_base' into document_id, is_legacy from iu_core.kb_document d
   where d.workspace_id = p_workspace_id and d.source_ref = p_document ->> 'source_ref';
  if is_legacy then
    insert into iu_core.kb_document_cut as c (document_id, title, language, body, content_hash, cut_by)
    values (document_id, p_document ->> 'title', p_document ->> 'language', p_source, p_document ->> 'content_hash', p_actor)
    on conflict (document_id) do update
       set title = excluded.title, language = excluded.language, body = excluded.body, content_hash = excluded.content_hash,
           cut_by = excluded.cut_by, cut_at = clock_timestamp();
  end if;
end $$;
