-- What a text is called if nobody says: its first heading, else its first line. Only the beginning is looked at. Internal.
create or replace function iu_core.fn_unit_title(p_body text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_start text := left(p_body, 4000);
begin
  -- Every birth waits for this: an expression sees no more of the text than it needs (half the time for a kilobyte).
  return btrim(left(coalesce(
    case when strpos(v_start, '#') > 0 then
      substring(v_start from '(?n)^ {0,3}#{1,6}[ \t]+([^\s#][^\n]*?)[ \t]*#*[ \t\r]*$')
    end,
    substring(left(ltrim(v_start, E' \t\r\n'), 200) from '\S[^\n]*'),
    -- Blank for longer than anybody writes.
    substring(p_body from '\S[^\n]*')), 120));
end $$;
