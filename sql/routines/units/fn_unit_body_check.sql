-- A text that a unit may hold: something to read, and at most 1 MiB of it. Internal.
create or replace function iu_core.fn_unit_body_check(p_body text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
begin
  -- The size first: nobody looks for a letter in 20 MB of blanks.
  if octet_length(p_body) > 1048576 then
    v_reason := format('has at most 1048576 bytes, this has %s', octet_length(p_body));
  elsif p_body is null or p_body !~ '\S' then
    v_reason := 'cannot be empty';
  else
    return;
  end if;
  raise exception using
    errcode = 'SD912',
    message = 'The text of a unit ' || v_reason,
    detail = json_build_object('reason', v_reason)::text;
end $$;
