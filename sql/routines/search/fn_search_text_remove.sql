-- Takes all that search has of these units and documents out of it. Answers with the ids of the chunks: whoever keeps vectors
-- of them takes those away, too. What is not there is passed over.
create or replace function iu_core.fn_search_text_remove(p_unit_ids uuid[], p_document_ids uuid[] default '{}') returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_chunk_nos integer[];
  v_chunk_ids uuid[];
begin
  perform iu_core.fn_search_lock(w.workspace_id)
     from (select u.workspace_id from iu_core.information_unit u where u.unit_id = any (p_unit_ids)
            union
           select d.workspace_id from iu_core.kb_document d where d.document_id = any (p_document_ids)
            order by 1) as w;
  select array_agg(c.chunk_no), array_agg(c.chunk_id) into v_chunk_nos, v_chunk_ids
    from iu_core.search_chunk c where c.unit_id = any (p_unit_ids) or c.document_id = any (p_document_ids);
  perform iu_core.fn_search_chunks_drop(v_chunk_nos);
  perform iu_core.fn_search_pending_settle(p_unit_ids);
  return query select unnest(v_chunk_ids);
end $$;

grant execute on function iu_core.fn_search_text_remove(uuid[], uuid[]) to service_role, dot_executor, vector_worker;
