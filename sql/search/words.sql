-- The words of a text and of a query.

-- The terms of a query in a workspace: which of its words are known there, rarest first, with their weights. At most 64: a page
-- of text as a query is found by its rarest words. Internal.
--   lexeme_ids, chunks, weights   parallel: the word, the number of chunks with it, its weight: inverse document frequency, times how
--                                 often the query has it; half of that for further readings
--   shares        parallel: the share of the query that a chunk with the word has; those of the words of a perfect text sum up to 1
--   phrases       that must match
--   required      words of which a chunk must have one to match the phrases at all; NULL: there is no phrase
--   mean_length   of the workspace's chunks
--   asked         how many words the query asks for
--   near_*        parallel: two words that follow each other in the query, where the first stands, how far they are apart there, and the
--                 weight of the commoner one. NULL for a query of more than 17 words, which describes rather than names; none of a script
--                 without spaces, whose pairs and triples say it already
-- No row: nothing can be found.
create or replace function iu_core.fn_search_terms(p_workspace_id uuid, p_query text)
returns table (lexeme_ids integer[], chunks integer[], weights float8[], shares float8[], phrases tsquery[], required integer[],
               mean_length float8, asked integer, near_lefts text[], near_rights text[], near_places integer[], near_gaps integer[],
               near_weights float8[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_query record := iu_core.fn_search_parse(p_query);
  -- Longer than the pairs and triples that such texts are divided into.
  v_runs text[] := array(select p from unnest(v_query.prefixes) as p
                          where p ~ '[\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]');
  v_prefixes text[];
  v_chunks integer;
  v_phrase record;
begin
  v_query.free := concat_ws(' ', v_query.free, array_to_string(v_runs, ' '));
  select s.chunks, s.words::float8 / nullif(s.chunks, 0) into v_chunks, mean_length
    from iu_core.search_statistics s where s.workspace_id = p_workspace_id;
  if coalesce(v_chunks, 0) = 0 then
    return;
  end if;
  -- A text of titles alone has no length.
  mean_length := greatest(mean_length, 1);
  for v_phrase in
    -- A phrase of a single character, or of two, is such a beginning, too.
    select * from iu_core.fn_search_phrases(p_workspace_id, array(
      select p from unnest(v_query.phrases) as p where iu_core.fn_search_short_runs(p) <> array[btrim(iu_core.fn_search_normalize(p))])) loop
    -- A word of it is in no chunk.
    if v_phrase.rarest is null then
      return;
    end if;
    phrases := phrases || v_phrase.phrase;
    -- The first one is the rarest.
    required := coalesce(required, v_phrase.rarest);
  end loop;
  v_prefixes := array(select p from unnest(v_query.prefixes) as p where p <> all (v_runs)) || iu_core.fn_search_short_runs(v_query.free);
  with word as materialized (
    select * from iu_core.fn_search_question_words(p_workspace_id, v_query.free)
  ), known as materialized (
    select l.lexeme_id, w.lexeme, l.chunks, w.times, w.places, w.is_further, ln(1 + (v_chunks - l.chunks + 0.5) / (l.chunks + 0.5)) as rareness
      from word w
     -- Each is looked up by its key: how many words a question has, the planner can only guess, and would read those of all texts.
     cross join lateral (select x.lexeme_id, x.chunks from iu_core.search_lexeme x
                          where x.workspace_id = p_workspace_id and x.lexeme = w.lexeme collate "C" and x.chunks > 0 offset 0) as l
  ), place as materialized (
    -- A word that no text has is as rare as one can be.
    select p.place, k.rareness, coalesce(k.rareness, ln(1 + (v_chunks + 0.5) / 0.5)) as mass
      from (select distinct unnest(w.places) as place from word w) as p
      left join (select k.place, max(k.rareness) as rareness from (select unnest(places) as place, rareness from known) as k group by 1) as k
        using (place)
  ), compound as (
    -- An unknown word of a language that writes words together: longer words that begin with it, and words that it is made of.
    select b.lexeme_id, b.chunks, w.times, p.place, least(sum(b.chunks) over (partition by p.place), v_chunks) as asked
      from (select p.place from place p where p.rareness is null order by p.place limit 16) as p
      join word w on p.place = any (w.places) and length(w.lexeme) >= 5
     cross join lateral (
       (select l.lexeme_id, l.chunks from iu_core.search_lexeme l
         where l.workspace_id = p_workspace_id and l.lexeme >= w.lexeme collate "C" and l.lexeme < w.lexeme || chr(1114111) collate "C" and l.chunks > 0
         order by l.chunks desc, l.lexeme limit 16)
        union
       (select l.lexeme_id, l.chunks from iu_core.search_lexeme l
         where l.workspace_id = p_workspace_id and l.chunks > 0
           and l.lexeme = any (array(select left(w.lexeme, n) collate "C" from generate_series(5, least(length(w.lexeme), 60) - 1) as n
                                     union all select right(w.lexeme, n) from generate_series(5, least(length(w.lexeme), 60) - 1) as n)))) as b
     where exists (select from iu_core.search_language l
                    where l.workspace_id = p_workspace_id and l.language in ('de', 'nl', 'sv', 'da', 'no', 'nb', 'nn', 'fi', 'hu'))
  ), prefix as (
    -- The words of a prefix count as one term: each has the weight of all of them.
    select b.lexeme_id, b.chunks, least(sum(b.chunks) over (partition by p.prefix), v_chunks) as asked
      from unnest(v_prefixes) as p (prefix)
     cross join lateral (
       select l.lexeme_id, l.chunks from iu_core.search_lexeme l
        where l.workspace_id = p_workspace_id
          and (l.lexeme >= p.prefix and l.lexeme < p.prefix || chr(1114111)
               or l.lexeme = any (tsvector_to_array(to_tsvector('english', p.prefix))))
        order by l.chunks desc, l.lexeme limit 32) as b
  ), whole as (
    select coalesce(sum(p.mass), 0) + cardinality(v_prefixes) * ln(2) as mass, count(*) + cardinality(v_prefixes) as asked from place p
  ), term as (
    select t.lexeme_id, t.chunks, max(t.weight)::float8 as weight, max(t.mass)::float8 as mass
      from (select k.lexeme_id, k.chunks, k.times * k.rareness * case when k.is_further then 0.5 else 1 end as weight,
                   case when k.is_further then 0 else cardinality(k.places) * k.rareness end as mass
              from known k
             union all
            select c.lexeme_id, c.chunks, c.times * ln(1 + (v_chunks - c.asked + 0.5) / (c.asked + 0.5)), ln(1 + (v_chunks + 0.5) / 0.5)
              from compound c
             union all
            select x.lexeme_id, x.chunks, ln(1 + (v_chunks - x.asked + 0.5) / (x.asked + 0.5)), ln(2) from prefix x) as t
     group by t.lexeme_id, t.chunks
     order by weight desc, t.lexeme_id limit 64
  ), spot as materialized (
    select k.lexeme, p.place, k.times * k.rareness as weight
      from known k cross join lateral unnest(k.places) as p (place)
     where not k.is_further
       and k.lexeme !~ '[\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]'
  ), near as (
    select array_agg(a.lexeme) as lefts, array_agg(b.lexeme) as rights, array_agg(s.place) as places, array_agg(s.next - s.place) as gaps,
           array_agg(least(a.weight, b.weight)) as weights
      from (select d.place, lead(d.place) over (order by d.place) as next, count(*) over () as words from (select distinct place from spot) as d) as s
      join spot a on a.place = s.place
      join spot b on b.place = s.next
     where s.words <= 17 and a.lexeme <> b.lexeme
  )
  select array_agg(t.lexeme_id order by t.chunks, t.lexeme_id), array_agg(t.chunks order by t.chunks, t.lexeme_id),
         array_agg(t.weight order by t.chunks, t.lexeme_id), array_agg(t.mass / greatest(w.mass, 1e-9) order by t.chunks, t.lexeme_id),
         max(w.asked)::integer, n.lefts, n.rights, n.places, n.gaps, n.weights
    into lexeme_ids, chunks, weights, shares, asked, near_lefts, near_rights, near_places, near_gaps, near_weights
    from term t cross join whole w cross join near n
   group by n.lefts, n.rights, n.places, n.gaps, n.weights;
  if lexeme_ids is not null then
    return next;
  end if;
end $$;

-- The words of a question as the texts of a workspace may have them. A question has no language: it is analysed in each language that
-- the workspace has, at most eight, and as plain words. Internal.
--   times       how often the question has it
--   places      where, as far as it is a word by itself: readings of one word share their place
--   is_further  a further reading (fn_search_words), which counts for less
-- Words that are too common to search for are left out: those of the language of the workspace that has most of them in the question.
create or replace function iu_core.fn_search_question_words(p_workspace_id uuid, p_text text)
returns table (lexeme text, times integer, places integer[], is_further boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ascii boolean := octet_length(p_text) = length(p_text);
  v_text text := case when not v_ascii then left(p_text, 5000) when length(p_text) > 10000 then left(p_text, 5000) || ' ' || right(p_text, 5000)
                      else p_text end;
  -- A question of thousands of words is found by the words themselves and in the language of most texts.
  v_analyzers text[] := array(
    select a.analyzer
      from (select iu_core.fn_search_analyzer(l.language) as analyzer, sum(l.chunks) as chunks
              from iu_core.search_language l where l.workspace_id = p_workspace_id group by 1) as a
     where a.analyzer <> 'simple' order by a.chunks desc, a.analyzer limit case when length(v_text) > 5000 then 1 else 8 end);
  -- By the words as they were typed: `the` is common, `thế` is not.
  v_typed text := iu_core.fn_search_space(case when v_ascii then v_text else normalize(v_text, NFKC) end, true);
  v_spaced text := case when v_ascii then v_typed else iu_core.fn_search_space(iu_core.fn_search_fold(v_text), true) end;
  v_places integer[] := array(select distinct unnest(w.positions)::integer from unnest(to_tsvector('simple', v_typed)) as w);
  v_analyzer text;
  v_words tsvector;
  v_common integer[];
  v_stops integer[] := '{}';
  v_least integer;
  v_readings tsvector[] := '{}';
begin
  if v_places = '{}' then
    return;
  end if;
  foreach v_analyzer in array v_analyzers loop
    v_words := case when v_analyzer = 'vietnamese' or not v_ascii and iu_core.fn_search_reads_marks(v_analyzer)
                    then iu_core.fn_search_analyse(v_text, v_analyzer, true)
                    else to_tsvector(v_analyzer::regconfig, v_spaced) end;
    v_readings := array_append(v_readings, v_words);
    continue when v_analyzer = 'vietnamese';
    if not v_ascii then
      v_words := to_tsvector(v_analyzer::regconfig, v_typed);
    end if;
    v_common := array(select unnest(v_places) except select unnest(w.positions)::integer from unnest(v_words) as w);
    v_stops := case when cardinality(v_common) > cardinality(v_stops) then v_common else v_stops end;
    v_least := least(v_least, cardinality(v_common));
  end loop;
  -- `die` alone is common in German, and a word in English.
  if cardinality(v_stops) = cardinality(v_places) and v_least < cardinality(v_places) then
    v_stops := '{}';
  end if;
  v_readings := array_append(v_readings, iu_core.fn_search_analyse(v_text, 'simple', true));
  return query
  select o.lexeme,
         greatest(count(distinct o.place) filter (where o.weight = 'D'),
                  count(*) filter (where o.weight <> 'D') / greatest(count(distinct o.reading) filter (where o.weight <> 'D'), 1))::integer,
         coalesce(array_agg(distinct o.place::integer) filter (where o.weight = 'D'), '{}'), bool_and(o.weight <> 'D')
    from (select r.reading, w.lexeme, p.place, p.weight
            from unnest(v_readings) with ordinality as r (words, reading)
           cross join lateral unnest(r.words) as w
           cross join lateral unnest(w.positions, w.weights) as p (place, weight)) as o
   -- Hashed: an array would be compared with each place one by one.
   where o.weight <> 'D' or o.place not in (select unnest(v_stops))
   group by o.lexeme;
end $$;

-- Runs of a script without spaces that are shorter than what such texts are divided into: each stands for all that begins with it.
-- Internal.
create or replace function iu_core.fn_search_short_runs(p_text text) returns text[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array(select distinct w.word
                 from unnest(string_to_array(iu_core.fn_search_space(iu_core.fn_search_fold(left(p_text, 10000)), true), ' ')) as w (word)
                where w.word ~ '^([\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]|[\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3]{1,2})$'
                order by 1 limit 8)
$$;

-- Phrases as the server matches them: each in all languages of the workspace and as plain words, any of which may match; and the words
-- of which a chunk must have one: the rarest of each reading. Those with the fewest chunks come first. Internal. A phrase that is of stop
-- words alone in one of the languages cannot be matched in its texts, which do not store them: it requires nothing. rarest is NULL if
-- in each reading a word of the phrase is in no chunk.
create or replace function iu_core.fn_search_phrases(p_workspace_id uuid, p_phrases text[])
returns table (phrase tsquery, rarest integer[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select string_agg(distinct '(' || q.query::text || ')', ' | ')::tsquery, r.rarest
    from unnest(p_phrases) with ordinality as p (text, n)
   cross join lateral (
     select a.analyzer, iu_core.fn_search_phrase(p.text, a.analyzer) as query
       from (select iu_core.fn_search_analyzer(l.language) as analyzer from iu_core.search_language l where l.workspace_id = p_workspace_id
              union select 'simple') as a offset 0) as q
   cross join lateral (
     select array_agg(f.lexeme_id) as rarest, sum(f.chunks) as chunks
       from (select (array_agg(l.lexeme_id order by l.chunks, l.lexeme_id))[1] as lexeme_id, min(l.chunks) as chunks
               from (select iu_core.fn_search_analyzer(l.language) as analyzer from iu_core.search_language l where l.workspace_id = p_workspace_id
                      union select 'simple') as a
              cross join lateral unnest(ts_filter(iu_core.fn_search_analyse(p.text, a.analyzer, true), '{d}')) as w (lexeme)
               left join iu_core.search_lexeme l on l.workspace_id = p_workspace_id and l.lexeme = w.lexeme collate "C" and l.chunks > 0
              group by a.analyzer
             having bool_and(l.lexeme_id is not null)) as f) as r
   group by p.n, r.rarest, r.chunks
  having bool_and(numnode(q.query) > 0)
   order by r.chunks nulls first, p.n;
end $$;

-- A phrase as one analyzer reads it. Internal.
create or replace function iu_core.fn_search_phrase(p_phrase text, p_analyzer text) returns tsquery
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_analyzer = 'vietnamese' then
    return phraseto_tsquery('simple', iu_core.fn_search_space(iu_core.fn_search_fold(p_phrase), true));
  elsif iu_core.fn_search_reads_marks(p_analyzer) and octet_length(p_phrase) > length(p_phrase) then
    return iu_core.fn_search_fold(phraseto_tsquery(p_analyzer::regconfig, iu_core.fn_search_space(normalize(p_phrase, NFKC), true))::text)::tsquery;
  end if;
  return phraseto_tsquery(p_analyzer::regconfig, iu_core.fn_search_space(iu_core.fn_search_fold(p_phrase), true));
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
  v_first text;
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
  prefixes := array(select distinct lower(iu_core.fn_search_fold(m[1]))
                      from regexp_matches(regexp_replace(v_query, '"[^"]*"', ' ', 'g'), '([^\s"*]{2,})\*(?=\s|$)', 'g') as m
                     order by 1 limit 8);
  free := translate(regexp_replace(v_query, '([^\s"*]{2,})\*(?=\s|$)', ' ', 'g'), '"', ' ');
  -- A question of thousands of words is known by its first ones.
  v_first := left(free, 5000);
  v_simple := tsvector_to_array(iu_core.fn_search_words(v_first, 'und'));
  -- By the word as it was typed: `the` is one of them, `thế` is not.
  stops := array(select w from unnest(tsvector_to_array(to_tsvector('simple', translate(v_first, '/<>', '   ')))) as w
                  where ts_lexize('english_stem', w) = '{}');
  words := array(select unnest(v_simple) except select unnest(stops)
                 union select unnest(tsvector_to_array(iu_core.fn_search_words(v_first, 'en'))) order by 1);
end $$;

grant execute on function iu_core.fn_search_parse(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The words of a text with their positions, by its language. Words that stand in the text have the weight D; C have further readings,
-- which count for no length:
--   a token of several words as a whole: sku-12345-ab, acme-corp.co.uk, 1.2.3 without its v, and digits without the spaces between them
--   the stem of a word without its marks, where that is another one; in Vietnamese words with their marks, and pairs of words
-- A script without spaces gives pairs of characters (Chinese, Japanese, Korean), or three at a time (Thai, Lao, Khmer, Burmese).
create or replace function iu_core.fn_search_words(p_text text, p_language text) returns tsvector
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return iu_core.fn_search_analyse(p_text, iu_core.fn_search_analyzer(p_language), false);
end $$;

grant execute on function iu_core.fn_search_words(text, text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The words of a chunk as search stores them: those of its title have the weight A, those of the titles above it B. Internal.
create or replace function iu_core.fn_search_chunk_words(p_text text, p_language text, p_title text, p_path text) returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_analyzer text := iu_core.fn_search_analyzer(p_language);
  v_words tsvector := iu_core.fn_search_analyse(p_text, v_analyzer, false);
begin
  if p_path <> '' then
    v_words := setweight(iu_core.fn_search_analyse(p_path, v_analyzer, false), 'B') || v_words;
  end if;
  if p_title <> '' then
    v_words := setweight(iu_core.fn_search_analyse(p_title, v_analyzer, false), 'A') || v_words;
  end if;
  return v_words;
end $$;

-- As fn_search_words, for an analyzer (fn_search_analyzer). In a question the last characters of a run without spaces are no words of
-- their own. Internal.
create or replace function iu_core.fn_search_analyse(p_text text, p_analyzer text, p_question boolean) returns tsvector
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ascii boolean := octet_length(p_text) = length(p_text);
  -- Its result must fit into a tsvector.
  v_text text := left(p_text, case when v_ascii then 100000 when p_question then 10000 else 50000 end);
  v_folded text := iu_core.fn_search_fold(v_text);
  v_spaced text := iu_core.fn_search_space(v_folded, p_question);
  v_words tsvector;
  v_more tsvector := '';
  v_tokens text[] := '{}';
  v_plain text[];
begin
  if p_analyzer = 'vietnamese' then
    v_words := to_tsvector('simple', v_spaced);
    v_plain := string_to_array(lower(btrim(v_spaced)), ' ');
    v_tokens := array(select t.word || ' ' || t.next from unnest(v_plain, v_plain[2:]) as t (word, next) where t.next is not null);
    if not v_ascii then
      v_tokens := v_tokens || array(
        select t.word from unnest(string_to_array(lower(btrim(iu_core.fn_search_space(normalize(v_text, NFKC), p_question))), ' ')) as t (word)
         where octet_length(t.word) > length(t.word));
    end if;
  elsif not v_ascii and iu_core.fn_search_reads_marks(p_analyzer) then
    -- These stemmers read the marks.
    v_words := regexp_replace(
      iu_core.fn_search_fold(to_tsvector(p_analyzer::regconfig, iu_core.fn_search_space(normalize(v_text, NFKC), p_question))::text),
      -- Of a mark without a letter nothing is left.
      '(^| )'''':[0-9,]+', '', 'g')::tsvector;
    if not p_question then
      v_more := ts_delete(to_tsvector(p_analyzer::regconfig, v_spaced), tsvector_to_array(v_words));
    end if;
  else
    v_words := to_tsvector(p_analyzer::regconfig, v_spaced);
  end if;
  if v_folded ~ '[A-Za-z0-9][-._@+#:][A-Za-z0-9]|[A-Za-z0-9](\+\+|#)|\d\d \d\d' then
    v_tokens := v_tokens || array(
      select left(lower(m[1]), 200) from regexp_matches(v_folded, '([A-Za-z0-9]+(?:[-._@+#:][A-Za-z0-9]+)+(?:\+\+|#)?|[A-Za-z0-9]+(?:\+\+|#))', 'g') as m)
      || array(select translate(m[1], ' -.', '') from regexp_matches(v_folded, '(?:^|[^\w.-])(\d{2,4}(?:[ .-]\d{2,4})+)(?![\w])', 'g') as m where length(m[1]) between 6 and 30);
  end if;
  -- A version is also looked for without its v.
  v_tokens := v_tokens || array(select substr(t.token, 2) from unnest(v_tokens) as t (token) where t.token ~ '^v\d+[.]');
  if v_tokens <> '{}' then
    v_more := v_more || (select string_agg('''' || replace(replace(t.token, '\', '\\'), '''', '''''') || ''':' || least(t.n, 16383), ' ')
                           from (select t.token, t.n, sum(octet_length(t.token) + 8) over (order by t.n) as size
                                   from unnest(v_tokens) with ordinality as t (token, n) where t.token <> '') as t
                          -- The rest of the room is for the words.
                          where t.size < 250000)::tsvector;
  end if;
  return case when v_more = '' then v_words else v_words || setweight(v_more, 'C') end;
end $$;

grant execute on function iu_core.fn_search_analyse(text, text, boolean) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Whether the stemmer reads the marks of letters, so that they are removed after it, not before. Internal.
create or replace function iu_core.fn_search_reads_marks(p_analyzer text) returns boolean
language sql immutable strict parallel safe
as $$
  select p_analyzer in ('french', 'spanish', 'portuguese', 'italian', 'romanian', 'catalan', 'hungarian', 'turkish', 'irish', 'lithuanian')
$$;

grant execute on function iu_core.fn_search_reads_marks(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The text with one blank for whatever separates words; runs of scripts without spaces as their pairs or triples of characters, and, if
-- it is no question, the last ones of a run by themselves, so that each character begins one. The server's parser would hide words: it
-- reads -12345 as a number, and/or as a path, acme.co.uk as a host. Internal.
create or replace function iu_core.fn_search_space(p_text text, p_question boolean) returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := p_text;
begin
  if octet_length(v_text) = length(v_text) then
    return regexp_replace(v_text, '[^A-Za-z0-9]+', ' ', 'g');
  end if;
  -- Soft hyphens, zero-width characters and direction marks are no part of a word.
  if v_text ~ '[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff]' then
    v_text := regexp_replace(v_text, '[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff]+', '', 'g');
  end if;
  -- By code points: what a class such as [[:punct:]] has depends on the server's locale.
  v_text := regexp_replace(v_text, '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u037e\u0387\u055a-\u055f\u0589\u05be\u05c0\u05c3\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u0e4f\u0e5a\u0e5b\u104a-\u104f\u17d4-\u17d6\u17d8-\u17da\u1680\u2000-\u200a\u2010-\u2029\u202f-\u205f\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u303d-\u303f\u30a0\u30fb\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufffd]+', ' ', 'g');
  if v_text !~ '[\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]' then
    return v_text;
  end if;
  return (
    select string_agg(case when r.run[1] is not null then (select ' ' || string_agg(x || coalesce(y, ''), ' ') || ' '
                                                              from unnest(c.chars, c.chars[2:]) as t (x, y)
                                                             where y is not null or not p_question or cardinality(c.chars) = 1)
                           when r.run[2] is not null then (select ' ' || string_agg(concat(x, y, z), ' ') || ' '
                                                              from unnest(c.chars, c.chars[2:], c.chars[3:]) as t (x, y, z)
                                                             where z is not null or not p_question or x = c.chars[1] and cardinality(c.chars) < 3)
                           else r.run[3] end, '')
      from regexp_matches(v_text, '([\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]+)|([\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3]+)|([^\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]+)', 'g') as r (run)
     cross join lateral (select string_to_array(coalesce(r.run[1], r.run[2]), null) as chars) as c);
end $$;

grant execute on function iu_core.fn_search_space(text, boolean) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The text as search compares it: full-width and other forms as usual letters, without diacritics, so that it is found when typed
-- without them: `Nghỉ phép` and `nghi phep` are the same words. й stays, it is a letter of its own; ß is ss, the last sigma of a Greek
-- word is a sigma. Internal.
create or replace function iu_core.fn_search_fold(p_text text) returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(p_text) = length(p_text) then
    return p_text;
  end if;
  return replace(replace(replace(translate(normalize(regexp_replace(
    replace(replace(normalize(p_text, NFKD), U&'\0438\0306', U&'\E000'), U&'\0418\0306', U&'\E001'),
    '[\u0300-\u036f]+', '', 'g'), NFC), U&'đĐłŁøØıς\E000\E001', 'dDlLoOiσйЙ'), 'ß', 'ss'), 'ẞ', 'SS'), U&'\0307', '');
end $$;

grant execute on function iu_core.fn_search_fold(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The words of a text as they are compared, separated by blanks: without diacritics and signs. Also used by the embedders that count
-- words. A text longer than a chunk can be is cut off.
create or replace function iu_core.fn_search_normalize(p_text text) returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return iu_core.fn_search_space(iu_core.fn_search_fold(left(p_text, case when octet_length(p_text) = length(p_text) then 100000 else 50000 end)), true);
end $$;

grant execute on function iu_core.fn_search_normalize(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;
