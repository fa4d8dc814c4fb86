-- What a text is called if nobody says: its first heading, else its first line. Only the beginning is looked at. Internal.
create or replace function iu_core.fn_unit_title(p_body text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_start text := left(p_body, 4000);
begin
  return btrim(left(coalesce(
    substring(v_start from '(?n)^ {0,3}#{1,6}[ \t]+([^\s#][^\n]*?)[ \t]*#*[ \t\r]*$'),
    substring(v_start from '(\S[^\n]*)'),
    -- Blank for 4,000 characters.
    substring(p_body from '(\S[^\n]*)')), 120));
end $$;
