-- Questions: unknown words and their corrections, completions, synonyms, and the log of questions without hits.

-- What is known about the words of a question before it is asked: words that no text has, each with known words near to it, and the
-- synonyms of words and of runs of up to four words.
--   p_words    single words as they were typed; at most 32 are looked at
--   p_typing   whether somebody still types the last word: it is unknown only if no known word begins with it
--   {"unknown": [{"word", "stems", "known": [{"lexeme", "chunks", "chunk_id", "rows"}], "rows": [chunk_id]}], "synonyms": [{"word", "synonym"}]}
--   rows: only rows of tables have the word; these are some of their chunks. Who may read one of those rows knows the word; the caller
--   checks that before it tells anybody. Sessions that are not Stagedoor's own, which find no rows, get none
create or replace function iu_core.fn_search_question(p_workspace_id uuid, p_words text[], p_typing boolean default false) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_words text[] := array(select lower(iu_core.fn_search_fold(w)) from unnest(p_words[:32]) with ordinality as t (w, n) order by n);
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return jsonb_build_object(
    'unknown', iu_core.fn_search_unknown(p_workspace_id, p_words[:32], p_typing),
    'synonyms', (
      select coalesce(jsonb_agg(jsonb_build_object('word', s.word, 'synonym', s.synonym) order by s.word, s.synonym), '[]')
        from (select distinct array_to_string(v_words[n:n + k], ' ') as run
                from generate_series(1, cardinality(v_words)) as n cross join generate_series(0, 3) as k
               where n + k <= cardinality(v_words)) as r
        join iu_core.search_synonym s on s.workspace_id = p_workspace_id and s.word = r.run collate "C"));
end $$;

grant execute on function iu_core.fn_search_question(uuid, text[], boolean) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Why a query finds nothing in a workspace: how many chunks of units and documents there are, how many tables of the user are searched (their
-- rows are not counted: whoever asks may not be allowed to read them), how many texts wait (counted up to 1000), and the words of
-- the query that no chunk has, each with known words near to it. p_words: single words as they were typed, at most 16 are looked
-- at. A known word is a stem, so it comes with a chunk that has it: the caller reads the word itself there.
--   {"chunks", "tables", "waiting", "unknown": as of fn_search_question}
create or replace function iu_core.fn_search_unknown_words(p_workspace_id uuid, p_words text[]) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return jsonb_build_object(
    'chunks', case when iu_core.fn_search_has_tables(p_workspace_id)
                   then (select count(*) from iu_core.search_chunk c where c.workspace_id = p_workspace_id and c.row_id is null)
                   else coalesce((select s.chunks from iu_core.search_statistics s where s.workspace_id = p_workspace_id), 0) end,
    'tables', (select count(*) from iu_core.search_table t
                where (t.workspace_id = p_workspace_id or t.workspace_column is not null) and t.state = 'active'),
    'waiting', (select count(*) from (
        select from iu_core.vector_outbox o
          join iu_core.information_unit u on u.unit_id = o.unit_id
         where u.workspace_id = p_workspace_id and o.status in ('pending', 'processing') limit 1000) as w),
    'unknown', iu_core.fn_search_unknown(p_workspace_id, p_words[:16], false));
end $$;

