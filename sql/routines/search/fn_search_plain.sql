-- The text without the marks on its letters, so that it is found as it is typed without them: `Nghỉ phép` and `nghi phep` are
-- the same words. A slash divides words: the server's parser would take `and/or` for the path of a file. No character comes
-- or goes elsewhere. More than a chunk can have is cut off: what is made of it must fit into a tsvector.
create or replace function iu_core.fn_search_plain(p_text text) returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := translate(left(p_text, 100000), '/', ' ');
begin
  -- ASCII has no marks.
  if octet_length(v_text) = length(v_text) then
    return v_text;
  end if;
  -- Of ǿ the mark goes first, or no ø is left to be found. The same letters as in src/search/highlights.ts.
  return left(translate(normalize(regexp_replace(normalize(v_text, NFKD), '[\u0300-\u036f]+', '', 'g'), NFC), 'đĐłŁøØ', 'dDlLoO'), 100000);
end $$;

grant execute on function iu_core.fn_search_plain(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;
