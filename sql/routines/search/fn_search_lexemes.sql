-- The words of a text, each once, and how often it is there (up to 256 times, which is as far as the server counts).
create or replace function iu_core.fn_search_lexemes(p_text text, p_language text) returns table (lexeme text, count smallint)
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select w.lexeme, cardinality(w.positions)::smallint from unnest(iu_core.fn_search_words(p_text, p_language)) as w
$$;

grant execute on function iu_core.fn_search_lexemes(text, text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;