grant execute on function iu_core.fn_search_unknown_words(uuid, text[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Words that no text of the workspace has, in search or waiting for it, with known words near to each: the first eight. And words that
-- only rows of tables have, with chunks of those rows: what a caller may not read neither makes a word known nor is it offered. A word of
-- more than 200 chunks, of which the first 200 are all of rows, counts as known for whoever finds rows: nobody waits until all are read.
-- Internal.
create or replace function iu_core.fn_search_unknown(p_workspace_id uuid, p_words text[], p_typing boolean) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tables boolean := iu_core.fn_search_has_tables(p_workspace_id);
  v_rows boolean := v_tables and iu_core.fn_search_session_is_ours();
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('word', w.word, 'stems', w.stems, 'known', iu_core.fn_search_near_words(p_workspace_id, w.word, w.stems), 'rows', w.rows)
                              order by w.n), '[]')
      from (select t.word, t.n, s.stems, coalesce(r.chunk_ids, '{}') as rows
              -- Most words are known as they are, or by their English stem: that is soon seen.
              from (select a.word, o.typed, o.n
                      from unnest(p_words) with ordinality as o (typed, n)
                     cross join lateral (select lower(iu_core.fn_search_fold(o.typed)) as word offset 0) as a
                     where length(a.word) between 3 and 60
                       and not exists (select from iu_core.search_lexeme x
                                        where x.workspace_id = p_workspace_id and x.chunks > 0
                                          and x.lexeme = any ((a.word || ts_lexize('english_stem', a.word)) collate "C")
                                          and (not v_tables or iu_core.fn_search_text_with(x.lexeme_id) is not null))
                    offset 0) as t
             cross join lateral (select array(select q.lexeme from iu_core.fn_search_question_words(p_workspace_id, t.word) as q
                                               where not q.is_further) as stems offset 0) as s
             cross join lateral (
               select array_agg(k.chunk_id) as chunk_ids, coalesce(bool_or(k.chunks > 200), false) as is_frequent
                 from (select c.chunk_id, x.chunks from iu_core.search_lexeme x
                         join iu_core.search_posting p on p.lexeme_id = x.lexeme_id
                         join iu_core.search_chunk c on c.chunk_no = p.chunk_no
                        where v_rows and x.workspace_id = p_workspace_id and x.lexeme = any (s.stems collate "C") and x.chunks > 0
                          and c.row_id is not null
                        limit 50) as k) as r
             where s.stems <> '{}' and not r.is_frequent and not iu_core.fn_search_is_common(p_workspace_id, t.typed)
               -- A chunk that a correction could come from has it, too.
               and not exists (select from iu_core.search_lexeme x
                                where x.workspace_id = p_workspace_id and x.lexeme = any (s.stems collate "C") and x.chunks > 0
                                  and (not v_tables or iu_core.fn_search_text_with(x.lexeme_id) is not null))
               and not exists (select from iu_core.search_pending p
                                where p.workspace_id = p_workspace_id and tsvector_to_array(p.words) && s.stems)
               -- Nor is the beginning of a word that is still typed, or of a compound that fn_search_terms finds by it.
               and not ((p_typing and t.n = cardinality(p_words)
                         or length(t.word) >= 5
                            and exists (select from iu_core.search_language g
                                         where g.workspace_id = p_workspace_id and g.language in ('de', 'nl', 'sv', 'da', 'no', 'nb', 'nn', 'fi', 'hu')))
                        and exists (select from iu_core.search_lexeme x
                                     where x.workspace_id = p_workspace_id and x.chunks > 0
                                       and x.lexeme >= t.word collate "C" and x.lexeme < (t.word || chr(1114111)) collate "C"))
             order by r.chunk_ids is not null, t.n limit 8) as w);
end $$;

-- Whether a word is too common to be searched for in English or in a language of the workspace: texts have it, and search stores it of
-- none. Internal.
create or replace function iu_core.fn_search_is_common(p_workspace_id uuid, p_word text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from (select 'en' as language
                               union select g.language from iu_core.search_language g where g.workspace_id = p_workspace_id and g.chunks > 0) as l
                  where iu_core.fn_search_analyse(p_word, iu_core.fn_search_analyzer(l.language), true) = ''::tsvector)
$$;

