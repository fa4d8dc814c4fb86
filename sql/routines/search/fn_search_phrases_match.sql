-- Does a chunk have all phrases, each as its language reads it? Internal.
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
