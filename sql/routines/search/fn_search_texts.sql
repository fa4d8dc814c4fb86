-- What hits show: the texts of chunks as they were projected, and how documents begin that stand for theirs. Only what is shown is
-- asked for, since a text may be 10 MiB; each is read once, and not further than it is needed.
-- A chunk whose document has changed under it has no row, nor has what is another workspace's.
create or replace function iu_core.fn_search_texts(p_workspace_id uuid, p_chunk_ids uuid[], p_document_ids uuid[])
returns table (id uuid, text text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Enough to find a passage in; a whole document kept the server busy for seconds.
  v_beginning constant integer := 20000;
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  with chunk as materialized (
    select c.chunk_id, c.unit_version_id, c.document_id, c.content_hash_at_embedding, c.from_char, c.to_char
      from iu_core.search_chunk c where c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id
  ), source as (
    select c.unit_version_id, c.document_id, c.content_hash_at_embedding, max(c.to_char) as needed,
           array_agg(c.chunk_id) as ids, array_agg(c.from_char) as froms, array_agg(c.to_char) as tos
      from chunk c group by 1, 2, 3
  ), body as materialized (
    select s.ids, s.froms, s.tos, left(v.body, s.needed) as text
      from source s
     cross join lateral (select n.body from iu_core.unit_version n where n.unit_version_id = s.unit_version_id
                          union all
                         select n.body from iu_core.kb_document n
                          where n.document_id = s.document_id and n.content_hash = s.content_hash_at_embedding) as v
  )
  select k.chunk_id, substring(b.text from k.from_char + 1 for k.to_char - k.from_char)
    from body b cross join lateral unnest(b.ids, b.froms, b.tos) as k (chunk_id, from_char, to_char)
   union all
  -- Not projected yet: as far as its words are looked for.
  select p.unit_version_id, left(v.body, 100000)
    from iu_core.search_pending p join iu_core.unit_version v on v.unit_version_id = p.unit_version_id
   where p.unit_version_id = any (p_chunk_ids) and p.workspace_id = p_workspace_id
   union all
  select d.document_id, left(d.body, v_beginning)
    from iu_core.kb_document d
   where d.document_id = any (p_document_ids) and d.workspace_id = p_workspace_id and d.deleted_at is null and d.origin = 'knowledge_base';
end $$;

grant execute on function iu_core.fn_search_texts(uuid, uuid[], uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
