-- The words of a text and of a query.

-- The terms of a query in a workspace: which of its words are known there, rarest first, with their weights. At most 64: a page
-- of text as a query is found by its rarest words. Internal.
--   lexeme_ids, chunks, weights   parallel: the word, the number of chunks with it, its weight (inverse document frequency)
--   english, simple               phrases that must match, for chunks in English and for all others, parallel
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
  -- English stop words count as normal words if no text is English.
  if v_query.stops <> '{}' and v_query.prefixes = '{}'
     and not exists (select from iu_core.search_lexeme l where l.workspace_id = p_workspace_id and l.lexeme = any (v_words))
     and not exists (select from iu_core.search_chunk c where c.workspace_id = p_workspace_id and split_part(c.language, '-', 1) = 'en') then
    v_words := v_query.stops;
  end if;
  with word as (
    select l.lexeme_id, l.chunks, l.chunks as asked
      from iu_core.search_lexeme l where l.workspace_id = p_workspace_id and l.lexeme = any (v_words)
     union all
    -- The words of a prefix count as one term: each has the weight of all of them.
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

-- Why a query finds nothing in a workspace: how many chunks there are, how many texts wait (counted up to 1000), and the words of
-- the query that no chunk has, each with known words that begin alike and are about as long. p_words: single words as they were
-- typed, at most 16 are looked at. A known word is a stem, so it comes with a chunk that has it: the caller reads the word itself
-- there.
--   {"chunks", "waiting", "unknown": [{"word", "stems", "known": [{"lexeme", "chunk_id"}]}]}
create or replace function iu_core.fn_search_unknown_words(p_workspace_id uuid, p_words text[]) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return jsonb_build_object(
    'chunks', coalesce((select s.chunks from iu_core.search_statistics s where s.workspace_id = p_workspace_id), 0),
    'waiting', (select count(*) from (
        select from iu_core.vector_outbox o
          join iu_core.information_unit u on u.unit_id = o.unit_id
         where u.workspace_id = p_workspace_id and o.status in ('pending', 'processing') limit 1000) as w),
    'unknown', (
      select coalesce(jsonb_agg(jsonb_build_object('word', w.word, 'stems', w.stems, 'known', k.known) order by w.n), '[]')
        from (select t.word, t.n, array(select unnest(tsvector_to_array(iu_core.fn_search_words(t.word, 'und')))
                                         union select unnest(tsvector_to_array(iu_core.fn_search_words(t.word, 'en')))) as stems
                from unnest(p_words[:16]) with ordinality as t (word, n)
               where length(t.word) between 3 and 60 and ts_lexize('english_stem', lower(t.word)) <> '{}') as w
       cross join lateral (
         select coalesce(jsonb_agg(jsonb_build_object('lexeme', l.lexeme, 'chunk_id', c.chunk_id)), '[]') as known
           from (select x.lexeme_id, x.lexeme from iu_core.search_lexeme x
                  where x.workspace_id = p_workspace_id and x.chunks > 0
                    and x.lexeme >= left(w.stems[1], 1) and x.lexeme < left(w.stems[1], 1) || chr(1114111)
                    and length(x.lexeme) between length(w.word) - 4 and length(w.word) + 2
                  order by x.chunks desc, x.lexeme limit 500) as l
          -- Not from a row of a table: whoever asks may not be allowed to read it.
          cross join lateral (select c.chunk_id from iu_core.search_posting p join iu_core.search_chunk c on c.chunk_no = p.chunk_no
                               where p.lexeme_id = l.lexeme_id and c.row_id is null limit 1) as c) as k
       where w.stems <> '{}'
         and not exists (select from iu_core.search_lexeme x
                          where x.workspace_id = p_workspace_id and x.lexeme = any (w.stems) and x.chunks > 0)));
end $$;

grant execute on function iu_core.fn_search_unknown_words(uuid, text[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Phrases as the server matches them, in English and as plain words, and for each the words of which a chunk must have one: the
-- rarest of each reading. Those with the fewest chunks come first. Internal. A phrase of stop words alone cannot be matched in
-- English texts, which do not store them: it requires nothing. rarest is NULL if a word of the phrase is in no chunk.
create or replace function iu_core.fn_search_phrases(p_workspace_id uuid, p_phrases text[])
returns table (english tsquery, simple tsquery, rarest integer[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select q.english, q.simple, r.rarest
    from unnest(p_phrases) as p (phrase)
   cross join lateral (select phraseto_tsquery('english', iu_core.fn_search_normalize(p.phrase)) as english,
                              phraseto_tsquery('simple', iu_core.fn_search_normalize(p.phrase)) as simple offset 0) as q
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

-- Parses a query. It has no language: each word is analysed in all ways in which a text may have been.
--   words     lexemes, of which a text should have some
--   stops     words too common in English to search for; they count if nothing else is given and no text is English
--   phrases   quoted texts, which must occur word for word. A single quote without its partner is ignored; a phrase of more than 4,000
--             characters, longer than any chunk, is refused
--   prefixes  `word*`, without the star and without diacritics
--   free      the text whose words count: the query without prefixes, exclusions and quotation marks; the words of phrases stay in it
--   excluded  `-word`, `-"a phrase"` and `-begin*`, without the minus sign and the quotation marks: texts that nothing found may have,
--             at most 64. A minus sign inside a word or a phrase, or before a blank or another minus sign, excludes nothing
-- Pure: it reads no data. It also tells what to highlight in hits, and why there are none.
create or replace function iu_core.fn_search_parse(p_query text, out words text[], out stops text[], out phrases text[], out prefixes text[],
                                                   out free text, out excluded text[])
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query text := regexp_replace(translate(left(coalesce(p_query, ''), 100000), '“”„«»', '"""""'), '[[:cntrl:]]', ' ', 'g');
  v_simple text[];
begin
  -- A phrase is consumed as a whole, so that a minus sign in it excludes nothing.
  excluded := array(select e.text
                      from (select coalesce(m.part[1], m.part[3]) as text, min(m.n) as n
                              from regexp_matches(v_query, '(?<!\S)-"([^"]*)"|"([^"]*)"|(?<!\S)-([^\s"*-][^\s"]*)', 'g')
                                     with ordinality as m (part, n)
                             where coalesce(m.part[1], m.part[3]) ~ '\S' group by 1) as e
                     where iu_core.fn_search_words(e.text, 'und') <> ''
                     order by e.n limit 64);
  v_query := regexp_replace(v_query, '("[^"]*")|(?<!\S)-"[^"]*"|(?<!\S)-[^\s"*-][^\s"]*', '\1', 'g');
  phrases := array(select distinct m[1] from regexp_matches(v_query, '"([^"]*)"', 'g') as m where m[1] ~ '\S' order by 1 limit 8);
  -- Its check would be nested as deeply as it has words.
  if exists (select from unnest(phrases || excluded) as p (phrase) where length(p.phrase) > 4000) then
    raise exception using errcode = 'SD001', message = 'A phrase in quotes has at most 4,000 characters: remove the quotes, or search for a part of it';
  end if;
  -- Only at the end of a word: a star inside a word or a phrase is ignored.
  prefixes := array(select distinct lower(iu_core.fn_search_normalize(m[1]))
                      from regexp_matches(regexp_replace(v_query, '"[^"]*"', ' ', 'g'), '([^\s"*]{2,})\*(?=\s|$)', 'g') as m
                     order by 1 limit 8);
  free := translate(regexp_replace(v_query, '([^\s"*]{2,})\*(?=\s|$)', ' ', 'g'), '"', ' ');
  v_simple := tsvector_to_array(iu_core.fn_search_words(free, 'und'));
  -- By the word as it was typed: `the` is one of them, `thế` is not.
  stops := array(select w from unnest(tsvector_to_array(to_tsvector('simple', translate(free, '/<>', '   ')))) as w
                  where ts_lexize('english_stem', w) = '{}');
  words := array(select unnest(v_simple) except select unnest(stops)
                 union select unnest(tsvector_to_array(iu_core.fn_search_words(free, 'en'))) order by 1);
end $$;

grant execute on function iu_core.fn_search_parse(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The words of a text with their positions, as search stores them.
create or replace function iu_core.fn_search_words(p_text text, p_language text) returns tsvector
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_tsvector(case when split_part(p_language, '-', 1) = 'en' then 'english'::regconfig else 'simple'::regconfig end,
                     iu_core.fn_search_normalize(p_text));
end $$;

grant execute on function iu_core.fn_search_words(text, text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The text without diacritics, so that it is found when typed without them: `Nghỉ phép` and `nghi phep` are the same words. A
-- slash separates words: the server's parser would read `and/or` as a file path. So do < and >: it would leave out what looks like
-- a tag, and after `<script>` everything that follows. No other character is added or removed. A text longer than a chunk can be
-- is cut off: its result must fit into a tsvector.
create or replace function iu_core.fn_search_normalize(p_text text) returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := translate(left(p_text, 100000), '/<>', '   ');
begin
  -- ASCII has no marks.
  if octet_length(v_text) = length(v_text) then
    return v_text;
  end if;
  -- Of ǿ the mark goes first, or no ø is left to be found. The same letters as in src/search/highlights.ts.
  return left(translate(normalize(regexp_replace(normalize(v_text, NFKD), '[\u0300-\u036f]+', '', 'g'), NFC), 'đĐłŁøØ', 'dDlLoO'), 100000);
end $$;

grant execute on function iu_core.fn_search_normalize(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Whether a chunk contains all phrases, each as its language reads it. Internal.
create or replace function iu_core.fn_search_phrases_match(p_words tsvector, p_language text, p_english tsquery[], p_simple tsquery[]) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_phrase tsquery;
begin
  foreach v_phrase in array coalesce(case when split_part(p_language, '-', 1) = 'en' then p_english else p_simple end, '{}') loop
    if not p_words @@ v_phrase then
      return false;
    end if;
  end loop;
  return true;
end $$;
