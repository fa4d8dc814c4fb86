-- Takes a document of the knowledge base that was there before into search, or brings it up to date, by where it comes from. One
-- that was cut into units is searched itself from then on, beside them. Nothing happens when nothing differs. Returns its id.
create or replace function iu_core.fn_document_put(
  p_workspace_id uuid,
  p_source_ref text,
  p_title text,
  p_body text,
  p_language text default 'en'
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hash text := encode(sha256(convert_to(p_body, 'UTF8')), 'hex');
  v_problem text;
  v_id uuid;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_require_workspace(p_workspace_id);
  v_problem := case
    when p_workspace_id is null then 'A document belongs to a workspace'
    when p_source_ref is null or p_source_ref !~ '\S' or length(p_source_ref) > 2000 then 'A document needs a source_ref of up to 2,000 characters'
    when p_title is null or p_title !~ '\S' or length(p_title) > 500 then 'A document needs a title of up to 500 characters'
    when p_body is null or p_body !~ '\S' then 'A document needs a text'
    when octet_length(p_body) > 10485760 then 'A document has at most 10 MiB'
    when p_language is null or p_language !~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' then format('%L is no language', p_language) end;
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = v_problem;
  end if;
  perform set_config('stagedoor.knowledge_base', p_workspace_id || ' ' || p_source_ref, true);
  insert into iu_core.kb_document as d (workspace_id, source_ref, title, language, body, content_hash, updated_by, origin)
  values (p_workspace_id, p_source_ref, p_title, p_language, p_body, v_hash, iu_core.fn_actor(), 'knowledge_base')
  on conflict (workspace_id, source_ref) do update
     set title = excluded.title, language = excluded.language, body = excluded.body, content_hash = excluded.content_hash,
         updated_by = excluded.updated_by, updated_at = clock_timestamp(), deleted_at = null, origin = 'knowledge_base'
   where (d.title, d.language, d.content_hash, d.deleted_at, d.origin)
         is distinct from (excluded.title, excluded.language, excluded.content_hash, null, 'knowledge_base')
  returning d.document_id into v_id;
  perform set_config('stagedoor.knowledge_base', '', true);
  if v_id is null then
    select d.document_id into v_id from iu_core.kb_document d where d.workspace_id = p_workspace_id and d.source_ref = p_source_ref;
  end if;
  return v_id;
end $$;

grant execute on function iu_core.fn_document_put(uuid, text, text, text, text) to dot_executor, service_role, stagedoor_reviewer;
