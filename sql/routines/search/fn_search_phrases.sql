-- Phrases as the server checks them, in English and as words, and for each the words of which a chunk must have one to match:
-- the rarest of each way of reading it. Those with the fewest chunks come first. Internal.
-- A phrase of stop words alone cannot be checked in English texts, which have none of them: it asks for nothing.
-- rarest is NULL where some word of the phrase is in no chunk.
create or replace function iu_core.fn_search_phrases(p_workspace_id uuid, p_phrases text[])
returns table (english tsquery, simple tsquery, rarest integer[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select q.english, q.simple, r.rarest
    from unnest(p_phrases) as p (phrase)
   cross join lateral (select phraseto_tsquery('english', iu_core.fn_search_plain(p.phrase)) as english,
                              phraseto_tsquery('simple', iu_core.fn_search_plain(p.phrase)) as simple offset 0) as q
   cross join lateral (
     select array_agg(f.lexeme_id) as rarest, sum(f.chunks) as chunks
       from (select (array_agg(l.lexeme_id order by l.chunks, l.lexeme_id))[1] as lexeme_id, min(l.chunks) as chunks
               from unnest(array['en', 'und']) as language
              cross join lateral unnest(tsvector_to_array(iu_core.fn_search_words(p.phrase, language))) as w (lexeme)
               left join iu_core.search_lexeme l on l.workspace_id = p_workspace_id and l.lexeme = w.lexeme
              group by language
             having bool_and(l.lexeme_id is not null)) as f) as r
   where numnode(q.english) > 0
   order by r.chunks nulls first;
end $$;
