-- Which of these documents, by id or by where they come from, the filters let through: for those that were found by the vectors of
-- the old collection, which knows neither our workspaces nor our filters.
create or replace function iu_core.fn_search_passing_documents(p_workspace_id uuid, p_filters jsonb, p_names text[]) returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_condition record;
  v_passing text[];
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  v_condition := iu_core.fn_search_filter(p_filters);
  -- A document is in one language: what holds for a chunk holds for it.
  execute format(
    'select array_agg(distinct n.name) from unnest($3) as n (name)
      cross join lateral (select d.* from iu_core.kb_document d where d.workspace_id = $1 and d.source_ref = n.name
                           union all
                          select d.* from iu_core.kb_document d
                           where d.document_id = case when n.name ~* $4 then n.name::uuid end offset 0) as d
      cross join lateral (select d.language) as c
      where %s and %s', v_condition.documents, v_condition.chunks)
    into v_passing using p_workspace_id, p_filters, p_names, '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$';
  return coalesce(v_passing, '{}');
end $$;

grant execute on function iu_core.fn_search_passing_documents(uuid, jsonb, text[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
