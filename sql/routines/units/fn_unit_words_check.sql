-- Title and language of a version, where they are given: NULL is what the unit has already, or its default. Internal.
create or replace function iu_core.fn_unit_words_check(p_title text, p_language text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_title !~ '\S' or length(p_title) > 500 then
    raise exception using errcode = 'SD001', message = 'A title has between one and 500 characters';
  end if;
  if p_language !~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' then
    raise exception using errcode = 'SD001', message = format('%L is not a language: it is a tag such as en, vi or pt-BR', left(p_language, 40));
  end if;
end $$;
