-- What a question brings with it: known words near to a misspelt one, synonyms, and a log of questions without hits.

-- Keys under which a word is found by one that is misspelt: its first eight letters, whole and without each one of them, hashed with the
-- workspace. Two words that differ by one letter missing, added, replaced or swapped share a key. None for words with digits, which are
-- numbers and codes, for short ones, and for scripts without spaces or with syllables, where one sign is a word. Behind an index: it never
-- changes.
create function iu_core.fn_search_word_keys(p_workspace_id uuid, p_lexeme text) returns integer[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when char_length(p_lexeme) not between 3 and 40
         or p_lexeme ~ '[0-9\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]'
      then '{}'
    else array(
      select distinct hashtext(p_workspace_id::text || ' ' || case k.n when 0 then left(p_lexeme, 8) else overlay(left(p_lexeme, 8) placing '' from k.n for 1) end)
        from generate_series(0, least(char_length(p_lexeme), 8)) as k (n)) end
$$;

revoke execute on function iu_core.fn_search_word_keys(uuid, text) from public;

create index search_lexeme_near on iu_core.search_lexeme using gin (iu_core.fn_search_word_keys(workspace_id, lexeme));

-- A question that has the word also asks for the synonym. Used in questions alone: no text is indexed by it.
create table iu_core.search_synonym (
  workspace_id uuid not null,
  -- Without case and diacritics, one blank between words.
  word text collate "C" not null constraint search_synonym_word_length check (char_length(word) between 1 and 100),
  synonym text collate "C" not null constraint search_synonym_synonym_length check (char_length(synonym) between 1 and 100),
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint search_synonym_pkey primary key (workspace_id, word, synonym),
  constraint search_synonym_of_another check (word <> synonym)
);
comment on table iu_core.search_synonym is 'words that a question asks for in addition, per workspace';
alter table iu_core.search_synonym enable row level security;

-- Settings of search of a workspace. No row: nothing is logged.
create table iu_core.search_setting (
  workspace_id uuid constraint search_setting_pkey primary key,
  log_missed boolean not null default false,
  missed_days integer not null default 30 constraint search_setting_missed_days_range check (missed_days between 1 and 365),
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp()
);
comment on table iu_core.search_setting is 'whether a workspace logs questions without hits, and for how long';
alter table iu_core.search_setting enable row level security;

-- Questions that found nothing, as they were typed, where a workspace asks for this log.
create table iu_core.search_missed (
  workspace_id uuid not null,
  question text collate "C" not null constraint search_missed_question_length check (char_length(question) between 1 and 200),
  times integer not null default 1,
  first_at timestamptz not null default clock_timestamp(),
  last_at timestamptz not null default clock_timestamp(),
  constraint search_missed_pkey primary key (workspace_id, question)
);
create index search_missed_last on iu_core.search_missed (workspace_id, last_at);
comment on table iu_core.search_missed is 'questions without hits, of workspaces that log them';
alter table iu_core.search_missed enable row level security;

