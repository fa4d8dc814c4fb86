-- Documents of the old knowledge base for whoever shows them in place of their units, or found them by the vectors of the old
-- collection: by id, or by where they come from, which is all that its payload may say. What is not searched is left out.
-- Without their texts: hundreds may be found, and few are shown.
create or replace function iu_core.fn_search_documents(p_workspace_id uuid, p_names text[])
returns table (name text, document_id uuid, title text, source_ref text, language text, vector_state text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select n.name, v.document_id, v.title, v.source_ref, v.language, v.vector_state
    from unnest(p_names) as n (name)
    join iu_core.kb_document d on d.workspace_id = p_workspace_id
     and (d.source_ref = n.name
          or n.name ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
             and d.document_id = case when n.name ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then n.name::uuid end)
   cross join lateral (select * from iu_core.v_document i where i.document_id = d.document_id offset 0) as v
   where v.vector_state <> 'absent';
end $$;

grant execute on function iu_core.fn_search_documents(uuid, text[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
