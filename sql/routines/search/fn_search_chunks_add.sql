-- Brings chunks into search: their words, their postings, and every sum that they belong in. Their texts come beside them.
-- Internal: the caller holds fn_search_lock of their workspaces, and none of them is there yet.
create or replace function iu_core.fn_search_chunks_add(p_chunks iu_core.search_chunk[], p_texts text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- While a workspace is filled, what the planner knows of its words is always behind: they are looked up one by one.
set enable_seqscan = off
as $$
declare
  v_words tsvector[];
begin
  if p_chunks is null or p_chunks = '{}' then
    return;
  end if;
  select array_agg(iu_core.fn_search_words(t.text, (p_chunks[t.n]).language) order by t.n) into v_words
    from unnest(p_texts) with ordinality as t (text, n);
  -- Only those that are missing: ON CONFLICT would use up an id for every word that is known.
  insert into iu_core.search_lexeme (workspace_id, lexeme)
  select w.workspace_id, w.lexeme
    from (select distinct c.workspace_id, w.lexeme collate "C" as lexeme
            from unnest(p_chunks) with ordinality as c
           cross join lateral unnest(tsvector_to_array(v_words[c.ordinality])) as w (lexeme)) as w
    left join lateral (select l.lexeme_id from iu_core.search_lexeme l
                        where (l.workspace_id, l.lexeme) = (w.workspace_id, w.lexeme) offset 0) as l on true
   where l.lexeme_id is null
   order by w.workspace_id, w.lexeme;
  with said as materialized (
    select c.chunk_id, c.workspace_id, w.lexeme collate "C" as lexeme, cardinality(w.positions)::smallint as count
      from unnest(p_chunks) with ordinality as c cross join lateral unnest(v_words[c.ordinality]) as w
  ), known as materialized (
    select s.workspace_id, s.lexeme, l.lexeme_id
      from (select distinct s.workspace_id, s.lexeme from said s) as s
     cross join lateral (select l.lexeme_id from iu_core.search_lexeme l
                          where (l.workspace_id, l.lexeme) = (s.workspace_id, s.lexeme) offset 0) as l
  ), word as materialized (
    select s.chunk_id, k.lexeme_id, s.count from said s join known k on (k.workspace_id, k.lexeme) = (s.workspace_id, s.lexeme)
  ), bag as (
    select w.chunk_id, array_agg(w.lexeme_id order by w.lexeme_id) as ids, array_agg(w.count order by w.lexeme_id) as counts,
           sum(w.count) as length
      from word w group by w.chunk_id
  ), chunk as (
    insert into iu_core.search_chunk (chunk_id, workspace_id, unit_id, document_id, unit_version_id, content_hash_at_embedding, position,
                                      from_char, to_char, text_hash, language, lexeme_ids, lexeme_counts, length, words)
    select c.chunk_id, c.workspace_id, c.unit_id, c.document_id, c.unit_version_id, c.content_hash_at_embedding, c.position,
           c.from_char, c.to_char, c.text_hash, c.language, coalesce(b.ids, '{}'), coalesce(b.counts, '{}'), coalesce(b.length, 0),
           v_words[c.ordinality]
      from unnest(p_chunks) with ordinality as c left join bag b on b.chunk_id = c.chunk_id
     order by c.ordinality
    returning chunk_no, chunk_id, workspace_id, length
  ), posting as (
    insert into iu_core.search_posting (lexeme_id, chunk_no, count, length)
    select w.lexeme_id, k.chunk_no, w.count, k.length from word w join chunk k on k.chunk_id = w.chunk_id
     order by w.lexeme_id, k.chunk_no
  ), counted as (
    update iu_core.search_lexeme l set chunks = l.chunks + n.chunks
      from (select w.lexeme_id, count(*) as chunks from word w group by w.lexeme_id) as n
     where l.lexeme_id = n.lexeme_id
  )
  insert into iu_core.search_statistics as s (workspace_id, chunks, words)
  select k.workspace_id, count(*), sum(k.length) from chunk k group by k.workspace_id
  on conflict (workspace_id) do update set chunks = s.chunks + excluded.chunks, words = s.words + excluded.words;
end $$;
