-- Brings chunks into search: their words, their postings, and every sum that they belong in. Their texts come beside them.
-- Internal: the caller holds fn_search_lock of their workspaces, and none of them is there yet.
create or replace function iu_core.fn_search_chunks_add(p_chunks iu_core.search_chunk[], p_texts text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- While a workspace is filled, what the planner knows of its words is always behind: they are looked up one by one.
set enable_seqscan = off
as $$
declare
  v_numbers constant regclass := pg_get_serial_sequence('iu_core.search_chunk', 'chunk_no');
  v_chunks iu_core.search_chunk[];
begin
  if p_chunks is null or p_chunks = '{}' then
    return;
  end if;
  v_chunks := array(
    select row(nextval(v_numbers), c.chunk_id, c.workspace_id, c.unit_id, c.document_id, c.unit_version_id, c.content_hash_at_embedding,
               c.position, c.from_char, c.to_char, c.text_hash, c.language, null, null,
               (select coalesce(sum(cardinality(s.positions)), 0) from unnest(w.words) as s), w.words)::iu_core.search_chunk
      from unnest(p_chunks) with ordinality as c
      join unnest(p_texts) with ordinality as t (text, ordinality) using (ordinality)
     cross join lateral (select iu_core.fn_search_words(t.text, c.language) as words offset 0) as w
     order by ordinality);
  -- Only those that are missing: ON CONFLICT would use up an id for every word that is known.
  insert into iu_core.search_lexeme (workspace_id, lexeme)
  select w.workspace_id, w.lexeme
    from (select distinct c.workspace_id, w.lexeme collate "C" as lexeme
            from unnest(v_chunks) as c cross join lateral unnest(tsvector_to_array(c.words)) as w (lexeme)) as w
    left join lateral (select l.lexeme_id from iu_core.search_lexeme l
                        where (l.workspace_id, l.lexeme) = (w.workspace_id, w.lexeme) offset 0) as l on true
   where l.lexeme_id is null
   order by w.workspace_id, w.lexeme;
  -- Nothing is joined with itself: how large a document is the planner cannot know, and it would compare all with all.
  with said as (
    select c.workspace_id, w.lexeme collate "C" as lexeme, array_agg(c.chunk_no) as chunk_nos,
           array_agg(cardinality(w.positions)::smallint) as counts, array_agg(c.length) as lengths
      from unnest(v_chunks) as c cross join lateral unnest(c.words) as w
     group by 1, 2
  ), known as materialized (
    select l.lexeme_id, s.chunk_nos, s.counts, s.lengths
      from said s
     cross join lateral (select l.lexeme_id from iu_core.search_lexeme l
                          where (l.workspace_id, l.lexeme) = (s.workspace_id, s.lexeme) offset 0) as l
  ), word as materialized (
    select k.lexeme_id, w.chunk_no, w.count, w.length
      from known k cross join lateral unnest(k.chunk_nos, k.counts, k.lengths) as w (chunk_no, count, length)
     order by k.lexeme_id, w.chunk_no
  ), bag as materialized (
    select w.chunk_no, array_agg(w.lexeme_id order by w.lexeme_id) as ids, array_agg(w.count order by w.lexeme_id) as counts
      from word w group by w.chunk_no
  ), chunk as (
    insert into iu_core.search_chunk (chunk_no, chunk_id, workspace_id, unit_id, document_id, unit_version_id, content_hash_at_embedding,
                                      position, from_char, to_char, text_hash, language, lexeme_ids, lexeme_counts, length, words)
    overriding system value
    select c.chunk_no, c.chunk_id, c.workspace_id, c.unit_id, c.document_id, c.unit_version_id, c.content_hash_at_embedding,
           c.position, c.from_char, c.to_char, c.text_hash, c.language, coalesce(b.ids, '{}'), coalesce(b.counts, '{}'), c.length, c.words
      from unnest(v_chunks) as c left join bag b on b.chunk_no = c.chunk_no
     order by c.chunk_no
  ), posting as (
    insert into iu_core.search_posting (lexeme_id, chunk_no, count, length)
    select w.lexeme_id, w.chunk_no, w.count, w.length from word w
  ), counted as (
    update iu_core.search_lexeme l set chunks = l.chunks + cardinality(k.chunk_nos)
      from known k where l.lexeme_id = k.lexeme_id
  )
  insert into iu_core.search_statistics as s (workspace_id, chunks, words)
  select c.workspace_id, count(*), sum(c.length) from unnest(v_chunks) as c group by c.workspace_id
  on conflict (workspace_id) do update set chunks = s.chunks + excluded.chunks, words = s.words + excluded.words;
end $$;
