-- What a query means in a workspace: which of its words are known there, rarest first, and how much each says. At most 64 of
-- them: a page of text as a query is found by its rarest words. Internal.
--   lexeme_ids, chunks, weights   side by side: the word, how many chunks have it, its weight (inverse document frequency)
--   english, simple               phrases that must match, for chunks in English and for all others, side by side
--   required                      words of which a chunk must have one to match the phrases at all; NULL: there is no phrase
--   mean_length                   of the workspace's chunks
-- No row: nothing can be found.
create or replace function iu_core.fn_search_terms(p_workspace_id uuid, p_query text)
returns table (lexeme_ids integer[], chunks integer[], weights float8[], english tsquery[], simple tsquery[], required integer[], mean_length float8)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_query record := iu_core.fn_search_parse(p_query);
  v_chunks integer;
  v_words text[];
  v_phrase record;
begin
  select s.chunks, s.words::float8 / nullif(s.chunks, 0) into v_chunks, mean_length
    from iu_core.search_statistics s where s.workspace_id = p_workspace_id;
  for v_phrase in select * from iu_core.fn_search_phrases(p_workspace_id, v_query.phrases) loop
    -- A word of it is in no chunk.
    if v_phrase.rarest is null then
      return;
    end if;
    english := english || v_phrase.english;
    simple := simple || v_phrase.simple;
    -- The first one is the rarest.
    required := coalesce(required, v_phrase.rarest);
  end loop;
  v_words := v_query.words;
  -- Words that are too common in English are words as others where nothing is English.
  if v_query.stops <> '{}' and v_query.prefixes = '{}'
     and not exists (select from iu_core.search_lexeme l where l.workspace_id = p_workspace_id and l.lexeme = any (v_words))
     and not exists (select from iu_core.search_chunk c where c.workspace_id = p_workspace_id and split_part(c.language, '-', 1) = 'en') then
    v_words := v_query.stops;
  end if;
  with word as (
    select l.lexeme_id, l.chunks, l.chunks as asked
      from iu_core.search_lexeme l where l.workspace_id = p_workspace_id and l.lexeme = any (v_words)
     union all
    -- What a prefix stands for is asked together: each of them says as much as all of them.
    select b.lexeme_id, b.chunks, least(sum(b.chunks) over (partition by p.prefix), v_chunks)
      from unnest(v_query.prefixes) as p (prefix)
     cross join lateral (
       select l.lexeme_id, l.chunks from iu_core.search_lexeme l
        where l.workspace_id = p_workspace_id
          and (l.lexeme >= p.prefix and l.lexeme < p.prefix || chr(1114111)
               or l.lexeme = any (tsvector_to_array(to_tsvector('english', p.prefix))))
        order by l.chunks desc, l.lexeme limit 32) as b
  ), term as (
    select w.lexeme_id, w.chunks, max(ln(1 + (v_chunks - w.asked + 0.5) / (w.asked + 0.5)))::float8 as weight
      from word w group by w.lexeme_id, w.chunks
     order by weight desc, w.lexeme_id limit 64
  )
  select array_agg(t.lexeme_id order by t.chunks, t.lexeme_id), array_agg(t.chunks order by t.chunks, t.lexeme_id),
         array_agg(t.weight order by t.chunks, t.lexeme_id)
    into lexeme_ids, chunks, weights from term t;
  if lexeme_ids is not null then
    return next;
  end if;
end $$;