-- Known words that may be meant by one that no text has: at most two letters longer or shorter, those in most chunks first, at most
-- 200. The caller compares letter by letter. Words of four letters and more are looked for without one of their first eight letters,
-- those of eight and more without two. A word that only rows of tables have comes with some of their chunks, for sessions of Stagedoor's own,
-- and without a number: they check whether whoever asks may read one of those rows. Internal.
create or replace function iu_core.fn_search_near_words(p_workspace_id uuid, p_word text, p_stems text[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
-- The words of all workspaces are in one index: whatever the planner knows of them, it is used.
set enable_seqscan = off
as $$
declare
  v_tables boolean := iu_core.fn_search_has_tables(p_workspace_id);
  v_rows boolean := v_tables and iu_core.fn_search_session_is_ours();
  v_keys integer[];
begin
  if char_length(p_word) < 4 then
    return '[]';
  end if;
  v_keys := array(
    select k from (select p_word as form union select unnest(p_stems)) as f
     cross join lateral unnest(iu_core.fn_search_word_keys(p_workspace_id, f.form)) as k
     union
    -- Of a long word, without two letters.
    select k from (select p_word as form union select unnest(p_stems)) as f
     cross join generate_series(1, 8) as n
     cross join lateral unnest(iu_core.fn_search_word_keys(p_workspace_id, overlay(left(f.form, 8) placing '' from n for 1))) as k
     where char_length(p_word) >= 8);
  return (
    with near as materialized (
      select l.lexeme_id, l.workspace_id, l.lexeme, l.chunks
        from iu_core.search_lexeme l where iu_core.fn_search_word_keys(l.workspace_id, l.lexeme) && v_keys
    ), likely as (
      select n.lexeme_id, n.lexeme, n.chunks
        from near n
       where n.workspace_id = p_workspace_id and n.chunks > 0
         -- Whole words only: further readings may be pairs of words.
         and n.lexeme !~ '[[:space:]_.@/+-]'
         and char_length(n.lexeme) between char_length(p_word) - 4 and char_length(p_word) + 2
       order by n.chunks desc, n.lexeme limit 200
    )
    select coalesce(jsonb_agg(jsonb_build_object('lexeme', k.lexeme, 'chunks', k.chunks, 'chunk_id', k.chunk_id, 'rows', k.rows)
                              order by k.chunks desc, k.lexeme), '[]')
      from (select l.lexeme, t.chunk_id,
                   -- Of texts alone: a number of rows is nobody's who may not read them.
                   case when v_tables then iu_core.fn_search_texts_with(l.lexeme_id) else l.chunks end as chunks,
                   case when t.chunk_id is null and v_rows then iu_core.fn_search_rows_with(l.lexeme_id) else '{}' end as rows
              from likely l cross join lateral (select iu_core.fn_search_text_with(l.lexeme_id) as chunk_id offset 0) as t) as k
     where k.chunk_id is not null or k.rows <> '{}');
end $$;

-- Some chunks of rows of tables that have a word, spread over those that have it. Internal.
create or replace function iu_core.fn_search_rows_with(p_lexeme_id integer) returns uuid[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(k.chunk_id), '{}')
    from (select c.chunk_id
            from (select x.chunk_no from iu_core.search_posting x where x.lexeme_id = p_lexeme_id limit 200) as p
            join iu_core.search_chunk c on c.chunk_no = p.chunk_no
           where c.row_id is not null order by md5(c.chunk_id::text) limit 10) as k
$$;

-- A chunk of a unit or document that has a word, among the first 200 chunks with it; NULL: those are all of rows of tables. Internal.
create or replace function iu_core.fn_search_text_with(p_lexeme_id integer) returns uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.chunk_id
    from (select x.chunk_no from iu_core.search_posting x where x.lexeme_id = p_lexeme_id limit 200) as p
    join iu_core.search_chunk c on c.chunk_no = p.chunk_no
   where c.row_id is null limit 1
$$;

-- How many chunks of units and documents are among the first 200 that have a word. Internal.
create or replace function iu_core.fn_search_texts_with(p_lexeme_id integer) returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select count(*)::integer
    from (select x.chunk_no from iu_core.search_posting x where x.lexeme_id = p_lexeme_id limit 200) as p
    join iu_core.search_chunk c on c.chunk_no = p.chunk_no
   where c.row_id is null
$$;

-- Whether tables of the user are searched in a workspace. Internal.
create or replace function iu_core.fn_search_has_tables(p_workspace_id uuid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from iu_core.search_table t where t.workspace_id = p_workspace_id or t.workspace_column is not null)
$$;

-- Lexemes as texts write them, for each of these lexemes the words of one of its chunks that are analysed so: `policies` for `polici`.
--   p_texts   of chunks of rows of tables, which only the caller can read; NULL: of a unit or document, which is read here
create or replace function iu_core.fn_search_written(p_workspace_id uuid, p_lexemes text[], p_chunk_ids uuid[], p_texts text[])
returns table (lexeme text, word text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select distinct a.lexeme, w.word
    from unnest(p_lexemes, p_chunk_ids, p_texts) as a (lexeme, chunk_id, text)
    join iu_core.search_chunk c on c.chunk_id = a.chunk_id and c.workspace_id = p_workspace_id
   cross join lateral (select a.text where c.row_id is not null
                        union all
                       select t.text from iu_core.fn_search_texts(p_workspace_id, array[a.chunk_id], '{}') as t where c.row_id is null
                       offset 0) as t
   cross join lateral (select distinct lower(m[1]) as word from regexp_matches(t.text, '([^\s!-/:-@\[-`{-~\u00A0-\u00BF\u2000-\u206F\u3000-\u303F]+)', 'g') as m) as w
   -- In this order: few words of a text begin like the lexeme, and each of them is analysed. A plain word is folded as it is.
   where case when left(case when octet_length(w.word) = length(w.word) then w.word else lower(iu_core.fn_search_fold(w.word)) end, 2) = left(a.lexeme, 2)
              then a.lexeme = any (tsvector_to_array(iu_core.fn_search_words(w.word, c.language))) end;
end $$;

grant execute on function iu_core.fn_search_written(uuid, text[], uuid[], text[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Known words that begin like the one that somebody types, those in most chunks first, each with a chunk of a unit or document that has it,
-- or with chunks of rows of tables, as fn_search_question. A stem may be a little shorter than what was typed: the caller reads the words
-- themselves, and takes those that begin so.
create or replace function iu_core.fn_search_completions(p_workspace_id uuid, p_prefix text, p_limit integer default 12)
returns table (lexeme text, chunks integer, chunk_id uuid, rows uuid[])
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tables boolean := iu_core.fn_search_has_tables(p_workspace_id);
  v_rows boolean := v_tables and iu_core.fn_search_session_is_ours();
  v_prefix text := lower(iu_core.fn_search_fold(p_prefix));
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  if p_prefix is null or char_length(p_prefix) not between 1 and 100 or p_limit is null or p_limit not between 1 and 100 then
    raise exception using errcode = 'SD001', message = 'Completions need the beginning of a word, of at most 100 characters, and a limit between 1 and 100';
  end if;
  return query
  select k.lexeme::text, k.chunks, k.chunk_id, k.rows from (
  select l.lexeme, t.chunk_id, case when v_tables then iu_core.fn_search_texts_with(l.lexeme_id) else l.chunks end as chunks,
         case when t.chunk_id is null and v_rows then iu_core.fn_search_rows_with(l.lexeme_id) else '{}' end as rows
    from (select x.lexeme_id, x.lexeme, x.chunks from iu_core.search_lexeme x
           where x.workspace_id = p_workspace_id and x.chunks > 0
             and (x.lexeme >= v_prefix collate "C" and x.lexeme < (v_prefix || chr(1114111)) collate "C"
                  or x.lexeme = any (array(select left(v_prefix, n) from generate_series(greatest(4, char_length(v_prefix) - 3), char_length(v_prefix) - 1) as n)))
           -- Words that only hidden rows have are left out later.
           order by x.chunks desc, x.lexeme limit case when v_tables then 200 else p_limit end) as l
   cross join lateral (select iu_core.fn_search_text_with(l.lexeme_id) as chunk_id offset 0) as t) as k
   where k.chunk_id is not null or k.rows <> '{}'
   order by k.chunks desc, k.lexeme limit p_limit;
end $$;

grant execute on function iu_core.fn_search_completions(uuid, text, integer) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Adds synonyms of a word or of a run of up to four words: questions with the word also ask for them. p_both: and the other way round.
-- Only what a question itself says is looked up, never a synonym's synonym, so that cycles are harmless. For those who administer.
-- Returns how many were new. At most 2,000 in a workspace and 20 of one word.
create or replace function iu_core.fn_search_synonym_add(p_workspace_id uuid, p_word text, p_synonyms text[], p_both boolean default false) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most constant integer := 2000;
  v_most_of_one constant integer := 20;
  v_word text := iu_core.fn_search_synonym_form(p_word);
  v_synonyms text[] := array(select iu_core.fn_search_synonym_form(s) from unnest(p_synonyms) as s);
  v_count integer;
  v_full text;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  if coalesce(cardinality(v_synonyms), 0) = 0 then
    raise exception using errcode = 'SD001', message = format('Name at least one synonym of %s', v_word);
  end if;
  if v_word = any (v_synonyms) then
    raise exception using errcode = 'SD001', message = format('%s is no synonym of itself', v_word);
  end if;
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.synonyms ' || p_workspace_id, 0));
  insert into iu_core.search_synonym (workspace_id, word, synonym, created_by)
  select p_workspace_id, p.word, p.synonym, iu_core.fn_actor()
    from (select v_word as word, s as synonym from unnest(v_synonyms) as s
           union
          select s, v_word from unnest(v_synonyms) as s where p_both) as p
  on conflict do nothing;
  get diagnostics v_count = row_count;
  select x.word into v_full from iu_core.search_synonym x
   where x.workspace_id = p_workspace_id and x.word = any (v_word || v_synonyms)
   group by x.word having count(*) > v_most_of_one limit 1;
  if v_full is not null then
    raise exception using errcode = 'SD710', message = format('A word has at most %s synonyms: %s would have more', v_most_of_one, v_full),
      detail = json_build_object('what', format('the word %s would have more than %s', v_full, v_most_of_one))::text;
  end if;
  if (select count(*) from iu_core.search_synonym x where x.workspace_id = p_workspace_id) > v_most then
    raise exception using errcode = 'SD710', message = format('A workspace has at most %s synonyms', v_most),
      detail = json_build_object('what', format('the workspace would have more than %s', v_most))::text;
  end if;
  return v_count;
end $$;

grant execute on function iu_core.fn_search_synonym_add(uuid, text, text[], boolean) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Deletes synonyms of a word; NULL: all of them. p_both: and the other way round. For those who administer. Returns how many.
create or replace function iu_core.fn_search_synonym_delete(p_workspace_id uuid, p_word text, p_synonyms text[] default null, p_both boolean default false) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word text := iu_core.fn_search_synonym_form(p_word);
  v_synonyms text[] := array(select iu_core.fn_search_synonym_form(s) from unnest(p_synonyms) as s);
  v_count integer;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  delete from iu_core.search_synonym x
   where x.workspace_id = p_workspace_id
     and (x.word = v_word and (p_synonyms is null or x.synonym = any (v_synonyms))
          or p_both and x.synonym = v_word and (p_synonyms is null or x.word = any (v_synonyms)));
  get diagnostics v_count = row_count;
  if v_count = 0 then
    raise exception using errcode = 'SD711', message = format('%s has no such synonym', v_word),
      detail = json_build_object('word', v_word)::text;
  end if;
  return v_count;
end $$;

grant execute on function iu_core.fn_search_synonym_delete(uuid, text, text[], boolean) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- The synonyms of a workspace, by word; p_after: the last word of the page before. All of a word are on one page.
create or replace function iu_core.fn_search_synonyms(p_workspace_id uuid, p_limit integer default 100, p_after text default null)
returns table (word text, synonyms text[], created_by text, created_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
  select s.word::text, array_agg(s.synonym::text order by s.synonym), (array_agg(s.created_by order by s.created_at desc))[1], max(s.created_at)
    from iu_core.search_synonym s
   where s.workspace_id = p_workspace_id and (p_after is null or s.word > p_after collate "C")
   group by s.word order by s.word limit p_limit;
end $$;

grant execute on function iu_core.fn_search_synonyms(uuid, integer, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- A synonym as it is compared: words without case and diacritics, one blank between them. Refuses what no question could say. Internal.
create or replace function iu_core.fn_search_synonym_form(p_text text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_form text := btrim(regexp_replace(lower(iu_core.fn_search_fold(regexp_replace(coalesce(p_text, ''), '[[:cntrl:]]', ' ', 'g'))), '[\s!-/:-@\[-`{-~\u00A0-\u00BF\u2000-\u206F\u3000-\u303F]+', ' ', 'g'));
begin
  if v_form = '' or char_length(v_form) > 100 or cardinality(string_to_array(v_form, ' ')) > 4 then
    raise exception using errcode = 'SD001',
      message = format('%L is no synonym: it takes one to four words, of at most 100 characters together', left(coalesce(p_text, ''), 120));
  end if;
  return v_form;
end $$;

-- Whether a workspace logs questions without hits, for how many days, and how many it has: {"on", "days", "questions"}.
create or replace function iu_core.fn_search_log(p_workspace_id uuid) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return jsonb_build_object(
    'on', coalesce((select s.log_missed from iu_core.search_setting s where s.workspace_id = p_workspace_id), false),
    'days', coalesce((select s.missed_days from iu_core.search_setting s where s.workspace_id = p_workspace_id), 30),
    'questions', (select count(*) from iu_core.search_missed m where m.workspace_id = p_workspace_id));
end $$;

grant execute on function iu_core.fn_search_log(uuid) to dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Turns the log of questions without hits on or off; off deletes it. p_days: how long a question stays after it was asked last. For those
-- who administer. Returns whether anything changed.
create or replace function iu_core.fn_search_log_set(p_workspace_id uuid, p_on boolean, p_days integer default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before jsonb;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  if p_on is null or p_days not between 1 and 365 then
    raise exception using errcode = 'SD001', message = 'The log of questions is on or off, and keeps them for 1 to 365 days';
  end if;
  v_before := iu_core.fn_search_log(p_workspace_id);
  insert into iu_core.search_setting as s (workspace_id, log_missed, missed_days, changed_by)
  values (p_workspace_id, p_on, coalesce(p_days, 30), iu_core.fn_actor())
  on conflict (workspace_id) do update
     set log_missed = p_on, missed_days = coalesce(p_days, s.missed_days), changed_by = iu_core.fn_actor(), changed_at = clock_timestamp();
  delete from iu_core.search_missed m
   using iu_core.search_setting s
   where m.workspace_id = p_workspace_id and s.workspace_id = p_workspace_id
     and (not s.log_missed or m.last_at < clock_timestamp() - make_interval(days => s.missed_days));
  return v_before is distinct from iu_core.fn_search_log(p_workspace_id);
end $$;

grant execute on function iu_core.fn_search_log_set(uuid, boolean, integer) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Logs a question that found nothing, where its workspace asks for it: as it was typed, cut off after 200 characters, and never a text that
-- search has. At most 1,000 questions: those asked longest ago leave first. In a read-only transaction, of a caller that may only read, nothing
-- is logged. Returns whether it was logged.
create or replace function iu_core.fn_search_missed_add(p_workspace_id uuid, p_question text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most constant integer := 1000;
  v_question text := btrim(left(btrim(regexp_replace(coalesce(p_question, ''), '[[:cntrl:][:space:]]+', ' ', 'g')), 200));
  v_days integer;
  v_is_new boolean;
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  select s.missed_days into v_days from iu_core.search_setting s where s.workspace_id = p_workspace_id and s.log_missed;
  if not found or v_question = '' or current_setting('transaction_read_only')::boolean then
    return false;
  end if;
  insert into iu_core.search_missed as m (workspace_id, question)
  values (p_workspace_id, v_question)
  on conflict (workspace_id, question) do update set times = m.times + 1, last_at = clock_timestamp()
  returning m.times = 1 into v_is_new;
  if v_is_new then
    delete from iu_core.search_missed m
     where m.workspace_id = p_workspace_id
       and (m.last_at < clock_timestamp() - make_interval(days => v_days)
            or m.last_at < (select x.last_at from iu_core.search_missed x where x.workspace_id = p_workspace_id
                             order by x.last_at desc offset v_most - 1 limit 1));
  end if;
  return true;
end $$;

grant execute on function iu_core.fn_search_missed_add(uuid, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Questions without hits, those asked most often first. For those who administer: they are what others typed.
create or replace function iu_core.fn_search_missed(p_workspace_id uuid, p_limit integer default 100)
returns table (question text, times integer, first_at timestamptz, last_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  return query
  select m.question::text, m.times, m.first_at, m.last_at
    from iu_core.search_missed m
    join iu_core.search_setting s on s.workspace_id = m.workspace_id
   where m.workspace_id = p_workspace_id and m.last_at >= clock_timestamp() - make_interval(days => s.missed_days)
   order by m.times desc, m.last_at desc, m.question limit p_limit;
end $$;

grant execute on function iu_core.fn_search_missed(uuid, integer) to dot_executor, service_role, authenticated, stagedoor_reviewer;
