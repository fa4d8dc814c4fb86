-- What a query asks for. It has no language: each word is taken in all ways in which a text may have been.
--   words     lexemes, of which a text should have some
--   stops     words too common in English to ask for; they count where nothing else is asked and no text is English
--   phrases   what stood in quotes, as text: must be there word for word. A quote without its partner is passed over; of more
--             than 4,000 characters, which no chunk has, is refused
--   prefixes  `word*`, without the star and without marks
-- Pure: it reads no data. Whoever shows hits asks it what to highlight, and why there are none.
create or replace function iu_core.fn_search_parse(p_query text, out words text[], out stops text[], out phrases text[], out prefixes text[])
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query text := regexp_replace(translate(left(coalesce(p_query, ''), 100000), '“”„«»', '"""""'), '[[:cntrl:]]', ' ', 'g');
  v_rest text;
  v_simple text[];
begin
  phrases := array(select distinct m[1] from regexp_matches(v_query, '"([^"]*)"', 'g') as m where m[1] ~ '\S' order by 1 limit 8);
  -- Its check would be nested as deeply as it has words.
  if exists (select from unnest(phrases) as p (phrase) where length(p.phrase) > 4000) then
    raise exception using errcode = 'SD001', message = 'A phrase in quotes has at most 4,000 characters: ask without the quotes, or for a part of it';
  end if;
  -- Only where a word of its own ends: a star inside of one, or in a phrase, is no wish.
  v_rest := regexp_replace(v_query, '"[^"]*"', ' ', 'g');
  prefixes := array(select distinct lower(iu_core.fn_search_plain(m[1]))
                      from regexp_matches(v_rest, '([^\s"*]{2,})\*(?=\s|$)', 'g') as m order by 1 limit 8);
  v_rest := regexp_replace(v_query, '([^\s"*]{2,})\*(?=\s|$)', ' ', 'g');
  v_simple := tsvector_to_array(iu_core.fn_search_words(v_rest, 'und'));
  -- By the word as it was typed: `the` is one of them, `thế` is not.
  stops := array(select w from unnest(tsvector_to_array(to_tsvector('simple', translate(v_rest, '/', ' ')))) as w
                  where ts_lexize('english_stem', w) = '{}');
  words := array(select unnest(v_simple) except select unnest(stops)
                 union select unnest(tsvector_to_array(iu_core.fn_search_words(v_rest, 'en'))) order by 1);
end $$;

grant execute on function iu_core.fn_search_parse(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;
