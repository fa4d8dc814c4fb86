-- The document that a manifest divides, where we have it: as it was cut last, or as the old knowledge base has it. By its hash, so that it
-- is that very text. Internal.
create or replace function iu_core.fn_mark_source(p_workspace_id uuid, p_manifest jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.body
    from iu_core.kb_document d
    left join iu_core.kb_document_cut c on c.document_id = d.document_id
   cross join lateral (values (d.body, d.content_hash), (c.body, c.content_hash)) as s (body, content_hash)
   where d.workspace_id = p_workspace_id and d.source_ref = p_manifest -> 'document' ->> 'source_ref'
     and s.content_hash = p_manifest -> 'document' ->> 'content_hash'
   limit 1
$$;
