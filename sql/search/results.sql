-- The list of hits: what it is sorted, counted and collapsed by, why a hit is in it, and what stands around it.

-- What chunks say, to recognise those that say the same: the hash of the text, and its words. Not of rows of tables: whoever asks may
-- not be allowed to read them.
create or replace function iu_core.fn_search_chunk_lexemes(p_workspace_id uuid, p_chunk_ids uuid[])
returns table (chunk_id uuid, text_hash text, lexeme_ids integer[])
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select c.chunk_id, encode(c.text_hash, 'hex'), c.lexeme_ids
    from iu_core.search_chunk c where c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id and c.row_id is null;
end $$;

grant execute on function iu_core.fn_search_chunk_lexemes(uuid, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- What units and documents are counted and sorted by.
create or replace function iu_core.fn_search_sources(p_workspace_id uuid, p_unit_ids uuid[], p_document_ids uuid[])
returns table (id uuid, source text, kind text, status text, language text, topics text[], title text, address text, changed_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select u.unit_id, 'unit', u.unit_kind, u.lifecycle_status, v.language,
         case when jsonb_typeof(u.content_profile -> 'topic_labels') = 'array'
              then array(select jsonb_array_elements_text(u.content_profile -> 'topic_labels')) else '{}' end,
         u.title, u.canonical_address, u.changed_at
    from iu_core.information_unit u
   cross join lateral (select n.language from iu_core.unit_version n where n.unit_version_id = u.current_version_id offset 0) as v
   where u.unit_id = any (p_unit_ids) and u.workspace_id = p_workspace_id
   union all
  select d.document_id, 'document', null, null, d.language, '{}'::text[], d.title, d.source_ref, d.updated_at
    from iu_core.kb_document d where d.document_id = any (p_document_ids) and d.workspace_id = p_workspace_id;
end $$;

grant execute on function iu_core.fn_search_sources(uuid, uuid[], uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- A text that changes whenever the texts of a workspace in search change: a list that was begun before is another one now. Hashed: how
-- many chunks and words there are, includes rows of tables that the caller may not read.
create or replace function iu_core.fn_search_stamp(p_workspace_id uuid) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return coalesce((select encode(sha256(convert_to(concat_ws('-', s.workspace_id, s.chunks, s.words, s.xmin), 'UTF8')), 'hex')
                     from iu_core.search_statistics s where s.workspace_id = p_workspace_id), '');
end $$;

grant execute on function iu_core.fn_search_stamp(uuid) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Which words of a query chunks have, with the share of each in the chunk's score by words; in English and in other languages as
-- fn_search_terms analyses them. The shares of a chunk add up to 1. Not of rows of tables: whoever asks may not be allowed to read them.
create or replace function iu_core.fn_search_why(p_workspace_id uuid, p_query text, p_chunk_ids uuid[])
returns table (chunk_id uuid, lexeme text, share real)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select m.chunk_id, m.lexeme, (m.score / nullif(sum(m.score) over (partition by m.chunk_id), 0))::real
    from (select c.chunk_id, l.lexeme::text as lexeme,
                 w.weight * p.count / (p.count + float8 '0.3' + float8 '0.9' * p.length / t.mean_length) as score
            from iu_core.fn_search_terms(p_workspace_id, p_query) as t
           cross join lateral unnest(t.lexeme_ids, t.weights) as w (lexeme_id, weight)
            join iu_core.search_chunk c on c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id and c.row_id is null
            join iu_core.search_posting p on p.lexeme_id = w.lexeme_id and p.chunk_no = c.chunk_no
            join iu_core.search_lexeme l on l.lexeme_id = w.lexeme_id) as m
   order by m.chunk_id, 3 desc, m.lexeme;
end $$;

grant execute on function iu_core.fn_search_why(uuid, text, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- What stands around chunks: of a unit its container and the units before and behind it there; and the texts before and behind the chunk
-- in the same text, up to 300 characters of each. Units that are not found by any search are left out.
create or replace function iu_core.fn_search_context(p_workspace_id uuid, p_chunk_ids uuid[])
returns table (chunk_id uuid, parent jsonb, unit_before jsonb, unit_after jsonb, text_before text, text_after text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_characters constant integer := 300;
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select c.chunk_id, p.unit, b.unit, a.unit,
         nullif(btrim(right(x.text, v_characters)), ''), nullif(btrim(left(y.text, v_characters)), '')
    from iu_core.search_chunk c
    left join iu_core.information_unit u on u.unit_id = c.unit_id
    left join lateral (
      select jsonb_build_object('unit_id', n.unit_id, 'canonical_address', n.canonical_address, 'title', n.title) as unit
        from iu_core.information_unit n
       where n.unit_id = u.container_id and n.deleted_at is null and n.lifecycle_status <> 'retired') as p on true
    left join lateral (
      select jsonb_build_object('unit_id', n.unit_id, 'canonical_address', n.canonical_address, 'title', n.title) as unit
        from iu_core.information_unit n
       where n.container_id = u.container_id and (n.position, n.unit_id) < (u.position, u.unit_id)
         and n.deleted_at is null and n.lifecycle_status in ('draft', 'enacted')
       order by n.position desc, n.unit_id desc limit 1) as b on true
    left join lateral (
      select jsonb_build_object('unit_id', n.unit_id, 'canonical_address', n.canonical_address, 'title', n.title) as unit
        from iu_core.information_unit n
       where n.container_id = u.container_id and (n.position, n.unit_id) > (u.position, u.unit_id)
         and n.deleted_at is null and n.lifecycle_status in ('draft', 'enacted')
       order by n.position, n.unit_id limit 1) as a on true
    left join lateral (
      select t.text from iu_core.search_chunk n
       cross join lateral iu_core.fn_search_texts(p_workspace_id, array[n.chunk_id], '{}') as t
       where (n.unit_id = c.unit_id or n.document_id = c.document_id) and n.position = c.position - 1 limit 1) as x on true
    left join lateral (
      select t.text from iu_core.search_chunk n
       cross join lateral iu_core.fn_search_texts(p_workspace_id, array[n.chunk_id], '{}') as t
       where (n.unit_id = c.unit_id or n.document_id = c.document_id) and n.position = c.position + 1 limit 1) as y on true
   where c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id and c.row_id is null;
end $$;

grant execute on function iu_core.fn_search_context(uuid, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
