-- All that is needed to show chunks and to judge how far they can be relied on, in one question. A chunk that is not there any
-- more, or is another workspace's, has no row.
--   version_no, current_version_no   the version whose text it is, and the unit's newest: they differ while search is behind
--   is_as_projected  whether its text can still be read (fn_search_texts): a document may have changed under it
--   vector_state     of the unit, or of the document
--   document_*       for a unit: the document of the old knowledge base that it was cut from, if the newest cut still has it
create or replace function iu_core.fn_search_hits(p_workspace_id uuid, p_chunk_ids uuid[])
returns table (chunk_id uuid, source text, unit_id uuid, document_id uuid, canonical_address text, title text, unit_kind text,
               lifecycle_status text, vector_state text, version_no integer, current_version_no integer, language text,
               "position" smallint, from_char integer, to_char integer, is_as_projected boolean,
               document_state text, document_title text, document_source_ref text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select c.chunk_id, 'unit', c.unit_id, d.document_id, u.canonical_address, u.title, u.unit_kind, u.lifecycle_status, u.vector_state,
         v.version_no, u.version_no, c.language, c.position, c.from_char, c.to_char, true, d.vector_state, d.title, d.source_ref
    from iu_core.search_chunk c
   cross join lateral (select x.canonical_address, x.title, x.unit_kind, x.lifecycle_status, x.vector_state, x.version_no
                         from iu_core.v_unit x where x.unit_id = c.unit_id offset 0) as u
   cross join lateral (select n.version_no from iu_core.unit_version n where n.unit_version_id = c.unit_version_id offset 0) as v
    left join lateral (select x.document_id, x.vector_state, x.title, x.source_ref
                         from iu_core.kb_unit_map m join iu_core.v_document x on x.document_id = m.document_id
                        where m.unit_id = c.unit_id and m.dropped_at is null and x.origin = 'knowledge_base' and x.deleted_at is null
                        order by x.document_id limit 1) as d on true
   where c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id and c.unit_id is not null
   union all
  -- A text that is not projected yet is named by its version (fn_search_pending).
  select c.unit_version_id, 'unit', c.unit_id, d.document_id, u.canonical_address, u.title, u.unit_kind, u.lifecycle_status, u.vector_state,
         v.version_no, u.version_no, c.language, 0::smallint, 0, null, true, d.vector_state, d.title, d.source_ref
    from iu_core.search_pending c
   cross join lateral (select x.canonical_address, x.title, x.unit_kind, x.lifecycle_status, x.vector_state, x.version_no
                         from iu_core.v_unit x where x.unit_id = c.unit_id offset 0) as u
   cross join lateral (select n.version_no from iu_core.unit_version n where n.unit_version_id = c.unit_version_id offset 0) as v
    left join lateral (select x.document_id, x.vector_state, x.title, x.source_ref
                         from iu_core.kb_unit_map m join iu_core.v_document x on x.document_id = m.document_id
                        where m.unit_id = c.unit_id and m.dropped_at is null and x.origin = 'knowledge_base' and x.deleted_at is null
                        order by x.document_id limit 1) as d on true
   where c.unit_version_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id
   union all
  select c.chunk_id, 'document', null, c.document_id, null, d.title, null, null, d.vector_state, null, null, c.language, c.position,
         c.from_char, c.to_char, d.content_hash = c.content_hash_at_embedding, d.vector_state, d.title, d.source_ref
    from iu_core.search_chunk c
   cross join lateral (select x.title, x.vector_state, x.content_hash, x.source_ref
                         from iu_core.v_document x where x.document_id = c.document_id offset 0) as d
   where c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id and c.document_id is not null;
end $$;

grant execute on function iu_core.fn_search_hits(uuid, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
