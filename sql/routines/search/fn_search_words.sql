-- The words of a text, with their places, as search knows them.
create or replace function iu_core.fn_search_words(p_text text, p_language text) returns tsvector
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_tsvector(case when split_part(p_language, '-', 1) = 'en' then 'english'::regconfig else 'simple'::regconfig end,
                     iu_core.fn_search_plain(p_text));
end $$;

grant execute on function iu_core.fn_search_words(text, text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;
